"""Grading. Which file of a student is meant, where none has the right name.

Browsers, Jupyter and mail programs rename what they save: `x (1).ipynb`,
`x-Copy1.ipynb`, `x.ipynb.txt`. What the answer cells say counts first, then the
name. Only where a single file is meant is it taken.

What is not here: the folders of a class (see `handed`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from runstate_lab.course.names import left_behind
from runstate_lab.course.opening import Folder
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import parse
from runstate_lab.course.taking import exercises_of

DEEPEST = 4
MOST_NAMES = 1000
MOST_READ = 20
CHECKPOINT = "-checkpoint."


def files_in(folder: Folder) -> list[str]:
    """The paths of the regular files below the folder, what is left behind not counted."""
    names: list[str] = []
    for path in _walk(folder, "", 0):
        names.append(path)
        if len(names) >= MOST_NAMES:
            break
    return names


def meant(
    folder: Folder, names: Iterable[str], exercises: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """The files that may be meant for each of the exercises; empty where none is."""
    found: dict[str, list[str]] = {exercise: [] for exercise in exercises}
    if not exercises:
        return {}
    likely = sorted(names, key=lambda name: (not is_notebook(name), name))
    for place, name in enumerate(likely):
        numbers = _said_in(folder, name) if place < MOST_READ else None
        for exercise in exercises:
            number = exercise.partition("_")[0]
            by_name = not numbers and named_for(name, exercise, loosely=numbers is None)
            if by_name or number in (numbers or ()):
                found[exercise].append(name)
    return {exercise: _real(rows) for exercise, rows in found.items() if rows}


def is_notebook(name: str) -> bool:
    """Whether the name is one of a notebook, whatever was put behind it.

    >>> is_notebook("04.IPYNB"), is_notebook("04.ipynb.txt"), is_notebook("04.py")
    (True, True, False)
    """
    return ".ipynb" in name.lower()


def named_for(name: str, exercise: str, *, loosely: bool = True) -> bool:
    """Whether a notebook's name says that it is of that exercise; loosely: by its number.

    >>> [named_for(name, "04_swap") for name in ("04.ipynb", "Copy of 04_Swap (2).ipynb")]
    [True, True]
    >>> [named_for(name, "04_swap") for name in ("14.ipynb", "04.txt", "02_swap.ipynb")]
    [False, False, False]
    """
    if not is_notebook(name):
        return False
    stem = _plain(name.rpartition("/")[2].lower().partition(".ipynb")[0])
    number = exercise.partition("_")[0]
    begins = re.match(rf"\D{{0,12}}?0*{int(number)}(?!\d)" if number.isdecimal() else "$.", stem)
    return _plain(exercise) in stem or (loosely and begins is not None)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "_", folded)


def _walk(folder: Folder, before: str, depth: int) -> Iterator[str]:
    try:
        entries = folder.entries()
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or left_behind(entry.name):
            continue
        if entry.kind == "file":
            yield before + entry.name
        elif entry.kind == "folder" and depth < DEEPEST:
            try:
                with folder.below(entry.name) as below:
                    yield from _walk(below, f"{before}{entry.name}/", depth + 1)
            except Unreadable:
                continue


def _said_in(folder: Folder, name: str) -> frozenset[str] | None:
    """The exercises that the file's answer cells say they are of; None for no notebook."""
    head, _, rest = name.partition("/")
    try:
        if rest:
            with folder.below(head) as below:
                return _said_in(below, rest)
        return exercises_of(parse(folder.read(name)))
    except Unreadable:
        return None


def _real(names: list[str]) -> tuple[str, ...]:
    """The names without Jupyter's checkpoints, unless there is nothing else."""
    return tuple(name for name in names if CHECKPOINT not in name) or tuple(names)
