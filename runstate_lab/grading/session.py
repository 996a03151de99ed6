"""Grading. One submission from file to record, in a process of its own.

Runs as `python -m runstate_lab.grading.session JOB`, started by `runner` once
per submission, so that whatever goes wrong here costs one submission. Student
code never runs here either: it is reached over the wire only.

What is not here: the class (see `runner`).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from runstate_lab.course.catalogue import Task
from runstate_lab.course.faults import CourseFault
from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import digest, parse
from runstate_lab.grading.answers import Prepared, prepare
from runstate_lab.grading.binding import BUDGET_SECONDS, WorkerPlan
from runstate_lab.grading.bridge import VisibleChecks, write_notebook
from runstate_lab.grading.exercise import GradedExercise, load_exercise
from runstate_lab.grading.faults import OurFault, StudentStarved
from runstate_lab.grading.hidden import HiddenCases
from runstate_lab.grading.ours import end_with_parent
from runstate_lab.grading.proxy import WorkerUnavailable
from runstate_lab.grading.purse import Purse
from runstate_lab.grading.verdict import (
    Record,
    TaskGrade,
    Verdict,
    grade_task,
    sentence,
    to_json,
    total,
)

# Our own cells in our own kernel: what is slow in them is the machine.
CELL_SECONDS = 900
RESULT = "record.json"


@dataclass(frozen=True)
class Job:
    """What the runner asks for; paths are absolute."""

    root: str
    exercise: str
    student: str
    path: str
    level: str
    isolation: str
    seed: int
    budget_seconds: float = BUDGET_SECONDS

    def blank(self) -> Record:
        """The record of this job before anything is known."""
        return Record(
            student=self.student,
            exercise=self.exercise,
            exercise_version="",
            submission="",
            seed=self.seed,
            level=self.level,
            isolation=self.isolation,
            verdict=Verdict.NOT_GRADED,
            points=None,
            max_points=0,
        )


def grade_one(job: Job, folder: Path) -> Record:
    """The record of one submission; `folder` is a scratch folder of ours."""
    empty = job.blank()
    try:
        exercise = load_exercise(Path(job.root), job.exercise)
        empty = replace(empty, exercise_version=exercise.version, max_points=exercise.points)
        content = read_bytes(Path(job.path))
        empty = replace(empty, submission=digest(content))
        purse = Purse(str(folder / "purse"), job.budget_seconds)
        prepared = prepare(exercise, parse(content), WorkerPlan(job.level, purse, seed=job.seed))
        empty = replace(empty, likeness=prepared.likeness)
        tasks = _grade_tasks(exercise, prepared, folder)
    except Unreadable as refusal:
        reason = sentence(refusal.code, detail=refusal.detail)
        return replace(empty, reason_code=refusal.code, reason=reason)
    except CourseFault as fault:
        reason = sentence("reference", detail=str(fault).splitlines()[0])
        return replace(empty, reason_code="reference", reason=reason)
    except StudentStarved as starved:
        return replace(empty, reason_code=starved.code, reason=sentence(starved.code))
    except (WorkerUnavailable, OurFault) as fault:
        reason = sentence("grader", detail=str(fault).splitlines()[0])
        return replace(empty, reason_code="grader", reason=reason)
    verdict, points, code, reason = total(tasks)
    return replace(
        empty, verdict=verdict, points=points, reason_code=code, reason=reason, tasks=tasks
    )


def _grade_tasks(
    exercise: GradedExercise, prepared: Prepared, folder: Path
) -> tuple[TaskGrade, ...]:
    visible = VisibleChecks(exercise)
    dropped = {task: flaw.code for task, flaw in prepared.flaws.items()}
    hidden = HiddenCases(prepared.plan, dropped)
    _run_pytest(exercise, prepared.plan, visible, hidden, folder)
    _refuse_strays(exercise, visible, hidden)
    return tuple(_grade(task, prepared, visible, hidden) for task in exercise.tasks)


def _run_pytest(
    exercise: GradedExercise,
    plan: WorkerPlan,
    visible: VisibleChecks,
    hidden: HiddenCases,
    folder: Path,
) -> None:
    plan.write(folder)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    targets = [str(exercise.hidden)] if exercise.hidden else []
    if plan.names:
        targets.insert(0, str(write_notebook(exercise, frozenset(plan.names), folder)))
    arguments = [
        *targets,
        "--nbval",
        "--nbval-current-env",
        f"--nbval-cell-timeout={CELL_SECONDS}",
        *([f"--nbval-sanitize-with={exercise.sanitize}"] if exercise.sanitize else []),
        "-p", "nbval.plugin",
        "-p", "no:cacheprovider",
        # Not only --assert=plain: nbval asks this plugin to compare long outputs.
        "-p", "no:assertion",
        "--noconftest",
        "--import-mode=importlib",
        "--color=no",
        "-q",
        "-c", str(folder / "pytest.ini"),
        f"--rootdir={folder}",
    ]  # fmt: skip
    if targets:
        pytest.main(arguments, plugins=[visible, hidden])


def _refuse_strays(exercise: GradedExercise, visible: VisibleChecks, hidden: HiddenCases) -> None:
    known = {task.id for task in exercise.tasks}
    for planned in (*visible.planned, *hidden.planned):
        if planned.task not in known:
            raise CourseFault(f"the check {planned.title!r} belongs to no task")
    if exercise.hidden is not None and not hidden.planned:
        raise CourseFault(f"no case of {exercise.hidden.name} could be collected")


def _grade(
    task: Task, prepared: Prepared, visible: VisibleChecks, hidden: HiddenCases
) -> TaskGrade:
    flaw = prepared.flaw(task.id)
    cases = (*visible.cases(task.id, not_run=flaw.code), *hidden.cases(task.id))
    return grade_task(
        task.id,
        task.title,
        task.points,
        cases,
        flaw=flaw.code,
        detail=flaw.detail,
        notes=prepared.notes.get(task.id, ()),
    )


def main(job_path: str) -> None:
    """Grades the job and writes its record; started by the runner only."""
    end_with_parent()
    # An optional URI grammar that jsonschema would spend a second on, per notebook.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    path = Path(job_path)
    folder = path.parent / "work"
    folder.mkdir()
    record = grade_one(Job(**json.loads(path.read_text(encoding="utf-8"))), folder)
    path.with_name(RESULT).write_text(json.dumps(to_json(record)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
