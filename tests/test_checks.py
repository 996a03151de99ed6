"""Visible checks: expected words first, the traceback last, never "all passed"."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runstate_lab.course.catalogue import Catalogue
from runstate_lab.grading.checks import Report, _misprint, check, check_notebook
from runstate_lab.course.faults import AskedWrongly, CourseFault
from runstate_lab.course.wrong import own_class

GREETING = "# answer: 01.1\ndef greeting(name):\n    "


def checked(course: Catalogue, *, seconds: float = 3.0, **answers: str) -> Report:
    """The report on the student's notebook with these answers, the rest solved."""
    exercise = course.exercise("01")
    own = own_class(course, exercise)
    notebook = json.loads(json.dumps(own.solved))
    for cell in notebook["cells"]:
        task = cell["metadata"]["runstate"].get("id", "").replace("01.", "task_")
        cell["source"] = answers.get(task, cell["source"])
    path = course.root / exercise.notebook
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return check_notebook(exercise, path, call_seconds=seconds)


def test_the_stub_is_told_as_not_written_yet(tiny: Catalogue) -> None:
    """No traceback for what nobody has begun."""
    report = check("01", folder=tiny.root)

    assert not report.held
    assert "the name is in the greeting: not written yet (exercise 01.1: greet by name)" in str(
        report
    )
    assert "Traceback" not in str(report)


def test_the_solution_holds_and_the_held_back_checks_are_counted(tiny: Catalogue) -> None:
    """The closing line says what was not run."""
    report = checked(tiny)

    assert report.held
    assert (
        "visible checks held; this is not the whole answer: 1 held-back check not run here"
        == str(report).splitlines()[-1]
    )


def test_the_assertions_words_come_first_and_the_traceback_last(tiny: Catalogue) -> None:
    """What was expected is read before where it failed."""
    lines = str(checked(tiny, task_1=GREETING + "return 'Hello, you'")).splitlines()

    assert "01.1  not held  greet by name" == lines[0]
    assert (
        "      the name is in the greeting: expected Ada to be greeted, got 'Hello, you'"
        == lines[1]
    )
    assert lines.index("Traceback (most recent call last):") > lines.index(
        "01.2  held      refuse an empty name"
    )
    assert "2 of 3 visible checks did not hold, 1 held-back check not run here" == lines[-1]


def test_a_check_that_prints_is_compared_with_what_it_should_print(tiny: Catalogue) -> None:
    """Expected and found line stand side by side."""
    report = checked(tiny, task_1=GREETING + "return 'Hello, Ada: release 7'")

    assert (
        'expected "Hello, Bob: release 7", got "Hello, Ada: release 7"' == report.first_fault.words
    )  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return (", "the answer does not parse: line 3"),
        ("%time\n    return name", "the answer uses a notebook command"),
        ("return nmae", "the answer raised an exception: NameError: name 'nmae' is not defined"),
        ("import os; os._exit(0)", "the answer ended its process"),
        ("raise SystemExit(3)", "the answer raised an exception: SystemExit: 3"),
        ("import signal; signal.raise_signal(40)", "the answer ended its process"),
        ("import numpy", "the answer imports what is not there when it is graded"),
        ("return object()", "the answer gave an object where plain values are asked for"),
        ("import time; time.sleep(9)", "the answer waits and never answers"),
        ("return input()", "the answer raised an exception: EOFError"),
        ("return 'x' * 10**8", "the answer gave back too much"),
    ],
    ids=[
        *("syntax", "magic", "name", "exit", "SystemExit", "signal", "import"),
        *("object", "sleep", "input", "much"),
    ],
)
def test_every_way_of_failing_is_told(body: str, words: str, tiny: Catalogue) -> None:
    """The first fault names what the answer did."""
    report = checked(tiny, task_1=GREETING + body)

    assert words in report.first_fault.words  # type: ignore[union-attr]


def test_an_endless_loop_ends_and_the_cells_after_it_are_not_blamed(tiny: Catalogue) -> None:
    """After the limit the answer is named; the next task is asked of a fresh worker."""
    report = checked(tiny, seconds=0.5, task_1=GREETING + "\n    while True: pass")

    assert "the answer took too long" in report.outcomes[0].words
    assert report.outcomes[2].held


def test_printing_does_not_disturb_the_result(tiny: Catalogue) -> None:
    """What an answer cell prints, even in the worker's own words, goes nowhere."""
    noise = 'print(\'{"cell": 3, "state": "ended"}\')\n'

    assert checked(
        tiny, task_2=f"# answer: 01.2\n{noise}def checked(name): raise ValueError\n"
    ).held


def test_one_answer_that_does_not_load_leaves_the_other_alone(tiny: Catalogue) -> None:
    """Only the checks of that task are blamed on it."""
    report = checked(tiny, task_2="# answer: 01.2\nimport nowhere")

    assert (True, False) == (report.task_held("01.1"), report.task_held("01.2"))
    assert "No module named 'nowhere'" in report.of("01.2")[0].words


def test_deleted_checks_do_not_count_as_held(tiny: Catalogue) -> None:
    """A notebook without the checks of a task does not hold."""
    path = tiny.root / tiny.exercise("01").notebook
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] = [
        cell for cell in notebook["cells"] if cell["metadata"]["runstate"].get("role") != "check"
    ]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    report = check("01", folder=tiny.root)

    assert not report.held
    assert "no visible check is left for 01.1, 01.2" in report.closing


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nbformat": 4}'])
def test_a_file_that_is_no_notebook_is_refused(text: str, tiny: Catalogue) -> None:
    """The hint leads to a fresh copy."""
    (tiny.root / tiny.exercise("01").notebook).write_text(text, encoding="utf-8")
    with pytest.raises(CourseFault, match="hint: .*runstate-lab reset 01"):
        check("01", folder=tiny.root)


def test_a_missing_notebook_is_asked_wrongly(tiny: Catalogue, tmp_path: Path) -> None:
    """The refusal names the path."""
    (tiny.root / tiny.exercise("01").notebook).unlink()
    with pytest.raises(AskedWrongly, match="01_greeting.ipynb"):
        check("01", folder=tiny.root)


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": 5, "nbformat": 4}',
        '{"nbformat": 4, "cells": [3]}',
        '{"nbformat": 4, "cells": [{"source": 3}]}',
        "\xff",
    ],
)
def test_what_only_looks_like_a_notebook_is_refused(text: str, tiny: Catalogue) -> None:
    """Nothing of the file's structure is believed."""
    (tiny.root / tiny.exercise("01").notebook).write_bytes(text.encode("latin-1"))
    with pytest.raises(CourseFault, match="hint: .*runstate-lab reset 01"):
        check("01", folder=tiny.root)


def test_a_folder_in_the_notebooks_place_is_called_so(tiny: Catalogue) -> None:
    """The sentence says what stands there."""
    path = tiny.root / tiny.exercise("01").notebook
    path.unlink()
    path.mkdir()
    with pytest.raises(CourseFault, match="a folder"):
        check("01", folder=tiny.root)


@pytest.mark.parametrize(
    ("left_over", "words"),
    [
        ("assert greeting('Ada') == 'Hi'", "AssertionError"),
        ("raise RuntimeError('not done yet')", "RuntimeError: not done yet"),
        ("greeting()", "TypeError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit()", "SystemExit"),
    ],
)
def test_a_cell_that_did_not_run_to_its_end_is_not_held(
    left_over: str, words: str, tiny: Catalogue
) -> None:
    """A right answer with something left over below it fails as a grade would say."""
    right = "# answer: 01.1\ndef greeting(name):\n    return f'Hello, {name}: release 7'\n"
    report = checked(tiny, task_1=right + left_over)

    assert not report.task_held("01.1")
    assert report.task_held("01.2")
    assert "the answer raised an exception" in report.outcomes[0].words
    assert words in report.outcomes[0].words


def test_a_name_of_pythons_own_that_got_another_meaning_is_named(tiny: Catalogue) -> None:
    """The checks do not stumble over it, and a note says which name it is."""
    report = checked(tiny, task_2="# answer: 01.2\nprint = len\ndef checked(name): raise ValueError")

    assert report.held
    assert "note: the cell gives `print` another meaning, for all cells" in str(report)


def test_a_check_that_says_what_it_expected_says_it_once() -> None:
    """Only the line that was printed is shown."""
    assert 'got "done  <-- expected open"' == _misprint("open", "done  <-- expected open")
    assert 'expected "open", got "done"' == _misprint("open", "done")
    assert 'expected "open", got no further line' == _misprint("open", "")
