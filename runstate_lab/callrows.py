"""Floor 1. The rows about tool calls, and about requests and their answers.

Read a row as a sentence: kind, what it is about, authority, sources, from,
to, what it takes, what must hold, what it changes.
"""

from __future__ import annotations

from runstate_lab import answers, changes, conditions
from runstate_lab.model import Answer, Approval, Callback, ToolCall
from runstate_lab.rows import ANY_TEXT, RUNNING, WAITING, Rule

RUNTIME = ("runtime", ("runtime",))
TOOL = ("tool_executor", ("tool:*",))

CALL_ROWS = (
    Rule(
        "tool_dispatched",
        "candidate action",
        *RUNTIME,
        (RUNNING,),
        takes=ToolCall,
        conditions=(
            conditions.call_is_proposed,
            conditions.retry_is_safe,
            conditions.attempts_are_left,
            conditions.gate_is_open,
        ),
        change=changes.dispatch_call,
        writes=("calls", "step", "settled", "grants"),
    ),
    Rule(
        "tool_declined",
        "candidate action",
        *RUNTIME,
        (RUNNING,),
        conditions=(conditions.call_was_never_dispatched,),
        change=changes.decline_call,
        writes=("calls",),
    ),
    Rule(
        "tool_result_recorded",
        "tool result",
        *TOOL,
        (RUNNING, WAITING),
        conditions=(conditions.call_is_open, conditions.result_is_a_fact),
        change=changes.record_fact,
        writes=("facts", "calls", "settled"),
        late=conditions.result_came_too_late,
    ),
    Rule(
        "tool_failed",
        "tool result",
        *TOOL,
        (RUNNING, WAITING),
        conditions=(conditions.call_is_open,),
        change=changes.fail_call,
        writes=("calls", "first_error"),
        reasons=ANY_TEXT,
        late=conditions.result_came_too_late,
    ),
    Rule(
        "tool_outcome_unknown",
        "tool result",
        *RUNTIME,
        (RUNNING, WAITING),
        conditions=(conditions.call_awaits_its_outcome,),
        change=changes.lose_call,
        writes=("calls", "first_error"),
    ),
)

REQUEST_ROWS = (
    Rule(
        "approval_requested",
        "approval decision",
        *RUNTIME,
        (RUNNING,),
        WAITING,
        takes=Approval,
        conditions=(answers.request_id_is_new, answers.request_is_bound),
        change=changes.open_request,
        writes=("requests",),
        reasons=("pending_approval",),
    ),
    Rule(
        "approval_granted",
        "approval decision",
        "approver",
        ("approver:*",),
        (WAITING,),
        RUNNING,
        takes=Answer,
        conditions=(answers.answer_fits,),
        change=changes.grant_request,
        writes=("requests", "answered", "grants"),
        late=answers.answer_was_given,
    ),
    Rule(
        "approval_denied",
        "approval decision",
        "approver",
        ("approver:*",),
        (WAITING,),
        RUNNING,
        takes=Answer,
        conditions=(answers.answer_fits,),
        change=changes.refuse_request,
        writes=("requests", "answered", "calls"),
        late=answers.answer_was_given,
    ),
    Rule(
        "approval_expired",
        "approval decision",
        *RUNTIME,
        (WAITING,),
        RUNNING,
        conditions=(answers.request_has_expired,),
        change=changes.refuse_request,
        writes=("requests", "answered", "calls"),
    ),
    Rule(
        "callback_awaited",
        "run status",
        *RUNTIME,
        (RUNNING,),
        WAITING,
        takes=Callback,
        conditions=(answers.request_id_is_new, answers.request_is_bound),
        change=changes.open_request,
        writes=("requests",),
        reasons=("external_callback",),
    ),
    Rule(
        "callback_received",
        "run status",
        "service",
        ("service:*",),
        (WAITING,),
        RUNNING,
        takes=Answer,
        conditions=(answers.answer_fits,),
        change=changes.close_request,
        writes=("requests", "answered"),
        late=answers.answer_was_given,
    ),
    Rule(
        "callback_expired",
        "run status",
        *RUNTIME,
        (WAITING,),
        RUNNING,
        conditions=(answers.request_has_expired,),
        change=changes.close_request,
        writes=("requests", "answered"),
    ),
)
