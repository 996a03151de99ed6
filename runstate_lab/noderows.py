"""Floor 1. The rows about the nodes of a graph.

Each row names the node statuses that its node may come from, and the one
that it goes to. The run stays running, or waits for something else.
"""

from __future__ import annotations

from runstate_lab import nodewise
from runstate_lab.model import Claim, NodeReport, NodeStatus, Plan
from runstate_lab.rows import RUNNING, WAITING, Rule

PENDING, READY, HELD = NodeStatus.PENDING, NodeStatus.READY, NodeStatus.RUNNING
ASKING, BLOCKED = NodeStatus.WAITING_APPROVAL, NodeStatus.BLOCKED
DONE, FAILED, DROPPED = NodeStatus.COMPLETED, NodeStatus.FAILED, NodeStatus.CANCELLED
OPEN = (PENDING, READY, HELD, ASKING, BLOCKED)
SCHEDULER = ("scheduler", ("scheduler",))
APPROVER = ("approver", ("approver:*",))
WORKER = ("worker", ("worker:*",))
ALIVE = (RUNNING, WAITING)
WHY = nodewise.reason_is_given
OUT = nodewise.claim_ran_out
OWN = nodewise.report_is_of_the_current_attempt


def _node(
    kind: str,
    writer: tuple[str, tuple[str, ...]],
    nodes: tuple[NodeStatus, ...],
    node_to: NodeStatus,
    *conditions: object,
    takes: type = NodeReport,
) -> Rule:
    return Rule(
        kind,
        "run status",
        *writer,
        ALIVE,
        takes=takes,
        conditions=conditions,
        nodes=nodes,
        node_to=node_to,
        writes=("nodes",),
        late=nodewise.report_came_too_late if writer == WORKER else None,
    )


NODE_ROWS = (
    Rule(
        "nodes_planned",
        "run status",
        "runtime",
        ("runtime",),
        (RUNNING,),
        takes=Plan,
        conditions=(nodewise.node_names_are_new,),
        change=nodewise.plan_nodes,
        writes=("nodes",),
    ),
    _node("node_ready", SCHEDULER, (PENDING,), READY, nodewise.needs_are_completed),
    _node("node_blocked", SCHEDULER, (PENDING,), BLOCKED, nodewise.a_need_has_failed, WHY),
    _node("node_claimed", WORKER, (READY,), HELD, nodewise.claim_is_the_next_attempt, takes=Claim),
    _node("node_finished", WORKER, (HELD,), DONE, OWN),
    _node("node_failed", WORKER, (HELD,), FAILED, OWN, WHY),
    _node("node_asked", WORKER, (HELD,), ASKING, OWN, nodewise.node_has_an_approver),
    _node("node_approved", APPROVER, (ASKING,), HELD, nodewise.node_answer_fits),
    _node("node_denied", APPROVER, (ASKING,), FAILED, nodewise.node_answer_fits, WHY),
    _node("node_put_back", WORKER, (HELD,), READY, OWN, nodewise.an_attempt_is_left, WHY),
    _node("node_released", SCHEDULER, (HELD,), READY, OUT, nodewise.an_attempt_is_left),
    _node("node_given_up", SCHEDULER, (HELD,), FAILED, OUT, WHY),
    _node("node_cancelled", SCHEDULER, OPEN, DROPPED, WHY),
)
