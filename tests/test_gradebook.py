"""The gradebook as a spreadsheet and a program will read it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from runstate_lab.grading.gradebook import COLUMNS, as_csv, as_json
from runstate_lab.grading.verdict import Case, Record, Verdict, grade_task


def record(student: str, verdict: Verdict = Verdict.PASS, **changes: object) -> Record:
    """A record of two tasks."""
    tasks = (
        grade_task("04.1", "a", 4, [Case("t", True, Verdict.PASS)]),
        grade_task("04.2", "b", 3, [Case("t", True, Verdict.FAIL, "wrong")]),
    )
    fields: dict[str, object] = {
        "student": student,
        "exercise": "04_compare_and_swap",
        "exercise_version": "v1",
        "submission": "ab12",
        "seed": 0,
        "level": "confined",
        "isolation": "confined: 10 of 10 canaries closed",
        "verdict": verdict,
        "points": None if verdict is Verdict.NOT_GRADED else 4,
        "max_points": 7,
        "tasks": () if verdict is Verdict.NOT_GRADED else tasks,
    }
    return Record(**{**fields, **changes})  # type: ignore[arg-type]


def rows(*records: Record) -> list[dict[str, str]]:
    """The CSV read back."""
    return list(csv.DictReader(io.StringIO(as_csv(records))))


def test_the_columns_begin_with_what_is_promised() -> None:
    """Student, exercise, verdict, points, reason and isolation are there."""
    promised = {"student", "exercise", "verdict", "points", "reason", "isolation"}

    assert promised <= set(COLUMNS)
    assert list(COLUMNS) == list(rows(record("ana"))[0])


def test_rows_are_sorted_by_student_and_exercise() -> None:
    """The order does not depend on who was graded first."""
    given = [record("b"), record("a", exercise="04"), record("a", exercise="02")]

    assert [("a", "02"), ("a", "04"), ("b", "04_compare_and_swap")] == [
        (row["student"], row["exercise"]) for row in rows(*given)
    ]


def test_what_was_not_graded_has_empty_points_and_not_zero() -> None:
    """The cell is empty in CSV and null in JSON."""
    open_one = record("ana", Verdict.NOT_GRADED)

    assert "" == rows(open_one)[0]["points"]
    assert json.loads(as_json([open_one]))[0]["points"] is None


def test_points_are_given_for_each_task() -> None:
    """One cell names every task with what it gave."""

    assert "04.1=4/4; 04.2=0/3" == rows(record("ana"))[0]["tasks"]
    assert {"04.1": 4, "04.2": 0} == json.loads(as_json([record("ana")]))[0]["tasks"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum", "\tx", "\nx"])
def test_no_cell_is_a_formula(name: str) -> None:
    """A student's name is text for a spreadsheet, whatever it begins with."""

    assert f"'{name}" == rows(record(name))[0]["student"]


def test_commas_quotes_line_ends_and_other_scripts_survive() -> None:
    """A value is read back as it was written, but for the kind of line end."""
    reason = 'said "no", then\rleft; 李雷'
    kept = rows(record("ana", reason=reason))[0]["reason"]

    assert reason.replace("\r", "\n") == kept
