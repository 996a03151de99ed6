"""Machinery. Every press of the status chart, answered by a real store, told and drawn.

From the start, each press is offered to a store that holds the true state; so
all places that presses can lead to are met once. What the store answers, and
the arrow that shows the answer, are plain values that the browser gets once.

What is not here: what a press proposes (see `scene`), and where statuses and
arrows lie (see `chart`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from runstate_lab.errors import Refusal
from runstate_lab.live.charts.scene import FACTS, Scene
from runstate_lab.live.faults import Askew
from runstate_lab.live.marks import Mark, Marks, box, head, path, text
from runstate_lab.model import RunStatus
from runstate_lab.rules import RULES, Rules, arrows
from runstate_lab.show.chart import status_chart
from runstate_lab.show.parts import Arrow, Node, Standing
from runstate_lab.show.picture import Picture

Plain = dict[str, Any]
LINE_HEIGHT = 13
MOST = 400
HEADS = ("step", "event", "at status", "answer", "revision")
HEADS_EXPECTED = (*HEADS[:3], "expected", "as expected", *HEADS[3:])


def kinds(rules: Rules = RULES) -> tuple[str, ...]:
    """The kinds of events to press: those that change a status, and those that bring facts.

    >>> kinds()[:5]
    ('run_started', 'run_completed', 'run_failed', 'run_cancelled', 'tool_dispatched')
    """
    return tuple(rule.kind for rule in rules.rows if rule.to is not None or rule.kind in FACTS)


@cache
def chart_graph(rules: Rules) -> Plain:
    """Every place, every press and every arrow, as plain values.

    >>> chart_graph(RULES)["answers"]["running"]["run_completed"]["rule"]
    'success_not_met'
    """
    ground = status_chart(rules=rules, room=True)
    scenes = _scenes(rules)
    answers = {
        place: {kind: _answer(scene, kind, rules) for kind in kinds(rules)}
        for place, scene in scenes.items()
    }
    return {
        "size": list(ground.size or ()),
        "title": ground.title,
        "start": Scene().place,
        "heads": list(HEADS),
        "heads_expected": list(HEADS_EXPECTED),
        "kinds": list(kinds(rules)),
        "towards": {kind: str(rules.row(kind).to or "") for kind in kinds(rules)},
        "nodes": {node.name: _box(node) for node in ground.nodes},
        "arrows": [
            {
                "from": arrow.tail,
                "to": arrow.head,
                "kinds": _makers(arrow, rules),
                "marks": _course(arrow, "arrow"),
            }
            for arrow in ground.arrows
        ],
        "places": {
            place: {"status": str(scene.state.status), "holds": scene.holds}
            for place, scene in scenes.items()
        },
        "answers": answers,
        "refused": {
            name: _refused(status_chart(status, rules=rules, refused=(kind, code)))
            for name, (status, kind, code) in _refusals(scenes, answers).items()
        },
    }


def _scenes(rules: Rules) -> dict[str, Scene]:
    """A scene for each place that presses lead to, the start first."""
    found = {Scene().place: Scene()}
    waiting = [Scene()]
    while waiting:
        here = waiting.pop(0)
        for kind in kinds(rules):
            after = here.after(kind, rules)
            if isinstance(after, Scene) and after.place not in found:
                found[after.place] = after
                waiting.append(after)
        if len(found) > MOST:
            hint = "give rules under which a run comes to an end"
            raise Askew(f"a chart of {rules.name}", f"more than {MOST} places", hint)
    return found


def _answer(scene: Scene, kind: str, rules: Rules) -> Plain:
    after, status = scene.after(kind, rules), scene.state.status
    asked = f"{kind} at {status}"
    if isinstance(after, Refusal):
        why = f"; {after.reason}"
        return {
            "to": "",
            "rule": after.code,
            "said": f"{asked}: refused by {after.code}{why}.",
            "why": why,
            "next": "not from here" if after.code == "illegal_transition" else "not now",
            "marks": f"{status} {kind} {after.code}",
        }
    now = after.state.status
    why = f", because of {after.state.stop_reason}" if after.state.stop_reason else ""
    moved = f"now {now}" if now is not status else f"still {now}"
    return {
        "to": after.place,
        "said": f"{asked}: accepted, {moved}{why}.",
        "why": why,
        "next": f"to {now}" if now is not status else f"stays {now}",
    }


def _refusals(
    scenes: dict[str, Scene], answers: dict[str, dict[str, Plain]]
) -> dict[str, tuple[RunStatus, str, str]]:
    return {
        answer["marks"]: (scenes[place].state.status, kind, answer["rule"])
        for place, offered in answers.items()
        for kind, answer in offered.items()
        if not answer["to"]
    }


def _makers(arrow: Arrow, rules: Rules) -> list[str]:
    """The kinds of events that make an arrow, in the order of the table."""
    legal = arrows(rules)
    return [kind for kind in rules.kinds if (arrow.tail, arrow.head, kind) in legal]


def _refused(picture: Picture) -> Marks:
    arrow = next(arrow for arrow in picture.arrows if arrow.standing is Standing.REFUSED)
    x, y = arrow.label_at or (0, 0)
    words = text(x, y + 4, f"{arrow.label}: {arrow.rule}", "bad")
    return (*_course(replace(arrow, quiet=True), "refused"), words)


def _box(node: Node) -> Marks:
    (x, y), (wide, high) = node.at or (0, 0), node.size or (0, 0)
    frame = box(x - wide / 2, y - high / 2, wide, high, "status", corner=9)
    return (frame, text(x, y + 5, node.shown, "status-name"))


def _course(arrow: Arrow, role: str) -> Marks:
    points = arrow.route
    (x, y), (before_x, before_y) = points[-1], points[-2]
    far = ((x - before_x) ** 2 + (y - before_y) ** 2) ** 0.5 or 1
    towards = ((x - before_x) / far, (y - before_y) / far)
    start = f"M{points[0][0]:g} {points[0][1]:g}"
    curves = " ".join(f"{one:g} {two:g}" for one, two in points[1:])
    drawn = (path(f"{start}C{curves}", role), head(x, y, towards, role))
    return drawn if arrow.quiet else (*drawn, *_labels(arrow))


def _labels(arrow: Arrow) -> tuple[Mark, ...]:
    lines = (arrow.drawn or arrow.label).split("\n")
    x, y = arrow.label_at or (0, 0)
    top = y + 4 - (len(lines) - 1) * LINE_HEIGHT / 2
    return tuple(text(x, top + row * LINE_HEIGHT, line, "kind") for row, line in enumerate(lines))
