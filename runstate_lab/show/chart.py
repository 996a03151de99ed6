"""Machinery. The status chart: six statuses and the arrows the rules allow.

Every arrow comes from `rules.arrows`; nothing about what is legal stands
here. A refused attempt is a dotted arrow that names its rule; a change that a
store made against the rules is drawn too, and says so.

What is not here: where things lie on the page (see `places`), steps in time
(see `spacetime`), and anything live.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from runstate_lab.model import RunState, RunStatus
from runstate_lab.rules import RULES, Rules, arrows
from runstate_lab.show.parts import Arrow, Node, Standing
from runstate_lab.show.path import Leg, path, status_of
from runstate_lab.show.picture import Picture
from runstate_lab.show.places import (
    BOX,
    HIGH,
    PLACES,
    ROOM,
    WIDE,
    Pair,
    placed,
    runs_above,
    runs_together,
)
from runstate_lab.show.ways import labelled_once, ways

if TYPE_CHECKING:
    from runstate_lab.store import StateStore


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
    current = None if state is None else status_of(state)
    legs = path(tuple(history), current or RunStatus.QUEUED, rules)
    stood = next((leg.start for leg in legs if leg.item is refused), current or RunStatus.QUEUED)
    attempt = _attempt(refused, stood, rules)
    legal = ways(
        arrows(rules),
        statuses=tuple(RunStatus),
        kinds=rules.kinds,
        taken=_travelled(legs, rules),
    )
    unlawful = _unlawful(legs, rules)
    drawn = [*labelled_once(legal, runs_together), *unlawful, *([attempt] if attempt else [])]
    shift = ROOM if room or any(map(runs_above, drawn)) else 0.0
    return Picture(
        title=f"Status chart of {rules.name}",
        nodes=tuple(_node(status, current, state, shift) for status in RunStatus),
        arrows=tuple(placed(arrow, shift) for arrow in drawn),
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


def _node(status: RunStatus, current: RunStatus | None, state: object, shift: float) -> Node:
    lit = status is current
    note = f"revision {state.revision}" if lit and isinstance(state, RunState) else ""
    x, y = PLACES[status]
    return Node(name=str(status), lit=lit, note=note, at=(x, y + shift), size=BOX)


def _travelled(legs: Iterable[Leg], rules: Rules) -> dict[tuple[Pair, str], list[int]]:
    """The numbers of the moves along each arrow; "" where the event is not known."""
    legal = arrows(rules)
    found: dict[tuple[Pair, str], list[int]] = {}
    for number, leg in enumerate((leg for leg in legs if leg.moved), 1):
        pair = (leg.start, leg.end)
        kinds = [kind for start, end, kind in legal if (start, end) == pair]
        kind = leg.kind or (kinds[0] if len(kinds) == 1 else "")
        found.setdefault((pair, kind), []).append(number)
    return found


def _unlawful(legs: Sequence[Leg], rules: Rules) -> list[Arrow]:
    """The changes that a store made although the rules have no such arrow."""
    legal = {(start, end) for start, end, _ in arrows(rules)}
    moves = enumerate((leg for leg in legs if leg.moved), 1)
    return [
        Arrow(
            tail=str(leg.start), head=str(leg.end), standing=Standing.TAKEN,
            label=f"{number}. {leg.kind or 'a change'}, against the rules",
        )
        for number, leg in moves
        if (leg.start, leg.end) not in legal
    ]


def _attempt(refused: object, current: RunStatus, rules: Rules) -> Arrow | None:
    if refused is None:
        return None
    event = getattr(refused, "event", None)
    if event is not None and getattr(refused, "refusal", None) is not None:
        kind, code, source = event.kind, refused.refusal.code, event.source
    elif isinstance(refused, tuple) and len(refused) in (2, 3):
        kind, code, source = (*refused, "")[:3]
    else:
        raise ValueError(
            f"asked a refused arrow for {refused!r}, found neither a refused entry nor a pair\n"
            "hint: give (kind, code), or an entry of store.trace that was refused"
        )
    code = getattr(code, "code", code)
    aim = rules.row(kind).to if kind in rules.kinds else None
    return Arrow(
        tail=str(current), head=str(aim or current), label=kind,
        standing=Standing.REFUSED, rule=code, by=source,
    )


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
