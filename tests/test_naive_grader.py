"""Each hostile submission of the class does succeed, against a naive grader.

An attack that works nowhere proves nothing about a grader that withstands it.
Everything here happens in a folder that is thrown away.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CLASSROOM = Path(__file__).parent / "classroom"
sys.path.insert(0, str(CLASSROOM))

import attacks  # noqa: E402
import make  # noqa: E402
import naive  # noqa: E402

pytestmark = pytest.mark.slow

HIDDEN = make.ROOT / "solutions" / make.EXERCISE / "test_hidden.py"
FORGE_A_PASS = (
    "exits_when_called",
    "exits_when_loaded",
    "always_equal",
    "skips",
    "patches_the_judge",
    "patches_the_library",
    "reads_the_caller",
    "conftest_beside",
)
FORGE_A_PASS_IN_NBVAL = (
    "transforms_the_checks",
    "deleted_checks",
    "nbval_skip",
    "own_outputs",
    "unrun_and_wrong",
)

LEAVE_THE_PROCESS = (
    "shares_memory",
    "locks_the_library",
    "reads_inode_flags",
    "owns_signals",
    "hides_itself",
    "sends_by_path",
    "slows_itself",
    "fills_the_folder",
)


@pytest.fixture(scope="module")
def submitted() -> dict[str, make.Notebook]:
    """The notebooks of the class, by student."""
    return make.notebooks()


@pytest.fixture
def beside(tmp_path: Path, submitted: dict[str, make.Notebook]) -> Callable[..., naive.Naive]:
    """Grades one student with pytest beside the submission."""

    def run(student: str, *, seconds: float = 60.0, conftest: str = "") -> naive.Naive:
        return naive.pytest_beside(
            tmp_path / student, make.solved(), submitted[student], HIDDEN,
            seconds=seconds, conftest=conftest,
        )  # fmt: skip

    return run


def test_the_naive_graders_are_not_blind(
    beside: Callable[..., naive.Naive], tmp_path: Path, submitted: dict[str, make.Notebook]
) -> None:
    """Without an attack both tell right from wrong, so that an attack is what fools them."""
    in_pytest = [beside(student).passed for student in ("right", "hollow")]
    notebooks = {"right": make.solved(), "hollow": make.hollow()}
    in_nbval = [
        naive.nbval_on(tmp_path / f"nbval_{name}", notebook, HIDDEN).passed
        for name, notebook in notebooks.items()
    ]

    assert ([True, False], [True, False]) == (in_pytest, in_nbval)


@pytest.mark.parametrize("student", FORGE_A_PASS)
def test_a_wrong_answer_passes_in_pytest(student: str, beside: Callable[..., naive.Naive]) -> None:
    """The exit status is 0, although the answer is wrong."""
    conftest = attacks.CONFTEST if student == "conftest_beside" else ""
    seen = beside(student, conftest=conftest)

    assert seen.passed, seen.said[-2000:]


@pytest.mark.parametrize("student", FORGE_A_PASS_IN_NBVAL)
def test_a_wrong_answer_passes_in_nbval(
    student: str, tmp_path: Path, submitted: dict[str, make.Notebook]
) -> None:
    """nbval on the submitted notebook finds nothing wrong."""
    seen = naive.nbval_on(tmp_path / student, submitted[student], HIDDEN)

    assert seen.passed, seen.said[-2000:]


def test_the_held_back_tests_are_read(beside: Callable[..., naive.Naive]) -> None:
    """The answer finds the tests and keeps a copy."""
    assert HIDDEN.read_text(encoding="utf-8") == beside("reads_the_tests").wrote("leak.txt")


def test_a_magic_copies_the_held_back_tests(
    tmp_path: Path, submitted: dict[str, make.Notebook]
) -> None:
    """A shell command in an answer cell is simply run."""
    seen = naive.nbval_on(tmp_path / "magic", submitted["magic"], HIDDEN)

    assert HIDDEN.read_text(encoding="utf-8") == seen.wrote("leak.txt")


def test_the_gradebook_is_written(beside: Callable[..., naive.Naive]) -> None:
    """The answer gives itself ten points."""
    assert "me,all,PASS,10" in beside("writes_the_gradebook").wrote("gradebook.csv")


def test_the_results_are_written(beside: Callable[..., naive.Naive]) -> None:
    """The results file claims no failure when the grader reads it."""
    assert 'failures="0"' in beside("writes_the_results").wrote("results.xml")


def test_an_endless_loop_holds_the_grader(beside: Callable[..., naive.Naive]) -> None:
    """The grader never comes back; here it is ended after five seconds."""
    assert beside("endless_loop", seconds=5.0).status is None


def test_a_memory_bomb_takes_what_there_is(beside: Callable[..., naive.Naive]) -> None:
    """The grader's own process runs into the limit that was put around it here."""
    assert "MemoryError" in beside("memory_bomb").said


@pytest.mark.parametrize("student", LEAVE_THE_PROCESS)
def test_an_answer_reaches_out_of_its_process(
    student: str, beside: Callable[..., naive.Naive]
) -> None:
    """What it tries works, and it leaves a note."""
    assert "reached" == beside(student).wrote("reached.txt")


@pytest.mark.parametrize("student", ["stops_itself", "leaves_threads"])
def test_a_stopped_answer_holds_the_grader(
    student: str, beside: Callable[..., naive.Naive]
) -> None:
    """The grader's own process is stopped or cannot end; here it is ended for it."""
    assert beside(student, seconds=10.0).status is None


@pytest.mark.parametrize("student", ["sets_an_alarm", "closes_everything"])
def test_an_answer_ends_the_run_of_the_grader(
    student: str, beside: Callable[..., naive.Naive]
) -> None:
    """Some of the thirteen cases never get a result."""
    seen = beside(student)

    assert not seen.passed
    assert 'tests="13"' not in seen.wrote("results.xml")


def test_a_fork_stays_behind(beside: Callable[..., naive.Naive]) -> None:
    """A process of the student outlives the grader, which believes in a pass."""
    seen = beside("forks")
    left = int(seen.wrote("left.pid"))
    try:
        os.kill(left, 0)
    finally:
        os.kill(left, signal.SIGKILL)

    assert seen.passed
