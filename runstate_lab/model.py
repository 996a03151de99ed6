"""Floor 0. The frozen nouns: what a run is made of and what moves it.

Everything here is a value: frozen, compared by content, made of tuples. A
state that was handed out once never changes afterwards.

What is not here: which event may change what (see `rules`), and where a
state is kept (see `store`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runstate_lab.errors import Malformed


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
        _text("a fact's key", self.key)
        _text("a fact's value", self.value)
        if not self.key or "=" in self.key:
            raise Malformed(f"a fact with key {self.key!r}", "an empty key or one with '='")

    def __str__(self) -> str:
        return f"{self.key}={self.value}"

    @property
    def verifiable(self) -> bool:
        """Whether a recovery could ask the producer of this fact again."""
        return self.call_id is not None

    @classmethod
    def parse(cls, text: str) -> Fact:
        """The bare fact in a text of the form `key=value`.

        >>> Fact.parse("build=green").value
        'green'
        >>> Fact.parse("the build looks fine")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a fact, found 'the build looks fine', not key=value
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        _text("a fact", text)
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise Malformed("a fact", f"{text!r}, not key=value")
        return cls(key, value)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the runtime decided on: the intent, before its effect.

    `arguments` is a tuple of (name, text) pairs, so that the call can be
    compared and digested.

    >>> ToolCall("c1", "deploy", (("release", "7"),)).tool
    'deploy'
    """

    call_id: str
    tool: str
    arguments: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _filled("a call id", self.call_id)
        _filled("a tool's name", self.tool)
        _pairs(self.arguments)


@dataclass(frozen=True, slots=True)
class Approval:
    """A request for somebody's decision; the run waits for it.

    >>> Approval("a1", question="deploy release 7?", approver="").approver
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked an approver, found ''
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    request_id: str
    question: str
    approver: str

    def __post_init__(self) -> None:
        _filled("a request id", self.request_id)
        _filled("a question", self.question)
        _filled("an approver", self.approver)

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

    def __post_init__(self) -> None:
        _filled("a request id", self.request_id)
        _filled("a service", self.service)

    @property
    def answerer(self) -> str:
        """The only source that may answer: `service:` and the name."""
        return f"service:{self.service}"


@dataclass(frozen=True, slots=True)
class RunState:
    """The smallest set of facts needed to continue a run.

    Not the model's output, not the prompt, not the logs. `revision` is a
    guard and counts accepted events; it is never business data. `step` counts
    dispatched tool calls. Source text: what Run State keeps.

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
    status: RunStatus = RunStatus.QUEUED
    step: int = 0
    facts: tuple[Fact, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    requests: tuple[Approval | Callback, ...] = ()
    waiting_for: str | None = None
    stop_reason: str | None = None
    revision: int = 0

    def __post_init__(self) -> None:
        _filled("a run id", self.run_id)
        for name in ("success", "facts", "calls", "requests"):
            if type(getattr(self, name)) is not tuple:
                found = type(getattr(self, name)).__name__
                raise Malformed(f"{name} as a tuple", f"a {found}")
        if type(self.status) is not RunStatus:
            raise Malformed("a RunStatus as status", repr(self.status))
        for text in self.success:
            Fact.parse(text)

    def fact(self, key: str) -> Fact | None:
        """The newest fact of a key, or None: the newest one decides.

        >>> old, new = Fact("build", "red"), Fact("build", "green")
        >>> print(RunState("run-7", facts=(old, new)).fact("build"))
        build=green
        """
        return next((fact for fact in reversed(self.facts) if fact.key == key), None)


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
    value: str | ToolCall | Approval | Callback
    expected_revision: int

    def __post_init__(self) -> None:
        _filled("an event kind", self.kind)
        if type(self.value) not in VALUES:
            raise Malformed(f"a value for {self.kind}", repr(self.value)[:80])
        if type(self.expected_revision) is not int or self.expected_revision < 0:
            raise Malformed("an expected revision", repr(self.expected_revision)[:80])


VALUES = (str, ToolCall, Approval, Callback)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ExecutionContext:
    """Who speaks (source), through which door (authority), about which call.

    A store recognises the contexts it minted by identity: an equal one typed
    by hand opens nothing.

    >>> typed = ExecutionContext("runtime", "runtime")
    >>> typed == ExecutionContext("runtime", "runtime")
    True
    >>> typed is ExecutionContext("runtime", "runtime")
    False
    """

    source: str
    authority: str
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
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
    value: str | ToolCall | Approval | Callback
    expected_revision: int
    call_id: str | None = None


def _text(what: str, value: object) -> None:
    # Exactly str: a subclass could answer differently each time it is asked.
    if type(value) is not str:
        raise Malformed(what, f"a {type(value).__name__}, not text")


def _filled(what: str, value: object) -> None:
    _text(what, value)
    if not value:
        raise Malformed(what, "''")


def _pairs(arguments: object) -> None:
    if type(arguments) is not tuple:
        raise Malformed("arguments as a tuple of pairs", f"a {type(arguments).__name__}")
    for pair in arguments:
        if type(pair) is not tuple or len(pair) != 2:
            raise Malformed("an argument as a (name, text) pair", repr(pair)[:80])
        _filled("an argument's name", pair[0])
        _text("an argument", pair[1])
