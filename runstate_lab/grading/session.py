"""Grading. One submission from file to record, in a process of its own.

Runs as `python -m runstate_lab.grading.session JOB`, started by `runner` once
per submission, so that whatever goes wrong here costs one submission. Student
code never runs here either: it is reached over the wire only.

What is not here: the class (see `runner`).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from runstate_lab.course.faults import CourseFault
from runstate_lab.grading.binding import WorkerPlan
from runstate_lab.grading.bridge import VisibleChecks, worker_cells, write_notebook
from runstate_lab.grading.exercise import GradedExercise, load_exercise
from runstate_lab.grading.hidden import HiddenCases
from runstate_lab.grading.loading import LoadFlaw, load_flaws
from runstate_lab.grading.proxy import WorkerUnavailable
from runstate_lab.grading.sift import Sifted, sift
from runstate_lab.grading.submission import (
    Answer,
    Unreadable,
    digest,
    likeness,
    other_exercise,
    parse,
    read_bytes,
    take,
)
from runstate_lab.grading.verdict import (
    Record,
    TaskGrade,
    Verdict,
    grade_task,
    sentence,
    to_json,
    total,
)

CELL_SECONDS = 30
RESULT = "record.json"
QUIET = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "RUNSTATE_PROGRESS": "off",
    "JUPYTER_PLATFORM_DIRS": "1",
}
NOISY = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "RUNSTATE_NO_SKIP")


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
    call_seconds: float = 3.0
    worker_seconds: float = 20.0

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


@dataclass(frozen=True)
class Flaw:
    """Why a task fails without its checks being run."""

    code: str
    detail: str = ""


def grade_one(job: Job, folder: Path) -> Record:
    """The record of one submission; `folder` is a scratch folder of ours."""
    empty = job.blank()
    try:
        exercise = load_exercise(Path(job.root), job.exercise)
        empty = replace(empty, exercise_version=exercise.version, max_points=exercise.points)
        content = read_bytes(Path(job.path))
        empty = replace(empty, submission=digest(content))
        cells = parse(content)
        other = other_exercise(cells, exercise.wanted)
        if other:
            raise Unreadable("other-exercise", detail=f"its answers are those of exercise {other}")
        answers = {wanted.answer: take(cells, wanted) for wanted in exercise.wanted}
        empty = replace(empty, likeness=likeness(answers))
        tasks = _grade_tasks(exercise, answers, job, folder)
    except Unreadable as refusal:
        reason = sentence(refusal.code, detail=refusal.detail)
        return replace(empty, reason_code=refusal.code, reason=reason)
    except CourseFault as fault:
        reason = sentence("reference", detail=str(fault).splitlines()[0])
        return replace(empty, reason_code="reference", reason=reason)
    except WorkerUnavailable as fault:
        reason = sentence("grader", detail=str(fault).splitlines()[0])
        return replace(empty, reason_code="grader", reason=reason)
    verdict, points, code, reason = total(tasks)
    return replace(
        empty, verdict=verdict, points=points, reason_code=code, reason=reason, tasks=tasks
    )


def _grade_tasks(
    exercise: GradedExercise, answers: Mapping[str, Answer], job: Job, folder: Path
) -> tuple[TaskGrade, ...]:
    sifted = sift({key: row.parts for key, row in answers.items() if not row.flaw})
    sources = {key: row.source for key, row in sifted.items() if not row.flaw}
    plan = WorkerPlan((), {}, job.level, job.call_seconds, job.worker_seconds, job.seed)
    loads = load_flaws(exercise, sources, lambda cells: replace(plan, cells=cells).start())
    usable = {key: source for key, source in sources.items() if key not in loads}
    names = {key: exercise.names(key) for key in usable}
    plan = replace(plan, cells=worker_cells(exercise, usable), names=names)
    flaws = _task_flaws(answers, sifted, loads)
    visible = VisibleChecks(exercise)
    hidden = HiddenCases(plan, {task: flaw.code for task, flaw in flaws.items()})
    _run_pytest(exercise, plan, visible, hidden, folder)
    _refuse_strays(exercise, visible, hidden)
    return tuple(
        _grade(exercise, number, answers, sifted, flaws, visible, hidden)
        for number in range(len(exercise.tasks))
    )


def _task_flaws(
    answers: Mapping[str, Answer],
    sifted: Mapping[str, Sifted],
    loads: Mapping[str, LoadFlaw],
) -> dict[str, Flaw]:
    flaws = {key: Flaw(row.flaw) for key, row in answers.items() if row.flaw}
    flaws |= {key: Flaw(row.flaw, row.detail) for key, row in sifted.items() if row.flaw}
    flaws |= {key: Flaw(row.kind, row.detail) for key, row in loads.items()}
    return flaws


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
    exercise: GradedExercise,
    number: int,
    answers: Mapping[str, Answer],
    sifted: Mapping[str, Sifted],
    flaws: Mapping[str, Flaw],
    visible: VisibleChecks,
    hidden: HiddenCases,
) -> TaskGrade:
    task = exercise.tasks[number]
    taken = [row for row in (answers.get(task.id), sifted.get(task.id)) if row is not None]
    notes = tuple(note for row in taken for note in row.notes)
    flaw = flaws.get(task.id, Flaw(""))
    cases = (*visible.cases(task.id, not_run=flaw.code), *hidden.cases(task.id))
    return grade_task(
        task.id, task.title, task.points, cases, flaw=flaw.code, detail=flaw.detail, notes=notes
    )


def main(job_path: str) -> None:
    """Grades the job and writes its record; started by the runner only."""
    for name in NOISY:
        os.environ.pop(name, None)
    os.environ.update(QUIET)
    # An optional URI grammar that jsonschema would spend a second on, per notebook.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    path = Path(job_path)
    folder = path.parent / "work"
    folder.mkdir()
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        os.environ[name] = str(path.parent / name.lower())
    record = grade_one(Job(**json.loads(path.read_text(encoding="utf-8"))), folder)
    path.with_name(RESULT).write_text(json.dumps(to_json(record)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
