"""Machinery. The step graph as plain values: what the browser needs, sent once.

Equal steps and equal states are sent once and named by their place in a
list, so that 69 beginnings on four stores stay small.

What is not here: how a step is run (see `steps`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from runstate_lab.errors import Refusal
from runstate_lab.live import lanes, steps
from runstate_lab.live.pool import Pool
from runstate_lab.model import RunState, RunStatus

Plain = dict[str, object]
HEADS = ("step", "who", "what", "answer", "revision")
OPENING = "Nothing has happened yet: both tools have finished, neither has read the state."


@cache
def step_graph(stores: tuple[str, ...], casts: tuple[str, ...]) -> Plain:
    """Every reachable step of the named stores and casts, really taken.

    >>> graph = step_graph(("naive",), ("scanner",))
    >>> place = graph["nodes"]["scanner"]["naive"]["ABABAB"][1]
    >>> graph["states"][place]["short"]
    '1 of 2 results lost'
    """
    taken, states = Pool(), Pool()
    nodes = {
        cast: {
            store: {order: _node(order, store, cast, taken, states) for order in steps.beginnings()}
            for store in stores
        }
        for cast in casts
    }
    return {
        "size": list(lanes.SIZE),
        "base": {cast: lanes.ground(names(cast), steps.START.revision) for cast in casts},
        "shades": [lanes.shade(step) for step in range(1, lanes.STEPS + 1)],
        "writers": {cast: names(cast) for cast in casts},
        "actions": list(steps.ACTIONS),
        "stores": [{"id": store, "label": store} for store in stores],
        "casts": [{"id": cast, "label": steps.CAST_LABELS[cast]} for cast in casts],
        "orders": {"total": len(steps.every_order()), "length": len(steps.every_order()[0])},
        "tokens": {},
        "heads": list(HEADS),
        "opening": OPENING,
        "steps": taken.kept,
        "states": states.kept,
        "nodes": nodes,
    }


def names(cast: str) -> dict[str, str]:
    """The names of the two writers of a cast."""
    return {actor: writer.name for actor, writer in steps.CASTS[cast].items()}


def _node(order: str, store: str, cast: str, taken: Pool, states: Pool) -> list[int]:
    play = steps.run(order, store=store, cast=cast)
    step = taken.place(_step(play)) if order else -1
    return [step, states.place(_state(play, complete=len(order) == lanes.STEPS))]


def _step(play: steps.Play) -> Plain:
    column = play.columns[-1]
    desk = play.desks[column.actor]
    did = {
        "reads": f"reads {column.detail}",
        "computes": f"computes {column.detail}",
        "submits": f"submits {desk.writer.claim}, {column.detail}",
    }[column.action]
    who = f"{column.actor}, the {desk.writer.name},"
    said = f"{who} {did}{_answered(desk, column)}."
    row = [
        str(column.number),
        f"{column.actor} {desk.writer.name}",
        did,
        _reason(desk),
        str(column.revision),
    ]
    return {"said": said, "row": row, "short": _short(column), "marks": lanes.marks(column)}


def _answered(desk: steps.Desk, column: lanes.Column) -> str:
    if isinstance(desk.answer, Refusal):
        return f": refused, {desk.answer.reason}; found {desk.answer.found}; nothing changed"
    if desk.answer is None:
        return ""
    remark = column.remark.replace("\n", " ")
    return f": accepted at revision {column.revision}" + (
        f"; {remark}, and nobody was told" if remark else ""
    )


def _reason(desk: steps.Desk) -> str:
    if isinstance(desk.answer, Refusal):
        return f"refused: {desk.answer.reason}"
    return "accepted" if desk.answer else ""


def _short(column: lanes.Column) -> str:
    return f"{column.actor} {column.answer}" if column.answer else ""


def _state(play: steps.Play, *, complete: bool) -> Plain:
    state, lost = play.state, play.lost()
    old = set(map(str, steps.START.facts))
    facts = [[str(fact), "old" if str(fact) in old else "new"] for fact in state.facts]
    facts += [[claim, "lost"] for claim in lost]
    short, mood = _verdict(play) if complete else ("not finished", "open")
    return {
        "revision": state.revision,
        "status": str(state.status),
        "facts": facts,
        "short": short,
        "mood": mood,
        "outcome": _outcome(play),
        "says": _says(state),
    }


def _verdict(play: steps.Play) -> tuple[str, str]:
    desks, lost = play.desks.values(), play.lost()
    if lost:
        return f"{len(lost)} of {len(desks)} results lost", "lost"
    strangers = [
        desk for desk in desks if not desk.writer.rightful and isinstance(desk.answer, RunState)
    ]
    counts = (
        (len(strangers), "accepted from the wrong writer", "lost"),
        (sum(map(steps.stale, desks)), "decided on old facts", "lost"),
        (_refused(desks, "conflict"), "conflict, none lost", "refused"),
        (_refused(desks, "not its writer"), "refused: not its writer", "refused"),
        (_refused(desks, "refused"), "refused", "refused"),
    )
    named = [(f"{count} {words}", mood) for count, words, mood in counts if count]
    return named[0] if named else ("nothing lost", "good")


def _refused(desks: Iterable[steps.Desk], word: str) -> int:
    return sum(steps.answer(desk) == word for desk in desks if desk.answer is not None)


def _outcome(play: steps.Play) -> str:
    held = [desk.writer.claim for desk in play.desks.values() if desk.writer.holds(play.state)]
    both = len(play.desks)
    return f"{len(held)} of {both} results in the state" + (
        f" ({held[0]})" if len(held) == 1 else ""
    )


def _says(state: RunState) -> str:
    status = "" if state.status is RunStatus.RUNNING else f", status {state.status}"
    facts = ", ".join(map(str, state.facts)) or "no facts yet"
    return f"State: revision {state.revision}{status}, {facts}."
