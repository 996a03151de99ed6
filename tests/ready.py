"""A state and an event with nothing wrong but, perhaps, one chosen thing."""

from __future__ import annotations

from dataclasses import replace

import oracle

from runstate_lab.errors import Refusal
from runstate_lab.model import (
    Answer,
    Approval,
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
    RunStatus,
    StateEvent,
    ToolCall,
    TurnState,
)
from runstate_lab.rules import check

RUNNING_CALL = ToolCall("c1", "get_status", status=CallStatus.DISPATCHED)
APPROVAL = Approval("a1", "deploy release 7?", "rosa", expires_at=9)
CALLBACK = Callback("k1", "ci", expires_at=9)
REPORT = NodeReport("deploy", 1, reason="as told")

VALUES = {
    "model_output_received": Decision("look again", (ToolCall("c3", "get_status"),)),
    "followup_required": "the model has more to say",
    "tool_dispatched": ToolCall("c2", "scan"),
    "tool_declined": "c2",
    "tool_result_recorded": "build=green",
    "tool_failed": "connection refused",
    "tool_outcome_unknown": "c1",
    "approval_requested": Approval("a2", "deploy release 7?", "rosa"),
    "approval_granted": Answer.to(APPROVAL, "run-7"),
    "approval_denied": Answer.to(APPROVAL, "run-7"),
    "approval_expired": "a1",
    "callback_awaited": Callback("k2", "ci"),
    "callback_received": Answer.to(CALLBACK, "run-7"),
    "callback_expired": "k1",
    "run_failed": "timeout",
    "run_cancelled": "not today",
    "driver_leased": Lease("w1", 1, 20),
    "driver_superseded": Lease("w1", 2, 20),
    "nodes_planned": Plan((NodeState("announce", needs=("deploy",)),)),
    "node_claimed": Claim("deploy", "w1", 2, 20),
} | {kind: REPORT for kind, _ in oracle.node_matrix() if kind != "node_claimed"}
TICKS = {"approval_expired": 9, "callback_expired": 9, "driver_superseded": 9, "node_released": 9}
TICKS["node_given_up"] = 9


def ready(kind: str, status: str, node: str | None = None) -> tuple[RunState, StateEvent]:
    """The state and the event; `node` is the status of the node it names."""
    state = RunState(
        "run-7",
        success=("build=green",),
        status=RunStatus(status),
        turn=TurnState(1, "started"),
        facts=(Fact("build", "green", "tool:get_status", "tool_executor", "c0", 3),),
        calls=(RUNNING_CALL, ToolCall("c2", "scan")),
        settled=("c0",),
        requests=(APPROVAL, CALLBACK),
        nodes=_nodes(kind, node or legal_node(kind)),
        driver=Lease("w0", 1, 9) if kind == "driver_superseded" else None,
        revision=4,
    )
    if kind == "run_completed":
        state = replace(state, calls=(), requests=(), nodes=())
    authority, source = oracle.WRITERS[kind]
    value = VALUES.get(kind, "")
    event = StateEvent(kind, source, authority, value, 4, "c1", tick=TICKS.get(kind, 0))
    return state, event


def _nodes(kind: str, status: str) -> tuple[NodeState, ...]:
    need = "failed" if kind == "node_blocked" else "completed"
    return (
        NodeState("build", status=NodeStatus(need)),
        NodeState(
            "deploy",
            needs=("build",),
            status=NodeStatus(status),
            attempt=1,
            max_attempts=3,
            approver="rosa",
            worker="w1",
            until=9,
        ),
    )


def legal_status(kind: str) -> str:
    """Some status of the run from which the matrix lets this kind go."""
    return next(s for (k, s), to in oracle.event_matrix().items() if k == kind and to)


def legal_node(kind: str) -> str:
    """Some status of the node from which the matrix lets this kind go."""
    cells = oracle.node_matrix().items()
    return next((s for (k, s), to in cells if k == kind and to), "pending")


def code_of(state: RunState, event: StateEvent) -> str:
    """The code of the refusal, or "ok"."""
    try:
        check(state, event)
    except Refusal as refusal:
        return refusal.code
    return "ok"
