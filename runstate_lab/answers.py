"""Floor 1. What must hold of requests and of the answers to them.

An answer is bound to the run, the request, the call, the digest of its
arguments and the revision that its author saw. Each way of missing one of
them has a code of its own.

What is not here: the status of the run, which the rows check before.
"""

from __future__ import annotations

from runstate_lab.errors import (
    AnswerExpired,
    AnswerForeign,
    AnswerMisbound,
    AnswerRepeated,
    AnswerStale,
    CallUnknown,
    Malformed,
    Refusal,
    RequestRepeated,
    RequestUnknown,
)
from runstate_lab.model import Answer, Approval, Callback, CallStatus, RunState, StateEvent


def request_id_is_new(state: RunState, event: StateEvent) -> Refusal | None:
    """No request of this run, open or answered, has this id.

    No open call has it either: what is pending is named by its ids.

    >>> request = Callback("k1", "ci")
    >>> again = StateEvent("callback_awaited", "runtime", "runtime", request, 2)
    >>> request_id_is_new(RunState("run-7", requests=(request,)), again).code
    'request_repeated'
    """
    request_id = event.value.request_id
    if request_id in state.answered:
        return RequestRepeated(f"a new request {request_id}", "that id answered before")
    if _open(state, request_id) is not None:
        return RequestRepeated(f"a new request {request_id}", "that id already open")
    if state.call(request_id) is not None:
        return RequestRepeated(f"a new request {request_id}", "an open call of that id")
    return None


def request_is_bound(state: RunState, event: StateEvent) -> Refusal | None:
    """A request about a call shows that call as it is proposed now.

    It is put to a name that a door would let in, or nobody could ever answer.

    >>> request = Approval("a1", "deploy?", "rosa", call_id="c1", digest="0f3a")
    >>> event = StateEvent("approval_requested", "runtime", "runtime", request, 2)
    >>> request_is_bound(RunState("run-7"), event).found
    'no open call c1'
    """
    request = event.value
    role, _, name = request.answerer.partition(":")
    if type(name) is not str or not name or ":" in name:
        return Malformed(f"a {role} that a door would let in", repr(name)[:80])
    if request.call_id is None:
        return None
    asked = f"request {request.request_id} about call {request.call_id}"
    call = state.call(request.call_id)
    if call is None:
        return CallUnknown(asked, f"no open call {request.call_id}")
    if call.digest != request.digest or request.seen_revision != state.revision:
        found = f"digest {call.digest} at revision {state.revision}"
        return AnswerStale(asked, found, reason="the request shows another call")
    if isinstance(request, Approval) and call.status is not CallStatus.PROPOSED:
        return AnswerStale(
            asked, f"that call {call.status}", reason="the call is under way already"
        )
    return None


def answer_fits(state: RunState, event: StateEvent) -> Refusal | None:
    """The answer names an open request, by the one who was asked, as it is now and in time.

    >>> state = RunState("run-7", requests=(Approval("a1", "deploy?", "rosa"),))
    >>> answer = Answer("a1", "run-7")
    >>> by = StateEvent("approval_granted", "approver:mallory", "approver", answer, 3)
    >>> answer_fits(state, by).found
    'request a1 put to approver:rosa'
    """
    answer, request = event.value, _open(state, event.value.request_id)
    asked = f"an answer of {event.source} to request {answer.request_id} of {answer.run_id}"
    if answer.run_id != state.run_id:
        return AnswerForeign(asked, f"run {state.run_id}")
    if request is None:
        if answer.request_id in state.answered:
            return AnswerRepeated(asked, "that request answered and closed")
        return RequestUnknown(
            asked, f"the open requests {[one.request_id for one in state.requests]}"
        )
    if request.answerer != event.source or _kind(request) != event.kind.partition("_")[0]:
        return AnswerForeign(asked, f"request {request.request_id} put to {request.answerer}")
    return _bound(state, request, answer, asked) or _in_time(request, event.tick, asked)


def answer_was_given(state: RunState, event: StateEvent) -> Refusal | None:
    """The run goes on already because this request was answered.

    >>> state = RunState("run-7", answered=("a1",))
    >>> again = StateEvent("approval_granted", "approver:rosa", "approver", Answer("a1", "run-7"), 5)
    >>> answer_was_given(state, again)
    AnswerRepeated(answer_repeated: the request was answered before)
    """
    if isinstance(event.value, Answer) and event.value.request_id in state.answered:
        asked = f"an answer of {event.source} to request {event.value.request_id}"
        return AnswerRepeated(asked, "that request answered and closed")
    return None


def request_has_expired(state: RunState, event: StateEvent) -> Refusal | None:
    """The named request is open and its tick has come.

    >>> state = RunState("run-7", requests=(Approval("a1", "deploy?", "rosa", expires_at=9),))
    >>> early = StateEvent("approval_expired", "runtime", "runtime", "a1", 3, tick=8)
    >>> request_has_expired(state, early).found
    'tick 8 before 9'
    """
    request = _open(state, str(event.value))
    asked = f"to expire request {event.value}"
    if request is None:
        return RequestUnknown(
            asked, f"the open requests {[one.request_id for one in state.requests]}"
        )
    if request.expires_at is None or event.tick < request.expires_at:
        found = f"tick {event.tick} before {request.expires_at}"
        return RequestUnknown(asked, found, reason="the request has not run out")
    return None


def _bound(
    state: RunState, request: Approval | Callback, answer: Answer, asked: str
) -> Refusal | None:
    if answer.call_id != request.call_id:
        return AnswerMisbound(asked, f"request {request.request_id} about call {request.call_id}")
    if (answer.digest, answer.seen_revision) != (request.digest, request.seen_revision):
        found = f"digest {request.digest} shown at revision {request.seen_revision}"
        return AnswerStale(asked, found)
    call = state.call(request.call_id)
    if request.call_id is not None and (call is None or call.digest != request.digest):
        return AnswerStale(asked, f"call {request.call_id} changed or closed")
    return None


def _in_time(request: Approval | Callback, tick: int, asked: str) -> Refusal | None:
    if request.expires_at is None or tick < request.expires_at:
        return None
    return AnswerExpired(asked, f"tick {tick}, open until {request.expires_at}")


def _open(state: RunState, request_id: str) -> Approval | Callback | None:
    for request in state.requests:
        if request.request_id == request_id:
            return request
    return None


def _kind(request: Approval | Callback) -> str:
    return "approval" if isinstance(request, Approval) else "callback"
