"""Machinery. The space-time picture of a run: a lane for each source, a column for each step.

Time runs to the right. An offer goes down to the store: an accepted one ends
in the new revision, a refused one is dashed, ends at the door before the store
and names its code. Columns that differ in nothing but two numbers share their marks.

What is not here: which columns are shown (see `folding`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from runstate_lab.live.fitting import broken, named
from runstate_lab.live.marks import FRONT, Mark, Marks, box, dot, head, line, path, text
from runstate_lab.live.runs.folding import Row
from runstate_lab.live.runs.replays import Frame
from runstate_lab.show.dot import width

LEFT, COLUMN, FOLD, WIDE = 150, 84, 40, 4_000
FIRST, APART, MOST = 22, 29, 7
OTHERS = "others"
HELD, OPEN = 54, 100
LABEL, ROOM = 126, COLUMN - 5
SHEET: Mark = ("style", {}, (FRONT / "runmarks.css").read_text("utf-8"))
# What stands for the two numbers of a column in the marks that columns share.
STEP, REVISION, MANY = "#step", "#revision", "#many"


@dataclass(frozen=True)
class Layout:
    """Where the lanes are: a source to each, the store below, the words under it."""

    lanes: tuple[str, ...]
    store: int

    @property
    def height(self) -> int:
        """How high the picture is."""
        return self.store + 70

    def lane(self, source: str) -> int:
        """Where the lane of a source is; a rare one shares the last."""
        known = source if source in self.lanes else self.lanes[-1]
        return FIRST + self.lanes.index(known) * APART


def layout(frames: Sequence[Frame]) -> Layout:
    """The lanes of a run, in the order in which the sources appear.

    >>> layout(())
    Layout(lanes=(), store=54)
    """
    often = Counter(frame.source for frame in frames if frame.source)
    lanes = tuple(often)
    if len(lanes) > MOST:
        common = {source for source, _ in often.most_common(MOST - 1)}
        lanes = (*(source for source in lanes if source in common), OTHERS)
    last = FIRST + (len(lanes) - 1) * APART if lanes else 0
    door = OPEN if any(frame.refused for frame in frames) else HELD
    return Layout(lanes, last + door)


def ground(where: Layout) -> Marks:
    """The lanes and their names; they run on beyond every picture."""
    drawn: list[Mark] = []
    for source in where.lanes:
        y = where.lane(source)
        drawn += [
            line(LEFT - 10, y, WIDE, y, "lane"),
            *_lane_name(source, y),
        ]
    y = where.store
    return (
        *drawn,
        line(LEFT - 10, y, WIDE, y, "store"),
        text(12, y + 5, "store", "name", anchor="start"),
        text(12, y + 62, "step", "soft", anchor="start"),
    )


def column(frame: Frame, where: Layout, x: float, *, step: str, revision: str) -> Marks:
    """The marks of one step whose middle is at x."""
    under = where.store + 32
    below = text(x, where.store + 62, step, "soft")
    if not frame.source:
        start = text(x, under, "start", "soft")
        return (*_pill(x, where.store, revision, "pill"), start, below)
    lane = where.lane(frame.source)
    spot = dot(x, lane, 5, "dot-A")
    # A remark says in the sentence what this sign points at.
    sign = (text(x + 24, where.store - 14, "!", "warn"),) if frame.remark else ()
    if frame.entry is None:
        drawn, words = _reading(frame.does, where, x, lane), _under(frame.does, x, under, "kind")
    elif frame.refused:
        drawn = _refused(frame.code, where, x, lane)
        words = _under(frame.entry.event.kind, x, under, "kind")
    else:
        tip = where.store - 13
        arrow = (line(x, lane + 7, x, tip - 7, "accepted"), head(x, tip, (0, 1), "accepted"))
        drawn = (*arrow, *_pill(x, where.store, revision, "pill-new"))
        words = _under(frame.entry.event.kind, x, under, "kind")
    return (*drawn, spot, *sign, *words, below)


def folded(where: Layout, x: float, words: str) -> Marks:
    """The marks of several steps in one narrow column, its words along it."""
    top, bottom = 8, where.height - 8
    y = (top + bottom) / 2
    tag, place, said = text(x + 4, y, words, "soft")
    turned = {**place, "transform": f"rotate(-90 {x + 4:g} {y:g})"}
    return (
        box(x - FOLD / 2 + 5, top, FOLD - 10, bottom - top, "folded", corner=8),
        (tag, turned, said),
    )


def span(row: Row) -> int:
    """How wide a row is in the picture.

    >>> span(Row(3, 14)), span(Row(3, 3, folded=False))
    (40, 84)
    """
    return FOLD if row.folded else COLUMN


def part(shown: Sequence[Row], current: int, room: float) -> range:
    """The rows that fit into a room, the current one near the middle.

    >>> part([Row(number, number, folded=False) for number in range(99)], 50, COLUMN * 3)
    range(49, 52)
    """
    start, end, used = current, current + 1, span(shown[current])
    grows = True
    while grows:
        grows = False
        for side in (start - 1, end):
            if 0 <= side < len(shown) and used + span(shown[side]) <= room:
                used += span(shown[side])
                start, end, grows = min(start, side), max(end, side + 1), True
    return range(start, end)


def drawn(
    frames: Sequence[Frame], shown: Sequence[Row], current: int, room: float
) -> tuple[list[tuple[str, Marks]], tuple[int, int]]:
    """The rows around the current one as groups of marks, and the size of the picture."""
    where, x = layout(frames), float(LEFT)
    groups: list[tuple[str, Marks]] = [("rs-base", (SHEET, *ground(where)))]
    for number in part(shown, current, room):
        row, wide = shown[number], span(shown[number])
        middle = x + wide / 2
        if number == current:
            groups.insert(0, ("rs-shade", (shade(where, middle, wide),)))
        if row.folded:
            groups.append(("rs-fold", folded(where, middle, str(row))))
        else:
            frame = frames[row.first]
            words = {"step": str(frame.number), "revision": str(frame.after.revision)}
            groups.append(("rs-step", column(frame, where, middle, **words)))
        x += wide
    return groups, (max(int(x), LEFT + 4 * COLUMN) + 10, where.height)


def shade(where: Layout, x: float, wide: int) -> Mark:
    """The ground under the step that is shown."""
    return box(x - wide / 2 + 2, 2, wide - 4, where.height - 4, "column")


def _refused(code: str, where: Layout, x: float, lane: int) -> Marks:
    stop = where.store - 66
    return (
        line(x, lane + 7, x, stop - 7, "refused"),
        head(x, stop, (0, 1), "refused"),
        path(f"M{x - 5:g} {stop + 5:g}l10 10m0 -10l-10 10", "cross"),
        *_under(code, x, stop + 32, "bad"),
    )


def _reading(does: str, where: Layout, x: float, lane: int) -> Marks:
    """An arrow back from the store, where a step reads."""
    if not does.startswith("read"):
        return ()
    return (line(x, where.store, x, lane + 14, "read"), head(x, lane + 7, (0, -1), "read"))


def _under(words: str, x: float, y: float, role: str) -> Marks:
    """An identifier, or some words, in at most two lines that leave the next column free."""
    size, bold = (12, True) if role == "bad" else (11, False)
    if "_" in words:
        lines = wrap(words.replace("_", "_ "), width=14, break_long_words=False)
        shown = [lines[0], "".join(lines[1:])]
    else:
        shown = list(words.partition(" ")[::2])
    lines = [part.replace("_ ", "_") for part in shown if part]
    if any(width(part, size, bold=bold) > ROOM for part in lines):
        lines = broken(words, size, ROOM, bold=bold)
    return tuple(text(x, y + 13 * row, part, role) for row, part in enumerate(lines))


def _lane_name(source: str, y: int) -> Marks:
    rows = broken(source, 13, LABEL)
    top = y + 4 - 7 * (len(rows) - 1)
    drawn = [text(12, top + 14 * at, row, "label", anchor="start") for at, row in enumerate(rows)]
    return tuple(named(one, source) for one in drawn) if "…" in "".join(rows) else tuple(drawn)


def _pill(x: float, y: float, revision: str, role: str) -> Marks:
    return (
        box(x - 17, y - 12, 34, 24, role, corner=12),
        text(x, y + 5, revision, "pill-text"),
    )
