"""Floor 1. What one row of a rules table is, and what a table of rows is.

What is not here: the rows themselves (see `runrows`, `noderows`), and the
check and the reducer that read them (see `rules`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from runstate_lab.errors import Malformed, Refusal, UnknownEvent
from runstate_lab.model import NodeStatus, RunState, RunStatus, StateEvent

Condition = Callable[[RunState, StateEvent], Refusal | None]
Change = Callable[[RunState, StateEvent], dict[str, object]]

QUEUED, RUNNING, WAITING = RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING
COMPLETED, FAILED, CANCELLED = RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED
ANY_TEXT = ("*",)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: everything the kernel knows about one kind of event.

    `sources` are names, or `tool:*` for any tool. `to` is None where the
    status stays. `takes` is the type of the value. `reasons` is empty where
    none is carried, one text where the row itself supplies it, several where
    the proposal's value must be one of them, and `ANY_TEXT` where any words
    will do. `nodes` and `node_to` are the arrow of the node that the value
    names. `late` looks first when the status is wrong, for a better answer
    than "illegal"; `otherwise` is the words of the plain one.

    >>> row = Rule("run_started", "run status", "runtime", ("runtime",), (QUEUED,), RUNNING)
    >>> row.admits("runtime"), row.admits("runtimes")
    (True, False)
    """

    kind: str
    datum: str
    authority: str
    sources: tuple[str, ...]
    come_from: tuple[RunStatus, ...]
    to: RunStatus | None = None
    takes: type = str
    conditions: tuple[Condition, ...] = ()
    change: Change | None = None
    writes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    nodes: tuple[NodeStatus, ...] = ()
    node_to: NodeStatus | None = None
    late: Condition | None = None
    otherwise: str = "{kind} is not legal from {status}"
    _any_of: tuple[str, ...] = field(init=False, repr=False, compare=False)
    fixed_reason: str | None = field(init=False, repr=False, compare=False)
    ends: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Looked at for every event, so settled once, when the row is made.
        patterns = tuple(one[:-1] for one in self.sources if one.endswith(":*"))
        fixed = len(self.reasons) == 1 and self.reasons != ANY_TEXT
        object.__setattr__(self, "_any_of", patterns)
        object.__setattr__(self, "fixed_reason", self.reasons[0] if fixed else None)
        object.__setattr__(self, "ends", self.to is not None and self.to.terminal)

    def admits(self, source: str) -> bool:
        """Whether a source is one of those that this row names.

        >>> tools = Rule("tool_failed", "tool result", "tool_executor", ("tool:*",), (RUNNING,))
        >>> tools.admits("tool:scan"), tools.admits("tool:"), tools.admits("tool:*")
        (True, False, True)
        """
        if source in self.sources:
            return True
        return source.startswith(self._any_of) and source not in self._any_of


@dataclass(frozen=True)
class Rules:
    """A named rules table; refuses to exist with a kind twice.

    >>> row = Rule("run_started", "run status", "runtime", ("runtime",), (QUEUED,), RUNNING)
    >>> Rules("twice", (row, row))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked the rules table 'twice', found two rows for run_started
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    name: str
    rows: tuple[Rule, ...]
    _by_kind: dict[str, Rule] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_kind: dict[str, Rule] = {}
        for rule in self.rows:
            if rule.kind in by_kind:
                raise Malformed(f"the rules table {self.name!r}", f"two rows for {rule.kind}")
            by_kind[rule.kind] = rule
        object.__setattr__(self, "_by_kind", by_kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of events this table has rows for, in its order."""
        return tuple(rule.kind for rule in self.rows)

    def row(self, kind: str) -> Rule:
        """The row for a kind of event; refuses a kind it has no row for.

        >>> Rules("empty", ()).row("run_failed")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.UnknownEvent: unknown event: run_failed: asked run_failed, found no such row in empty
        hint: use one of the kinds that the rules table lists
        """
        try:
            return self._by_kind[kind]
        except KeyError:
            found = f"no such row in {self.name}"
            raise UnknownEvent(kind, found, reason=f"unknown event: {kind}") from None

    def only(self, *kinds: str) -> Rules:
        """The same rows for fewer kinds, so that a table can grow row by row.

        >>> Rules("empty", ()).only("run_started")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.UnknownEvent: unknown event: run_started: asked run_started, found no such row in empty
        hint: use one of the kinds that the rules table lists
        """
        for kind in kinds:
            self.row(kind)
        rows = tuple(rule for rule in self.rows if rule.kind in kinds)
        return Rules(f"{self.name}, {len(rows)} of {len(self.rows)} rows", rows)

    def but(self, kind: str, **changes: object) -> Rules:
        """The same table with one row changed; the name says that it is altered.

        >>> row = Rule("run_started", "run status", "runtime", ("runtime",), (QUEUED,), RUNNING)
        >>> Rules("one", (row,)).but("run_started", authority="model").name
        'one but run_started'
        """
        self.row(kind)
        rows = tuple(replace(rule, **changes) if rule.kind == kind else rule for rule in self.rows)
        return Rules(f"{self.name} but {kind}", rows)
