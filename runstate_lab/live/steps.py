"""Machinery. Every step two writers can take, found by really taking it.

Two writers read, compute and submit: three steps each, 20 orders, 69 beginnings
of orders. Each beginning is run on a fresh store of each kind, so that what
the widget shows is what the stores of the book do; the browser gets the whole
graph once and never has to ask again.

What is not here: where a step is drawn (see `lanes`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import combinations

from runstate_lab.broken import LastWriteWinsStore, NaiveStore, NoAuthorityStore
from runstate_lab.errors import Refusal
from runstate_lab.live import lanes
from runstate_lab.model import RunState, RunStatus, StateProposal
from runstate_lab.race import Race, Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.worlds import run_7_at_revision_4

STORES: dict[str, type[StateStore]] = {
    "naive": NaiveStore,
    "last-write-wins": LastWriteWinsStore,
    "compare-and-swap": NoAuthorityStore,
    "compare-and-swap + authority": StateStore,
}
START = run_7_at_revision_4()
ACTIONS = ("reads", "computes", "submits")
ACTORS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Writer:
    """One who reads, computes and submits: its door, and what it has to say."""

    name: str
    kind: str
    value: str
    door: Callable[[Runtime, StateProposal], RunState]
    holds: Callable[[RunState], bool]
    rightful: bool = True

    @property
    def claim(self) -> str:
        """What it wants the state to say, in the words of the picture."""
        return self.value if "=" in self.value else "cancelled"


def _tool(name: str, tool: str, call_id: str, value: str) -> Writer:
    return Writer(
        name,
        "tool_result_recorded",
        value,
        lambda runtime, proposal: runtime.accept_tool_result(tool, proposal, call_id=call_id),
        lambda state: value in map(str, state.facts),
    )


TESTS = _tool("test tool", "run_tests", "c2", "tests=green")
SCANNER = _tool("scanner", "scan", "c3", "scan=clean")
PLANNER = Writer(
    "model",
    "run_cancelled",
    "the tests take too long",
    lambda runtime, proposal: runtime.accept_model_proposal(proposal),
    lambda state: state.status is RunStatus.CANCELLED,
    rightful=False,
)
CASTS: dict[str, dict[str, Writer]] = {
    "scanner": {"A": TESTS, "B": SCANNER},
    "model": {"A": TESTS, "B": PLANNER},
}
CAST_LABELS = {"scanner": "the scanner", "model": "the model, which wants to cancel"}


@dataclass
class Desk:
    """What one writer has in hand while it works, and what it was answered."""

    writer: Writer
    read: int | None = None
    proposal: StateProposal | None = None
    answer: RunState | Refusal | None = None
    met: int | None = None


@dataclass
class Play:
    """One beginning of an order, run on a fresh store of one kind."""

    store: StateStore
    desks: dict[str, Desk]
    columns: list[lanes.Column] = field(default_factory=list)

    @property
    def state(self) -> RunState:
        """The state after the last step."""
        return self.store.load()

    def lost(self) -> list[str]:
        """What was accepted and is not in the state."""
        accepted = [
            desk.writer for desk in self.desks.values() if isinstance(desk.answer, RunState)
        ]
        return [writer.claim for writer in accepted if not writer.holds(self.state)]


def every_order() -> tuple[str, ...]:
    """All orders of the six steps: each writer keeps its own three in line.

    >>> len(every_order()), every_order()[0], every_order()[-1]
    (20, 'AAABBB', 'BBBAAA')
    """
    slots = range(len(ACTORS) * len(ACTIONS))
    chosen = combinations(slots, len(ACTIONS))
    return tuple("".join("A" if slot in mine else "B" for slot in slots) for mine in chosen)


def beginnings() -> tuple[str, ...]:
    """Every beginning of an order, the empty one first.

    >>> len(beginnings()), beginnings()[:4]
    (69, ('', 'A', 'B', 'AA'))
    """
    cut = {order[:length] for order in every_order() for length in range(len(order) + 1)}
    return tuple(sorted(cut, key=lambda order: (len(order), order)))


def run(order: str, *, store: str, cast: str) -> Play:
    """The order, run step by step on a fresh store.

    >>> play = run("AABBAB", store="naive", cast="scanner")
    >>> play.state.revision, play.lost()
    (5, ['tests=green'])
    >>> run("AABBAB", store="compare-and-swap", cast="scanner").desks["B"].answer
    RevisionConflict(revision_conflict: revision conflict)
    """
    desks = {actor: Desk(writer) for actor, writer in CASTS[cast].items()}
    play = Play(STORES[store](START), desks)
    race = Race({actor: _worker(desk) for actor, desk in desks.items()}, play.store)
    for number, actor in enumerate(order, start=1):
        before = play.lost()
        race.step(actor)
        play.columns.append(_column(play, number, order, before))
    return play


def _worker(desk: Desk) -> Worker:
    def work(store: StateStore) -> Generator[object, None, None]:
        desk.read = store.load().revision
        yield
        desk.proposal = StateProposal(desk.writer.kind, desk.writer.value, desk.read)
        yield
        desk.met = store.load().revision
        try:
            desk.answer = desk.writer.door(Runtime(store), desk.proposal)
        except Refusal as refusal:
            desk.answer = refusal.kept()
            raise

    return work


def _column(play: Play, number: int, order: str, lost_before: list[str]) -> lanes.Column:
    actor = order[number - 1]
    desk, action = play.desks[actor], ACTIONS[order[: number - 1].count(actor)]
    since = order[: number - 1].rfind(actor) + 1
    details = {
        "reads": f"revision {desk.read}",
        "computes": desk.writer.claim,
        "submits": f"made from {desk.read}",
    }
    accepted = None if desk.answer is None else isinstance(desk.answer, RunState)
    return lanes.Column(
        number,
        actor,
        action,
        details[action],
        since,
        play.state.revision,
        accepted,
        "" if accepted is None else answer(desk),
        _remark(play, desk, lost_before) if accepted else "",
    )


def answer(desk: Desk) -> str:
    """The store's answer in a word or two."""
    if isinstance(desk.answer, Refusal):
        return {"revision_conflict": "conflict", "writer_rejected": "not its writer"}.get(
            desk.answer.code, "refused"
        )
    return "accepted"


def stale(desk: Desk) -> bool:
    """Whether it was accepted although the state had moved on since it read."""
    return isinstance(desk.answer, RunState) and desk.read != desk.met


def _remark(play: Play, desk: Desk, lost_before: list[str]) -> str:
    gone = [claim for claim in play.lost() if claim not in lost_before]
    if gone:
        return f"{gone[0]}\nis gone"
    return "decided on\nold facts" if stale(desk) else ""
