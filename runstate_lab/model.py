"""Floor 0. The run, what anybody may offer, and what the trusted entry makes of it.

Everything here is a value: frozen, compared by content, made of tuples. A
state that was handed out once never changes afterwards.

What is not here: which event may change what (see `rules`), and where a
state is kept (see `store`).
"""

from __future__ import annotations

from dataclasses import dataclass

from runstate_lab.errors import Malformed
from runstate_lab.nouns import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Claim,
    Decision,
    Fact,
    FirstError,
    Lease,
    NodeReport,
    NodeState,
    NodeStatus,
    Plan,
    RunStatus,
    ToolCall,
    TurnState,
)
from runstate_lab.shapes import filled, text, whole

Value = str | ToolCall | Decision | Approval | Callback | Answer | Lease | Plan | Claim | NodeReport
VALUES = (str, ToolCall, Decision, Approval, Callback, Answer, Lease, Plan, Claim, NodeReport)
TUPLES = ("success", "facts", "calls", "settled", "requests", "answered", "grants", "nodes")


@dataclass(frozen=True)
class RunState:
    """The smallest set of facts needed to continue a run.

    Not the model's output, not the prompt, not the logs. `revision` is a
    guard and counts accepted events; it is never business data. Each counter
    has its own level: `turn.number` counts decisions, `step` dispatched tool
    calls, `attempt` (of a call, of a node) executions. Source text: what Run
    State keeps.

    >>> state = RunState("run-7", success=("build=green",))
    >>> print(state.status, state.revision, state.facts)
    queued 0 ()
    >>> state.status = RunStatus.COMPLETED
    Traceback (most recent call last):
        ...
    dataclasses.FrozenInstanceError: cannot assign to field 'status'
    """

    run_id: str
    goal: str = ""
    success: tuple[str, ...] = ()
    budget: Budget = Budget()
    status: RunStatus = RunStatus.QUEUED
    turn: TurnState = TurnState()
    step: int = 0
    facts: tuple[Fact, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    settled: tuple[str, ...] = ()
    requests: tuple[Approval | Callback, ...] = ()
    answered: tuple[str, ...] = ()
    grants: tuple[tuple[str, str], ...] = ()
    nodes: tuple[NodeState, ...] = ()
    driver: Lease | None = None
    waiting_for: str | None = None
    stop_reason: str | None = None
    first_error: FirstError | None = None
    revision: int = 0

    def __post_init__(self) -> None:
        filled("a run id", self.run_id)
        for name in TUPLES:
            if type(getattr(self, name)) is not tuple:
                found = type(getattr(self, name)).__name__
                raise Malformed(f"{name} as a tuple", f"a {found}")
        if type(self.status) is not RunStatus:
            raise Malformed("a RunStatus as status", repr(self.status))
        for wanted in self.success:
            Fact.parse(wanted)

    def fact(self, key: str) -> Fact | None:
        """The newest fact of a key, or None: the newest one decides.

        >>> old, new = Fact("build", "red"), Fact("build", "green")
        >>> print(RunState("run-7", facts=(old, new)).fact("build"))
        build=green
        """
        for fact in reversed(self.facts):
            if fact.key == key:
                return fact
        return None

    def call(self, call_id: str | None) -> ToolCall | None:
        """The call of that id among those not yet settled, or None.

        >>> RunState("run-7").call("c1") is None
        True
        """
        for call in self.calls:
            if call.call_id == call_id:
                return call
        return None

    def node(self, name: str) -> NodeState | None:
        """The node of that name, or None.

        >>> RunState("run-7", nodes=(NodeState("build"),)).node("build").attempt
        0
        """
        for node in self.nodes:
            if node.name == name:
                return node
        return None

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids of the calls and requests that the run still owes an answer about."""
        calls = [call.call_id for call in self.calls if call.status.pending]
        return (*calls, *[request.request_id for request in self.requests])


@dataclass(frozen=True, slots=True)
class StateProposal:
    """What anybody may offer: a kind, a value and the revision it was computed from.

    There is no field for a source or an authority, so no text can claim one.

    >>> StateProposal("run_completed", "", 3, authority="runtime")
    Traceback (most recent call last):
        ...
    TypeError: StateProposal.__init__() got an unexpected keyword argument 'authority'
    """

    kind: str
    value: Value
    expected_revision: int

    def __post_init__(self) -> None:
        filled("an event kind", self.kind)
        if type(self.value) not in VALUES:
            raise Malformed(f"a value for {self.kind}", repr(self.value)[:80])
        whole("an expected revision", self.expected_revision)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ExecutionContext:
    """Who speaks (source), through which door (authority), about which call.

    `tick` is the logical time and `epoch` the driver's reign, both as the
    trusted entry says. A store recognises the contexts it minted by identity:
    an equal one typed by hand opens nothing.

    >>> typed = ExecutionContext("runtime", "runtime")
    >>> typed == ExecutionContext("runtime", "runtime")
    True
    >>> typed is ExecutionContext("runtime", "runtime")
    False
    >>> ExecutionContext(7, "runtime")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a source, found a int, not text
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    source: str
    authority: str
    call_id: str | None = None
    tick: int = 0
    epoch: int | None = None

    def __post_init__(self) -> None:
        text("a source", self.source)
        text("an authority", self.authority)
        if self.call_id is not None:
            text("a call id", self.call_id)
        whole("a tick", self.tick)
        if self.epoch is not None:
            whole("a reign", self.epoch)


@dataclass(frozen=True, init=False)
class StateEvent:
    """A proposal with the source and authority that the trusted entry injected.

    An event is not yet state: only an accepted one is applied.

    >>> event = StateEvent("run_completed", "model:planner", "model", "", 3)
    >>> event.authority
    'model'
    """

    kind: str
    source: str
    authority: str
    value: Value
    expected_revision: int
    call_id: str | None = None
    tick: int = 0
    epoch: int | None = None

    def __init__(
        self,
        kind: str,
        source: str,
        authority: str,
        value: Value,
        expected_revision: int,
        call_id: str | None = None,
        tick: int = 0,
        epoch: int | None = None,
    ) -> None:
        # One is made for every proposal; in one stroke it takes half the time.
        self.__dict__.update(
            kind=kind,
            source=source,
            authority=authority,
            value=value,
            expected_revision=expected_revision,
            call_id=call_id,
            tick=tick,
            epoch=epoch,
        )


__all__ = [
    "Answer",
    "Approval",
    "Budget",
    "CallStatus",
    "Callback",
    "Claim",
    "Decision",
    "ExecutionContext",
    "Fact",
    "FirstError",
    "Lease",
    "NodeReport",
    "NodeState",
    "NodeStatus",
    "Plan",
    "RunState",
    "RunStatus",
    "StateEvent",
    "StateProposal",
    "ToolCall",
    "TurnState",
    "VALUES",
    "Value",
]
