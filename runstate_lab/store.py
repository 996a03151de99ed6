"""Floor 2. The only keeper: loads a state, applies proposals, remembers refusals.

A store compares the expected revision, then swaps: of two proposals computed
from one revision the first wins and the second is told. It is also the only
minting place of contexts, so it knows its own when it sees them.

What is not here: durability, and who may ask for which context (see
`runtime`). Source text: from a candidate event to state.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from runstate_lab.errors import ContextRejected, Malformed, Refusal
from runstate_lab.model import ExecutionContext, RunState, StateEvent, StateProposal
from runstate_lab.rules import RULES, Rules, check, reduce
from runstate_lab.trace import Diagnostic, Entry, Trace, redact


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
        self._base = state
        self._rules = rules
        self._entries: list[Entry] = []
        self._notes: list[Diagnostic] = []
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
        return Trace(self._entries, self._notes)

    @property
    def base(self) -> RunState:
        """The state from which the accepted events of the trace can be folded."""
        return self._base

    def load(self) -> RunState:
        """The newest committed state.

        >>> StateStore(RunState("run-7")).load().revision
        0
        """
        return self._state

    def context(
        self,
        source: str,
        authority: str,
        *,
        call_id: str | None = None,
        tick: int = 0,
        epoch: int | None = None,
    ) -> ExecutionContext:
        """A context that this store will recognise; the trusted entry asks for it.

        >>> store = StateStore(RunState("run-7"))
        >>> minted = store.context("runtime", "runtime")
        >>> store.context("runtime", "runtime") is minted
        True
        >>> StateStore(RunState("run-7")).context("runtime", "runtime") is minted
        False
        """
        key = (source, authority, call_id, tick, epoch)
        context = self._minted.get(key)
        if context is None:
            context = self._minted[key] = ExecutionContext(*key)
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

    def note(self, component: str, words: str, *, correlation: str) -> Diagnostic:
        """A diagnostic, redacted and then kept in the trace; no state changes.

        >>> store = StateStore(RunState("run-7"))
        >>> store.note("tool:scan", "called with token=abc", correlation="c3").words
        'called with token=[redacted]'
        >>> store.load().revision
        0
        """
        order = len(self._entries) + len(self._notes)
        kept = Diagnostic(order, component, redact(words), correlation)
        self._notes.append(kept)
        return kept

    def prune(self, *, keep: int) -> int:
        """How many entries were dropped so that only the newest `keep` are left.

        The state does not need them: the base moves on to where the rest of
        the trace begins.

        >>> store = StateStore(RunState("run-7"))
        >>> door = store.context("runtime", "runtime")
        >>> started = store.apply(StateProposal("run_started", "", 0), context=door)
        >>> store.prune(keep=0), store.base == started
        (1, True)
        """
        if type(keep) is not int or keep < 0:
            raise Malformed("a number of entries to keep", repr(keep))
        dropped = self._entries[: max(0, len(self._entries) - keep)]
        for entry in dropped:
            if entry.refusal is None:
                self._base = reduce(self._base, entry.event, self._rules)
        del self._entries[: len(dropped)]
        return len(dropped)

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
            context.tick,
            context.epoch,
        )

    def _recognise(self, event: StateEvent, context: ExecutionContext) -> None:
        key = (event.source, event.authority, event.call_id, event.tick, event.epoch)
        if self._minted.get(key) is not context:
            raise ContextRejected(event.kind, "a context that this store did not mint")

    def _check(self, event: StateEvent) -> None:
        check(self._state, event, self._rules)

    def _next(self, event: StateEvent) -> RunState:
        return reduce(self._state, event, self._rules)

    def _keep(self, entry: Entry) -> None:
        self._entries.append(entry)
