"""The rules that make cases into points, and records that survive the disk."""

from __future__ import annotations

import json

import pytest

from runstate_lab.grading.verdict import (
    OURS,
    REASONS,
    Case,
    Record,
    Verdict,
    from_json,
    grade_task,
    to_json,
    total,
)

HELD = Case("held", True, Verdict.PASS)
LOST = Case("lost", False, Verdict.FAIL, "wrong")
OPEN = Case("open", False, Verdict.NOT_GRADED, "no-result")


@pytest.mark.parametrize(
    ("cases", "verdict", "points", "code"),
    [
        ((HELD, HELD), "PASS", 4, ""),
        ((HELD, LOST), "FAIL", 0, "wrong"),
        ((LOST, OPEN), "NOT_GRADED", None, "no-result"),
        ((), "NOT_GRADED", None, "nothing-to-check"),
    ],
)
def test_a_task_gives_all_its_points_or_none(
    cases: tuple[Case, ...], verdict: str, points: int | None, code: str
) -> None:
    """Every planned case must hold; a case without result is never a zero."""
    task = grade_task("04.1", "apply", 4, cases)

    assert (verdict, points, code) == (task.verdict, task.points, task.reason_code)


def test_an_answer_that_was_not_taken_fails_whatever_its_cases_say() -> None:
    """The flaw of the answer is the reason."""
    task = grade_task("04.1", "apply", 4, (HELD,), flaw="magic", detail="line 2")

    assert ("FAIL", 0, "magic") == (task.verdict, task.points, task.reason_code)


def test_one_failed_task_fails_the_submission_and_costs_its_own_points() -> None:
    """The points of the other tasks stay."""
    tasks = [grade_task("04.1", "a", 4, (LOST,)), grade_task("04.2", "b", 3, (HELD,))]

    assert (Verdict.FAIL, 3, "wrong") == total(tasks)[:3]


def test_a_task_that_we_could_not_grade_leaves_the_points_open() -> None:
    """NOT_GRADED is stronger than FAIL: the sum is not known."""
    tasks = [grade_task("04.1", "a", 4, (LOST,)), grade_task("04.2", "b", 3, (OPEN,))]

    assert (Verdict.NOT_GRADED, None, "no-result") == total(tasks)[:3]


def test_a_record_comes_back_from_the_disk_as_it_was() -> None:
    """JSON loses nothing of it."""
    task = grade_task("04.1", "apply", 4, (HELD, LOST), notes=("found by its cell id",))
    record = Record("ana", "04", "v", "s", 7, "confined", "10 of 10", *total([task])[:2], 4,
                    tasks=(task,))  # fmt: skip

    assert record == from_json(json.loads(json.dumps(to_json(record))))


def test_every_reason_of_ours_is_a_row() -> None:
    """A code without words would leave somebody without an answer."""

    assert OURS <= set(REASONS)
