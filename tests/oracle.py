"""What the source text says, written down by hand a second time.

Imports nothing from the kit, so that a fault there cannot hide here. Words
and numbers only; `None` stands for a refusal.
"""

from __future__ import annotations

STATUSES = ("queued", "running", "waiting", "completed", "failed", "cancelled")
TERMINAL = ("completed", "failed", "cancelled")

# Rows leave, columns are reached.
STATUS_MATRIX = """
from \\ to   queued    running   waiting   completed failed    cancelled
queued      .         yes       .         .         .         yes
running     .         .         yes       yes       yes       yes
waiting     .         yes       .         .         yes       yes
completed   .         .         .         .         .         .
failed      .         .         .         .         .         .
cancelled   .         .         .         .         .         .
"""

# Which kinds of event are legal from which status, and where they lead.
EVENT_MATRIX = """
kind                   queued     running    waiting    completed failed cancelled
run_started            running    .          .          .         .      .
turn_started           .          running    .          .         .      .
model_output_received  .          running    .          .         .      .
followup_required      .          running    .          .         .      .
run_completed          .          completed  .          .         .      .
run_failed             .          failed     failed     .         .      .
run_cancelled          cancelled  cancelled  cancelled  .         .      .
tool_dispatched        .          running    .          .         .      .
tool_declined          .          running    .          .         .      .
tool_result_recorded   .          running    waiting    .         .      .
tool_failed            .          running    waiting    .         .      .
tool_outcome_unknown   .          running    waiting    .         .      .
approval_requested     .          waiting    .          .         .      .
approval_granted       .          .          running    .         .      .
approval_denied        .          .          running    .         .      .
approval_expired       .          .          running    .         .      .
callback_awaited       .          waiting    .          .         .      .
callback_received      .          .          running    .         .      .
callback_expired       .          .          running    .         .      .
driver_leased          queued     running    waiting    .         .      .
driver_superseded      queued     running    waiting    .         .      .
nodes_planned          .          running    .          .         .      .
node_ready             .          running    waiting    .         .      .
node_blocked           .          running    waiting    .         .      .
node_claimed           .          running    waiting    .         .      .
node_finished          .          running    waiting    .         .      .
node_failed            .          running    waiting    .         .      .
node_asked             .          running    waiting    .         .      .
node_approved          .          running    waiting    .         .      .
node_denied            .          running    waiting    .         .      .
node_put_back          .          running    waiting    .         .      .
node_released          .          running    waiting    .         .      .
node_given_up          .          running    waiting    .         .      .
node_cancelled         .          running    waiting    .         .      .
"""

# The same for the status of a node, while its run is running.
NODE_MATRIX = """
kind            pending   ready     running           waiting_approval blocked   completed failed cancelled
node_ready      ready     .         .                 .                .         .         .      .
node_blocked    blocked   .         .                 .                .         .         .      .
node_claimed    .         running   .                 .                .         .         .      .
node_finished   .         .         completed         .                .         .         .      .
node_failed     .         .         failed            .                .         .         .      .
node_asked      .         .         waiting_approval  .                .         .         .      .
node_approved   .         .         .                 running          .         .         .      .
node_denied     .         .         .                 failed           .         .         .      .
node_put_back   .         .         ready             .                .         .         .      .
node_released   .         .         ready             .                .         .         .      .
node_given_up   .         .         failed            .                .         .         .      .
node_cancelled  cancelled cancelled cancelled         cancelled        cancelled .         .      .
"""

WRITERS = {
    "run_started": ("runtime", "runtime"),
    "turn_started": ("runtime", "runtime"),
    "model_output_received": ("model", "model:planner"),
    "followup_required": ("runtime", "runtime"),
    "run_completed": ("runtime", "runtime"),
    "run_failed": ("runtime", "runtime"),
    "run_cancelled": ("runtime", "runtime"),
    "tool_dispatched": ("runtime", "runtime"),
    "tool_declined": ("runtime", "runtime"),
    "tool_result_recorded": ("tool_executor", "tool:get_status"),
    "tool_failed": ("tool_executor", "tool:get_status"),
    "tool_outcome_unknown": ("runtime", "runtime"),
    "approval_requested": ("runtime", "runtime"),
    "approval_granted": ("approver", "approver:rosa"),
    "approval_denied": ("approver", "approver:rosa"),
    "approval_expired": ("runtime", "runtime"),
    "callback_awaited": ("runtime", "runtime"),
    "callback_received": ("service", "service:ci"),
    "callback_expired": ("runtime", "runtime"),
    "driver_leased": ("driver", "driver:w1"),
    "driver_superseded": ("driver", "driver:w1"),
    "nodes_planned": ("runtime", "runtime"),
    "node_ready": ("scheduler", "scheduler"),
    "node_blocked": ("scheduler", "scheduler"),
    "node_claimed": ("worker", "worker:w1"),
    "node_finished": ("worker", "worker:w1"),
    "node_failed": ("worker", "worker:w1"),
    "node_asked": ("worker", "worker:w1"),
    "node_approved": ("approver", "approver:rosa"),
    "node_denied": ("approver", "approver:rosa"),
    "node_put_back": ("worker", "worker:w1"),
    "node_released": ("scheduler", "scheduler"),
    "node_given_up": ("scheduler", "scheduler"),
    "node_cancelled": ("scheduler", "scheduler"),
}

OWNERSHIP = {
    "candidate action": ("model", "runtime", ("schema", "allow-list", "permission")),
    "tool result": (
        "tool executor",
        "runtime/store",
        ("call_id", "idempotency key", "execution status"),
    ),
    "run status": ("runtime", "store", ("legal transition", "stop reason")),
    "approval decision": (
        "user or approval service",
        "runtime",
        ("identity", "expiry", "checkpoint version"),
    ),
    "diagnostic event": ("any component", "trace", ("order", "redaction", "correlation id")),
}

FIELDS = {
    "run_id": "",
    "goal": "",
    "success": "",
    "budget": "",
    "status": "runtime approver service",
    "turn": "runtime model",
    "step": "runtime",
    "facts": "tool_executor",
    "calls": "runtime model tool_executor approver",
    "settled": "runtime tool_executor",
    "requests": "runtime approver service",
    "answered": "approver runtime service",
    "grants": "runtime approver",
    "nodes": "runtime scheduler worker approver",
    "driver": "driver",
    "waiting_for": "runtime approver service",
    "stop_reason": "runtime approver service",
    "first_error": "runtime tool_executor",
    "revision": "runtime model tool_executor approver service driver scheduler worker",
}


def event_matrix() -> dict[tuple[str, str], str | None]:
    """(kind, status) -> the status afterwards, or None where it is refused."""
    return _cells(EVENT_MATRIX)


def node_matrix() -> dict[tuple[str, str], str | None]:
    """(kind, node status) -> the node's status afterwards, or None."""
    return _cells(NODE_MATRIX)


def _cells(matrix: str) -> dict[tuple[str, str], str | None]:
    head, *rows = matrix.strip().splitlines()
    statuses = head.split()[1:]
    cells = {}
    for row in rows:
        kind, *reached = row.split()
        for status, to in zip(statuses, reached, strict=True):
            cells[kind, status] = None if to == "." else to
    return cells


class Ledger:
    """The run as a few words and numbers, for a machine of random offers."""

    def __init__(self) -> None:
        self.status = "queued"
        self.revision = 0
        self.facts: list[str] = []
        self.open_calls: list[str] = []
        self.used_calls: set[str] = set()
        self.open_request: str | None = None
        self.answered: list[str] = []

    def verdict(self, kind: str, who: str, at: int, value: str, call: str | None) -> str:
        """The code that a right store answers with; "ok" where it accepts."""
        if WRITERS[kind][0] != who:
            return "writer_rejected"
        if at != self.revision:
            return "revision_conflict"
        if event_matrix()[kind, self.status] is None:
            if kind == "approval_granted" and value in self.answered:
                return "answer_repeated"
            late = kind == "tool_result_recorded" and self.status in TERMINAL
            return "call_late" if late else "illegal_transition"
        return self._condition(kind, value, call)

    def _condition(self, kind: str, value: str, call: str | None) -> str:
        if kind == "tool_dispatched" and call in self.used_calls:
            return "call_repeated"
        if kind == "tool_result_recorded" and call not in self.open_calls:
            return "call_repeated" if call in self.used_calls else "call_unknown"
        if kind == "run_failed" and value not in ("tool_error", "timeout", "budget_exhausted"):
            return "reason_missing"
        if kind == "approval_requested" and value in self.answered:
            return "request_repeated"
        if kind == "approval_granted" and value != self.open_request:
            return "answer_repeated" if value in self.answered else "request_unknown"
        if kind == "run_completed":
            builds = [fact for fact in self.facts if fact.startswith("build=")]
            if builds[-1:] != ["build=green"]:
                return "success_not_met"
            if self.open_calls:
                return "still_pending"
        return "ok"

    def accept(self, kind: str, value: str, call: str | None) -> None:
        """Write down what an accepted event does."""
        self.revision += 1
        self.status = event_matrix()[kind, self.status] or self.status
        if kind == "tool_dispatched" and call is not None:
            self.open_calls.append(call)
            self.used_calls.add(call)
        if kind == "tool_result_recorded" and call is not None:
            self.open_calls.remove(call)
            self.facts.append(value)
        if kind in ("run_failed", "run_cancelled"):
            self.open_request = None
        if kind == "approval_requested":
            self.open_request = value
        if kind == "approval_granted":
            self.open_request = None
            self.answered.append(value)
