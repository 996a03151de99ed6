"""Floor 5. Runtimes, drivers, schedulers and checkpoints that are WRONG ON PURPOSE.

One named fault each, after faults that real systems had. What is not here:
anything to build on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runstate_lab.checkpoint import FileCheckpointStore
from runstate_lab.driver import Driver
from runstate_lab.errors import OutcomeUnknown, ToolFailure
from runstate_lab.model import (
    CallStatus,
    Claim,
    NodeReport,
    NodeStatus,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.nouns import changed
from runstate_lab.records import read_state, write_state
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Scheduler
from runstate_lab.store import StateStore
from runstate_lab.tools import Act, Outcome, ToolSession
from runstate_lab.turn import TurnContext


class OneVoiceRuntime(Runtime):
    """Lets the model through the runtime's own door.

    >>> runtime = OneVoiceRuntime(StateStore(RunState("run-7")))
    >>> print(runtime.accept_model_proposal(StateProposal("run_started", "", 0)).status)
    running
    """

    def accept_model_proposal(self, proposal: StateProposal, *, model: str = "planner") -> RunState:
        """The next state, as if the runtime had said it."""
        # WRONG ON PURPOSE: the entry does not say who is speaking.
        return self.accept_runtime(proposal)


class TrustingRuntime(Runtime):
    """Takes names as they come, so that one name can be two.

    >>> runtime = TrustingRuntime(StateStore(RunState("run-7")))
    >>> runtime.accept_tool_result("a:b", StateProposal("run_started", "", 0))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_started as tool:a:b with authority tool_executor, found a row for runtime with authority runtime
    hint: hand the proposal to the door whose authority the rules table names
    """

    def accept_tool_result(
        self, tool: str, proposal: StateProposal, *, call_id: str | None = None
    ) -> RunState:
        """The next state, whatever the tool's name looks like."""
        # WRONG ON PURPOSE: the name is not looked at.
        return self._through(f"tool:{tool}", "tool_executor", proposal, call_id=call_id)


class TimelessRuntime(Runtime):
    """Stamps no tick and no reign: nothing expires, nobody is fenced.

    >>> runtime = TimelessRuntime(StateStore(RunState("run-7")), clock=lambda: 7)
    >>> started = runtime.accept_runtime(StateProposal("run_started", "", 0))
    >>> runtime.store.trace[0].event.tick
    0
    """

    def _through(
        self, source: str, authority: str, proposal: StateProposal, *, call_id: str | None = None
    ) -> RunState:
        # WRONG ON PURPOSE: the clock is not asked.
        context = self.store.context(source, authority, call_id=call_id)
        return self.store.apply(proposal, context=context)


class NamelessUserRuntime(Runtime):
    """Writes a user's wish as if it were its own.

    >>> runtime = NamelessUserRuntime(StateStore(RunState("run-7")))
    >>> stopped = runtime.accept_user("ada", StateProposal("run_cancelled", "no", 0))
    >>> runtime.store.trace[0].event.source
    'runtime'
    """

    def accept_user(self, user: str, proposal: StateProposal) -> RunState:
        """The next state, without the user's name."""
        # WRONG ON PURPOSE: the proposer is lost.
        return self.accept_runtime(proposal)


class EffectFirstDriver(Driver):
    """Calls the tool, then writes down that it was going to."""

    def _carry_out(self, call: ToolCall, state: RunState, turn: TurnContext) -> RunState:
        # WRONG ON PURPOSE: a crash in between leaves an effect without an intent.
        outcome = (turn.tools or ToolSession(self._tools)).execute(call)
        self._write("tool_dispatched", call, at=state.revision)
        return self._record(call, outcome)


class SilenceIsFailureDriver(Driver):
    """Takes a tool's silence for its failure."""

    def _record(self, call: ToolCall, outcome: Outcome) -> RunState:
        # WRONG ON PURPOSE: nobody knows, and it is written down as known.
        if outcome.status is CallStatus.UNKNOWN:
            outcome = Outcome(outcome.call_id, CallStatus.FAILED, outcome.words)
        return super()._record(call, outcome)


class AllOrNothingDriver(Driver):
    """Drops the rest of a batch when one call of it fails."""

    def _record(self, call: ToolCall, outcome: Outcome) -> RunState:
        state = super()._record(call, outcome)
        if outcome.status is CallStatus.FAILED:
            # WRONG ON PURPOSE: the siblings did nothing wrong.
            for other in state.calls:
                if other.status is CallStatus.PROPOSED:
                    state = self._write("tool_declined", other.call_id)
        return state


class AmnesiacDriver(Driver):
    """Makes a dead driver's call again, as if it had never been made."""

    def _lose_what_was_under_way(self, state: RunState) -> RunState:
        for call in state.calls:
            if call.status is CallStatus.DISPATCHED:
                # WRONG ON PURPOSE: a failure is invented, so that a retry looks safe.
                proposal = StateProposal("tool_failed", "lost", self.store.load().revision)
                self.runtime.accept_tool_result(call.tool, proposal, call_id=call.call_id)
                again = changed(
                    call,
                    call_id=f"{call.call_id}#2",
                    attempt=2,
                    retry_of=call.call_id,
                    status=CallStatus.PROPOSED,
                )
                with self._open_turn(state) as turn:
                    state = self._carry_out(again, self.store.load(), turn)
        return state


class CredulousDriver(Driver):
    """Ends the run when the model says that it is done."""

    def _settle(self, state: RunState, turn: TurnContext) -> RunState:
        if state.turn.final and state.status is RunStatus.RUNNING:
            # WRONG ON PURPOSE: text ends the run, whatever the goal says.
            return self._write("run_cancelled", "the model says that it is done")
        return super()._settle(state, turn)


class UnleasedDriver(Driver):
    """Drives whatever run it finds, beside anybody else."""

    def _take_the_wheel(self) -> RunState:
        state = self.store.load()
        # WRONG ON PURPOSE: another one's reign is simply put on.
        self.runtime.epoch = None if state.driver is None else state.driver.epoch
        return state


class HastyScheduler(Scheduler):
    """Reads a graph as a list: what comes first is done first, needs or not."""

    def plan(self) -> RunState:
        """The state with nodes that need nothing."""
        state = self.runtime.store.load()
        if state.nodes:
            return state
        # WRONG ON PURPOSE: the needs are left out of the plan.
        nodes = tuple(changed(node, needs=()) for node in self.graph.plan.nodes)
        plan = type(self.graph.plan)(nodes)
        return self.runtime.accept_runtime(StateProposal("nodes_planned", plan, state.revision))


class GrabbingScheduler(Scheduler):
    """Takes nodes that somebody else holds."""

    def take_ready(self, *, limit: int) -> tuple[Claim, ...]:
        """Claims on ready nodes, and on running ones too."""
        claims = list(super().take_ready(limit=limit))
        state = self.runtime.store.load()
        for node in state.nodes:
            if node.status is NodeStatus.RUNNING and node.worker != self.worker:
                # WRONG ON PURPOSE: a claim that no store ever accepted.
                claims.append(Claim(node.name, self.worker, node.attempt, 99))
        return tuple(claims)


class FencedByNameScheduler(Scheduler):
    """Knows workers by name only: a stalled attempt passes for the new one."""

    def __init__(self, graph: object, runtime: Runtime, worker: str, **options: int) -> None:
        super().__init__(graph, runtime, worker, **options)
        self.runtime = _ByName(runtime.store, clock=runtime.clock, epoch=runtime.epoch)


class _ByName(Runtime):
    def accept_worker(self, worker: str, proposal: StateProposal) -> RunState:
        report = proposal.value
        if isinstance(report, NodeReport):
            node = self.store.load().node(report.node)
            if node is not None and node.worker == worker:
                # WRONG ON PURPOSE: the attempt is filled in from the state.
                report = changed_report(report, node.attempt)
        return super().accept_worker(
            worker, StateProposal(proposal.kind, report, proposal.expected_revision)
        )


def changed_report(report: NodeReport, attempt: int) -> NodeReport:
    """The same report under another attempt's number.

    >>> changed_report(NodeReport("build", 1), 2).attempt
    2
    """
    return NodeReport(report.node, attempt, report.writes, report.reason)


class CarefreeScheduler(Scheduler):
    """Leaves the dependents of a failed node pending, without a reason."""

    def _verdict(self, nodes: object, node: object) -> tuple[str, Value] | None:
        found = super()._verdict(nodes, node)
        # WRONG ON PURPOSE: nobody is told why the node will never run.
        return None if found is not None and found[0] == "node_blocked" else found


class GreedyScheduler(Scheduler):
    """Takes every ready node, whatever the limit."""

    def take_ready(self, *, limit: int) -> tuple[Claim, ...]:
        """Claims on all ready nodes."""
        # WRONG ON PURPOSE: max_concurrency is not looked at.
        return super().take_ready(limit=max(limit, 99))


class FirstComeScheduler(Scheduler):
    """Combines what nodes wrote in the order in which their reports arrived."""

    def __init__(self, graph: object, runtime: Runtime, worker: str, **options: int) -> None:
        super().__init__(graph, runtime, worker, **options)
        self.graph = _InOrderOfArrival(graph, runtime.store)


class _InOrderOfArrival:
    def __init__(self, graph: object, store: StateStore) -> None:
        self._graph, self._store = graph, store

    def __getattr__(self, name: str) -> object:
        return getattr(self._graph, name)

    def values(self, state: RunState) -> Mapping[str, str]:
        """What the nodes wrote, as it came in."""
        written: dict[str, list[str]] = {}
        for event in self._store.trace.accepted:
            if event.kind == "node_finished":
                for key, text in event.value.writes:
                    # WRONG ON PURPOSE: the network decides the result.
                    written.setdefault(key, []).append(text)
        return {key: "".join(texts) for key, texts in written.items()}


class OverwritingCheckpoints(FileCheckpointStore):
    """Lets one name come to mean another state."""

    def save(self, state: RunState) -> str:
        """The name of the state that was saved last under it."""
        # WRONG ON PURPOSE: what the name meant before is gone.
        name = f"{state.run_id}@{state.revision}"
        self._keep(name, write_state(state))
        return name


class AnonymousCheckpoints(FileCheckpointStore):
    """Restores facts that do not say where they came from."""

    def load(self, name: str) -> RunState:
        """The saved state, as if it had never been away."""
        # WRONG ON PURPOSE: a recovery cannot tell old facts from new ones.
        return read_state(self._lines[name])


class ForgetfulCheckpoints(FileCheckpointStore):
    """Keeps checkpoints in memory and says that they are in the folder."""

    def _keep(self, name: str, line: str) -> None:
        # WRONG ON PURPOSE: nothing is written.
        self._lines[name] = line


class LenientCheckpoints(FileCheckpointStore):
    """Makes up a state where a file is torn."""

    def load(self, name: str) -> RunState:
        """The saved state, or an empty one."""
        try:
            return super().load(name)
        except ValueError:
            # WRONG ON PURPOSE: an empty run looks like a recovered one.
            return RunState(name.partition("@")[0])


BROKEN_RUNTIMES = (OneVoiceRuntime, TrustingRuntime, TimelessRuntime, NamelessUserRuntime)
BROKEN_DRIVERS = (
    EffectFirstDriver,
    SilenceIsFailureDriver,
    AllOrNothingDriver,
    AmnesiacDriver,
    CredulousDriver,
    UnleasedDriver,
)
BROKEN_SCHEDULERS = (
    HastyScheduler,
    GrabbingScheduler,
    FencedByNameScheduler,
    CarefreeScheduler,
    GreedyScheduler,
    FirstComeScheduler,
)
BROKEN_CHECKPOINTS = (
    OverwritingCheckpoints,
    AnonymousCheckpoints,
    ForgetfulCheckpoints,
    LenientCheckpoints,
)
