"""Which answers load: one that does not costs no other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.grading.exercise import GradedExercise, load_exercise  # noqa: E402
from runstate_lab.grading.loading import LoadFlaw, load_flaws  # noqa: E402
from runstate_lab.grading.proxy import Student  # noqa: E402

NAME_ERROR = LoadFlaw("raised", "NameError: name 'absent' is not defined")
DIED = LoadFlaw("died", "ended with exit status 0 before it answered")


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
    changed: dict[str, str], flaws: dict[str, LoadFlaw], exercise: GradedExercise
) -> None:
    """The flaws are those of the answers that have them, found in order."""
    sources = {**tiny.SOLUTIONS, **changed}
    found = load_flaws(exercise, sources, lambda cells: Student(cells, level="none"))

    assert flaws == found


def test_an_endless_loop_while_loading_is_a_time_out(exercise: GradedExercise) -> None:
    """The answer that hangs is named, not the one that never got its turn."""
    sources = {**tiny.SOLUTIONS, "01.1": "while True:\n    pass"}
    found = load_flaws(
        exercise, sources, lambda cells: Student(cells, level="none", call_timeout=0.5)
    )

    assert {"01.1": "timeout"} == {key: flaw.kind for key, flaw in found.items()}
