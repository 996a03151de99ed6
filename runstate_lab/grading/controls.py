"""Grading. Two small answers whose verdicts are known, graded before any student's.

They take the whole way: file, worker, walls, our notebook, our tests, record.
Where the right one does not pass, or a single check lets the wrong one through,
this machine cannot tell right from wrong, and no grade would mean anything.

What is not here: grading them (see `runner`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.faults import CourseFault
from runstate_lab.grading.exercise import GradedExercise, load_exercise
from runstate_lab.grading.verdict import Record, Verdict

NAME = "00_control"
MARKER = "# answer: 00.1\n"
RIGHT = MARKER + "def twice(number):\n    return 2 * number"
WRONG = MARKER + "def twice(number):\n    return number + 1"
CATALOGUE = f"""
[course]
title = "controls"
[[lessons]]
number = "00"
name = "{NAME}"
title = "controls"
minutes = 1
breaks = []
[[exercises]]
number = "00"
name = "{NAME}"
title = "controls"
lesson = "00"
[[exercises.tasks]]
id = "00.1"
title = "twice"
points = 1
answers = ["twice"]
hints = ["two", "times", "it"]
"""
PRINTS = ("# check: 00.1 prints\nprint(twice(21))", "42\n")
ASSERTS = ("# check: 00.1 asserts\nassert twice(4) == 8, 'not 8'", "")
HIDDEN = '''
import pytest

@pytest.mark.task("00.1")
def test_asserts(student):
    """A held-back assertion."""
    assert student.twice(5) == 10

@pytest.mark.task("00.1")
def test_raises(student):
    """A held-back expectation of an exception."""
    with pytest.raises(TypeError):
        student.twice(None)
    assert student.twice("ab") == "abab"
'''


@dataclass(frozen=True)
class Controls:
    """The two submissions, and the exercise that they answer."""

    root: Path
    exercise: GradedExercise
    right: Path
    wrong: Path


def write_controls(root: Path) -> Controls:
    """The controls as files in a folder of ours: a course, a right and a wrong answer."""
    (root / "catalogue.toml").write_text(CATALOGUE, encoding="utf-8")
    solved = root / "solutions" / NAME / f"{NAME}.ipynb"
    solved.parent.mkdir(parents=True)
    (solved.parent / "test_hidden.py").write_text(HIDDEN, encoding="utf-8")
    paths = {RIGHT: solved, WRONG: root / "wrong.ipynb"}
    for answer, path in paths.items():
        path.write_text(json.dumps(_notebook(answer)), encoding="utf-8")
    return Controls(root, load_exercise(root, NAME), solved, paths[WRONG])


def refuse_undecided(right: Record, wrong: Record) -> None:
    """Nothing where the two came out as they must; else the fault that stops the batch.

    Every single case of the wrong one has to fail, or an instrument is broken.
    """
    cases = [case for task in wrong.tasks for case in task.cases]
    let_through = [case.title for case in cases if case.verdict is not Verdict.FAIL]
    if right.verdict is Verdict.PASS and len(cases) == 4 and not let_through:
        return
    found = f"right: {right.verdict} {right.reason}; wrong: {wrong.verdict} {wrong.reason}"
    if let_through:
        found += f"; the wrong one gets through {', '.join(let_through)}"
    raise CourseFault(
        f"this machine cannot tell a right answer from a wrong one: {found}",
        hint="run `runstate-lab doctor`; nothing was graded",
    )


def _notebook(answer: str) -> Mapping[str, object]:
    cells = [_cell("answer", answer, None)]
    cells += [_cell("check", source, printed) for source, printed in (PRINTS, ASSERTS)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def _cell(role: str, source: str, printed: str | None) -> Mapping[str, object]:
    marks = {"role": role, "task": "00.1"}
    stream = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "id": f"{role}-{len(source)}",
        "execution_count": 1,
        "metadata": {"runstate": marks},
        "outputs": [stream] if printed else [],
        "source": source,
    }
