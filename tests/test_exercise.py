"""The exercise as the grader takes it from our side."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.course.faults import AskedWrongly, CourseFault  # noqa: E402
from runstate_lab.grading.exercise import course_root, load_exercise  # noqa: E402
from runstate_lab.course import built, catalogue  # noqa: E402
from runstate_lab.course.taking import Wanted  # noqa: E402


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The tiny course."""
    return tiny.write_course(tmp_path)


def test_tasks_stubs_and_names_come_from_our_side(course: Path) -> None:
    """Points and titles are the catalogue's, stubs those of the student's notebook."""
    exercise = load_exercise(course, "01")

    assert (5, ("newest",)) == (exercise.points, exercise.names("01.1"))
    assert (
        Wanted("01.1", "answer-01-1", tiny.NEWEST_STUB),
        Wanted("01.2", "answer-01-2", tiny.LEDGER_STUB),
    ) == exercise.wanted


def test_a_check_that_was_never_run_is_refused(course: Path) -> None:
    """nbval would run it and compare nothing."""
    path = load_exercise(course, "01").notebook
    made = json.loads(path.read_text(encoding="utf-8"))
    made["cells"][3]["execution_count"] = None
    path.write_text(json.dumps(made), encoding="utf-8")

    with pytest.raises(CourseFault, match="check cell 4 was never run"):
        load_exercise(course, "01")


@pytest.mark.parametrize("changed", ["test_hidden.py", f"{tiny.EXERCISE}.ipynb"])
def test_a_change_of_ours_is_another_version(changed: str, course: Path) -> None:
    """A changed notebook or a changed held-back case makes every grade stale."""
    before = load_exercise(course, "01")
    path = before.notebook.with_name(changed)
    path.write_bytes(path.read_bytes() + b"\n")

    assert before.version != load_exercise(course, "01").version


def test_changed_points_are_another_version(course: Path) -> None:
    """So do the catalogue's points."""
    before = load_exercise(course, "01").version
    path = course / "catalogue.toml"
    path.write_text(path.read_text("utf-8").replace("points = 2", "points = 1"), "utf-8")

    assert before != load_exercise(course, "01").version


def test_a_folder_without_solutions_grades_nothing(course: Path) -> None:
    """A student's folder is not a place to grade from."""
    (course / "solutions").rename(course / "elsewhere")
    with pytest.raises(AskedWrongly) as refused:
        course_root(course)

    assert "hint: grade from a checkout" in str(refused.value)


def test_a_notebook_that_was_worked_in_gives_no_stubs(course: Path) -> None:
    """An instructor who solved the exercise in the checkout makes no right answer a stub."""
    exercise = load_exercise(course, "01")
    row = next(row for row in catalogue.load(course).exercises)
    assert any(wanted.stub for wanted in exercise.wanted)
    table = built.digests(course, [row.notebook])
    (course / built.FILE).write_text(built.as_text(table), encoding="utf-8")
    assert any(wanted.stub for wanted in load_exercise(course, "01").wanted)
    (course / row.notebook).write_bytes(exercise.notebook.read_bytes())

    assert ["", ""] == [wanted.stub for wanted in load_exercise(course, "01").wanted]
