"""Floor 2. The only keeper: loads a state, applies proposals, remembers refusals.

A store compares the expected revision, then swaps: of two proposals computed
from one revision the first wins and the second is told. It is also the only
minting place of contexts, so it knows its own when it sees them.

What is not here: durability, and who may ask for which context (see
`runtime`). Source text: from a candidate event to state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload
from weakref import WeakValueDictionary

from runstate_lab.errors import ContextRejected, Malformed, Refusal
from runstate_lab.model import ExecutionContext, RunState, StateEvent, StateProposal
from runstate_lab.rules import RULES, Rules, check, reduce


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the trace: the event, the revision it met or made, the refusal.

    >>> entry = Entry(StateEvent("run_started", "runtime", "runtime", "", 0), 1)
    >>> entry.accepted
    True
    """

    event: StateEvent
    revision: int
    refusal: Refusal | None = None

    @property
    def accepted(self) -> bool:
        """Whether the event was applied."""
        return self.refusal is None


class Trace(Sequence[Entry]):
    """Everything that was offered to a store, in order; read-only.

    >>> store = StateStore(RunState("run-7"))
    >>> store.trace.append("run_completed")
    Traceback (most recent call last):
        ...
    AttributeError: 'Trace' object has no attribute 'append'
    >>> len(store.trace)
    0
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        found = self._entries[index]
        return tuple(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __repr__(self) -> str:
        return f"Trace: {len(self)} entries, {len(self.refused)} refused"

    @property
    def accepted(self) -> tuple[StateEvent, ...]:
        """The events that were applied, in order; what a replay folds."""
        return tuple(entry.event for entry in self._entries if entry.refusal is None)

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The refusals, in order; each one was also raised to its caller."""
        return tuple(entry.refusal for entry in self._entries if entry.refusal is not None)


class StateStore:
    """Keeps one run: compare the revision, check the writer, then swap.

    >>> store = StateStore(RunState("run-7"))
    >>> door = store.context("runtime", "runtime")
    >>> print(store.apply(StateProposal("run_started", "", 0), context=door).status)
    running
    >>> store.apply(StateProposal("run_started", "", 0), context=door)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.RevisionConflict: revision conflict: asked run_started at revision 0, found revision 1
    hint: load the state again and decide: recompute, drop or escalate
    >>> store.trace
    Trace: 2 entries, 1 refused
    """

    def __init__(self, state: RunState, *, rules: Rules = RULES) -> None:
        if not isinstance(state, RunState):
            raise Malformed("a RunState to keep", f"a {type(state).__name__}")
        self._state = state
        self._rules = rules
        self._entries: list[Entry] = []
        self._minted: WeakValueDictionary[tuple[object, ...], ExecutionContext] = (
            WeakValueDictionary()
        )

    @property
    def rules(self) -> Rules:
        """The rules table in force."""
        return self._rules

    @property
    def trace(self) -> Trace:
        """What was offered so far, refusals included."""
        return Trace(self._entries)

    def load(self) -> RunState:
        """The newest committed state.

        >>> StateStore(RunState("run-7")).load().revision
        0
        """
        return self._state

    def context(
        self, source: str, authority: str, *, call_id: str | None = None
    ) -> ExecutionContext:
        """A context that this store will recognise; the trusted entry asks for it.

        >>> store = StateStore(RunState("run-7"))
        >>> minted = store.context("runtime", "runtime")
        >>> store.context("runtime", "runtime") is minted
        True
        >>> StateStore(RunState("run-7")).context("runtime", "runtime") is minted
        False
        """
        key = (source, authority, call_id)
        context = self._minted.get(key)
        if context is None:
            context = self._minted[key] = ExecutionContext(source, authority, call_id)
        return context

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, once the proposal was accepted; raises the refusal otherwise.

        A refusal is kept in the trace and does not move the revision.

        >>> store = StateStore(RunState("run-7"))
        >>> typed = ExecutionContext("runtime", "runtime")
        >>> store.apply(StateProposal("run_started", "", 0), context=typed)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.ContextRejected: event source/authority rejected: asked run_started, found a context that this store did not mint
        hint: go through a door of the Runtime; it asks the store for a context
        """
        event = self._event(proposal, context)
        try:
            self._recognise(event, context)
            self._check(event)
        except Refusal as refusal:
            self._keep(Entry(event, self._state.revision, refusal.kept()))
            raise
        self._state = self._next(event)
        self._keep(Entry(event, self._state.revision))
        return self._state

    # Each step is a method of its own, so that a store which is wrong on
    # purpose can be wrong in exactly one of them (see `broken`).

    def _event(self, proposal: StateProposal, context: ExecutionContext) -> StateEvent:
        if not isinstance(proposal, StateProposal) or not isinstance(context, ExecutionContext):
            found = f"{type(proposal).__name__} with {type(context).__name__}"
            raise Malformed("a StateProposal with an ExecutionContext", found)
        return StateEvent(
            proposal.kind,
            context.source,
            context.authority,
            proposal.value,
            proposal.expected_revision,
            context.call_id,
        )

    def _recognise(self, event: StateEvent, context: ExecutionContext) -> None:
        if self._minted.get((event.source, event.authority, event.call_id)) is not context:
            raise ContextRejected(event.kind, "a context that this store did not mint")

    def _check(self, event: StateEvent) -> None:
        check(self._state, event, self._rules)

    def _next(self, event: StateEvent) -> RunState:
        return reduce(self._state, event, self._rules)

    def _keep(self, entry: Entry) -> None:
        self._entries.append(entry)
