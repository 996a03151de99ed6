"""Which cells of a notebook are the answers, for `check`, `submit` and `grade` alike.

An answer is found by `metadata.runstate`, else by cell id, else by the marker
line `# answer: 04.1`. Tags, order and the cells around it count nothing.

What is not here: whether an answer parses (see `grading.sift`) or is right.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runstate_lab.course.saved import Cell, Notebook, marks_of, source_of

MARKER = re.compile(r"\s*#+\s*answer\s*:\s*([\w.-]+)\s*", re.IGNORECASE)
TASK = re.compile(r"([0-9]{2})\.[0-9]{1,3}")
CELL_ID = re.compile(r"answer-([0-9]{2})-([0-9]{1,3})")
FIRST_LINE = 200


@dataclass(frozen=True)
class Wanted:
    """An answer that the exercise asks for, and the stub it came with."""

    answer: str
    cell_id: str = ""
    stub: str = ""


@dataclass(frozen=True)
class Answer:
    """What was taken for one answer: its parts, or the flaw that stands for it."""

    answer: str
    parts: tuple[str, ...] = ()
    flaw: str = ""
    notes: tuple[str, ...] = ()


def take(cells: tuple[Cell, ...], wanted: Wanted) -> Answer:
    """The answer's parts, however its cell was found; altered neighbours count nothing.

    >>> cells = (Cell(1, "code", "# answer: 04.1\\nx = 1", "", "", ""),)
    >>> take(cells, Wanted("04.1")).notes
    ('found by its marker line',)
    >>> take(cells, Wanted("04.2")).flaw
    'missing'
    """
    for found_by, matches in FOUND_BY:
        hits = [cell for cell in cells if matches(cell, wanted)]
        if hits:
            notes = () if found_by == "metadata" else (f"found by its {found_by}",)
            return _from_hits(hits, wanted, notes)
    return Answer(wanted.answer, flaw="missing")


def other_exercise(cells: tuple[Cell, ...], wanted: tuple[Wanted, ...]) -> str:
    """The number of the exercise that every answer cell says it is of; else empty.

    >>> cells = (Cell(1, "code", "# answer: 02.1", "", "", ""),)
    >>> other_exercise(cells, (Wanted("04.1"),)), other_exercise(cells, (Wanted("02.3"),))
    ('02', '')
    """
    numbers = exercises_of(cells)
    own = {each.answer.partition(".")[0] for each in wanted}
    return min(numbers) if numbers and own and not numbers & own else ""


def exercises_of(cells: tuple[Cell, ...]) -> frozenset[str]:
    """The numbers of the exercises that the answer cells say they are of.

    >>> exercises_of((Cell(1, "code", "# answer: 02.1", "", "", ""),))
    frozenset({'02'})
    """
    found = (TASK.fullmatch(_said(cell)) for cell in cells)
    return frozenset(each.group(1) for each in found if each)


def wanted_in(stubs: Notebook) -> tuple[Wanted, ...]:
    """What the notebook that students get asks for: its answer cells and their stubs.

    >>> wanted_in({"cells": []})
    ()
    """
    marked = ((marks_of(cell), cell) for cell in stubs["cells"])
    return tuple(
        Wanted(marks.get("task") or marks.get("id", ""), cell.get("id", ""), source_of(cell))
        for marks, cell in marked
        if marks.get("role") == "answer"
    )


def cell_id_of(task: str) -> str:
    """The id that an answer's cell has in every notebook of the course.

    >>> cell_id_of("04.1")
    'answer-04-1'
    """
    return f"answer-{task.replace('.', '-')}"


def likeness(answers: Mapping[str, Answer]) -> str:
    """The same word for the same answers, however they are laid out; empty for none.

    >>> likeness({"04.1": Answer("04.1", ("# answer: 04.1\\nx = 1 ",))}) == likeness(
    ...     {"04.1": Answer("04.1", ("x = 1",))})
    True
    """
    given = {key: _bare("\n".join(row.parts)) for key, row in answers.items() if not row.flaw}
    if not any(given.values()):
        return ""
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


def same_text(one: str, other: str) -> bool:
    """Whether two sources differ in nothing but marker, blank lines and line ends.

    >>> same_text("# answer: 04.1\\nx = 1\\n", "x = 1")
    True
    """
    return _bare(one) == _bare(other)


def _said(cell: Cell) -> str:
    by_id = CELL_ID.fullmatch(cell.cell_id)
    return (
        (cell.key if cell.role == "answer" else "")
        or _marked(cell)
        or (f"{by_id[1]}.{by_id[2]}" if by_id else "")
    )


def _marked(cell: Cell) -> str:
    """The answer that the cell's first line names; empty where it names none."""
    lines = cell.source.lstrip()[:FIRST_LINE].splitlines()
    marked = MARKER.fullmatch(lines[0]) if lines else None
    return marked.group(1) if marked else ""


def _by_metadata(cell: Cell, wanted: Wanted) -> bool:
    return cell.key == wanted.answer and cell.role == "answer"


def _by_cell_id(cell: Cell, wanted: Wanted) -> bool:
    return bool(wanted.cell_id) and cell.cell_id == wanted.cell_id


def _by_marker(cell: Cell, wanted: Wanted) -> bool:
    return _marked(cell) == wanted.answer


FOUND_BY: tuple[tuple[str, Callable[[Cell, Wanted], bool]], ...] = (
    ("metadata", _by_metadata),
    ("cell id", _by_cell_id),
    ("marker line", _by_marker),
)


def _from_hits(hits: list[Cell], wanted: Wanted, notes: tuple[str, ...]) -> Answer:
    code = [cell for cell in hits if cell.kind == "code"]
    if not code:
        kind = hits[0].kind if hits[0].kind.isprintable() else ascii(hits[0].kind)
        note = f"cell {hits[0].number} is of type {kind or 'unknown'}"
        return Answer(wanted.answer, flaw="not-code", notes=(*notes, note))
    parts = tuple(dict.fromkeys(cell.source for cell in code))
    if len(code) > len(parts):
        notes = (*notes, "equal copies of the cell: one taken")
    worked = tuple(part for part in parts if not same_text(part, wanted.stub))
    if not worked:
        return Answer(wanted.answer, parts[:1], "not-answered", notes)
    if len(worked) < len(parts):
        notes = (*notes, "a copy that still holds the stub was left out")
    return Answer(wanted.answer, worked, "", notes)


def _bare(source: str) -> list[str]:
    lines = [line.rstrip() for line in source.splitlines()]
    return [line for line in lines if line and not MARKER.fullmatch(line)]
