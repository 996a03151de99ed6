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


@dataclass(frozen=True)
class Handed:
    """One submission as found: whose it is, for which exercise, where it lies."""

    student: str
    exercise: str
    path: Path


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


def _student(
    entry: os.DirEntry[str], known: tuple[str, ...], chosen: tuple[str, ...]
) -> Iterator[Handed | Unexpected]:
    shown = printable(entry.name)
    if entry.is_symlink():
        yield Unexpected(shown, "a symbolic link; it is not followed")
    elif not entry.is_dir(follow_symlinks=False):
        yield Unexpected(shown, "a file beside the student folders")
    elif entry.name.startswith("."):
        yield Unexpected(shown, "a hidden folder")
    elif shown != entry.name or len(entry.name.encode()) > NAME_BYTES:
        yield Unexpected(shown, "a folder name that cannot be printed as it is, or is too long")
    else:
        try:
            inside = _entries(Path(entry.path))
        except OSError:
            yield Unexpected(shown, "a folder that could not be opened")
            return
        for each in inside:
            yield from _file(entry.name, each, known, chosen)


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
