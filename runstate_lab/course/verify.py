"""Proof that the course says what it means, before a student sees it.

The catalogue and the files agree; nothing is stale; every stub fails, every
solution passes, every wrong answer fails first where its header says, by the
visible checks and, over the grader's own wire, by the held-back ones; and no
secret line would get out.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runstate_lab.course.build import build
from runstate_lab.course.catalogue import Catalogue, Exercise, stray_and_missing
from runstate_lab.course.faults import CourseFault, Faults, Place
from runstate_lab.course.release import examine
from runstate_lab.course.wrong import AT_LEAST, Class, WrongAnswer, own_class

Say = Callable[[str], None]
Check = Callable[..., Any]
Grade = Callable[..., Any]


def verify(
    catalogue: Catalogue,
    *,
    check: Check,
    grade: Grade,
    say: Say = lambda words: None,
    jobs: int = 2,
) -> list[CourseFault]:
    """Every fault of the course; an empty list is the proof.

    `check` is `runstate_lab.grading.checks.check_answers`, `grade` is that of
    `grading.runner`: the course does not know the grader, so whoever asks for
    the proof brings them.
    """
    steps: tuple[tuple[str, Callable[[], list[CourseFault]]], ...] = (
        ("catalogue and files agree", lambda: stray_and_missing(catalogue)),
        ("notebooks are as built", lambda: _told(lambda: build(catalogue, check=True, jobs=jobs))),
        (
            "visible checks find every wrong answer they should",
            lambda: visible_faults(catalogue, check=check),
        ),
        (
            "the grader finds every wrong answer",
            lambda: graded_faults(catalogue, grade=grade, jobs=jobs),
        ),
        ("no secret line gets out", lambda: _told(lambda: examine(catalogue))),
    )
    faults: list[CourseFault] = []
    for words, step in steps:
        found = step()
        say(f"{'not held' if found else 'held    '}  {words}")
        faults += found
    return faults


def visible_faults(catalogue: Catalogue, *, check: Check) -> list[CourseFault]:
    """What the visible checks say otherwise than expected."""
    faults: list[CourseFault] = []
    for exercise in catalogue.exercises:
        faults += _told(lambda exercise=exercise: _visible(catalogue, exercise, check))
    return faults


def graded_faults(catalogue: Catalogue, *, grade: Grade, jobs: int = 2) -> list[CourseFault]:
    """What the grader says otherwise than expected."""
    classes = [own_class(catalogue, exercise) for exercise in catalogue.exercises]
    with tempfile.TemporaryDirectory(prefix="runstate-verify-") as scratch:
        folder = Path(scratch, "class")
        for each in classes:
            for student, notebook in each.submissions:
                path = folder / student / f"{each.exercise.name}.ipynb"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(notebook), encoding="utf-8")
        out = Path(scratch, "out")
        report = grade(folder, out, level="none", jobs=jobs, course=catalogue.root)
    records = {(record.student, record.exercise): record for record in report.records}
    return [fault for each in classes for fault in _graded(each, records)]


def _visible(catalogue: Catalogue, exercise: Exercise, check: Check) -> list[CourseFault]:
    own, faults = own_class(catalogue, exercise), []
    stub = check(exercise, own.stub, own.stub)
    for task in exercise.tasks:
        if stub.task_held(task.id):
            found = f"the stub of {task.id} passes its visible checks"
            faults.append(CourseFault(found, place=Place(exercise.notebook)))
    solved = check(exercise, own.stub, own.solved)
    if not solved.held:
        found = f"the solution does not pass its visible checks:\n{solved}"
        faults.append(CourseFault(found, place=Place(exercise.master)))
    if len(own.wrong) < AT_LEAST:
        found = f"{len(own.wrong)} wrong answers; at least {AT_LEAST} are needed"
        faults.append(CourseFault(found, place=Place(exercise.wrong)))
    named = {(outcome.task, outcome.check) for outcome in stub.outcomes}
    for wrong, notebook in own.wrong:
        first = check(exercise, own.stub, notebook).first_fault
        seen = (first.task, first.check) if first else None
        expected = (wrong.task, wrong.check) if (wrong.task, wrong.check) in named else None
        if seen != expected:
            faults.append(_elsewhere(wrong, " ".join(seen) if seen else "no visible check"))
    return faults


def _graded(own: Class, records: dict) -> Iterator[CourseFault]:
    name = own.exercise.name
    solution, stub = records["solution", name], records["stub", name]
    if solution.verdict != "PASS":
        found = f"graded, the solution is {solution.verdict}: {solution.reason}"
        yield CourseFault(found, place=Place(own.exercise.master))
    for task in stub.tasks:
        if task.verdict != "FAIL":
            found = f"graded, the stub of {task.task} is {task.verdict}: {task.reason}"
            yield CourseFault(found, place=Place(own.exercise.notebook))
    for wrong, _ in own.wrong:
        tasks = records[f"wrong-{wrong.name}", name].tasks
        cases = [(task.task, case) for task in tasks for case in task.cases]
        failed = [(task, case.title) for task, case in cases if case.verdict != "PASS"]
        if (wrong.task, wrong.check) not in failed:
            seen = "; ".join(" ".join(each) for each in failed) or "no check"
            yield _elsewhere(wrong, f"{seen} (graded)")


def _elsewhere(wrong: WrongAnswer, seen: str) -> CourseFault:
    return CourseFault(
        f"should fail at: {wrong.task} {wrong.check}\n  it fails at: {seen}",
        place=Place(wrong.path),
    )


def _told(step: Callable[[], object]) -> list[CourseFault]:
    """The faults that a step raises or returns."""
    try:
        found = step()
    except Faults as faults:
        return list(faults.faults)
    except CourseFault as fault:
        return [fault]
    return list(found) if isinstance(found, list) else []
