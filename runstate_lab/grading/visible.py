"""Grading. The visible checks for `check`: our cells here, the answers in a worker.

Run as a program by `checks`: reads a job, runs given and check cells in one
namespace, and writes one line per check. The student's names in it are proxies,
as they are in a grade, so a check that holds here holds there.

What is not here: words for the learner (see `checks`).
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runstate_lab.grading.binding import Bound, read_plan
from runstate_lab.grading.faults import HandleMisuse, OurFault, StudentError, WorkerGone
from runstate_lab.grading.kinds import kind_of, trace_of
from runstate_lab.grading.ours import end_with_parent
from runstate_lab.grading.surroundings import FUTURE

CELLS, RESULTS = "cells.json", "results.jsonl"
PRINTED = 20_000
FLAGS = "__future_flags__"


def run(cells: list[Mapping[str, str]], bound: Bound) -> Iterator[dict[str, Any]]:
    """One row per check cell: what it printed, and what went wrong in it."""
    namespace: dict[str, Any] = {"__name__": "__main__", FLAGS: 0}
    for cell in cells:
        if cell["role"] == "answer":
            with contextlib.suppress(WorkerGone):
                namespace.update(bound.names_of(cell["task"]))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            fault = run_cell(cell, namespace)
        if cell["role"] == "check":
            fault = died(bound) or fault
            yield {"name": cell["name"], "printed": printed.getvalue()[:PRINTED], **(fault or {})}


def run_cell(cell: Mapping[str, str], namespace: dict[str, Any]) -> dict[str, str] | None:
    """None where the cell ran through, else what went wrong in it."""
    name, source = cell["name"], cell["source"]
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        code = compile(source, name, "exec", namespace[FLAGS], dont_inherit=True)
        namespace[FLAGS] |= code.co_flags & FUTURE
        exec(code, namespace)
    except (Exception, WorkerGone, HandleMisuse, OurFault) as error:
        return fault_of(error)
    return None


def died(bound: Bound) -> dict[str, str] | None:
    """What killed the worker while the check ran: more than what the check made of it."""
    try:
        bound.alive()
    except (WorkerGone, OurFault) as error:
        return fault_of(error)
    return None


def fault_of(error: BaseException) -> dict[str, str]:
    """The kind, the words and the trace of what was raised.

    >>> fault_of(AssertionError("expected 4"))["kind"]
    'wrong'
    """
    kind, _ = kind_of(error)
    if isinstance(error, NameError) and not isinstance(error, StudentError):
        kind = "name-missing"
    said = error.type_name if isinstance(error, StudentError) else type(error).__name__
    return {"kind": kind, "type": said, "words": str(error), "traceback": _trail(error)}


def _trail(error: BaseException) -> str:
    if isinstance(error, StudentError | WorkerGone | HandleMisuse | OurFault):
        return trace_of(error)
    trail = traceback.TracebackException.from_exception(error)
    while trail.stack and not trail.stack[0].filename.startswith("<cell "):
        trail.stack.pop(0)
    return "".join(trail.format())


def main(folder: str) -> None:
    """Runs the job in the folder and writes its results beside it."""
    end_with_parent()
    place = Path(folder)
    cells = json.loads((place / CELLS).read_text(encoding="utf-8"))
    with (place / RESULTS).open("w", encoding="utf-8") as sink:
        for row in run(cells, Bound(read_plan(place))):
            sink.write(json.dumps(row) + "\n")
            sink.flush()


if __name__ == "__main__":
    main(sys.argv[1])
