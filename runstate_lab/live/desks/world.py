"""Machinery. The approval desk's world: run-7 waits for rosa, and is pressed.

The driver of the book brings the run to its question; every press then goes
through a door of the runtime, and the store answers. Outside stands a counter
of deployments that no store can take back.

What is not here: what a press looks like (see `deskmarks`, `deskgraph`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from runstate_lab.checkpoint import CheckpointStore
from runstate_lab.context import Context
from runstate_lab.control import ActiveRunControl
from runstate_lab.driver import Driver
from runstate_lab.errors import OutcomeUnknown, Refusal
from runstate_lab.model import (
    Answer,
    Approval,
    CallStatus,
    Decision,
    RunState,
    StateProposal,
    ToolCall,
)
from runstate_lab.nouns import changed
from runstate_lab.runtime import Runtime
from runstate_lab.scripted import LogicalClock
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

Factory = Callable[[RunState], StateStore]
PATIENCE = 3
ANSWERS = {"grant": "approval_granted", "deny": "approval_denied"}
ENDINGS = {
    "approval_granted": "granted",
    "approval_denied": "denied",
    "approval_expired": "expired",
    "run_cancelled": "closed with the run",
}
KNOWN = ("rosa", "max")
BEGIN = RunState("run-7", goal="ship release 7", success=("scan=clean", "deploy=done"))


@dataclass(frozen=True, slots=True)
class Press:
    """One press: the deed, and for an answer by whom, with which card, about which call.

    >>> Press("grant", by="max").words
    'max grants'
    >>> Press("grant", by="Rosa").words
    '“Rosa” grants'
    """

    deed: str
    by: str = "rosa"
    card: str = "new"
    call: str = ""

    @property
    def words(self) -> str:
        """The press in a few words, as the ledger has it."""
        if self.deed not in ANSWERS:
            return WORDS[self.deed]
        card = " with the old card" if self.card == "old" else ""
        call = f" about call {self.call}" if self.call else ""
        verb = {"grant": "grants", "deny": "denies"}[self.deed]
        who = self.by if self.by in KNOWN else f"“{self.by}”"
        return f"{who} {verb}{card}{call}"


WORDS = {
    "again": "the last answer comes once more",
    "tick": "one tick passes",
    "expire": "the runtime lets the request expire",
    "result": "scan answers late",
    "arguments": "the run goes back, and release 8 is wanted",
    "cancel": "ada cancels the run",
    "deploy": "the runtime deploys",
    "ask": "rosa is asked again",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the store said to a press; `accepted` is None where nobody was asked."""

    accepted: bool | None
    code: str
    words: str
    revision: int


@dataclass(frozen=True, slots=True)
class Card:
    """A request as rosa was shown it: from which tick, and how it ended."""

    request: Approval
    since: int
    ended: str = ""
    at: int = 0


class Planner:
    """A model that wants one release deployed, and a checkpoint before it speaks."""

    name = "planner"

    def __init__(self, store: StateStore, checkpoints: CheckpointStore, release: str) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._release = release

    def decide(self, context: Context, *, turn: int) -> Decision:
        """The two calls of run-7 that are left: scan, and deploy the release."""
        self._checkpoints.save(self._store.load())
        return Decision("ship it", (ToolCall("c2", "scan"), wish("c3", self._release)))


class World:
    """One desk: a store, a clock, the doors, the cards that rosa was shown.

    >>> world = World(StateStore)
    >>> world.press(Press("grant", by="max")).code
    'answer_foreign'
    >>> world.press(Press("grant")).words
    'accepted; the run is running at revision 8'
    """

    def __init__(self, make: Factory) -> None:
        self.clock = LogicalClock()
        self.cards: list[Card] = []
        self.deployed: Counter[str] = Counter()
        self.taken_back = False
        self.last: tuple[str, str, Answer] | None = None
        self._make = make
        self._checkpoints = CheckpointStore()
        self._drive(BEGIN, "7")

    @property
    def state(self) -> RunState:
        """The newest committed state."""
        return self.store.load()

    @property
    def card(self) -> Approval:
        """The newest card that rosa was shown."""
        return self.cards[-1].request

    def press(self, press: Press) -> Reply:
        """What the store says to one press; a refusal is a value here."""
        deed = getattr(self, f"_{press.deed}", self._answer)
        try:
            accepted, words = deed(press)
        except Refusal as refusal:
            words = f"refused, {refusal.code}: {refusal.reason}; found {refusal.found}"
            return Reply(False, refusal.code, words, self.state.revision)
        except Exception as fault:  # a learner's own store may raise anything; it is shown
            words = f"broke, {type(fault).__name__}: {fault}"
            return Reply(False, "broke", words, self.state.revision)
        self._look_at_cards()
        return Reply(accepted, "", words, self.state.revision)

    def _drive(self, begin: RunState, release: str) -> None:
        self.store = self._make(begin)
        driver = Driver(
            self.store,
            "w1",
            model=Planner(self.store, self._checkpoints, release),
            tools=ToolRegistry([Tool("scan", _silent), self._deploy_tool()]),
            clock=self.clock,
            patience=PATIENCE,
        )
        driver.run()
        self._doors = driver.runtime
        self._outside = ActiveRunControl(Runtime(self.store, clock=self.clock))
        self._look_at_cards()

    def _deploy_tool(self) -> Tool:
        def act(arguments: Mapping[str, str]) -> str:
            self.deployed[arguments["release"]] += 1
            return "deploy=done"

        return Tool("deploy", act, takes=("release",), gated_by="rosa")

    def _look_at_cards(self) -> None:
        requests = self.state.requests
        for place, card in enumerate(self.cards):
            if not card.ended and card.request not in requests:
                self.cards[place] = replace(card, ended=self._how(), at=self.clock())
        known = [card.request for card in self.cards]
        for request in requests:
            if isinstance(request, Approval) and request not in known:
                self.cards.append(Card(request, self.clock()))

    def _how(self) -> str:
        *_, newest = self.store.trace.accepted
        return ENDINGS.get(newest.kind, "left behind")

    def _answer(self, press: Press) -> tuple[bool, str]:
        old = press.card == "old" and len(self.cards) > 1
        answer = Answer.to(self.cards[-2 if old else -1].request, self.state.run_id)
        if press.call:
            answer = replace(answer, call_id=press.call)
        self.last = (press.by, ANSWERS[press.deed], answer)
        return self._send(*self.last)

    def _again(self, press: Press) -> tuple[bool, str]:
        return self._send(*self.last) if self.last else (False, "nothing was answered yet")

    def _send(self, by: str, kind: str, answer: Answer) -> tuple[bool, str]:
        state = self._outside.answer(by, kind, answer)
        return True, f"accepted; the run is {state.status} at revision {state.revision}"

    def _tick(self, press: Press) -> tuple[None, str]:
        return None, f"it is tick {self.clock.advance()}"

    def _expire(self, press: Press) -> tuple[bool, str]:
        card = self.card
        self._write("approval_expired", card.request_id)
        return (True, f"accepted; {card.request_id} has expired, {card.call_id} is not executed")

    def _result(self, press: Press) -> tuple[bool, str]:
        proposal = StateProposal("tool_result_recorded", "scan=clean", self.state.revision)
        state = self._outside.runtime.accept_tool_result("scan", proposal, call_id="c2")
        return True, f"accepted; scan=clean is a fact at revision {state.revision}"

    def _arguments(self, press: Press) -> tuple[bool, str]:
        name = self._checkpoints.names[0]
        self.taken_back = True
        self._drive(self._checkpoints.load(name), "8")
        asked = self.card.question.rstrip("?")
        return True, f"the run went back to {name}; rosa is shown {asked}"

    def _cancel(self, press: Press) -> tuple[bool, str]:
        state = self._outside.cancel("ada", "wrong release")
        return True, f"accepted; the run is {state.status} at revision {state.revision}"

    def _deploy(self, press: Press) -> tuple[bool, str]:
        asked = self.state.call(self.card.call_id)
        if asked is None or asked.status is not CallStatus.PROPOSED:
            asked = wish(self._free_id(), self._release)
        self._write("tool_dispatched", changed(asked, gated=True))
        words = self._deploy_tool().act(dict(asked.arguments))
        proposal = StateProposal("tool_result_recorded", words, self.state.revision)
        self._doors.accept_tool_result("deploy", proposal, call_id=asked.call_id)
        return True, f"accepted; call {asked.call_id} deploys release {self._release}"

    def _ask(self, press: Press) -> tuple[bool, str]:
        call = wish(self._free_id(), self._release)
        self._write("followup_required", "ask again")
        self._write("turn_started", "open")
        proposal = StateProposal(
            "model_output_received", Decision("ask again", (call,)), self.state.revision
        )
        state = self._doors.accept_model_proposal(proposal)
        about = {"call_id": call.call_id, "digest": call.digest, "seen_revision": state.revision}
        until = self.clock() + PATIENCE
        name, question = f"approve {call.call_id}", self.card.question
        self._write(
            "approval_requested", Approval(name, question, "rosa", **about, expires_at=until)
        )
        return True, f"accepted; rosa is shown {name}, open until tick {until}"

    def _write(self, kind: str, value: str | ToolCall | Approval) -> RunState:
        return self._doors.accept_runtime(StateProposal(kind, value, self.state.revision))

    @property
    def _release(self) -> str:
        return "8" if self.taken_back else "7"

    def _free_id(self) -> str:
        used = {*self.state.settled, *[call.call_id for call in self.state.calls]}
        return next(f"c{number}" for number in range(3, 99) if f"c{number}" not in used)


def wish(call_id: str, release: str) -> ToolCall:
    """The call that needs rosa.

    >>> wish("c3", "7").digest == wish("c4", "7").digest != wish("c3", "8").digest
    True
    """
    return ToolCall(call_id, "deploy", (("release", release),))


def _silent(arguments: Mapping[str, str]) -> str:
    raise OutcomeUnknown("scan gave no answer in time")
