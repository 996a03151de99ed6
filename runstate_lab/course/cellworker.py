"""The process in which a learner's cells run for `check`. Standard library only.

Started as `python cellworker.py CELLS RESULTS`: reads cells as JSON, runs them
in one namespace, and writes one line per cell to RESULTS, before and after it,
so that a cell that never ends is known by name. What a check prints is part of
its result; what other cells print goes nowhere. This is for a learner's own
machine: `grading` confines, and this does not.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

PRINTED = 20_000


def run(cells: list[dict[str, str]], results: TextIO) -> None:
    """One line per cell before it runs and one after; a failing cell stops nothing."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        note(results, number, "begun")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            fault = run_cell(cell, namespace)
        note(results, number, "ended", printed=printed.getvalue()[:PRINTED], **(fault or {}))


def run_cell(cell: dict[str, str], namespace: dict[str, Any]) -> dict[str, str] | None:
    """None where the cell ran through, else what went wrong in it."""
    name, source = cell["name"], cell["source"]
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec", dont_inherit=True), namespace)
    except BaseException as error:
        # Also SystemExit and KeyboardInterrupt: a learner's cell may raise anything.
        trail = traceback.TracebackException.from_exception(error)
        while trail.stack and trail.stack[0].filename == __file__:
            trail.stack.pop(0)
        return {
            "type": type(error).__name__,
            "message": str(error),
            "traceback": "".join(trail.format()),
        }
    return None


def note(results: TextIO, number: int, state: str, **result: str) -> None:
    """A line for the parent, on the disk before anything else happens."""
    results.write(json.dumps({"cell": number, "state": state, **result}) + "\n")
    results.flush()


if __name__ == "__main__":
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    with Path(sys.argv[2]).open("w", encoding="utf-8") as sink:
        run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sink)
