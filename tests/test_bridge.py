"""The visible checks: nbval on our notebook, with the student's names bound."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.grading import binding  # noqa: E402
from runstate_lab.grading.bridge import (  # noqa: E402
    VisibleChecks,
    visible_checks,
    write_notebook,
)
from runstate_lab.grading.dispatch import grade_answers  # noqa: E402
from runstate_lab.grading.exercise import GradedExercise, load_exercise, worker_cells  # noqa: E402
from runstate_lab.grading.faults import StudentDied  # noqa: E402
from runstate_lab.grading.purse import Purse  # noqa: E402
from runstate_lab.grading.verdict import Case, Verdict  # noqa: E402

NEWEST, LEDGER = "the newest build counts", "a fact that is recorded is kept"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny course on disk."""
    return tiny.write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def exercise(course: Path) -> GradedExercise:
    """Its only exercise."""
    return load_exercise(course, "01")


def visible(course: Path, answers: dict[str, str]) -> list[Case]:
    """What the visible checks say about these answers, confined by nothing."""
    record = grade_answers(course, "01", answers)
    return [case for task in record.tasks for case in task.cases if case.visible]


def test_the_checks_are_planned_from_our_notebook(exercise: GradedExercise) -> None:
    """Each check cell is one planned check with its task and its words."""
    planned = [(check.task, check.title) for check in visible_checks(exercise)]

    assert [("01.1", NEWEST), ("01.2", LEDGER)] == planned


def test_a_check_that_gave_no_result_is_not_graded(exercise: GradedExercise) -> None:
    """Silence is never a pass."""
    silent = VisibleChecks(exercise)

    assert (Case(NEWEST, True, Verdict.NOT_GRADED, "no-result"),) == silent.cases("01.1")
    assert (Case(NEWEST, True, Verdict.FAIL, "magic"),) == silent.cases("01.1", not_run="magic")


def test_the_worker_gets_given_cells_and_answers_and_no_check(exercise: GradedExercise) -> None:
    """Our order, the student's sources, nothing that knows an expected value."""
    cells = worker_cells(exercise, {"01.2": "student's ledger"})

    assert ((tiny.GIVEN, "given 2"), ("student's ledger", "01.2")) == cells


def test_a_teachers_cell_stays_here(course: Path) -> None:
    """What the student's copy leaves out is not sent to the worker either."""
    path = load_exercise(course, "01").notebook
    whole = path.read_text(encoding="utf-8")
    made = json.loads(whole)
    made["cells"][1]["metadata"]["tags"] = ["teacher"]
    path.write_text(json.dumps(made), encoding="utf-8")
    try:
        cells = worker_cells(load_exercise(course, "01"), {})
    finally:
        path.write_text(whole, encoding="utf-8")

    assert () == cells


def test_the_notebook_that_runs_is_ours(exercise: GradedExercise, tmp_path: Path) -> None:
    """Answers are replaced by bindings; checks keep their source and stored output."""
    path = write_notebook(exercise, frozenset({"01.1"}), tmp_path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = [cell["source"] for cell in cells]

    assert tiny.NEWEST not in sources and tiny.LEDGER not in sources
    assert "from runstate_lab.grading import binding\n\nbinding.bind('01.1')" == sources[2]
    assert ([tiny.CHECK_NEWEST, "binding.alive()"], "# answer 01.2 was not taken") == (
        sources[3:5], sources[5],
    )  # fmt: skip
    assert "build is green\n" == cells[3]["outputs"][0]["text"]


def test_right_answers_hold_over_the_wire(course: Path) -> None:
    """Our own answers pass every visible check through the proxies."""

    assert [Case(NEWEST, True, Verdict.PASS), Case(LEDGER, True, Verdict.PASS)] == visible(
        course, {}
    )


def test_a_death_costs_its_own_task_only(course: Path) -> None:
    """The worker that died is replaced before the next task's names are bound."""
    deadly = "# answer: 01.1\nimport os\n\ndef newest(facts, key):\n    os._exit(0)"
    said = "ended with exit status 0 before it answered"

    assert [
        Case(NEWEST, True, Verdict.FAIL, "died", said),
        Case(LEDGER, True, Verdict.PASS),
    ] == visible(course, {"01.1": deadly})


def test_a_death_that_a_check_swallows_is_found_behind_it(tmp_path: Path) -> None:
    """The cell after the check raises what the check did not want to see."""
    cells = (("import os\ndef end(): os._exit(0)", "01.1"),)
    plan = binding.WorkerPlan("none", Purse(str(tmp_path), 60.0), cells, {"01.1": ("end",)})
    bound = binding.Bound(plan)
    end = bound.names_of("01.1")["end"]
    bound.alive()
    with contextlib.suppress(StudentDied):
        end()  # type: ignore[operator]

    for _ in range(2):
        with pytest.raises(StudentDied):
            bound.alive()


def test_another_output_than_the_stored_one_is_wrong(course: Path) -> None:
    """What the check printed is told, for the check is visible."""
    other = tiny.LEDGER.replace("return tuple(self.kept)", "return tuple(self.kept[1:])")
    _, second = visible(course, {"01.2": other})

    assert Case(LEDGER, True, Verdict.FAIL, "wrong", "the cell printed: ()") == second
