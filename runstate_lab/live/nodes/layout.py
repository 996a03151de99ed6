"""Machinery. Where the nodes of a graph lie: layers from left to right, bands below each other.

A node stands one layer after the last of its needs. Layers that find no room
beside each other go on in the next band, as lines of text do. An arrow over
several layers keeps a free lane in each of them.

What is not here: what a node looks like (see `nodemarks`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from runstate_lab.graph import ExecutableGraph

WIDE, NARROW = 826, 436
LEFT, TOP, LANE = 16, 34, 14
Point = tuple[float, float]
Cell = tuple[str, str]
"""A node as (name, ""), or the lane of an arrow's tail as ("", tail)."""


@dataclass(frozen=True)
class Scale:
    """How large nodes are drawn, and how many stand beside each other."""

    wide: int
    high: int
    between: int
    beside: int
    page: int = WIDE


ROOMY = Scale(wide=156, high=72, between=18, beside=4)
COMPACT = Scale(wide=116, high=40, between=10, beside=6)
ROOMY_NARROW = replace(ROOMY, beside=2, page=NARROW)
COMPACT_NARROW = replace(COMPACT, beside=3, page=NARROW)
MOST_ROOMY = 16


@dataclass(frozen=True)
class Leg:
    """One stretch of an arrow, from a column to the next one."""

    tail: str
    start: Point
    end: Point
    ends: bool
    gutter: float | None = None


@dataclass
class Layout:
    """The middles of all nodes, the legs of all arrows and the size of the page."""

    scale: Scale
    layers: tuple[tuple[str, ...], ...] = ()
    places: dict[str, Point] = field(default_factory=dict)
    legs: list[Leg] = field(default_factory=list)
    height: int = 0


def layout(graph: ExecutableGraph, *, narrow: bool = False) -> Layout:
    """Where everything lies, on a wide or a narrow page; the same places each time.

    >>> from runstate_lab.graph import Node
    >>> chain = [Node("a", dict), Node("b", dict, needs=("a",))]
    >>> page = layout(ExecutableGraph(chain, start=("a",)))
    >>> page.layers, page.places["a"][1] == page.places["b"][1]
    ((('a',), ('b',)), True)
    """
    needs = {name: graph.node(name).needs for name in graph.order}
    layers = _layers(needs)
    roomy = len(needs) <= MOST_ROOMY and max(map(len, layers), default=0) <= 5
    scales = (ROOMY_NARROW, COMPACT_NARROW) if narrow else (ROOMY, COMPACT)
    page = Layout(scales[not roomy], tuple(map(tuple, layers)))
    columns = _sorted(_columns(layers, needs), needs)
    places = _place(page, columns)
    page.legs = _legs(page, columns, places, needs)
    page.places = {name: at for (_, (name, _)), at in places.items() if name}
    return page


def _layers(needs: dict[str, tuple[str, ...]]) -> list[list[str]]:
    depth: dict[str, int] = {}
    for name, before in needs.items():
        depth[name] = 1 + max((depth[one] for one in before), default=-1)
    layers: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for name, place in depth.items():
        layers[place].append(name)
    return layers


def _columns(layers: list[list[str]], needs: dict[str, tuple[str, ...]]) -> list[list[Cell]]:
    """The cells of each layer: its nodes, and a lane for each tail that passes it."""
    depth = {name: place for place, names in enumerate(layers) for name in names}
    columns: list[list[Cell]] = [[(name, "") for name in names] for names in layers]
    for name, before in needs.items():
        for tail in before:
            for place in range(depth[tail] + 1, depth[name]):
                if ("", tail) not in columns[place]:
                    columns[place].append(("", tail))
    return columns


def _sorted(columns: list[list[Cell]], needs: dict[str, tuple[str, ...]]) -> list[list[Cell]]:
    """Each column in the order of what leads to it, so that few arrows cross."""
    rows: dict[str, float] = {}
    for column in columns:
        column.sort(key=partial(_middle, rows=dict(rows), needs=needs))
        half = (len(column) - 1) / 2
        rows.update({name or tail: row - half for row, (name, tail) in enumerate(column)})
    return columns


def _middle(cell: Cell, rows: dict[str, float], needs: dict[str, tuple[str, ...]]) -> float:
    tails = needs[cell[0]] if cell[0] else (cell[1],)
    known = [rows[tail] for tail in tails if tail in rows]
    return sum(known) / len(known) if known else 0.0


def _place(page: Layout, columns: list[list[Cell]]) -> dict[tuple[int, Cell], Point]:
    scale, beside = page.scale, max(1, min(page.scale.beside, len(columns)))
    margin = LEFT if len(columns) > beside else 4
    pitch = min(240.0, (scale.page - 2 * margin - scale.wide) / max(1, beside - 1))
    first = (scale.page - pitch * (beside - 1)) / 2
    places: dict[tuple[int, Cell], Point] = {}
    top = float(TOP)
    for band in range(0, len(columns), beside):
        shown = columns[band : band + beside]
        high = max(_height(column, scale) for column in shown)
        for place, column in enumerate(shown):
            y = top + (high - _height(column, scale)) / 2
            for cell in column:
                tall = scale.high if cell[0] else LANE
                places[(band + place, cell)] = (first + place * pitch, y + tall / 2)
                y += tall + scale.between
        top += high + scale.between + (16 if len(columns) > beside else 0)
    page.height = round(top) + 4
    return places


def _height(column: list[Cell], scale: Scale) -> float:
    tall = sum(scale.high if name else LANE for name, _ in column)
    return tall + scale.between * (len(column) - 1)


def _legs(
    page: Layout,
    columns: list[list[Cell]],
    places: dict[tuple[int, Cell], Point],
    needs: dict[str, tuple[str, ...]],
) -> list[Leg]:
    half, found = page.scale.wide / 2, []
    bottoms = _bottoms(page, columns, places)
    for place, column in enumerate(columns[1:], start=1):
        before = columns[place - 1]
        for cell in column:
            x, y = places[(place, cell)]
            for tail in needs[cell[0]] if cell[0] else (cell[1],):
                start = (tail, "") if (tail, "") in before else ("", tail)
                from_x, from_y = places[(place - 1, start)]
                gutter = bottoms[place - 1] if from_x >= x else None
                leg = Leg(tail, (from_x + half, from_y), (x - half, y), bool(cell[0]), gutter)
                found.append(leg)
                if not cell[0]:
                    found.append(Leg(tail, (x - half, y), (x + half, y), ends=False))
    return list(dict.fromkeys(found))


def _bottoms(
    page: Layout, columns: list[list[Cell]], places: dict[tuple[int, Cell], Point]
) -> list[float]:
    """For each column, where the free space under its band is."""
    beside = page.scale.beside
    free: list[float] = []
    for band in range(0, len(columns), beside):
        shown = range(band, min(band + beside, len(columns)))
        lowest = max(
            places[(place, cell)][1] + (page.scale.high / 2 if cell[0] else LANE / 2)
            for place in shown
            for cell in columns[place]
        )
        free += [lowest + (page.scale.between + 16) / 2] * len(shown)
    return free
