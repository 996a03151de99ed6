"""Floor 5. A value as text, the same text on every machine and in every process.

    {"b", "a"}       {'a', 'b'}                 a set has no order of its own
    True, 1, 1.0     three texts, though all three compare equal
    Mine(7)          Mine(seen=7)               an object by its type and what it holds

What is not here: who compares such texts (see `tokens`, `places`, `tally`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
NAMED = (type, Enum, FunctionType, BuiltinFunctionType, MethodType, ModuleType)
BRACKETS = {tuple: "()", list: "[]", set: "{}", frozenset: "{}", dict: "{}", deque: "[]"}
PLAIN = (type(None), bool, int, float, complex, str, bytes)


def canonical(value: object) -> str:
    """What a value holds, as text that equal values of one type share.

    >>> canonical({"scan", "build"}) == canonical({"build", "scan"})
    True
    >>> canonical((1, {"b": 2, "a": frozenset({3})})), canonical(True), canonical(1.0)
    ("(1, {'a': frozenset({3}), 'b': 2})", 'True', '1.0')
    """
    return _text(value, ())


def _text(value: Any, above: tuple[int, ...]) -> str:
    kind = type(value)
    if kind in PLAIN:
        return repr(value)
    if id(value) in above:
        return "..."
    above = (*above, id(value))
    if isinstance(value, NAMED):
        return ADDRESS.sub("", repr(value))
    held = ", ".join(f"{name}={_text(part, above)}" for name, part in _parts(value))
    for base, (opened, closed) in BRACKETS.items():
        if isinstance(value, base) and not (held and hasattr(value, "_fields")):
            inner = f"{opened}{_items(value, above)}{closed}"
            bare = kind is base and base not in (frozenset, deque) and (value or base is not set)
            return inner if bare else f"{kind.__qualname__}({', '.join(filter(None, (inner, held)))})"
    if isinstance(value, PLAIN[1:]) or not held:
        text = ADDRESS.sub("", repr(value))
        named = held or isinstance(value, PLAIN[1:])
        return f"{kind.__qualname__}({text}{', ' if held else ''}{held})" if named else text
    return f"{kind.__qualname__}({held})"


def _items(value: Any, above: tuple[int, ...]) -> str:
    if isinstance(value, dict):
        return ", ".join(sorted(f"{_text(key, above)}: {_text(value[key], above)}" for key in value))
    texts = [_text(item, above) for item in value]
    if isinstance(value, set | frozenset):
        texts.sort()
    return ", ".join(texts) + ("," if type(value) is tuple and len(texts) == 1 else "")


def _parts(value: Any) -> Iterator[tuple[str, object]]:
    """The named parts of an object: fields, slots, and what else it holds."""
    if isinstance(value, BaseException):
        yield "args", value.args
    if hasattr(value, "_fields") and isinstance(value, tuple):
        yield from zip(value._fields, value, strict=False)
        return
    names = [field.name for field in fields(value)] if is_dataclass(value) else []
    for kind in reversed(type(value).__mro__):
        slots = kind.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    names += sorted(map(str, getattr(value, "__dict__", ())))
    for name in dict.fromkeys(names):
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            yield name, getattr(value, name)
