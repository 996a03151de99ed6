"""What each condition lets through and what it refuses, written by hand.

A case is a kind, what is different in the state, what is different in the
event, and the code that a right table answers with. `complaints` walks all of
them, the matrices and the writers against any table; a right one draws none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import oracle
from ready import legal_node, legal_status, ready

from runstate_lab.errors import Refusal
from runstate_lab.model import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Claim,
    Decision,
    Fact,
    Lease,
    NodeReport,
    NodeState,
    NodeStatus,
    Plan,
    RunState,
    StateEvent,
    ToolCall,
    TurnState,
)
from runstate_lab.rules import RULES, Rules, check, reduce

Case = tuple[str, dict[str, Any], dict[str, Any], str]
LOST = ToolCall("c1", "get_status", status=CallStatus.UNKNOWN)
AGAIN = ToolCall("c1#2", "get_status", attempt=2, retry_of="c1")
GREEN = Fact("build", "green", "tool:get_status", "tool_executor", "c0", 3)


def one_node(**fields: Any) -> dict[str, Any]:
    """A state with one node, deploy, held by w1 in its first attempt."""
    held = {"status": NodeStatus.RUNNING, "attempt": 1, "max_attempts": 3, "worker": "w1", "until": 9}
    return {"nodes": (NodeState("deploy", **{**held, **fields}),)}


CASES: tuple[Case, ...] = (
    ("turn_started", {"budget": Budget(max_turns=1)}, {}, "budget_spent"),
    ("turn_started", {"budget": Budget(max_turns=2)}, {}, "ok"),
    ("model_output_received", {"turn": TurnState(1, "decided")}, {}, "call_unknown"),
    ("model_output_received", {}, {"value": Decision("", (ToolCall("c1", "x"),))}, "call_repeated"),
    ("model_output_received", {}, {"value": Decision("", (ToolCall("c0", "x"),))}, "call_repeated"),
    ("followup_required", {}, {"value": " "}, "reason_missing"),
    ("run_completed", {"success": ()}, {}, "success_not_met"),
    ("run_completed", {"facts": ()}, {}, "success_not_met"),
    ("run_completed", {"facts": (replace(GREEN, authority="model"),)}, {}, "success_not_met"),
    ("run_completed", {"facts": (GREEN, replace(GREEN, value="red"))}, {}, "success_not_met"),
    ("run_completed", {"calls": (LOST,)}, {}, "still_pending"),
    ("run_completed", {"nodes": (NodeState("build"),)}, {}, "still_pending"),
    ("run_failed", {}, {"value": "because"}, "reason_missing"),
    ("run_failed", {"budget": Budget(deadline=9)}, {"value": "timeout"}, "reason_missing"),
    ("run_failed", {"budget": Budget(deadline=9)}, {"value": "timeout", "tick": 9}, "ok"),
    ("run_cancelled", {}, {"value": ""}, "reason_missing"),
    ("tool_dispatched", {}, {"value": ToolCall("c1", "get_status")}, "call_repeated"),
    ("tool_dispatched", {}, {"value": ToolCall("c0", "get_status")}, "call_repeated"),
    ("tool_dispatched", {}, {"value": ToolCall("c9", "x", attempt=2)}, "retry_unsafe"),
    ("tool_dispatched", {"calls": (LOST,)}, {"value": AGAIN}, "retry_unsafe"),
    (
        "tool_dispatched",
        {"calls": (replace(LOST, status=CallStatus.FAILED),), "budget": Budget(max_attempts=1)},
        {"value": AGAIN},
        "budget_spent",
    ),
    ("tool_dispatched", {}, {"value": ToolCall("c9", "deploy", gated=True)}, "call_not_approved"),
    ("tool_declined", {}, {"value": "c1"}, "call_repeated"),
    ("tool_result_recorded", {}, {"call_id": "c9"}, "call_unknown"),
    ("tool_result_recorded", {}, {"call_id": "c0"}, "call_repeated"),
    ("tool_result_recorded", {}, {"source": "tool:deploy"}, "call_foreign"),
    ("tool_result_recorded", {}, {"value": "looks fine"}, "malformed"),
    ("tool_failed", {}, {"call_id": "c9"}, "call_unknown"),
    ("tool_failed", {}, {"value": " "}, "reason_missing"),
    ("tool_outcome_unknown", {}, {"value": "c2"}, "call_repeated"),
    ("approval_requested", {}, {"value": Approval("a1", "?", "rosa")}, "request_repeated"),
    ("approval_requested", {"answered": ("a2",)}, {}, "request_repeated"),
    ("approval_requested", {}, {"value": Approval("a9", "?", "rosa", "c9")}, "call_unknown"),
    ("approval_granted", {}, {"source": "approver:mallory"}, "answer_foreign"),
    ("approval_granted", {}, {"value": Answer("a1", "run-8")}, "answer_foreign"),
    ("approval_granted", {}, {"value": Answer("a9", "run-7")}, "request_unknown"),
    ("approval_granted", {}, {"value": Answer("a1", "run-7", "c2")}, "answer_misbound"),
    ("approval_granted", {}, {"value": Answer("a1", "run-7", digest="0f")}, "answer_stale"),
    ("approval_granted", {}, {"tick": 9}, "answer_expired"),
    ("approval_denied", {}, {"source": "approver:mallory"}, "answer_foreign"),
    ("approval_expired", {}, {"tick": 8}, "request_unknown"),
    ("callback_awaited", {}, {"value": Callback("k1", "ci")}, "request_repeated"),
    ("callback_awaited", {}, {"value": Callback("k9", "ci", "c9")}, "call_unknown"),
    ("callback_received", {}, {"source": "service:mail"}, "answer_foreign"),
    ("callback_received", {}, {"value": Answer("a1", "run-7")}, "answer_foreign"),
    ("callback_expired", {}, {"tick": 8}, "request_unknown"),
    ("driver_leased", {}, {"value": Lease("w2", 1, 20)}, "lease_held"),
    ("driver_leased", {"driver": Lease("w0", 1, 9)}, {"tick": 9}, "lease_held"),
    ("driver_superseded", {}, {"tick": 8}, "lease_held"),
    ("driver_superseded", {"driver": None}, {}, "lease_held"),
    ("nodes_planned", {}, {"value": Plan((NodeState("deploy"),))}, "node_unknown"),
    ("nodes_planned", {}, {"value": Plan((NodeState("x", needs=("y",)),))}, "node_unknown"),
    ("node_ready", {"nodes": (NodeState("b"), NodeState("deploy", ("b",)))}, {}, "needs_unmet"),
    ("node_blocked", one_node(status=NodeStatus.PENDING), {}, "needs_unmet"),
    ("node_blocked", {}, {"value": NodeReport("deploy")}, "needs_unmet"),
    ("node_claimed", {}, {"value": Claim("deploy", "w1", 3, 20)}, "attempt_fenced"),
    ("node_claimed", {}, {"value": Claim("deploy", "w2", 2, 20)}, "attempt_fenced"),
    ("node_finished", {}, {"value": NodeReport("deploy", 2)}, "attempt_fenced"),
    ("node_finished", {}, {"source": "worker:w2"}, "attempt_fenced"),
    ("node_failed", {}, {"value": NodeReport("deploy", 2, reason="x")}, "attempt_fenced"),
    ("node_failed", {}, {"value": NodeReport("deploy", 1)}, "needs_unmet"),
    ("node_asked", {}, {"source": "worker:w2"}, "attempt_fenced"),
    ("node_asked", one_node(), {}, "request_unknown"),
    ("node_approved", {}, {"source": "approver:mallory"}, "answer_foreign"),
    ("node_approved", {}, {"value": NodeReport("deploy", 2)}, "answer_stale"),
    ("node_approved", {}, {"tick": 9}, "answer_expired"),
    ("node_denied", {}, {"source": "approver:mallory"}, "answer_foreign"),
    ("node_denied", {}, {"value": NodeReport("deploy", 1)}, "needs_unmet"),
    ("node_put_back", {}, {"source": "worker:w2"}, "attempt_fenced"),
    ("node_put_back", one_node(max_attempts=1), {}, "budget_spent"),
    ("node_put_back", {}, {"value": NodeReport("deploy", 1)}, "needs_unmet"),
    ("node_released", {}, {"tick": 8}, "attempt_fenced"),
    ("node_released", one_node(max_attempts=1), {}, "budget_spent"),
    ("node_released", one_node(max_attempts=1, approved=True), {}, "budget_spent"),
    ("node_released", one_node(max_attempts=1, approved=True, until=None), {}, "ok"),
    ("node_given_up", {}, {"tick": 8}, "attempt_fenced"),
    ("node_given_up", {}, {"value": NodeReport("deploy", 1)}, "needs_unmet"),
    ("node_cancelled", {}, {"value": NodeReport("deploy", 1)}, "needs_unmet"),
)


def complaints(table: Rules) -> list[str]:
    """What a table answers differently from what is written by hand."""
    found = []
    for (kind, status), to in oracle.event_matrix().items():
        found += _moves(table, kind, to, *ready(kind, status))
    for (kind, node), to in oracle.node_matrix().items():
        found += _moves_node(table, kind, to, *ready(kind, "running", node))
    for kind in oracle.WRITERS:
        state, event = ready(kind, legal_status(kind), legal_node(kind))
        for field in ("authority", "source"):
            forged = replace(event, **{field: "nobody:x"})
            if code_under(table, state, forged) != "writer_rejected":
                found.append(f"{kind} by another {field}")
    for kind, state_fields, event_fields, code in CASES:
        state, event = ready(kind, legal_status(kind), legal_node(kind))
        got = code_under(table, replace(state, **state_fields), replace(event, **event_fields))
        if got != code:
            found.append(f"{kind} {event_fields}: {got}, not {code}")
    return found


def code_under(table: Rules, state: RunState, event: StateEvent) -> str:
    """The code that a table answers with, or "ok"."""
    try:
        check(state, event, table)
    except Refusal as refusal:
        return refusal.code
    return "ok"


def _moves(table: Rules, kind: str, to: str | None, state: RunState, event: StateEvent) -> list[str]:
    accepted = code_under(table, state, event) == "ok"
    if accepted != (to is not None):
        return [f"{kind} from {state.status}: accepted {accepted}"]
    if accepted and reduce(state, event, table).status != to:
        return [f"{kind} from {state.status} to another status"]
    return []


def _moves_node(
    table: Rules, kind: str, to: str | None, state: RunState, event: StateEvent
) -> list[str]:
    accepted = code_under(table, state, event) == "ok"
    if accepted != (to is not None):
        return [f"{kind} for a node: accepted {accepted}"]
    if accepted and reduce(state, event, table).node("deploy").status != to:
        return [f"{kind} to another node status"]
    return []


def mutants() -> dict[str, Rules]:
    """Each row, each writer, each arrow and each condition of RULES removed in turn."""
    found: dict[str, Rules] = {}
    for row in RULES.rows:
        kept = tuple(one for one in RULES.rows if one.kind != row.kind)
        found[f"{row.kind}: the row"] = Rules("RULES without a row", kept)
        found[f"{row.kind}: the authority"] = RULES.but(row.kind, authority="nobody")
        found[f"{row.kind}: any authority"] = RULES.but(row.kind, authority="nobody:x")
        found[f"{row.kind}: any source"] = RULES.but(row.kind, sources=(*row.sources, "nobody:*"))
        for condition in row.conditions:
            rest = tuple(one for one in row.conditions if one is not condition)
            found[f"{row.kind}: {condition.__name__}"] = RULES.but(row.kind, conditions=rest)
        for status in row.come_from:
            rest = tuple(one for one in row.come_from if one is not status)
            found[f"{row.kind}: from {status}"] = RULES.but(row.kind, come_from=rest)
        for node in row.nodes:
            rest = tuple(one for one in row.nodes if one is not node)
            found[f"{row.kind}: from node {node}"] = RULES.but(row.kind, nodes=rest)
        if row.reasons and row.fixed_reason is None:
            found[f"{row.kind}: the reasons"] = RULES.but(row.kind, reasons=())
    return found
