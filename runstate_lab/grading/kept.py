"""Grading. The records in the output folder: which count, and which are put aside.

The gradebook file, the pages and `runstate-lab gradebook` all read `records/`
through `read_records`. A record whose submission is gone moves to `gone/`: it
is kept, it is in no gradebook, and it comes back with its submission.

What is not here: what a record says (see `verdict`) and who makes one (see `runner`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from runstate_lab.course.faults import AskedWrongly
from runstate_lab.grading.dispatch import read_record
from runstate_lab.grading.gradebook import ordered
from runstate_lab.grading.handed import Absent, Handed
from runstate_lab.grading.verdict import ABSENT, Record

RECORDS, GONE = "records", "gone"


def record_path(out: Path, row: Handed | Absent, *, folder: str = RECORDS) -> Path:
    """Where the record of a submission is kept."""
    return out / folder / row.student / f"{row.exercise}.json"


def read_records(out: Path | str) -> tuple[Record, ...]:
    """All records that count in an output folder, by student and exercise."""
    paths = sorted(Path(out).glob(f"{RECORDS}/*/*.json"))
    found = [read_record(path) for path in paths]
    return tuple(ordered(record for record in found if record is not None))


def refuse_places(submissions: Path, out: Path) -> None:
    """Nothing; refused where the output and the submissions lie in one another.

    >>> refuse_places(Path("/class"), Path("/class/graded"))
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: /class/graded and /class lie in one another
    hint: name an output folder beside the submissions with --out
    """
    one, other = submissions.resolve(), out.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise AskedWrongly(
            f"{out} and {submissions} lie in one another",
            hint="name an output folder beside the submissions with --out",
        )


def refuse_unwritable(out: Path) -> None:
    """Nothing, and nothing is left; refused where no file can be put into `out`."""
    try:
        missing = [folder for folder in (out, *out.parents) if not folder.exists()]
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
        for folder in missing:
            folder.rmdir()
    except OSError as error:
        raise AskedWrongly(
            f"nothing can be written to {out}: {error.strerror or error}",
            hint="name another output folder with --out",
        ) from None


def bring_back(out: Path, handed: Iterable[Handed]) -> None:
    """Nothing; records put aside count again where their submission is back."""
    for row in handed:
        aside, path = record_path(out, row, folder=GONE), record_path(out, row)
        if aside.is_file() and not path.exists():
            _move(aside, path)


def put_aside(
    out: Path, present: Iterable[Handed | Absent], *, students: Iterable[str], graded: str | None
) -> None:
    """Nothing; records without a submission leave the books and go to `gone/`.

    A record of something that was never handed in stays while its student has
    a folder, unless its exercise is the one that was just `graded`.
    """
    pairs, folders = {(row.student, row.exercise) for row in present}, frozenset(students)
    for path in sorted(out.glob(f"{RECORDS}/*/*.json")):
        student, exercise = path.parent.name, path.stem
        if (student, exercise) in pairs:
            continue
        record = read_record(path)
        never = record is not None and record.reason_code in ABSENT
        if not (never and exercise != graded and student in folders):
            _move(path, out / GONE / student / path.name)
    for page in out.glob("feedback/*.html"):
        if (out / GONE / page.stem).is_dir() and not any(
            (out / RECORDS / page.stem).glob("*.json")
        ):
            page.unlink()


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".json", ".log"):
        if path.with_suffix(suffix).is_file():
            os.replace(path.with_suffix(suffix), target.with_suffix(suffix))
