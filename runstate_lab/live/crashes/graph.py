"""Machinery. Every kill of every loop as plain values: what the browser needs, sent once.

What is not here: how a run is killed (see `crashes`), and where a mark stands
(see `crashmarks`).
"""

from __future__ import annotations

from collections import Counter
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
MOMENT_HEADS = ("moment", "what", "kept where", "number", "before the kill", "worker")
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
USUAL = "once"
END = "nothing (the end)"
MATRIX_TITLE = "How often release 7 is deployed, at every kill point (empty: that loop has no such moment)"


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
        "rows": {run_name(loop, keyed): _rows(loop, keyed) for loop, keyed in _pairs()},
        "usual": USUAL,
        "matrix_title": MATRIX_TITLE,
    }


def matrix() -> list[list[str]]:
    """How often release 7 is deployed: a row for each moment to be killed before.

    A cell is what a kill of that loop before that moment really gives; it is
    empty where the loop has no such moment.

    >>> [row[3] for row in matrix() if row[0] in ("dispatch c2", "result c2", "save batch")]
    ['twice, the books know 1 attempt', 'once, told: outcome unknown', '']
    """
    return [[name, *(_cell(name, loop, keyed) for loop, keyed in _pairs())] for name in _places()]


def names(found: tuple[Moment, ...]) -> list[str]:
    """A name of its own for each place to be killed at: before a moment, or at the end.

    >>> names(moments("once per batch", False))
    ['deploys', 'save batch', 'tests run', 'save batch (2nd)', 'nothing (the end)']
    """
    seen: Counter[str] = Counter()
    told = []
    for one in found:
        seen[one.words] += 1
        told.append(one.words if seen[one.words] == 1 else f"{one.words} ({seen[one.words]}nd)")
    return [*told, END]


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
    return names(found)[point]


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


def _places() -> list[str]:
    """The names of all places of all loops, the end last."""
    every = [name for loop, keyed in _pairs() for name in names(moments(loop, keyed))]
    return [*dict.fromkeys(name for name in every if name != END), END]


def _rows(loop: str, keyed: bool) -> list[int]:
    """The row of the matrix for each kill point of a loop."""
    return [_places().index(name) for name in names(moments(loop, keyed))]


def _cell(name: str, loop: str, keyed: bool) -> str:
    here = names(moments(loop, keyed))
    if name not in here:
        return ""
    return short(outcome(loop, keyed, here.index(name)))[0].removeprefix("deployed ")


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
        "words": names(found)[:-1],
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
