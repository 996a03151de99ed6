"""Machinery. Every attempt to change a status, made on a real store.

For each status and each kind of event that changes one, a store in that
status is asked. What it answers, and the arrow that shows the answer, are
plain values that the browser gets once.

What is not here: where statuses and arrows lie (see `chart`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from runstate_lab.answers import request_has_expired
from runstate_lab.errors import Refusal
from runstate_lab.live.marks import Mark, Marks, box, head, path, text
from runstate_lab.model import (
    Answer,
    Approval,
    Callback,
    Decision,
    Fact,
    Lease,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.rules import RULES, Rule, Rules
from runstate_lab.show.chart import status_chart
from runstate_lab.show.parts import Arrow, Node, Standing
from runstate_lab.show.picture import Picture
from runstate_lab.store import StateStore

Plain = dict[str, object]
LINE_HEIGHT = 13
HEADS = ("step", "event", "at status", "answer", "revision")
HEADS_EXPECTED = (*HEADS[:3], "expected", "as expected", *HEADS[3:])
CALL = ToolCall("c2", "deploy", (("release", "7"),))
EXPIRES = 9
ABOUT = {"call_id": CALL.call_id, "digest": CALL.digest, "expires_at": EXPIRES}
APPROVAL = Approval("a1", "deploy release 7?", "rosa", **ABOUT)
CALLBACK = Callback("k1", "ci", **ABOUT)
ASKED = {"approval": APPROVAL, "callback": CALLBACK}
NAMES = {
    "tool:*": "tool:get_status",
    "approver:*": "approver:rosa",
    "service:*": "service:ci",
    "model:*": "model:planner",
    "driver:*": "driver:w1",
}
VALUES: dict[type, Value] = {
    Approval: APPROVAL,
    Callback: CALLBACK,
    ToolCall: CALL,
    Decision: Decision("deploy release 7"),
    Lease: Lease("w1", epoch=1, until=EXPIRES),
}
STATE = RunState(
    "run-7",
    success=("build=green",),
    facts=(
        Fact("build", "green", source="tool:get_status", authority="tool_executor", call_id="c1"),
    ),
)


def kinds(rules: Rules = RULES) -> tuple[str, ...]:
    """The kinds of events that change a status, in the order of the table.

    >>> kinds()[:4]
    ('run_started', 'run_completed', 'run_failed', 'run_cancelled')
    """
    return tuple(rule.kind for rule in rules.rows if rule.to is not None)


def attempt(status: RunStatus, kind: str, rules: Rules) -> RunState | Refusal:
    """What a store in that status answers to an event of that kind.

    >>> attempt(RunStatus.COMPLETED, "run_started", RULES)
    IllegalTransition(illegal_transition: run cannot start from completed)
    """
    rule = rules.row(kind)
    store = StateStore(_scene(status, rule), rules=rules)
    source = NAMES.get(rule.sources[0], rule.sources[0])
    # Only what has run out may be expired; everything else comes in time.
    tick = EXPIRES if request_has_expired in rule.conditions else 0
    context = store.context(source, rule.authority, tick=tick)
    try:
        return store.apply(StateProposal(kind, _value(rule), 0), context=context)
    except Refusal as refusal:
        return refusal


@cache
def chart_graph(rules: Rules) -> Plain:
    """Every status, every attempt and every arrow, as plain values.

    >>> chart_graph(RULES)["answers"]["queued"]["run_completed"]["rule"]
    'illegal_transition'
    """
    ground = status_chart(rules=rules, room=True)
    return {
        "size": list(ground.size or ()),
        "title": ground.title,
        "start": str(RunStatus.QUEUED),
        "heads": list(HEADS),
        "heads_expected": list(HEADS_EXPECTED),
        "kinds": list(kinds(rules)),
        "towards": {kind: str(rules.row(kind).to) for kind in kinds(rules)},
        "nodes": {node.name: _box(node) for node in ground.nodes},
        "arrows": [
            {"from": arrow.tail, "to": arrow.head, "marks": _course(arrow, "arrow")}
            for arrow in ground.arrows
        ],
        "answers": {
            str(status): {kind: _answer(status, kind, rules) for kind in kinds(rules)}
            for status in RunStatus
        },
    }


def _scene(status: RunStatus, rule: Rule) -> RunState:
    """A run in that status; only one that is about to complete has no call left."""
    completes = rule.to is RunStatus.COMPLETED and status is RunStatus.RUNNING
    return replace(
        STATE,
        status=status,
        calls=() if status.terminal or completes else (CALL,),
        requests=(APPROVAL, CALLBACK) if status is RunStatus.WAITING else (),
    )


def _value(rule: Rule) -> Value:
    asked = ASKED.get(rule.kind.partition("_")[0])
    if rule.takes is Answer and asked is not None:
        return Answer.to(asked, STATE.run_id)
    if rule.takes is not str:
        return VALUES.get(rule.takes, "")
    if rule.reasons:
        return rule.reasons[0].replace("*", "not today")
    return asked.request_id if asked is not None else ""


def _answer(status: RunStatus, kind: str, rules: Rules) -> Plain:
    answer = attempt(status, kind, rules)
    asked = f"{kind} at {status}"
    if isinstance(answer, RunState):
        why = f", because of {answer.stop_reason}" if answer.stop_reason else ""
        return {
            "to": str(answer.status),
            "said": f"{asked}: accepted, now {answer.status}{why}.",
            "why": why,
            "marks": (),
        }
    picture = status_chart(status, rules=rules, refused=(kind, answer.code))
    why = f"; {answer.reason}"
    return {
        "to": "",
        "rule": answer.code,
        "said": f"{asked}: refused by {answer.code}{why}.",
        "why": why,
        "marks": _refused(picture),
    }


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
