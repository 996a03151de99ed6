"""The rules against a matrix written by hand, and the order of the checks."""

from __future__ import annotations

import pytest

import oracle
from runstate_lab.errors import Malformed, Refusal
from runstate_lab.model import Approval, Callback, Fact, RunState, RunStatus, StateEvent, ToolCall
from runstate_lab.rules import RULES, SOURCE_TEXT, arrows, check, reduce, replay

VALUES = {
    "tool_dispatched": ToolCall("c2", "scan"),
    "tool_result_recorded": "build=green",
    "approval_requested": Approval("a2", "deploy release 7?", "rosa"),
    "approval_granted": "a1",
    "callback_awaited": Callback("k2", "ci"),
    "callback_received": "k1",
    "run_failed": "timeout",
    "run_cancelled": "not today",
}


def ready(kind: str, status: str) -> tuple[RunState, StateEvent]:
    """A state and an event with nothing wrong but, perhaps, the status."""
    open_call = () if kind == "run_completed" else (ToolCall("c1", "get_status"),)
    requests = (Approval("a1", "deploy release 7?", "rosa"), Callback("k1", "ci"))
    state = RunState(
        "run-7",
        success=("build=green",),
        status=RunStatus(status),
        facts=(Fact("build", "green", "tool:get_status", "tool_executor", "c0", 3),),
        calls=open_call,
        requests=() if kind == "run_completed" else requests,
        revision=4,
    )
    authority, source = oracle.WRITERS[kind]
    return state, StateEvent(kind, source, authority, VALUES.get(kind, ""), 4, "c1")


def code_of(state: RunState, event: StateEvent) -> str:
    """The code of the refusal, or "ok"."""
    try:
        check(state, event)
    except Refusal as refusal:
        return refusal.code
    return "ok"


def test_the_status_matrix_reads_as_written() -> None:
    """Six by six, printed from the arrows, equal to the handwritten text."""
    pairs = {(start, to) for start, to, kind in arrows(RULES)}
    lines = ["from \\ to   " + " ".join(f"{to:9}" for to in RunStatus)]
    for start in RunStatus:
        cells = ["yes" if (start, to) in pairs else "." for to in RunStatus]
        lines.append(f"{start:11} " + " ".join(f"{cell:9}" for cell in cells))
    printed = "\n".join(line.rstrip() for line in lines)
    print(printed)

    assert oracle.STATUS_MATRIX.strip() == printed


@pytest.mark.parametrize(("kind", "status"), oracle.event_matrix())
def test_each_event_is_legal_exactly_where_the_matrix_says(kind: str, status: str) -> None:
    """Sixty pairs of event and status; each one reaches what is written."""
    expected = oracle.event_matrix()[kind, status]
    state, event = ready(kind, status)

    if expected is None:
        assert "illegal_transition" == code_of(state, event)
    else:
        assert "ok" == code_of(state, event)
        assert expected == reduce(state, event).status


def test_the_matrix_has_a_row_for_every_kind() -> None:
    """Ten kinds, no more and no fewer."""
    assert {kind for kind, _ in oracle.event_matrix()} == set(RULES.kinds)
    assert 60 == len(oracle.event_matrix())


@pytest.mark.parametrize("kind", oracle.WRITERS)
def test_each_event_has_one_authority(kind: str) -> None:
    """Every other authority is refused, with the right revision in hand."""
    state, event = ready(kind, legal_status(kind))
    authorities = {"runtime", "tool_executor", "model", "approver", "service", "user", ""}
    found = {
        other: code_of(state, StateEvent(kind, event.source, other, event.value, 4, "c1"))
        for other in authorities
    }
    expected = dict.fromkeys(authorities, "writer_rejected") | {oracle.WRITERS[kind][0]: "ok"}

    assert expected == found


@pytest.mark.parametrize("source", ["runtime:", "tool:", "model:planner", "", "runtimes", "user"])
@pytest.mark.parametrize("kind", oracle.WRITERS)
def test_each_event_has_its_sources(kind: str, source: str) -> None:
    """The right authority with a source that the row does not list is refused."""
    state, event = ready(kind, legal_status(kind))
    forged = StateEvent(kind, source, event.authority, event.value, 4, "c1")

    assert "writer_rejected" == code_of(state, forged)


def legal_status(kind: str) -> str:
    """Some status from which the matrix lets this kind go."""
    return next(s for (k, s), to in oracle.event_matrix().items() if k == kind and to)


def test_the_checks_run_in_the_promised_order() -> None:
    """Kind, writer, revision, status, condition: each hides what comes after."""
    state = RunState("run-7", status=RunStatus.QUEUED, revision=4)
    offers = [
        StateEvent("run_paused", "model:planner", "model", "", 9),
        StateEvent("run_completed", "model:planner", "model", "", 9),
        StateEvent("run_completed", "runtime", "runtime", "", 9),
        StateEvent("run_completed", "runtime", "runtime", "", 4),
    ]
    running = RunState("run-7", status=RunStatus.RUNNING, revision=4)
    found = [code_of(state, offer) for offer in offers] + [code_of(running, offers[-1])]

    assert [
        "unknown_event",
        "writer_rejected",
        "revision_conflict",
        "illegal_transition",
        "success_not_met",
    ] == found


def test_a_stranger_reads_no_revision_in_the_refusal() -> None:
    """The refusal of a stranger says the same at every revision."""
    offer = StateEvent("run_completed", "model:planner", "model", "", 4)
    texts = set()
    for revision in (3, 4, 5):
        with pytest.raises(PermissionError) as caught:
            check(RunState("run-7", revision=revision), offer)
        texts.add(str(caught.value))

    assert 1 == len(texts)


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("run_failed", "", "reason_missing"),
        ("run_failed", "because", "reason_missing"),
        ("run_cancelled", "", "reason_missing"),
        ("run_cancelled", "   ", "reason_missing"),
        ("tool_dispatched", "deploy", "malformed"),
        ("tool_dispatched", ToolCall("c1", "deploy"), "call_repeated"),
        ("tool_dispatched", ToolCall("c0", "deploy"), "call_repeated"),
        ("approval_requested", Callback("k9", "ci"), "malformed"),
        ("approval_requested", Approval("a1", "again?", "rosa"), "request_repeated"),
        ("approval_granted", "a9", "request_unknown"),
        ("approval_granted", "k1", "request_unknown"),
        ("callback_received", "a1", "request_unknown"),
        ("tool_result_recorded", "the build is green", "malformed"),
        ("run_completed", ToolCall("c2", "scan"), "malformed"),
    ],
)
def test_each_condition_refuses_with_its_code(kind: str, value: object, code: str) -> None:
    """Writer, revision and status are right; the value is not."""
    state, event = ready(kind, legal_status(kind))
    offer = StateEvent(kind, event.source, event.authority, value, 4, "c1")

    assert code == code_of(state, offer)


@pytest.mark.parametrize(
    ("source", "call_id", "code"),
    [
        ("tool:get_status", "c1", "ok"),
        ("tool:get_status", None, "call_unknown"),
        ("tool:get_status", "c9", "call_unknown"),
        ("tool:get_status", "c0", "call_repeated"),
        ("tool:deploy", "c1", "call_foreign"),
    ],
)
def test_a_result_is_bound_to_its_call(source: str, call_id: str | None, code: str) -> None:
    """By call id, not by the tool's name."""
    state, _ = ready("tool_result_recorded", "running")
    offer = StateEvent("tool_result_recorded", source, "tool_executor", "build=red", 4, call_id)

    assert code == code_of(state, offer)


@pytest.mark.parametrize(
    ("facts", "success", "code"),
    [
        ((), (), "success_not_met"),
        ((), ("build=green",), "success_not_met"),
        ((Fact("build", "green"),), ("build=green",), "success_not_met"),
        ((Fact("build", "green", "model:planner", "model"),), ("build=green",), "success_not_met"),
        ((Fact("build", "green", "tool:x", "tool_executor"),), ("build=green",), "ok"),
        (
            (
                Fact("build", "green", "tool:x", "tool_executor"),
                Fact("build", "red", "tool:x", "tool_executor"),
            ),
            ("build=green",),
            "success_not_met",
        ),
        (
            (
                Fact("build", "green", "tool:x", "tool_executor"),
                Fact("build", "red", "model:planner", "model"),
            ),
            ("build=green",),
            "ok",
        ),
        (
            (Fact("build", "green", "tool:x", "tool_executor"),),
            ("build=green", "tests=green"),
            "success_not_met",
        ),
    ],
)
def test_completion_asks_for_every_fact_from_a_tool(
    facts: tuple[Fact, ...], success: tuple[str, ...], code: str
) -> None:
    """An empty goal, typed facts and old facts complete nothing."""
    state = RunState("run-7", success=success, status=RunStatus.RUNNING, facts=facts, revision=4)

    assert code == code_of(state, StateEvent("run_completed", "runtime", "runtime", "", 4))


@pytest.mark.parametrize("open_thing", ["call", "approval", "callback"])
def test_nothing_may_be_pending_at_completion(open_thing: str) -> None:
    """An open call, approval or callback keeps the run from completing."""
    fact = Fact("build", "green", "tool:x", "tool_executor")
    calls = (ToolCall("c1", "deploy"),) if open_thing == "call" else ()
    asked = {"approval": (Approval("a1", "deploy?", "rosa"),), "callback": (Callback("k1", "ci"),)}
    state = RunState(
        "run-7",
        success=("build=green",),
        status=RunStatus.RUNNING,
        facts=(fact,),
        calls=calls,
        requests=asked.get(open_thing, ()),
    )

    assert "still_pending" == code_of(
        state, StateEvent("run_completed", "runtime", "runtime", "", 0)
    )


@pytest.mark.parametrize(
    ("kind", "stop_reason", "waiting_for"),
    [
        ("approval_requested", None, "pending_approval"),
        ("callback_awaited", None, "external_callback"),
        ("approval_granted", None, None),
        ("run_completed", "goal_reached", None),
        ("run_failed", "timeout", None),
        ("run_cancelled", "not today", None),
    ],
)
def test_each_reason_is_kept_where_it_belongs(
    kind: str, stop_reason: str | None, waiting_for: str | None
) -> None:
    """stop_reason when terminal, waiting_for while waiting, else neither."""
    after = reduce(*ready(kind, legal_status(kind)))

    assert (stop_reason, waiting_for) == (after.stop_reason, after.waiting_for)


@pytest.mark.parametrize("kind", oracle.WRITERS)
def test_an_event_changes_what_its_row_says_and_nothing_else(kind: str) -> None:
    """Revision by one, the status' three fields, and the fields in `writes`."""
    before, event = ready(kind, legal_status(kind))
    after = reduce(before, event)
    changed = {name for name in RunState.__slots__ if getattr(before, name) != getattr(after, name)}
    row = RULES.row(kind)
    allowed = {"revision", *row.writes} | (
        {"status", "waiting_for", "stop_reason"} if row.to else set()
    )

    assert before.revision + 1 == after.revision
    assert set(row.writes) <= changed <= allowed


def test_a_result_becomes_a_fact_with_its_provenance() -> None:
    """Source, authority, call and revision come from the event; the call is closed."""
    state, event = ready("tool_result_recorded", "running")
    after = reduce(state, event)

    assert Fact("build", "green", "tool:get_status", "tool_executor", "c1", 5) == after.facts[-1]
    assert () == after.calls


def test_a_user_may_cancel_and_do_nothing_else() -> None:
    """The source user:* stands in one row only."""
    open_to_users = [row.kind for row in RULES.rows if row.admits("user:ada")]

    assert ["run_cancelled"] == open_to_users


def test_replay_checks_every_event_again() -> None:
    """A trace with an event that was never legal cannot be folded."""
    forged = StateEvent("run_completed", "runtime", "runtime", "", 0)

    with pytest.raises(ValueError):
        replay(RunState("run-7"), [forged])


def test_the_source_text_has_three_rows() -> None:
    """The naive first table: no dispatch, no waiting, no failing."""
    assert ("run_started", "tool_result", "run_completed") == SOURCE_TEXT.kinds
    assert ("tool:get_status",) == SOURCE_TEXT.row("tool_result").sources


def test_but_refuses_a_row_that_is_not_there() -> None:
    """A change to an unknown row is not silently dropped."""
    with pytest.raises(ValueError):
        RULES.but("run_paused", reasons=())
    with pytest.raises(Malformed):
        type(RULES)("twice", (*RULES.rows, RULES.rows[0]))
