"""Grading. What lies in the folder of a class: a row for each student, and the rest.

A submission is `<student>/<exercise>.ipynb`, or the one file that is certainly
meant. A folder without one has a row that says why; everything else is listed
with a reason, and never silently left out. No link is followed.

What is not here: which file is meant (see `candidates`), and grading it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.names import flaw, left_behind, proposal, shown
from runstate_lab.course.opening import Entry, Folder, opened, read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.grading.candidates import files_in, is_notebook, meant, named_for

SHOWN_NAMES = 3
LISTED = 10
NAME_SHOWN = 80
TAKEN = "graded from "


@dataclass(frozen=True)
class Handed:
    """One submission as found: whose it is, for which exercise, where it lies."""

    student: str
    exercise: str
    path: Path
    notes: tuple[str, ...] = ()
    within: Path | None = field(default=None, compare=False, repr=False)

    def read(self) -> bytes:
        """Its bytes, each step below the class folder opened without following a link."""
        return read_bytes(self.path, within=self.within)


@dataclass(frozen=True)
class Absent:
    """A student's folder without a submission that can be graded, and why."""

    student: str
    exercise: str
    code: str
    detail: str = ""


@dataclass(frozen=True)
class Unexpected:
    """Something in the folder that is no submission, and why it is none."""

    name: str
    reason: str


@dataclass(frozen=True)
class Found:
    """All that lies in the folder of a class; each name in it is in one of these."""

    handed: tuple[Handed, ...]
    absent: tuple[Absent, ...]
    unexpected: tuple[Unexpected, ...]


@dataclass(frozen=True)
class Pupil:
    """One student's folder: what is handed in, what may be meant, and what else is there."""

    name: str
    row: str
    fault: str = ""
    exact: tuple[str, ...] = ()
    meant: dict[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    listed: tuple[Unexpected, ...] = ()
    refused: str = ""

    def handed(self, folder: Path) -> Iterator[Handed]:
        """Its submissions; a file of another name only where no other may be meant."""
        if self.fault or self.refused:
            return
        for exercise in self.exact:
            path = folder / self.name / f"{exercise}.ipynb"
            yield Handed(self.row, exercise, path, within=folder)
        for exercise, names in self.meant.items():
            if len(names) == 1:
                note = f"{TAKEN}“{_short(names[0])}”: there was no {exercise}.ipynb"
                yield Handed(self.row, exercise, folder / self.name / names[0], (note,), folder)


def look(folder: Path, known: tuple[str, ...], chosen: tuple[str, ...]) -> Found:
    """The submissions for the known exercises, and a row or a reason for all the rest.

    A row of what is missing is made for the chosen exercises only.

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
    with opened(folder) as top:
        found = [_entry(top, entry, known) for entry in top.entries()]
    pupils = [each for each in found if isinstance(each, Pupil)]
    handed = tuple(row for pupil in pupils for row in pupil.handed(folder))
    there = tuple(name for name in chosen if any(row.exercise == name for row in handed))
    owed = chosen if len(chosen) == 1 else there or chosen
    rows = [row for pupil in pupils for row in _missing(pupil, chosen, owed)]
    unexpected = [each for each in found if isinstance(each, Unexpected)]
    unexpected += [row for pupil in pupils for row in pupil.listed]
    return Found(
        handed,
        tuple(row for row in rows if isinstance(row, Absent)),
        (*unexpected, *(row for row in rows if isinstance(row, Unexpected))),
    )


def students(folder: Path) -> tuple[str, ...]:
    """The students that have a folder, under the names of their rows."""
    with opened(folder) as top:
        found = [_entry(top, entry, ()) for entry in top.entries()]
    return tuple(each.row for each in found if isinstance(each, Pupil))


def _entry(top: Folder, entry: Entry, known: tuple[str, ...]) -> Pupil | Unexpected:
    name = _short(entry.name)
    if left_behind(entry.name):
        return Unexpected(name, "left behind by another system or program")
    if entry.kind == "link":
        return Unexpected(name, "a symbolic link; it is not followed")
    if entry.kind != "folder":
        sort = "a file" if entry.kind == "file" else "neither a file nor a folder,"
        return Unexpected(name, f"{sort} beside the student folders")
    pupil = _pupil(top, entry.name, known)
    if entry.name.startswith(".") and not (pupil.exact or pupil.refused):
        return Unexpected(name, "a hidden folder")
    return pupil


def _pupil(top: Folder, name: str, known: tuple[str, ...]) -> Pupil:
    row, fault = shown(name), flaw(name)
    try:
        with top.below(name) as folder:
            entries = folder.entries()
            exact = tuple(each for each in known if _has(entries, f"{each}.ipynb"))
            missing = tuple(each for each in known if each not in exact)
            files = files_in(folder) if known else []
            others = tuple(each for each in files if each not in {f"{one}.ipynb" for one in exact})
            may_be = {} if fault else meant(folder, others, missing)
    except Unreadable as refusal:
        return Pupil(name, row, fault, refused=refusal.code)
    except OSError:
        return Pupil(name, row, fault, refused="unreadable")
    taken = {f"{each}.ipynb" for each in exact}
    taken |= {names[0].partition("/")[0] for names in may_be.values() if len(names) == 1}
    rest = [entry for entry in entries if entry.name not in taken]
    listed = tuple(_listed(row, rest, known, exact)) if known else ()
    if not entries:
        listed = (Unexpected(row, "an empty folder"),)
    return Pupil(name, row, fault, exact, may_be, others, listed)


def _has(entries: list[Entry], name: str) -> bool:
    return any(entry.name == name for entry in entries)


def _listed(
    row: str, rest: list[Entry], known: tuple[str, ...], exact: tuple[str, ...]
) -> Iterator[Unexpected]:
    for entry in rest[:LISTED]:
        graded = next((each for each in exact if named_for(entry.name, each)), "")
        reason = f"not one of {', '.join(f'{name}.ipynb' for name in known)}"
        if left_behind(entry.name):
            reason = "left behind by another system or program"
        elif graded:
            reason = f"left out: {graded}.ipynb is there"
        yield Unexpected(f"{row}/{_short(entry.name)}", reason)
    if len(rest) > LISTED:
        yield Unexpected(f"{row}/", f"... and {len(rest) - LISTED:,} more that are no submission")


def _missing(
    pupil: Pupil, chosen: tuple[str, ...], owed: tuple[str, ...]
) -> Iterator[Absent | Unexpected]:
    """The rows of a folder without a submission for the chosen exercises."""
    own = tuple(each for each in chosen if each in pupil.exact)
    if pupil.refused or pupil.fault:
        code = "bad-name" if pupil.fault else pupil.refused
        would_do = f"it {pupil.fault}; “{proposal(pupil.name)}” would do"
        detail = would_do if pupil.fault else "the student's folder"
        yield from (Absent(pupil.row, each, code, detail) for each in own or owed)
        return
    several = {each: names for each, names in pupil.meant.items() if len(names) > 1}
    for exercise in chosen:
        if exercise in several:
            yield Absent(pupil.row, exercise, "misnamed", _found(several[exercise], exercise))
    graded = {*pupil.exact, *pupil.meant}
    if graded.intersection(chosen):
        return
    if graded:
        others = ", ".join(sorted(graded))
        yield Unexpected(pupil.row, f"handed in {others}, and nothing for {', '.join(owed)}")
        return
    books = tuple(filter(is_notebook, pupil.others))
    code = "misnamed" if books else "nothing-handed-in"
    for exercise in owed:
        yield Absent(pupil.row, exercise, code, _found(books or pupil.others, exercise))


def _found(names: tuple[str, ...], exercise: str) -> str:
    told = ", ".join(_short(name) for name in names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    told += f" and {more:,} more" if more > 0 else ""
    return f"found {told or 'nothing'}, looked for {exercise}.ipynb"


def _short(name: str) -> str:
    return shown(name, most=NAME_SHOWN)
