"""Grading. Reads what a student handed in, and takes nothing but the answers.

A small reader of our own: size-capped, regular files only, links not followed,
and no structure of the file is believed. From a readable notebook only the
sources of answer cells are taken, found by `metadata.runstate`, else by
cell id, else by the marker line `# answer: 04.1`.

What is not here: whether an answer parses (see `sift`: student text is never
parsed in this process) and whether it is right (see `session`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.grading.verdict import REASONS

SIZE_LIMIT = 20 * 1024 * 1024
MARKER = re.compile(r"\s*#\s*answer:\s*([\w.-]+)\s*")
TASK = re.compile(r"([0-9]{2})\.[0-9]{1,3}")
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)


class Unreadable(Exception):
    """The file cannot be graded; `code` is a row of `verdict.REASONS`.

    >>> print(Unreadable("v3"))
    this is a notebook of format 3
    hint: open it in Jupyter, save it, and hand in again
    """

    def __init__(self, code: str, *, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        found, todo = REASONS[self.code]
        found = f"{found}: {self.detail}" if self.detail else found
        return f"{found}\nhint: {todo}"


@dataclass(frozen=True)
class Cell:
    """One cell of a submission, reduced to what may be used."""

    number: int
    kind: str
    source: str
    cell_id: str
    key: str
    role: str


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


def read_bytes(path: Path) -> bytes:
    """The file's bytes; refuses links, devices and more than 20 MB.

    >>> read_bytes(Path("/dev/null"))
    Traceback (most recent call last):
    ...
    runstate_lab.grading.submission.Unreadable: what was handed in is not a regular file
    hint: hand in the notebook file itself
    """
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        code = "symlink" if error.errno == errno.ELOOP else "unreadable"
        raise Unreadable(code) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise Unreadable("not-a-file")
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        raise Unreadable("too-big")
    return content


def digest(content: bytes) -> str:
    """The submission's name in every record: the SHA-256 of its bytes."""
    return hashlib.sha256(content).hexdigest()


def parse(content: bytes) -> tuple[Cell, ...]:
    """The notebook's cells; outputs, tags and the rest are never looked at.

    >>> parse(b'{"nbformat": 3}')
    Traceback (most recent call last):
    ...
    runstate_lab.grading.submission.Unreadable: this is a notebook of format 3
    hint: open it in Jupyter, save it, and hand in again
    >>> parse(b'{"nbformat": 4, "cells": []}')
    ()
    """
    notebook = _json(_text(content))
    if type(notebook) is not dict:
        raise Unreadable("not-a-notebook")
    version = notebook.get("nbformat")
    if type(version) is int and version == 3:
        raise Unreadable("v3")
    if type(version) is not int or version != 4:
        raise Unreadable("version", detail="no number" if type(version) is not int else "")
    cells = notebook.get("cells")
    if type(cells) is not list:
        raise Unreadable("no-cells")
    return tuple(_cell(number, cell) for number, cell in enumerate(cells, start=1))


def take(cells: tuple[Cell, ...], wanted: Wanted) -> Answer:
    """The answer's parts, however its cell was found; altered neighbours count nothing.

    >>> cells = parse(b'{"nbformat": 4, "cells": [{"cell_type": "code", '
    ...               b'"source": ["# answer: 04.1", "\\\\n", "x = 1"]}]}')
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

    >>> cells = parse(b'{"nbformat": 4, "cells": [{"source": "# answer: 02.1"}]}')
    >>> other_exercise(cells, (Wanted("04.1"),)), other_exercise(cells, (Wanted("02.3"),))
    ('02', '')
    """
    said = [_said(cell) for cell in cells]
    numbers = {found.group(1) for found in map(TASK.fullmatch, said) if found}
    own = {each.answer.partition(".")[0] for each in wanted}
    return min(numbers) if numbers and own and not numbers & own else ""


def _said(cell: Cell) -> str:
    if cell.key and cell.role == "answer":
        return cell.key
    lines = cell.source.strip().splitlines()
    marked = MARKER.fullmatch(lines[0]) if lines else None
    return marked.group(1) if marked else ""


def _by_metadata(cell: Cell, wanted: Wanted) -> bool:
    return cell.key == wanted.answer and cell.role == "answer"


def _by_cell_id(cell: Cell, wanted: Wanted) -> bool:
    return bool(wanted.cell_id) and cell.cell_id == wanted.cell_id


def _by_marker(cell: Cell, wanted: Wanted) -> bool:
    lines = cell.source.strip().splitlines()
    marked = MARKER.fullmatch(lines[0]) if lines else None
    return marked is not None and marked.group(1) == wanted.answer


FOUND_BY: tuple[tuple[str, Callable[[Cell, Wanted], bool]], ...] = (
    ("metadata", _by_metadata),
    ("cell id", _by_cell_id),
    ("marker line", _by_marker),
)


def _from_hits(hits: list[Cell], wanted: Wanted, notes: tuple[str, ...]) -> Answer:
    code = [cell for cell in hits if cell.kind == "code"]
    if not code:
        note = f"cell {hits[0].number} is of type {hits[0].kind or 'unknown'}"
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


def same_text(one: str, other: str) -> bool:
    """Whether two sources differ in nothing but marker, blank lines and line ends.

    >>> same_text("# answer: 04.1\\nx = 1\\n", "x = 1")
    True
    """
    return _bare(one) == _bare(other)


def _bare(source: str) -> list[str]:
    lines = [line.rstrip() for line in source.splitlines()]
    return [line for line in lines if line and not MARKER.fullmatch(line)]


def _text(content: bytes) -> str:
    if not content.strip():
        raise Unreadable("empty")
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("encoding", detail=f"byte {error.start}") from None


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise Unreadable("nesting") from None
    except ValueError as error:
        if CONFLICT.search(text):
            raise Unreadable("conflict") from None
        line = getattr(error, "lineno", 0)
        raise Unreadable("not-json", detail=f"line {line}" if line else "") from None


def _cell(number: int, cell: object) -> Cell:
    if type(cell) is not dict:
        raise Unreadable("cell", detail=f"cell {number}")
    source = cell.get("source", "")
    if type(source) is list and all(type(line) is str for line in source):
        source = "".join(source)
    if type(source) is not str:
        raise Unreadable("cell", detail=f"cell {number}")
    marks = _table(_table(cell.get("metadata")).get("runstate"))
    key, role = marks.get("task") or marks.get("id"), marks.get("role")
    texts = (cell.get("cell_type"), source, cell.get("id"), key, role)
    return Cell(number, *(text if type(text) is str else "" for text in texts))


def _table(value: object) -> Mapping[str, object]:
    return value if type(value) is dict else {}
