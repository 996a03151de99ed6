"""Floor 3. The promises of a call ledger and of an approval desk, as clauses.

Both are kept by a store, so the subject of each clause is a factory of
stores, as in `conformance`. What is not here: who executes a call.
"""

from __future__ import annotations

from runstate_lab.conformance import Clause, Factory, named, offer, refused, running, unless
from runstate_lab.model import (
    Answer,
    Approval,
    CallStatus,
    Decision,
    RunState,
    StateProposal,
    ToolCall,
)
from runstate_lab.store import StateStore

DEPLOY = ToolCall("c1", "deploy", (("release", "7"),), gated=True)
TOOL = "tool:deploy"
RESULT = "tool_result_recorded"


def _bound_by_id(make: Factory) -> str | None:
    """A result is bound to its call id, not to the tool's name."""
    store = _dispatched(make)
    return refused(store, "call_unknown", RESULT, "deploy=done", TOOL, call_id="c9")


def _foreign(make: Factory) -> str | None:
    """A result of one tool for the call of another is refused."""
    return refused(
        _dispatched(make), "call_foreign", RESULT, "a=b", "tool:get_status", call_id="c1"
    )


def _duplicate(make: Factory) -> str | None:
    """A second result for one call is refused."""
    store = _dispatched(make)
    offer(store, RESULT, "deploy=done", TOOL, call_id="c1")
    return refused(store, "call_repeated", RESULT, "deploy=done", TOOL, call_id="c1")


def _late(make: Factory) -> str | None:
    """A result after the end of the run is refused and kept in the trace."""
    store = _dispatched(make)
    offer(store, "run_cancelled", "not today")
    return refused(store, "call_late", RESULT, "deploy=done", TOOL, call_id="c1")


def _never_dispatched(make: Factory) -> str | None:
    """A result of a call that was only proposed is refused."""
    store = _proposed(make)
    return refused(store, "call_unknown", RESULT, "deploy=done", TOOL, call_id="c1")


def _unknown_is_open(make: Factory) -> str | None:
    """A call whose outcome is unknown keeps the run from completing."""
    store = _dispatched(make, success=("build=green",))
    _build(store)
    offer(store, "tool_outcome_unknown", "c1")
    return refused(store, "still_pending", "run_completed")


def _unknown_is_not_failed(make: Factory) -> str | None:
    """An unknown outcome is not a failure."""
    store = _dispatched(make)
    offer(store, "tool_outcome_unknown", "c1")
    call = store.load().call("c1")
    return unless(call is not None and call.status is CallStatus.UNKNOWN, f"{call}")


def _blind_retry(make: Factory) -> str | None:
    """An unknown call without an idempotency key is not tried again."""
    store = _dispatched(make)
    offer(store, "tool_outcome_unknown", "c1")
    again = ToolCall("c1#2", "deploy", DEPLOY.arguments, attempt=2, retry_of="c1")
    return refused(store, "retry_unsafe", "tool_dispatched", again)


def _first_error(make: Factory) -> str | None:
    """A retry does not erase the first error."""
    store = _dispatched(make)
    offer(store, "tool_failed", "no route", TOOL, call_id="c1")
    again = ToolCall("c1#2", "deploy", DEPLOY.arguments, attempt=2, retry_of="c1")
    offer(store, "tool_dispatched", again)
    offer(store, RESULT, "deploy=done", TOOL, call_id="c1#2")
    error = store.load().first_error
    return unless(error is not None and error.words == "no route", f"first error {error}")


def _ended(make: Factory) -> str | None:
    """An ended run says of each open call: not executed, or unknown."""
    store = _dispatched(make)
    offer(store, "run_failed", "tool_error")
    found = [str(call.status) for call in store.load().calls]
    return unless(found == ["unknown"], f"{found}")


def _identity(make: Factory) -> str | None:
    """Only the one who was asked may answer."""
    store, request = _asked(make)
    answer = Answer.to(request, "run-7")
    return refused(store, "answer_foreign", "approval_granted", answer, "approver:mallory")


def _another_run(make: Factory) -> str | None:
    """An answer about another run is refused."""
    store, request = _asked(make)
    answer = Answer.to(request, "run-8")
    return refused(store, "answer_foreign", "approval_granted", answer, "approver:rosa")


def _misbound(make: Factory) -> str | None:
    """An answer bound to another call is refused."""
    store, request = _asked(make)
    answer = Answer("a1", "run-7", "c9", request.digest, request.seen_revision)
    return refused(store, "answer_misbound", "approval_granted", answer, "approver:rosa")


def _stale(make: Factory) -> str | None:
    """An answer to other arguments than the call has now is refused."""
    store, request = _asked(make)
    answer = Answer("a1", "run-7", "c1", "0f3a0f3a0f3a", request.seen_revision)
    return refused(store, "answer_stale", "approval_granted", answer, "approver:rosa")


def _expired(make: Factory) -> str | None:
    """An answer after the request ran out is refused."""
    store, request = _asked(make)
    context = store.context("approver:rosa", "approver", tick=9)
    proposal = StateProposal("approval_granted", Answer.to(request, "run-7"), store.load().revision)
    return named(lambda: store.apply(proposal, context=context), "answer_expired")


def _repeated(make: Factory) -> str | None:
    """A second answer to one request is refused."""
    store, request = _asked(make)
    answer = Answer.to(request, "run-7")
    offer(store, "approval_granted", answer, "approver:rosa")
    return refused(store, "answer_repeated", "approval_granted", answer, "approver:rosa")


def _without_waiting(make: Factory) -> str | None:
    """A run that does not wait cannot be resumed."""
    answer = Answer("a1", "run-7")
    store = running(make)
    return refused(store, "illegal_transition", "approval_granted", answer, "approver:rosa")


def _gate(make: Factory) -> str | None:
    """A gated call without its approval is not dispatched."""
    return refused(_proposed(make), "call_not_approved", "tool_dispatched", DEPLOY)


def _one_effect(make: Factory) -> str | None:
    """One approval opens the gate once."""
    store, request = _asked(make)
    offer(store, "approval_granted", Answer.to(request, "run-7"), "approver:rosa")
    offer(store, "tool_dispatched", DEPLOY)
    again = ToolCall("c2", "deploy", DEPLOY.arguments, gated=True)
    return refused(store, "call_not_approved", "tool_dispatched", again)


def _conflict_is_not_stale(make: Factory) -> str | None:
    """An unrelated commit meanwhile makes a conflict, not a stale answer."""
    store, request = _asked(make)
    old = store.load().revision
    offer(store, RESULT, "build=green", "tool:get_status", call_id="c0")
    answer = Answer.to(request, "run-7")
    found = refused(store, "revision_conflict", "approval_granted", answer, "approver:rosa", at=old)
    if found is None:
        offer(store, "approval_granted", answer, "approver:rosa")
    return found


LEDGERS = tuple(
    Clause(name, (shows.__doc__ or "").strip(), shows)
    for name, shows in {
        "a_result_is_bound_to_its_call_id": _bound_by_id,
        "a_result_of_another_tool_is_refused": _foreign,
        "a_second_result_is_refused": _duplicate,
        "a_late_result_is_refused": _late,
        "a_proposed_call_has_no_result": _never_dispatched,
        "an_unknown_outcome_forbids_completion": _unknown_is_open,
        "an_unknown_outcome_is_not_a_failure": _unknown_is_not_failed,
        "an_unknown_call_is_not_retried_blindly": _blind_retry,
        "the_first_error_stays": _first_error,
        "an_ended_run_accounts_for_its_calls": _ended,
    }.items()
)
APPROVALS = tuple(
    Clause(name, (shows.__doc__ or "").strip(), shows)
    for name, shows in {
        "a_stranger_cannot_answer": _identity,
        "an_answer_about_another_run_is_refused": _another_run,
        "a_misbound_answer_is_refused": _misbound,
        "a_stale_answer_is_refused": _stale,
        "an_expired_answer_is_refused": _expired,
        "a_repeated_answer_is_refused": _repeated,
        "resume_needs_waiting": _without_waiting,
        "a_gated_call_needs_its_approval": _gate,
        "an_approval_opens_the_gate_once": _one_effect,
        "an_unrelated_commit_is_not_staleness": _conflict_is_not_stale,
    }.items()
)


def _dispatched(make: Factory, *, success: tuple[str, ...] = ("deploy=done",)) -> StateStore:
    store = running(make, RunState("run-7", success=success))
    offer(store, "tool_dispatched", ToolCall("c1", "deploy", DEPLOY.arguments))
    return store


def _build(store: StateStore) -> None:
    offer(store, "tool_dispatched", ToolCall("c0", "get_status"))
    offer(store, RESULT, "build=green", "tool:get_status", call_id="c0")


def _proposed(make: Factory) -> StateStore:
    store = running(make)
    offer(store, "turn_started", "open")
    offer(store, "model_output_received", Decision("ship it", (DEPLOY,)), "model:planner")
    return store


def _asked(make: Factory) -> tuple[StateStore, Approval]:
    store = _proposed(make)
    offer(store, "tool_dispatched", ToolCall("c0", "get_status"))
    revision = store.load().revision
    request = Approval("a1", "deploy release 7?", "rosa", "c1", DEPLOY.digest, revision, 9)
    offer(store, "approval_requested", request)
    return store, request
