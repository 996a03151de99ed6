"""Machinery. The space-time view: two writers, one store, a column for each step.

Time runs to the right. A writer's lane is thick from what it read to what it
submitted: so long it believes in one revision. Arrows that reach the store
were accepted; dashed ones were refused.

What is not here: what happens in a step (see `steps`).
"""

from __future__ import annotations

from dataclasses import dataclass

from runstate_lab.live.marks import Mark, Marks, box, dot, head, line, path, text

SIZE = (800, 288)
LANES = {"A": 56, "store": 138, "B": 220}
FIRST, COLUMN = 200, 102
LEFT, RIGHT = 132, 786
STEPS = 6
ABOVE, BELOW = -1, 1
SIDES = {"A": ABOVE, "B": BELOW}


@dataclass(frozen=True, slots=True)
class Column:
    """What one step looks like: who, what, and what the store answered."""

    number: int
    actor: str
    action: str
    detail: str
    since: int
    revision: int
    accepted: bool | None = None
    answer: str = ""
    remark: str = ""


def ground(names: dict[str, str], revision: int) -> Marks:
    """The lanes with their names, the first revision and the numbers of the steps."""
    lanes = [line(LEFT, y, RIGHT, y, "lane") for y in LANES.values()]
    titles = [*_title("A", names["A"]), *_title("B", names["B"]), *_title("store", "revision")]
    numbers = [text(place(step), SIZE[1] - 6, str(step), "soft") for step in range(1, STEPS + 1)]
    word = text(14, SIZE[1] - 6, "step", "soft", anchor="start")
    return (*lanes, *titles, *_pill(LEFT + 18, revision, "pill"), word, *numbers)


def marks(column: Column) -> Marks:
    """The marks that one step adds to the picture."""
    x, lane = place(column.number), LANES[column.actor]
    drawn: list[Mark] = []
    if column.since:
        drawn.append(line(place(column.since), lane, x, lane, f"span-{column.actor}"))
    drawn.extend(_arrow(column, x, lane))
    drawn.append(dot(x, lane, 5, f"dot-{column.actor}"))
    drawn.extend(_words(column, x, lane))
    return tuple(drawn)


def shade(step: int) -> Mark:
    """The ground of one column; it lies under everything while its step is shown."""
    return box(place(step) - COLUMN / 2 + 2, 4, COLUMN - 4, SIZE[1] - 26, "column")


def place(step: int) -> int:
    """Where the column of a step has its middle.

    >>> place(2) - place(1) == COLUMN
    True
    """
    return FIRST + (step - 1) * COLUMN


def _title(lane: str, words: str) -> Marks:
    y = LANES[lane]
    return (
        text(14, y - 3, lane, "name", anchor="start"),
        text(14, y + 14, words, "soft", anchor="start"),
    )


def _arrow(column: Column, x: int, lane: int) -> Marks:
    side = SIDES[column.actor]
    near, far = lane - side * 7, LANES["store"] + side * 15
    towards = (0.0, float(-side))
    if column.action == "reads":
        back = (0.0, float(side))
        return (line(x, LANES["store"], x, near, "read"), head(x, near, back, "read"))
    if column.accepted is None:
        return ()
    if column.accepted:
        arrow = (line(x, near, x, far, "accepted"), head(x, far, towards, "accepted"))
        return (*arrow, *_pill(x, column.revision, "pill-new"))
    stop = LANES["store"] + side * 22
    return (
        line(x, near, x, stop, "refused"),
        head(x, stop - side * 6, towards, "refused"),
        _cross(x, stop + side * 16),
    )


def _words(column: Column, x: int, lane: int) -> Marks:
    side = SIDES[column.actor]
    first, second = (-30, -14) if side == ABOVE else (24, 40)
    drawn = [
        text(x, lane + first, column.action, "label"),
        text(x, lane + second, column.detail, "soft"),
    ]
    if column.answer:
        look = "good" if column.accepted else "bad"
        middle = (lane + LANES["store"]) // 2
        drawn.append(text(x - 9, middle + 4 + side * 4, column.answer, look, anchor="end"))
    for row, words in enumerate(column.remark.splitlines()):
        y = LANES["store"] - side * 24 + 4 + (row * 15 if side == ABOVE else (row - 1) * 15)
        drawn.append(text(x, y, words, "warn"))
    return tuple(drawn)


def _pill(x: int, revision: int, role: str) -> Marks:
    y = LANES["store"]
    return (
        box(x - 14, y - 12, 28, 24, role, corner=12),
        text(x, y + 5, str(revision), "pill-text"),
    )


def _cross(x: int, y: int) -> Mark:
    return path(f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", "cross")
