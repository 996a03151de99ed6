"""Floor 1. What must hold of nodes, and what their events change.

Every node event names its node; the row names the node statuses that it may
come from. What is not here: the graph (see `graph`), which plans the nodes.
"""

from __future__ import annotations

from runstate_lab.errors import (
    AnswerExpired,
    AnswerForeign,
    AnswerStale,
    AttemptFenced,
    BudgetSpent,
    CallLate,
    NeedsUnmet,
    NodeUnknown,
    Refusal,
    RequestUnknown,
)
from runstate_lab.model import Claim, NodeReport, NodeState, NodeStatus, RunState, StateEvent
from runstate_lab.nouns import changed

FAILING = (NodeStatus.FAILED, NodeStatus.CANCELLED, NodeStatus.BLOCKED)


def node_names_are_new(state: RunState, event: StateEvent) -> Refusal | None:
    """No planned node is in the run already, and all are pending.

    >>> from runstate_lab.model import Plan
    >>> plan = Plan((NodeState("build"),))
    >>> event = StateEvent("nodes_planned", "runtime", "runtime", plan, 1)
    >>> node_names_are_new(RunState("run-7", nodes=plan.nodes), event).code
    'node_unknown'
    """
    names = [node.name for node in event.value.nodes]
    known = {*names, *(node.name for node in state.nodes)}
    if len(known) < len(names) + len(state.nodes):
        return NodeUnknown(f"to plan {names}", "a name twice", reason="the node is there already")
    strange = [one for node in event.value.nodes for one in node.needs if one not in known]
    if strange:
        return NodeUnknown(f"to plan {names}", f"needs outside the run: {strange}")
    if any(node.status is not NodeStatus.PENDING for node in event.value.nodes):
        return NodeUnknown(f"to plan {names}", "a node that is not pending")
    return None


def needs_are_completed(state: RunState, event: StateEvent) -> Refusal | None:
    """Every node that this one needs is completed.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("build"), NodeState("deploy", needs=("build",)))
    >>> event = StateEvent("node_ready", "scheduler", "scheduler", NodeReport("deploy"), 1)
    >>> needs_are_completed(RunState("run-7", nodes=nodes), event).found
    'build pending'
    """
    for need in _needed(state, event):
        if need.status is not NodeStatus.COMPLETED:
            return NeedsUnmet(f"{event.kind} {event.value.node}", f"{need.name} {need.status}")
    return None


def a_need_has_failed(state: RunState, event: StateEvent) -> Refusal | None:
    """A node that this one needs can no longer complete.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("build"), NodeState("deploy", needs=("build",)))
    >>> event = StateEvent("node_blocked", "scheduler", "scheduler", NodeReport("deploy"), 1)
    >>> a_need_has_failed(RunState("run-7", nodes=nodes), event).found
    'every need still possible'
    """
    if any(need.status in FAILING for need in _needed(state, event)):
        return None
    asked = f"{event.kind} {event.value.node}"
    return NeedsUnmet(asked, "every need still possible", reason="nothing blocks the node")


def claim_is_the_next_attempt(state: RunState, event: StateEvent) -> Refusal | None:
    """The claim is the worker's own, for the next attempt, within the node's attempts.

    >>> nodes = (NodeState("build", attempt=1, max_attempts=3),)
    >>> late = StateEvent("node_claimed", "worker:w1", "worker", Claim("build", "w1", 1, 9), 1)
    >>> claim_is_the_next_attempt(RunState("run-7", nodes=nodes), late).found
    'attempt 1 of 3 made'
    """
    claim, node = event.value, state.node(event.value.node)
    asked = f"attempt {claim.attempt} of node {claim.node} by {event.source}"
    if node is None or event.source != "worker:" + claim.worker:
        return AttemptFenced(
            asked, f"a claim for {claim.worker}", reason="not the worker's own claim"
        )
    if claim.attempt != node.attempt + 1 or claim.attempt > node.max_attempts:
        return AttemptFenced(asked, f"attempt {node.attempt} of {node.max_attempts} made")
    if claim.until <= event.tick:
        return AttemptFenced(asked, f"a lease until {claim.until} at tick {event.tick}")
    return None


def report_is_of_the_current_attempt(state: RunState, event: StateEvent) -> Refusal | None:
    """The report is of the attempt that holds the node; an older one is fenced.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("build", attempt=2, worker="w1"),)
    >>> late = StateEvent("node_finished", "worker:w1", "worker", NodeReport("build", 1), 1)
    >>> report_is_of_the_current_attempt(RunState("run-7", nodes=nodes), late).found
    'attempt 2 by w1'
    """
    report, node = event.value, state.node(event.value.node)
    if node is not None and report.attempt == node.attempt:
        if event.source == f"worker:{node.worker}":
            return None
    asked = f"{event.kind} of attempt {report.attempt} by {event.source}"
    found = "no such node" if node is None else f"attempt {node.attempt} by {node.worker}"
    return AttemptFenced(asked, found)


def an_attempt_is_left(state: RunState, event: StateEvent) -> Refusal | None:
    """The node may be tried again.

    An attempt that has only asked, and may begin, is not used up.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("build", attempt=1, worker="w1"),)
    >>> event = StateEvent("node_put_back", "worker:w1", "worker", NodeReport("build", 1), 1)
    >>> an_attempt_is_left(RunState("run-7", nodes=nodes), event).asked
    'another attempt of build (level: attempt)'
    """
    node = state.node(event.value.node)
    if node is not None and (node.may_begin or node.attempt < node.max_attempts):
        return None
    found = "no such node" if node is None else f"attempt {node.attempt} of {node.max_attempts}"
    return BudgetSpent(f"another attempt of {event.value.node} (level: attempt)", found)


def claim_ran_out(state: RunState, event: StateEvent) -> Refusal | None:
    """The report names the current attempt, and its lease has run out.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("build", attempt=1, max_attempts=2, worker="w1", until=9),)
    >>> early = StateEvent("node_released", "scheduler", "scheduler", NodeReport("build", 1), 1, tick=8)
    >>> claim_ran_out(RunState("run-7", nodes=nodes), early).found
    'a lease until tick 9 at tick 8'
    """
    report, node = event.value, state.node(event.value.node)
    asked = f"to release {report.node} from attempt {report.attempt}"
    if node is None or report.attempt != node.attempt:
        return AttemptFenced(
            asked, "no such attempt" if node is None else f"attempt {node.attempt}"
        )
    if node.until is not None and event.tick < node.until:
        return AttemptFenced(asked, f"a lease until tick {node.until} at tick {event.tick}")
    return None


def node_has_an_approver(state: RunState, event: StateEvent) -> Refusal | None:
    """The plan names somebody to ask about this node.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("deploy", attempt=1, worker="w1"),)
    >>> event = StateEvent("node_asked", "worker:w1", "worker", NodeReport("deploy", 1), 1)
    >>> node_has_an_approver(RunState("run-7", nodes=nodes), event).code
    'request_unknown'
    """
    node = state.node(event.value.node)
    if node is not None and node.approver is not None:
        return None
    return RequestUnknown(f"{event.kind} {event.value.node}", "no approver in the plan")


def node_answer_fits(state: RunState, event: StateEvent) -> Refusal | None:
    """The answer comes from the node's approver, about the current attempt and in time.

    >>> from runstate_lab.model import NodeReport
    >>> nodes = (NodeState("deploy", attempt=2, approver="rosa"),)
    >>> old = StateEvent("node_approved", "approver:rosa", "approver", NodeReport("deploy", 1), 1)
    >>> node_answer_fits(RunState("run-7", nodes=nodes), old).code
    'answer_stale'
    """
    report, node = event.value, state.node(event.value.node)
    asked = f"{event.kind} of attempt {report.attempt} of {report.node} by {event.source}"
    if node is None or event.source != f"approver:{node.approver}":
        return AnswerForeign(asked, f"approver {node and node.approver}")
    if report.attempt != node.attempt:
        return AnswerStale(asked, f"attempt {node.attempt}")
    if node.until is not None and event.tick >= node.until:
        return AnswerExpired(asked, f"tick {event.tick}, open until {node.until}")
    return None


def reason_is_given(state: RunState, event: StateEvent) -> Refusal | None:
    """The report says why.

    >>> from runstate_lab.model import NodeReport
    >>> event = StateEvent("node_failed", "worker:w1", "worker", NodeReport("build", 1), 1)
    >>> reason_is_given(RunState("run-7"), event).code
    'needs_unmet'
    """
    if event.value.reason.strip():
        return None
    return NeedsUnmet(f"{event.kind} {event.value.node}", "no words", reason="reason is missing")


def report_came_too_late(state: RunState, event: StateEvent) -> Refusal | None:
    """The run has ended; the report is kept in the trace only.

    >>> from runstate_lab.model import NodeReport, RunStatus
    >>> ended = RunState("run-7", status=RunStatus.CANCELLED)
    >>> late = StateEvent("node_finished", "worker:w1", "worker", NodeReport("build", 1), 1)
    >>> report_came_too_late(ended, late).code
    'call_late'
    """
    if state.status.terminal:
        asked = f"{event.kind} by {event.source}"
        return CallLate(asked, f"the run {state.status}", reason="the report comes too late")
    return None


def plan_nodes(state: RunState, event: StateEvent) -> dict[str, object]:
    """The planned nodes join the nodes of the run.

    >>> from runstate_lab.model import Plan
    >>> event = StateEvent("nodes_planned", "runtime", "runtime", Plan((NodeState("build"),)), 1)
    >>> plan_nodes(RunState("run-7"), event)["nodes"][0].name
    'build'
    """
    return {"nodes": (*state.nodes, *event.value.nodes)}


def move_node(state: RunState, event: StateEvent, to: NodeStatus) -> dict[str, object]:
    """One node goes to its next status, with attempt, holder, reason and writes.

    An approval is of one attempt: another try of the node asks again. The
    attempt that only asked goes back unused and is claimed under its number.

    >>> state = RunState("run-7", nodes=(NodeState("build"),))
    >>> event = StateEvent("node_claimed", "worker:w1", "worker", Claim("build", "w1", 1, 9), 1)
    >>> node = move_node(state, event, NodeStatus.RUNNING)["nodes"][0]
    >>> node.worker, node.attempt
    ('w1', 1)
    """
    value = event.value
    return {
        "nodes": tuple(
            [
                changed(node, status=to, **_moved(node, value, to))
                if node.name == value.node
                else node
                for node in state.nodes
            ]
        )
    }


def _moved(node: NodeState, value: Claim | NodeReport, to: NodeStatus) -> dict[str, object]:
    if isinstance(value, Claim):
        return {"attempt": value.attempt, "worker": value.worker, "until": value.until}
    asks = to is NodeStatus.WAITING_APPROVAL
    fields: dict[str, object] = {
        "reason": value.reason or None,
        "writes": value.writes,
        "until": value.until if asks else None,
    }
    if asks or to is NodeStatus.RUNNING:
        fields["approved"] = not asks
    if to is NodeStatus.READY:
        fields |= {"worker": None, "approved": node.may_begin}
        fields["attempt"] = node.attempt - node.may_begin
    return fields


def _needed(state: RunState, event: StateEvent) -> list[NodeState]:
    node = state.node(event.value.node)
    return [] if node is None else [one for one in state.nodes if one.name in node.needs]
