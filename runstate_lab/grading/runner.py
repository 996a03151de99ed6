"""Grading. A class: every submission gets a verdict, and nothing stops the rest.

One fresh subprocess per submission, started from a small pool of threads and
ended by the clock where it does not end itself. What it leaves is a record,
moved into place in one step, so that a reader never sees half of one.

What is not here: one submission (see `session`).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from runstate_lab.course import catalogue
from runstate_lab.grading import feedback, gradebook
from runstate_lab.grading.exercise import GradedExercise, course_root, load_exercise
from runstate_lab.grading.handed import Handed, Unexpected, look
from runstate_lab.grading.session import Job
from runstate_lab.grading.submission import Unreadable, digest, read_bytes
from runstate_lab.grading.verdict import OURS, Record, Verdict, from_json, sentence, to_json
from runstate_lab.grading.walls import Walls, measured_walls

WALL_SECONDS = 300.0
LOG_BYTES = 64 * 1024
PACKAGE_PARENT = Path(__file__).resolve().parents[2]

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
    walls = measured_walls(level, root / "solutions")
    batch = Batch(root, folder, level, seed, walls.sentence, wall_seconds, force)
    kept, todo = _sort_out(handed, exercises, batch)
    records = list(kept.values())
    for record in _graded(todo, exercises, batch, max(1, jobs)):
        records.append(record)
        if progress is not None:
            progress(len(records), len(handed), record)
    report = ClassReport(
        tuple(gradebook.ordered(records)), unexpected, walls.sentence, len(kept), folder
    )
    _write_pages(report, walls)
    return report


def record_path(out: Path, handed: Handed) -> Path:
    """Where the record of a submission is kept."""
    return out / "records" / handed.student / f"{handed.exercise}.json"


def read_records(out: Path | str) -> tuple[Record, ...]:
    """All records of an earlier grading, by student and exercise."""
    paths = sorted(Path(out).glob("records/*/*.json"))
    found = [_read_record(path) for path in paths]
    return tuple(gradebook.ordered(record for record in found if record is not None))


def _sort_out(
    handed: Iterable[Handed], exercises: dict[str, GradedExercise], batch: Batch
) -> tuple[dict[Handed, Record], list[Handed]]:
    kept: dict[Handed, Record] = {}
    todo: list[Handed] = []
    for row in handed:
        record = None if batch.force else _read_record(record_path(batch.out, row))
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


def _read_record(path: Path) -> Record | None:
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        # A record that cannot be read is made again.
        return None


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
    with _scratch() as folder:
        log = folder / "log"
        result = folder / "record.json"
        job = Job(
            root=str(batch.root),
            exercise=row.exercise,
            student=row.student,
            path=str(row.path),
            level=batch.level,
            isolation=batch.isolation,
            seed=batch.seed,
            result=str(result),
        )
        (folder / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
        code = _run(folder, log, batch.wall_seconds)
        record = _read_record(result)
        if record is None:
            record = _no_record(job, exercise, code)
        _write(record_path(batch.out, row), json.dumps(to_json(record), indent=1, ensure_ascii=False))
        if record.reason_code in OURS:
            tail = log.read_bytes()[-LOG_BYTES:] if log.is_file() else b""
            path = record_path(batch.out, row).with_suffix(".log")
            _write(path, tail.decode("utf-8", "replace"))
    return record


def _run(folder: Path, log: Path, seconds: float) -> str:
    command = [sys.executable, "-m", "runstate_lab.grading.session", str(folder / "job.json")]
    search = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search), "TMPDIR": str(folder)}
    with log.open("wb") as stream:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return "grader-time"
        finally:
            _end(child)
    return "grader"


def _end(child: subprocess.Popen[bytes]) -> None:
    # The whole group: a session that hung may have left helpers behind.
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
    return Record(
        student=job.student,
        exercise=job.exercise,
        exercise_version=exercise.version,
        submission=submission,
        seed=job.seed,
        level=job.level,
        isolation=job.isolation,
        verdict=Verdict.NOT_GRADED,
        points=None,
        max_points=exercise.points,
        reason_code=code,
        reason=sentence(code),
    )


def _write_pages(report: ClassReport, walls: Walls) -> None:
    out = report.out
    _write(out / "gradebook.csv", gradebook.as_csv(report.records))
    _write(out / "gradebook.json", gradebook.as_json(report.records))
    for student, page in feedback.student_pages(report.records).items():
        _write(out / "feedback" / f"{student}.html", page)
    page = feedback.index_page(report.records, report.unexpected, walls.sentence)
    _write(out / "index.html", page)
    _write(out / "isolation.json", json.dumps(walls.measured, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="runstate-grade-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


