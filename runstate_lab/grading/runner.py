"""Grading. A class: every submission gets a verdict, and nothing stops the rest.

A small pool of threads sends one submission after the other to a process of
its own. Each gives a record, and a regrade does again only what has changed.
Our own solutions are graded first: where they fail, nothing else is graded.

What is not here: the process of one submission (see `dispatch`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course import catalogue
from runstate_lab.course.faults import CourseFault, raise_any
from runstate_lab.grading import feedback, gradebook
from runstate_lab.grading.dispatch import read_record, run_job, write_file
from runstate_lab.grading.exercise import GradedExercise, course_root, load_exercise
from runstate_lab.grading.handed import Handed, Unexpected, look
from runstate_lab.grading.isolation import Isolation, measure, require
from runstate_lab.grading.session import Job
from runstate_lab.grading.submission import Unreadable, digest, read_bytes
from runstate_lab.grading.verdict import OURS, Record, Verdict, to_json

WALL_SECONDS = 300.0

Progress = Callable[[int, int, Record], None]


@dataclass(frozen=True)
class ClassReport:
    """What a grading gave: all records, and what in the folder was no submission."""

    records: tuple[Record, ...]
    unexpected: tuple[Unexpected, ...]
    isolation: str
    kept: int
    out: Path

    @property
    def rows(self) -> list[dict[str, object]]:
        """The gradebook's rows, sorted by student and exercise."""
        return [gradebook.row(record) for record in gradebook.ordered(self.records)]

    @property
    def exit_code(self) -> int:
        """0 where every submission has a verdict of its own; 3 where we failed."""
        return 3 if any(record.reason_code in OURS for record in self.records) else 0


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

    Refused where the walls that were measured are weaker than `level` asks.
    """
    root, folder = course_root(course), Path(out).absolute()
    known = tuple(row.name for row in catalogue.load(root).exercises)
    chosen = (catalogue.load(root).exercise(exercise).name,) if exercise else known
    handed, unexpected = look(Path(submissions).absolute(), known, chosen)
    exercises = {name: load_exercise(root, name) for name in {row.exercise for row in handed}}
    isolation = measure(level, hidden=root / "solutions")
    require(isolation, level)
    batch = Batch(root, folder, level, seed, isolation.summary, wall_seconds, force)
    kept, todo = _sort_out(handed, exercises, batch)
    touched = sorted({row.exercise for row in todo})
    _refuse_broken([exercises[name] for name in touched], batch, max(1, jobs))
    records = list(kept.values())
    for record in _graded(todo, exercises, batch, max(1, jobs)):
        records.append(record)
        if progress is not None:
            progress(len(records), len(handed), record)
    report = ClassReport(
        tuple(gradebook.ordered(records)), unexpected, isolation.summary, len(kept), folder
    )
    _write_pages(report, isolation)
    return report


def record_path(out: Path, handed: Handed) -> Path:
    """Where the record of a submission is kept."""
    return out / "records" / handed.student / f"{handed.exercise}.json"


def read_records(out: Path | str) -> tuple[Record, ...]:
    """All records of an earlier grading, by student and exercise."""
    paths = sorted(Path(out).glob("records/*/*.json"))
    found = [read_record(path) for path in paths]
    return tuple(gradebook.ordered(record for record in found if record is not None))


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
        submission = digest(read_bytes(row.path))
    except Unreadable:
        return False
    wanted = (submission, exercise.version, batch.seed, batch.level)
    return record.key() == wanted and record.reason_code not in OURS


def _graded(
    todo: list[Handed], exercises: dict[str, GradedExercise], batch: Batch, jobs: int
) -> Iterator[Record]:
    with ThreadPoolExecutor(jobs, thread_name_prefix="grade") as pool:
        futures = [pool.submit(_one, row, exercises[row.exercise], batch) for row in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _one(row: Handed, exercise: GradedExercise, batch: Batch) -> Record:
    path = record_path(batch.out, row)
    record, log = run_job(_job(row, batch), exercise, batch.wall_seconds)
    write_file(path, json.dumps(to_json(record), indent=1, ensure_ascii=False) + "\n")
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


def _refuse_broken(exercises: Iterable[GradedExercise], batch: Batch, jobs: int) -> None:
    """Grades our own solutions first: where they fail, no grade would mean much."""

    def own(exercise: GradedExercise) -> Record:
        row = Handed("our own solution", exercise.name, exercise.notebook)
        return run_job(_job(row, batch), exercise, batch.wall_seconds)[0]

    with ThreadPoolExecutor(jobs) as pool:
        records = list(pool.map(own, exercises))
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


def _write_pages(report: ClassReport, isolation: Isolation) -> None:
    out = report.out
    write_file(out / "gradebook.csv", gradebook.as_csv(report.records))
    write_file(out / "gradebook.json", gradebook.as_json(report.records))
    for student, page in feedback.student_pages(report.records).items():
        write_file(out / "feedback" / f"{student}.html", page)
    page = feedback.index_page(report.records, report.unexpected, report.isolation)
    write_file(out / "index.html", page)
    write_file(out / "isolation.json", json.dumps(isolation.record(), indent=1) + "\n")
