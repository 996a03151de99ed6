"""Grading. The strict codec: values as JSON trees, frames with a length.

On the wire None, truth values, text, finite floats and small integers are
themselves; everything else is a list whose first item is a one-letter tag. No
JSON object is ever written or accepted. What is read is built from exact types:
a subclass of a plain type, and what counts as a mapping or a set, crosses as
its base value and leaves its own `==` behind. A subclass of one of the book's
nouns is opaque and crosses as a handle.

    u text with lone surrogates   i wide integer   f nan, inf   b bytes
    l list   t tuple   d dict   s set   z frozenset
    c frozen noun   e enum member   r rules table   x refusal   q trace

What is not here: handles, contexts and callbacks (see `proxy` and `worker`).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, TypeAlias

from runstate_lab.errors import Refusal
from runstate_lab.grading import plain
from runstate_lab.grading.faults import HandleMisuse, nearest_refusal, refusal_class
from runstate_lab.grading.nouns import book, field_hints, fits

Node: TypeAlias = "None | bool | int | float | str | list[Node]"

BARE_INT = 1 << 53
COLLIDING_LEVELS = 2
HEADER = struct.Struct("<I")
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class CodecError(ValueError):
    """A value that cannot cross, or a tree that is no value."""


class TooLarge(CodecError):
    """A value that an honest answer may make, but nobody reads."""


class _NotPlain(Exception):
    """Something opaque stands where only plain values may."""


@dataclass(frozen=True)
class Limits:
    """How large a value may be; the defaults are those of a grade."""

    max_bytes: int = 1 << 20
    max_depth: int = 64
    max_nodes: int = 100_000
    max_int_bits: int = 4096
    max_equal_hashes: int = 32
    broken_text: bool = True


def encode(value: object, opaque: Callable[[object], Node], *, depth: int = 64) -> Node:
    """The tree of a value; `opaque` writes whatever is not plain data.

    >>> encode((1, {"build": b"green"}), opaque=repr)
    ['t', 1, ['d', 'build', ['b', 'Z3JlZW4=']]]
    >>> class Lying(int):
    ...     def __eq__(self, other): return True
    >>> encode(Lying(0), opaque=repr), encode(object, opaque=lambda value: ["h", value.__name__])
    (0, ['h', 'object'])
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return _encode_text(value)
    if kind is int:
        return value if -BARE_INT < value < BARE_INT else ["i", format(value, "x")]
    if kind is float:
        return value if math.isfinite(value) else ["f", repr(value)]
    if kind is bytes:
        return ["b", base64.b64encode(value).decode()]
    if depth <= 0:
        raise TooLarge("a value nested too deeply")
    if kind is list or kind is tuple:
        tag = "l" if kind is list else "t"
        return [tag, *[encode(one, opaque, depth=depth - 1) for one in value]]
    if kind is dict or kind is set or kind is frozenset:
        return _encode_keyed(value, opaque, depth - 1)
    base = plain.base_value(value)
    if base is not value:
        return encode(base, opaque, depth=depth)
    return _encode_noun(value, opaque, depth - 1)


def decode(tree: Node, opaque: Callable[[str, list[Node]], object], *, limits: Limits) -> object:
    """The value of a tree, built from exact builtins and the book's own nouns.

    >>> decode(["e", "RunStatus", "queued"], refuse_opaque, limits=Limits())
    <RunStatus.QUEUED: 'queued'>
    >>> decode(["c", "Popen", ["l", "id"]], refuse_opaque, limits=Limits())
    Traceback (most recent call last):
        ...
    runstate_lab.grading.codec.CodecError: a noun that is not on the list
    """
    return _Decoding(opaque, limits).value(tree, 0)


def refuse_opaque(tag: str, rest: list[Node]) -> NoReturn:
    """Nothing: an `opaque` for places where only plain data is expected."""
    raise CodecError("an unknown tag")


def frame(tree: Node) -> bytes:
    """The bytes of a tree, with their length in front."""
    body = json.dumps(tree, separators=(",", ":"), allow_nan=False).encode()
    return HEADER.pack(len(body)) + body


def parse(body: bytes) -> Node:
    """The tree in the body of a frame; refuses JSON objects and bare NaN.

    >>> parse(b'[1, {}]')
    Traceback (most recent call last):
        ...
    runstate_lab.grading.codec.CodecError: JSON that is not on the list
    """
    try:
        return json.loads(body, object_pairs_hook=_unlisted, parse_constant=_unlisted)
    except RecursionError:
        raise CodecError("a tree nested too deeply for the parser") from None
    except ValueError as error:
        if isinstance(error, CodecError):
            raise
        raise CodecError(f"not JSON: {type(error).__name__}") from None


def strictly_equal(one: object, other: object) -> bool:
    """Whether two plain values are equal with equal types, all the way down.

    >>> strictly_equal([1, 2], [1, 2]), strictly_equal(1, 1.0), strictly_equal(1, True)
    (True, False, False)
    >>> strictly_equal({"a": (1,)}, {"a": (1.0,)})
    False
    """
    return _canonical(one) == _canonical(other)


def _canonical(value: object) -> str:
    return json.dumps(_sorted(encode(value, _no_handle)))


def _no_handle(value: object) -> NoReturn:
    raise HandleMisuse(f"a {type(value).__name__} is not plain data: ask for text, numbers, nouns")


def _sorted(tree: Node) -> Node:
    # Sets and dicts are equal in any order; JSON text is compared, so 1 is not 1.0.
    if type(tree) is not list:
        return tree
    tag, rest = tree[0], [_sorted(one) for one in tree[1:]]
    if tag == "d":
        pairs = zip(rest[0::2], rest[1::2], strict=True)
        rest = sorted(([key, one] for key, one in pairs), key=json.dumps)
    elif tag in ("s", "z"):
        rest = sorted(rest, key=json.dumps)
    return [tag, *rest]


def _unlisted(found: object) -> NoReturn:
    raise CodecError("JSON that is not on the list")


def _encode_text(value: str) -> Node:
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["u", base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()]
    return value


def _encode_keyed(value: object, opaque: Callable[[object], Node], depth: int) -> Node:
    try:
        keys = [encode(one, _not_plain, depth=depth) for one in value]  # type: ignore[attr-defined]
    except _NotPlain:
        return opaque(value)
    if type(value) is not dict:
        return ["s" if type(value) is set else "z", *keys]
    tree: list[Node] = ["d"]
    for key, one in zip(keys, value.values(), strict=True):
        tree += (key, encode(one, opaque, depth=depth))
    return tree


def _encode_noun(value: object, opaque: Callable[[object], Node], depth: int) -> Node:
    kind, nouns = type(value), book()
    if nouns.members.get(kind.__name__) is kind:
        return ["e", kind.__name__, value.value]  # type: ignore[attr-defined]
    known = nearest_refusal(kind)
    if known is not None:
        words = [known.code, *(getattr(value, name, None) for name in ("asked", "found", "reason"))]
        if all(type(one) is str for one in words):
            return ["x", known.__name__, *map(_encode_text, words)]
    if nouns.values.get(kind.__name__) is kind:
        fields = [(getattr(value, name, _NotPlain), hint) for name, hint in field_hints(kind)]
        if all(fits(one, hint) for one, hint in fields):
            parts = [one for one, _ in fields]
            return _encode_all(["c", kind.__name__], parts, value, opaque, depth)
    if kind is nouns.trace:
        parts = [tuple(value), value.diagnostics]  # type: ignore[call-overload,attr-defined]
        return _encode_all(["q"], parts, value, opaque, depth)
    for name, table in nouns.tables.items():
        if value is table:
            return ["r", name]
    return opaque(value)


def _encode_all(
    head: list[Node],
    parts: list[object],
    whole: object,
    opaque: Callable[[object], Node],
    depth: int,
) -> Node:
    try:
        return head + [encode(one, _not_plain, depth=depth) for one in parts]
    except _NotPlain:
        return opaque(whole)


def _not_plain(value: object) -> NoReturn:
    raise _NotPlain


class _Decoding:
    """One tree being read; counts its nodes."""

    def __init__(self, opaque: Callable[[str, list[Node]], object], limits: Limits) -> None:
        self.opaque = opaque
        self.limits = limits
        self.nodes = 0
        self.colliding = 0

    def value(self, tree: Node, depth: int) -> object:
        self.nodes += 1
        if self.nodes > self.limits.max_nodes:
            raise TooLarge(f"more than {self.limits.max_nodes} values")
        if depth > self.limits.max_depth:
            raise TooLarge(f"nested deeper than {self.limits.max_depth}")
        if tree is None or type(tree) in (bool, str):
            return tree
        if type(tree) is int and -BARE_INT < tree < BARE_INT:
            return tree
        if type(tree) is float and math.isfinite(tree):
            return tree
        if type(tree) is not list or not tree or type(tree[0]) is not str:
            raise CodecError("a malformed tree")
        return self._tagged(tree[0], tree[1:], depth + 1)

    def _tagged(self, tag: str, rest: list[Node], depth: int) -> object:
        if tag in ("i", "u", "f", "b"):
            return self._scalar(tag, rest)
        if tag == "l":
            return [self.value(one, depth) for one in rest]
        if tag == "t":
            return tuple([self.value(one, depth) for one in rest])
        if tag == "d":
            return self._dict(rest, depth)
        if tag in ("s", "z"):
            keys = self._keys(rest, depth)
            return set(keys) if tag == "s" else frozenset(keys)
        if tag == "q":
            return self._trace([self.value(one, depth) for one in rest])
        if tag in ("c", "e", "r", "x"):
            if not rest or type(rest[0]) is not str:
                raise CodecError("a noun without a name")
            return self._noun(tag, rest[0], rest[1:], depth)
        return self.opaque(tag, rest)

    def _scalar(self, tag: str, rest: list[Node]) -> object:
        if len(rest) != 1 or type(rest[0]) is not str:
            raise CodecError("a malformed scalar")
        text = rest[0]
        if tag == "i" and len(text) > self.limits.max_int_bits // 4 + 1:
            raise TooLarge(f"an integer wider than {self.limits.max_int_bits} bits")
        try:
            if tag == "i":
                return int(text, 16)
            if tag == "f":
                return NOT_FINITE[text]
            content = base64.b64decode(text, validate=True)
            if tag == "u" and not self.limits.broken_text:
                raise TooLarge("a text with a broken character")
            return content if tag == "b" else content.decode("utf-8", "surrogatepass")
        except TooLarge:
            raise
        except (ValueError, KeyError, binascii.Error):
            raise CodecError("a malformed scalar") from None

    def _dict(self, rest: list[Node], depth: int) -> dict[object, object]:
        if len(rest) % 2:
            raise CodecError("a dict with a key too many")
        keys = self._keys(rest[0::2], depth)
        return dict(zip(keys, [self.value(one, depth) for one in rest[1::2]], strict=True))

    def _keys(self, trees: Iterable[Node], depth: int) -> list[object]:
        before, self.colliding = self.colliding, 0
        keys = [self.value(one, depth) for one in trees]
        try:
            hashes = sorted(map(hash, keys))
        except (TypeError, HandleMisuse):
            raise CodecError("a key that cannot be one") from None
        # Inserting n keys of one hash takes n * n steps: a few lines of text
        # could hold the grader for minutes.
        # Sets of such sets multiply that, level by level.
        worst = self.limits.max_equal_hashes
        levels = self.colliding + _repeat(hashes, 1)
        self.colliding = max(before, levels)
        if _repeat(hashes, worst) or levels > COLLIDING_LEVELS:
            raise TooLarge("too many equal hashes")
        if len(set(keys)) != len(keys):
            raise TooLarge("a key twice")
        return keys

    def _trace(self, parts: list[object]) -> object:
        entry, note = book().values["Entry"], book().values["Diagnostic"]
        hints: tuple[object, ...] = (tuple[entry, ...], tuple[note, ...])  # type: ignore[valid-type]
        if len(parts) != 2 or not all(map(fits, parts, hints)):
            raise CodecError("a trace of something else than entries and notes")
        return book().trace(*parts)

    def _noun(self, tag: str, name: str, rest: list[Node], depth: int) -> object:
        nouns = book()
        if tag == "r" and name in nouns.tables and not rest:
            return nouns.tables[name]
        if tag == "e" and name in nouns.members and len(rest) == 1:
            return _member(nouns.members[name], rest[0])
        if tag == "x":
            return _refusal(name, [self.value(one, depth) for one in rest])
        if tag == "c" and name in nouns.values:
            return _build(nouns.values[name], [self.value(one, depth) for one in rest])
        raise CodecError("a noun that is not on the list")


def _repeat(hashes: list[int], distance: int) -> bool:
    """Whether a hash stands again so many places later in the sorted list."""
    return any(one == other for one, other in zip(hashes, hashes[distance:], strict=False))


def _member(kind: type[Enum], value: Node) -> Enum:
    for member in kind:
        if type(value) is str and member.value == value:
            return member
    raise CodecError(f"no member of {kind.__name__}")


def _refusal(name: str, words: list[object]) -> Refusal:
    if len(words) != 4 or not all(type(one) is str for one in words):
        raise CodecError("a malformed refusal")
    code, asked, found, reason = map(str, words)
    known = refusal_class(name, code)
    if known is None:
        raise CodecError("a refusal that is not on the list")
    return known(asked, found, reason=reason)


def _build(noun: type, values: list[object]) -> object:
    hints = field_hints(noun)
    if len(values) != len(hints):
        raise CodecError(f"a {noun.__name__} with {len(values)} fields, not {len(hints)}")
    for value, (name, hint) in zip(values, hints, strict=True):
        if not fits(value, hint):
            raise CodecError(f"a {noun.__name__} whose {name} is a {type(value).__name__}")
    try:
        return noun(*values)
    except Refusal as refusal:
        found = refusal.reason
        raise CodecError(f"a {noun.__name__} that its own class refuses: {found}") from None
