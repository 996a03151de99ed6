"""A notebook as it is saved: read with bounds, and nothing taken but its cells.

The one reader of `check`, `submit` and `grade`: regular files only, links not
followed, counted before it is parsed, and no structure of the file is believed.

What is not here: which cells are the answers (see `taking`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runstate_lab.course.catalogue import Exercise
from runstate_lab.course.faults import CourseFault, Place
from runstate_lab.course.mistaken import refuse_other_kinds, told
from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import (
    DEEPEST,
    LONGEST_CELL,
    MOST_CELLS,
    MOST_VALUES,
    Unreadable,
)

# Possessive: a text of ten million escapes must not be remembered step by step.
TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)
JSON_LIKE = re.compile(r"\s*[{\[]")
CUT = ("unexpected end of data", "truncated data")
SHORT = 80

Notebook = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook, reduced to what may be used."""

    number: int
    kind: str
    source: str
    cell_id: str
    key: str
    role: str


def digest(content: bytes) -> str:
    """The file's name in every record: the SHA-256 of its bytes."""
    return hashlib.sha256(content).hexdigest()


def read_notebook(path: Path, exercise: Exercise) -> Notebook:
    """The notebook in that file; FileNotFoundError where nothing stands there."""
    if not os.path.lexists(path):
        raise FileNotFoundError(path)
    try:
        return document(read_bytes(path))
    except Unreadable as refusal:
        raise no_notebook(refusal, path, exercise) from None


def no_notebook(refusal: Unreadable, path: Path, exercise: Exercise) -> CourseFault:
    """The refusal as a fault of that file: its sentence, and how to begin anew."""
    anew = f"runstate-lab reset {exercise.number} keeps what is there and puts a fresh one"
    return CourseFault(refusal.found, place=Place(path), hint=f"{refusal.todo}; or: {anew}")


def parse(content: bytes) -> tuple[Cell, ...]:
    """The notebook's cells; outputs, tags and the rest are never looked at.

    >>> parse(b'{"nbformat": 3}')
    Traceback (most recent call last):
    ...
    runstate_lab.course.reasons.Unreadable: this is a notebook of format 3
    hint: open it in Jupyter, save it, and hand in again
    >>> parse(b'{"nbformat": 4, "cells": []}')
    ()
    """
    cells = document(content)["cells"]
    return tuple(_cell(number, cell) for number, cell in enumerate(cells, start=1))


def document(content: bytes) -> Notebook:
    """The notebook as the JSON object that it is, its cells looked at one by one.

    >>> document(b'{"nbformat": 4, "cells": [3]}')
    Traceback (most recent call last):
    ...
    runstate_lab.course.reasons.Unreadable: a cell of the notebook cannot be read: cell 1
    hint: open it in Jupyter, save it, and hand in again
    """
    refuse_other_kinds(content)
    encoding = json.detect_encoding(content)
    text = _text(content, encoding)
    if JSON_LIKE.match(text):
        _refuse_too_much(content if encoding.startswith("utf-8") else text.encode())
    notebook = _json(text)
    if type(notebook) is not dict:
        raise Unreadable("not-a-notebook")
    _refuse_other_formats(notebook)
    cells = notebook.get("cells")
    if type(cells) is not list:
        raise Unreadable("no-cells")
    if len(cells) > MOST_CELLS:
        raise Unreadable("too-many-cells", detail=f"{len(cells):,}")
    for number, cell in enumerate(cells, start=1):
        _cell(number, cell)
    return notebook


def marks_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """What our metadata say of a code cell; empty for others."""
    return _table(_table(cell.get("metadata")).get("runstate")) if _is_code(cell) else {}


def source_of(cell: Mapping[str, Any]) -> str:
    """The source of a cell as one text."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _text(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end == len(content) and error.reason in CUT:
            raise Unreadable("cut-off", detail="in the middle of a character") from None
        raise Unreadable("encoding", detail=f"byte {error.start}") from None


def _refuse_too_much(content: bytes) -> None:
    """Raise Unreadable where parsing would fill the memory: counted, not parsed.

    A file of twenty megabytes can hold ten million empty objects.
    """
    depth = cells = 0
    key = b""
    for count, found in enumerate(TOKEN.finditer(content)):
        token = found[0]
        if token in b"{[":
            depth += 1
            if depth > DEEPEST:
                raise Unreadable("nesting")
        elif token in b"}]":
            depth -= 1
        elif token == b",":
            cells += depth == 2 and key == b'"cells"'
            if cells >= MOST_CELLS:
                raise Unreadable("too-many-cells")
        elif depth == 1:
            key = token
        if count > MOST_VALUES:
            raise Unreadable("too-many-values")


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise Unreadable("nesting") from None
    except ValueError as error:
        raise told(text, error) from None


def _refuse_other_formats(notebook: Notebook) -> None:
    version = notebook.get("nbformat")
    if not notebook:
        raise Unreadable("blank")
    if version is None and "cells" not in notebook:
        inside = any("cells" in _table(value) for value in notebook.values())
        raise Unreadable("wrapped" if inside else "not-a-notebook")
    if type(version) is int and version == 3:
        raise Unreadable("v3")
    if type(version) is not int:
        raise Unreadable("version", detail="no number")
    if version != 4:
        raise Unreadable("version", detail=str(version)[:SHORT])


def _cell(number: int, cell: object) -> Cell:
    if type(cell) is not dict:
        raise Unreadable("cell", detail=f"cell {number}")
    source = cell.get("source", "")
    if type(source) is list and all(type(line) is str for line in source):
        source = "".join(source)
    if type(source) is not str:
        raise Unreadable("cell", detail=f"cell {number}")
    if len(source) > LONGEST_CELL and _is_code(cell):
        raise Unreadable("cell-too-big", detail=f"cell {number}")
    marks = _table(_table(cell.get("metadata")).get("runstate"))
    key, role = marks.get("task") or marks.get("id"), marks.get("role")
    kind, *rest = (
        text[:SHORT] if type(text) is str else ""
        for text in (cell.get("cell_type"), cell.get("id"), key, role)
    )
    return Cell(number, kind, source if _is_code(cell) else source[:LONGEST_CELL], *rest)


def _is_code(cell: Mapping[str, Any]) -> bool:
    return cell.get("cell_type") == "code"


def _table(value: object) -> Mapping[str, Any]:
    return value if type(value) is dict else {}
