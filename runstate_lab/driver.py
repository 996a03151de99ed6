"""Floor 4. The run loop: each step is decided from committed state alone.

Build the context, let the model decide, validate and schedule, execute,
record, settle. Because nothing is kept in between, a driver that dies can be
followed by another: it takes the lease, looks at the state and goes on.
What is not here: graphs (see `scheduler`). Source text: how a run advances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from runstate_lab.context import Context, ContextBuilder
from runstate_lab.errors import (
    CallLate,
    CallRepeated,
    LeaseHeld,
    Malformed,
    Refusal,
    RevisionConflict,
    ToolRefused,
)
from runstate_lab.model import (
    Approval,
    CallStatus,
    Decision,
    Lease,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.nouns import changed
from runstate_lab.runtime import Runtime
from runstate_lab.settle import Settlement, Settling, settle
from runstate_lab.store import StateStore
from runstate_lab.tools import Middleware, Outcome, ToolRegistry, ToolSession
from runstate_lab.turn import Observation, TurnContext


class Model(Protocol):
    """Whatever decides: given a context and the number of the turn."""

    name: str

    def decide(self, context: Context, *, turn: int) -> Decision:
        """What it would like to do next."""
        ...


class Driver:
    """Drives one run from wherever its committed state is.

    `clock` gives the logical tick; `lease` and `patience` are ticks: how long
    a reign lasts, how long an approval is open.

    >>> from runstate_lab.scripted import ScriptedModel
    >>> from runstate_lab.tools import Tool
    >>> scan = Tool("get_status", act=lambda arguments: "build=green")
    >>> script = [Decision("look", (ToolCall("c1", "get_status"),)), Decision("done", final=True)]
    >>> store = StateStore(RunState("run-7", success=("build=green",)))
    >>> state = Driver(store, "w1", model=ScriptedModel(script), tools=ToolRegistry([scan])).run()
    >>> print(state.status, state.turn.number, state.step, *state.facts)
    completed 2 1 build=green
    """

    def __init__(
        self,
        store: StateStore,
        name: str,
        *,
        model: Model,
        tools: ToolRegistry,
        builder: ContextBuilder | None = None,
        clock: Callable[[], int] = lambda: 0,
        lease: int = 1_000,
        patience: int | None = None,
        privacy: str = "open",
        profile: Mapping[str, str] | None = None,
        middleware: tuple[Middleware, ...] = (),
    ) -> None:
        self.store = store
        self.name = name
        self.runtime = Runtime(store, clock=clock)
        self._model = model
        self._tools = tools
        self._builder = builder or ContextBuilder()
        self._clock = clock
        self._lease = lease
        self._patience = patience
        self._privacy = privacy
        self._profile = dict(profile or {})
        self._middleware = middleware

    def run(self) -> RunState:
        """The state once the run waits or has ended; goes on from any state.

        >>> from runstate_lab.scripted import ScriptedModel
        >>> store = StateStore(RunState("run-7", driver=Lease("w1", epoch=1, until=10)))
        >>> Driver(store, "w2", model=ScriptedModel([]), tools=ToolRegistry([])).run()
        Traceback (most recent call last):
            ...
        runstate_lab.errors.LeaseHeld: the run has a driver: asked to drive run-7 as w2 at tick 0, found w1 until tick 10
        hint: wait until the lease runs out, or ask its holder to stop
        """
        state = self._take_the_wheel()
        state = self._lose_what_was_under_way(state)
        while state.status in (RunStatus.QUEUED, RunStatus.RUNNING):
            with self._open_turn(state) as turn:
                state = self._cycle(turn)
        if state.status is RunStatus.WAITING:
            state = self._expire(state)
        return state

    def cancel(self, words: str) -> RunState:
        """The state after the driver itself gave up, for a reason in words.

        >>> from runstate_lab.scripted import ScriptedModel
        >>> driver = Driver(StateStore(RunState("r")), "w1", model=ScriptedModel([]), tools=ToolRegistry([]))
        >>> print(driver.cancel("wrong release").stop_reason)
        wrong release
        """
        return self._write("run_cancelled", words)

    def _take_the_wheel(self) -> RunState:
        while True:
            try:
                return self._ask_for_the_wheel()
            except RevisionConflict:
                # Somebody wrote between the look and the wish: look again.
                continue

    def _ask_for_the_wheel(self) -> RunState:
        state, tick = self.store.load(), self._clock()
        held = state.driver
        if state.status.terminal or (held and held.epoch == self.runtime.epoch):
            return state
        if held is not None and held.holds_at(tick) and held.holder != self.name:
            asked = f"to drive {state.run_id} as {self.name} at tick {tick}"
            raise LeaseHeld(asked, f"{held.holder} until tick {held.until}")
        kind = "driver_leased" if held is None else "driver_superseded"
        wish = Lease(self.name, 1 if held is None else held.epoch + 1, tick + self._lease)
        state = self.runtime.accept_driver(self.name, StateProposal(kind, wish, state.revision))
        self.runtime.epoch = wish.epoch
        return state

    def _lose_what_was_under_way(self, state: RunState) -> RunState:
        # A dispatched call that this driver did not make may have had its effect.
        for call in state.calls:
            if call.status is CallStatus.DISPATCHED:
                try:
                    state = self._write("tool_outcome_unknown", call.call_id, at=state.revision)
                except RevisionConflict:
                    # Its answer may just have come: nobody declares it lost unseen.
                    return self._lose_what_was_under_way(self.store.load())
        return state

    def _open_turn(self, state: RunState) -> TurnContext:
        begins = state.turn.phase in ("none", "settled")
        return TurnContext(
            f"{state.run_id}/turn {state.turn.number + begins}",
            privacy=self._privacy,
            provider=f"{self._model.name}/{state.run_id}",
            profile=self._profile,
            tools=ToolSession(self._tools, middleware=self._middleware),
        )

    def _cycle(self, turn: TurnContext) -> RunState:
        state, began = self.store.load(), self._clock()
        number, first_token = state.turn.number, 0
        while state.status in (RunStatus.QUEUED, RunStatus.RUNNING):
            try:
                state = self._advance(state, turn)
            except RevisionConflict:
                # Somebody else wrote: what was decided is decided again.
                state = self.store.load()
                continue
            if state.turn.phase == "decided" and number != state.turn.number:
                number, first_token = state.turn.number, self._clock() - began
            if state.turn.phase == "settled":
                break
        stalled = tuple([one.call_id for one in state.calls if one.status is CallStatus.UNKNOWN])
        held = tuple([resource.name for resource in turn.held])
        seen = Observation(number, first_token, len(state.requests), stalled, held)
        self.store.note(f"driver:{self.name}", str(seen), correlation=turn.identity)
        return state

    def _advance(self, state: RunState, turn: TurnContext) -> RunState:
        if state.status is RunStatus.QUEUED:
            return self._write("run_started", "")
        deadline = state.budget.deadline
        if deadline is not None and self._clock() >= deadline and not state.requests:
            # Nothing has an effect after the run's own deadline.
            return self._write("run_failed", "timeout", at=state.revision)
        if state.turn.phase in ("none", "settled"):
            return self._write("turn_started", turn.privacy)
        if state.turn.phase == "started":
            return self._decide(state, turn)
        for call in state.calls:
            if call.status is CallStatus.PROPOSED:
                return self._schedule(state, call, turn)
        return self._settle(state, turn)

    def _decide(self, state: RunState, turn: TurnContext) -> RunState:
        context = self._builder.build(state, privacy=turn.privacy)
        decision = self._model.decide(context, turn=state.turn.number)
        if turn.privacy == "private":
            decision = Decision("(private)", decision.calls, decision.final)
        kind, name = "model_output_received", self._model.name
        try:
            proposal = StateProposal(kind, decision, state.revision)
            return self.runtime.accept_model_proposal(proposal, model=name)
        except (CallRepeated, Malformed) as refusal:
            # A model's mistake must not wedge the run: its words count, its calls do not.
            self.store.note(f"model:{name}", str(refusal.found), correlation=turn.identity)
            plain = StateProposal(kind, _without_calls(decision), state.revision)
            return self.runtime.accept_model_proposal(plain, model=name)

    def _schedule(self, state: RunState, call: ToolCall, turn: TurnContext) -> RunState:
        try:
            ready = self._tools.admit(call)
        except ToolRefused as refusal:
            self.store.note(
                "registry", f"{refusal.reason}: {refusal.found}", correlation=call.call_id
            )
            return self._write("tool_declined", call.call_id, at=state.revision)
        if ready.gated and (call.call_id, call.digest) not in state.grants:
            return self._write("approval_requested", self._request(state, call), at=state.revision)
        key = ready.key and f"{state.run_id}:{ready.key}"
        return self._carry_out(changed(ready, key=key, status=CallStatus.PROPOSED), state, turn)

    def _request(self, state: RunState, call: ToolCall) -> Approval:
        arguments = ", ".join(f"{name}={text}" for name, text in call.arguments)
        return Approval(
            f"approve {call.call_id}",
            f"{call.tool}({arguments})?",
            self._tools.tool(call.tool).gated_by or "",
            call_id=call.call_id,
            digest=call.digest,
            seen_revision=state.revision,
            expires_at=None if self._patience is None else self._clock() + self._patience,
        )

    def _carry_out(self, call: ToolCall, state: RunState, turn: TurnContext) -> RunState:
        # Intent first: what lies between this commit and the next is unknown.
        self._write("tool_dispatched", call, at=state.revision)
        outcome = (turn.tools or ToolSession(self._tools)).execute(call)
        return self._record(call, outcome)

    def _record(self, call: ToolCall, outcome: Outcome) -> RunState:
        kinds = {CallStatus.SUCCEEDED: "tool_result_recorded", CallStatus.FAILED: "tool_failed"}
        kind, value = kinds.get(outcome.status, "tool_outcome_unknown"), outcome.words
        while True:
            revision = self.store.load().revision
            try:
                if kind == "tool_outcome_unknown":
                    return self._write(kind, call.call_id, at=revision)
                proposal = StateProposal(kind, value, revision)
                return self.runtime.accept_tool_result(call.tool, proposal, call_id=call.call_id)
            except RevisionConflict:
                # The tool is not called again; only its answer is offered anew.
                continue
            except Malformed:
                if kind != "tool_result_recorded":
                    raise
                kind, value = "tool_failed", f"not key=value: {value!r}"
            except (CallLate, CallRepeated) as refusal:
                return self._too_late(call, refusal)

    def _too_late(self, call: ToolCall, refusal: Refusal) -> RunState:
        # The run ended, or another driver went on, while the tool was at work.
        self.store.note(f"driver:{self.name}", refusal.reason, correlation=call.call_id)
        return self.store.load()

    def _settle(self, state: RunState, turn: TurnContext) -> RunState:
        settlement = settle(state, final=state.turn.final, tick=self._clock())
        kinds = {Settling.FINAL: "run_completed", Settling.FAIL: "run_failed"}
        if settlement.decision is Settling.RETRY:
            return self._retry(state, settlement, turn)
        kind = kinds.get(settlement.decision, "followup_required")
        value = "" if kind == "run_completed" else settlement.reason
        return self._write(kind, value, at=state.revision)

    def _retry(self, state: RunState, settlement: Settlement, turn: TurnContext) -> RunState:
        before = state.call(settlement.call_id)
        if before is None:
            return self.store.load()
        again = changed(
            before,
            call_id=_free_id(state, f"{before.call_id.partition('#')[0]}#{before.attempt + 1}"),
            attempt=before.attempt + 1,
            retry_of=before.call_id,
            status=CallStatus.PROPOSED,
        )
        return self._carry_out(again, state, turn)

    def _expire(self, state: RunState) -> RunState:
        for request in state.requests:
            if request.expires_at is not None and self._clock() >= request.expires_at:
                kind = "approval" if isinstance(request, Approval) else "callback"
                self._write(f"{kind}_expired", request.request_id, at=state.revision)
                return self.run()
        return state

    def _write(self, kind: str, value: Value, *, at: int | None = None) -> RunState:
        revision = self.store.load().revision if at is None else at
        return self.runtime.accept_runtime(StateProposal(kind, value, revision))


def _without_calls(decision: object) -> Decision:
    words = getattr(decision, "words", "")
    final = getattr(decision, "final", False) is True
    return Decision(words if type(words) is str else "", final=final)


def _free_id(state: RunState, wanted: str) -> str:
    # A model may have taken the id that a retry would have had.
    while state.call(wanted) is not None or wanted in state.settled:
        wanted += "'"
    return wanted
