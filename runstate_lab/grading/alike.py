"""Grading. What two rows of a gradebook share: the look of a name, a file, the answers.

It is said to the instructor and changes no grade: two students may have had the
same idea, and one student may have two folders.

What is not here: when two texts are the same (see `course.taking`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from runstate_lab.course.names import normal, shown, skeleton
from runstate_lab.grading.verdict import Record

MOST_NAMES = 10


def remarks(records: Iterable[Record]) -> tuple[str, ...]:
    """What to look at, a sentence each; empty where nothing is alike.

    >>> remarks([])
    ()
    """
    rows = tuple(records)
    return (*_names(rows), *_copies(rows))


def _names(rows: tuple[Record, ...]) -> Iterator[str]:
    alike: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        alike[skeleton(row.student)].add(row.student)
    for names in alike.values():
        if len(names) > 1:
            yield f"{_listed(names)}: {_difference(names)}; each has a row of its own"


def _difference(names: set[str]) -> str:
    if len({normal(name) for name in names}) == 1:
        return "two spellings of one name, with other bytes for an accent"
    if len({normal(name).casefold() for name in names}) == 1:
        return "they differ in capital letters only"
    return "these names look the same"


def _copies(rows: tuple[Record, ...]) -> Iterator[str]:
    """Who gave the same answers; untouched stubs and unreadable files have no likeness."""
    alike: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for row in rows:
        if row.likeness:
            alike[row.exercise, row.likeness].append(row)
    for (exercise, _), same in alike.items():
        if len({row.student for row in same}) > 1:
            one_file = len({row.submission for row in same}) == 1
            what = "handed in the same file" if one_file else "gave the same answers"
            yield f"{exercise}: {_listed({row.student for row in same})} {what}"


def _listed(names: set[str]) -> str:
    told = [f"“{shown(name, most=60)}”" for name in sorted(names)]
    more = len(told) - MOST_NAMES
    return ", ".join(told[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
