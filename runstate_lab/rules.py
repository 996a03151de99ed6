"""Floor 1. The rules as a value: one row for each kind of event.

A row says who may write the event (authority and sources), from which
statuses, to which, what must hold, what it changes and which reason it
carries. The check, the reducer, the arrows, the ownership tables, the
pictures and the documents all read these rows; nothing says it twice.

`SOURCE_TEXT` is the three-row table of the source text; `RULES` is the
kernel's. What is not here: keeping anything (see `store`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from runstate_lab.changes import close_request, open_call, open_request, record_fact
from runstate_lab.conditions import (
    call_id_is_new,
    call_is_open,
    goal_is_met,
    nothing_is_pending,
    request_id_is_new,
    request_is_open,
    result_is_a_fact,
    result_is_new,
)
from runstate_lab.errors import (
    IllegalTransition,
    Malformed,
    ReasonMissing,
    RevisionConflict,
    WriterRejected,
)
from runstate_lab.model import Approval, Callback, RunState, RunStatus, StateEvent, ToolCall
from runstate_lab.rows import (
    ANY_TEXT,
    CANCELLED,
    COMPLETED,
    FAILED,
    QUEUED,
    RUNNING,
    WAITING,
    Rule,
    Rules,
)

SOURCE_TEXT = Rules(
    "SOURCE_TEXT",
    (
        Rule(
            "run_started",
            "run status",
            "runtime",
            ("runtime",),
            (QUEUED,),
            RUNNING,
            otherwise="run cannot start from {status}",
        ),
        Rule(
            "tool_result",
            "tool result",
            "tool_executor",
            ("tool:get_status",),
            (RUNNING,),
            conditions=(result_is_a_fact, result_is_new),
            change=record_fact,
            writes=("facts", "calls"),
            otherwise="tool result requires running state",
        ),
        Rule(
            "run_completed",
            "run status",
            "runtime",
            ("runtime",),
            (RUNNING,),
            COMPLETED,
            conditions=(goal_is_met,),
            reasons=("goal_reached",),
        ),
    ),
)

RULES = Rules(
    "RULES",
    (
        Rule(
            "run_started",
            "run status",
            "runtime",
            ("runtime",),
            (QUEUED,),
            RUNNING,
            otherwise="run cannot start from {status}",
        ),
        Rule(
            "tool_dispatched",
            "candidate action",
            "runtime",
            ("runtime",),
            (RUNNING,),
            takes=ToolCall,
            conditions=(call_id_is_new,),
            change=open_call,
            writes=("calls", "step"),
        ),
        Rule(
            "tool_result_recorded",
            "tool result",
            "tool_executor",
            ("tool:*",),
            (RUNNING, WAITING),
            conditions=(call_is_open, result_is_a_fact),
            change=record_fact,
            writes=("facts", "calls"),
        ),
        Rule(
            "approval_requested",
            "approval decision",
            "runtime",
            ("runtime",),
            (RUNNING,),
            WAITING,
            takes=Approval,
            conditions=(request_id_is_new,),
            change=open_request,
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
            conditions=(request_is_open,),
            change=close_request,
            writes=("requests",),
        ),
        Rule(
            "callback_awaited",
            "run status",
            "runtime",
            ("runtime",),
            (RUNNING,),
            WAITING,
            takes=Callback,
            conditions=(request_id_is_new,),
            change=open_request,
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
            conditions=(request_is_open,),
            change=close_request,
            writes=("requests",),
        ),
        Rule(
            "run_completed",
            "run status",
            "runtime",
            ("runtime",),
            (RUNNING,),
            COMPLETED,
            conditions=(goal_is_met, nothing_is_pending),
            reasons=("goal_reached",),
        ),
        Rule(
            "run_failed",
            "run status",
            "runtime",
            ("runtime",),
            (RUNNING, WAITING),
            FAILED,
            reasons=("tool_error", "timeout", "budget_exhausted"),
        ),
        Rule(
            "run_cancelled",
            "run status",
            "runtime",
            ("runtime", "user:*"),
            (QUEUED, RUNNING, WAITING),
            CANCELLED,
            reasons=ANY_TEXT,
        ),
    ),
)


def check(state: RunState, event: StateEvent, rules: Rules = RULES) -> None:
    """None when the event may be applied; raises the refusal otherwise.

    The order is kind, writer, revision, status, condition: a stranger is
    turned away before anything about the revision could be learned.

    >>> forged = StateEvent("run_started", "model:planner", "model", "", 99)
    >>> check(RunState("run-7"), forged)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_started as model:planner with authority model, found a row for runtime with authority runtime
    hint: hand the proposal to the door whose authority the rules table names
    """
    rule = rules.row(event.kind)
    _check_writer(rule, event)
    _check_revision(state, event)
    _check_status(state, rule)
    _check_value(rule, event)
    for condition in rule.conditions:
        refusal = condition(state, event)
        if refusal is not None:
            raise refusal


def reduce(state: RunState, event: StateEvent, rules: Rules = RULES) -> RunState:
    """The next state after an event that was checked; one revision more.

    It trusts its caller: what `check` would refuse is applied here without a
    word, which is why only stores call it.

    >>> forged = StateEvent("run_started", "model:planner", "model", "", 0)
    >>> print(reduce(RunState("run-7"), forged).status)
    running
    """
    rule = rules.row(event.kind)
    fields: dict[str, object] = {"revision": state.revision + 1}
    if rule.change is not None:
        fields |= rule.change(state, event)
    if rule.to is not None:
        reason = _reason(rule, event)
        fields["status"] = rule.to
        fields["waiting_for"] = reason if rule.to is WAITING else None
        fields["stop_reason"] = reason if rule.to.terminal else None
    return replace(state, **fields)


def replay(state: RunState, events: Iterable[StateEvent], rules: Rules = RULES) -> RunState:
    """The state after all the events in turn, each one checked again.

    >>> started = StateEvent("run_started", "runtime", "runtime", "", 0)
    >>> print(replay(RunState("run-7"), [started]).status)
    running
    >>> replay(RunState("run-7"), [started, started])
    Traceback (most recent call last):
        ...
    runstate_lab.errors.RevisionConflict: revision conflict: asked run_started at revision 0, found revision 1
    hint: load the state again and decide: recompute, drop or escalate
    """
    for event in events:
        check(state, event, rules)
        state = reduce(state, event, rules)
    return state


def arrows(rules: Rules = RULES) -> frozenset[tuple[RunStatus, RunStatus, str]]:
    """Every legal change of status: from, to, and the kind that makes it.

    >>> sorted(str(to) for start, to, kind in arrows() if start is RunStatus.QUEUED)
    ['cancelled', 'running']
    >>> [arrow for arrow in arrows() if arrow[0].terminal]
    []
    """
    return frozenset(
        (start, rule.to, rule.kind)
        for rule in rules.rows
        for start in rule.come_from
        if rule.to is not None
    )


def _check_writer(rule: Rule, event: StateEvent) -> None:
    if event.authority != rule.authority or not rule.admits(event.source):
        raise WriterRejected(
            f"{event.kind} as {event.source} with authority {event.authority}",
            f"a row for {' or '.join(rule.sources)} with authority {rule.authority}",
        )


def _check_revision(state: RunState, event: StateEvent) -> None:
    if event.expected_revision != state.revision:
        raise RevisionConflict(
            f"{event.kind} at revision {event.expected_revision}",
            f"revision {state.revision}",
        )


def _check_status(state: RunState, rule: Rule) -> None:
    if state.status not in rule.come_from:
        starts = " or ".join(rule.come_from)
        raise IllegalTransition(
            f"{rule.kind}, which starts from {starts}",
            f"status {state.status}",
            reason=rule.otherwise.format(kind=rule.kind, status=state.status),
        )


def _check_value(rule: Rule, event: StateEvent) -> None:
    if type(event.value) is not rule.takes:
        wanted = "text" if rule.takes is str else f"a {rule.takes.__name__}"
        raise Malformed(f"{wanted} as the value of {rule.kind}", repr(event.value)[:80])
    named = len(rule.reasons) > 1 and event.value not in rule.reasons
    if named or (rule.reasons == ANY_TEXT and not str(event.value).strip()):
        wanted = "any words" if rule.reasons == ANY_TEXT else " or ".join(rule.reasons)
        raise ReasonMissing(f"{rule.kind} because of {event.value!r}", f"the reasons {wanted}")


def _reason(rule: Rule, event: StateEvent) -> str | None:
    if len(rule.reasons) == 1 and rule.reasons != ANY_TEXT:
        return rule.reasons[0]
    return str(event.value) if rule.reasons else None
