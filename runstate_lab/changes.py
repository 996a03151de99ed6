"""Floor 1. What each event changes, beyond revision and status.

A change gives the fields that the reducer writes. The first line of its
docstring is what the documents print; `rules` lists the fields beside it.
"""

from __future__ import annotations

from runstate_lab.model import (
    CallStatus,
    Fact,
    FirstError,
    NodeStatus,
    RunState,
    StateEvent,
    ToolCall,
    TurnState,
)
from runstate_lab.nouns import changed


def record_fact(state: RunState, event: StateEvent) -> dict[str, object]:
    """The reported fact joins the facts, with its provenance; its call is settled.

    >>> event = StateEvent("tool_result", "tool:get_status", "tool_executor", "build=green", 1)
    >>> fact = record_fact(RunState("run-7", revision=1), event)["facts"][0]
    >>> fact.source, fact.revision
    ('tool:get_status', 2)
    """
    key, _, value = str(event.value).partition("=")
    fact = Fact(key, value, event.source, event.authority, event.call_id, state.revision + 1)
    fields: dict[str, object] = {"facts": (*state.facts, fact)}
    if event.call_id is not None:
        fields["calls"] = tuple([call for call in state.calls if call.call_id != event.call_id])
        fields["settled"] = (*state.settled, event.call_id)
    return fields


def open_turn(state: RunState, event: StateEvent) -> dict[str, object]:
    """The next turn begins; calls that failed or were declined leave the desk.

    >>> event = StateEvent("turn_started", "runtime", "runtime", "private", 1)
    >>> open_turn(RunState("run-7"), event)["turn"].privacy
    'private'
    """
    gone = tuple(call.call_id for call in state.calls if not call.status.pending)
    return {
        "turn": TurnState(state.turn.number + 1, "started", str(event.value) or "open"),
        "calls": tuple(call for call in state.calls if call.status.pending),
        "settled": state.settled + gone,
    }


def note_decision(state: RunState, event: StateEvent) -> dict[str, object]:
    """The proposed calls join the calls, as proposals; the turn is decided.

    >>> from runstate_lab.model import Decision
    >>> wish = Decision("ship it", (ToolCall("c1", "deploy"),), final=True)
    >>> fields = note_decision(RunState("run-7"), StateEvent("m", "model:x", "model", wish, 1))
    >>> fields["calls"][0].status.pending, fields["turn"].final
    (True, True)
    """
    turn = TurnState(state.turn.number, "decided", state.turn.privacy, event.value.final)
    return {"turn": turn, "calls": state.calls + event.value.calls}


def close_turn(state: RunState, event: StateEvent) -> dict[str, object]:
    """The turn is settled; another will follow.

    >>> event = StateEvent("followup_required", "runtime", "runtime", "more to say", 1)
    >>> close_turn(RunState("run-7"), event)["turn"].phase
    'settled'
    """
    return {"turn": TurnState(state.turn.number, "settled", state.turn.privacy)}


def dispatch_call(state: RunState, event: StateEvent) -> dict[str, object]:
    """The call is dispatched, before any effect; a retry takes the place of its attempt.

    >>> call = ToolCall("c1#2", "deploy", attempt=2, retry_of="c1")
    >>> fields = dispatch_call(RunState("run-7"), StateEvent("t", "runtime", "runtime", call, 1))
    >>> "step" in fields, fields["settled"]
    (False, ('c1',))
    """
    call = changed(event.value, status=CallStatus.DISPATCHED)
    gone = (call.call_id, call.retry_of)
    others = [one for one in state.calls if one.call_id not in gone]
    fields: dict[str, object] = {"calls": (*others, call)}
    if call.retry_of is None:
        fields["step"] = state.step + 1
    else:
        fields["settled"] = (*state.settled, call.retry_of)
    if call.gated and call.retry_of is None:
        used = (call.call_id, call.digest)
        fields["grants"] = tuple(grant for grant in state.grants if grant != used)
    return fields


def fail_call(state: RunState, event: StateEvent) -> dict[str, object]:
    """The call has failed: certainly no result; the first error is kept.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> event = StateEvent("tool_failed", "tool:deploy", "tool_executor", "no route", 1, "c1")
    >>> print(fail_call(state, event)["first_error"])
    attempt c1 at revision 1: no route
    """
    return _mark(state, event.call_id, CallStatus.FAILED, str(event.value))


def lose_call(state: RunState, event: StateEvent) -> dict[str, object]:
    """The call's outcome is unknown; it stays open.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> event = StateEvent("tool_outcome_unknown", "runtime", "runtime", "c1", 1)
    >>> print(lose_call(state, event)["calls"][0].status)
    unknown
    """
    return _mark(state, str(event.value), CallStatus.UNKNOWN, "outcome unknown")


def decline_call(state: RunState, event: StateEvent) -> dict[str, object]:
    """The proposed call is not executed and never will be.

    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),))
    >>> event = StateEvent("tool_declined", "runtime", "runtime", "c1", 1)
    >>> fields = decline_call(state, event)
    >>> print(fields["calls"][0].status, "first_error" in fields)
    not_executed False
    """
    return _mark(state, str(event.value), CallStatus.NOT_EXECUTED, "")


def open_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The request joins the open requests, in the same event that starts the wait.

    >>> from runstate_lab.model import Callback
    >>> event = StateEvent("callback_awaited", "runtime", "runtime", Callback("k1", "ci"), 1)
    >>> open_request(RunState("run-7"), event)["requests"][0].answerer
    'service:ci'
    """
    return {"requests": (*state.requests, event.value)}


def grant_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The request is answered, and its call may be dispatched once.

    >>> from runstate_lab.model import Answer
    >>> answer = Answer("a1", "run-7", "c1", "0f3a")
    >>> event = StateEvent("approval_granted", "approver:rosa", "approver", answer, 2)
    >>> grant_request(RunState("run-7"), event)["grants"]
    (('c1', '0f3a'),)
    """
    fields = close_request(state, event)
    if event.value.call_id is not None:
        fields["grants"] = (*state.grants, (event.value.call_id, event.value.digest))
    return fields


def refuse_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The request is answered, and its call is not executed.

    >>> from runstate_lab.model import Approval
    >>> asked = Approval("a1", "deploy?", "rosa", "c1")
    >>> state = RunState("run-7", calls=(ToolCall("c1", "deploy"),), requests=(asked,))
    >>> event = StateEvent("approval_expired", "runtime", "runtime", "a1", 2)
    >>> print(refuse_request(state, event)["calls"][0].status)
    not_executed
    """
    fields = close_request(state, event)
    answered = str(getattr(event.value, "request_id", event.value))
    about = {one.call_id for one in state.requests if one.request_id == answered}
    fields["calls"] = tuple(
        changed(call, status=CallStatus.NOT_EXECUTED) if call.call_id in about else call
        for call in state.calls
    )
    return fields


def close_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The answered request leaves the open requests.

    >>> event = StateEvent("callback_expired", "runtime", "runtime", "k1", 2)
    >>> close_request(RunState("run-7"), event)["answered"]
    ('k1',)
    """
    answered = str(getattr(event.value, "request_id", event.value))
    kept = tuple([one for one in state.requests if one.request_id != answered])
    return {"requests": kept, "answered": (*state.answered, answered)}


def begin_reign(state: RunState, event: StateEvent) -> dict[str, object]:
    """The lease is the run's driver; whoever drove it before is fenced.

    >>> from runstate_lab.model import Lease
    >>> event = StateEvent("driver_leased", "driver:w1", "driver", Lease("w1", 1, 9), 0)
    >>> begin_reign(RunState("run-7"), event)["driver"].epoch
    1
    """
    return {"driver": event.value}


def close_the_books(state: RunState, event: StateEvent) -> dict[str, object]:
    """Each open call and node is marked as what it is once the run has ended.

    A proposed call was not executed, the outcome of a dispatched one is
    unknown; a node that had not ended is cancelled.

    >>> calls = (ToolCall("c1", "scan"), ToolCall("c2", "deploy", status=CallStatus.DISPATCHED))
    >>> event = StateEvent("run_cancelled", "runtime", "runtime", "not today", 3)
    >>> [str(one.status) for one in close_the_books(RunState("run-7", calls=calls), event)["calls"]]
    ['not_executed', 'unknown']
    """
    words = f"the run ended: {event.value}"
    nodes = tuple(
        node
        if node.status.terminal
        else changed(node, status=NodeStatus.CANCELLED, reason=words, until=None)
        for node in state.nodes
    )
    closed = tuple(_closed(call) for call in state.calls)
    return {"calls": closed, "requests": (), "nodes": nodes}


def fail_run(state: RunState, event: StateEvent) -> dict[str, object]:
    """Each open call is marked, and the failure is the first error if none came before.

    >>> event = StateEvent("run_failed", "runtime", "runtime", "timeout", 3)
    >>> print(fail_run(RunState("run-7", revision=3), event)["first_error"])
    run run-7 at revision 4: timeout
    """
    return {**close_the_books(state, event), **_first(state, "run", state.run_id, str(event.value))}


def _closed(call: ToolCall) -> ToolCall:
    ends = {CallStatus.PROPOSED: CallStatus.NOT_EXECUTED, CallStatus.DISPATCHED: CallStatus.UNKNOWN}
    return changed(call, status=ends.get(call.status, call.status))


def _mark(
    state: RunState, call_id: str | None, status: CallStatus, words: str
) -> dict[str, object]:
    calls = tuple(
        changed(call, status=status) if call.call_id == call_id else call for call in state.calls
    )
    fields: dict[str, object] = {"calls": calls}
    if words:
        fields |= _first(state, "attempt", str(call_id), words)
    return fields


def _first(state: RunState, level: str, name: str, words: str) -> dict[str, object]:
    first = state.first_error or FirstError(level, name, words, state.revision + 1)
    return {"first_error": first}
