"""The rules against a matrix written by hand, and the order of the checks."""

from __future__ import annotations

from dataclasses import fields, replace

import oracle
import pytest
from ready import APPROVAL, CALLBACK, code_of, legal_node, legal_status, ready

from runstate_lab.errors import Malformed
from runstate_lab.model import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Decision,
    Fact,
    FirstError,
    Lease,
    NodeReport,
    RunState,
    RunStatus,
    StateEvent,
    ToolCall,
)
from runstate_lab.rules import RULES, SOURCE_TEXT, arrows, check, node_arrows, reduce, replay


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
    """Every pair of event and status; each one reaches what is written."""
    expected = oracle.event_matrix()[kind, status]
    state, event = ready(kind, status)

    if expected is None:
        reports = oracle.WRITERS[kind][0] in ("tool_executor", "worker")
        late = reports and RunStatus(status).terminal
        assert ("call_late" if late else "illegal_transition") == code_of(state, event)
    else:
        assert "ok" == code_of(state, event)
        assert expected == reduce(state, event).status


def test_the_matrix_has_a_row_for_every_kind() -> None:
    """Thirty-four kinds of events and twelve about nodes, no more and no fewer."""
    assert {kind for kind, _ in oracle.event_matrix()} == set(RULES.kinds)
    assert {kind for kind, _ in oracle.node_matrix()} == {
        row.kind for row in RULES.rows if row.nodes
    }
    assert (34 * 6, 12 * 8) == (len(oracle.event_matrix()), len(oracle.node_matrix()))


@pytest.mark.parametrize(("kind", "node"), oracle.node_matrix())
def test_each_node_event_is_legal_exactly_where_the_matrix_says(kind: str, node: str) -> None:
    """Every pair of event and node status; each one reaches what is written."""
    expected = oracle.node_matrix()[kind, node]
    state, event = ready(kind, "running", node)

    if expected is None:
        assert "illegal_transition" == code_of(state, event)
    else:
        assert "ok" == code_of(state, event)
        assert expected == reduce(state, event).node("deploy").status


@pytest.mark.parametrize("kind", oracle.WRITERS)
def test_each_event_has_one_authority(kind: str) -> None:
    """Every other authority is refused, with the right revision in hand."""
    state, event = ready(kind, legal_status(kind))
    authorities = {authority for authority, _ in oracle.WRITERS.values()} | {"user", ""}
    found = {other: code_of(state, replace(event, authority=other)) for other in authorities}
    expected = dict.fromkeys(authorities, "writer_rejected") | {oracle.WRITERS[kind][0]: "ok"}

    assert expected == found


@pytest.mark.parametrize("source", ["runtime:", "tool:", "models", "", "runtimes", "user"])
@pytest.mark.parametrize("kind", oracle.WRITERS)
def test_each_event_has_its_sources(kind: str, source: str) -> None:
    """The right authority with a source that the row does not list is refused."""
    state, event = ready(kind, legal_status(kind))
    forged = replace(event, source=source)

    assert "writer_rejected" == code_of(state, forged)


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
        ("followup_required", "", "reason_missing"),
        ("tool_failed", "", "reason_missing"),
        ("tool_dispatched", "deploy", "malformed"),
        ("tool_dispatched", ToolCall("c1", "get_status"), "call_repeated"),
        ("tool_dispatched", ToolCall("c0", "deploy"), "call_repeated"),
        ("tool_dispatched", ToolCall("c2", "deploy"), "call_repeated"),
        ("tool_dispatched", ToolCall("c9", "deploy"), "ok"),
        ("tool_dispatched", ToolCall("c9", "deploy", gated=True), "call_not_approved"),
        ("tool_dispatched", ToolCall("c9", "deploy", attempt=2), "retry_unsafe"),
        ("tool_dispatched", ToolCall("c9", "deploy", attempt=2, retry_of="c7"), "retry_unsafe"),
        ("tool_dispatched", ToolCall("c9", "get_status", attempt=2, retry_of="c1"), "retry_unsafe"),
        ("tool_declined", "c1", "call_repeated"),
        ("tool_declined", "c9", "call_unknown"),
        ("tool_outcome_unknown", "c2", "call_repeated"),
        ("tool_outcome_unknown", "c9", "call_unknown"),
        ("model_output_received", Decision("", (ToolCall("c1", "x"),)), "call_repeated"),
        ("model_output_received", Decision("", (ToolCall("c0", "x"),)), "call_repeated"),
        (
            "model_output_received",
            Decision("", (ToolCall("n", "x"), ToolCall("n", "y"))),
            "call_repeated",
        ),
        ("approval_requested", Callback("k9", "ci"), "malformed"),
        ("approval_requested", Approval("a1", "again?", "rosa"), "request_repeated"),
        ("approval_requested", Approval("a9", "?", "rosa", "c9", "0f"), "call_unknown"),
        ("approval_requested", Approval("a9", "?", "rosa", "c2", "0f", 4), "answer_stale"),
        ("approval_granted", Answer("a9", "run-7"), "request_unknown"),
        ("approval_granted", Answer("k1", "run-7"), "answer_foreign"),
        ("approval_granted", Answer("a1", "run-8"), "answer_foreign"),
        ("approval_granted", Answer("a1", "run-7", call_id="c2"), "answer_misbound"),
        ("approval_granted", Answer("a1", "run-7", digest="0f"), "answer_stale"),
        ("approval_granted", Answer("a1", "run-7", seen_revision=3), "answer_stale"),
        ("callback_received", Answer("a1", "run-7"), "answer_foreign"),
        ("approval_expired", "a9", "request_unknown"),
        ("tool_result_recorded", "the build is green", "malformed"),
        ("run_completed", ToolCall("c2", "scan"), "malformed"),
        ("driver_leased", Lease("w2", 1, 20), "lease_held"),
        ("driver_leased", Lease("w1", 2, 20), "lease_held"),
        ("driver_leased", Lease("w1", 1, 0), "lease_held"),
        ("driver_superseded", Lease("w1", 1, 20), "lease_held"),
        ("node_finished", NodeReport("deploy", 2), "attempt_fenced"),
        ("node_finished", NodeReport("nowhere", 1), "node_unknown"),
        ("node_failed", NodeReport("deploy", 1), "needs_unmet"),
        ("node_approved", NodeReport("deploy", 2), "answer_stale"),
    ],
)
def test_each_condition_refuses_with_its_code(kind: str, value: object, code: str) -> None:
    """Writer, revision and status are right; the value is not."""
    state, event = ready(kind, legal_status(kind))

    assert code == code_of(state, replace(event, value=value))


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


@pytest.mark.parametrize(
    "field",
    [
        {"calls": (ToolCall("c1", "deploy"),)},
        {"calls": (ToolCall("c1", "deploy", status=CallStatus.DISPATCHED),)},
        {"calls": (ToolCall("c1", "deploy", status=CallStatus.UNKNOWN),)},
        {"requests": (APPROVAL,)},
        {"requests": (CALLBACK,)},
    ],
)
def test_nothing_may_be_pending_at_completion(field: dict[str, object]) -> None:
    """An open call, approval or callback, or an unknown outcome, forbids it."""
    state, event = ready("run_completed", "running")

    assert "still_pending" == code_of(replace(state, **field), event)


def test_a_failed_call_does_not_keep_a_run_from_completing() -> None:
    """It certainly had no effect, so nothing is owed."""
    state, event = ready("run_completed", "running")
    failed = ToolCall("c1", "deploy", status=CallStatus.FAILED)

    assert "ok" == code_of(replace(state, calls=(failed,)), event)


@pytest.mark.parametrize(
    ("kind", "stop_reason", "waiting_for"),
    [
        ("approval_requested", None, "pending_approval"),
        ("callback_awaited", None, "external_callback"),
        ("approval_granted", None, None),
        ("run_completed", "goal_reached", None),
        ("run_failed", "timeout", None),
        ("run_cancelled", "not today", None),
        ("approval_denied", None, None),
        ("approval_expired", None, None),
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
    names = [field.name for field in fields(RunState)]
    changed = {name for name in names if getattr(before, name) != getattr(after, name)}
    row = RULES.row(kind)
    allowed = {"revision", *row.writes} | (
        {"status", "waiting_for", "stop_reason"} if row.to else set()
    )

    assert before.revision + 1 == after.revision
    assert changed <= allowed
    assert {"revision"} < changed or kind == "node_approved"


def test_a_result_becomes_a_fact_with_its_provenance() -> None:
    """Source, authority, call and revision come from the event; the call is closed."""
    state, event = ready("tool_result_recorded", "running")
    after = reduce(state, event)

    assert Fact("build", "green", "tool:get_status", "tool_executor", "c1", 5) == after.facts[-1]
    assert ["c2"] == [call.call_id for call in after.calls]
    assert ("c0", "c1") == after.settled


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


def test_no_arrow_leaves_a_terminal_status() -> None:
    """Neither for runs nor for nodes."""
    assert [] == [arrow for arrow in arrows() if arrow[0].terminal]
    assert [] == [arrow for arrow in node_arrows() if arrow[0].terminal]


@pytest.mark.parametrize(
    ("status", "key", "new_key", "code"),
    [
        (CallStatus.FAILED, None, None, "ok"),
        (CallStatus.UNKNOWN, None, None, "retry_unsafe"),
        (CallStatus.UNKNOWN, "deploy-7", None, "retry_unsafe"),
        (CallStatus.UNKNOWN, "deploy-7", "deploy-8", "retry_unsafe"),
        (CallStatus.UNKNOWN, "deploy-7", "deploy-7", "ok"),
        (CallStatus.DISPATCHED, "deploy-7", "deploy-7", "retry_unsafe"),
        (CallStatus.PROPOSED, "deploy-7", "deploy-7", "retry_unsafe"),
    ],
)
def test_a_retry_follows_what_is_certain(
    status: CallStatus, key: str | None, new_key: str | None, code: str
) -> None:
    """A failed call may be tried again; an unknown one only under its own key."""
    state, event = ready("tool_dispatched", "running")
    before = ToolCall("c1", "deploy", key=key, status=status)
    again = ToolCall("c1#2", "deploy", key=new_key, attempt=2, retry_of="c1")

    assert code == code_of(replace(state, calls=(before,)), replace(event, value=again))


def test_a_retry_is_neither_a_step_nor_a_turn() -> None:
    """It is the next attempt of its call, and the first error stays."""
    state, event = ready("tool_failed", "running")
    failed = reduce(state, replace(event, value="connection refused"))
    again = ToolCall("c1#2", "get_status", attempt=2, retry_of="c1")
    offer = StateEvent("tool_dispatched", "runtime", "runtime", again, 5)
    check(failed, offer)
    after = reduce(failed, offer)

    assert (failed.step, failed.turn) == (after.step, after.turn)
    assert ["c2", "c1#2"] == [call.call_id for call in after.calls]
    assert FirstError("attempt", "c1", "connection refused", 5) == after.first_error


@pytest.mark.parametrize(
    ("budget", "kind", "value", "code"),
    [
        (Budget(max_turns=1), "turn_started", "open", "budget_spent"),
        (Budget(max_turns=2), "turn_started", "open", "ok"),
        (Budget(max_attempts=1), "tool_dispatched", ToolCall("c9", "x"), "ok"),
        (Budget(deadline=9), "run_failed", "timeout", "reason_missing"),
        (Budget(deadline=0), "run_failed", "timeout", "ok"),
        (Budget(deadline=9), "run_failed", "tool_error", "ok"),
    ],
)
def test_each_budget_binds_at_its_own_level(
    budget: Budget, kind: str, value: object, code: str
) -> None:
    """Turns limit decisions, attempts one call, the deadline the run."""
    state, event = ready(kind, "running")

    assert code == code_of(replace(state, budget=budget), replace(event, value=value))


def test_a_superseded_driver_is_a_stranger() -> None:
    """Whatever it writes for the run is fenced, before the revision is looked at."""
    state, event = ready("followup_required", "running")
    led = replace(state, driver=Lease("w2", 2, 20))

    assert "driver_fenced" == code_of(led, replace(event, epoch=1, expected_revision=99))
    assert "driver_fenced" == code_of(led, replace(event, epoch=None))
    assert "ok" == code_of(led, replace(event, epoch=2))


def test_a_tool_may_report_whoever_drives() -> None:
    """Results, answers and wishes come from outside; no reign is asked of them."""
    state, event = ready("tool_result_recorded", "running")

    assert "ok" == code_of(replace(state, driver=Lease("w2", 2, 20)), event)


@pytest.mark.parametrize(("tick", "code"), [(8, "ok"), (9, "answer_expired")])
def test_an_approval_runs_out_at_its_tick(tick: int, code: str) -> None:
    """Open until tick 9, and not at it."""
    state, event = ready("approval_granted", "waiting")

    assert code == code_of(state, replace(event, tick=tick))


def test_an_answer_given_twice_is_told_so() -> None:
    """While the run goes on, and while it waits for something else."""
    state, event = ready("approval_granted", "waiting")
    after = reduce(state, event)

    assert "answer_repeated" == code_of(after, replace(event, expected_revision=5))
    waiting = replace(after, status=RunStatus.WAITING)
    assert "answer_repeated" == code_of(waiting, replace(event, expected_revision=5))


def test_a_granted_call_may_be_dispatched_once() -> None:
    """One approval, one effect: the grant is used up by the dispatch."""
    call = ToolCall("c2", "scan", gated=True)
    state, event = ready("tool_dispatched", "running")
    granted = replace(state, grants=(("c2", call.digest),))
    after = reduce(granted, replace(event, value=call))

    assert "call_not_approved" == code_of(state, replace(event, value=call))
    assert "ok" == code_of(granted, replace(event, value=call))
    assert () == after.grants


def test_another_argument_is_another_call() -> None:
    """A grant for release 7 opens nothing for release 8."""
    seven = ToolCall("c9", "deploy", (("release", "7"),), gated=True)
    eight = ToolCall("c9", "deploy", (("release", "8"),), gated=True)
    state, event = ready("tool_dispatched", "running")
    granted = replace(state, grants=(("c9", seven.digest),))

    assert "ok" == code_of(granted, replace(event, value=seven))
    assert "call_not_approved" == code_of(granted, replace(event, value=eight))


@pytest.mark.parametrize("kind", ["run_failed", "run_cancelled"])
def test_an_ended_run_says_what_became_of_its_calls(kind: str) -> None:
    """A proposed call was not executed, a dispatched one is unknown."""
    after = reduce(*ready(kind, "running"))

    assert ["unknown", "not_executed"] == [call.status for call in after.calls]
    assert ["completed", "cancelled"] == [node.status for node in after.nodes]
    assert () == after.requests


@pytest.mark.parametrize("kind", ["tool_result_recorded", "tool_failed"])
def test_a_late_result_reaches_the_trace_only(kind: str) -> None:
    """Refused with a code of its own after the end of the run."""
    state, event = ready(kind, "cancelled")

    assert "call_late" == code_of(state, event)


def test_an_unknown_call_is_settled_by_its_own_late_result() -> None:
    """While the run goes on, the truth is welcome."""
    state, event = ready("tool_result_recorded", "running")
    lost = ToolCall("c1", "get_status", status=CallStatus.UNKNOWN)

    assert "ok" == code_of(replace(state, calls=(lost,)), event)


def test_a_result_of_an_attempt_that_was_retried_is_refused() -> None:
    """Its call is settled; the later attempt owns the answer."""
    state, event = ready("tool_result_recorded", "running")
    retried = replace(state, calls=(), settled=("c0", "c1"))

    assert "call_repeated" == code_of(retried, event)


@pytest.mark.parametrize("kind", sorted(oracle.WRITERS))
def test_a_wrong_type_of_value_is_malformed(kind: str) -> None:
    """A noun where text is due, and text where a noun is due."""
    state, event = ready(kind, legal_status(kind), legal_node(kind))
    wrong = "text" if RULES.row(kind).takes is not str else Budget()

    assert "malformed" == code_of(state, replace(event, value=wrong))


@pytest.mark.parametrize(
    "limits", [{"max_turns": 0}, {"max_attempts": 0}, {"deadline": -1}, {"max_turns": True}]
)
def test_a_budget_of_nothing_is_refused(limits: dict[str, object]) -> None:
    """A run that may do nothing would stand still for ever."""
    with pytest.raises(Malformed):
        Budget(**limits)
