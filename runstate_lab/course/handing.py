"""Handing in: what is taken, what is refused, and the receipt.

`submit` takes what `grade` sees, and refuses what `grade` would not read in the
same sentence. Nothing that was handed in before is lost.

What is not here: setting up and beginning anew (see `folder`).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.catalogue import Catalogue, Exercise
from runstate_lab.course.faults import AskedWrongly, Place
from runstate_lab.course.folder import drafted, free, fresh
from runstate_lab.course.names import student as student_name
from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import Cell, document, no_notebook, parse
from runstate_lab.course.taking import Wanted, cell_id_of, other_exercise, take, wanted_in

RECEIPTS = Path(".runstate", "receipts")


@dataclass(frozen=True)
class Receipt:
    """Proof of what was handed in; `set_aside` is where an earlier copy went."""

    student: str
    exercise: str
    sha256: str
    path: str
    set_aside: str = ""


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
    aside = free(target) if os.path.lexists(target) and not same else None
    receipt = Receipt(
        student,
        exercise.name,
        hashlib.sha256(content).hexdigest(),
        str(target),
        str(aside or ""),
    )
    if record.is_dir():
        record.rename(free(record))
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
        return wanted_in(document(fresh(catalogue, exercise))) or _named(exercise)
    except (AskedWrongly, Unreadable):
        return _named(exercise)


def _named(exercise: Exercise) -> tuple[Wanted, ...]:
    return tuple(Wanted(task.id, cell_id_of(task.id)) for task in exercise.tasks)


def _says_not_written(parts: tuple[str, ...]) -> bool:
    return all("raise NotImplementedError" in part for part in parts)
