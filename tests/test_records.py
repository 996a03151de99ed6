"""Lines of JSON: what is read back has the types of the nouns, or is refused by field."""

from __future__ import annotations

import json

import pytest

from runstate_lab.errors import Malformed, RevisionConflict
from runstate_lab.model import (
    Approval,
    Budget,
    Callback,
    CallStatus,
    Decision,
    Fact,
    FirstError,
    Lease,
    NodeReport,
    NodeState,
    NodeStatus,
    RunState,
    RunStatus,
    StateEvent,
    ToolCall,
    TurnState,
)
from runstate_lab.nouns import changed
from runstate_lab.records import (
    NOUNS,
    SHAPES,
    read_event,
    read_refusal,
    read_state,
    write_event,
    write_refusal,
    write_state,
)

FULL = RunState(
    "run-7",
    goal="ship",
    success=("build=green",),
    budget=Budget(4, None, 9),
    status=RunStatus.WAITING,
    turn=TurnState(2, "open", "open", True),
    step=3,
    facts=(Fact("build", "green", "tool:get_status", "tool_executor", "c1", 4, "run-7@2"),),
    calls=(ToolCall("c2", "deploy", (("release", "7"),), "k", 2, "c1", True, CallStatus.UNKNOWN),),
    settled=("c1",),
    requests=(Approval("a1", "deploy?", "rosa", "c2", "0f3a", 4, 9), Callback("k1", "ci")),
    answered=("a0",),
    grants=(("c2", "0f3a"),),
    nodes=(
        NodeState("eu", ("us",), NodeStatus.RUNNING, 1, 2, "rosa", "w1", 9, "late", (("a", "b"),)),
    ),
    driver=Lease("w1", 1, 9),
    waiting_for="a1",
    stop_reason="tool_error",
    first_error=FirstError("call", "c1", "lost", 3),
    revision=7,
)
PLACES = [shape.where.partition(".")[2] for shape in SHAPES["RunState"]]


def with_field(name: str, value: object) -> str:
    """The line of a whole state in which one field holds something else."""
    row = json.loads(write_state(FULL))["RunState"]
    row[PLACES.index(name)] = value
    return json.dumps({"RunState": row})


def refused(line: str) -> tuple[str, str]:
    """What was asked and what was found, as the refusal says."""
    with pytest.raises(Malformed) as refusal:
        read_state(line)
    return refusal.value.asked, refusal.value.found


def test_a_state_with_every_field_is_read_back_exactly() -> None:
    """Nothing is lost and nothing changes its type."""
    again = read_state(write_state(FULL))

    assert FULL == again
    assert repr(FULL) == repr(again)


@pytest.mark.parametrize(
    ("name", "value", "asked", "found"),
    [
        ("revision", "7", "RunState.revision as a whole number", "'7'"),
        ("revision", True, "RunState.revision as a whole number", "True"),
        ("revision", 7.0, "RunState.revision as a whole number", "7.0"),
        ("revision", float("nan"), "RunState.revision as a whole number", "nan"),
        ("revision", None, "RunState.revision as a whole number", "None"),
        ("run_id", 7, "RunState.run_id as text", "7"),
        ("goal", None, "RunState.goal as text", "None"),
        ("goal", ["ship"], "RunState.goal as text", "['ship']"),
        ("waiting_for", 7, "RunState.waiting_for as text or null", "7"),
        ("success", "build=green", "RunState.success as a list, each text", "'build=green'"),
        ("success", [7], "RunState.success as text", "7"),
        (
            "status",
            "paused",
            "RunState.status as queued or running or waiting or completed or failed or cancelled",
            "'paused'",
        ),
        ("driver", {"Plan": [[]]}, "RunState.driver as a Lease or null", "{'Plan': [[]]}"),
        ("driver", {"Popen": ["ls"]}, "RunState.driver as a Lease or null", "{'Popen': ['ls']}"),
        ("driver", {}, "RunState.driver as a Lease or null", "{}"),
        ("driver", {"Lease": ["w1", 1]}, "Lease.until as a whole number", "no such field"),
        ("driver", {"Lease": {"holder": "w1"}}, "Lease as a list of at most 3 fields", "{'holder': 'w1'}"),
        (
            "driver",
            {"Lease": ["w1", 1, 9, 9]},
            "Lease as a list of at most 3 fields",
            "['w1', 1, 9, 9]",
        ),
        ("driver", {"Lease": ["w1", True, 9]}, "Lease.epoch as a whole number", "True"),
        ("turn", {"TurnState": [1, "open", "open", 1]}, "TurnState.final as true or false", "1"),
        ("facts", [{"Fact": ["build", 7]}], "Fact.value as text", "7"),
        ("facts", [{"Fact": ["build"]}], "Fact.value as text", "no such field"),
        ("facts", ["build=green"], "RunState.facts as a Fact", "'build=green'"),
        ("grants", [["c2"]], "RunState.grants as a list of 2", "['c2']"),
        ("grants", [["c2", 7]], "RunState.grants as text", "7"),
        ("requests", [None], "RunState.requests as an Approval or a Callback", "None"),
        ("calls", [{"ToolCall": ["c2", "x", [["a", 1]]]}], "ToolCall.arguments as text", "1"),
    ],
)
def test_a_field_of_another_type_is_named(name: str, value: object, asked: str, found: str) -> None:
    """The refusal says which field of which noun, what it holds, and what was there."""
    assert (asked, found) == refused(with_field(name, value))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "7",
        "null",
        "[]",
        "{}",
        '{"Fact":["build","green"]}',
        '{"RunState":["run-7"],"Fact":["build","green"]}',
        '{"RunState":["run-7"]} ...',
        "[" * 100_000,
        "9" * 5_000,
    ],
    ids=lambda line: line[:20],
)
def test_a_line_without_a_state_is_refused(line: str) -> None:
    """Not JSON, too deep, too long a number, another noun, or two."""
    assert ("a line with a RunState", repr(line)[:80]) == refused(line)


def test_a_row_that_is_too_long_or_too_short_is_refused() -> None:
    """An unknown field, and one that is missing."""
    assert "RunState as a list of at most 19 fields" == refused(with_field("run_id", "x")[:-2] + ",0]}")[0]
    assert ("RunState.run_id as text", "no such field") == refused('{"RunState":[]}')


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ('[7,"r","r",""]', "StateEvent.kind as text"),
        ('["x","r","r",7]', "StateEvent.value as text or a ToolCall or "),
        ('["x","r","r",{"Fact":["a","b"]}]', "StateEvent.value as text or a ToolCall or "),
        ('["x","r","r",{"Decision":["so",[],1]}]', "Decision.final as true or false"),
        ('["x","r","r","",7]', "StateEvent.call_id as text or null"),
        ('["x","r","r","","c1",true]', "StateEvent.tick as a whole number"),
        ('["x","r","r","","c1",null]', "StateEvent.tick as a whole number"),
        ('["x","r","r","","c1",1,"2"]', "StateEvent.epoch as a whole number or null"),
        ('["x","r","r","","c1",1,2,3]', "a line with an event"),
        ('["x","r","r"]', "a line with an event"),
        ('{"x":1}', "a line with an event"),
        ("[" * 100_000, "a line with an event"),
    ],
    ids=lambda text: text[:30],
)
def test_an_event_of_other_types_is_refused(line: str, asked: str) -> None:
    """By the field that is wrong, or as no event at all."""
    with pytest.raises(Malformed) as refusal:
        read_event(line, 4)

    assert refusal.value.asked.startswith(asked)


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ('["CallLate","a","b","c"]', True),
        ('["Popen","a","b","c"]', False),
        ('["CallLate","a","b",7]', False),
        ('["CallLate","a","b"]', False),
        ('{"CallLate":1}', False),
        ("[" * 100_000, False),
    ],
    ids=lambda text: str(text)[:30],
)
def test_only_a_refusal_of_the_book_is_read(line: str, known: bool) -> None:
    """Four texts, of which the first is the name of a refusal."""
    if known:
        assert "call_late" == read_refusal(line).code
    else:
        with pytest.raises(Malformed):
            read_refusal(line)


@pytest.mark.parametrize(
    ("noun", "field", "value"),
    [
        (FULL, "revision", "7"),
        (FULL, "revision", True),
        (FULL, "revision", float("inf")),
        (FULL, "revision", 10**5_000),
        (FULL, "status", "waiting"),
        (FULL, "goal", "half a pair \ud800"),
        (FULL, "facts", ("build=green",)),
        (FULL, "facts", [Fact("build", "green")]),
        (FULL, "grants", (("c2",),)),
        (FULL, "driver", object()),
        (FULL.calls[0], "gated", 0),
        (FULL.nodes[0], "needs", (7,)),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_what_could_not_be_read_back_is_not_written(
    noun: object, field: str, value: object
) -> None:
    """Neither in a state nor in what a state holds."""
    wrong = changed(noun, **{field: value})
    state = {
        RunState: lambda: wrong,
        ToolCall: lambda: changed(FULL, calls=(wrong,)),
        NodeState: lambda: changed(FULL, nodes=(wrong,)),
    }[type(noun)]()
    with pytest.raises(Malformed):
        write_state(state)


def test_every_value_of_an_event_is_read_back() -> None:
    """Text and each kind of noun, with all that the trusted entry adds."""
    values = ("build=green", FULL.calls[0], Decision("so", FULL.calls, True), FULL.requests[0])
    values += (FULL.requests[1], FULL.driver, NodeReport("eu", 1, (("a", "b"),)))
    for value in values:
        for more in ((), ("c1",), (None, 3), ("c1", 3, 2), (None, 0, 1)):
            event = StateEvent("x", "runtime", "runtime", value, 4, *more)
            assert event == read_event(write_event(event), 4)


def test_a_refusal_is_read_back() -> None:
    """With its own reason."""
    refusal = RevisionConflict("a", "b", reason="the store stays")

    assert refusal == read_refusal(write_refusal(refusal))


def test_every_noun_has_a_shape_for_every_field() -> None:
    """The table is read off the nouns; nothing in it is written twice."""
    assert set(NOUNS) == set(SHAPES)
    assert len(FULL.__dict__) == len(SHAPES["RunState"])
    assert all(shape.says for shapes in SHAPES.values() for shape in shapes)
