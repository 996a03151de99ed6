"""Floor 4. How a turn ends: one decision of five, with its reason.

`settle` is a pure function of the state, so it can be tested, printed and
argued about. What is not here: carrying it out (see `driver`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runstate_lab.conditions import goal_is_met, nothing_is_pending
from runstate_lab.model import Approval, CallStatus, RunState, StateEvent, ToolCall


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
    deadline, then a safe retry; completion needs the goal, not the wish.

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
    if limit is not None and state.turn.number >= limit:
        return Settlement(Settling.FAIL, "budget_exhausted")
    return Settlement(Settling.CONTINUE, reason)


def _may_retry(state: RunState, call: ToolCall) -> bool:
    if call.attempt >= (state.budget.max_attempts or 1):
        return False
    safe = call.status is CallStatus.UNKNOWN and call.key is not None
    return safe or call.status is CallStatus.FAILED
