"""Grading. One submission in a process of its own, ended by the clock if need be.

The process leaves a record in a scratch folder that is ours; what it does not
leave is made up here as NOT_GRADED, so that every submission has a record.
Files are moved into place in one step: a reader never sees half of one.

What is not here: what the process does (see `session`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import digest
from runstate_lab.grading import ours
from runstate_lab.grading.exercise import GradedExercise, load_exercise, reference_cells
from runstate_lab.grading.scratch import scratch
from runstate_lab.grading.session import RESULT, Job
from runstate_lab.grading.verdict import OURS, Record, from_json, sentence

# What may be the fault of a busy machine: tried once more, alone.
PERHAPS_BUSY = ("starved", "grader", "grader-time", "kernel", "no-result")
LOG_BYTES = 64 * 1024


def run_job(job: Job, exercise: GradedExercise, seconds: float) -> tuple[Record, str]:
    """The record of one submission, and the log where our side has failed."""
    with scratch() as folder:
        (folder / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
        code = _run(folder, seconds)
        record = read_record(folder / RESULT)
        if record is None:
            record = _no_record(job, exercise, code)
        if record.reason_code not in OURS:
            return record, ""
        return record, (folder / "log").read_bytes()[-LOG_BYTES:].decode("utf-8", "replace")


def grade_answers(
    root: Path,
    exercise: str,
    answers: Mapping[str, str],
    *,
    level: str = "none",
    seed: int = 0,
    seconds: float = 300.0,
) -> Record:
    """The record of our own solution with these answers put into it, by task.

    For authors: how a named wrong answer fares. Level `none` is meant for
    answers of one's own.
    """
    graded = load_exercise(root, exercise)
    with scratch() as folder:
        path = folder / "answers.ipynb"
        made = answered_notebook(graded, answers)
        path.write_text(json.dumps(made), encoding="utf-8")
        job = Job(str(root), graded.name, "answers", str(path), level, level, seed)
        return run_job(job, graded, seconds)[0]


def grade_own(root: Path, exercise: str, path: Path, *, seconds: float = 300.0) -> Record:
    """The record of a learner's own notebook, held-back checks included.

    Behind walls where this machine has them. `root` holds the solutions.
    """
    graded = load_exercise(root, exercise)
    job = Job(str(root), graded.name, "yourself", str(path), "confined", "confined", 0)
    record, _ = run_job(job, graded, seconds)
    if record.reason_code == "grader":
        record, _ = run_job(replace(job, level="none", isolation="none"), graded, seconds)
    return record


def answered_notebook(exercise: GradedExercise, answers: Mapping[str, str]) -> dict[str, object]:
    """Our solved notebook as a student would hand it in, with these answers."""
    notebook = json.loads(exercise.notebook.read_text(encoding="utf-8"))
    for row, cell in zip(reference_cells(notebook), notebook["cells"], strict=True):
        if row.role == "answer" and row.task in answers:
            cell["source"] = answers[row.task]
    return notebook


def read_record(path: Path) -> Record | None:
    """The record in a file; None where there is none, or none that can be read.

    >>> read_record(Path("/no/such/record.json")) is None
    True
    """
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_file(path: Path, text: str) -> None:
    """Nothing; the file is there, whole, or is what it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _run(folder: Path, seconds: float) -> str:
    command = ours.command("runstate_lab.grading.session", str(folder / "job.json"))
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=ours.environment(folder),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return "grader-time"
        finally:
            _end(child)
            child.stdin.close()  # type: ignore[union-attr]
    return "grader"


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        # The whole group, as long as its number is certainly ours.
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):
            child.kill()
        child.wait()


def _no_record(job: Job, exercise: GradedExercise, code: str) -> Record:
    try:
        submission = digest(read_bytes(Path(job.path)))
    except Unreadable:
        submission = ""
    return replace(
        job.blank(),
        exercise_version=exercise.version,
        submission=submission,
        max_points=exercise.points,
        reason_code=code,
        reason=sentence(code),
    )
