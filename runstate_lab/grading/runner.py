"""Grading. A class: every submission gets a verdict, and nothing stops the rest.

A small pool of threads sends one submission after the other to a process of
its own. Each gives a record, and a regrade does again only what has changed.
Our own solutions and two controls are graded first: where they do not come out
as they must, nothing else is graded. What a busy machine may have spoiled is
done once more at the end, alone.

What is not here: the process of one submission (see `dispatch`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from runstate_lab.course import catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault, raise_any
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import digest
from runstate_lab.grading import feedback, gradebook
from runstate_lab.grading.controls import Controls, refuse_undecided, write_controls
from runstate_lab.grading.dispatch import PERHAPS_BUSY, read_record, run_job, write_file
from runstate_lab.grading.exercise import GradedExercise, course_root, load_exercise
from runstate_lab.grading.handed import TAKEN, Absent, Handed, Unexpected, look, students
from runstate_lab.grading.isolation import Isolation, measure, require
from runstate_lab.grading.kept import (
    bring_back,
    put_aside,
    read_records,
    record_path,
    refuse_places,
    refuse_unwritable,
)
from runstate_lab.grading.ours import processors
from runstate_lab.grading.scratch import scratch, sweep
from runstate_lab.grading.session import Job
from runstate_lab.grading.verdict import OURS, Record, Verdict, sentence, to_json

WALL_SECONDS = 300.0

Progress = Callable[[int, int, Record], None]


@dataclass(frozen=True)
class ClassReport:
    """What a grading gave: its records, and what in the folder was no submission."""

    records: tuple[Record, ...]
    unexpected: tuple[Unexpected, ...]
    isolation: str
    kept: int
    out: Path
    jobs: int = 1

    @property
    def rows(self) -> list[dict[str, object]]:
        """This grading's rows, sorted by student and exercise."""
        return [gradebook.row(record) for record in gradebook.ordered(self.records)]

    @property
    def exit_code(self) -> int:
        """0 where every submission has a verdict; 1 where a folder's name is in the way.

        3 where we failed.
        """
        codes = {record.reason_code for record in self.records}
        return 3 if codes & OURS else int("bad-name" in codes)


@dataclass(frozen=True)
class Batch:
    """What all submissions of one grading share."""

    root: Path
    out: Path
    level: str
    seed: int
    isolation: str
    wall_seconds: float
    force: bool
    jobs: int


@dataclass(frozen=True)
class Lot:
    """What lies in the folder: to be graded, all of it, missing, and no submission."""

    folder: Path
    handed: tuple[Handed, ...]
    everything: tuple[Handed, ...]
    absent: tuple[Absent, ...]
    unexpected: tuple[Unexpected, ...]
    only: str | None

    @property
    def names(self) -> set[str]:
        """The exercises that a record will be made for."""
        return {row.exercise for row in (*self.handed, *self.absent)}


def grade(
    submissions: Path | str,
    out: Path | str,
    *,
    level: str = "confined",
    jobs: int = 2,
    exercise: str | None = None,
    seed: int = 0,
    course: Path | None = None,
    force: bool = False,
    wall_seconds: float = WALL_SECONDS,
    progress: Progress | None = None,
) -> ClassReport:
    """The graded class; a regrade does again only what has changed.

    Refused where the walls that were measured are weaker than `level` asks. More
    jobs than processors would only wait for each other: so many are used at most.
    """
    root, folder = course_root(course), Path(out).absolute()
    if jobs < 1:
        raise AskedWrongly(f"{jobs} jobs were asked for", hint="--jobs 1 is the least")
    lot = _lot(Path(submissions).absolute(), root, exercise)
    refuse_places(lot.folder, folder)
    refuse_unwritable(folder)
    exercises = {name: load_exercise(root, name) for name in lot.names}
    isolation = measure(level, hidden=root / "solutions")
    require(isolation, level)
    sweep()
    at_once = min(jobs, processors())
    batch = Batch(root, folder, level, seed, isolation.summary, wall_seconds, force, at_once)
    bring_back(folder, lot.everything)
    kept, todo = _sort_out(lot.handed, exercises, batch)
    touched = sorted({row.exercise for row in todo})
    _refuse_broken([exercises[name] for name in touched], batch)
    records = [*kept.values(), *_unhanded(lot.absent, exercises, batch)]
    for record in _graded(todo, exercises, batch):
        records.append(record)
        if progress is not None:
            progress(len(records), len(lot.handed) + len(lot.absent), record)
    return replace(_settled(lot, records, len(kept), isolation, folder), jobs=at_once)


def _lot(folder: Path, root: Path, exercise: str | None) -> Lot:
    """What lies in the folder; `only` is the one exercise that all of it is about."""
    course = catalogue.load(root)
    known = tuple(row.name for row in course.exercises)
    chosen = known if exercise is None else (course.exercise(exercise).name,)
    lies = look(folder, known, chosen)
    found = tuple(dict.fromkeys(row.exercise for row in lies.handed))
    one = chosen if len(chosen) == 1 else found
    only = one[0] if len(one) == 1 else None
    handed = tuple(row for row in lies.handed if row.exercise in chosen)
    return Lot(folder, handed, lies.handed, lies.absent, lies.unexpected, only)


def _settled(
    lot: Lot, records: list[Record], kept: int, isolation: Isolation, out: Path
) -> ClassReport:
    present = (*lot.everything, *lot.absent)
    put_aside(out, present, students=students(lot.folder), graded=lot.only)
    rows = tuple(gradebook.ordered(records))
    report = ClassReport(rows, lot.unexpected, isolation.summary, kept, out)
    _write_pages(report, read_records(out), isolation)
    return report


def _unhanded(
    rows: Iterable[Absent], exercises: dict[str, GradedExercise], batch: Batch
) -> Iterator[Record]:
    for row in rows:
        exercise = exercises[row.exercise]
        record = _not_graded(row, exercise, batch, row.code, row.detail)
        _keep(record, record_path(batch.out, row))
        yield record


def _not_graded(
    row: Handed | Absent, exercise: GradedExercise, batch: Batch, code: str, detail: str
) -> Record:
    return replace(
        _job(Handed(row.student, row.exercise, batch.out), batch).blank(),
        exercise_version=exercise.version,
        max_points=exercise.points,
        reason_code=code,
        reason=sentence(code, detail=detail),
    )


def _keep(record: Record, path: Path) -> None:
    write_file(path, json.dumps(to_json(record), indent=1, ensure_ascii=False) + "\n")


def _sort_out(
    handed: Iterable[Handed], exercises: dict[str, GradedExercise], batch: Batch
) -> tuple[dict[Handed, Record], list[Handed]]:
    kept: dict[Handed, Record] = {}
    todo: list[Handed] = []
    for row in handed:
        record = None if batch.force else read_record(record_path(batch.out, row))
        if record is not None and _unchanged(record, row, exercises[row.exercise], batch):
            kept[row] = record
        else:
            todo.append(row)
    return kept, todo


def _unchanged(record: Record, row: Handed, exercise: GradedExercise, batch: Batch) -> bool:
    try:
        submission = digest(row.read())
    except Unreadable:
        return False
    taken = tuple(note for note in record.notes if note.startswith(TAKEN))
    wanted = (submission, exercise.version, batch.seed, batch.level)
    return record.key() == wanted and record.reason_code not in OURS and taken == row.notes


def _graded(
    todo: list[Handed], exercises: dict[str, GradedExercise], batch: Batch
) -> Iterator[Record]:
    again: list[Handed] = []
    with ThreadPoolExecutor(batch.jobs, thread_name_prefix="grade") as pool:
        futures = {pool.submit(_one, row, exercises[row.exercise], batch): row for row in todo}
        try:
            for future in as_completed(futures):
                if future.result().reason_code in PERHAPS_BUSY:
                    again.append(futures[future])
                else:
                    yield future.result()
        finally:
            for future in futures:
                future.cancel()
    for row in again:
        yield _one(row, exercises[row.exercise], batch)


def _one(row: Handed, exercise: GradedExercise, batch: Batch) -> Record:
    """The record of one submission: its bytes are read once, and a copy of ours is graded."""
    path = record_path(batch.out, row)
    try:
        content = row.read()
    except Unreadable as refusal:
        record, log = _not_graded(row, exercise, batch, refusal.code, refusal.detail), ""
    else:
        with scratch() as folder:
            copy = folder / "submission.ipynb"
            copy.write_bytes(content)
            job = _job(replace(row, path=copy), batch)
            record, log = run_job(job, exercise, batch.wall_seconds)
    record = replace(record, notes=(*row.notes, *record.notes))
    _keep(record, path)
    if log:
        write_file(path.with_suffix(".log"), log)
    return record


def _job(row: Handed, batch: Batch) -> Job:
    return Job(
        root=str(batch.root),
        exercise=row.exercise,
        student=row.student,
        path=str(row.path),
        level=batch.level,
        isolation=batch.isolation,
        seed=batch.seed,
    )


def _refuse_broken(exercises: list[GradedExercise], batch: Batch) -> None:
    """Grades our own solutions and the controls first; without them no grade means much."""
    if not exercises:
        return
    with scratch() as folder:
        controls = write_controls(folder)
        own = [(_own(exercise, batch), exercise) for exercise in exercises]
        known = [
            (_control(path, controls, batch), controls.exercise)
            for path in (controls.right, controls.wrong)
        ]
        *records, right, wrong = _known(own + known, batch)
    refuse_undecided(right, wrong)
    raise_any(
        [
            CourseFault(
                f"our own solution of {record.exercise} is {record.verdict}: {record.reason}",
                hint="mend the exercise and build it again before grading",
            )
            for record in records
            if record.verdict is not Verdict.PASS
        ]
    )


def _known(jobs: list[tuple[Job, GradedExercise]], batch: Batch) -> list[Record]:
    """The records of jobs of ours; what a busy machine may have spoiled is done again alone."""

    def one(asked: tuple[Job, GradedExercise]) -> Record:
        return run_job(*asked, batch.wall_seconds)[0]

    with ThreadPoolExecutor(batch.jobs) as pool:
        records = list(pool.map(one, jobs))
    return [
        one(asked) if record.reason_code in PERHAPS_BUSY else record
        for asked, record in zip(jobs, records, strict=True)
    ]


def _own(exercise: GradedExercise, batch: Batch) -> Job:
    return _job(Handed("our own solution", exercise.name, exercise.notebook), batch)


def _control(path: Path, controls: Controls, batch: Batch) -> Job:
    row = Handed("control", controls.exercise.name, path)
    return replace(_job(row, batch), root=str(controls.root))


def _write_pages(report: ClassReport, book: tuple[Record, ...], isolation: Isolation) -> None:
    out = report.out
    write_file(out / "gradebook.csv", gradebook.as_csv(book))
    write_file(out / "gradebook.json", gradebook.as_json(book))
    for student, page in feedback.student_pages(book).items():
        write_file(out / "feedback" / f"{student}.html", page)
    page = feedback.index_page(book, report.unexpected, report.isolation, isolation.not_closed)
    write_file(out / "index.html", page)
    write_file(out / "isolation.json", json.dumps(isolation.record(), indent=1) + "\n")
