"""Floor 2. Nouns as lines of JSON and back, exactly; nothing else is read.

Used by whatever is durable. A noun is written as {"Name": [its fields]},
cut off where the rest are defaults, so that old lines stay readable when a
noun gains a field. What is not here: files.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from runstate_lab import errors, nouns
from runstate_lab.errors import Malformed, Refusal
from runstate_lab.model import CallStatus, NodeStatus, RunState, RunStatus, StateEvent

NOUNS: dict[str, type] = {
    one.__name__: one
    for one in (
        nouns.Answer,
        nouns.Approval,
        nouns.Budget,
        nouns.Callback,
        nouns.Claim,
        nouns.Decision,
        nouns.Fact,
        nouns.FirstError,
        nouns.Lease,
        nouns.NodeReport,
        nouns.NodeState,
        nouns.Plan,
        nouns.ToolCall,
        nouns.TurnState,
        RunState,
    )
}
FIELDS = {
    one: tuple((field.name, field.default) for field in fields(one)) for one in NOUNS.values()
}
STATUSES = {"ToolCall": CallStatus, "NodeState": NodeStatus, "RunState": RunStatus}
REFUSALS = {
    one.__name__: one for one in Refusal.__subclasses__() if one.__module__ == errors.__name__
}


def write_state(state: RunState) -> str:
    """A run state as one line of JSON.

    >>> write_state(RunState("run-7", goal="ship"))
    '{"RunState":["run-7","ship"]}'
    """
    return _write(state)


def read_state(line: str) -> RunState:
    """The run state in a line of JSON; refuses anything else.

    >>> read_state('{"RunState":["run-7","ship"]}').goal
    'ship'
    >>> read_state('{"Popen":["ls"]}')
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a line with a RunState, found '{"Popen":["ls"]}'
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    return _read(line, RunState, "a line with a RunState")


def write_event(event: StateEvent) -> str:
    """An event as one line of JSON, without the revision that its place gives it.

    >>> write_event(StateEvent("run_started", "runtime", "runtime", "", 0))
    '["run_started","runtime","runtime",""]'
    """
    row = [event.kind, event.source, event.authority, event.value]
    if event.epoch is not None:
        row += [event.call_id, event.tick, event.epoch]
    elif event.tick:
        row += [event.call_id, event.tick]
    elif event.call_id is not None:
        row.append(event.call_id)
    return _write(row)


def read_event(line: str, expected_revision: int) -> StateEvent:
    """The event in a line of JSON, as it was offered at a revision.

    >>> read_event('["run_started","runtime","runtime",""]', 0).kind
    'run_started'
    >>> read_event('["run_started"]', 0)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a line with an event, found '["run_started"]'
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    try:
        kind, source, authority, value, *rest = json.loads(line)
        value = value if type(value) is str else _noun(value)
        return StateEvent(kind, source, authority, value, expected_revision, *rest)
    except (ValueError, TypeError, KeyError) as error:
        raise Malformed("a line with an event", repr(line)[:80]) from error


def write_refusal(refusal: Refusal) -> str:
    """A refusal as one line of JSON.

    >>> write_refusal(errors.CallLate("a result", "the run cancelled"))
    '["CallLate","a result","the run cancelled","the result comes too late"]'
    """
    return _write([type(refusal).__name__, refusal.asked, refusal.found, refusal.reason])


def read_refusal(line: str) -> Refusal:
    """The refusal in a line of JSON.

    >>> read_refusal('["CallLate","a result","the run cancelled","too late"]').code
    'call_late'
    """
    try:
        name, asked, found, reason = json.loads(line)
        return REFUSALS[name](asked, found, reason=reason)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed("a line with a refusal", repr(line)[:80]) from error


def _plain(noun: Any) -> dict[str, list[Any]]:
    known = FIELDS[type(noun)]
    found = [getattr(noun, name) for name, _ in known]
    while found and found[-1] == known[len(found) - 1][1]:
        found.pop()
    return {type(noun).__name__: found}


# The encoder knows text, numbers and tuples; a noun it hands to `_plain`.
_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode


def _read(line: str, wanted: type, asked: str) -> Any:
    try:
        found = _noun(json.loads(line))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed(asked, repr(line)[:80]) from error
    if type(found) is not wanted:
        raise Malformed(asked, repr(line)[:80])
    return found


def _noun(value: Any) -> Any:
    if type(value) is list:
        return tuple(_noun(one) for one in value)
    if type(value) is not dict:
        return value
    ((name, row),) = value.items()
    names = FIELDS[NOUNS[name]]
    found = {field: _noun(one) for (field, _), one in zip(names, row, strict=False)}
    if name in STATUSES and "status" in found:
        found["status"] = STATUSES[name](found["status"])
    return NOUNS[name](**found)
