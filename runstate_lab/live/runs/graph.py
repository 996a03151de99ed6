"""Machinery. A whole run as plain values, small enough to be sent once.

The browser gets no states. For each field, and each element in one, it gets
what it was from which step on; from that it shows any step, compares any two
and knows who wrote what. Words, values and columns that repeat are sent once.

What is not here: the picture's marks (see `timeline`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runstate_lab.context import Context, ContextBuilder
from runstate_lab.live.runs import timeline
from runstate_lab.live.runs.diffs import FIELDS, REMOVED, Change, names, parts, short
from runstate_lab.live.runs.lens import wishes
from runstate_lab.live.runs.replays import Frame, beginning
from runstate_lab.model import TUPLES
from runstate_lab.show.told import told

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Status", ("status", "waiting_for", "stop_reason", "first_error", "revision")),
    ("Run", ("run_id", "goal", "success", "budget", "driver", "turn", "step")),
    ("Facts", ("facts",)),
    ("Calls", ("calls", "settled")),
    ("Requests", ("requests", "answered", "grants")),
    ("Nodes", ("nodes",)),
)
NOTHING = -1


class Pool:
    """Values that repeat, each kept once under its number.

    >>> pool = Pool()
    >>> pool.number("runtime"), pool.number("model"), pool.number("runtime")
    (0, 1, 0)
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value that is made of plain values."""
        key = value if isinstance(value, str) else json.dumps(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def run_graph(
    frames: Sequence[Frame], contexts: Sequence[Context], reader: str = ""
) -> dict[str, Any]:
    """All that the browser needs about a run; `reader` says what the contexts are for."""
    where = timeline.layout(frames)
    words, columns, values = Pool(), Pool(), Pool()
    steps = [_step(frame, words, columns, where) for frame in frames]
    cells = _cells(frames, values)
    return {
        "run": frames[0].after.run_id,
        "begins": beginning(frames),
        "reader": reader,
        "sources": list(dict.fromkeys(frame.source for frame in frames if frame.source)),
        "groups": GROUPS,
        "tuples": TUPLES,
        "wishes": dict(wishes(frames)),
        "steps": steps,
        "words": words.values,
        "columns": columns.values,
        "cells": cells,
        "values": values.values,
        **_shown(contexts),
        "ground": timeline.ground(where),
        "fold": timeline.folded(where, 0, timeline.MANY),
        "size": [timeline.LEFT, timeline.COLUMN, timeline.FOLD, where.height],
    }


def contexts_of(
    frames: Sequence[Frame], builder: ContextBuilder, privacy: str
) -> tuple[Context, ...]:
    """What the builder shows of the state after each step."""
    found: list[Context] = []
    for frame in frames:
        stays = found and frame.before is frame.after
        found.append(found[-1] if stays else builder.build(frame.after, privacy=privacy))
    return tuple(found)


def _step(frame: Frame, words: Pool, columns: Pool, where: timeline.Layout) -> list[Any]:
    marks = timeline.column(frame, where, 0, step=timeline.STEP, revision=timeline.REVISION)
    event = frame.entry.event if frame.entry is not None else None
    offer = (
        (event.kind, told(event.value), event.authority, event.call_id or "")
        if event
        else (frame.does, "", "", "")
    )
    return [
        columns.number(marks),
        frame.after.revision,
        event.expected_revision if event else NOTHING,
        int(frame.idle),
        *(words.number(one) for one in (frame.source, *offer, frame.code, frame.remark)),
    ]


def _cells(frames: Sequence[Frame], values: Pool) -> list[Any]:
    """For each field and element: its name, and from which step on it has which value."""
    cells: dict[tuple[str, str], list[int]] = {}
    state = frames[0].after
    for field in FIELDS:
        value = getattr(state, field)
        cells[field, ""] = [0, _value(value, values)]
        if field in TUPLES:
            for element, inner in zip(names(value), value, strict=True):
                cells[field, element] = [0, _value(inner, values)]
    for frame in frames[1:]:
        for change in sorted(frame.changes, key=lambda one: one.how != REMOVED):
            _note(cells, frame.number, change, values)
    return [[field, element, *history] for (field, element), history in cells.items()]


def _note(
    cells: dict[tuple[str, str], list[int]], number: int, change: Change, values: Pool
) -> None:
    gone = change.how == REMOVED
    history = cells.setdefault((change.field, change.element), [])
    history += [number, NOTHING if gone else _value(change.new, values)]
    whole = cells[change.field, ""]
    if change.field in TUPLES and whole[-2] != number:
        # Of a tuple as a whole only the steps that touched it matter; its elements say what.
        whole += [number, whole[1]]


def _value(value: object, values: Pool) -> int:
    if isinstance(value, tuple) and not (value and isinstance(value[0], str)):
        value = ()
    return values.number([short(value), parts(value)])


def _shown(contexts: Sequence[Context]) -> dict[str, Any]:
    """The lines of all contexts, and for each step which of them it shows, as ranges."""
    lines, left, kinds = Pool(), Pool(), Pool()
    every = [line for context in contexts for line in context.lines]
    # Facts first: they follow each other, so a context is a range of them.
    for line in sorted(dict.fromkeys(every), key=lambda line: not line.startswith("fact: ")):
        lines.number(line)
    of_step = []
    for context in contexts:
        out = _ranges([left.number([one.what, one.why]) for one in context.left_out])
        ranges = _ranges([lines.number(line) for line in context.lines])
        of_step.append(kinds.number([ranges, out]))
    return {
        "lines": lines.values,
        "left": left.values,
        "contexts": kinds.values,
        "shown": of_step,
    }


def _ranges(numbers: Sequence[int]) -> list[int]:
    """First and length of each stretch of numbers that follow each other.

    >>> _ranges([7, 8, 9, 2])
    [7, 3, 2, 1]
    """
    found: list[int] = []
    for number in numbers:
        if found and found[-2] + found[-1] == number:
            found[-1] += 1
        else:
            found += [number, 1]
    return found
