"""The visible checks of an exercise, run at once on a learner's own notebook.

The given, answer and check cells run in a fresh process with a time limit. A
check that does not hold says first what it expected, in the learner's words;
the traceback comes last. A held-back check is never run here, only counted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from runstate_lab.course import catalogue as catalogues
from runstate_lab.course.catalogue import Exercise
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.saved import marks_of, read_notebook, source_of

SECONDS = 20
RUN = ("given", "answer", "check")
KEPT = ("role", "task", "check", "expected")
WORKER = Path(__file__).with_name("cellworker.py")


@dataclass(frozen=True)
class Outcome:
    """One check of one task: held, or why not."""

    task: str
    check: str
    held: bool
    words: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Report:
    """What became of every visible check of an exercise."""

    exercise: Exercise
    outcomes: tuple[Outcome, ...]
    held_back: int

    @property
    def held(self) -> bool:
        """Whether every task has a check and every check held."""
        return all(self.task_held(task.id) for task in self.exercise.tasks)

    def of(self, task: str) -> tuple[Outcome, ...]:
        """The outcomes of one task, in the notebook's order."""
        return tuple(outcome for outcome in self.outcomes if outcome.task == task)

    def task_held(self, task: str) -> bool:
        """Whether the task has checks and all of them held."""
        return bool(self.of(task)) and all(outcome.held for outcome in self.of(task))

    @property
    def first_fault(self) -> Outcome | None:
        """The first check that did not hold."""
        return next((outcome for outcome in self.outcomes if not outcome.held), None)

    @property
    def closing(self) -> str:
        """The last line: never "all passed", for there are held-back checks."""
        failed = sum(not outcome.held for outcome in self.outcomes)
        seen = (
            "visible checks held"
            if self.held
            else f"{failed} of {len(self.outcomes)} visible checks did not hold"
        )
        missing = [task.id for task in self.exercise.tasks if not self.of(task.id)]
        if missing:
            seen = f"no visible check is left for {', '.join(missing)}"
        plural = "" if self.held_back == 1 else "s"
        return f"{seen}, {self.held_back} held-back check{plural} not run here"

    def __str__(self) -> str:
        """Task by task in words, then the tracebacks, then the closing line."""
        lines = []
        for task in self.exercise.tasks:
            mark = "held    " if self.task_held(task.id) else "not held"
            lines.append(f"{task.id}  {mark}  {task.title}")
            lines += [
                f"      {outcome.check}: {outcome.words}"
                for outcome in self.of(task.id)
                if not outcome.held
            ]
        for trail in self._trails():
            lines += ["", *trail.rstrip().splitlines()]
        return "\n".join([*lines, "", self.closing])

    __repr__ = __str__

    def _trails(self) -> tuple[str, ...]:
        """One traceback a task: the rest is mostly the same once more."""
        firsts = (
            next((outcome.traceback for outcome in self.of(task.id) if outcome.traceback), "")
            for task in self.exercise.tasks
        )
        return tuple(dict.fromkeys(filter(None, firsts)))


def check(asked: str, *, folder: Path | None = None) -> Report:
    """What the visible checks say about an exercise as it is saved on disk.

    Works in a notebook too: save the exercise, then `check("04")`.
    """
    root = folder or catalogues.find_root()
    exercise = catalogues.load(root).exercise(asked)
    return check_notebook(exercise, root / exercise.notebook)


def check_notebook(exercise: Exercise, path: Path, *, seconds: float = SECONDS) -> Report:
    """The report for one notebook file."""
    try:
        notebook = read_notebook(path, exercise)
    except FileNotFoundError:
        raise AskedWrongly(
            f"there is no {path}",
            hint=f"runstate-lab reset {exercise.number} puts a fresh one there",
        ) from None
    return check_cells(exercise, notebook["cells"], held_back=_held_back(notebook), seconds=seconds)


def check_cells(
    exercise: Exercise,
    cells: list[Mapping[str, Any]],
    *,
    held_back: int = 0,
    seconds: float = SECONDS,
) -> Report:
    """The report for the cells of a notebook, run in a process of their own."""
    planned = [
        {**{key: str(marks[key]) for key in KEPT if key in marks}, "source": source}
        for marks, source in ((marks_of(cell), source_of(cell)) for cell in cells)
        if marks.get("role") in RUN
    ]
    for number, cell in enumerate(planned, start=1):
        cell = {"task": "", "check": "", **cell}
        what = " ".join(filter(None, (cell["role"], cell["task"], cell["check"])))
        planned[number - 1] = {**cell, "name": f"<cell {number}: {what}>"}
    faults = _run(planned, seconds)
    outcomes = tuple(
        _outcome(cell, faults, planned, number)
        for number, cell in enumerate(planned)
        if cell["role"] == "check"
    )
    return Report(exercise, outcomes, held_back)


def _run(cells: list[dict[str, str]], seconds: float) -> dict[int, dict[str, str]]:
    """The fault of each cell that had one, by its number."""
    with tempfile.TemporaryDirectory(prefix="runstate-check-") as scratch:
        asked, results = Path(scratch, "cells.json"), Path(scratch, "results.jsonl")
        asked.write_text(json.dumps(cells), encoding="utf-8")
        results.touch()
        process = subprocess.Popen(
            [sys.executable, str(WORKER), str(asked), str(results)],
            cwd=scratch,
            env={**os.environ, "RUNSTATE_PROGRESS": "off", "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        notes = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    ended = {note["cell"]: note for note in notes if note["state"] == "ended"}
    faults = {
        number: fault for number, note in ended.items() if (fault := _fault(cells[number], note))
    }
    why = f"it was not done after {seconds:g} seconds" if code is None else "it ended Python itself"
    for number in range(len(cells)):
        if number not in ended:
            faults[number] = {"type": "", "message": why, "traceback": ""}
            why = "an earlier cell never came to its end"
    return faults


def _fault(cell: Mapping[str, str], note: dict[str, str]) -> dict[str, str] | None:
    """None where the cell ran through and printed what was expected."""
    if "type" in note:
        return note
    if "expected" not in cell:
        return None
    pairs = zip_longest(cell["expected"].splitlines(), note["printed"].splitlines())
    for expected, printed in pairs:
        if expected != printed:
            words = f"expected {_line(expected)}, got {_line(printed)}"
            return {"type": "", "message": words, "traceback": ""}
    return None


def _line(line: str | None) -> str:
    return "no further line" if line is None else f'"{line}"'


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of the learner's process lives on, nor what it started."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    else:
        process.kill()
    process.wait()


def _outcome(
    cell: Mapping[str, str],
    faults: Mapping[int, Mapping[str, str]],
    cells: list[dict[str, str]],
    number: int,
) -> Outcome:
    fault = faults.get(number)
    if fault is None:
        return Outcome(cell["task"], cell["check"], held=True)
    cause = next(
        (
            faults[earlier]
            for earlier in range(number)
            if earlier in faults
            and (cells[earlier]["role"] == "given" or cells[earlier]["task"] == cell["task"])
            and cells[earlier]["role"] != "check"
        ),
        fault,
    )
    return Outcome(
        cell["task"],
        cell["check"],
        held=False,
        words=_words(cause),
        traceback="" if cause["type"] == "NotImplementedError" else cause["traceback"],
    )


def _words(fault: Mapping[str, str]) -> str:
    kind, message = fault["type"], fault["message"]
    if kind == "NotImplementedError":
        return f"not written yet ({message})"
    if kind == "AssertionError":
        return message or "the assertion in the check does not hold"
    if kind == "SyntaxError":
        return f"the answer is not plain Python: {message} (magics like %time do not count)"
    return f"{kind}: {message}" if kind else message


def _held_back(notebook: Mapping[str, Any]) -> int:
    try:
        number = notebook["metadata"]["runstate"]["held_back"]
    except (KeyError, TypeError, IndexError):
        return 0
    return number if isinstance(number, int) else 0
