"""A notebook as it is saved: its cells, or the refusal of what is none.

Whatever stands in the notebook's place is looked at before it is believed: a
folder, a broken file, or a list that only looks like cells. What the answers
are worth is not judged here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runstate_lab.course.catalogue import Exercise
from runstate_lab.course.faults import CourseFault, Place

MARKER = re.compile(r"\s*#\s*answer:")

Cell = Mapping[str, Any]
Notebook = Mapping[str, Any]


def read_notebook(path: Path, exercise: Exercise) -> Notebook:
    """The notebook in that file; FileNotFoundError where nothing stands there."""
    if path.is_dir():
        raise _no_notebook("a folder stands in the notebook's place", path, exercise)
    return notebook_of(path.read_bytes(), path, exercise)


def notebook_of(content: bytes, path: Path, exercise: Exercise) -> Notebook:
    """The notebook with these bytes; `path` is where they were read."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _no_notebook(f"this is no notebook: {error}", path, exercise) from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise _no_notebook("this is no notebook: it has no list of cells", path, exercise)
    for number, cell in enumerate(notebook["cells"], start=1):
        if not _is_cell(cell):
            raise _no_notebook(f"this is no notebook: cell {number} is no cell", path, exercise)
    return notebook


def marks_of(cell: Cell) -> Mapping[str, Any]:
    """What our metadata say of a code cell; empty for others."""
    metadata = cell.get("metadata", {})
    marks = metadata.get("runstate", {}) if cell.get("cell_type") == "code" else {}
    return marks if isinstance(marks, dict) else {}


def source_of(cell: Cell) -> str:
    """The source of a cell as one text."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def answers_in(notebook: Notebook) -> tuple[str, ...]:
    """The sources of the answer cells that are not empty."""
    sources = (
        source_of(cell).strip()
        for cell in notebook["cells"]
        if marks_of(cell).get("role") == "answer"
        or (cell.get("cell_type") == "code" and MARKER.match(source_of(cell)))
    )
    return tuple(filter(None, sources))


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata", {}), dict):
        return False
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return all(isinstance(line, str) for line in lines)


def _no_notebook(found: str, path: Path, exercise: Exercise) -> CourseFault:
    hint = f"runstate-lab reset {exercise.number} keeps what is there and puts a fresh one"
    return CourseFault(found, place=Place(path), hint=hint)
