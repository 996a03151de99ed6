"""Held-back checks of exercise 03: a matrix written by hand, and laws over made-up runs.

Nothing here is read from the rules table: what is expected stands below as
text, so that a fault in the table cannot hide itself.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from runstate_lab import (
    Approval,
    Callback,
    CallStatus,
    Fact,
    IllegalTransition,
    Malformed,
    ReasonMissing,
    RunState,
    RunStatus,
    StillPending,
    SuccessNotMet,
    ToolCall,
)

STATUSES = ("queued", "running", "waiting", "completed", "failed", "cancelled")
MATRIX = """
run_started          running    -          -          -  -  -
approval_requested   -          waiting    -          -  -  -
callback_awaited     -          waiting    -          -  -  -
approval_granted     -          -          running    -  -  -
callback_received    -          -          running    -  -  -
run_completed        -          completed  -          -  -  -
run_failed           -          failed     failed     -  -  -
deadline_passed      -          failed     failed     -  -  -
run_cancelled        cancelled  cancelled  cancelled  -  -  -
"""
DEADLINE = "deadline_passed"
FAILURES = tuple("tool_error timeout budget_exhausted".split())
SAID_BY_THE_ROW = """
approval_requested   pending_approval
callback_awaited     external_callback
run_completed        goal_reached
"""
WORDS = ("build", "tests", "scan", "notes", "docs", "image", "licence", "size")
OPEN = (CallStatus.PROPOSED, CallStatus.DISPATCHED, CallStatus.UNKNOWN)
HUES = ("green", "red", "yellow", "unknown")


def cells() -> list[tuple[str, str, str]]:
    """Each pair of the matrix with what it leads to, or a dash."""
    rows = [line.split() for line in MATRIX.strip().splitlines()]
    return [
        (status, row[0], after)
        for row in rows
        for status, after in zip(STATUSES, row[1:], strict=True)
    ]


def a_run(status: str, chance: random.Random) -> RunState:
    """A run in that status; the rest of it is nobody's business here."""
    facts = tuple(Fact(word, chance.choice(HUES)) for word in chance.sample(WORDS, 3))
    return RunState(
        f"run-{chance.randrange(8, 900)}",
        status=RunStatus(status),
        facts=facts,
        step=chance.randrange(9),
        revision=chance.randrange(3, 40),
    )


def fitting(kind: str, chance: random.Random) -> str | Approval | Callback:
    """A value that no event of that kind can be refused for."""
    number = chance.randrange(1, 500)
    if kind == "approval_requested":
        return Approval(f"a{number}", f"deploy release {number}?", chance.choice(("rosa", "li")))
    if kind == "callback_awaited":
        return Callback(f"k{number}", chance.choice(("ci", "registry")))
    if kind == "run_failed":
        return chance.choice(FAILURES)
    return f"the office is closed, ticket {number}" if kind == "run_cancelled" else ""


@pytest.mark.task("03.1")
def test_all_pairs_of_status_and_kind_agree_with_the_chart(student: Any) -> None:
    """All 54 pairs of status and kind: legal where the chart has an arrow, and only there."""
    expected = {(status, kind): after != "-" for status, kind, after in cells()}
    answers = {pair: student.legal(*pair) for pair in expected}

    assert expected == answers


@pytest.mark.task("03.1")
def test_the_table_holds_each_arrow_and_no_other(student: Any) -> None:
    """The table holds each arrow once, with the status it leads to, and nothing else."""
    expected = {(status, kind): after for status, kind, after in cells() if after != "-"}

    assert expected == student.ARROWS


@pytest.mark.task("03.1")
def test_made_up_kinds_and_statuses_are_never_legal(student: Any, seed: int) -> None:
    """Kinds and statuses that nobody knows are never legal, and no reason to stumble."""
    chance = random.Random(seed)
    invented = [f"run_{word}_{chance.randrange(90)}" for word in WORDS]
    asked = [(status, kind) for status in STATUSES for kind in invented]
    asked += [(word, "run_started") for word in invented]

    assert [False] * len(asked) == [student.legal(*pair) for pair in asked]


@pytest.mark.task("03.2")
def test_every_arrow_gives_its_status_and_reason(student: Any, seed: int) -> None:
    """Every arrow of the chart gives its status and its reason, whatever else the run holds."""
    chance = random.Random(seed)
    said = dict(line.split() for line in SAID_BY_THE_ROW.strip().splitlines())
    for status, kind, after in cells():
        if after == "-" or kind == DEADLINE:
            continue
        value = fitting(kind, chance)
        reason = value if kind in ("run_failed", "run_cancelled") else said.get(kind)

        assert (after, reason) == tuple(student.next_status(a_run(status, chance), kind, value))


@pytest.mark.task("03.2")
def test_every_missing_arrow_is_refused(student: Any, seed: int) -> None:
    """Every pair without an arrow is an illegal transition, with a fitting value or an empty one."""
    chance = random.Random(seed)
    missing = [(status, kind) for status, kind, after in cells() if after == "-"]
    for status, kind in [*missing, ("running", "run_paused")]:
        for value in (fitting(kind, chance), ""):
            with pytest.raises(IllegalTransition):
                student.next_status(a_run(status, chance), kind, value)


@pytest.mark.task("03.2")
def test_a_failure_needs_one_of_the_three_reasons(student: Any, seed: int) -> None:
    """A failed run keeps one of the three reasons to the letter; other words are refused."""
    chance = random.Random(seed)
    others = ("", "Timeout", "timeout ", "tool", "error", f"ticket {chance.randrange(900)}")
    for status in ("running", "waiting"):
        for words in FAILURES:
            run = a_run(status, chance)

            assert ("failed", words) == tuple(student.next_status(run, "run_failed", words))
        for words in others:
            with pytest.raises(ReasonMissing):
                student.next_status(a_run(status, chance), "run_failed", words)


@pytest.mark.task("03.2")
def test_cancelling_needs_words_and_waiting_the_right_request(student: Any, seed: int) -> None:
    """A cancellation keeps its words in any language; a wait takes the request of its own kind."""
    chance = random.Random(seed)
    for words in ("今天不发布", "no", f"  see ticket {chance.randrange(900)}"):
        found = student.next_status(a_run("waiting", chance), "run_cancelled", words)

        assert ("cancelled", words) == tuple(found)
    for blank in ("", " ", "\t\n"):
        with pytest.raises(ReasonMissing):
            student.next_status(a_run("queued", chance), "run_cancelled", blank)
    swapped = {"approval_requested": "callback_awaited", "callback_awaited": "approval_requested"}
    for kind, other in swapped.items():
        for value in (fitting(other, chance), "pending_approval"):
            with pytest.raises(Malformed):
                student.next_status(a_run("running", chance), kind, value)


def a_finish(chance: random.Random) -> tuple[RunState, tuple[str, str]]:
    """A made-up run that is asked to complete, and the code and words to expect."""
    keys = chance.sample(WORDS, 4)
    success = tuple(f"{key}={chance.choice(HUES[:2])}" for key in keys[: chance.randrange(1, 4)])
    facts, newest = [], {}
    for _ in range(chance.randrange(9)):
        key, value = chance.choice(keys), chance.choice(HUES[:2])
        authority = chance.choice(("tool_executor", "tool_executor", "model", "runtime", ""))
        facts.append(Fact(key, value, source="tool:checker", authority=authority))
        if authority == "tool_executor":
            newest[key] = value
    calls = tuple(
        ToolCall(f"c{number}", "checker", status=chance.choice(list(CallStatus)))
        for number in range(chance.randrange(4))
    )
    requests = tuple(Callback(f"k{number}", "ci") for number in range(chance.randrange(2)))
    run = RunState(
        f"run-{chance.randrange(900)}",
        success=success,
        status=RunStatus.RUNNING,
        facts=tuple(facts),
        calls=calls,
        requests=requests,
    )
    lacking = [text for text in success if newest.get(text.split("=")[0]) != text.split("=")[1]]
    still_open = [call.call_id for call in calls if call.status in OPEN]
    still_open += [one.request_id for one in requests]
    if lacking:
        return run, ("success_not_met", ", ".join(lacking))
    return run, ("still_pending", ", ".join(still_open)) if still_open else ("", "")


@pytest.mark.task("03.3")
def test_made_up_finishes_are_judged_as_the_goal_says(student: Any, seed: int) -> None:
    """Two hundred made-up runs complete, or are refused by the right refusal naming everything."""
    chance = random.Random(seed)
    for _ in range(200):
        run, expected = a_finish(chance)
        try:
            found = student.check_completion(run) or ("", "")
        except (SuccessNotMet, StillPending) as refusal:
            found = (refusal.code, refusal.found)

        assert expected == found


@pytest.mark.task("03.3")
def test_only_the_newest_word_of_a_tool_counts(student: Any, seed: int) -> None:
    """A tool's newest word decides; what others write afterwards does not unsay it."""
    chance = random.Random(seed)
    key = chance.choice(WORDS)
    green = Fact(key, "green", authority="tool_executor")
    red = Fact(key, "red", authority="tool_executor")
    gossip = Fact(key, "red", source="model:planner", authority="model")
    run = RunState("run-7", success=(f"{key}=green",), status=RunStatus.RUNNING)

    assert student.check_completion(with_facts(run, red, green, gossip)) is None
    for facts in ((green, red), (red, gossip), (Fact(key, "greenish", authority="tool_executor"),)):
        with pytest.raises(SuccessNotMet):
            student.check_completion(with_facts(run, *facts))


@pytest.mark.task("03.3")
def test_a_goal_that_asks_for_nothing_never_completes(student: Any) -> None:
    """A goal that asks for nothing never completes, also where nothing is open."""
    for facts in ((), (Fact("build", "green", authority="tool_executor"),)):
        run = RunState("run-7", status=RunStatus.RUNNING, facts=facts)
        with pytest.raises(SuccessNotMet):
            student.check_completion(run)


def with_facts(run: RunState, *facts: Fact) -> RunState:
    """The same run with these facts in it."""
    return RunState(run.run_id, success=run.success, status=run.status, facts=facts)
