"""The held-back cases: each planned case is accounted for, none is passed by default."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ANSWERS = """
import os
import signal
import time

class Mine(ValueError):
    pass

def right():
    return 4

def wrong():
    return 5

def known(secret):
    raise ValueError(secret)

def named(secret):
    raise type(secret, (Exception,), {})

def stub():
    raise NotImplementedError("exercise 04.1: apply")

def die():
    os._exit(0)

def loop():
    while True:
        pass

def own():
    return Mine

def realtime():
    signal.raise_signal(40)

def sleep():
    time.sleep(60)

def wait_for(ask):
    return ask()
"""
CASES = '''
import time

import pytest

TASK = pytest.mark.task("1")
COSTLY = pytest.mark.task("2")
DROPPED = pytest.mark.task("3")
ENDS = pytest.mark.task("4")
WIRE = pytest.mark.task("5")


@TASK
def test_right(student, seed):
    """The right answer is held."""
    assert (4, 11) == (student.right(), seed)


@TASK
def test_wrong(student):
    """A wrong answer is not."""
    assert 4 == student.wrong()


@TASK
def test_known(student):
    """The name of a known exception is told."""
    student.known("secret")


@TASK
def test_named(student):
    """A name of the student's making is not."""
    student.named("secret")


@TASK
def test_stub(student):
    """A stub that was left in place is not an exception like others."""
    student.stub()


@TASK
def test_skip(student):
    """A skip does not count."""
    pytest.skip("secret")


@TASK
@pytest.mark.xfail
def test_xfail(student):
    """An expected failure does not count."""
    assert student.wrong() == 4


@TASK
@pytest.mark.xfail
def test_xpass(student):
    """Nor does an unexpected success."""
    assert student.right() == 4


@TASK
def test_swallowed(student):
    """A death that the test swallows is found at its end."""
    try:
        student.die()
    except BaseException:
        pass


@ENDS
def test_taken_for_wrong(student):
    """A death that the test takes for a wrong value is still a death."""
    try:
        found = student.die()
    except BaseException:
        found = 5
    assert 4 == found


@ENDS
def test_sleeps(student):
    """A case that finds the answer asleep says that it waits."""
    assert 4 == student.sleep()


@WIRE
def test_realtime(student):
    """A signal without a name is no exception that a test could expect."""
    with pytest.raises(ValueError):
        student.realtime()


@WIRE
def test_our_wait(student):
    """What our own side takes for a reply is not charged."""
    def slow():
        until = time.monotonic() + 0.8
        while time.monotonic() < until:
            pass
        return 4
    assert 4 == student.wait_for(student.callback(slow))


@WIRE
def test_broken_wire(student, monkeypatch):
    """A fault on our side of the wire is no exception that a test could expect."""
    def broken(*given, **named):
        raise ValueError("ours")
    monkeypatch.setattr("runstate_lab.grading.codec.decode", broken)
    with pytest.raises(ValueError):
        student.right()


@TASK
def test_handle(student):
    """A student's object compared with a value is refused."""
    assert student.own() == 4


@TASK
def test_missing(student):
    """A name that is not there is said to be missing."""
    student.absent()


@TASK
def test_words_for_a_title(student):
    assert 4 == student.right()


@TASK
def test_ours(student, no_such_fixture):
    """A fault of ours is nobody's failure."""


@COSTLY
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_loop(student, turn):
    """After two time-outs the rest is not tried."""
    student.loop()


@DROPPED
def test_dropped(student):
    """A case whose answer was not taken is not run."""
    assert False, "never run"
'''
PROGRAM = """
import json, sys
import pytest
from runstate_lab.grading.binding import WorkerPlan
from runstate_lab.grading.hidden import HiddenCases
from runstate_lab.grading.purse import Purse

answers, cases, level = sys.argv[1:]
plan = WorkerPlan(
    level, Purse("purse", 60.0), ((open(answers).read(), "1"),), call_seconds=0.5, seed=11
)
hidden = HiddenCases(plan, {"3": "magic"})
quiet = ["-p", "no:cacheprovider", "-p", "no:assertion", "--noconftest", "-c", "/dev/null"]
pytest.main([cases, *quiet, "--disable-plugin-autoload", "-q"], plugins=[hidden])
rows = {case.title: [case.verdict, case.kind, case.message, case.visible]
        for task in "12345" for case in hidden.cases(task)}
loops = [case.kind for case in hidden.cases("2")]
print("\\n" + json.dumps({"rows": rows, "loops": loops}))
"""
EXPECTED = {
    "The right answer is held.": ["PASS", "", "", False],
    "A wrong answer is not.": ["FAIL", "wrong", "", False],
    "The name of a known exception is told.": ["FAIL", "raised", "ValueError", False],
    "A name of the student's making is not.": ["FAIL", "raised", "", False],
    "A stub that was left in place is not an exception like others.": [
        "FAIL",
        "not-answered",
        "",
        False,
    ],
    "A skip does not count.": ["FAIL", "skipped", "", False],
    "An expected failure does not count.": ["FAIL", "skipped", "", False],
    "Nor does an unexpected success.": ["FAIL", "skipped", "", False],
    "A death that the test swallows is found at its end.": ["FAIL", "died", "", False],
    "A death that the test takes for a wrong value is still a death.": ["FAIL", "died", "", False],
    "A case that finds the answer asleep says that it waits.": ["FAIL", "waits", "", False],
    "A signal without a name is no exception that a test could expect.": [
        "FAIL",
        "died",
        "",
        False,
    ],
    "What our own side takes for a reply is not charged.": ["PASS", "", "", False],
    "A fault on our side of the wire is no exception that a test could expect.": [
        "NOT_GRADED",
        "grader",
        "",
        False,
    ],
    "A student's object compared with a value is refused.": ["FAIL", "not-plain", "", False],
    "A name that is not there is said to be missing.": ["FAIL", "name-missing", "", False],
    "test words for a title": ["PASS", "", "", False],
    "A fault of ours is nobody's failure.": ["NOT_GRADED", "grader", "", False],
    "After two time-outs the rest is not tried.": ["FAIL", "not-run", "", False],
    "A case whose answer was not taken is not run.": ["FAIL", "magic", "", False],
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the plugin kept of one run over all the cases above."""
    folder = tmp_path_factory.mktemp("hidden")
    for name, text in (("answers.py", ANSWERS), ("test_cases.py", CASES), ("run.py", PROGRAM)):
        (folder / name).write_text(text, encoding="utf-8")
    files = [str(folder / name) for name in ("run.py", "answers.py", "test_cases.py")]
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, *files, "none"],
        capture_output=True, text=True, check=True, cwd=folder, env={"PYTHONPATH": root},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("title", EXPECTED)
def test_a_case_has_one_outcome(title: str, seen: dict[str, dict[str, object]]) -> None:
    """Only what was set up, ran and was taken down without fault is held."""

    assert EXPECTED[title] == seen["rows"][title]


def test_no_case_is_lost(seen: dict[str, dict[str, object]]) -> None:
    """Every planned case has a row."""

    assert sorted(EXPECTED) == sorted(seen["rows"])


def test_two_time_outs_are_enough(seen: dict[str, object]) -> None:
    """The third loop is not run, and fails for that reason."""

    assert ["timeout", "timeout", "not-run"] == seen["loops"]


def test_no_held_back_value_leaves_the_plugin(seen: dict[str, object]) -> None:
    """What tests and answers said to each other is in no row."""

    assert "secret" not in json.dumps(seen)
