"""Grading. What lies in the folder of a class: submissions, and the rest.

A submission is `<student>/<exercise>.ipynb`. Everything else is listed with a
reason, never opened and never silently left out.

What is not here: opening a submission (see `submission`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.faults import AskedWrongly

NAME_BYTES = 200
MOST_NAMES = 1000
SHOWN_NAMES = 3
DEEPEST = 4


@dataclass(frozen=True)
class Handed:
    """One submission as found: whose it is, for which exercise, where it lies."""

    student: str
    exercise: str
    path: Path


@dataclass(frozen=True)
class Absent:
    """A student without a notebook for the exercise, and the names of what was found."""

    student: str
    exercise: str
    found: tuple[str, ...]
    misnamed: bool

    @property
    def detail(self) -> str:
        """What was found, and what was looked for.

        >>> Absent("ana", "04_swap", ("04.ipynb",), True).detail
        'found 04.ipynb, looked for 04_swap.ipynb'
        """
        names = [printable(name)[:80] for name in self.found[:SHOWN_NAMES]]
        more = len(self.found) - len(names)
        told = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        return f"found {told or 'nothing'}, looked for {self.exercise}.ipynb"


@dataclass(frozen=True)
class Unexpected:
    """Something in the folder that is no submission, and why it is none."""

    name: str
    reason: str


def look(
    folder: Path, known: tuple[str, ...], chosen: tuple[str, ...]
) -> tuple[tuple[Handed, ...], tuple[Unexpected, ...]]:
    """The submissions for the chosen exercises, and what else lies there, sorted.

    >>> look(Path("/no/such/class"), (), ())
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: there is no folder /no/such/class
    hint: name the folder that holds one folder per student
    """
    if not folder.is_dir():
        raise AskedWrongly(
            f"there is no folder {folder}",
            hint="name the folder that holds one folder per student",
        )
    found = [row for entry in _entries(folder) for row in _student(entry, known, chosen)]
    return (
        tuple(row for row in found if isinstance(row, Handed)),
        tuple(row for row in found if isinstance(row, Unexpected)),
    )


def students(folder: Path) -> tuple[str, ...]:
    """The students that have a folder, with whatever is in it."""
    return tuple(entry.name for entry in _entries(folder) if not _no_student(entry))


def absent(
    folder: Path, exercise: str, known: tuple[str, ...], handed: tuple[Handed, ...]
) -> tuple[Absent, ...]:
    """The students without a notebook for the exercise, and what they handed in instead.

    Whoever handed in another exercise is absent only where a misnamed file
    begins with this exercise's number.
    """
    there = {row.student for row in handed if row.exercise == exercise}
    others = {row.student for row in handed} - there
    rows = []
    for student in students(folder):
        found = [name for name in _inside(folder / student) if name not in _files(known)]
        if student in others:
            number = exercise.partition("_")[0]
            found = [name for name in found if name.startswith(number) and _notebook(name)]
        if student not in there and (found or student not in others):
            books = tuple(filter(_notebook, found))
            rows.append(Absent(student, exercise, books or tuple(found), bool(books)))
    return tuple(rows)


def _files(known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}.ipynb" for name in known)


def _notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")


def _inside(folder: Path) -> list[str]:
    """The names of the files below the folder, hidden ones left out, links not followed."""
    names: list[str] = []
    for where, folders, files in os.walk(folder):
        below = Path(where).relative_to(folder)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = sorted(name for name in files if not name.startswith("."))
        names += [(below / name).as_posix() for name in shown]
        if len(below.parts) >= DEEPEST:
            folders.clear()
        if len(names) > MOST_NAMES:
            break
    return names


def _student(
    entry: os.DirEntry[str], known: tuple[str, ...], chosen: tuple[str, ...]
) -> Iterator[Handed | Unexpected]:
    shown, reason = printable(entry.name), _no_student(entry)
    if reason:
        yield Unexpected(shown, reason)
        return
    try:
        inside = _entries(Path(entry.path))
    except OSError:
        yield Unexpected(shown, "a folder that could not be opened")
        return
    if not inside:
        yield Unexpected(shown, "an empty folder")
    for each in inside:
        yield from _file(entry.name, each, known, chosen)


def _no_student(entry: os.DirEntry[str]) -> str:
    """Why the entry is no student's folder; empty where it is one."""
    if entry.is_symlink():
        return "a symbolic link; it is not followed"
    if not entry.is_dir(follow_symlinks=False):
        return "a file beside the student folders"
    if entry.name.startswith("."):
        return "a hidden folder"
    if printable(entry.name) != entry.name or len(entry.name.encode()) > NAME_BYTES:
        return "a folder name that cannot be printed as it is, or is too long"
    return ""


def _file(
    student: str, entry: os.DirEntry[str], known: tuple[str, ...], chosen: tuple[str, ...]
) -> Iterator[Handed | Unexpected]:
    exercise = entry.name.removesuffix(".ipynb")
    if exercise == entry.name or exercise not in known:
        wanted = ", ".join(f"{name}.ipynb" for name in known)
        yield Unexpected(f"{student}/{printable(entry.name)}", f"not one of {wanted}")
    elif exercise in chosen:
        yield Handed(student, exercise, Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def printable(name: str) -> str:
    """The name with a question mark for each character that cannot be shown.

    >>> printable("ana\\x1b[2K"), printable("李雷")
    ('ana?[2K', '李雷')
    """
    return "".join(letter if letter.isprintable() else "?" for letter in name)
