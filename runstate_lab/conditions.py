"""Floor 1. What must hold, beyond writer, revision and status.

A condition looks at the state and the event and gives the refusal, or None.
The first line of its docstring is what the documents print.

What is not here: which event asks for which condition (see `rules`).
"""

from __future__ import annotations

from runstate_lab.errors import (
    CallForeign,
    CallRepeated,
    CallUnknown,
    Malformed,
    Refusal,
    RequestRepeated,
    RequestUnknown,
    ResultRepeated,
    StillPending,
    SuccessNotMet,
)
from runstate_lab.model import Approval, Callback, Fact, RunState, StateEvent, ToolCall


def result_is_a_fact(state: RunState, event: StateEvent) -> Refusal | None:
    """The result reads key=value.

    >>> event = StateEvent("tool_result", "tool:get_status", "tool_executor", "looks fine", 1)
    >>> result_is_a_fact(RunState("run-7"), event).found
    "'looks fine', not key=value"
    """
    try:
        Fact.parse(str(event.value))
    except Malformed as refusal:
        return refusal.kept()
    return None


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


def call_id_is_new(state: RunState, event: StateEvent) -> Refusal | None:
    """The call id was never used in this run.

    >>> call = ToolCall("c1", "deploy")
    >>> again = StateEvent("tool_dispatched", "runtime", "runtime", call, 2)
    >>> call_id_is_new(RunState("run-7", calls=(call,)), again)
    CallRepeated(call_repeated: the call id was used before)
    """
    call = event.value
    if isinstance(call, ToolCall) and call.call_id in _used_call_ids(state):
        return CallRepeated(f"to dispatch {call.tool} as {call.call_id}", "that call id in use")
    return None


def call_is_open(state: RunState, event: StateEvent) -> Refusal | None:
    """The result names an open call, of this very tool.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> late = StateEvent("tool_result_recorded", "tool:scan", "tool_executor", "scan=ok", 2, "c1")
    >>> call_is_open(state, late).found
    'call c1 of tool deploy'
    """
    asked = f"a result of {event.source} for call {event.call_id}"
    for call in state.calls:
        if call.call_id == event.call_id:
            if event.source == f"tool:{call.tool}":
                return None
            return CallForeign(asked, f"call {call.call_id} of tool {call.tool}")
    if event.call_id is not None and event.call_id in _used_call_ids(state):
        return CallRepeated(asked, "that call answered and closed")
    return CallUnknown(asked, f"the open calls {[call.call_id for call in state.calls]}")


def request_id_is_new(state: RunState, event: StateEvent) -> Refusal | None:
    """No open request has this id.

    >>> request = Callback("k1", "ci")
    >>> again = StateEvent("callback_awaited", "runtime", "runtime", request, 2)
    >>> request_id_is_new(RunState("run-7", requests=(request,)), again).code
    'request_repeated'
    """
    request = event.value
    if isinstance(request, Approval | Callback):
        if any(one.request_id == request.request_id for one in state.requests):
            return RequestRepeated(f"a new request {request.request_id}", "that id already open")
    return None


def request_is_open(state: RunState, event: StateEvent) -> Refusal | None:
    """The answer names an open request, and comes from the one who was asked.

    >>> state = RunState("run-7", requests=(Approval("a1", "deploy?", "rosa"),))
    >>> answer = StateEvent("approval_granted", "approver:mallory", "approver", "a1", 3)
    >>> request_is_open(state, answer).found
    'request a1 put to approver:rosa'
    """
    asked = f"an answer of {event.source} to request {event.value}"
    for request in state.requests:
        if request.request_id == event.value:
            if request.answerer == event.source:
                return None
            return RequestUnknown(asked, f"request {request.request_id} put to {request.answerer}")
    return RequestUnknown(asked, f"the open requests {[one.request_id for one in state.requests]}")


def goal_is_met(state: RunState, event: StateEvent) -> Refusal | None:
    """Every fact that the goal asks for is there; a tool's newest word on it decides.

    >>> claimed = Fact("build", "green", source="model:planner", authority="model")
    >>> state = RunState("run-7", success=("build=green",), facts=(claimed,))
    >>> goal_is_met(state, StateEvent("run_completed", "runtime", "runtime", "", 2)).found
    'no tool fact build=green'
    """
    asked = f"to complete {state.run_id}"
    if not state.success:
        return SuccessNotMet(asked, "a goal that asks for no fact")
    newest = {fact.key: fact.value for fact in state.facts if fact.authority == "tool_executor"}
    for text in state.success:
        wanted = Fact.parse(text)
        if newest.get(wanted.key) != wanted.value:
            return SuccessNotMet(asked, f"no tool fact {text}")
    return None


def nothing_is_pending(state: RunState, event: StateEvent) -> Refusal | None:
    """No call and no request is open.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> nothing_is_pending(state, StateEvent("run_completed", "runtime", "runtime", "", 2)).found
    "open: ['c1']"
    """
    still_open = [call.call_id for call in state.calls]
    still_open += [request.request_id for request in state.requests]
    if still_open:
        return StillPending(f"to complete {state.run_id}", f"open: {still_open}")
    return None


def _used_call_ids(state: RunState) -> set[str | None]:
    return {call.call_id for call in state.calls} | {fact.call_id for fact in state.facts}
