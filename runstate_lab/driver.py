"""Floor 4. The run loop: each step is decided from committed state alone.

Build the context, let the model decide, validate and schedule, execute,
record, settle. Because nothing is kept in between, a driver that dies can be
followed by another: it takes the lease, looks at the state and goes on.
What is not here: graphs (see `scheduler`). Source text: how a run advances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runstate_lab.context import ContextBuilder
from runstate_lab.errors import (
    CallLate,
    CallRepeated,
    IllegalTransition,
    LeaseHeld,
    Malformed,
    Refusal,
    RevisionConflict,
    ToolRefused,
)
from runstate_lab.model import (
    Approval,
    Budget,
    CallStatus,
    Lease,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.nouns import changed
from runstate_lab.runtime import Runtime
from runstate_lab.settle import Settling, approval_for, moved, next_attempt, settle
from runstate_lab.store import StateStore
from runstate_lab.tools import Middleware, Outcome, ToolRegistry, ToolSession, a, keepable, readable
from runstate_lab.turn import (
    Model,
    Observation,
    TurnContext,
    asked,
    fit_for_a_driver,
    heard,
    ticking,
    words_alone,
)

ALIVE = (RunStatus.QUEUED, RunStatus.RUNNING)


class Driver:
    """Drives one run from wherever its committed state is.

    `clock` gives the logical tick; `lease` and `patience` are ticks: how long
    a reign lasts, how long an approval is open. What tools, middleware, models
    and clocks raise never leaves `run` as it is: it becomes an outcome, a note
    or a refusal. A run without a budget of turns ends too (see `settle`).

    >>> from runstate_lab.model import Decision
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
        fit_for_a_driver(locals())
        self._model_name = model.name
        self.store = store
        self.name = name
        self._clock = ticking(clock)
        self.runtime = Runtime(store, clock=self._clock)
        self._model = model
        self._tools = tools
        self._builder = ContextBuilder() if builder is None else builder
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
        a(Budget)("a run's budget", state.budget)
        state = self._lose_what_was_under_way(state)
        while True:
            if state.status in ALIVE:
                state = self._take_a_turn(state)
            elif state == (after := self._expire(state)):
                return state
            else:
                state = after

    def cancel(self, words: str) -> RunState:
        """The state after the driver itself gave up, for a reason in words.

        >>> from runstate_lab.scripted import ScriptedModel
        >>> driver = Driver(StateStore(RunState("r")), "w1", model=ScriptedModel([]), tools=ToolRegistry([]))
        >>> print(driver.cancel("wrong release").stop_reason)
        wrong release
        """
        keepable("words for the end of a run", words)
        return self._write("run_cancelled", words)

    def _take_the_wheel(self) -> RunState:
        state = self.store.load()
        while True:
            try:
                return self._ask_for_the_wheel(state)
            except RevisionConflict as conflict:
                state = self._look_again(state, conflict)

    def _look_again(self, state: RunState, conflict: RevisionConflict) -> RunState:
        # Somebody wrote between the look and the wish; or the store says so for ever.
        fresh = self.store.load()
        if fresh.revision <= state.revision:
            raise conflict
        return fresh

    def _ask_for_the_wheel(self, state: RunState) -> RunState:
        tick = self._clock()
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
        while lost := [one for one in state.calls if one.status is CallStatus.DISPATCHED]:
            try:
                state = self._write("tool_outcome_unknown", lost[0].call_id, at=state.revision)
            except RevisionConflict as conflict:
                # Its answer may just have come: nobody declares it lost unseen.
                state = self._look_again(state, conflict)
        return state

    def _open_turn(self, state: RunState) -> TurnContext:
        begins = state.turn.phase in ("none", "settled")
        return TurnContext(
            f"{state.run_id}/turn {state.turn.number + begins}",
            privacy=self._privacy,
            provider=f"{self._model_name}/{state.run_id}",
            profile=self._profile,
            tools=ToolSession(self._tools, middleware=self._middleware),
        )

    def _take_a_turn(self, state: RunState) -> RunState:
        turn = self._open_turn(state)
        try:
            return self._cycle(turn)
        finally:
            # A release is somebody else's code: what it raises is told, and the run goes on.
            for words in turn.let_go():
                self.store.note(f"driver:{self.name}", words, correlation=turn.identity)

    def _cycle(self, turn: TurnContext) -> RunState:
        state, began = self.store.load(), self._clock()
        number, first_token = state.turn.number, 0
        while state.status in ALIVE:
            try:
                state = moved(state.revision, self._advance(state, turn))
            except RevisionConflict as conflict:
                # Somebody else wrote: what was decided is decided again.
                state = self._look_again(state, conflict)
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
        kind, name = "model_output_received", self._model_name
        said = asked(self._model, self._builder, state, privacy=turn.privacy)
        try:
            proposal = StateProposal(kind, heard(said, privacy=turn.privacy), state.revision)
            return self.runtime.accept_model_proposal(proposal, model=name)
        except (CallRepeated, Malformed) as refusal:
            # A model's mistake must not wedge the run: its words count, its calls do not.
            self.store.note(f"model:{name}", readable(refusal.found), correlation=turn.identity)
            left = StateProposal(kind, words_alone(said, privacy=turn.privacy), state.revision)
            return self.runtime.accept_model_proposal(left, model=name)

    def _schedule(self, state: RunState, call: ToolCall, turn: TurnContext) -> RunState:
        try:
            ready = self._tools.admit(call)
        except ToolRefused as refusal:
            words = readable(f"{refusal.reason}: {refusal.found}")
            self.store.note("registry", words, correlation=call.call_id)
            return self._write("tool_declined", call.call_id, at=state.revision)
        if ready.gated and (call.call_id, call.digest) not in state.grants:
            return self._write("approval_requested", self._request(state, call), at=state.revision)
        key = ready.key and f"{state.run_id}:{ready.key}"
        return self._carry_out(changed(ready, key=key, status=CallStatus.PROPOSED), state, turn)

    def _request(self, state: RunState, call: ToolCall) -> Approval:
        approver = self._tools.tool(call.tool).gated_by or ""
        until = None if self._patience is None else self._clock() + self._patience
        return approval_for(state, call, approver, until=until)

    def _carry_out(self, call: ToolCall, state: RunState, turn: TurnContext) -> RunState:
        # Intent first: what lies between this commit and the next is unknown.
        self._write("tool_dispatched", call, at=state.revision)
        outcome = (turn.tools or ToolSession(self._tools)).execute(call)
        return self._record(call, outcome)

    def _record(self, call: ToolCall, outcome: Outcome) -> RunState:
        kinds = {CallStatus.SUCCEEDED: "tool_result_recorded", CallStatus.FAILED: "tool_failed"}
        kind, value = kinds.get(outcome.status, "tool_outcome_unknown"), outcome.words
        state = self.store.load()
        while True:
            try:
                if kind == "tool_outcome_unknown":
                    return self._lost(call, outcome, at=state.revision)
                proposal = StateProposal(kind, value, state.revision)
                return self.runtime.accept_tool_result(call.tool, proposal, call_id=call.call_id)
            except RevisionConflict as conflict:
                # The tool is not called again; only its answer is offered anew.
                state = self._look_again(state, conflict)
            except Malformed:
                if kind != "tool_result_recorded":
                    raise
                kind, value = "tool_failed", readable(f"not key=value: {value!r}")
            except (CallLate, CallRepeated, IllegalTransition) as refusal:
                return self._too_late(call, refusal)

    def _lost(self, call: ToolCall, outcome: Outcome, *, at: int) -> RunState:
        state = self._write("tool_outcome_unknown", call.call_id, at=at)
        self.store.note(f"tool:{call.tool}", outcome.words, correlation=call.call_id)
        return state

    def _too_late(self, call: ToolCall, refusal: Refusal) -> RunState:
        # The run ended, or another driver went on, while the tool was at work.
        self.store.note(f"driver:{self.name}", refusal.reason, correlation=call.call_id)
        return self.store.load()

    def _settle(self, state: RunState, turn: TurnContext) -> RunState:
        settlement = settle(state, final=state.turn.final, tick=self._clock())
        kinds = {Settling.FINAL: "run_completed", Settling.FAIL: "run_failed"}
        if settlement.decision is Settling.RETRY:
            return self._carry_out(next_attempt(state, settlement.call_id or ""), state, turn)
        kind = kinds.get(settlement.decision, "followup_required")
        value = "" if kind == "run_completed" else settlement.reason
        return self._write(kind, value, at=state.revision)

    def _expire(self, state: RunState) -> RunState:
        for request in state.requests:
            if request.expires_at is not None and self._clock() >= request.expires_at:
                kind = "approval" if isinstance(request, Approval) else "callback"
                try:
                    return self._write(f"{kind}_expired", request.request_id, at=state.revision)
                except RevisionConflict as conflict:
                    # It may just have been answered.
                    return self._look_again(state, conflict)
        return state

    def _write(self, kind: str, value: Value, *, at: int | None = None) -> RunState:
        revision = self.store.load().revision if at is None else at
        return moved(revision, self.runtime.accept_runtime(StateProposal(kind, value, revision)))
