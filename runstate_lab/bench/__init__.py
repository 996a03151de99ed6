"""The bench: ratios, measured in one run, with peers and a raw control.

Performance is never a gate: an aim that is missed is printed as missed.
Contenders take turns (see `timing`), so that a busy machine hits all alike;
figures of different runs are not to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import cpu_count
from platform import python_version

from runstate_lab.bench import (
    browser,
    commits,
    contention,
    disk,
    exploring,
    importing,
    loops,
    reducer,
)
from runstate_lab.bench.rows import Aim, Line, Row, as_json, as_text
from runstate_lab.bench.scale import FULL, QUICK, Scale

QUESTIONS: dict[str, Callable[[Scale], Row]] = {
    "reducer": reducer.measure,
    "commit": commits.measure,
    "contention": contention.measure,
    "disk": disk.measure,
    "loop": loops.measure,
    "durable-loop": loops.measure_durable,
    "explore": exploring.measure,
    "import": importing.measure,
}
# Needs a Chromium and a minute of its own, so it is measured only when it is named.
NAMED_ONLY: dict[str, Callable[[Scale], Row]] = {"browser": browser.measure}


def measure(names: Sequence[str] = (), *, scale: Scale = FULL) -> Iterator[Row]:
    """The rows of the named questions, or of all, each as soon as it is measured.

    >>> measure(["speed"])
    Traceback (most recent call last):
        ...
    ValueError: asked the row speed, found reducer, commit, contention, disk, loop, durable-loop, explore, import, browser
    hint: name one of these rows, or none for all
    """
    known = {**QUESTIONS, **NAMED_ONLY}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"asked the row {', '.join(unknown)}, found {', '.join(known)}\n"
            "hint: name one of these rows, or none for all"
        )
    asked = [known[name] for name in known if name in (names or QUESTIONS)]
    return (_told(question(scale), scale) for question in asked)


def _told(row: Row, scale: Scale) -> Row:
    import sqlite3

    versions = f"Python {python_version()}, SQLite {sqlite3.sqlite_version}, {cpu_count()} cores"
    rounds = f"; {scale.rounds} rounds" if scale.rounds > 1 else "; 1 round, which says little"
    timed = any(line.spread for line in row.lines)
    return replace(row, notes=(*row.notes, versions + (rounds if timed else "")))


__all__ = ["Aim", "FULL", "Line", "NAMED_ONLY", "QUESTIONS", "QUICK", "Row", "Scale", "as_json", "as_text", "measure"]
