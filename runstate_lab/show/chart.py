"""Machinery. The status chart: six statuses and the arrows the rules allow.

Every arrow comes from `rules.arrows`; nothing about what is legal stands
here. The tables below only say where things lie on the page. A refused
attempt leaves its status upwards, runs along the top and is turned away where
it wanted to go.

What is not here: steps in time (see `spacetime`), and anything live.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from runstate_lab.model import RunState, RunStatus
from runstate_lab.rules import RULES, Rules, arrows
from runstate_lab.show import palette
from runstate_lab.show.dot import width, written
from runstate_lab.show.parts import Arrow, Node, Point, Standing
from runstate_lab.show.picture import Picture
from runstate_lab.show.routes import bent

if TYPE_CHECKING:
    from runstate_lab.store import StateStore

QUEUED, RUNNING, WAITING, COMPLETED, FAILED, CANCELLED = RunStatus
Pair = tuple[RunStatus, RunStatus]

WIDE, HIGH, ROOM = 672.0, 238.0, 42.0
BOX: Point = (96.0, 40.0)
LEFT, TOP, BOTTOM = 544.0, 128.0, 168.0
PLACES: dict[RunStatus, Point] = {
    QUEUED: (54, 148),
    RUNNING: (238, 148),
    WAITING: (446, 148),
    COMPLETED: (592, 26),
    FAILED: (592, 84),
    CANCELLED: (592, 212),
}
ROUTES: dict[Pair, tuple[Point, ...]] = {
    (QUEUED, RUNNING): ((102, 148), (190, 148)),
    (QUEUED, CANCELLED): ((54, BOTTOM), (54, 212), (LEFT, 212)),
    (RUNNING, WAITING): ((286, 140), (398, 140)),
    (RUNNING, COMPLETED): ((238, TOP), (238, 26), (LEFT, 26)),
    (RUNNING, FAILED): ((262, TOP), (262, 84), (LEFT, 84)),
    (RUNNING, CANCELLED): ((238, BOTTOM), (238, 212), (LEFT, 212)),
    (WAITING, RUNNING): ((398, 156), (286, 156)),
    (WAITING, FAILED): ((446, TOP), (446, 84), (LEFT, 84)),
    (WAITING, CANCELLED): ((446, BOTTOM), (446, 212), (LEFT, 212)),
}
LABELS: dict[Pair, Point] = {
    (QUEUED, RUNNING): (145, 148),
    (RUNNING, WAITING): (341, 140),
    (RUNNING, COMPLETED): (391, 26),
}
BELOW: dict[Pair, Point] = {(WAITING, RUNNING): (341, 156)}
TRUNKS: dict[RunStatus, Point] = {FAILED: (497, 84), CANCELLED: (497, 212)}
BESIDE = (650.0, 664.0)


def status_chart(
    state: RunState | RunStatus | str | None = None,
    *,
    rules: Rules = RULES,
    refused: object = None,
    history: Iterable[object] = (),
    room: bool = False,
) -> Picture:
    """The six statuses, the arrows between them, and where a run stands.

    `refused` is an entry of a trace, or (kind, code), or (kind, code, source);
    `history` a trace, or statuses in order. `room` keeps the place of a
    refused arrow free, so that charts with and without one line up.

    >>> status_chart("completed", refused=("run_started", "illegal_transition"))
    Status chart of RULES: completed is current; refused: completed to running, run_started, by illegal_transition.
    >>> status_chart("finished")
    Traceback (most recent call last):
        ...
    ValueError: asked the status 'finished', found only queued, running, waiting, completed, failed, cancelled
    hint: give a RunState, a RunStatus or one of these words
    """
    current = None if state is None else _status(state)
    attempt = _attempt(refused, current or QUEUED, rules)
    taken = _travelled(history, rules)
    legal = _group_labels(_legal(rules, taken))
    drawn = [*legal, *([attempt] if attempt else [])]
    shift = ROOM if attempt or room else 0.0
    return Picture(
        title=f"Status chart of {rules.name}",
        nodes=tuple(_node(status, current, state, shift) for status in RunStatus),
        arrows=tuple(_placed(arrow, shift) for arrow in drawn),
        summary=_summary(rules, state, current, attempt),
        size=(WIDE, HIGH + shift),
    )


def chart(store: StateStore, *, rules: Rules | None = None) -> Picture:
    """The chart of a store: its state, its path, and its last refusal, if any.

    >>> from runstate_lab import model, store
    >>> chart(store.StateStore(model.RunState("run-7")))
    Status chart of RULES: queued is current at revision 0.
    """
    entries = tuple(store.trace)
    refusals = [entry for entry in entries if entry.refusal is not None]
    return status_chart(
        store.load(),
        rules=rules or store.rules,
        history=entries,
        refused=refusals[-1] if refusals else None,
    )


def _status(value: object) -> RunStatus:
    if isinstance(value, RunState):
        return value.status
    if value not in tuple(RunStatus):
        raise ValueError(
            f"asked the status {str(value)!r}, found only {', '.join(RunStatus)}\n"
            "hint: give a RunState, a RunStatus or one of these words"
        )
    return RunStatus(str(value))


def _node(status: RunStatus, current: RunStatus | None, state: object, shift: float) -> Node:
    lit = status is current
    note = f"revision {state.revision}" if lit and isinstance(state, RunState) else ""
    x, y = PLACES[status]
    return Node(name=str(status), lit=lit, note=note, at=(x, y + shift), size=BOX)


def _legal(rules: Rules, taken: Mapping[tuple[Pair, str], list[int]]) -> list[Arrow]:
    """One arrow for each pair of statuses; the kinds that make it are its label."""
    order = {kind: place for place, kind in enumerate(rules.kinds)}
    kinds: dict[Pair, list[str]] = {}
    for start, end, kind in sorted(arrows(rules), key=lambda arrow: order[arrow[2]]):
        kinds.setdefault((start, end), []).append(kind)
    statuses = list(RunStatus)
    found = []
    for pair in sorted(kinds, key=lambda pair: tuple(map(statuses.index, pair))):
        numbers = {kind: taken.get((pair, kind), []) for kind in kinds[pair]}
        label = "\n".join(_numbered(numbers[kind], kind) for kind in kinds[pair])
        unsure = taken.get((pair, ""), [])
        if unsure:
            label = _numbered(unsure, "\nor ".join(kinds[pair]))
        travelled = bool(unsure or any(numbers.values()))
        standing = Standing.TAKEN if travelled else Standing.LEGAL
        found.append(Arrow(tail=str(pair[0]), head=str(pair[1]), label=label, standing=standing))
    return sorted(found, key=lambda arrow: arrow.standing is Standing.TAKEN)


def _numbered(numbers: list[int], kind: str) -> str:
    shown = [*map(str, numbers[:2]), "…", str(numbers[-1])] if len(numbers) > 3 else map(str, numbers)
    return f"{', '.join(shown)}. {kind}" if numbers else kind


def _group_labels(legal: list[Arrow]) -> list[Arrow]:
    """Arrows into one trunk share a label; the last drawn one carries it."""
    found: list[Arrow] = []
    for place, arrow in enumerate(legal):
        later = [other for other in legal[place + 1 :] if other.head == arrow.head]
        shared = RunStatus(arrow.head) in TRUNKS and any(
            other.standing is Standing.TAKEN or other.label == arrow.label for other in later
        )
        found.append(replace(arrow, quiet=shared and arrow.standing is Standing.LEGAL))
    return found


def _travelled(history: Iterable[object], rules: Rules) -> dict[tuple[Pair, str], list[int]]:
    """The numbers of the moves that went along each arrow, in the order made."""
    legal = arrows(rules)
    here: RunStatus | None = None
    found: dict[tuple[Pair, str], list[int]] = {}
    number = 0
    for item in history:
        start, end, kind = _move(item, here, rules)
        if end is None:
            continue
        if start is not None and start is not end:
            number += 1
            kinds = [kind] if kind else [k for a, b, k in legal if (a, b) == (start, end)]
            found.setdefault(((start, end), kinds[0] if len(kinds) == 1 else ""), []).append(number)
        here = end
    return found


def _move(
    item: object, here: RunStatus | None, rules: Rules
) -> tuple[RunStatus | None, RunStatus | None, str]:
    event = getattr(item, "event", item)
    kind = getattr(event, "kind", None)
    if kind is None:
        return here, _status(item), ""
    if getattr(item, "refusal", None) is not None or kind not in rules.kinds:
        return here, None, kind
    row = rules.row(kind)
    return here or (QUEUED if QUEUED in row.come_from else row.come_from[0]), row.to, kind


def _attempt(refused: object, current: RunStatus, rules: Rules) -> Arrow | None:
    if refused is None:
        return None
    if isinstance(refused, tuple):
        kind, code, source = (*refused, "")[:3]
    else:
        event = refused.event
        kind, code, source = event.kind, refused.refusal.code, event.source
    aim = rules.row(kind).to if kind in rules.kinds else None
    return Arrow(
        tail=str(current), head=str(aim or current), label=kind,
        standing=Standing.REFUSED, rule=code, by=source,
    )


def _placed(arrow: Arrow, shift: float) -> Arrow:
    pair = (RunStatus(arrow.tail), RunStatus(arrow.head))
    if arrow.standing is Standing.REFUSED:
        corners = _around(*pair, shift)
        middle = (corners[-2][0] + corners[1][0]) / 2
        half = width(written(arrow), palette.SMALL, bold=True) / 2 + 4
        at = (min(max(middle, half), WIDE - half), ROOM - 33)
        return replace(arrow, route=bent(corners), label_at=at)
    if pair not in ROUTES:
        return arrow
    corners = tuple((x, y + shift) for x, y in ROUTES[pair])
    lines = len(arrow.label.split("\n"))
    rise = -(4 + 6.6 * lines)
    x, y = LABELS.get(pair) or TRUNKS.get(pair[1]) or BELOW.get(pair) or corners[0]
    if pair in BELOW:
        rise = -rise + 1
    return replace(arrow, route=bent(corners), label_at=(x, y + rise + shift))


def _around(start: RunStatus, end: RunStatus, shift: float) -> tuple[Point, ...]:
    """Up from the start, along the top, and down to where it was turned away."""
    top = ROOM - 18
    out, back = (BESIDE if start in TRUNKS and end in TRUNKS else (BESIDE[0],) * 2)
    aside = 14 if start is end else 0
    leave = _to_top(start, out, -aside, shift)
    arrive = _to_top(end, back, aside, shift)
    return (*leave, (leave[-1][0], top), (arrive[-1][0], top), *reversed(arrive))


def _to_top(status: RunStatus, lane: float, aside: float, shift: float) -> tuple[Point, ...]:
    x, y = PLACES[status]
    if status in TRUNKS:
        level = y + shift + aside / 2
        return ((x + BOX[0] / 2, level), (lane, level))
    inward = -26.0 if status in (RUNNING, WAITING) else 0.0
    return ((x + inward + aside, y + shift - BOX[1] / 2),)


def _summary(
    rules: Rules, state: object, current: RunStatus | None, attempt: Arrow | None
) -> str:
    words = f"Status chart of {rules.name}"
    if current is not None:
        words += f": {current} is current"
    if isinstance(state, RunState):
        words += f" at revision {state.revision}"
    if attempt is not None:
        words += f"{';' if current else ':'} refused: {attempt.tail} to {attempt.head}, "
        words += f"{attempt.label}, by {attempt.rule}"
    return words + "."
