"""Floor 4. How a turn ends: one decision of five, with its reason.

`settle` is a pure function of the state, so it can be tested, printed and
argued about. What is not here: carrying it out (see `driver`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runstate_lab.conditions import goal_is_met, nothing_is_pending
from runstate_lab.errors import CallUnknown, RevisionConflict
from runstate_lab.model import Approval, CallStatus, RunState, StateEvent, ToolCall
from runstate_lab.nouns import changed


# Whoever wants more says so in the budget; nobody gets an endless run by leaving it out.
TURNS_WITHOUT_BUDGET = 1_000


class Settling(StrEnum):
    """The five ways to settle a turn.

    >>> [str(one) for one in Settling]
    ['final', 'wait', 'retry', 'continue', 'fail']
    """

    FINAL = "final"
    WAIT = "wait"
    RETRY = "retry"
    CONTINUE = "continue"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The decision, its reason, and the call that a retry is about.

    >>> print(Settlement(Settling.WAIT, "pending_approval"))
    wait: pending_approval
    """

    decision: Settling
    reason: str
    call_id: str | None = None

    def __str__(self) -> str:
        return f"{self.decision}: {self.reason}"


def settle(state: RunState, *, final: bool, tick: int = 0) -> Settlement:
    """What the runtime does after a turn; the model's `final` is only a wish.

    Source text: turn settlement. Waiting comes first, then the run's own
    deadline, then a safe retry; completion needs the goal, not the wish. A
    run whose budget says nothing of turns ends after TURNS_WITHOUT_BUDGET, so
    that no model can talk for ever.

    >>> print(settle(RunState("run-7", success=("build=green",)), final=True))
    continue: success criterion is not met: no tool fact build=green
    >>> lost = ToolCall("c1", "deploy", status=CallStatus.UNKNOWN)
    >>> print(settle(RunState("run-7", calls=(lost,)), final=True))
    fail: tool_error
    """
    if state.requests:
        asked = isinstance(state.requests[0], Approval)
        return Settlement(Settling.WAIT, "pending_approval" if asked else "external_callback")
    if state.budget.deadline is not None and tick >= state.budget.deadline:
        return Settlement(Settling.FAIL, "timeout")
    for call in state.calls:
        if _may_retry(state, call):
            return Settlement(Settling.RETRY, f"attempt {call.attempt} {call.status}", call.call_id)
    if final or any(call.status is CallStatus.UNKNOWN for call in state.calls):
        return _settle_the_wish(state)
    return _next_turn(state, "the model has more to say")


def next_attempt(state: RunState, call_id: str) -> ToolCall:
    """The call that a retry dispatches: the same wish under an id of its own.

    >>> failed = ToolCall("c1", "scan", status=CallStatus.FAILED)
    >>> taken = ToolCall("c1#2", "scan")
    >>> next_attempt(RunState("run-7", calls=(failed, taken)), "c1").call_id
    "c1#2'"
    """
    before = state.call(call_id)
    if before is None:
        raise CallUnknown(f"another attempt of call {call_id}", "no such call")
    number = before.attempt + 1
    wanted = f"{call_id.partition('#')[0]}#{number}"
    return changed(
        before,
        call_id=free_id(state, wanted),
        attempt=number,
        retry_of=call_id,
        status=CallStatus.PROPOSED,
    )


def free_id(state: RunState, wanted: str) -> str:
    """The wanted id, or one like it that no call and no request of the run has.

    >>> free_id(RunState("run-7", calls=(ToolCall("approve c1", "scan"),)), "approve c1")
    "approve c1'"
    """
    taken = {call.call_id for call in state.calls} | {one.request_id for one in state.requests}
    taken.update(state.settled, state.answered)
    while wanted in taken:
        wanted += "'"
    return wanted


def approval_for(
    state: RunState, call: ToolCall, approver: str, *, until: int | None = None
) -> Approval:
    """The request to approve a call, as it is proposed now, under an id of its own.

    >>> approval_for(RunState("run-7"), ToolCall("c1", "deploy", (("release", "7"),)), "rosa").question
    'deploy(release=7)?'
    """
    arguments = ", ".join(f"{name}={text}" for name, text in call.arguments)
    return Approval(
        free_id(state, f"approve {call.call_id}"),
        f"{call.tool}({arguments})?",
        approver,
        call_id=call.call_id,
        digest=call.digest,
        seen_revision=state.revision,
        expires_at=until,
    )


def moved(revision: int, after: RunState) -> RunState:
    """The state after a step, which must be a step: a store that stays is asked for ever.

    >>> moved(4, RunState("run-7", revision=4))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.RevisionConflict: the store accepts and stays: asked a step beyond revision 4, found revision 4
    hint: load the state again and decide: recompute, drop or escalate
    """
    if after.revision > revision:
        return after
    wanted, found = f"a step beyond revision {revision}", f"revision {after.revision}"
    raise RevisionConflict(wanted, found, reason="the store accepts and stays")


def _settle_the_wish(state: RunState) -> Settlement:
    wish = StateEvent("run_completed", "runtime", "runtime", "", state.revision)
    refusal = goal_is_met(state, wish) or nothing_is_pending(state, wish)
    if refusal is None:
        return Settlement(Settling.FINAL, "goal_reached")
    if any(call.status in (CallStatus.FAILED, CallStatus.UNKNOWN) for call in state.calls):
        return Settlement(Settling.FAIL, "tool_error")
    return _next_turn(state, f"{refusal.reason}: {refusal.found}")


def _next_turn(state: RunState, reason: str) -> Settlement:
    limit = state.budget.max_turns
    if state.turn.number >= (TURNS_WITHOUT_BUDGET if limit is None else limit):
        return Settlement(Settling.FAIL, "budget_exhausted")
    return Settlement(Settling.CONTINUE, reason)


def _may_retry(state: RunState, call: ToolCall) -> bool:
    if call.attempt >= (state.budget.max_attempts or 1):
        return False
    safe = call.status is CallStatus.UNKNOWN and call.key is not None
    return safe or call.status is CallStatus.FAILED
