"""Machinery. A run in words: the text of the panes, the table of the trace.

What is not here: the picture (see `timeline`), and the live view (see `runview`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from runstate_lab.context import Context
from runstate_lab.live.runs.diffs import FIELDS, names, short
from runstate_lab.live.runs.folding import Row
from runstate_lab.live.runs.replays import Frame
from runstate_lab.model import TUPLES, RunState
from runstate_lab.show.told import told

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame

HEADS = (
    "step", "event", "value", "source", "authority", "call", "expects revision", "answer",
    "code", "revision",
)  # fmt: skip


def panes(frames: Sequence[Frame], at: int, context: Context, shown: Sequence[Row]) -> list[str]:
    """The three panes as lines: the state with marks, the trace, the context."""
    frame = frames[at]
    marked = {(change.field, change.element): change.how for change in frame.changes}
    steps = [f"  {row}" if row.folded else f"  {frames[row.first].said}" for row in shown]
    left = [f"  left out: {one}" for one in context.left_out] or ["  nothing was left out"]
    return [
        "State:", *_state(frame.after, marked),
        "Trace:", *steps,
        "Context:", *(f"  {line}" for line in context.lines), *left,
    ]  # fmt: skip


def cells(frame: Frame) -> tuple[object, ...]:
    """The row of one step in the table."""
    if frame.entry is None:
        said = frame.does or "start"
        return (
            frame.number,
            said,
            "",
            frame.source,
            "",
            "",
            "",
            "",
            "",
            frame.after.revision,
        )
    event = frame.entry.event
    return (
        frame.number,
        event.kind,
        told(event.value),
        event.source,
        event.authority,
        event.call_id or "",
        event.expected_revision,
        "refused" if frame.refused else "accepted",
        frame.code,
        frame.after.revision,
    )


def run_table(frames: Sequence[Frame], shown: Sequence[Row]) -> CaptionedFrame:
    """The rows shown, as a pandas table with a caption."""
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    run = frames[0].after.run_id
    return captioned(f"What was offered to {run}", HEADS, _lines(frames, shown))


def _lines(frames: Sequence[Frame], shown: Sequence[Row]) -> Iterator[tuple[object, ...]]:
    for row in shown:
        if row.folded:
            if not row.opened:
                yield (f"{row.first} to {row.last}", str(row), *[""] * (len(HEADS) - 2))
        else:
            yield cells(frames[row.first])


def _state(state: RunState, marked: dict[tuple[str, str], str]) -> Iterator[str]:
    for name in FIELDS:
        value = getattr(state, name)
        if name not in TUPLES:
            yield f"  {name}: {short(value)}{_mark(marked.get((name, '')))}"
            continue
        yield f"  {name}: {len(value) or 'none'}"
        for element, inner in zip(names(value), value, strict=True):
            yield f"    {element}: {short(inner)}{_mark(marked.get((name, element)))}"


def _mark(how: str | None) -> str:
    return "" if how is None else f" ({'new' if how == 'added' else 'changed'})"
