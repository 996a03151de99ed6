"""Machinery. Where things lie on the page in a node chart, in pixels.

The way of a node that succeeds is one straight line. Above it lies the
question to a human, below it what can no longer happen.

What is not here: which arrows there are (see `nodechart`).
"""

from __future__ import annotations

from dataclasses import replace

from runstate_lab.model import NodeStatus
from runstate_lab.show import palette
from runstate_lab.show.dot import width, written
from runstate_lab.show.parts import Arrow, Point, Standing
from runstate_lab.show.routes import bent

PENDING, READY, RUNNING, ASKING, BLOCKED, COMPLETED, FAILED, CANCELLED = NodeStatus
NodePair = tuple[NodeStatus, NodeStatus]

SIZE: Point = (680.0, 288.0)
SMALL_BOX, END_BOX, WIDE_BOX = (84.0, 40.0), (96.0, 40.0), (136.0, 40.0)
BOXES: dict[NodeStatus, Point] = {
    PENDING: SMALL_BOX,
    READY: SMALL_BOX,
    RUNNING: SMALL_BOX,
    BLOCKED: SMALL_BOX,
    ASKING: WIDE_BOX,
    COMPLETED: END_BOX,
    FAILED: END_BOX,
    CANCELLED: END_BOX,
}
PLACES: dict[NodeStatus, Point] = {
    PENDING: (48, 148),
    READY: (214, 148),
    RUNNING: (394, 148),
    ASKING: (394, 44),
    BLOCKED: (104, 214),
    COMPLETED: (598, 148),
    FAILED: (598, 44),
    CANCELLED: (598, 262),
}
LEFT, TRUNK = 550.0, 262.0
ROUTES: dict[NodePair, tuple[Point, ...]] = {
    (PENDING, READY): ((90, 148), (172, 148)),
    (PENDING, BLOCKED): ((78, 168), (78, 194)),
    (READY, RUNNING): ((256, 140), (352, 140)),
    (RUNNING, READY): ((352, 156), (256, 156)),
    (RUNNING, ASKING): ((380, 128), (380, 64)),
    (ASKING, RUNNING): ((408, 64), (408, 128)),
    (ASKING, FAILED): ((462, 36), (LEFT, 36)),
    (RUNNING, FAILED): ((436, 140), (522, 140), (522, 54), (LEFT, 54)),
    (RUNNING, COMPLETED): ((436, 156), (LEFT, 156)),
    (PENDING, CANCELLED): ((24, 168), (24, TRUNK), (LEFT, TRUNK)),
    (READY, CANCELLED): ((214, 168), (214, TRUNK), (LEFT, TRUNK)),
    (RUNNING, CANCELLED): ((394, 168), (394, TRUNK), (LEFT, TRUNK)),
    (BLOCKED, CANCELLED): ((104, 234), (104, TRUNK), (LEFT, TRUNK)),
    (ASKING, CANCELLED): ((394, 24), (394, 8), (666, 8), (666, TRUNK), (646, TRUNK)),
}
LABELS: dict[NodePair, tuple[Point, Point]] = {
    (PENDING, READY): ((131, 148), (0, -1)),
    (PENDING, BLOCKED): ((78, 179), (1, 0)),
    (READY, RUNNING): ((304, 140), (0, -1)),
    (RUNNING, READY): ((304, 156), (0, 1)),
    (RUNNING, ASKING): ((380, 96), (-1, 0)),
    (ASKING, RUNNING): ((408, 96), (1, 0)),
    (ASKING, FAILED): ((506, 36), (0, -1)),
    (RUNNING, FAILED): ((522, 96), (1, 0)),
    (RUNNING, COMPLETED): ((493, 156), (0, 1)),
}
BETWEEN: dict[NodePair, float] = {
    (PENDING, READY): 80, (READY, RUNNING): 92, (RUNNING, READY): 92,
}
"""How wide a label may be that lies between two boxes; a wider one clears them."""
ON_TRUNK: tuple[Point, Point] = ((480, TRUNK), (0, -1))
HALF_LINE, OFF, BESIDE = 6.6, 4.0, 8.0


def placed(arrow: Arrow) -> Arrow:
    """The arrow with its route and the place of its label; as it is, where none was foreseen.

    >>> placed(Arrow(tail="pending", head="ready")).route[0]
    (90, 148)
    >>> placed(Arrow(tail="completed", head="ready")).route
    ()
    """
    pair = (NodeStatus(arrow.tail), NodeStatus(arrow.head))
    if pair not in ROUTES:
        return arrow
    (x, y), (aside, down) = LABELS.get(pair, ON_TRUNK)
    words = written(arrow)
    half = width(words, palette.SMALL, bold=arrow.standing is Standing.TAKEN) / 2
    if 2 * half > BETWEEN.get(pair, SIZE[0]):
        y = PLACES[pair[0]][1] + down * BOXES[pair[0]][1] / 2
    rise = OFF + HALF_LINE * len(words.split("\n")) + (down > 0)
    at = (x + aside * (half + BESIDE), y + down * rise)
    return replace(arrow, route=bent(ROUTES[pair]), label_at=at)


def runs_together(arrow: Arrow) -> bool:
    """Whether the arrow ends in a stretch that it shares with others.

    >>> runs_together(Arrow(tail="ready", head="cancelled"))
    True
    """
    pair = (NodeStatus(arrow.tail), NodeStatus(arrow.head))
    return pair in ROUTES and pair not in LABELS
