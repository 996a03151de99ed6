"""Which answers load: one that does not costs no other."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.grading.binding import WorkerPlan  # noqa: E402
from runstate_lab.grading.exercise import GradedExercise, load_exercise  # noqa: E402
from runstate_lab.grading.loading import LoadFlaw, Planned, load_flaws  # noqa: E402
from runstate_lab.grading.purse import Purse  # noqa: E402

NAME_ERROR = LoadFlaw("raised", "NameError: name 'absent' is not defined")
DIED = LoadFlaw("died", "ended with exit status 0 before it answered")


def planned(folder: Path, *, budget: float = 60.0, call_seconds: float = 3.0) -> Planned:
    """Workers without walls that draw on one purse."""
    plan = WorkerPlan("none", Purse(str(folder / "purse"), budget), call_seconds=call_seconds)
    return lambda cells: replace(plan, cells=cells)


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> GradedExercise:
    """The tiny exercise."""
    return load_exercise(tiny.write_course(tmp_path_factory.mktemp("course")), "01")


@pytest.mark.parametrize(
    ("changed", "flaws"),
    [
        ({}, {}),
        ({"01.1": "absent"}, {"01.1": NAME_ERROR}),
        ({"01.1": "absent", "01.2": "absent"}, {"01.1": NAME_ERROR, "01.2": NAME_ERROR}),
        ({"01.1": "import os\nos._exit(0)"}, {"01.1": DIED}),
        ({"01.2": "import os\nos._exit(0)"}, {"01.2": DIED}),
        ({"01.1": "import os\nos._exit(0)", "01.2": "absent"}, {"01.1": DIED, "01.2": NAME_ERROR}),
        ({"01.1": "absent = 1 / 0", "01.2": "newest"},
         {"01.1": LoadFlaw("raised", "ZeroDivisionError: division by zero"),
          "01.2": LoadFlaw("raised", "NameError: name 'newest' is not defined")}),
    ],
)  # fmt: skip
def test_each_answer_answers_for_itself(
    changed: dict[str, str],
    flaws: dict[str, LoadFlaw],
    exercise: GradedExercise,
    tmp_path: Path,
) -> None:
    """The flaws are those of the answers that have them, found in order."""
    sources = {**tiny.SOLUTIONS, **changed}
    found = load_flaws(exercise, sources, planned(tmp_path))

    assert flaws == found


def test_an_endless_loop_while_loading_is_a_time_out(
    exercise: GradedExercise, tmp_path: Path
) -> None:
    """The answer that hangs is named, not the one that never got its turn."""
    sources = {**tiny.SOLUTIONS, "01.1": "while True:\n    pass"}
    found = load_flaws(exercise, sources, planned(tmp_path, call_seconds=0.5))

    assert {"01.1": "timeout"} == {key: flaw.kind for key, flaw in found.items()}


def test_answers_that_used_up_their_time_together_fail_for_that(
    exercise: GradedExercise, tmp_path: Path
) -> None:
    """Each answer may take its time; all of them have one purse, and nothing is left to blame one."""
    slow = "import time\nfor _ in range(9): time.sleep(0.1)\n"
    sources = {key: slow + source for key, source in tiny.SOLUTIONS.items()}
    found = load_flaws(exercise, sources, planned(tmp_path, budget=0.5))

    assert dict.fromkeys(sources, "budget") == {key: flaw.kind for key, flaw in found.items()}


def test_every_loading_is_noted_in_the_purse(exercise: GradedExercise, tmp_path: Path) -> None:
    """What an honest answer was charged is there, and is little."""
    load_flaws(exercise, tiny.SOLUTIONS, planned(tmp_path))
    notes = [float(note.read_text()) for note in tmp_path.glob("purse/*.charged")]

    assert 1 == len(notes)
    assert 0 < notes[0] < 3
