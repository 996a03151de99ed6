"""A whole class is graded, and every row is what was written down before.

Right, wrong in each named way, broken and hostile submissions lie side by side
in `tests/classroom`. What each must get is in `expected.toml`, by hand.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from runstate_lab.grading.bridge import visible_checks
from runstate_lab.grading.exercise import load_exercise
from runstate_lab.grading.runner import ClassReport, grade

CLASSROOM = Path(__file__).parent / "classroom"
sys.path.insert(0, str(CLASSROOM))

import make  # noqa: E402

pytestmark = pytest.mark.slow

EXPECTED = tomllib.loads((CLASSROOM / "expected.toml").read_text(encoding="utf-8"))
SECRET = (make.ROOT / "solutions" / make.EXERCISE / "test_hidden.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Graded:
    """The class after grading, and the folder that it was handed in to."""

    report: ClassReport
    folder: Path

    def row(self, student: str) -> dict[str, object]:
        """The student's row of the gradebook."""
        return next(row for row in self.report.rows if row["student"] == student)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The class, graded once for all the tests below."""
    folder = tmp_path_factory.mktemp("class")
    submissions = make.add_extras(shutil.copytree(make.SUBMISSIONS, folder / "in"))
    report = grade(submissions, folder / "out", exercise="04")
    return Graded(report, submissions)


def answers(content: bytes) -> object:
    """What a grader looks at in a whole notebook; other files as they are."""
    try:
        notebook = json.loads(content)
        return [cell["source"] for cell in make.short(notebook)["cells"]]
    except (ValueError, KeyError, TypeError):
        return content


def test_the_kept_class_is_what_the_script_makes() -> None:
    """The submissions on disk hold the answers that make.py makes from the exercise."""
    kept = {path.parent.name: path.read_bytes() for path in make.SUBMISSIONS.glob("*/*.ipynb")}
    made = make.files()

    assert sorted(made) == sorted(kept)
    for student, content in made.items():
        assert answers(content) == answers(kept[student]), "run: python tests/classroom/make.py"


def test_every_submission_has_an_expectation(graded: Graded) -> None:
    """No row without an expectation, and no expectation without a row."""
    assert sorted(EXPECTED) == [row["student"] for row in graded.report.rows]


@pytest.mark.parametrize("student", EXPECTED)
def test_the_verdict_is_the_one_that_was_written_down(student: str, graded: Graded) -> None:
    """Verdict, points and reason code are as expected; not graded means no points."""
    wanted = EXPECTED[student]
    row = graded.row(student)

    assert (wanted["verdict"], wanted.get("points"), wanted.get("reason", "")) == (
        row["verdict"], row["points"], row["reason_code"],
    )  # fmt: skip


def test_nothing_stopped_the_class(graded: Graded) -> None:
    """Every submission has a verdict, and what is no submission is listed."""
    names = sorted(row.name for row in graded.report.unexpected)

    assert (0, ["conftest_beside/conftest.py", "notes.txt"]) == (graded.report.exit_code, names)


def test_the_isolation_in_force_stands_in_every_record(graded: Graded) -> None:
    """The records say what was measured: each canary closed, and how much no level closes."""
    said = {row["isolation"] for row in graded.report.rows}

    assert {graded.report.isolation} == said
    assert graded.report.isolation.startswith("confined: 22 of 22 canaries closed")
    assert graded.report.isolation.endswith("; 6 things are not closed by any level")


def test_each_case_of_each_task_is_accounted_for(graded: Graded) -> None:
    """Every graded record holds all visible checks and all held-back cases."""
    exercise = load_exercise(make.ROOT, make.EXERCISE)
    planned = (len(visible_checks(exercise)), SECRET.count("\n@pytest.mark.task("))
    counts = {
        tuple(
            sum(case.visible is visible for task in record.tasks for case in task.cases)
            for visible in (True, False)
        )
        for record in graded.report.records
        if record.tasks
    }

    assert {planned} == counts


def test_no_page_tells_more_than_the_title_of_a_held_back_case(graded: Graded) -> None:
    """No line of the held-back tests stands on any page, titles apart."""
    pages = [path.read_text("utf-8") for path in graded.report.out.glob("feedback/*.html")]
    lines = [line.strip() for line in SECRET.splitlines()]
    long = [line for line in lines if len(line) >= 30 and not line.startswith('"""')]

    assert [] == [line for line in long for page in pages if line in page]


def test_the_gradebook_on_disk_is_the_report(graded: Graded) -> None:
    """CSV and JSON hold one row for each submission; not graded has empty points."""
    text = (graded.report.out / "gradebook.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    plain = json.loads((graded.report.out / "gradebook.json").read_text(encoding="utf-8"))
    empty = {row["student"] for row in rows if row["points"] == ""}

    assert [row["student"] for row in plain] == [row["student"] for row in rows]
    assert empty == {name for name, row in EXPECTED.items() if row["verdict"] == "NOT_GRADED"}


def test_a_regrade_grades_only_what_changed(graded: Graded) -> None:
    """One submission is handed in anew: it alone is graded again."""
    path = graded.folder / "hollow" / f"{make.EXERCISE}.ipynb"
    before = path.read_bytes()
    path.write_bytes(make.text(make.short(make.solved())))
    seen: list[str] = []
    readable = [row for row in graded.report.records if row.submission]
    again = grade(
        graded.folder,
        graded.report.out,
        exercise="04",
        progress=lambda done, all, record: seen.append(record.student),
    )
    path.write_bytes(before)
    new = next(row for row in again.rows if row["student"] == "hollow")

    assert ("PASS", 10) == (new["verdict"], new["points"])
    assert len(readable) - 1 == again.kept
    assert {"hollow", "linked", "piped", "too_big"} == set(seen)
