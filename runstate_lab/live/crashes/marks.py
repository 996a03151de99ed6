"""Machinery. The crash lab's picture: w1 until it is killed, then w2.

Time runs to the right, a column for each moment. A commit goes down to where
it is kept, an effect goes past it into the world; the number is the revision,
or how often the world has done it by then.

What is not here: which moments there are (see `crashes`).
"""

from __future__ import annotations

from collections.abc import Sequence

from runstate_lab.live.crashes.loops import EFFECT, Moment
from runstate_lab.live.marks import Mark, Marks, box, dot, head, line, path, text

WIDTH, LEFT = 820, 96
WIDEST = 110
ROW = 176
SIZE = (WIDTH, 2 * ROW + 6)
LABEL, WORKER, KEPT, WORLD = 16, 52, 102, 144
ACTORS = ("A", "B")


def column(count: int) -> float:
    """How wide the column of one moment is.

    >>> column(3), column(13) == (WIDTH - LEFT - 4) / 13
    (110, True)
    """
    return min(WIDEST, (WIDTH - LEFT - 4) / max(count, 1))


def ground(kept_in: str) -> Marks:
    """The lanes of both workers, with their names."""
    titles = (("worker", WORKER), (kept_in, KEPT), ("world", WORLD))
    below = {kept_in: "revision", "world": "times done"}
    drawn: list[Mark] = []
    for row, worker in enumerate(("w1", "w2")):
        for name, y in titles:
            words = worker if name == "worker" else name
            drawn.append(line(LEFT, row * ROW + y, WIDTH - 4, row * ROW + y, "lane"))
            drawn.append(
                text(
                    6,
                    row * ROW + y + (4 if name == "worker" else -1),
                    words,
                    "name",
                    anchor="start",
                )
            )
            if name in below:
                drawn.append(text(6, row * ROW + y + 14, below[name], "soft", anchor="start"))
    return tuple(drawn)


def moment(one: Moment, place: int, count: int, *, row: int = 0) -> Marks:
    """One moment that happened: its label, and the arrow to where it counts."""
    x, top = LEFT + (place + 0.5) * column(count), row * ROW
    far = top + (WORLD if one.sort == EFFECT else KEPT)
    look = "effect" if one.sort == EFFECT else "accepted"
    return (
        *label(one, place, count, row=row, look="label"),
        line(x, top + WORKER + 6, x, far - 13, look),
        head(x, far - 13, (0.0, 1.0), look),
        dot(x, top + WORKER, 4.5, f"dot-{ACTORS[row]}"),
        *_pill(one, x, far),
    )


def label(one: Moment, place: int, count: int, *, row: int = 0, look: str = "soft") -> Marks:
    """The words above a moment, in one line or two."""
    x = LEFT + (place + 0.5) * column(count)
    lines = one.words.split(" ", 1)
    top = row * ROW + LABEL + (0 if len(lines) == 2 else 14)
    return tuple(
        text(x, top + 14 * number, words, f"moment-{look}") for number, words in enumerate(lines)
    )


def aim(point: int, count: int) -> Marks:
    """Where the worker would be killed."""
    x = gap(point, count)
    mark = ("polygon", {"points": f"{x:g},14 {x - 6:g},4 {x + 6:g},4", "class": "rs-aim"}, "")
    return (mark, line(x, 16, x, ROW - 12, "expiry"))


def killed(point: int, count: int) -> Marks:
    """Where the worker was killed."""
    x = gap(point, count)
    left = min(max(x, LEFT + 30), WIDTH - 34)
    return (
        line(x, 16, x, ROW - 22, "refused"),
        path(f"M{x - 6:g} {WORKER - 6}l12 12m0 -12l-12 12", "cross"),
        text(left, ROW - 8, "killed here", "bad"),
    )


def life(point: int, count: int, *, row: int = 0) -> Marks:
    """The thick part of a worker's lane: how long it lived."""
    y = row * ROW + WORKER
    return (line(LEFT, y, gap(point, count), y, f"span-{ACTORS[row]}"),) if point else ()


def second(moments: Sequence[Moment]) -> Marks:
    """All that the second worker did."""
    count = len(moments)
    drawn = [mark for place, one in enumerate(moments) for mark in moment(one, place, count, row=1)]
    return (*life(count, count, row=1), *drawn)


def remark(words: str) -> Marks:
    """Words where the second worker's moments will be."""
    return (text(LEFT + 12, ROW + WORKER - 16, words, "label", anchor="start"),)


def gap(point: int, count: int) -> float:
    """Where the gap before a moment is.

    >>> gap(0, 13) == LEFT
    True
    """
    return round(LEFT + point * column(count), 1)


def _pill(one: Moment, x: float, y: float) -> Marks:
    if one.sort != EFFECT:
        words, look, wide = str(one.number), "pill-new", 28
    elif not one.fresh:
        words, look, wide = f"{one.number}×", "pill-same", 34
    else:
        words, look, wide = (f"{one.number}×", "pill-twice" if one.number > 1 else "pill-once", 34)
    return (
        box(x - wide / 2, y - 11, wide, 22, look, corner=11),
        text(x, y + 5, words, "pill-text"),
    )
