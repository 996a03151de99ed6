"""Machinery. Where an arrow of a placed picture runs.

A route is a row of Bezier points: a start, then three points a piece, in
pixels from the top left corner.

What is not here: which arrows there are, and how they look (see `dot`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot

from runstate_lab.show.parts import Form, Node, Point

HEAD, TEE, SHORT = 7.0, 4.0, 3.0


def bent(corners: Sequence[Point], *, radius: float = 12) -> tuple[Point, ...]:
    """A route along straight pieces, its corners rounded.

    >>> bent([(0, 0), (30, 0)])
    ((0, 0), (10.0, 0.0), (20.0, 0.0), (30, 0))
    >>> len(bent([(0, 0), (30, 0), (30, 30)]))
    10
    """
    points = [corners[0]]
    here = corners[0]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        reach = min(radius, _far(before, corner) / 2, _far(corner, after) / 2)
        enter, leave = _towards(corner, before, reach), _towards(corner, after, reach)
        points += [*_straight(here, enter), _towards(enter, corner, reach * 0.55)]
        points += [_towards(leave, corner, reach * 0.55), leave]
        here = leave
    return tuple(points + _straight(here, corners[-1]))


def clipped(tail: Node, head: Node, sizes: Mapping[Form, Point]) -> tuple[Point, ...]:
    """A straight route between the borders of two nodes that have positions."""
    start, end = tail.at or (0, 0), head.at or (0, 0)
    return bent([_border(tail, end, sizes), _border(head, start, sizes)])


def pos(route: Sequence[Point], height: float, *, head: bool = True, tee: bool = False) -> str:
    """A route as Graphviz reads it: arrow end first, and the y axis upwards.

    >>> pos([(0, 0), (10, 0), (20, 0), (30, 0)], 50)
    'e,30.0,50.0 0.0,50.0 10.0,50.0 20.0,50.0 23.0,50.0'
    """
    points = list(route) if len(route) % 3 == 1 and len(route) > 1 else list(bent(list(route)))
    start = ""
    if tee:
        points[-1] = _towards(points[-1], points[-2], SHORT)
    if head:
        start = f"e,{_point(points[-1], height)} "
        points[-1] = _towards(points[-1], points[-2], TEE if tee else HEAD)
    return start + " ".join(_point(point, height) for point in points)


def _point(point: Point, height: float) -> str:
    return f"{point[0]:.1f},{height - point[1]:.1f}"


def _straight(start: Point, end: Point) -> list[Point]:
    third = ((end[0] - start[0]) / 3, (end[1] - start[1]) / 3)
    first = (start[0] + third[0], start[1] + third[1])
    return [first, (start[0] + 2 * third[0], start[1] + 2 * third[1]), end]


def _far(start: Point, end: Point) -> float:
    return hypot(end[0] - start[0], end[1] - start[1])


def _towards(start: Point, end: Point, reach: float) -> Point:
    share = reach / (_far(start, end) or 1)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _border(node: Node, other: Point, sizes: Mapping[Form, Point]) -> Point:
    x, y = node.at or (0, 0)
    wide, high = node.size or sizes[node.form]
    across, down = other[0] - x, other[1] - y
    if node.form is not Form.BOX:
        return _towards((x, y), other, wide / 2)
    share = min(
        wide / 2 / abs(across) if across else 1.0, high / 2 / abs(down) if down else 1.0, 1.0
    )
    return x + across * share, y + down * share
