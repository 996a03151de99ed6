"""Five decisions, each with its reason, as one pure function."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runstate_lab.errors import CallUnknown
from runstate_lab.model import (
    Approval,
    Budget,
    Callback,
    CallStatus,
    Fact,
    RunState,
    RunStatus,
    ToolCall,
    TurnState,
)
from runstate_lab.settle import TURNS_WITHOUT_BUDGET, free_id, next_attempt, settle

GREEN = Fact("build", "green", "tool:get_status", "tool_executor", "c0", 3)
STATE = RunState(
    "run-7", success=("build=green",), status=RunStatus.RUNNING, turn=TurnState(2, "decided")
)
FAILED = ToolCall("c1", "scan", status=CallStatus.FAILED)
LOST = ToolCall("c1", "scan", status=CallStatus.UNKNOWN)
KEYED = replace(LOST, key="scan-7")
TWO = Budget(max_attempts=2)


@pytest.mark.parametrize(
    ("fields", "final", "expected"),
    [
        ({"facts": (GREEN,)}, True, "final: goal_reached"),
        ({"facts": (GREEN,)}, False, "continue: the model has more to say"),
        ({}, True, "continue: success criterion is not met: no tool fact build=green"),
        (
            {"success": ()},
            True,
            "continue: success criterion is not met: a goal that asks for no fact",
        ),
        ({"requests": (Approval("a1", "?", "rosa"),)}, True, "wait: pending_approval"),
        ({"requests": (Callback("k1", "ci"),)}, False, "wait: external_callback"),
        ({"calls": (FAILED,), "budget": TWO}, False, "retry: attempt 1 failed"),
        ({"calls": (KEYED,), "budget": TWO}, False, "retry: attempt 1 unknown"),
        ({"calls": (LOST,), "budget": TWO}, False, "fail: tool_error"),
        ({"calls": (replace(FAILED, attempt=2),), "budget": TWO}, True, "fail: tool_error"),
        ({"calls": (FAILED,)}, False, "continue: the model has more to say"),
        ({"calls": (FAILED,), "facts": (GREEN,)}, True, "final: goal_reached"),
        ({"calls": (LOST,), "facts": (GREEN,)}, True, "fail: tool_error"),
        ({"budget": Budget(max_turns=2)}, False, "fail: budget_exhausted"),
        ({"budget": Budget(max_turns=2)}, True, "fail: budget_exhausted"),
        ({"budget": Budget(max_turns=2), "facts": (GREEN,)}, True, "final: goal_reached"),
        ({"budget": Budget(deadline=5), "facts": (GREEN,)}, True, "fail: timeout"),
        ({"budget": Budget(deadline=6), "facts": (GREEN,)}, True, "final: goal_reached"),
    ],
)
def test_each_decision_has_its_reason(
    fields: dict[str, object], final: bool, expected: str
) -> None:
    """Waiting, the deadline, a safe retry, the goal, the budget, the model: in this order."""
    assert expected == str(settle(replace(STATE, **fields), final=final, tick=5))


def test_a_retry_names_its_call() -> None:
    """The decision can be carried out without looking again."""
    state = replace(STATE, calls=(FAILED,), budget=TWO)

    assert "c1" == settle(state, final=False).call_id


@pytest.mark.parametrize(
    ("number", "expected"),
    [(999, "continue: the model has more to say"), (1_000, "fail: budget_exhausted")],
)
def test_a_run_without_a_budget_of_turns_ends_too(number: int, expected: str) -> None:
    """Nobody gets an endless run by leaving the budget out."""
    state = replace(STATE, turn=TurnState(number, "decided"))

    assert 1_000 == TURNS_WITHOUT_BUDGET
    assert expected == str(settle(state, final=False))


def test_an_id_is_free_of_calls_and_requests_open_and_past() -> None:
    """What is pending is named by its ids, so no two share one."""
    state = replace(
        STATE,
        calls=(ToolCall("a", "scan"),),
        requests=(Callback("a'", "ci"),),
        settled=("a''",),
        answered=("a'''",),
    )

    assert "a''''" == free_id(state, "a")


def test_the_next_attempt_of_a_call_that_is_not_there_is_refused() -> None:
    """There is nothing to try again."""
    with pytest.raises(CallUnknown):
        next_attempt(STATE, "c9")
