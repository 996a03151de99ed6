"""Held-back checks of exercise 04: every order of made-up writers, laws over made-up crowds.

The orders run on this side, against a fresh store of the student each time;
what must come out is what the book's own store makes of the same orders.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from runstate_lab import (
    CallStatus,
    IllegalTransition,
    Refusal,
    RevisionConflict,
    RunState,
    RunStatus,
    Runtime,
    StateEvent,
    StateProposal,
    StateStore,
    ToolCall,
    WriterRejected,
    explore,
    no_decision_on_old_facts,
    no_lost_update,
    replay,
    reporting,
)

TOOLS = ("run_tests", "scan", "measure_size", "check_licence", "read_log", "build_docs")
RESULTS = ("green", "red", "clean", "unknown", "late")
LAWS = (no_lost_update, no_decision_on_old_facts)
CODE = "revision_conflict"


def dispatched(call_id: str, tool: str) -> ToolCall:
    """A call that is under way."""
    return ToolCall(call_id, tool, status=CallStatus.DISPATCHED)


def a_run(chance: random.Random, *, revision: int | None = None) -> RunState:
    """A running run with three open calls of made-up tools."""
    tools = chance.sample(TOOLS, 3)
    names = [f"c{chance.randrange(100)}-{tool}" for tool in tools]
    calls = tuple(map(dispatched, names, tools))
    met = chance.randrange(3, 60) if revision is None else revision
    return RunState("run-7", status=RunStatus.RUNNING, calls=calls, step=3, revision=met)


def one_step_less(call: ToolCall, result: str) -> Callable[[Any], Generator[object, None, None]]:
    """A worker of two steps: read, then compute and submit at once."""

    def worker(store: Any) -> Generator[object, None, None]:
        seen = store.load().revision
        yield
        offered = StateProposal("tool_result_recorded", result, seen)
        Runtime(store).accept_tool_result(call.tool, offered, call_id=call.call_id)

    return worker


def refusal_of(work: Callable[..., object], *asked: object, **named: object) -> Refusal:
    """The refusal that the work ends in."""
    with pytest.raises(Refusal) as caught:
        work(*asked, **named)
    return caught.value


@pytest.mark.task("04.1")
def test_every_order_of_two_writers(student: Any, seed: int) -> None:
    """In all 20 orders of two writers nothing is lost and every conflict is reported."""
    chance = random.Random(seed)
    start = a_run(chance)
    writers = {
        name: reporting(call.tool, f"{call.tool}={chance.choice(RESULTS)}", call.call_id)
        for name, call in zip("AB", start.calls, strict=False)
    }
    wanted = explore(writers, store=lambda: StateStore(start), invariants=LAWS)
    found = explore(writers, store=lambda: student.MyStore(start), invariants=LAWS)

    assert (20, {CODE: 18}) == (found.schedules, found.refused)
    assert wanted.broken == found.broken
    assert set(wanted.outcomes) == set(found.outcomes)


@pytest.mark.task("04.1")
def test_every_order_of_three_writers(student: Any, seed: int) -> None:
    """In all 90 orders of three writers nothing is lost and every conflict is reported."""
    chance = random.Random(seed)
    start = a_run(chance)
    writers = {
        name: one_step_less(call, f"{call.tool}={chance.choice(RESULTS)}")
        for name, call in zip("ABC", start.calls, strict=True)
    }
    wanted = explore(writers, store=lambda: StateStore(start), invariants=LAWS)
    found = explore(writers, store=lambda: student.MyStore(start), invariants=LAWS)

    assert (90, wanted.refused) == (found.schedules, found.refused)
    assert wanted.broken == found.broken
    assert set(wanted.outcomes) == set(found.outcomes)


@pytest.mark.task("04.1")
def test_only_the_very_revision_is_accepted(student: Any, seed: int) -> None:
    """A proposal is accepted from the very revision of the state, and from no other, near or far."""
    chance = random.Random(seed)
    met = chance.randrange(12, 60)
    start = a_run(chance, revision=met)
    for away in (-met, -9, -2, -1, 0, 1, 2, 9, 1000):
        store = student.MyStore(start)
        offered = StateProposal("tool_dispatched", ToolCall("c7", "deploy"), met + away)
        if away == 0:
            assert met + 1 == Runtime(store).accept_runtime(offered).revision
            continue
        refusal = refusal_of(Runtime(store).accept_runtime, offered)

        assert isinstance(refusal, RevisionConflict)
        assert f"tool_dispatched computed from revision {met + away}" == refusal.asked
        assert f"revision {met}" == refusal.found
        assert start == store.load()


@pytest.mark.task("04.1")
def test_a_stranger_learns_nothing_and_an_old_page_is_told_first(student: Any, seed: int) -> None:
    """The writer is checked before the revision, and the revision before the rules."""
    start = a_run(random.Random(seed))
    store = student.MyStore(start)
    for revision in (start.revision, start.revision + 5):
        finish = StateProposal("run_completed", "", revision)
        refusal = refusal_of(Runtime(store).accept_model_proposal, finish)

        assert isinstance(refusal, WriterRejected)

    again = StateProposal("run_started", "", start.revision)
    late = replace(again, expected_revision=start.revision - 1)

    door = Runtime(store).accept_runtime

    assert isinstance(refusal_of(door, late), RevisionConflict)
    assert isinstance(refusal_of(door, again), IllegalTransition)


@pytest.mark.task("04.1")
def test_the_trace_tells_the_whole_story(student: Any, seed: int) -> None:
    """The trace holds every event with the revision it met or made; the accepted ones give the state."""
    chance = random.Random(seed)
    start = a_run(chance)
    store = student.MyStore(start)
    told: list[tuple[int, str]] = []
    for number in range(12):
        now = store.load().revision
        offered = StateProposal(
            "tool_dispatched",
            ToolCall(f"d{number // 2}", chance.choice(TOOLS)),
            now + chance.choice((-1, 0, 0, 1)),
        )
        try:
            told.append((Runtime(store).accept_runtime(offered).revision, ""))
        except Refusal as refusal:
            told.append((now, refusal.code))
    trace = store.trace

    assert told == [(entry.revision, getattr(entry.refusal, "code", "")) for entry in trace]
    assert store.load() == replay(start, trace.accepted)


def an_event(kind: str, source: str, value: str | ToolCall, call_id: str | None) -> StateEvent:
    """A refused event; what authority it had decides nothing here."""
    authority = "tool_executor" if kind == "tool_result_recorded" else "runtime"
    return StateEvent(kind, source, authority, value, 3, call_id)


def refused_events(state: RunState, chance: random.Random) -> list[tuple[StateEvent, str, str]]:
    """Refused events with the choice that is right and the word that the reason must hold."""
    call, now = chance.choice(state.calls), str(state.revision)
    free = next(tool for tool in TOOLS if tool not in [one.tool for one in state.calls])
    person = f"user:{chance.choice(('ada', 'rosa', 'li'))}"
    source, result = f"tool:{call.tool}", f"{call.tool}=late"
    return [
        (an_event("tool_result_recorded", source, result, call.call_id), "recompute", now),
        (an_event("tool_result_recorded", source, result, "c900"), "drop", "c900"),
        (an_event("tool_dispatched", "runtime", ToolCall("d1", call.tool), None), "drop", call.tool),
        (an_event("tool_dispatched", "runtime", ToolCall("d1", free), None), "recompute", now),
        (an_event("run_cancelled", person, "not today", None), "escalate", person),
        (an_event("run_cancelled", "runtime", "shutdown", None), "recompute", now),
        (an_event("run_completed", "runtime", "", None), "recompute", now),
        (an_event("run_failed", "runtime", "timeout", None), "recompute", now),
    ]


@pytest.mark.task("04.2")
def test_each_kind_of_event_gets_its_own_answer(student: Any, seed: int) -> None:
    """Each kind of event gets the answer that the three questions give, whatever the run holds."""
    chance = random.Random(seed)
    for _ in range(12):
        state = a_run(chance)
        for event, choice, _word in refused_events(state, chance):
            assert choice == student.after_conflict(event, state)[0]


@pytest.mark.task("04.2")
def test_the_reason_names_what_decided(student: Any, seed: int) -> None:
    """The reason names what decided: the call, the tool, the person or the newest revision."""
    chance = random.Random(seed)
    for _ in range(12):
        state = a_run(chance, revision=chance.randrange(500, 900))
        for event, _choice, word in refused_events(state, chance):
            assert word in student.after_conflict(event, state)[1]


@pytest.mark.task("04.2")
def test_a_run_that_ended_drops_everything(student: Any, seed: int) -> None:
    """When the run has ended everything is dropped, also what a person wanted."""
    chance = random.Random(seed)
    for status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED):
        state = replace(a_run(chance), status=status)
        for event, _choice, _word in refused_events(state, chance):
            choice, reason = student.after_conflict(event, state)

            assert ("drop", True) == (choice, str(status) in reason)


@pytest.mark.task("04.2")
def test_two_calls_of_one_tool_are_two_calls(student: Any) -> None:
    """A result is bound to its own call: another open call of the same tool does not save it."""
    calls = (dispatched("c1", "scan"), dispatched("c2", "scan"))
    state = RunState("run-7", status=RunStatus.RUNNING, calls=calls[1:], revision=9)
    choices = [
        student.after_conflict(
            an_event("tool_result_recorded", "tool:scan", "scan=clean", call.call_id), state
        )[0]
        for call in calls
    ]

    assert ["drop", "recompute"] == choices


def foretold(rivals: tuple[str, ...], attempts: int) -> tuple[str, int]:
    """What a right retry answers in a crowd, and how many conflicts it meets."""
    for number in range(attempts):
        if not {"deploy", "cancel", "tests=red"}.isdisjoint(rivals[:number]):
            return "dropped", number
        if number >= len(rivals):
            return "dispatched", number
    return "escalated", attempts


@pytest.mark.task("04.3")
def test_every_crowd_of_three(student: Any) -> None:
    """In every crowd of up to three rivals the answer and the number of conflicts are right."""
    kinds = ("read_log", "deploy", "cancel", "tests=red")
    crowds = [crowd for size in range(4) for crowd in product(kinds, repeat=size)]
    for crowd in crowds:
        desk = student.Dispatcher(crowd)
        answer = desk.submit_again("c4", attempts=3)

        assert foretold(crowd, 3) == (answer, len(desk.store.trace.refused)), crowd


@pytest.mark.task("04.3")
def test_never_two_deploys_and_never_a_red_one(student: Any, seed: int) -> None:
    """However the crowd behaves, release 7 is deployed at most once and never on red tests."""
    chance = random.Random(seed)
    for _ in range(40):
        kinds = ("read_log", "read_log", "deploy", "tests=red")
        crowd = tuple(chance.choices(kinds, k=chance.randrange(5)))
        desk = student.Dispatcher(crowd)
        desk.submit_again(f"c{chance.randrange(4, 90)}", attempts=chance.randrange(1, 6))
        tests, seen = "green", 0
        for event in desk.store.trace.accepted:
            tests = "red" if event.value == "tests=red" else tests
            if event.kind == "tool_dispatched" and event.value.tool == "deploy":
                seen += event.value.call_id.startswith("c")
                assert "green" == tests or event.value.call_id.startswith("r")

        assert seen <= 1
        assert not (seen and "deploy" in crowd[: crowd_met(desk)])


def crowd_met(desk: Any) -> int:
    """How many rivals had committed before the desk's own accepted deploy."""
    return len(desk.store.trace.refused)


@pytest.mark.task("04.3")
def test_attempts_are_counted(student: Any, seed: int) -> None:
    """With more rivals than attempts every attempt is used, and not one more."""
    chance = random.Random(seed)
    for attempts in chance.sample(range(1, 30), 6):
        desk = student.Dispatcher(("read_log",) * (attempts + chance.randrange(4)))

        assert "escalated" == desk.submit_again("c4", attempts=attempts)
        assert attempts == len(desk.store.trace.refused)


@pytest.mark.task("04.3")
def test_another_refusal_reaches_the_caller(student: Any) -> None:
    """A refusal that is no conflict reaches the caller at once."""
    desk = student.Dispatcher(("read_log",))
    refusal = refusal_of(desk.submit_again, "c2", attempts=4)

    assert "call_repeated" == refusal.code
    assert ["revision_conflict", "call_repeated"] == [
        one.code for one in desk.store.trace.refused
    ]
