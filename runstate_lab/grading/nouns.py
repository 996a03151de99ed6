"""Grading. The book's values that may cross the wire, and what fits their fields.

A frozen noun crosses by value, a status as a member of its enum, a rules table
by its name, a refusal by its name and words. A context is none of these: it is
recognised by identity, so it crosses as a handle (see `proxy`).

What is not here: how anything is written down (see `codec`).
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module

# Whatever their fields can hold crosses with them.
ROOTS = {
    "runstate_lab.model": ("RunState", "StateProposal", "StateEvent"),
    "runstate_lab.ownership": ("StateOwnership", "FieldOwner"),
    "runstate_lab.trace": ("Entry", "Diagnostic"),
}
TABLES = {"runstate_lab.rules": ("SOURCE_TEXT", "RULES")}


@dataclass(frozen=True)
class Nouns:
    """What the book contributes to the wire, each by its name."""

    values: Mapping[str, type]
    members: Mapping[str, type[Enum]]
    tables: Mapping[str, object]
    trace: type
    context: type


@functools.cache
def book() -> Nouns:
    """The book's nouns, imported when they are first asked for.

    >>> "RunState" in book().values, "ExecutionContext" in book().values
    (True, False)
    >>> sorted(book().members)
    ['CallStatus', 'NodeStatus', 'RunStatus']
    """
    from runstate_lab.model import ExecutionContext
    from runstate_lab.trace import Trace

    values: dict[str, type] = {}
    members: dict[str, type[Enum]] = {}
    for root in _named(ROOTS).values():
        _gather(root, values, members)
    return Nouns(values, members, _named(TABLES), Trace, ExecutionContext)


def _named(table: Mapping[str, tuple[str, ...]]) -> dict[str, typing.Any]:
    return {
        name: getattr(import_module(module), name)
        for module, names in table.items()
        for name in names
    }


def _gather(hint: object, values: dict[str, type], members: dict[str, type[Enum]]) -> None:
    for one in typing.get_args(hint):
        _gather(one, values, members)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members[hint.__name__] = hint
    elif dataclasses.is_dataclass(hint) and hint.__name__ not in values:  # type: ignore[attr-defined]
        values[hint.__name__] = hint  # type: ignore[attr-defined,assignment]
        for _, inner in field_hints(hint):  # type: ignore[arg-type]
            _gather(inner, values, members)


@functools.cache
def field_hints(noun: type) -> tuple[tuple[str, object], ...]:
    """The fields of a noun in order, each with the type it declares."""
    hints = typing.get_type_hints(noun)
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(noun))


def fits(value: object, hint: object) -> bool:
    """Whether a value is exactly what a field declares; a subclass is not.

    >>> fits((1, 2), tuple[int, ...]), fits((1, True), tuple[int, ...])
    (True, False)
    >>> fits(None, str | None), fits(1, str | None)
    (True, False)
    """
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in typing.get_args(hint))
    if origin is tuple:
        return type(value) is tuple and _items_fit(value, typing.get_args(hint))
    if hint is type(None):
        return value is None
    if isinstance(hint, type) and issubclass(hint, BaseException):
        return _is_refusal(type(value)) and issubclass(type(value), hint)
    return type(value) is hint


def _items_fit(value: tuple[object, ...], hints: tuple[object, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(fits(one, hints[0]) for one in value)
    return len(value) == len(hints) and all(map(fits, value, hints))


def _is_refusal(kind: type) -> bool:
    from runstate_lab.grading.faults import nearest_refusal

    return nearest_refusal(kind) is not None
