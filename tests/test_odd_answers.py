"""Honest answers of odd form: `check` and `grade` say the same, and what was written down before."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.wrong import solution_of
from runstate_lab.grading.checks import check_notebook
from runstate_lab.grading.runner import ClassReport, grade
from runstate_lab.grading.verdict import TaskGrade, Verdict

ROOT = Path(__file__).resolve().parents[1]
EXERCISE = catalogue.load(ROOT).exercise("02")
AT_LEAST = 50


@dataclass(frozen=True)
class Odd:
    """One odd answer: the task, its text, and what it deserves."""

    name: str
    task: str
    held: bool
    before: str = ""
    after: str = ""
    answer: str = ""
    kind: str = ""

    @property
    def student(self) -> str:
        """The folder of this answer in the class."""
        return self.name.replace(" ", "_").replace("'", "").replace(",", "")


ROWS = tomllib.loads((Path(__file__).with_name("odd_answers.toml")).read_text(encoding="utf-8"))
ODD = [Odd(**row) for row in ROWS["odd"]]


def notebook(odd: Odd) -> dict[str, Any]:
    """Our solved notebook with the odd answer in its place."""
    made = json.loads((ROOT / EXERCISE.solved).read_text(encoding="utf-8"))
    marker = f"# answer: {odd.task}\n"
    own = solution_of(made)[odd.task].removeprefix(marker)
    text = odd.answer or f"{odd.before}\n{own}\n{odd.after}\n"
    for cell in made["cells"]:
        marks = cell["metadata"].get("runstate", {})
        if marks.get("role") == "answer" and marks["task"] == odd.task:
            cell["source"] = marker + text
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class: one folder per odd answer."""
    made = tmp_path_factory.mktemp("odd")
    for odd in ODD:
        path = made / odd.student / f"{EXERCISE.name}.ipynb"
        path.parent.mkdir()
        path.write_text(json.dumps(notebook(odd)), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def graded(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ClassReport:
    """The class, graded once."""
    return grade(folder, tmp_path_factory.mktemp("graded"), course=ROOT)


def task_of(report: ClassReport, odd: Odd) -> TaskGrade:
    """The grade of the task that the odd answer is of."""
    (record,) = (row for row in report.records if row.student == odd.student)
    return next(row for row in record.tasks if row.task == odd.task)


def test_there_are_at_least_fifty_of_them() -> None:
    """Each with a name of its own."""
    assert len(ODD) >= AT_LEAST
    assert 1 == max(Counter(odd.student for odd in ODD).values())


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.student)
def test_a_grade_gives_an_odd_answer_what_it_deserves(odd: Odd, graded: ClassReport) -> None:
    """The verdict and the reason are those that were written down."""
    found = task_of(graded, odd)

    assert (Verdict.PASS if odd.held else Verdict.FAIL, odd.kind) == (
        found.verdict,
        found.reason_code,
    )


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.student)
def test_check_says_of_an_odd_answer_what_a_grade_says(odd: Odd, folder: Path) -> None:
    """Held where it deserves it; the other tasks are not blamed."""
    report = check_notebook(EXERCISE, folder / odd.student / f"{EXERCISE.name}.ipynb")

    assert odd.held == report.task_held(odd.task)
    others = [task.id for task in EXERCISE.tasks if task.id != odd.task]
    assert others == [task for task in others if report.task_held(task)]


@pytest.mark.slow
def test_the_other_tasks_are_graded_as_if_nothing_were_odd(graded: ClassReport) -> None:
    """One odd cell costs no other its points."""
    tasks = {odd.student: odd.task for odd in ODD}
    lost = [
        (record.student, task.task, task.reason)
        for record in graded.records
        for task in record.tasks
        if task.task != tasks[record.student] and task.verdict is not Verdict.PASS
    ]

    assert [] == lost
