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
tool_dispatched        .          running    .          .         .      .
tool_result_recorded   .          running    waiting    .         .      .
approval_requested     .          waiting    .          .         .      .
approval_granted       .          .          running    .         .      .
callback_awaited       .          waiting    .          .         .      .
callback_received      .          .          running    .         .      .
run_completed          .          completed  .          .         .      .
run_failed             .          failed     failed     .         .      .
run_cancelled          cancelled  cancelled  cancelled  .         .      .
"""

WRITERS = {
    "run_started": ("runtime", "runtime"),
    "tool_dispatched": ("runtime", "runtime"),
    "tool_result_recorded": ("tool_executor", "tool:get_status"),
    "approval_requested": ("runtime", "runtime"),
    "approval_granted": ("approver", "approver:rosa"),
    "callback_awaited": ("runtime", "runtime"),
    "callback_received": ("service", "service:ci"),
    "run_completed": ("runtime", "runtime"),
    "run_failed": ("runtime", "runtime"),
    "run_cancelled": ("runtime", "runtime"),
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
    "status": "runtime approver service",
    "step": "runtime",
    "facts": "tool_executor",
    "calls": "runtime tool_executor",
    "requests": "runtime approver service",
    "waiting_for": "runtime approver service",
    "stop_reason": "runtime approver service",
    "revision": "runtime tool_executor approver service",
}


def event_matrix() -> dict[tuple[str, str], str | None]:
    """(kind, status) -> the status afterwards, or None where it is refused."""
    head, *rows = EVENT_MATRIX.strip().splitlines()
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

    def verdict(self, kind: str, who: str, at: int, value: str, call: str | None) -> str:
        """The code that a right store answers with; "ok" where it accepts."""
        if WRITERS[kind][0] != who:
            return "writer_rejected"
        if at != self.revision:
            return "revision_conflict"
        if event_matrix()[kind, self.status] is None:
            return "illegal_transition"
        return self._condition(kind, value, call)

    def _condition(self, kind: str, value: str, call: str | None) -> str:
        if kind == "tool_dispatched" and call in self.used_calls:
            return "call_repeated"
        if kind == "tool_result_recorded" and call not in self.open_calls:
            return "call_repeated" if call in self.used_calls else "call_unknown"
        if kind == "run_failed" and value not in ("tool_error", "timeout", "budget_exhausted"):
            return "reason_missing"
        if kind == "approval_granted" and value != self.open_request:
            return "request_unknown"
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
        if kind == "approval_requested":
            self.open_request = value
        if kind == "approval_granted":
            self.open_request = None
