"""Machinery. What a node looks like: a box, a shape and a word for its status.

Who holds it stands in the upper right corner; a bar shows how much of the
lease is left. Nothing is said by colour alone.

What is not here: where the nodes lie (see `nodelayout`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from runstate_lab.graph import ExecutableGraph
from runstate_lab.live.fitting import middle, named
from runstate_lab.live.marks import FRONT, Mark, Marks, box, dot, head, line, path, text
from runstate_lab.live.nodes.layout import ROOMY, Layout, Leg, layout
from runstate_lab.model import NodeState, NodeStatus, RunState
from runstate_lab.nodewise import FAILING
from runstate_lab.show.dot import width

FIRST_POINT = re.compile(r"M([-.\d]+) ([-.\d]+)")
SHEET: Mark = ("style", {}, (FRONT / "nodemarks.css").read_text("utf-8"))
"""What the marks here need beside the common sheet, for the stored picture."""


@dataclass(frozen=True)
class Look:
    """One node at one moment, as much of it as is drawn."""

    node: NodeState
    tick: int
    lease: int
    hue: int


class Drawing:
    """The places of one graph on one page; a node's marks are drawn at its corner and moved."""

    def __init__(self, graph: ExecutableGraph, *, narrow: bool = False) -> None:
        self.page: Layout = layout(graph, narrow=narrow)
        self.size = (self.page.scale.page, max(self.page.height, 80))
        self._half = (self.page.scale.wide / 2, self.page.scale.high / 2)

    def corner(self, name: str) -> tuple[float, float]:
        """Where the upper left corner of a node lies."""
        (x, y), (wide, high) = self.page.places[name], self._half
        return x - wide, y - high

    def ways(self, name: str) -> Marks:
        """The arrows that leave a node; their look is that of the group they stand in."""
        legs = [leg for leg in self.page.legs if leg.tail == name]
        return tuple(mark for leg in legs for mark in _leg(leg, "nb-way"))

    def marks(self, look: Look) -> Marks:
        """The box of a node with its words, its holder and its lease, at the origin."""
        scale = self.page.scale
        frame = box(0, 0, scale.wide, scale.high, f"nb-node-{look.node.status}", corner=9)
        if _held(look.node):
            frame[1]["class"] += f" rs-nb-hue-{look.hue}"
        written = _roomy if scale.high == ROOMY.high else _compact
        return (frame, *written(look, scale.wide), *_lease(look, scale.wide, scale.high))


def heading(state: RunState, tick: int) -> Marks:
    """The line above the graph: the clock, the run and its revision."""
    words = f"{state.run_id} is {state.status}, revision {state.revision}"
    after = 14 + width(f"tick {tick}", 14, bold=True)
    return (
        text(4, 18, f"tick {tick}", "name", anchor="start"),
        text(after, 18, words, "soft", anchor="start"),
    )


def way(node: NodeState) -> str:
    """In which look the arrows leave a node.

    >>> way(NodeState("build")), way(NodeState("build", status=NodeStatus.COMPLETED))
    ('plain', 'open')
    """
    if node.status is NodeStatus.COMPLETED:
        return "open"
    return "shut" if node.status in FAILING else "plain"


def moved(marks: Iterable[Mark], by: tuple[float, float]) -> Marks:
    """The same marks somewhere else; a path is moved by its first point.

    >>> moved([text(1, 2, "build", "name")], (10, 20))[0][1]["x"]
    '11'
    >>> moved([path("M1 2l3 4", "nb-sign")], (10, 20))[0][1]["d"]
    'M11 22l3 4'
    """
    found: list[Mark] = []
    for tag, attributes, words in marks:
        there = dict(attributes)
        for name, add in (("x", by[0]), ("cx", by[0]), ("y", by[1]), ("cy", by[1])):
            if name in there:
                there[name] = f"{round(float(there[name]) + add, 1):g}"
        if "d" in there:
            start = FIRST_POINT.match(there["d"])
            x, y = (float(one) + add for one, add in zip(start.groups(), by, strict=True))
            there["d"] = f"M{round(x, 1):g} {round(y, 1):g}{there['d'][start.end() :]}"
        found.append((tag, there, words))
    return tuple(found)


def _roomy(look: Look, wide: float) -> Marks:
    node = look.node
    tag = node.worker if _held(node) else ""
    room = wide - 42 - (width(tag, 12, bold=True) + 8 if tag else 0)
    name = middle(node.name, 14, room, bold=True)
    return (
        *_sign(node.status, 18, 20, look.hue),
        named(text(33, 25, name, "name", anchor="start"), node.name),
        *_tag(look, wide - 8, 24, tag),
        text(12, 43, str(node.status), "label", anchor="start"),
        *_ran_out(look, wide - 8, 43),
        text(12, 60, fitted(more(look), 12, wide - 20), "soft", anchor="start"),
    )


def _compact(look: Look, wide: float) -> Marks:
    node = look.node
    tag = node.worker if _held(node) else ""
    room = wide - 14 - (width(tag, 12, bold=True) + 4 if tag else 0)
    words = str(node.status)
    if _held(node):
        lease = "ran out" if _over(look) else f"until {node.until}"
        words = f"{node.attempt} of {node.max_attempts}, {lease}"
    name = middle(node.name, 12, wide - 32, bold=True)
    return (
        *_sign(node.status, 14, 13, look.hue),
        named(text(26, 17, name, "nb-small-name", anchor="start"), node.name),
        text(8, 31, fitted(words, 11, room), "nb-small", anchor="start"),
        *_tag(look, wide - 7, 31, tag),
    )


def more(look: Look) -> str:
    """What is worth saying of a node beside its status.

    >>> more(Look(NodeState("build", max_attempts=2), tick=0, lease=5, hue=0))
    'attempt 0 of 2'
    """
    node = look.node
    attempt = f"attempt {node.attempt} of {node.max_attempts}"
    if node.may_begin:
        return f"{node.approver} agreed, to be claimed"
    match node.status:
        case NodeStatus.RUNNING:
            return f"{attempt}, until {node.until}"
        case NodeStatus.WAITING_APPROVAL:
            return f"asks {node.approver}" + (f", until {node.until}" if node.until else "")
        case NodeStatus.PENDING | NodeStatus.READY:
            return attempt
        case NodeStatus.COMPLETED:
            return f"attempt {node.attempt} by {node.worker}"
    return node.reason or attempt


def fitted(words: str, size: float, room: float, *, bold: bool = False) -> str:
    """The words, cut where the room ends.

    >>> fitted("a_very_long_name_of_a_node", 14, 60)
    'a_very_…'
    """
    if width(words, size, bold=bold) <= room:
        return words
    while words and width(words + "…", size, bold=bold) > room:
        words = words[:-1]
    return words + "…"


def _held(node: NodeState) -> bool:
    return node.status is NodeStatus.RUNNING and not node.may_begin


def _over(look: Look) -> bool:
    until = look.node.until
    return _held(look.node) and until is not None and until <= look.tick


def _ran_out(look: Look, right: float, y: float) -> Marks:
    return (text(right, y, "lease ran out", "nb-out", anchor="end"),) if _over(look) else ()


def _tag(look: Look, right: float, y: float, worker: str | None) -> Marks:
    role = f"nb-tag rs-nb-ink-{look.hue}"
    return (text(right, y, worker, role, anchor="end"),) if worker else ()


def _lease(look: Look, wide: float, high: float) -> Marks:
    node = look.node
    if not _held(node) or node.until is None:
        return ()
    share = max(0.0, min(1.0, (node.until - look.tick) / look.lease))
    track = box(8, high - 6, wide - 16, 3, "nb-lease", corner=1.5)
    rest = box(8, high - 6, (wide - 16) * share, 3, f"nb-left-{look.hue}", corner=1.5)
    return (track, rest) if share else (track,)


def _leg(leg: Leg, role: str) -> Marks:
    (x, y), (to_x, to_y) = leg.start, leg.end
    stop = to_x - 7 if leg.ends else to_x
    tip = (head(to_x - 1, to_y, (1.0, 0.0), role),) if leg.ends else ()
    if leg.gutter is not None:
        course = f"M{x:g} {y:g}h9V{leg.gutter:g}H{to_x - 13:g}V{to_y:g}H{stop:g}"
        return (path(course, role), *tip)
    if abs(y - to_y) < 0.5:
        return (line(x, y, stop, to_y, role), *tip)
    middle = (x + stop) / 2
    curve = f"C{middle:g} {y:g} {middle:g} {to_y:g} {stop:g} {to_y:g}"
    return (path(f"M{x:g} {y:g}{curve}", role), *tip)


def _sign(status: NodeStatus, x: float, y: float, hue: int) -> Marks:
    ring = dot(x, y, 5.5, "nb-sign")
    match status:
        case NodeStatus.PENDING:
            return (ring,)
        case NodeStatus.READY:
            return (ring, dot(x, y, 2.5, "nb-sign-full"))
        case NodeStatus.RUNNING:
            # The colour is that of the worker; the word says it too.
            return (path(f"M{x - 4:g} {y - 6:g}l10 6l-10 6z", f"nb-sign-run rs-nb-left-{hue}"),)
        case NodeStatus.WAITING_APPROVAL:
            return (
                path(f"M{x:g} {y - 8:g}l8 8l-8 8l-8 -8z", "nb-sign-ask"),
                text(x, y + 4, "?", "nb-ask"),
            )
        case NodeStatus.BLOCKED:
            bar = path(f"M{x - 3:g} {y:g}h6", "nb-sign-shut")
            return (box(x - 6, y - 6, 12, 12, "nb-sign-shut", corner=2), bar)
        case NodeStatus.COMPLETED:
            return (path(f"M{x - 6:g} {y:g}l4 5l8 -10", "nb-sign-done"),)
        case NodeStatus.FAILED:
            return (path(f"M{x - 5:g} {y - 5:g}l10 10m0 -10l-10 10", "nb-sign-shut"),)
    return (ring, path(f"M{x - 4:g} {y - 4:g}l8 8", "nb-sign"))
