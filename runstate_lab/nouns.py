"""Floor 0. The small frozen nouns: facts, calls, requests, nodes, leases.

Each is a value with a shape that it checks once, when it is made. What is
not here: the run itself and what moves it (see `model`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from runstate_lab.errors import Malformed
from runstate_lab.shapes import filled, names, pairs, text, whole

Noun = TypeVar("Noun")


class RunStatus(StrEnum):
    """The six statuses of a run; each prints as its plain word.

    >>> print(RunStatus.WAITING, RunStatus.WAITING.terminal)
    waiting False
    >>> [str(status) for status in RunStatus if status.terminal]
    ['completed', 'failed', 'cancelled']
    """

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """Whether no event may ever leave this status."""
        return self in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


class CallStatus(StrEnum):
    """How far a tool call got; "not executed", "failed" and "unknown" differ.

    >>> [str(status) for status in CallStatus if status.pending]
    ['proposed', 'dispatched', 'unknown']
    """

    PROPOSED = "proposed"
    DISPATCHED = "dispatched"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    NOT_EXECUTED = "not_executed"

    @property
    def pending(self) -> bool:
        """Whether the run still owes an answer about this call."""
        return self in (CallStatus.PROPOSED, CallStatus.DISPATCHED, CallStatus.UNKNOWN)


class NodeStatus(StrEnum):
    """The statuses of one node of a graph.

    >>> print(NodeStatus.BLOCKED.terminal, NodeStatus.FAILED.terminal)
    False True
    """

    PENDING = "pending"
    READY = "ready"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """Whether no event may ever leave this status."""
        return self in (NodeStatus.COMPLETED, NodeStatus.FAILED, NodeStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Fact:
    """One accepted observation, with the answers to where it comes from.

    A model can fill in none of the provenance: the trusted entry does.
    Source text: the section on provenance.

    >>> fact = Fact("build", "green", source="tool:get_status", call_id="c1")
    >>> print(fact, fact.verifiable)
    build=green True
    >>> Fact("build", "green").verifiable
    False
    """

    key: str
    value: str
    source: str = ""
    authority: str = ""
    call_id: str | None = None
    revision: int = 0
    checkpoint: str | None = None

    def __post_init__(self) -> None:
        text("a fact's key", self.key)
        text("a fact's value", self.value)
        if not self.key or "=" in self.key:
            raise Malformed(f"a fact with key {self.key!r}", "an empty key or one with '='")

    def __str__(self) -> str:
        return f"{self.key}={self.value}"

    @property
    def verifiable(self) -> bool:
        """Whether a recovery could ask the producer of this fact again."""
        return self.call_id is not None

    @classmethod
    def parse(cls, offered: str) -> Fact:
        """The bare fact in a text of the form `key=value`.

        >>> Fact.parse("build=green").value
        'green'
        >>> Fact.parse("the build looks fine")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a fact, found 'the build looks fine', not key=value
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        text("a fact", offered)
        key, equals, value = offered.partition("=")
        if not (key and equals and value):
            raise Malformed("a fact", f"{offered!r}, not key=value")
        return cls(key, value)


@dataclass(frozen=True)
class ToolCall:
    """A tool call: the intent first, then how far it got.

    `arguments` is a tuple of (name, text) pairs. `key` is the idempotency
    key: only with one may a call whose outcome is unknown be tried again.
    `retry_of` names the call id of the attempt before this one.

    >>> first = ToolCall("c1", "deploy", (("release", "7"),), key="deploy-7")
    >>> first.digest == ToolCall("c9", "deploy", (("release", "8"),)).digest
    False
    """

    call_id: str
    tool: str
    arguments: tuple[tuple[str, str], ...] = ()
    key: str | None = None
    attempt: int = 1
    retry_of: str | None = None
    gated: bool = False
    status: CallStatus = CallStatus.PROPOSED

    def __post_init__(self) -> None:
        filled("a call id", self.call_id)
        filled("a tool's name", self.tool)
        pairs(self.arguments)
        whole("an attempt", self.attempt, least=1)

    @property
    def digest(self) -> str:
        """Twelve hex digits over tool and arguments: what an approver binds to."""
        from hashlib import sha256  # Slow to load, and most processes never hash.

        return sha256(repr((self.tool, self.arguments)).encode()).hexdigest()[:12]

    def asks_as(self, other: ToolCall) -> bool:
        """Whether another call asks for the very same: the same tool and arguments.

        >>> ToolCall("c1", "deploy").asks_as(ToolCall("c2", "deploy", attempt=2))
        True
        >>> ToolCall("c1", "deploy").asks_as(ToolCall("c1", "deploy", (("release", "8"),)))
        False
        """
        return self.tool == other.tool and self.arguments == other.arguments


@dataclass(frozen=True, slots=True)
class Decision:
    """What a model said in one turn: words, and calls that it would like.

    All of it is intent. `final` says that the model thinks it is done, which
    completes nothing.

    >>> Decision("all green, done", final=True).calls
    ()
    """

    words: str
    calls: tuple[ToolCall, ...] = ()
    final: bool = False

    def __post_init__(self) -> None:
        text("a model's words", self.words)
        if type(self.calls) is not tuple or any(type(one) is not ToolCall for one in self.calls):
            raise Malformed("calls as a tuple of ToolCall", repr(self.calls)[:80])


@dataclass(frozen=True, slots=True)
class Approval:
    """A request for somebody's decision; the run waits for it.

    It is bound to one call (id and digest of its arguments), to the revision
    that the human sees, and it expires at a logical tick.

    >>> Approval("a1", question="deploy release 7?", approver="").approver
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked an approver, found ''
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    request_id: str
    question: str
    approver: str
    call_id: str | None = None
    digest: str | None = None
    seen_revision: int = 0
    expires_at: int | None = None

    def __post_init__(self) -> None:
        filled("a request id", self.request_id)
        filled("a question", self.question)
        filled("an approver", self.approver)

    @property
    def answerer(self) -> str:
        """The only source that may answer: `approver:` and the name."""
        return f"approver:{self.approver}"


@dataclass(frozen=True, slots=True)
class Callback:
    """A message that an outside service has promised; the run waits for it.

    >>> Callback("k1", service="ci").answerer
    'service:ci'
    """

    request_id: str
    service: str
    call_id: str | None = None
    digest: str | None = None
    seen_revision: int = 0
    expires_at: int | None = None

    def __post_init__(self) -> None:
        filled("a request id", self.request_id)
        filled("a service", self.service)

    @property
    def answerer(self) -> str:
        """The only source that may answer: `service:` and the name."""
        return f"service:{self.service}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a request, bound to exactly what its author saw.

    >>> asked = Approval("a1", "deploy?", "rosa", "c1", "0f3a", seen_revision=4)
    >>> Answer.to(asked, "run-7").digest
    '0f3a'
    """

    request_id: str
    run_id: str
    call_id: str | None = None
    digest: str | None = None
    seen_revision: int = 0

    @classmethod
    def to(cls, request: Approval | Callback, run_id: str) -> Answer:
        """The honest answer to a request as it was shown.

        >>> Answer.to(Callback("k1", "ci"), "run-7").request_id
        'k1'
        """
        return cls(
            request.request_id, run_id, request.call_id, request.digest, request.seen_revision
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive a run: who, the number of the reign, until which tick.

    >>> Lease("worker-1", epoch=1, until=10).holds_at(10)
    False
    """

    holder: str
    epoch: int
    until: int

    def __post_init__(self) -> None:
        filled("a holder", self.holder)
        whole("an epoch", self.epoch, least=1)
        whole("a tick", self.until)

    def holds_at(self, tick: int) -> bool:
        """Whether the lease still holds at a tick.

        >>> Lease("worker-1", epoch=1, until=10).holds_at(9)
        True
        """
        return tick < self.until


@dataclass(frozen=True)
class NodeState:
    """One schedulable unit of a graph and how far it got.

    `writes` are the (key, text) pairs of its report; they are folded in the
    graph's order, never in the order in which reports arrived. `until` is the
    tick at which a claim runs out, or a question to the approver.

    >>> NodeState("deploy", needs=("build",)).status.terminal
    False
    """

    name: str
    needs: tuple[str, ...] = ()
    status: NodeStatus = NodeStatus.PENDING
    attempt: int = 0
    max_attempts: int = 1
    approver: str | None = None
    worker: str | None = None
    until: int | None = None
    reason: str | None = None
    writes: tuple[tuple[str, str], ...] = ()
    approved: bool = False

    def __post_init__(self) -> None:
        filled("a node's name", self.name)
        names(f"{self.name}'s needs", self.needs)
        whole(f"{self.name}'s attempts made", self.attempt)
        whole(f"{self.name}'s max_attempts", self.max_attempts, least=1)
        if self.approver is not None:
            filled(f"{self.name}'s approver", self.approver)

    @property
    def may_begin(self) -> bool:
        """Whether its approver agreed to an attempt that nobody has begun.

        Such an attempt is claimed again: until then it has only asked.
        """
        return self.approved and self.status is NodeStatus.RUNNING and self.until is None


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's claim on a node: the attempt that it will make, until a tick.

    >>> Claim("build", worker="w1", attempt=0, until=9)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked an attempt, found 0
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    node: str
    worker: str
    attempt: int
    until: int

    def __post_init__(self) -> None:
        filled("a node's name", self.node)
        filled("a worker", self.worker)
        whole("an attempt", self.attempt, least=1)
        whole("a tick", self.until)


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What is said about a node: by which attempt, what it writes, or why not.

    `until` is for a question only: the tick at which it expires.

    >>> NodeReport("build", attempt=1, writes=(("build", "green"),)).reason
    ''
    """

    node: str
    attempt: int = 0
    writes: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    until: int | None = None

    def __post_init__(self) -> None:
        filled("a node's name", self.node)
        whole("an attempt", self.attempt)
        pairs(self.writes)
        text("a reason", self.reason)
        if self.until is not None:
            whole("a tick", self.until)


@dataclass(frozen=True, slots=True)
class Plan:
    """The nodes of a graph, as they join a run.

    >>> [node.name for node in Plan((NodeState("build"), NodeState("tests"))).nodes]
    ['build', 'tests']
    """

    nodes: tuple[NodeState, ...]

    def __post_init__(self) -> None:
        if type(self.nodes) is not tuple or any(type(one) is not NodeState for one in self.nodes):
            raise Malformed("nodes as a tuple of NodeState", repr(self.nodes)[:80])


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may spend, each limit at its own level; None is no limit.

    Turns count decisions, attempts count executions of one call, the deadline
    is a logical tick of the run.

    >>> Budget(max_turns=4).max_attempts is None
    True
    """

    max_turns: int | None = None
    max_attempts: int | None = None
    deadline: int | None = None

    def __post_init__(self) -> None:
        limits = {"max_turns": 1, "max_attempts": 1, "deadline": 0}
        for name, least in limits.items():
            if getattr(self, name) is not None:
                whole(f"a limit {name}", getattr(self, name), least=least)


@dataclass(frozen=True, slots=True)
class FirstError:
    """The first thing that went wrong, at its level; no retry erases it.

    >>> print(FirstError("attempt", "c1", "connection lost", 5))
    attempt c1 at revision 5: connection lost
    """

    level: str
    name: str
    words: str
    revision: int

    def __str__(self) -> str:
        return f"{self.level} {self.name} at revision {self.revision}: {self.words}"


@dataclass(frozen=True, slots=True)
class TurnState:
    """One decision cycle: its number, how far it got, whether the model thinks it is done.

    >>> TurnState().number
    0
    """

    number: int = 0
    phase: str = "none"
    privacy: str = "open"
    final: bool = False


def changed(noun: Noun, **fields: object) -> Noun:
    """The same noun with some fields changed, unchecked: for the reducer.

    What the reducer puts in was checked when it was proposed; checking every
    field again would cost more than the rest of an event.

    >>> changed(NodeState("build"), attempt=-1).attempt
    -1
    """
    return with_fields(noun, fields)


def with_fields(noun: Noun, fields: dict[str, object]) -> Noun:
    """The same as `changed`, for fields that are in a dict already.

    >>> with_fields(NodeState("build"), {"attempt": 2}).attempt
    2
    """
    after = object.__new__(type(noun))
    object.__setattr__(after, "__dict__", noun.__dict__ | fields)
    return after
