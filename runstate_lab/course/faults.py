"""What can be wrong with a course, and how it is said.

A fault names the place (file and line), what was found, and one thing to do.
Refusals of the kernel are not here: they are `runstate_lab.errors`.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CURES: Mapping[int, str] = {
    errno.EACCES: "make it writable for you, or work in a copy of the folder",
    errno.EPERM: "make it writable for you, or work in a copy of the folder",
    errno.EROFS: "work in a copy of the folder that you can write to",
    errno.ENOSPC: "make room on the disk, then try again",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOTDIR: "a file stands where a folder should be: move it away",
    errno.EEXIST: "a file stands where a folder should be: move it away",
    errno.EISDIR: "a folder stands where a file should be: move it away",
    errno.ENOENT: "look whether the path is right",
}


@dataclass(frozen=True)
class Place:
    """A line of a file; line 0 stands for the whole file.

    >>> print(Place(Path("catalogue.toml"), 7))
    catalogue.toml:7
    >>> print(Place(Path("catalogue.toml")))
    catalogue.toml
    """

    path: Path
    line: int = 0

    def __str__(self) -> str:
        """The place as compilers print it."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


class CourseFault(Exception):
    """Something that was checked does not hold; exit code 1.

    >>> print(CourseFault("no hints", place=Place(Path("a.toml"), 3), hint="add three"))
    a.toml:3: no hints
    hint: add three
    """

    exit_code = 1

    def __init__(self, found: str, *, place: Place | None = None, hint: str = "") -> None:
        """Keep the parts; the message is made of them."""
        super().__init__(found)
        self.found = found
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        """Place, what was found, and what to do."""
        where = f"{self.place}: " if self.place else ""
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{where}{self.found}{hint}"


class AskedWrongly(CourseFault):
    """The question itself cannot be answered; exit code 2."""

    exit_code = 2


def unusable(error: OSError) -> AskedWrongly:
    """The fault of a path that the system refused, in the system's words.

    >>> print(unusable(PermissionError(13, "Permission denied", "mine.ipynb")))
    mine.ipynb: Permission denied
    hint: make it writable for you, or work in a copy of the folder
    """
    path = error.filename2 if error.filename2 is not None else error.filename
    place = None if path is None else Place(Path(str(path)))
    cure = CURES.get(error.errno or 0, "look at the path, then try again")
    return AskedWrongly(error.strerror or str(error), place=place, hint=cure)


class Faults(CourseFault):
    """Several faults found in one look, told together."""

    def __init__(self, faults: tuple[CourseFault, ...]) -> None:
        """Keep each fault; `faults` must not be empty."""
        super().__init__("; ".join(fault.found for fault in faults))
        self.faults = faults

    def __str__(self) -> str:
        """One fault after the other."""
        return "\n".join(str(fault) for fault in self.faults)


def raise_any(faults: list[CourseFault]) -> None:
    """Nothing where the list is empty; else the one fault, or all of them.

    >>> raise_any([])
    >>> raise_any([CourseFault("stale"), CourseFault("no hints")])
    Traceback (most recent call last):
    runstate_lab.course.faults.Faults: stale
    no hints
    """
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise Faults(tuple(faults))
