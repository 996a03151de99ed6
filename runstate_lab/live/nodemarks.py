"""Machinery. What a node looks like: a box, a shape and a word for its status.

Who holds it stands in the upper right corner; a bar shows how much of the
lease is left. Nothing is said by colour alone.

What is not here: where the nodes lie (see `nodelayout`).
"""

from __future__ import annotations

from dataclasses import dataclass

from runstate_lab.graph import ExecutableGraph
from runstate_lab.live.marks import FRONT, Mark, Marks, box, dot, head, line, path, text
from runstate_lab.live.nodelayout import COMPACT, WIDE, Layout, Leg, layout
from runstate_lab.model import NodeState, NodeStatus, RunState
from runstate_lab.nodewise import FAILING
from runstate_lab.show.dot import width

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
    """The places of one graph, and the marks of its nodes at any moment."""

    def __init__(self, graph: ExecutableGraph) -> None:
        self.page: Layout = layout(graph)
        self.size = (WIDE, max(self.page.height, 80))
        self._legs: dict[str, list[Leg]] = {}
        for leg in self.page.legs:
            self._legs.setdefault(leg.tail, []).append(leg)

    def heading(self, state: RunState, tick: int) -> Marks:
        """The line above the graph: the clock, the run and its revision."""
        words = f"{state.run_id} is {state.status}, revision {state.revision}"
        return (
            text(4, 18, f"tick {tick}", "name", anchor="start"),
            text(14 + width(f"tick {tick}", 14, bold=True), 18, words, "soft", anchor="start"),
        )

    def ways(self, node: NodeState) -> Marks:
        """The arrows that leave a node, in the look of what it leaves behind."""
        role = "nb-way"
        if node.status is NodeStatus.COMPLETED:
            role = "nb-way-open"
        elif node.status in FAILING:
            role = "nb-way-shut"
        legs = self._legs.get(node.name, ())
        return tuple(mark for leg in legs for mark in _leg(leg, role))

    def marks(self, look: Look) -> Marks:
        """The box of a node with its words, its holder and its lease."""
        scale, (x, y) = self.page.scale, self.page.places[look.node.name]
        left, top = x - scale.wide / 2, y - scale.high / 2
        frame = box(left, top, scale.wide, scale.high, f"nb-node-{look.node.status}", corner=9)
        if _held(look.node):
            frame[1]["class"] += f" rs-nb-hue-{look.hue}"
        words = _compact if scale is COMPACT else _roomy
        return (frame, *words(look, left, top), *_lease(look, left, top, scale.wide, scale.high))


def _roomy(look: Look, left: float, top: float) -> Marks:
    node = look.node
    tag = node.worker if _held(node) else ""
    room = 114 - (width(tag, 12, bold=True) + 8 if tag else 0)
    return (
        *_sign(node.status, left + 18, top + 20, look.hue),
        text(left + 33, top + 25, fitted(node.name, 14, room, bold=True), "name", anchor="start"),
        *_tag(look, left + 148, top + 24, tag),
        text(left + 12, top + 43, str(node.status), "label", anchor="start"),
        *_ran_out(look, left + 148, top + 43),
        text(left + 12, top + 60, fitted(more(look), 12, 134), "soft", anchor="start"),
    )


def _compact(look: Look, left: float, top: float) -> Marks:
    node = look.node
    tag = node.worker if _held(node) else ""
    room = 68 - (width(tag, 11, bold=True) + 6 if tag else 0)
    words = str(node.status)
    if _held(node):
        lease = "ran out" if _over(look) else f"until {node.until}"
        words = f"{node.attempt} of {node.max_attempts}, {lease}"
    return (
        *_sign(node.status, left + 14, top + 13, look.hue),
        text(left + 26, top + 17, fitted(node.name, 12, room), "nb-small-name", anchor="start"),
        *_tag(look, left + 98, top + 17, tag),
        text(left + 8, top + 32, fitted(words, 11, 90), "nb-small", anchor="start"),
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


def _lease(look: Look, left: float, top: float, wide: float, high: float) -> Marks:
    node = look.node
    if not _held(node) or node.until is None:
        return ()
    share = max(0.0, min(1.0, (node.until - look.tick) / look.lease))
    track = box(left + 8, top + high - 6, wide - 16, 3, "nb-lease", corner=1.5)
    rest = box(left + 8, top + high - 6, (wide - 16) * share, 3, f"nb-left-{look.hue}", corner=1.5)
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
