"""Floor 1. The tables, and the check and the reducer that read them.

A row says who may write an event (authority and sources), from which
statuses, to which, what must hold, what it changes and which reason it
carries. The check, the reducer, the arrows, the ownership tables, the
pictures and the documents all read these rows; nothing says it twice.

`SOURCE_TEXT` is the three-row table of the source text; `RULES` the whole
kernel's. What is not here: keeping anything (see `store`).
"""

from __future__ import annotations

from collections.abc import Iterable

from runstate_lab.callrows import CALL_ROWS, REQUEST_ROWS
from runstate_lab.errors import (
    DriverFenced,
    IllegalTransition,
    Malformed,
    NodeUnknown,
    ReasonMissing,
    RevisionConflict,
    WriterRejected,
)
from runstate_lab.model import NodeStatus, RunState, RunStatus, StateEvent
from runstate_lab.noderows import NODE_ROWS
from runstate_lab.nodewise import move_node
from runstate_lab.nouns import with_fields
from runstate_lab.rows import ANY_TEXT, WAITING, Change, Condition, Rule, Rules
from runstate_lab.runrows import DRIVER_ROWS, RUN_ROWS, THE_NAIVE_FIRST_TABLE

SOURCE_TEXT = Rules("SOURCE_TEXT", THE_NAIVE_FIRST_TABLE)
RULES = Rules("RULES", RUN_ROWS + CALL_ROWS + REQUEST_ROWS + DRIVER_ROWS + NODE_ROWS)


def check(state: RunState, event: StateEvent, rules: Rules = RULES) -> None:
    """None when the event may be applied; raises the refusal otherwise.

    The order is kind, writer, revision, status, condition: a stranger is
    turned away before anything about the revision could be learned, and a
    superseded driver is a stranger.

    >>> forged = StateEvent("run_started", "model:planner", "model", "", 99)
    >>> check(RunState("run-7"), forged)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_started as model:planner with authority model, found a row for runtime with authority runtime
    hint: hand the proposal to the door whose authority the rules table names
    """
    rule = rules.row(event.kind)
    if event.authority != rule.authority or not rule.admits(event.source):
        raise _stranger(rule, event)
    if state.driver is not None and event.epoch != state.driver.epoch:
        _check_reign(state, event)
    if event.expected_revision != state.revision:
        raise RevisionConflict(
            f"{event.kind} at revision {event.expected_revision}",
            f"revision {state.revision}",
        )
    if state.status not in rule.come_from:
        _refuse_status(state, event, rule)
    if type(event.value) is not rule.takes:
        raise _wrong_type(rule, event)
    if rule.nodes:
        _check_node(state, event, rule)
    if rule.reasons and rule.fixed_reason is None:
        _check_reason(rule, event)
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
    fields: dict[str, object] = {} if rule.change is None else rule.change(state, event)
    if rule.node_to is not None:
        fields = move_node(state, event, rule.node_to)
    if rule.to is not None:
        reason = rule.fixed_reason or (str(event.value) if rule.reasons else None)
        fields["status"] = rule.to
        fields["waiting_for"] = reason if rule.to is WAITING else None
        fields["stop_reason"] = reason if rule.ends else None
    fields["revision"] = state.revision + 1
    return with_fields(state, fields)


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

    >>> sorted({str(to) for start, to, kind in arrows() if start is RunStatus.QUEUED})
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


def node_arrows(rules: Rules = RULES) -> frozenset[tuple[NodeStatus, NodeStatus, str]]:
    """Every legal change of a node's status: from, to, and the kind that makes it.

    >>> [arrow for arrow in node_arrows() if arrow[0].terminal]
    []
    """
    return frozenset(
        (start, rule.node_to, rule.kind)
        for rule in rules.rows
        for start in rule.nodes
        if rule.node_to is not None
    )


def _stranger(rule: Rule, event: StateEvent) -> WriterRejected:
    return WriterRejected(
        f"{event.kind} as {event.source} with authority {event.authority}",
        f"a row for {' or '.join(rule.sources)} with authority {rule.authority}",
    )


def _check_reign(state: RunState, event: StateEvent) -> None:
    # Only what a driver writes or asked its model for is fenced: tools,
    # approvers and the next driver come from outside.
    if event.source in ("runtime", "scheduler") or event.authority == "model":
        reign = "no reign" if event.epoch is None else f"reign {event.epoch}"
        raise DriverFenced(f"{event.kind} in {reign}", "another driver of the run")


def _refuse_status(state: RunState, event: StateEvent, rule: Rule) -> None:
    better = rule.late(state, event) if rule.late is not None else None
    if better is not None:
        raise better
    raise IllegalTransition(
        f"{rule.kind}, which starts from {' or '.join(rule.come_from)}",
        f"status {state.status}",
        reason=rule.otherwise.format(kind=rule.kind, status=state.status),
    )


def _check_node(state: RunState, event: StateEvent, rule: Rule) -> None:
    node = state.node(event.value.node)
    if node is None:
        names = [one.name for one in state.nodes]
        raise NodeUnknown(f"{event.kind} {event.value.node}", f"the nodes {names}")
    if node.status not in rule.nodes:
        raise IllegalTransition(
            f"{rule.kind}, which starts from {' or '.join(rule.nodes)}",
            f"node {node.name} {node.status}",
            reason=f"{rule.kind} is not legal from {node.status}",
        )


def _wrong_type(rule: Rule, event: StateEvent) -> Malformed:
    wanted = "text" if rule.takes is str else f"a {rule.takes.__name__}"
    return Malformed(f"{wanted} as the value of {rule.kind}", repr(event.value)[:80])


def _check_reason(rule: Rule, event: StateEvent) -> None:
    if rule.reasons == ANY_TEXT:
        if not str(event.value).strip():
            raise ReasonMissing(f"{rule.kind} because of {event.value!r}", "no words")
    elif event.value not in rule.reasons:
        wanted = " or ".join(rule.reasons)
        raise ReasonMissing(f"{rule.kind} because of {event.value!r}", f"the reasons {wanted}")


__all__ = [
    "Change",
    "Condition",
    "RULES",
    "Rule",
    "Rules",
    "SOURCE_TEXT",
    "arrows",
    "check",
    "node_arrows",
    "reduce",
    "replay",
]
