"""A learner's own files: set up, handed in, begun anew; never lost.

The installed kit holds a course; a learner works in a copy of it. A file that
the learner has changed is never overwritten, and a reset keeps the old one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.build import render, targets
from runstate_lab.course.catalogue import FILE, Catalogue, Exercise
from runstate_lab.course.faults import AskedWrongly, Place

KIT = Path(__file__).resolve().parents[1] / "_course"
DELIVERED = Path(".runstate", "delivered.json")
KEPT = Path(".runstate", "kept")
RECEIPTS = Path(".runstate", "receipts")


@dataclass(frozen=True)
class Receipt:
    """Proof of what was handed in: who, what, and the digest of its bytes."""

    student: str
    exercise: str
    sha256: str
    path: str


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
    kept = None
    if path.exists() and path.read_bytes() != fresh:
        folder = catalogue.root / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        kept = next(
            candidate
            for number in range(1, 10_000)
            if not (candidate := folder / f"{exercise.name}-{number}.ipynb").exists()
        )
        shutil.copyfile(path, kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, fresh)
    return kept


def submit(catalogue: Catalogue, exercise: Exercise, *, student: str, to: Path) -> Receipt:
    """The receipt for the copy in the hand-in folder; the learner keeps one too."""
    path = catalogue.root / exercise.notebook
    if not path.exists():
        raise AskedWrongly("there is no such notebook to hand in", place=Place(exercise.notebook))
    if not student.strip() or student != Path(student).name or student.startswith("."):
        raise AskedWrongly(f"{student!r} cannot be the name of a folder", hint="--as ada.lovelace")
    content = path.read_bytes()
    try:
        json.loads(content)["cells"]
    except (ValueError, KeyError, TypeError):
        hint = f"open it in JupyterLab and save it, or: runstate-lab reset {exercise.number}"
        raise AskedWrongly(
            "this is no notebook", place=Place(exercise.notebook), hint=hint
        ) from None
    target = to / student / f"{exercise.name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    replace(target, content)
    receipt = Receipt(student, exercise.name, hashlib.sha256(content).hexdigest(), str(target))
    record = catalogue.root / RECEIPTS / f"{exercise.name}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    replace(record, (json.dumps(vars(receipt), indent=1) + "\n").encode())
    return receipt


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace(path: Path, content: bytes) -> None:
    """The file with that content, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.write_bytes(content)
    os.replace(draft, path)


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
