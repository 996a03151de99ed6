"""Floor 1. What must hold of runs, calls and budgets, beyond writer and status.

A condition looks at the state and the event and gives the refusal, or None.
The first line of its docstring is what the documents print.

What is not here: requests and nodes (see `answers`, `nodewise`), and which
event asks for which condition (see `runrows`, `noderows`).
"""

from __future__ import annotations

from runstate_lab.errors import (
    BudgetSpent,
    CallForeign,
    CallLate,
    CallNotApproved,
    CallRepeated,
    CallUnknown,
    LeaseHeld,
    Malformed,
    ReasonMissing,
    Refusal,
    ResultRepeated,
    RetryUnsafe,
    StillPending,
    SuccessNotMet,
)
from runstate_lab.model import CallStatus, Fact, RunState, StateEvent, ToolCall


def result_is_a_fact(state: RunState, event: StateEvent) -> Refusal | None:
    """The result reads key=value.

    >>> event = StateEvent("tool_result", "tool:get_status", "tool_executor", "looks fine", 1)
    >>> result_is_a_fact(RunState("run-7"), event).found
    "'looks fine', not key=value"
    """
    key, equals, value = str(event.value).partition("=")
    if key and equals and value:
        return None
    return Malformed("a fact", f"{event.value!r}, not key=value")


def result_is_new(state: RunState, event: StateEvent) -> Refusal | None:
    """This source has not reported this value before.

    >>> fact = Fact("build", "green", source="tool:get_status")
    >>> again = StateEvent("tool_result", "tool:get_status", "tool_executor", "build=green", 1)
    >>> result_is_new(RunState("run-7", facts=(fact,)), again)
    ResultRepeated(result_repeated: the same result was accepted before)
    """
    for fact in state.facts:
        if fact.source == event.source and str(fact) == event.value:
            found = f"it in the state since revision {fact.revision}"
            return ResultRepeated(f"{event.value} from {event.source}", found)
    return None


def call_is_proposed(state: RunState, event: StateEvent) -> Refusal | None:
    """The call id is new in this run, or names just this call as the model proposed it.

    >>> call = ToolCall("c1", "deploy", status=CallStatus.DISPATCHED)
    >>> again = StateEvent("tool_dispatched", "runtime", "runtime", ToolCall("c1", "deploy"), 2)
    >>> call_is_proposed(RunState("run-7", calls=(call,)), again)
    CallRepeated(call_repeated: the call id was used before)
    """
    call: ToolCall = event.value
    known = state.call(call.call_id)
    if known is None and call.call_id not in state.settled:
        return None
    if known is not None and known.status is CallStatus.PROPOSED and known.asks_as(call):
        return None
    return CallRepeated(f"to dispatch {call.tool} as {call.call_id}", "that call id in use")


def retry_is_safe(state: RunState, event: StateEvent) -> Refusal | None:
    """A retry follows a failed attempt, or an unknown one with the same idempotency key.

    >>> lost = ToolCall("c1", "deploy", status=CallStatus.UNKNOWN)
    >>> again = ToolCall("c2", "deploy", attempt=2, retry_of="c1")
    >>> event = StateEvent("tool_dispatched", "runtime", "runtime", again, 2)
    >>> retry_is_safe(RunState("run-7", calls=(lost,)), event).found
    'call c1 unknown, without an idempotency key'
    """
    call: ToolCall = event.value
    if call.retry_of is None:
        return None if call.attempt == 1 else RetryUnsafe(f"attempt {call.attempt}", "no first one")
    asked = f"{call.call_id} as attempt {call.attempt} after {call.retry_of}"
    before = state.call(call.retry_of)
    if before is None:
        return RetryUnsafe(asked, f"no open call {call.retry_of}")
    if not before.asks_as(call) or before.attempt + 1 != call.attempt:
        return RetryUnsafe(asked, f"attempt {before.attempt} of {before.tool}, another call")
    if before.status is CallStatus.FAILED:
        return None
    if before.status is not CallStatus.UNKNOWN:
        return RetryUnsafe(asked, f"call {before.call_id} {before.status}")
    if before.key is None or before.key != call.key:
        return RetryUnsafe(asked, f"call {before.call_id} unknown, without an idempotency key")
    return None


def attempts_are_left(state: RunState, event: StateEvent) -> Refusal | None:
    """The attempt is within the budget of attempts for one call.

    >>> from runstate_lab.model import Budget
    >>> state = RunState("run-7", budget=Budget(max_attempts=1))
    >>> call = ToolCall("c2", "deploy", attempt=2, retry_of="c1")
    >>> print(attempts_are_left(state, StateEvent("tool_dispatched", "runtime", "runtime", call, 2)).asked)
    attempt 2 of call c1 (level: attempt)
    """
    call, limit = event.value, state.budget.max_attempts
    if limit is None or call.attempt <= limit:
        return None
    asked = f"attempt {call.attempt} of call {call.retry_of} (level: attempt)"
    return BudgetSpent(asked, f"max_attempts {limit}")


def gate_is_open(state: RunState, event: StateEvent) -> Refusal | None:
    """A gated call has an approval for exactly these arguments, not yet used.

    >>> call = ToolCall("c1", "deploy", gated=True)
    >>> gate_is_open(RunState("run-7"), StateEvent("tool_dispatched", "runtime", "runtime", call, 2))
    CallNotApproved(call_not_approved: the call is not approved)
    """
    call: ToolCall = event.value
    # A retry has the digest of an attempt that was granted (see retry_is_safe).
    if not call.gated or call.retry_of or (call.call_id, call.digest) in state.grants:
        return None
    return CallNotApproved(f"to dispatch {call.tool} as {call.call_id}", f"grants {state.grants}")


def call_is_open(state: RunState, event: StateEvent) -> Refusal | None:
    """The result names an open call, of this very tool.

    >>> running = ToolCall("c1", "deploy", status=CallStatus.DISPATCHED)
    >>> state = RunState("run-7", calls=(running,))
    >>> late = StateEvent("tool_result_recorded", "tool:scan", "tool_executor", "scan=ok", 2, "c1")
    >>> call_is_open(state, late).found
    'call c1 of tool deploy'
    """
    asked = f"a result of {event.source} for call {event.call_id}"
    call = state.call(event.call_id)
    if call is None:
        if event.call_id is not None and event.call_id in state.settled:
            return CallRepeated(asked, "that call answered and closed")
        return CallUnknown(asked, f"the open calls {[call.call_id for call in state.calls]}")
    if event.source != "tool:" + call.tool:
        return CallForeign(asked, f"call {call.call_id} of tool {call.tool}")
    if call.status in (CallStatus.DISPATCHED, CallStatus.UNKNOWN):
        return None
    if call.status is CallStatus.PROPOSED:
        return CallUnknown(asked, "that call proposed, never dispatched")
    return CallRepeated(asked, f"that call {call.status}")


def call_awaits_its_outcome(state: RunState, event: StateEvent) -> Refusal | None:
    """The call was dispatched and has no outcome yet.

    >>> event = StateEvent("tool_outcome_unknown", "runtime", "runtime", "c1", 2)
    >>> call_awaits_its_outcome(RunState("run-7"), event).code
    'call_unknown'
    """
    return _call_in(state, event, CallStatus.DISPATCHED)


def call_was_never_dispatched(state: RunState, event: StateEvent) -> Refusal | None:
    """The call is proposed only, so it certainly had no effect.

    >>> running = ToolCall("c1", "deploy", status=CallStatus.DISPATCHED)
    >>> event = StateEvent("tool_declined", "runtime", "runtime", "c1", 2)
    >>> call_was_never_dispatched(RunState("run-7", calls=(running,)), event).found
    'that call dispatched'
    """
    return _call_in(state, event, CallStatus.PROPOSED)


def result_came_too_late(state: RunState, event: StateEvent) -> Refusal | None:
    """The run has ended; the result is kept in the trace only.

    >>> from runstate_lab.model import RunStatus
    >>> ended = RunState("run-7", status=RunStatus.CANCELLED)
    >>> late = StateEvent("tool_result_recorded", "tool:scan", "tool_executor", "a=b", 2, "c1")
    >>> result_came_too_late(ended, late)
    CallLate(call_late: the result comes too late)
    """
    if state.status.terminal:
        asked = f"a result of {event.source} for call {event.call_id}"
        return CallLate(asked, f"the run {state.status}")
    return None


def turns_are_left(state: RunState, event: StateEvent) -> Refusal | None:
    """The number of decisions is within the budget of turns.

    >>> from runstate_lab.model import Budget
    >>> from runstate_lab.model import TurnState
    >>> state = RunState("run-7", budget=Budget(max_turns=1), turn=TurnState(1))
    >>> turns_are_left(state, StateEvent("turn_started", "runtime", "runtime", "", 1)).asked
    'turn 2 (level: turn)'
    """
    limit = state.budget.max_turns
    if limit is None or state.turn.number < limit:
        return None
    return BudgetSpent(f"turn {state.turn.number + 1} (level: turn)", f"max_turns {limit}")


def turn_is_open(state: RunState, event: StateEvent) -> Refusal | None:
    """A turn has begun and the model has not spoken in it.

    >>> event = StateEvent("model_output_received", "model:planner", "model", "", 1)
    >>> turn_is_open(RunState("run-7"), event).found
    'turn 0 none'
    """
    if state.turn.phase == "started":
        return None
    return CallUnknown(
        "a model's output",
        f"turn {state.turn.number} {state.turn.phase}",
        reason="no turn is waiting for the model",
    )


def proposals_are_new(state: RunState, event: StateEvent) -> Refusal | None:
    """The proposed calls are plain proposals with ids of their own, never used in this run.

    >>> from runstate_lab.model import Decision
    >>> twice = Decision("", calls=(ToolCall("c1", "scan"), ToolCall("c1", "deploy")))
    >>> event = StateEvent("model_output_received", "model:planner", "model", twice, 1)
    >>> proposals_are_new(RunState("run-7"), event).found
    "call ids ['c1', 'c1']"
    """
    for call in event.value.calls:
        if (call.status, call.attempt, call.retry_of) != (CallStatus.PROPOSED, 1, None):
            found = f"call {call.call_id} {call.status}, attempt {call.attempt}"
            return Malformed("to propose calls that nobody made yet", found)
    ids = [call.call_id for call in event.value.calls]
    used = [one for one in ids if one in state.settled or state.call(one) is not None]
    if used or len(set(ids)) < len(ids):
        return CallRepeated("to propose calls", f"call ids {used or ids}")
    return None


def goal_is_met(state: RunState, event: StateEvent) -> Refusal | None:
    """Every fact that the goal asks for is there; a tool's newest word on it decides.

    >>> claimed = Fact("build", "green", source="model:planner", authority="model")
    >>> state = RunState("run-7", success=("build=green",), facts=(claimed,))
    >>> goal_is_met(state, StateEvent("run_completed", "runtime", "runtime", "", 2)).found
    'no tool fact build=green'
    """
    if not state.success:
        return SuccessNotMet(f"to complete {state.run_id}", "a goal that asks for no fact")
    newest = {fact.key: fact.value for fact in state.facts if fact.authority == "tool_executor"}
    for wanted in state.success:
        key, _, value = wanted.partition("=")
        if newest.get(key) != value:
            return SuccessNotMet(f"to complete {state.run_id}", f"no tool fact {wanted}")
    return None


def nothing_is_pending(state: RunState, event: StateEvent) -> Refusal | None:
    """No call and no request is open, no outcome is unknown.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> nothing_is_pending(state, StateEvent("run_completed", "runtime", "runtime", "", 2)).found
    "open: ['c1']"
    """
    still = [*state.pending, *[one.name for one in state.nodes if not one.status.terminal]]
    return StillPending(f"to complete {state.run_id}", f"open: {still}") if still else None


def deadline_has_passed(state: RunState, event: StateEvent) -> Refusal | None:
    """A timeout of the run is the run's own deadline, not a tool's.

    >>> from runstate_lab.model import Budget
    >>> state = RunState("run-7", budget=Budget(deadline=9))
    >>> early = StateEvent("run_failed", "runtime", "runtime", "timeout", 2, tick=4)
    >>> deadline_has_passed(state, early).found
    'tick 4 before the deadline 9'
    """
    deadline = state.budget.deadline
    if event.value != "timeout" or deadline is None or event.tick >= deadline:
        return None
    return ReasonMissing("to fail by timeout", f"tick {event.tick} before the deadline {deadline}")


def lease_is_first_or_renewed(state: RunState, event: StateEvent) -> Refusal | None:
    """The run has no driver yet, or its very driver asks for more time.

    >>> from runstate_lab.model import Lease
    >>> state = RunState("run-7", driver=Lease("w1", epoch=1, until=10))
    >>> wish = StateEvent("driver_leased", "driver:w1", "driver", Lease("w1", 2, 20), 3, tick=9)
    >>> lease_is_first_or_renewed(state, wish).found
    'w1 in reign 1 until tick 10'
    """
    wish, held = event.value, state.driver
    reign = (wish.holder, wish.epoch)
    if held is None and wish.epoch == 1 or held and reign == (held.holder, held.epoch):
        if event.epoch in (None if held is None else held.epoch, wish.epoch):
            return _lease_for_itself(event)
    return LeaseHeld(_lease_asked(event), _reign(state))


def lease_ran_out(state: RunState, event: StateEvent) -> Refusal | None:
    """The lease in force has run out, or was its asker's own; the next reign begins.

    >>> from runstate_lab.model import Lease
    >>> state = RunState("run-7", driver=Lease("w1", epoch=1, until=10))
    >>> wish = StateEvent("driver_superseded", "driver:w2", "driver", Lease("w2", 2, 20), 3, tick=9)
    >>> lease_ran_out(state, wish).found
    'w1 in reign 1 until tick 10'
    """
    wish, held = event.value, state.driver
    if held is None or wish.epoch != held.epoch + 1:
        return LeaseHeld(_lease_asked(event), _reign(state))
    # A worker that died and came back may go on at once; what it was is fenced.
    if held.holds_at(event.tick) and held.holder != wish.holder:
        return LeaseHeld(_lease_asked(event), _reign(state))
    return _lease_for_itself(event)


def _lease_for_itself(event: StateEvent) -> Refusal | None:
    if event.source == "driver:" + event.value.holder and event.value.holds_at(event.tick):
        return None
    found = f"{event.source}, until tick {event.value.until}"
    return LeaseHeld(_lease_asked(event), found, reason="no such lease can be had")


def _lease_asked(event: StateEvent) -> str:
    return f"reign {event.value.epoch} for {event.value.holder} at tick {event.tick}"


def _reign(state: RunState) -> str:
    held = state.driver
    return (
        "no driver"
        if held is None
        else f"{held.holder} in reign {held.epoch} until tick {held.until}"
    )


def _call_in(state: RunState, event: StateEvent, status: CallStatus) -> Refusal | None:
    call = state.call(str(event.value))
    asked = f"{event.kind} of call {event.value}"
    if call is None:
        return CallUnknown(asked, f"the open calls {[one.call_id for one in state.calls]}")
    return None if call.status is status else CallRepeated(asked, f"that call {call.status}")
