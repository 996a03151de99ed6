"""Floor 2. Nouns as lines of JSON and back, exactly; nothing else is read.

Used by whatever is durable. A noun is written as {"Name": [its fields]},
cut off where the rest are defaults, so that old lines stay readable when a
noun gains a field. The type hints of the nouns say what a field may hold;
nothing else is written, so nothing that was written is refused when it is
read. What is not here: files.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from runstate_lab import errors, nouns
from runstate_lab.errors import Malformed, Refusal
from runstate_lab.model import RunState, StateEvent

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
REFUSALS = {
    one.__name__: one
    for one in (Refusal, *Refusal.__subclasses__())
    if one.__module__ == errors.__name__
}
SAYS = {str: "text", int: "a whole number", bool: "true or false", NoneType: "null"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What one field may hold, in Python and in JSON, and how a refusal calls it.

    >>> Shape.of("RunState.first_error", nouns.FirstError | None).says
    'a FirstError or null'
    """

    where: str
    says: str
    types: frozenset[type] = frozenset()
    plain: frozenset[type] = frozenset()
    words: dict[str, StrEnum] = field(default_factory=dict)
    nouns: frozenset[str] = frozenset()
    each: tuple[Shape, ...] = ()
    many: bool = False

    @classmethod
    def of(cls, where: str, hint: Any) -> Shape:
        """What a type hint allows."""
        if get_origin(hint) in (Union, UnionType):
            return cls._either(where, [cls.of(where, one) for one in get_args(hint)])
        if get_origin(hint) is tuple:
            each = tuple(cls.of(where, one) for one in get_args(hint) if one is not ...)
            many = ... in get_args(hint)
            says = f"a list, each {each[0].says}" if many else f"a list of {len(each)}"
            return cls(where, says, each=each, many=many)
        types = frozenset((hint,))
        if hint in SAYS:
            return cls(where, SAYS[hint], types, types)
        if issubclass(hint, StrEnum):
            return cls(where, " or ".join(hint), types, words={one.value: one for one in hint})
        name = hint.__name__
        article = "an" if name[0] in "AEIOU" else "a"
        return cls(where, f"{article} {name}", types, nouns=frozenset((name,)))

    @classmethod
    def _either(cls, where: str, shapes: list[Shape]) -> Shape:
        return cls(
            where,
            " or ".join(one.says for one in shapes),
            frozenset().union(*[one.types for one in shapes]),
            frozenset().union(*[one.plain for one in shapes]),
            nouns=frozenset().union(*[one.nouns for one in shapes]),
        )

    def refused(self, found: object) -> Malformed:
        """The refusal of what was found in this place."""
        return Malformed(f"{self.where} as {self.says}", repr(found)[:80])

    def check(self, value: object) -> None:
        """Nothing, when a value of Python is what this place holds.

        >>> Shape.of("Fact.revision", int).check(True)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked Fact.revision as a whole number, found True
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if type(value) in self.types:
            return
        if type(value) is not tuple or not self.each or not self._long_enough(value):
            raise self.refused(value)
        for one, shape in zip(value, self.each * len(value), strict=False):
            if type(one) not in shape.types:
                shape.check(one)

    def read(self, value: Any) -> Any:
        """The value of Python that a value of JSON stands for."""
        kind = type(value)
        if kind in self.plain:
            return value
        if kind is dict and len(value) == 1:
            ((name, row),) = value.items()
            if name in self.nouns:
                return _noun(name, row)
        elif kind is str and value in self.words:
            return self.words[value]
        elif kind is list and self.each and self._long_enough(value):
            pairs = zip(value, self.each * len(value), strict=False)
            return tuple([shape.read(one) for one, shape in pairs])
        raise self.refused(value)

    def _long_enough(self, row: Any) -> bool:
        return self.many or len(row) == len(self.each)


def shapes(noun: type, *, without: str = "") -> tuple[Shape, ...]:
    """What the fields of a noun may hold, in their order.

    >>> [shape.says for shape in shapes(nouns.Budget)][:1]
    ['a whole number or null']
    """
    hints = get_type_hints(noun)
    return tuple(
        Shape.of(f"{noun.__name__}.{one.name}", hints[one.name])
        for one in fields(noun)
        if one.name != without
    )


SHAPES = {name: shapes(noun) for name, noun in NOUNS.items()}
# The place of an event in its run gives it the revision.
EVENT = shapes(StateEvent, without="expected_revision")
LEAST_OF_EVENT = 4
NAMES = {noun: [one.name for one in fields(noun)] for noun in NOUNS.values()}
TYPES = {noun: [one.types for one in SHAPES[name]] for name, noun in NOUNS.items()}
DEFAULTS = {noun: [one.default for one in fields(noun)] for noun in NOUNS.values()}
LEAST = {
    name: sum(one.default is MISSING for one in fields(noun)) for name, noun in NOUNS.items()
}


def write_state(state: RunState) -> str:
    """A run state as one line of JSON.

    >>> write_state(RunState("run-7", goal="ship"))
    '{"RunState":["run-7","ship"]}'
    """
    return _line("a RunState", state)


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
    asked = "a line with a RunState"
    value = _value(line, asked)
    if type(value) is not dict or [*value] != ["RunState"]:
        raise Malformed(asked, repr(line)[:80])
    state: RunState = _noun("RunState", value["RunState"])
    return state


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
    for one, shape in zip(row, EVENT):
        if type(one) not in shape.types:
            raise shape.refused(one)
    return _line("an event", row)


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
    row = _value(line, "a line with an event")
    if type(row) is not list or not LEAST_OF_EVENT <= len(row) <= len(EVENT):
        raise Malformed("a line with an event", repr(line)[:80])
    kind, source, authority, value, *rest = _fields(EVENT, row)
    return StateEvent(kind, source, authority, value, expected_revision, *rest)


def write_refusal(refusal: Refusal) -> str:
    """A refusal as one line of JSON.

    >>> write_refusal(errors.CallLate("a result", "the run cancelled"))
    '["CallLate","a result","the run cancelled","the result comes too late"]'
    """
    # A refusal of somebody's own is kept as the nearest one that can be read back.
    name = next(one.__name__ for one in type(refusal).__mro__ if one.__name__ in REFUSALS)
    return _line("a refusal", [name, refusal.asked, refusal.found, refusal.reason])


def read_refusal(line: str) -> Refusal:
    """The refusal in a line of JSON.

    >>> read_refusal('["CallLate","a result","the run cancelled","too late"]').code
    'call_late'
    """
    row = _value(line, "a line with a refusal")
    if type(row) is not list or [type(one) for one in row] != [str] * 4 or row[0] not in REFUSALS:
        raise Malformed("a line with a refusal", repr(line)[:80])
    name, asked, found, reason = row
    return REFUSALS[name](asked, found, reason=reason)


def _plain(noun: Any) -> dict[str, list[Any]]:
    kind = type(noun)
    defaults = DEFAULTS[kind]
    found = [getattr(noun, name) for name in NAMES[kind]]
    for value, types, shape in zip(found, TYPES[kind], SHAPES[kind.__name__]):
        # Most lists are empty, and an empty one needs no look at what is in it.
        if type(value) not in types and value != ():
            shape.check(value)
    while found and found[-1] == defaults[len(found) - 1]:
        found.pop()
    return {kind.__name__: found}


# The encoder knows text, numbers and tuples; a noun it hands to `_plain`.
_write = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
).encode
_decoded = json.JSONDecoder().decode


def _line(what: str, value: object) -> str:
    try:
        line = _write(value)
        if not line.isascii():
            line.encode()
    except Refusal:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed(f"{what} that a file can hold", f"{error}"[:80]) from error
    return line


def _value(line: str, asked: str) -> Any:
    try:
        return _decoded(line)
    except (ValueError, TypeError, RecursionError) as error:
        raise Malformed(asked, repr(line)[:80]) from error


def _noun(name: str, row: Any) -> Any:
    places = SHAPES[name]
    if type(row) is not list or len(row) > len(places):
        raise Malformed(f"{name} as a list of at most {len(places)} fields", repr(row)[:80])
    if len(row) < LEAST[name]:
        raise Malformed(f"{places[len(row)].where} as {places[len(row)].says}", "no such field")
    return NOUNS[name](*_fields(places, row))


def _fields(places: tuple[Shape, ...], row: list[Any]) -> list[Any]:
    return [
        one if type(one) in shape.plain else shape.read(one) for one, shape in zip(row, places)
    ]
