"""Machinery. States, verdicts and tables of a board, as plain values.

What is not here: single steps in words (see `boardwords`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runstate_lab.exploration import Exploration
from runstate_lab.laws import RESULTS
from runstate_lab.live.boards import words
from runstate_lab.live.boards.plays import Moment, Setting
from runstate_lab.live.boards.words import FAULTY, GOOD, LOST, OPEN, REFUSED
from runstate_lab.live.runs.diffs import Change, diff
from runstate_lab.model import RunState, RunStatus
from runstate_lab.show.told import told

Plain = dict[str, Any]
TRACE_HEADS = ("step", "who", "what", "answer", "revision", "remark")
COMPARE_HEADS = ("played on", "answers", "revision", "facts", "in short")
BRANCH_HEADS = ("branch", "order", "played on", "revision", "facts", "in short")
OUTCOME_HEADS = ("final state", "orders", "share", "laws broken", "an order")
LAW_HEADS = ("law", "broken in", "shortest bad order")
MOVE_HEADS = ("move", "open", "why not")


def state_view(path: Sequence[Moment], setting: Setting) -> Plain:
    """The state after a path, with what is gone, the laws and the verdict."""
    here = path[-1]
    short, mood = verdict(path)
    return {
        "revision": _revision(here.after),
        "status": _status(here.after),
        "facts": facts(path),
        "other": others(here.after),
        "laws": [_law(law.__name__, here, setting) for law in setting.laws],
        "unasked": list(here.unasked),
        "short": short,
        "mood": mood,
        "over": here.over and not here.failure,
        "outcome": outcome(path),
        "says": says(here.after),
    }


def facts(path: Sequence[Moment]) -> list[list[str]]:
    """Each fact with its mood: there from the start, new, or accepted and lost."""
    start, here = path[0].after, path[-1].after
    if not isinstance(here, RunState):
        return []
    old = set(map(str, start.facts)) if isinstance(start, RunState) else set()
    shown = [[str(fact), "old" if str(fact) in old else "new"] for fact in here.facts]
    return shown + [[fact, "lost"] for fact in lost(path)]


def lost(path: Sequence[Moment]) -> list[str]:
    """The facts that a state of the path had, and its last one has not."""
    here = path[-1].after
    had = [fact for moment in path for fact in words.gone(moment.after, here)]
    return list(dict.fromkeys(had))


def verdict(path: Sequence[Moment]) -> tuple[str, str]:
    """How an order ended, in short, and how good that is."""
    here = path[-1]
    if here.failure:
        return words.failed(here), FAULTY
    if not here.over:
        return "not finished", OPEN
    gone, results = lost(path), _results(path)
    if gone and results:
        return f"{len(gone)} of {len(results)} results lost", LOST
    if here.broken:
        return words.broken_words(here.broken[0]), LOST
    codes = [code for moment in path for code in _refusals(moment)]
    if codes:
        told_words = ", ".join(f"{codes.count(one)} {one}" for one in dict.fromkeys(codes))
        return f"{told_words}, none lost" if results else told_words, REFUSED
    return ("nothing lost" if results else "every law holds"), GOOD


def outcome(path: Sequence[Moment]) -> str:
    """What came of it, in the words of a prediction."""
    results, here = _results(path), path[-1].after
    if not results or not isinstance(here, RunState):
        return says(here)
    held = [value for value in results if value in map(str, here.facts)]
    named = f" ({held[0]})" if len(held) == 1 else ""
    return f"{len(held)} of {len(results)} results in the state{named}"


def says(state: Any) -> str:
    """The state in one sentence."""
    if not isinstance(state, RunState):
        return f"State: {state!r:.80}." if state is not None else "State: not known."
    status = "" if state.status is RunStatus.RUNNING else f", status {state.status}"
    held = ", ".join(map(str, state.facts)) or "no facts yet"
    return f"State: revision {state.revision}{status}, {held}."


def others(state: Any) -> list[list[str]]:
    """What else the state holds: open calls, open requests, nodes, why it stopped."""
    if not isinstance(state, RunState):
        return []
    named = {
        "open calls": [f"{call.call_id} {call.tool}" for call in state.calls],
        "asked": [told(request) for request in state.requests],
        "nodes": [f"{node.name} {node.status}" for node in state.nodes],
        "stopped": [state.stop_reason] if state.stop_reason else [],
    }
    return [[name, ", ".join(held)] for name, held in named.items() if held]


def changed(moment: Moment) -> tuple[Change, ...]:
    """What the step changed in the state: changed fields only."""
    if isinstance(moment.before, RunState) and isinstance(moment.after, RunState):
        return diff(moment.before, moment.after)
    return ()


def compare_row(path: Sequence[Moment], setting: Setting) -> list[str]:
    """One variant's line in the table of the same order on every variant."""
    said = [
        f"{moment.step.worker} {word}"
        for moment in path
        if moment.step is not None
        for word in words.answers(moment)
    ]
    held = ", ".join(fact for fact, mood in facts(path) if mood != "lost")
    here = path[-1]
    return [
        setting.name,
        ", ".join(said) or "no submit yet",
        _revision(here.after),
        held,
        verdict(path)[0],
    ]


def explored_view(found: Exploration, setting: Setting) -> Plain:
    """An exploration as plain values: counts, groups, laws, failures."""
    return {
        "said": explored_words(found),
        "orders": found.schedules,
        "holds": found.holds,
        "reduced": found.reduced,
        "outcomes": [
            {
                "state": says(one.state),
                "count": one.count,
                "share": one.share,
                "broken": [words.broken_words(law) for law in one.broken],
                "schedule": one.schedule,
            }
            for one in found.outcomes
        ],
        "laws": [
            [name, _counted(found, count), found.shortest.get(name, ""), found.tokens.get(name, "")]
            for name, count in found.broken.items()
        ],
        "failures": [
            [one.who, one.kind, one.words, one.schedule] for one in found.failures
        ],
    }


def broken_store(moment: Moment) -> Plain:
    """What is told instead of an exploration of a store that gives no state."""
    place = f"after {moment.key}" if moment.key else "before the first move"
    why = moment.failure
    return {
        "said": f"No count: the store failed {place} ({why}).",
        "orders": None,
        "holds": False,
        "reduced": False,
        "outcomes": [],
        "laws": [],
        "failures": [["the store", "failed", why, moment.key]],
    }


def explored_words(found: Exploration) -> str:
    """What all the orders together show, in one sentence."""
    if found.failures:
        first = found.failures[0]
        place = f"after {first.schedule}" if first.schedule else "before the first move"
        many = f" There are {len(found.failures)} faults in all." if len(found.failures) > 1 else ""
        return f"No count: {first.who} failed {place} ({first.kind}: {first.words}).{many}"
    if found.schedules is None:
        named = [words.broken_words(law) for law, count in found.broken.items() if count]
        so_far = ", ".join(named) or "no law is broken"
        return f"{found.stopped or 'reduced'}, there are more; so far: {so_far}."
    broken = [
        f"{words.broken_words(law)} in {count}" for law, count in found.broken.items() if count
    ]
    refused = [f"{words.code_words(code)} in {count}" for code, count in found.refused.items()]
    verdict_words = broken or (["no law is broken in any"] if found.broken else ["no law to ask"])
    return f"{found.schedules} orders: {', '.join(verdict_words + refused)}."


def outcome_rows(found: Plain) -> list[list[str]]:
    """The groups of final states, one line each."""
    return [
        [
            one["state"],
            "some" if one["count"] is None else str(one["count"]),
            "" if one["share"] is None else f"{one['share']:.0%}",
            ", ".join(one["broken"]) or "none",
            one["schedule"],
        ]
        for one in found["outcomes"]
    ]


def _counted(found: Exploration, count: int) -> str:
    if found.schedules is not None:
        return f"broken in {count}" if count else "never broken"
    return "broken in some" if count else "not broken so far"


def _results(path: Sequence[Moment]) -> list[str]:
    values = [
        str(touch.proposal.value)
        for moment in path
        if moment.step is not None
        for touch in moment.step.touches
        if touch.proposal is not None and touch.proposal.kind in RESULTS
    ]
    return list(dict.fromkeys(values))


def _refusals(moment: Moment) -> list[str]:
    return [word for word in words.answers(moment) if word != "accepted"]


def _law(name: str, here: Moment, setting: Setting) -> list[str]:
    if name in here.broken:
        return [name, "broken by this step" if name in here.fresh else "broken", LOST]
    if here.failure:
        return [name, f"not asked, {words.failed(here)}", OPEN]
    if any(one.startswith(f"{name} cannot be asked") for one in here.unasked):
        return [name, "cannot be asked", OPEN]
    at_end = name in [law.__name__ for law in setting.at_end]
    ended = here.over and not here.failure
    if at_end and not ended:
        return [name, "asked at the end", OPEN]
    return [name, "holds" if ended else "holds so far", GOOD]


def _revision(state: Any) -> str:
    return str(getattr(state, "revision", "?"))


def _status(state: Any) -> str:
    return str(getattr(state, "status", ""))
