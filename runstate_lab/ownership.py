"""Floor 1. Who owns what: the five data of a run, and every field of its state.

The five rows carry what no event row knows: who proposes, who reads, what is
checked outside the store. Kinds, authorities and fields are read from the
rules table. What is not here: any check (see `rules`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from runstate_lab.model import RunState
from runstate_lab.rules import RULES, Rule, Rules


@dataclass(frozen=True, slots=True)
class StateOwnership:
    """Who may do what with one datum. Source text: state ownership.

    The final writer is one contract, not one process: every write goes
    through the same checks, whoever carries it.

    >>> ownership("tool result").writer
    'runtime/store'
    >>> ownership("tool result").closed_by
    'nobody: a fact stays'
    """

    datum: str
    proposer: str
    writer: str
    created_by: str
    read_by: str
    updated_by: str
    closed_by: str
    checks: tuple[str, ...]


OWNERSHIP = (
    StateOwnership(
        "candidate action",
        "model",
        "runtime",
        created_by="runtime, when it dispatches the call",
        read_by="runtime, tool executor, context builder",
        updated_by="nobody: a changed call is another call",
        closed_by="runtime/store, with the result",
        checks=("schema", "allow-list", "permission"),
    ),
    StateOwnership(
        "tool result",
        "tool executor",
        "runtime/store",
        created_by="runtime/store, from the tool's own door",
        read_by="runtime, context builder",
        updated_by="nobody: a newer fact of the key decides",
        closed_by="nobody: a fact stays",
        checks=("call_id", "idempotency key", "execution status"),
    ),
    StateOwnership(
        "run status",
        "runtime",
        "store",
        created_by="store, queued",
        read_by="everybody",
        updated_by="store, along a legal arrow",
        closed_by="store, with a stop reason",
        checks=("legal transition", "stop reason"),
    ),
    StateOwnership(
        "approval decision",
        "user or approval service",
        "runtime",
        created_by="runtime, with the wait in one event",
        read_by="runtime, the approver who was asked",
        updated_by="nobody: a changed question is another request",
        closed_by="runtime, with the answer",
        checks=("identity", "expiry", "checkpoint version"),
    ),
    StateOwnership(
        "diagnostic event",
        "any component",
        "trace",
        created_by="trace",
        read_by="instructors, audits; never the reducer",
        updated_by="nobody",
        closed_by="retention of the trace",
        checks=("order", "redaction", "correlation id"),
    ),
)


@dataclass(frozen=True, slots=True)
class FieldOwner:
    """Which authorities may change one field of the state, by which events."""

    field: str
    authorities: tuple[str, ...]
    kinds: tuple[str, ...]


def ownership(datum: str) -> StateOwnership:
    """The row of one datum; refuses a datum that nobody owns.

    >>> ownership("mood")
    Traceback (most recent call last):
        ...
    KeyError: "no owner for 'mood'; the data with owners are candidate action, tool result, run status, approval decision, diagnostic event"
    """
    for row in OWNERSHIP:
        if row.datum == datum:
            return row
    names = ", ".join(row.datum for row in OWNERSHIP)
    raise KeyError(f"no owner for {datum!r}; the data with owners are {names}")


def kinds_of(datum: str, rules: Rules = RULES) -> tuple[str, ...]:
    """The kinds of events that are about one datum.

    >>> kinds_of("candidate action")
    ('model_output_received', 'tool_dispatched', 'tool_declined')
    >>> kinds_of("diagnostic event")
    ()
    """
    return tuple(rule.kind for rule in rules.rows if rule.datum == datum)


def field_owners(rules: Rules = RULES) -> tuple[FieldOwner, ...]:
    """For every field of RunState who may change it, by which events.

    Fields without events are settled when the run is created.

    >>> owners = {owner.field: owner for owner in field_owners()}
    >>> owners["facts"].authorities
    ('tool_executor',)
    >>> owners["goal"].kinds
    ()
    """
    return tuple(_field_owner(one.name, rules) for one in fields(RunState))


def _field_owner(name: str, rules: Rules) -> FieldOwner:
    rows = [rule for rule in rules.rows if name in _written(rule)]
    authorities = tuple(dict.fromkeys(rule.authority for rule in rows))
    return FieldOwner(name, authorities, tuple(rule.kind for rule in rows))


def _written(rule: Rule) -> tuple[str, ...]:
    status = ("status", "waiting_for", "stop_reason") if rule.to is not None else ()
    return ("revision", *status, *rule.writes)
