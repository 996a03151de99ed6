"""Masters: percent files with marks, read cell by cell.

A master is Python in the percent format (`# %%` opens a code cell,
`# %% [markdown]` a text). Four marks are known, and a doubtful one is refused
with file and line rather than guessed:

    # answer: 04.1                    first line of the cell that a student fills
    # check: 04.1 words of the check  first line of a visible check
    # BEGIN SOLUTION ... # END SOLUTION   inside an answer: becomes the stub
    tags=["teacher"]                  a cell that the student's copy leaves out

Executing and writing notebooks is `build`'s job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.faults import CourseFault, Place, raise_any

CELL = re.compile(r"# %%(?P<options>.*)")
ANSWER = re.compile(r"# answer: (?P<task>\d\d\.\d+)\s*")
CHECK = re.compile(r"# check: (?P<task>\d\d\.\d+) (?P<name>\S.*?)\s*")
BEGIN = re.compile(r"(?P<indent> *)# BEGIN SOLUTION")
END = re.compile(r"(?P<indent> *)# END SOLUTION")
ANY_MARK = re.compile(r"(BEGIN|END)[ _-]*SOLUTION", re.IGNORECASE)
ALMOST_ROLE = re.compile(r"#\s*(answer|check)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Cell:
    """One cell of a master: its role, its text and where it stands."""

    role: str
    source: str
    line: int
    task: str = ""
    check: str = ""
    tags: tuple[str, ...] = ()

    @property
    def solved(self) -> str:
        """The source with the solution in it and no mark."""
        return "\n".join(line for line in self.source.split("\n") if not ANY_MARK.search(line))

    @property
    def solution_lines(self) -> tuple[str, ...]:
        """The lines that stand between the marks."""
        return tuple(line for line, inside in _regions(self.source) if inside)

    def stub(self, title: str) -> str:
        """The source as a student gets it: each region one line that raises.

        >>> cell = Cell("answer", "# BEGIN SOLUTION\\nx = 1\\n# END SOLUTION", 1, "04.1")
        >>> print(cell.stub("refuse a stale revision"))
        raise NotImplementedError("exercise 04.1: refuse a stale revision")
        """
        lines = []
        for line, inside in _regions(self.source):
            begin = BEGIN.fullmatch(line.rstrip())
            if begin:
                words = f"exercise {self.task}: {title}".replace("\\", "\\\\").replace('"', '\\"')
                lines.append(f'{begin["indent"]}raise NotImplementedError("{words}")')
            elif not inside and not ANY_MARK.search(line):
                lines.append(line)
        return "\n".join(lines)


def read_master(text: str, path: Path) -> tuple[Cell, ...]:
    """The cells of a master; every doubtful mark is told with its line.

    >>> read_master("# %%\\n# END SOLUTION", Path("master.py"))
    Traceback (most recent call last):
    runstate_lab.course.faults.CourseFault: master.py:2: END SOLUTION without BEGIN SOLUTION
    """
    import jupytext

    lines = text.splitlines()
    opened = [number for number, line in enumerate(lines, start=1) if CELL.fullmatch(line)]
    before = lines[: opened[0] - 1] if opened else lines
    for number, line in enumerate(before, start=1):
        if line.strip():
            raise CourseFault(
                "text before the first cell",
                place=Place(path, number),
                hint="begin the file with `# %% [markdown]`",
            )
    raise_any(list(_mark_faults(lines, path)))
    notebook = jupytext.reads(text, "py:percent")
    if len(notebook.cells) != len(opened):
        raise CourseFault(
            f"{len(opened)} cell marks make {len(notebook.cells)} cells", place=Place(path)
        )
    cells = tuple(
        _cell(
            cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())), Place(path, number)
        )
        for cell, number in zip(notebook.cells, opened, strict=True)
    )
    raise_any(list(_cell_faults(cells, path)))
    return cells


def _cell(kind: str, source: str, tags: tuple[str, ...], place: Place) -> Cell:
    if kind == "markdown":
        return Cell("text", source, place.line, tags=tags)
    first = source.partition("\n")[0]
    if answer := ANSWER.fullmatch(first):
        return Cell("answer", source, place.line, answer["task"], tags=tags)
    if check := CHECK.fullmatch(first):
        tags = (*tags, *(("check",) if "check" not in tags else ()))
        return Cell("check", source, place.line, check["task"], check["name"], tags)
    if "check" in tags or ALMOST_ROLE.match(first):
        raise CourseFault(
            f"the first line {first!r} names no task",
            place=Place(place.path, place.line + 1),
            hint="write `# answer: 04.1` or `# check: 04.1 what is expected`",
        )
    return Cell("given", source, place.line, tags=tags)


def _mark_faults(lines: list[str], path: Path) -> Iterator[CourseFault]:
    """Unclosed, nested, stray, misspelled and mis-indented marks, in order."""
    begun: tuple[int, str] | None = None
    for number, line in enumerate([*lines, "# %%"], start=1):
        place = Place(path, number)
        if CELL.fullmatch(line):
            if begun:
                yield CourseFault("BEGIN SOLUTION is never closed", place=Place(path, begun[0]))
            begun = None
            continue
        begin, end = BEGIN.fullmatch(line.rstrip()), END.fullmatch(line.rstrip())
        if begin and begun:
            yield CourseFault(f"BEGIN SOLUTION inside the one of line {begun[0]}", place=place)
        elif begin:
            begun = (number, begin["indent"])
        elif end and not begun:
            yield CourseFault("END SOLUTION without BEGIN SOLUTION", place=place)
        elif end and begun:
            if end["indent"] != begun[1]:
                yield CourseFault(
                    f"END SOLUTION is not indented as in line {begun[0]}", place=place
                )
            if number == begun[0] + 1:
                yield CourseFault("a solution of no lines", place=place)
            begun = None
        elif ANY_MARK.search(line):
            yield CourseFault(
                f"{line.strip()!r} is almost a mark",
                place=place,
                hint="a mark is `# BEGIN SOLUTION` or `# END SOLUTION`, alone on its line",
            )
        elif begun and line.strip() and not line.startswith(begun[1]):
            yield CourseFault(f"a solution line left of the mark in line {begun[0]}", place=place)


def _cell_faults(cells: tuple[Cell, ...], path: Path) -> Iterator[CourseFault]:
    answered: set[str] = set()
    for cell in cells:
        place = Place(path, cell.line)
        marked = bool(ANY_MARK.search(cell.source))
        if marked and cell.role != "answer":
            yield CourseFault(
                "a solution outside an answer cell",
                place=place,
                hint="open it with `# answer: 04.1`",
            )
        if cell.role == "answer":
            if not marked:
                yield CourseFault(f"answer {cell.task} has no BEGIN SOLUTION", place=place)
            if cell.task in answered:
                yield CourseFault(f"a second answer cell for {cell.task}", place=place)
            answered.add(cell.task)
        if cell.role == "check" and cell.task not in answered:
            yield CourseFault(f"a check of {cell.task} before its answer", place=place)


def _regions(source: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands between the marks."""
    inside = False
    for line in source.split("\n"):
        if END.fullmatch(line.rstrip()):
            inside = False
        yield line, inside
        if BEGIN.fullmatch(line.rstrip()):
            inside = True
