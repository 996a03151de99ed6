"""Floor 4. Stores that are WRONG ON PURPOSE, each in one named way.

Every class differs from `StateStore` in a single step; the rest is right.
The lessons break runs with them, and the tests use them to show that each
clause of `conformance` can fail.

What is not here: anything to build on. Do not copy from this module.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runstate_lab.conditions import call_is_open, goal_is_met, nothing_is_pending, result_is_a_fact
from runstate_lab.errors import Refusal, RevisionConflict, SuccessNotMet, UnknownEvent
from runstate_lab.model import (
    ExecutionContext,
    Fact,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
)
from runstate_lab.rules import RULES, Rules, check, reduce
from runstate_lab.store import StateStore
from runstate_lab.trace import Entry


class NaiveStore(StateStore):
    """Saves what the caller computed from an old page: updates get lost.

    The event is applied to the snapshot of its expected revision, and the
    result replaces whatever was committed since.

    >>> from runstate_lab.runtime import Runtime
    >>> runtime = Runtime(NaiveStore(RunState("run-7")))
    >>> for wish in ("first", "second"):
    ...     state = runtime.accept_runtime(StateProposal("run_started", "", 0))
    >>> print(state.status, state.revision, runtime.store.trace)
    running 1 Trace: 2 entries, 0 refused
    """

    def __init__(self, state: RunState, *, rules: Rules = RULES) -> None:
        super().__init__(state, rules=rules)
        self._pages = {state.revision: state}

    def _check(self, event: StateEvent) -> None:
        check(self._page(event), event, self._rules)

    def _next(self, event: StateEvent) -> RunState:
        # WRONG ON PURPOSE: the newest state is not looked at.
        after = reduce(self._page(event), event, self._rules)
        self._pages[after.revision] = after
        return after

    def _page(self, event: StateEvent) -> RunState:
        return self._pages.get(event.expected_revision, self._state)


class LastWriteWinsStore(StateStore):
    """Appends whatever comes, on top of the newest state: decisions on old facts.

    Nothing is lost, and nobody is told that the world moved on.

    >>> from runstate_lab.runtime import Runtime
    >>> runtime = Runtime(LastWriteWinsStore(RunState("run-7")))
    >>> print(runtime.accept_runtime(StateProposal("run_started", "", 99)).revision)
    1
    """

    def _check(self, event: StateEvent) -> None:
        # WRONG ON PURPOSE: the expected revision is not compared.
        check(self._state, _at(event, self._state.revision), self._rules)


class NoAuthorityStore(StateStore):
    """Compares revisions but not authorities: a right number opens every door.

    >>> from runstate_lab.runtime import Runtime
    >>> runtime = Runtime(NoAuthorityStore(RunState("run-7")))
    >>> print(runtime.accept_model_proposal(StateProposal("run_started", "", 0)).status)
    running
    """

    def _check(self, event: StateEvent) -> None:
        rule = self._rules.row(event.kind)
        sources = (*rule.sources, event.source)
        # WRONG ON PURPOSE: the row is made to fit whoever comes.
        check(
            self._state,
            event,
            self._rules.but(rule.kind, authority=event.authority, sources=sources),
        )


class NoSourceStore(StateStore):
    """Knows the authority but not the source: any tool speaks for any other.

    >>> from runstate_lab.rules import SOURCE_TEXT
    >>> store = NoSourceStore(RunState("run-7", status=RunStatus.RUNNING), rules=SOURCE_TEXT)
    >>> other = store.context("tool:other", "tool_executor")
    >>> print(*store.apply(StateProposal("tool_result", "build=green", 0), context=other).facts)
    build=green
    """

    def _check(self, event: StateEvent) -> None:
        # WRONG ON PURPOSE: whatever the source is, the row lists it.
        rule = self._rules.row(event.kind)
        check(self._state, event, self._rules.but(rule.kind, sources=(*rule.sources, event.source)))


class OpenDoorStore(StateStore):
    """Takes any context, also one that was typed by hand.

    >>> typed = ExecutionContext("runtime", "runtime")
    >>> store = OpenDoorStore(RunState("run-7"))
    >>> print(store.apply(StateProposal("run_started", "", 0), context=typed).status)
    running
    """

    def _recognise(self, event: StateEvent, context: ExecutionContext) -> None:
        # WRONG ON PURPOSE: nobody is asked where the context came from.
        return None


class TalkativeStore(StateStore):
    """Compares the revision first, so that a stranger learns it by trying.

    >>> from runstate_lab.runtime import Runtime
    >>> runtime = Runtime(TalkativeStore(RunState("run-7")))
    >>> runtime.accept_model_proposal(StateProposal("run_started", "", 5))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.RevisionConflict: revision conflict: asked run_started at revision 5, found revision 0
    hint: load the state again and decide: recompute, drop or escalate
    """

    def _check(self, event: StateEvent) -> None:
        # WRONG ON PURPOSE: the writer is checked after the revision.
        if event.expected_revision != self._state.revision:
            asked = f"{event.kind} at revision {event.expected_revision}"
            raise RevisionConflict(asked, f"revision {self._state.revision}")
        super()._check(event)


class OffByOneStore(StateStore):
    """Counts from one: a new store is not at the revision it was given.

    >>> OffByOneStore(RunState("run-7")).load().revision
    1
    """

    def __init__(self, state: RunState, *, rules: Rules = RULES) -> None:
        # WRONG ON PURPOSE: the caller's revision is not the store's to change.
        super().__init__(replace(state, revision=state.revision + 1), rules=rules)


class SoftenedStore(StateStore):
    """A store whose rules table was softened; the base of the table faults.

    >>> SoftenedStore(RunState("run-7")).rules.name
    'RULES'
    """

    softened: dict[str, dict[str, Any]] = {}

    def __init__(self, state: RunState, *, rules: Rules = RULES) -> None:
        for kind, changes in self.softened.items():
            if kind in rules.kinds:
                rules = rules.but(kind, **changes)
        super().__init__(state, rules=rules)


class RestartableStore(SoftenedStore):
    """Lets a terminal run start again.

    >>> store = RestartableStore(RunState("run-7", status=RunStatus.FAILED))
    >>> door = store.context("runtime", "runtime")
    >>> print(store.apply(StateProposal("run_started", "", 0), context=door).status)
    running
    """

    # WRONG ON PURPOSE: an arrow leaves a terminal status.
    softened = {
        "run_started": {
            "come_from": (RunStatus.QUEUED, *(one for one in RunStatus if one.terminal))
        }
    }


class TwiceCompletedStore(SoftenedStore):
    """Completes a run that is complete already, as the source text's listing does.

    >>> TwiceCompletedStore(RunState("run-7")).rules.row("run_completed").come_from[1]
    <RunStatus.COMPLETED: 'completed'>
    """

    # WRONG ON PURPOSE: the status before completion is not looked at.
    softened = {"run_completed": {"come_from": (RunStatus.RUNNING, RunStatus.COMPLETED)}}


class AnyReasonStore(StateStore):
    """Fails and cancels runs for whatever reason it is given, or for none.

    >>> store = AnyReasonStore(RunState("run-7"))
    >>> door = store.context("runtime", "runtime")
    >>> store.apply(StateProposal("run_cancelled", "", 0), context=door).stop_reason
    ''
    """

    def _check(self, event: StateEvent) -> None:
        rules = self._rules
        if event.kind in ("run_failed", "run_cancelled") and event.kind in rules.kinds:
            # WRONG ON PURPOSE: no reason is asked for; what is given is kept.
            rules = rules.but(event.kind, reasons=())
        check(self._state, event, rules)


class PendingBlindStore(SoftenedStore):
    """Completes a run while a call is open.

    >>> len(PendingBlindStore(RunState("run-7")).rules.row("run_completed").conditions)
    1
    """

    # WRONG ON PURPOSE: open calls and requests are not looked at.
    softened = {"run_completed": {"conditions": (goal_is_met,)}}


class FreeTextStore(SoftenedStore):
    """Completes a run because somebody says so.

    >>> len(FreeTextStore(RunState("run-7")).rules.row("run_completed").conditions)
    1
    """

    # WRONG ON PURPOSE: the facts of the goal are not looked at.
    softened = {"run_completed": {"conditions": (nothing_is_pending,)}}


def any_fact_will_do(state: RunState, event: StateEvent) -> Refusal | None:
    """Every fact that the goal asks for is there, whoever wrote it.

    >>> claimed = RunState("run-7", success=("build=green",), facts=(Fact("build", "green"),))
    >>> print(any_fact_will_do(claimed, StateEvent("run_completed", "runtime", "runtime", "", 0)))
    None
    """
    # WRONG ON PURPOSE: a summary typed by hand passes as a tool's fact.
    missing = set(state.success) - {str(fact) for fact in state.facts}
    if missing or not state.success:
        return SuccessNotMet(f"to complete {state.run_id}", f"missing {sorted(missing)}")
    return None


class HandwrittenFactStore(SoftenedStore):
    """Counts facts that no tool reported.

    >>> HandwrittenFactStore(RunState("run-7")).rules.name
    'RULES but run_completed'
    """

    softened = {"run_completed": {"conditions": (any_fact_will_do, nothing_is_pending)}}


def call_was_ever_used(state: RunState, event: StateEvent) -> Refusal | None:
    """The result names a call of this run, open or closed.

    >>> answered = RunState("run-7", facts=(Fact("build", "green", call_id="c1"),))
    >>> again = StateEvent("tool_result_recorded", "tool:x", "tool_executor", "a=b", 0, "c1")
    >>> print(call_was_ever_used(answered, again))
    None
    """
    # WRONG ON PURPOSE: a closed call is taken for an open one.
    if any(fact.call_id == event.call_id for fact in state.facts if fact.call_id):
        return None
    return call_is_open(state, event)


class RepeatingStore(SoftenedStore):
    """Accepts the result of one call twice.

    >>> RepeatingStore(RunState("run-7")).rules.name
    'RULES but tool_result_recorded'
    """

    softened = {"tool_result_recorded": {"conditions": (call_was_ever_used, result_is_a_fact)}}


class ForgivingStore(StateStore):
    """Answers an unknown event with the unchanged state instead of a refusal.

    >>> store = ForgivingStore(RunState("run-7"))
    >>> door = store.context("runtime", "runtime")
    >>> store.apply(StateProposal("run_paused", "", 0), context=door).revision
    0
    """

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, or silently the same one."""
        try:
            return super().apply(proposal, context=context)
        except UnknownEvent:
            # WRONG ON PURPOSE: the caller never hears of the refusal.
            return self._state


class ForgetfulStore(StateStore):
    """Raises refusals but does not keep them.

    >>> from runstate_lab.runtime import Runtime
    >>> store = ForgetfulStore(RunState("run-7"))
    >>> try:
    ...     state = Runtime(store).accept_runtime(StateProposal("run_started", "", 5))
    ... except RevisionConflict:
    ...     print(store.trace)
    Trace: 0 entries, 0 refused
    """

    def _keep(self, entry: Entry) -> None:
        # WRONG ON PURPOSE: a conflict is a signal, and this store drops it.
        if entry.accepted:
            super()._keep(entry)


class SecretiveStore(StateStore):
    """Applies events without keeping them: the state cannot be explained.

    >>> from runstate_lab.runtime import Runtime
    >>> store = SecretiveStore(RunState("run-7"))
    >>> print(Runtime(store).accept_runtime(StateProposal("run_started", "", 0)).revision, store.trace)
    1 Trace: 0 entries, 0 refused
    """

    def _keep(self, entry: Entry) -> None:
        # WRONG ON PURPOSE: accepted events leave no trace.
        if not entry.accepted:
            super()._keep(entry)


class UnsavedStore(StateStore):
    """Returns the new state and forgets it.

    >>> from runstate_lab.runtime import Runtime
    >>> store = UnsavedStore(RunState("run-7"))
    >>> Runtime(store).accept_runtime(StateProposal("run_started", "", 0)).revision, store.load().revision
    (1, 0)
    """

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, which the store does not hold afterwards."""
        before = self._state
        after = super().apply(proposal, context=context)
        # WRONG ON PURPOSE: the old state is put back.
        self._state = before
        return after


class JumpyStore(StateStore):
    """Moves the revision also when it refuses.

    >>> from runstate_lab.runtime import Runtime
    >>> store = JumpyStore(RunState("run-7"))
    >>> try:
    ...     state = Runtime(store).accept_runtime(StateProposal("run_started", "", 5))
    ... except RevisionConflict:
    ...     print(store.load().revision)
    1
    """

    def _keep(self, entry: Entry) -> None:
        super()._keep(entry)
        if not entry.accepted:
            # WRONG ON PURPOSE: a refusal is not an event of the run.
            self._state = replace(self._state, revision=self._state.revision + 1)


class LiveStateStore(StateStore):
    """Hands out its one state and changes it in place.

    >>> from runstate_lab.runtime import Runtime
    >>> store = LiveStateStore(RunState("run-7"))
    >>> before = store.load()
    >>> after = Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
    >>> before.revision
    1
    """

    def _next(self, event: StateEvent) -> RunState:
        after = super()._next(event)
        for name in after.__dict__:
            # WRONG ON PURPOSE: whoever holds the old state sees it change.
            object.__setattr__(self._state, name, getattr(after, name))
        return self._state


BROKEN: tuple[type[StateStore], ...] = (
    NaiveStore,
    LastWriteWinsStore,
    NoAuthorityStore,
    NoSourceStore,
    OpenDoorStore,
    TalkativeStore,
    OffByOneStore,
    RestartableStore,
    TwiceCompletedStore,
    AnyReasonStore,
    PendingBlindStore,
    FreeTextStore,
    HandwrittenFactStore,
    RepeatingStore,
    ForgivingStore,
    ForgetfulStore,
    SecretiveStore,
    UnsavedStore,
    JumpyStore,
    LiveStateStore,
)


def _at(event: StateEvent, revision: int) -> StateEvent:
    return replace(event, expected_revision=revision)
