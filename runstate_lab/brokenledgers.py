"""Floor 4. Call ledgers and approval desks that are WRONG ON PURPOSE.

Each is a store with one row softened, after a fault that real systems had:
results paired by name, retries that repeat an effect, answers that open more
than was asked. What is not here: anything to build on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runstate_lab.answers import answer_fits
from runstate_lab.broken import RepeatingStore, SoftenedStore
from runstate_lab.conditions import (
    attempts_are_left,
    call_is_open,
    call_is_proposed,
    gate_is_open,
    goal_is_met,
    result_is_a_fact,
    retry_is_safe,
)
from runstate_lab.errors import AnswerExpired, AnswerForeign, AnswerMisbound, AnswerStale, Refusal
from runstate_lab.model import Answer, CallStatus, RunState, RunStatus, StateEvent
from runstate_lab.nouns import changed
from runstate_lab.store import StateStore

RECORDED = "tool_result_recorded"


class PairedByNameStore(StateStore):
    """Gives a result to whatever open call its tool has, whichever id it names.

    >>> PairedByNameStore(RunState("run-7")).load().calls
    ()
    """

    def _check(self, event: StateEvent) -> None:
        super()._check(self._paired(event))

    def _next(self, event: StateEvent) -> RunState:
        return super()._next(self._paired(event))

    def _paired(self, event: StateEvent) -> StateEvent:
        # WRONG ON PURPOSE: two calls of one tool cannot be told apart.
        mine = [one for one in self._state.calls if event.source == "tool:" + one.tool]
        known = self._state.call(event.call_id) is not None
        if event.kind != RECORDED or known or not mine or event.call_id in self._state.settled:
            return event
        return replace(event, call_id=mine[0].call_id)


def any_tool_may_answer(state: RunState, event: StateEvent) -> Refusal | None:
    """The result names an open call, of whatever tool.

    >>> event = StateEvent(RECORDED, "tool:scan", "tool_executor", "a=b", 0, "c1")
    >>> any_tool_may_answer(RunState("run-7"), event).code
    'call_unknown'
    """
    # WRONG ON PURPOSE: the tool's name is taken from the call.
    call = state.call(event.call_id)
    source = event.source if call is None else "tool:" + call.tool
    return call_is_open(state, replace(event, source=source))


class AnyToolStore(SoftenedStore):
    """Takes a result of one tool for the call of another.

    >>> AnyToolStore(RunState("run-7")).rules.name
    'RULES but tool_result_recorded'
    """

    softened = {RECORDED: {"conditions": (any_tool_may_answer, result_is_a_fact)}}


def proposals_count_as_calls(state: RunState, event: StateEvent) -> Refusal | None:
    """The result names a call, dispatched or not.

    >>> event = StateEvent(RECORDED, "tool:scan", "tool_executor", "a=b", 0, "c1")
    >>> proposals_count_as_calls(RunState("run-7"), event).code
    'call_unknown'
    """
    # WRONG ON PURPOSE: an intent is taken for something that was done.
    call = state.call(event.call_id)
    if call is not None and call.status is CallStatus.PROPOSED:
        return None
    return call_is_open(state, event)


class EagerLedgerStore(SoftenedStore):
    """Takes results of calls that nobody dispatched.

    >>> EagerLedgerStore(RunState("run-7")).rules.row(RECORDED).authority
    'tool_executor'
    """

    softened = {RECORDED: {"conditions": (proposals_count_as_calls, result_is_a_fact)}}


class LateLedgerStore(SoftenedStore):
    """Takes results after the end of the run: a cancelled run learns new facts.

    >>> len(LateLedgerStore(RunState("run-7")).rules.row(RECORDED).come_from)
    5
    """

    # WRONG ON PURPOSE: a terminal status does not end the run for tools.
    softened = {
        RECORDED: {
            "come_from": tuple(one for one in RunStatus if one is not RunStatus.QUEUED),
            "late": None,
        }
    }


class ForgivenUnknownStore(SoftenedStore):
    """Completes a run while the outcome of a call is unknown.

    >>> len(ForgivenUnknownStore(RunState("run-7")).rules.row("run_completed").conditions)
    1
    """

    # WRONG ON PURPOSE: open calls are not looked at.
    softened = {"run_completed": {"conditions": (goal_is_met,)}}


def call_it_failed(state: RunState, event: StateEvent) -> dict[str, object]:
    """The call is marked as failed, although nobody knows.

    >>> sorted(call_it_failed(RunState("run-7"), StateEvent("x", "r", "r", "c1", 0)))
    ['calls']
    """
    # WRONG ON PURPOSE: silence is taken for a no.
    calls = tuple(
        changed(call, status=CallStatus.FAILED) if call.call_id == event.value else call
        for call in state.calls
    )
    return {"calls": calls}


class SilenceIsFailureStore(SoftenedStore):
    """Writes a tool's silence down as a failure; the effect may have happened.

    >>> SilenceIsFailureStore(RunState("run-7")).rules.name
    'RULES but tool_outcome_unknown'
    """

    softened = {"tool_outcome_unknown": {"change": call_it_failed}}


class BlindRetryStore(SoftenedStore):
    """Tries an unknown call again without an idempotency key.

    >>> len(BlindRetryStore(RunState("run-7")).rules.row("tool_dispatched").conditions)
    3
    """

    # WRONG ON PURPOSE: a retry is not asked whether it is safe.
    softened = {
        "tool_dispatched": {"conditions": (call_is_proposed, attempts_are_left, gate_is_open)}
    }


class ErasedErrorStore(StateStore):
    """Forgets the first error as soon as something goes right.

    >>> ErasedErrorStore(RunState("run-7")).load().first_error is None
    True
    """

    def _next(self, event: StateEvent) -> RunState:
        after = super()._next(event)
        # WRONG ON PURPOSE: history is tidied up.
        return changed(after, first_error=None) if event.kind == RECORDED else after


class OpenBooksStore(SoftenedStore):
    """Ends a run without a word about its open calls.

    >>> OpenBooksStore(RunState("run-7")).rules.row("run_failed").change is None
    True
    """

    # WRONG ON PURPOSE: a dispatched call stays dispatched for ever.
    softened = {"run_failed": {"change": None}, "run_cancelled": {"change": None}}


def _lenient(*codes: type[Refusal]) -> Any:
    # WRONG ON PURPOSE: the answer is checked, and the finding thrown away.
    def answer_nearly_fits(state: RunState, event: StateEvent) -> Refusal | None:
        refusal = answer_fits(state, event)
        return None if isinstance(refusal, codes) else refusal

    return {
        "approval_granted": {"conditions": (answer_nearly_fits,)},
    }


class AnyApproverStore(SoftenedStore):
    """Lets anybody with the approvers' authority answer, about any run.

    >>> AnyApproverStore(RunState("run-7")).rules.name
    'RULES but approval_granted'
    """

    softened = _lenient(AnswerForeign)


class MisboundDeskStore(SoftenedStore):
    """Pairs answers by request only: the answer for one call opens another.

    >>> MisboundDeskStore(RunState("run-7")).rules.name
    'RULES but approval_granted'
    """

    softened = _lenient(AnswerMisbound)


class StaleDeskStore(SoftenedStore):
    """Takes an answer to arguments that nobody saw.

    >>> StaleDeskStore(RunState("run-7")).rules.name
    'RULES but approval_granted'
    """

    softened = _lenient(AnswerStale)


class TimelessDeskStore(SoftenedStore):
    """Takes answers long after the request ran out.

    >>> TimelessDeskStore(RunState("run-7")).rules.name
    'RULES but approval_granted'
    """

    softened = _lenient(AnswerExpired)


class AlwaysOpenDeskStore(SoftenedStore):
    """Takes answers while the run does not wait, and twice.

    >>> len(AlwaysOpenDeskStore(RunState("run-7")).rules.row("approval_granted").come_from)
    2
    """

    # WRONG ON PURPOSE: resume without waiting, and no look at what was answered.
    softened = {
        "approval_granted": {
            "come_from": (RunStatus.RUNNING, RunStatus.WAITING),
            "conditions": (),
            "late": None,
        }
    }


def nothing_moved(state: RunState, event: StateEvent) -> Refusal | None:
    """The answer fits, and nothing at all was written since it was seen.

    >>> event = StateEvent("approval_granted", "approver:rosa", "approver", Answer("a1", "r"), 3)
    >>> nothing_moved(RunState("r", revision=3), event).code
    'answer_stale'
    """
    # WRONG ON PURPOSE: an unrelated commit is taken for a changed question.
    if event.value.seen_revision != state.revision - 1:
        return AnswerStale("an answer", f"revision {state.revision}")
    return answer_fits(state, event)


class NervousDeskStore(SoftenedStore):
    """Calls every answer stale as soon as anything was written.

    >>> NervousDeskStore(RunState("run-7")).rules.name
    'RULES but approval_granted'
    """

    softened = {"approval_granted": {"conditions": (nothing_moved,)}}


class NoGateStore(SoftenedStore):
    """Dispatches gated calls without an approval.

    >>> len(NoGateStore(RunState("run-7")).rules.row("tool_dispatched").conditions)
    3
    """

    # WRONG ON PURPOSE: the gate is painted on.
    softened = {
        "tool_dispatched": {"conditions": (call_is_proposed, retry_is_safe, attempts_are_left)}
    }


class StickyGrantStore(StateStore):
    """Keeps a grant after it was used: one approval, many effects.

    >>> StickyGrantStore(RunState("run-7")).load().grants
    ()
    """

    def _check(self, event: StateEvent) -> None:
        call = event.value
        granted = {digest for _, digest in self._grants}
        if event.kind == "tool_dispatched" and call.gated and call.digest in granted:
            # WRONG ON PURPOSE: the same arguments were approved once, so always.
            event = replace(event, value=changed(call, gated=False))
        super()._check(event)

    def _next(self, event: StateEvent) -> RunState:
        after = super()._next(event)
        self._grants = (*self._grants, *self._state.grants, *after.grants)
        return after

    _grants: tuple[tuple[str, str], ...] = ()


BROKEN_LEDGERS: tuple[type[StateStore], ...] = (
    PairedByNameStore,
    RepeatingStore,
    AnyToolStore,
    EagerLedgerStore,
    LateLedgerStore,
    ForgivenUnknownStore,
    SilenceIsFailureStore,
    BlindRetryStore,
    ErasedErrorStore,
    OpenBooksStore,
)
BROKEN_DESKS: tuple[type[StateStore], ...] = (
    AnyApproverStore,
    MisboundDeskStore,
    StaleDeskStore,
    TimelessDeskStore,
    NervousDeskStore,
    AlwaysOpenDeskStore,
    NoGateStore,
    StickyGrantStore,
)
