"""Machinery. Where things lie on the page in a status chart, in pixels.

From left to right: queued, running, waiting, and the three ends. What is not
allowed runs along the top, outside everything that is.

What is not here: which arrows there are (see `chart`).
"""

from __future__ import annotations

from dataclasses import replace

from runstate_lab.model import RunStatus
from runstate_lab.show import palette
from runstate_lab.show.dot import width, written
from runstate_lab.show.parts import Arrow, Point, Standing
from runstate_lab.show.routes import bent

QUEUED, RUNNING, WAITING, COMPLETED, FAILED, CANCELLED = RunStatus
Pair = tuple[RunStatus, RunStatus]

WIDE, HIGH, ROOM = 680.0, 238.0, 42.0
BOX: Point = (96.0, 40.0)
LEFT, TOP, BOTTOM = 550.0, 128.0, 168.0
BETWEEN, GAP = 345.0, 115.0
PLACES: dict[RunStatus, Point] = {
    QUEUED: (54, 148),
    RUNNING: (238, 148),
    WAITING: (453, 148),
    COMPLETED: (598, 26),
    FAILED: (598, 84),
    CANCELLED: (598, 212),
}
ROUTES: dict[Pair, tuple[Point, ...]] = {
    (QUEUED, RUNNING): ((102, 148), (190, 148)),
    (QUEUED, CANCELLED): ((54, BOTTOM), (54, 212), (LEFT, 212)),
    (RUNNING, WAITING): ((286, 140), (405, 140)),
    (RUNNING, COMPLETED): ((238, TOP), (238, 26), (LEFT, 26)),
    (RUNNING, FAILED): ((262, TOP), (262, 84), (LEFT, 84)),
    (RUNNING, CANCELLED): ((238, BOTTOM), (238, 212), (LEFT, 212)),
    (WAITING, RUNNING): ((405, 156), (286, 156)),
    (WAITING, FAILED): ((453, TOP), (453, 84), (LEFT, 84)),
    (WAITING, CANCELLED): ((453, BOTTOM), (453, 212), (LEFT, 212)),
}
LABELS: dict[Pair, Point] = {
    (QUEUED, RUNNING): (145, 148),
    (RUNNING, WAITING): (BETWEEN, 140),
    (RUNNING, COMPLETED): (336, 26),
}
BELOW: dict[Pair, Point] = {(WAITING, RUNNING): (BETWEEN, 156)}
TRUNKS: dict[RunStatus, Point] = {FAILED: (501, 84), CANCELLED: (501, 212)}
BESIDE = (657.0, 671.0)
ABOVE, ALONG, ALONG_TAKEN, UNDER = 8.0, 20.0, 26.0, 35.0


def placed(arrow: Arrow, shift: float) -> Arrow:
    """The arrow with its route and the place of its label.

    >>> placed(Arrow(tail="queued", head="running"), 0).label_at
    (145, 137.4)
    """
    pair = (RunStatus(arrow.tail), RunStatus(arrow.head))
    refused = arrow.standing is Standing.REFUSED
    if runs_above(arrow):
        corners = _around(*pair, shift, refused=refused)
        middle = (corners[-2][0] + corners[1][0]) / 2
        half = width(written(arrow), palette.SMALL, bold=True) / 2 + 4
        at = (min(max(middle, half), WIDE - half), ABOVE if refused else UNDER)
        return replace(arrow, route=bent(corners), label_at=at)
    corners = tuple((x, y + shift) for x, y in ROUTES[pair])
    lines = len(written(arrow).split("\n"))
    rise = -(4 + 6.6 * lines)
    x, y = LABELS.get(pair) or TRUNKS.get(pair[1]) or BELOW.get(pair) or corners[0]
    bold = arrow.standing is Standing.TAKEN
    if x == BETWEEN and width(written(arrow), palette.SMALL, bold=bold) > GAP:
        y = BOTTOM if pair in BELOW else TOP
    if pair in BELOW:
        rise = -rise + 1
    return replace(arrow, route=bent(corners), label_at=(x, y + rise + shift))


def runs_together(arrow: Arrow) -> bool:
    """Whether the arrow ends in a stretch that it shares with others."""
    pair = (RunStatus(arrow.tail), RunStatus(arrow.head))
    return pair[1] in TRUNKS or pair not in ROUTES


def runs_above(arrow: Arrow) -> bool:
    """Whether the arrow needs the room at the top.

    >>> runs_above(Arrow(tail="completed", head="running"))
    True
    """
    pair = (RunStatus(arrow.tail), RunStatus(arrow.head))
    return arrow.standing is Standing.REFUSED or pair not in ROUTES


def _around(
    start: RunStatus, end: RunStatus, shift: float, *, refused: bool
) -> tuple[Point, ...]:
    """Up from the start, along the top, and down to where it was turned away."""
    out, back = (BESIDE if start in TRUNKS and end in TRUNKS else (BESIDE[0],) * 2)
    apart = 14 if start is end else 0
    top, aside = (ALONG, 0) if refused else (ALONG_TAKEN, 9)
    leave = _to_top(start, out, aside - apart, shift)
    arrive = _to_top(end, back, aside + apart, shift)
    return (*leave, (leave[-1][0], top), (arrive[-1][0], top), *reversed(arrive))


def _to_top(status: RunStatus, lane: float, aside: float, shift: float) -> tuple[Point, ...]:
    x, y = PLACES[status]
    if status in TRUNKS:
        level = y + shift + aside / 2
        return ((x + BOX[0] / 2, level), (lane, level))
    inward = -26.0 if status in (RUNNING, WAITING) else 0.0
    return ((x + inward + aside, y + shift - BOX[1] / 2),)
