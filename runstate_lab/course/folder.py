"""A learner's own files: set up, handed in, begun anew; never lost.

The installed kit holds a course; a learner works in a copy of it. A file that
the learner has changed is never overwritten, and a reset keeps the old one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.build import render, targets
from runstate_lab.course.catalogue import FILE, Catalogue, Exercise
from runstate_lab.course.faults import AskedWrongly, CourseFault, Place
from runstate_lab.course.names import student as student_name
from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import Cell, document, no_notebook, parse
from runstate_lab.course.taking import Wanted, cell_id_of, other_exercise, take, wanted_in

KIT = Path(__file__).resolve().parents[1] / "_course"
DELIVERED = Path(".runstate", "delivered.json")
KEPT = Path(".runstate", "kept")
RECEIPTS = Path(".runstate", "receipts")


@dataclass(frozen=True)
class Receipt:
    """Proof of what was handed in; `set_aside` is where an earlier copy went."""

    student: str
    exercise: str
    sha256: str
    path: str
    set_aside: str = ""


def set_up(kit: Path, folder: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The files that were written, and those kept because the learner changed them."""
    record = folder / DELIVERED
    delivered = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    written, kept = [], []
    for source in sorted(path for path in kit.rglob("*") if path.is_file()):
        name = source.relative_to(kit)
        target, new = folder / name, digest(source)
        old = digest(target) if target.exists() else None
        if old not in (None, new, delivered.get(name.as_posix())):
            kept.append(name)
            continue
        if old != new:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            written.append(name)
        delivered[name.as_posix()] = new
    record.parent.mkdir(parents=True, exist_ok=True)
    replace(record, json.dumps(delivered, indent=1, sort_keys=True).encode())
    return tuple(written), tuple(kept)


def reset(catalogue: Catalogue, exercise: Exercise) -> Path | None:
    """Where the old notebook is kept; None where there was none to keep."""
    fresh = _fresh(catalogue, exercise)
    path = catalogue.root / exercise.notebook
    in_the_way = path.parent if path.parent.exists() and not path.parent.is_dir() else path
    kept = None
    if in_the_way.is_dir() or (in_the_way.exists() and in_the_way.read_bytes() != fresh):
        folder = catalogue.root / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        kept = _free(folder / f"{exercise.name}.ipynb")
        if in_the_way is path and path.is_file():
            shutil.copyfile(path, kept)
        else:
            in_the_way.rename(kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, fresh)
    return kept


def submit(catalogue: Catalogue, exercise: Exercise, *, student: str, to: Path) -> Receipt:
    """The receipt for the copy in the hand-in folder; the learner keeps one too.

    Both are written beside their places first: nothing that can fail is left
    for the time after the copy is in its place.
    """
    content, _ = _to_hand_in(catalogue, exercise)
    student = student_name(student)
    target = to / student / f"{exercise.name}.ipynb"
    if target.parent.is_symlink():
        raise AskedWrongly(
            "this folder is a link, and a link is not graded",
            place=Place(target.parent),
            hint="put a folder there, or hand in under another name with --as",
        )
    record = catalogue.root / RECEIPTS / f"{exercise.name}.json"
    for folder in (record.parent, target.parent):
        folder.mkdir(parents=True, exist_ok=True)
    same = target.is_file() and target.read_bytes() == content
    aside = _free(target) if os.path.lexists(target) and not same else None
    receipt = Receipt(
        student,
        exercise.name,
        hashlib.sha256(content).hexdigest(),
        str(target),
        str(aside or ""),
    )
    if record.is_dir():
        record.rename(_free(record))
    with drafted(record, (json.dumps(vars(receipt), indent=1) + "\n").encode()):
        with drafted(target, content):
            if aside:
                target.rename(aside)
    return receipt


def doubt(catalogue: Catalogue, exercise: Exercise) -> str:
    """Why the saved notebook is hardly meant to be handed in; mostly nothing."""
    _, cells = _to_hand_in(catalogue, exercise)
    wanted = _wanted(catalogue, exercise)
    taken = [take(cells, each) for each in wanted]
    if all(row.flaw in ("missing", "not-code") or not "".join(row.parts).strip() for row in taken):
        return f"{exercise.notebook} holds no answers"
    untouched = all(
        row.flaw or (not each.stub and _says_not_written(row.parts))
        for each, row in zip(wanted, taken, strict=True)
    )
    return f"{exercise.notebook} holds only the stubs: no answer was changed" if untouched else ""


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace(path: Path, content: bytes) -> None:
    """The file with that content, whole or not at all."""
    with drafted(path, content):
        pass


@contextlib.contextmanager
def drafted(path: Path, content: bytes) -> Iterator[None]:
    """The content lies beside its place, and comes there when the block is left."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            draft.write_bytes(content)
        except OSError as error:
            error.filename = str(path)
            raise
        yield
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _free(path: Path) -> Path:
    """The first of name-1, name-2, ... that nothing stands under."""
    return next(
        candidate
        for number in range(1, 10_000)
        if not os.path.lexists(candidate := path.with_name(f"{path.stem}-{number}{path.suffix}"))
    )


def _to_hand_in(catalogue: Catalogue, exercise: Exercise) -> tuple[bytes, tuple[Cell, ...]]:
    """The bytes and cells of the saved notebook; what would not be graded is refused."""
    path = catalogue.root / exercise.notebook
    if not os.path.lexists(path):
        raise AskedWrongly(
            "there is no such notebook to hand in",
            place=Place(exercise.notebook),
            hint=f"runstate-lab reset {exercise.number} puts a fresh one there",
        )
    try:
        content = read_bytes(path)
        cells = parse(content)
        other = other_exercise(cells, _named(exercise))
        if other:
            raise Unreadable("other-exercise", detail=f"its answers are those of exercise {other}")
    except Unreadable as refusal:
        fault = no_notebook(refusal, exercise.notebook, exercise)
        raise AskedWrongly(fault.found, place=fault.place, hint=fault.hint) from None
    return content, cells


def _wanted(catalogue: Catalogue, exercise: Exercise) -> tuple[Wanted, ...]:
    """The answers that the exercise asks for, with their stubs where a fresh copy is at hand."""
    try:
        return wanted_in(document(_fresh(catalogue, exercise))) or _named(exercise)
    except (AskedWrongly, Unreadable):
        return _named(exercise)


def _named(exercise: Exercise) -> tuple[Wanted, ...]:
    return tuple(Wanted(task.id, cell_id_of(task.id)) for task in exercise.tasks)


def _says_not_written(parts: tuple[str, ...]) -> bool:
    return all("raise NotImplementedError" in part for part in parts)


def _fresh(catalogue: Catalogue, exercise: Exercise) -> bytes:
    delivered = KIT / exercise.notebook
    if delivered.exists():
        return delivered.read_bytes()
    if (catalogue.root / exercise.master).exists():
        (target,) = (each for each in targets(catalogue, [exercise.name]) if each.exercise)
        return render(catalogue, target)[exercise.notebook].encode()
    raise AskedWrongly(
        f"neither {KIT} nor {catalogue.root / FILE} leads to a fresh copy",
        hint="unpack the student bundle anew, in another folder",
    )
