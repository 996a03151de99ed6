"""Machinery. What a node board shows after each press, as plain values that change.

A view is a flat mapping; a frame holds only what its press changed. Whoever
folds the frames up to a place has the whole view there, without running
anything.

What is not here: what a press does (see `nodeworld`) and how it is told (see
`nodepresses`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runstate_lab.live.nodes.marks import Drawing, Look, heading, way
from runstate_lab.live.nodes.presses import Told, answer_of, hindrance
from runstate_lab.live.nodes.world import Desk, Hand, World
from runstate_lab.model import NodeState, NodeStatus

Plain = dict[str, Any]
HEADS = ("node", "attempt", "version", "worker", "lease", "status")
PRESS_HEADS = ("step", "tick", "press", "answer", "revision")
WORKER_KEYS = ("take", "finish", "fail", "late", "die", "revive")


def view(world: World, drawing: Drawing, lease: int) -> Plain:
    """All that is shown of a world now, as one flat mapping."""
    state, tick = world.state, world.clock()
    hues = {worker: place % 2 for place, worker in enumerate(world.desks)}
    shown: Plain = {
        "tick": tick,
        "revision": state.revision,
        "status": str(state.status),
        "heading": heading(state, tick),
        "written": ", ".join(f"{key}={words}" for key, words in world.written.items()),
        "next": _next_end(state.nodes, tick),
        "asking": [
            [node.name, node.approver]
            for node in state.nodes
            if node.status is NodeStatus.WAITING_APPROVAL
        ],
        "open": [node.name for node in state.nodes if not node.status.terminal],
        "off": _reasons(world),
    }
    hands: dict[str, list[Hand]] = {}
    for hand in (hand for desk in world.desks.values() for hand in desk.hands):
        hands.setdefault(hand.claim.node, []).append(hand)
    for node in state.nodes:
        look = Look(node, tick, lease, hues.get(node.worker or "", 0))
        shown[f"node:{node.name}"] = {
            "marks": drawing.marks(look),
            "way": way(node),
            "status": str(node.status),
            "rows": _rows(world, node, hands.get(node.name, [])),
        }
    for worker, desk in world.desks.items():
        shown[f"desk:{worker}"] = _desk(world, desk)
    return shown


def frame(told: Told, before: Plain, after: Plain, step: int) -> Plain:
    """A press and what it changed in the view."""
    row = [str(step), str(after["tick"]), told.what, told.answer, str(after["revision"])]
    return {
        "row": row if step else [],
        "said": told.said,
        "mood": told.mood,
        "view": {name: value for name, value in after.items() if before.get(name) != value},
    }


def folded(frames: Iterable[Plain]) -> Plain:
    """The whole view after some frames.

    >>> folded([{"view": {"tick": 0, "next": 5}}, {"view": {"tick": 1}}])
    {'tick': 1, 'next': 5}
    """
    whole: Plain = {}
    for one in frames:
        whole.update(one["view"])
    return whole


def _next_end(nodes: tuple[NodeState, ...], tick: int) -> int:
    """The tick at which the next lease or question runs out, or 0."""
    ends = [node.until for node in nodes if node.until is not None and node.until > tick]
    return min(ends, default=0)


def _reasons(world: World) -> dict[str, str]:
    """For each control that is off, why."""
    found = {"release": hindrance(world, ("release",)), "cancel": hindrance(world, ("cancel", ""))}
    if not _next_end(world.state.nodes, world.clock()):
        found["lease_end"] = "no lease is running"
    for worker, desk in world.desks.items():
        held, old = desk.held(), desk.old()
        held_first = (held[0].claim.node, held[0].claim.attempt) if held else ("", 0)
        old_first = (old[0].claim.node, old[0].claim.attempt) if old else ("", 0)
        given = {"take": (1,), "finish": held_first, "fail": held_first, "late": old_first}
        for key in WORKER_KEYS:
            found[f"{worker}-{key}"] = hindrance(world, (key, worker, *given.get(key, ())))
    return {key: why for key, why in found.items() if why}


def _desk(world: World, desk: Desk) -> Plain:
    nodes = {node.name: node for node in world.state.nodes}
    return {
        "alive": desk.alive,
        "held": [_slip(hand, answer_of(hand.claim, nodes)) for hand in desk.held()],
        "old": [
            _slip(hand, f"{hand.claim.node}, attempt {hand.claim.attempt}, {hand.fate}")
            for hand in desk.old()
        ],
    }


def _slip(hand: Hand, words: str) -> list[Any]:
    return [hand.claim.node, hand.claim.attempt, words]


def _rows(world: World, node: NodeState, hands: list[Hand]) -> list[list[str]]:
    """Every claim ever made on a node, the newest last, or the node alone."""
    hands.sort(key=lambda hand: (hand.claim.attempt, hand.version or world.state.revision))
    rows = [_row(node, hand, world.clock(), last=hand is hands[-1]) for hand in hands]
    if not hands or node.status in (NodeStatus.READY, NodeStatus.CANCELLED):
        made = f"{node.attempt} of {node.max_attempts} made"
        rows.append([node.name, made, "", "", "", str(node.status)])
    return rows


def _row(node: NodeState, hand: Hand, tick: int, *, last: bool) -> list[str]:
    claim = hand.claim
    fate = hand.fate
    if last and node.attempt == claim.attempt and node.worker == claim.worker:
        fate = _standing(node) if hand.fate in ("holds", "asked") else hand.fate
    if hand.late:
        fate += f"; late result {hand.late if hand.late == 'accepted' else f'refused, {hand.late}'}"
    return [
        node.name,
        f"{claim.attempt} of {node.max_attempts}",
        "none" if hand.version is None else str(hand.version),
        claim.worker,
        f"until {claim.until}" + (", ran out" if fate == "running" and claim.until <= tick else ""),
        fate,
    ]


def _standing(node: NodeState) -> str:
    """A node's status; an attempt that may begin is not yet held by anybody."""
    return "approved" if node.may_begin else str(node.status)
