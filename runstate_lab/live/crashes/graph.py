"""Machinery. Every kill of every loop as plain values: what the browser needs, sent once.

What is not here: how a run is killed (see `crashes`), and where a mark stands
(see `crashmarks`).
"""

from __future__ import annotations

from functools import cache

from runstate_lab.live.crashes import marks as crashmarks
from runstate_lab.live.crashes.loops import EFFECT, LOOPS, Moment, Outcome, moments, outcome
from runstate_lab.live.marks import Marks
from runstate_lab.live.pool import Pool
from runstate_lab.model import CallStatus

Plain = dict[str, object]
PHASES = ("aimed", "killed", "recovered", "ended")
DEAD = "w1 is dead already: aim elsewhere, or kill nobody"
REASONS: dict[str, dict[str, str]] = {
    "aimed": {"recover": "nobody was killed yet", "go_on": "recover first", "spare": "w1 lives"},
    "killed": {"kill": DEAD, "go_on": "recover first"},
    "recovered": {"kill": DEAD, "recover": "recovered already"},
    "ended": {"kill": DEAD, "recover": "recovered already", "go_on": "w2 went on to the end"},
}
MOMENT_HEADS = ("moment", "what", "kept where", "number", "before the kill")
CALL_HEADS = ("call", "tool", "answer", "why", "may be repeated")
COMPARE_HEADS = (
    "loop",
    "idempotency key",
    "killed before",
    "recovery says of deploy",
    "asked",
    "deployed",
    "the state says",
    "in short",
)
WHY = {
    CallStatus.PROPOSED: "proposed, never dispatched",
    CallStatus.NOT_EXECUTED: "declined",
    CallStatus.FAILED: "its failure was committed",
    CallStatus.DISPATCHED: "dispatched, no result was committed",
    CallStatus.UNKNOWN: "declared unknown before",
}
KEYS = {True: "with a key", False: "without a key"}
MAIN = "intent first"
USUAL = "once"
MATRIX_TITLE = "How often release 7 is deployed, at every kill point"


def run_name(loop: str, keyed: bool) -> str:
    """The name of one run in the graph.

    >>> run_name("once per batch", False)
    'once per batch, without a key'
    """
    return f"{loop}, {KEYS[keyed]}"


@cache
def crash_graph() -> Plain:
    """Every kill point of every loop, really killed.

    >>> graph = crash_graph()
    >>> [len(run["points"]) for run in graph["runs"].values()]
    [14, 14, 14, 14, 5, 5]
    """
    pool = Pool()
    runs = {run_name(loop, keyed): _run(loop, keyed, pool) for loop, keyed in _pairs()}
    return {
        "size": list(crashmarks.SIZE),
        "loops": [{"id": name, "label": loop.label} for name, loop in LOOPS.items()],
        "keys": [{"id": KEYS[keyed], "label": KEYS[keyed]} for keyed in (False, True)],
        "reasons": REASONS,
        "call_heads": list(CALL_HEADS),
        "compare_heads": list(COMPARE_HEADS),
        "runs": runs,
        "marks": pool.kept,
        "matrix_heads": ["killed before", *(run_name(loop, keyed) for loop, keyed in _pairs())],
        "matrix": matrix(),
        "usual": USUAL,
        "matrix_title": MATRIX_TITLE,
    }


def matrix() -> list[list[str]]:
    """How often release 7 is deployed: a row for each kill point of the driver.

    >>> matrix()[8][:4]
    ['result c2', 'once, told: outcome unknown', 'once', 'twice, the books know 1 attempt']
    """
    rows = []
    for point in range(len(moments(MAIN, False)) + 1):
        row = [before(moments(MAIN, False), point)]
        for loop, keyed in _pairs():
            row.append(short(_outcome_there(MAIN, point, loop, keyed))[0].removeprefix("deployed "))
        rows.append(row)
    return rows


def same_place(source: tuple[Moment, ...], point: int, target: tuple[Moment, ...]) -> int:
    """The kill point of another loop at the same place: as many effects are done.

    Just before an effect stays just before it, just after it just after it, a
    commit of the same name stays that commit.

    >>> one, other = moments("intent first", False), moments("once per batch", False)
    >>> [same_place(one, point, other) for point in (0, 7, 8, 9, 13)]
    [0, 0, 1, 2, 4]
    """
    done = _effects(source[:point])
    there = [at for at in range(len(target) + 1) if _effects(target[:at]) == done]
    if point and source[point - 1].sort == EFFECT:
        return there[0]
    here = source[point] if point < len(source) else None
    if here is None or here.sort == EFFECT:
        return there[-1]
    # The same commit, if the other loop makes it with as many effects done.
    named = [at for at in there if at < len(target) and target[at].words == here.words]
    return named[0] if named else there[-1]


def before(found: tuple[Moment, ...], point: int) -> str:
    """The moment that a kill point comes before, in words.

    >>> before((), 0)
    'nothing (the end)'
    """
    return found[point].words if point < len(found) else "nothing (the end)"


def short(one: Outcome) -> tuple[str, str]:
    """What came of a kill in a few words, and its mood.

    >>> short(outcome("once per batch", False, 1))
    ('deployed twice, the books know 1 attempt', 'bad')
    """
    done, known = (f"deployed {_times(one.deployed)}", f"the books know {_attempts(one.attempts)}")
    if one.deployed > 1:
        return f"{done}, {known}", "bad"
    if one.says == "outcome unknown":
        return f"{done}, told: outcome unknown", "warn"
    if one.asked > one.attempts:
        return f"{done}, asked {_times(one.asked)}, {known}", "warn"
    if one.tests > 1:
        return f"{done}, the tests ran {_times(one.tests)}", "warn"
    if one.status.startswith("failed"):
        return f"{done}, stopped at the tests", "warn"
    return done, "good"


def _pairs() -> list[tuple[str, bool]]:
    return [(loop, keyed) for loop in LOOPS for keyed in (False, True)]


def _outcome_there(loop: str, point: int, other: str, keyed: bool) -> Outcome:
    if other == loop:
        return outcome(other, keyed, point)
    place = same_place(moments(loop, False), point, moments(other, keyed))
    return outcome(other, keyed, place)


def _effects(some: tuple[Moment, ...]) -> int:
    return sum(one.sort == EFFECT for one in some)


def _run(loop: str, keyed: bool, pool: Pool) -> Plain:
    found = moments(loop, keyed)
    count = len(found)
    places = list(enumerate(found))
    return {
        "ground": _pooled(pool, crashmarks.ground(LOOPS[loop].kept_in)),
        "moments": [_pooled(pool, crashmarks.moment(one, at, count)) for at, one in places],
        "ghosts": [_pooled(pool, crashmarks.label(one, at, count)) for at, one in places],
        "words": [one.words for one in found],
        "gaps": [crashmarks.gap(point, count) for point in range(count + 1)],
        "points": [_point(loop, keyed, point, pool) for point in range(count + 1)],
    }


def _point(loop: str, keyed: bool, point: int, pool: Pool) -> Plain:
    one, found = outcome(loop, keyed, point), moments(loop, keyed)
    count = len(found)
    idle = crashmarks.remark("w2 looked: nothing was left to do")
    drawn = {
        "aim": crashmarks.aim(point, count),
        "kill": crashmarks.killed(point, count),
        "idle": crashmarks.remark("w2 has not looked yet"),
        "life": crashmarks.life(point, count),
        "whole": crashmarks.life(count, count),
        "read": crashmarks.remark(_read(one)),
        "went": crashmarks.second(one.after) if one.after else idle,
    }
    return {
        **{name: _pooled(pool, some) for name, some in drawn.items()},
        "said": _said(loop, keyed, point),
        "calls": _calls(one),
        "row": _row(loop, keyed, point),
        "same": {
            run_name(other, key): point
            if other == loop
            else same_place(found, point, moments(other, key))
            for other, key in _pairs()
        },
        "mood": short(one)[1],
        "counts": [_done(one.before), one.asked, one.deployed, one.attempts],
        "status": one.status,
        "says": one.says,
    }


def _pooled(pool: Pool, some: Marks) -> list[int]:
    return [pool.place(list(one)) for one in some]


def _read(one: Outcome) -> str:
    told = [f"{call.call_id} {call.tool}: {call.answer}" for call in one.found.calls]
    revision = one.found.state.revision
    return f"w2 reads revision {revision}: {'; '.join(told) or 'nothing open'}"


def _said(loop: str, keyed: bool, point: int) -> dict[str, str]:
    one, found = outcome(loop, keyed, point), moments(loop, keyed)
    place = f"before {before(found, point)}" if point < len(found) else "after the end"
    kept = f"{LOOPS[loop].kept_in} at revision {one.found.state.revision}"
    open_calls = "; ".join(f"{call.call_id} {call.tool}: {call.answer}" for call in one.found.calls)
    words, _ = short(one)
    return {
        "aimed": f"w1 runs; it would be killed {place}, moment {point} of {len(found)}.",
        "killed": f"w1 was killed {place}: {kept}, release 7 is deployed {_times(_done(one.before))}.",
        "recovered": f"recover() reads revision {one.found.state.revision}: "
        f"{open_calls or 'nothing open'}. Outside, release 7 is deployed {_times(_done(one.before))}.",
        "ended": f"w2 went on, the run is {one.status}: {words}. The state says: {one.says}.",
    }


def _calls(one: Outcome) -> list[list[str]]:
    rows = []
    for call in one.found.calls:
        known = one.found.state.call(call.call_id)
        why = WHY[known.status] if known else ""
        again = "yes" if call.repeatable else "no: there is no key"
        if call.repeatable and call.answer == "outcome unknown":
            again = "yes: under its key"
        rows.append([call.call_id, call.tool, call.answer, why, again])
    return rows


def _row(loop: str, keyed: bool, point: int) -> list[str]:
    one = outcome(loop, keyed, point)
    told = [call.answer for call in one.found.calls if call.tool == "deploy"]
    done = one.found.state.fact("deploy") or one.found.state.node("deploy")
    recovered = told[0] if told else ("done" if done else "nothing")
    return [
        LOOPS[loop].label,
        KEYS[keyed].partition(" ")[0],
        before(moments(loop, keyed), point),
        recovered,
        _times(one.asked),
        _times(one.deployed),
        f"{one.says}, {_attempts(one.attempts)}",
        short(one)[0],
    ]


def _done(some: tuple[Moment, ...]) -> int:
    return max((one.number for one in some if one.words == "deploys"), default=0)


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _attempts(count: int) -> str:
    return f"{count} attempt{'' if count == 1 else 's'}"
