"""Grading. The plain value under a subclass: what an honest answer means by it.

A NamedTuple is a tuple with names, a StrEnum member a text, an OrderedDict, a
read-only view or a ChainMap a dict. Whoever compares wants that value. It is
read by the base type's own methods, so a subclass that overrides them is not
asked.

What is not here: how a value is written down (see `codec`).
"""

from __future__ import annotations

from collections import UserList, UserString, deque
from collections.abc import Callable, Mapping, Set, ValuesView
from enum import Enum

from runstate_lab.grading.nouns import book

# By base type: the exact value, made by what the base type itself knows.
BASES: tuple[tuple[type, Callable[..., object]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (bytes, lambda value: bytes(memoryview(value))),
    (bytearray, bytes),
    (tuple, lambda value: tuple([*tuple.__iter__(value)])),
    (list, lambda value: [*list.__iter__(value)]),
    (dict, lambda value: dict([*dict.items(value)])),
    (set, lambda value: {*set.__iter__(value)}),
    (frozenset, lambda value: frozenset([*frozenset.__iter__(value)])),
    (Mapping, dict),
    (Set, set),
    (UserList, list),
    (UserString, str),
    (deque, list),
    (range, list),
    (ValuesView, list),
)


def base_value(value: object) -> object:
    """The plain value under a subclass; anything else as it is.

    >>> from collections import OrderedDict
    >>> base_value(OrderedDict(build="green")), base_value(3.5), base_value({1: 2}.keys())
    ({'build': 'green'}, 3.5, {1})
    """
    kind = type(value)
    if issubclass(kind, Enum) and book().members.get(kind.__name__) is kind:
        return value
    for base, plain in BASES:
        if issubclass(kind, base):
            return plain(value)
    return value
