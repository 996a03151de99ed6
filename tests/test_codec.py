"""The codec lets plain values through unchanged and everything else not at all."""

from __future__ import annotations

import collections
import json
import math
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from enum import Enum, IntEnum, StrEnum
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from runstate_lab import nouns
from runstate_lab.errors import Refusal, RevisionConflict
from runstate_lab.grading import codec
from runstate_lab.grading.codec import CodecError, Limits, Node, decode, encode, parse
from runstate_lab.grading.faults import HandleMisuse, refusal_classes
from runstate_lab.grading.nouns import book
from runstate_lab.model import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Claim,
    Decision,
    ExecutionContext,
    Fact,
    FirstError,
    Lease,
    NodeReport,
    NodeState,
    NodeStatus,
    Plan,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
    ToolCall,
    TurnState,
)
from runstate_lab.ownership import OWNERSHIP, field_owners
from runstate_lab.rules import RULES, SOURCE_TEXT
from runstate_lab.store import StateStore
from runstate_lab.trace import Diagnostic, Entry

FACT = Fact("build", "green", source="tool:get_status", authority="tool_executor", revision=2)
CALL = ToolCall(
    "c2", "deploy", (("release", "7"),), "deploy-7", 2, "c1", True, CallStatus.DISPATCHED
)
ASKED = Approval("a1", "deploy?", "rosa", "c2", CALL.digest, 3, 9)
NODE = NodeState("deploy", ("build",), NodeStatus.RUNNING, 1, 2, "rosa", "w1", 9)
STATE = RunState(
    "run-7",
    success=("build=green",),
    budget=Budget(max_turns=4),
    status=RunStatus.WAITING,
    turn=TurnState(1, "decided"),
    facts=(FACT,),
    calls=(CALL,),
    settled=("c1",),
    requests=(ASKED, Callback("k1", "ci")),
    grants=(("c2", CALL.digest),),
    nodes=(NODE,),
    driver=Lease("w1", 1, 9),
    waiting_for="pending_approval",
    first_error=FirstError("attempt", "c1", "no route", 3),
    revision=4,
)
EVENT = StateEvent("run_started", "runtime", "runtime", "", 0)
VALUES = (
    CALL,
    Decision("ship it", (CALL,), final=True),
    ASKED,
    Callback("k1", "ci"),
    Answer.to(ASKED, "run-7"),
    Lease("w1", 1, 9),
    Plan((NODE,)),
    Claim("deploy", "w1", 2, 9),
    NodeReport("deploy", 1, (("build", "green"),), "as told"),
)
PLAIN: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    -5,
    1,
    2**53,
    -(2**70),
    1.5,
    1.0,
    -0.0,
    math.inf,
    -math.inf,
    "",
    "发布 7",
    "half a pair \ud800",
    b"\x00\xff",
    [],
    [1, [2.0, (True,)]],
    (),
    ((),),
    {},
    {"build": {1: (2,)}, (1, "a"): None},
    set(),
    {1, "one"},
    frozenset({(RunStatus.QUEUED, RunStatus.RUNNING, "run_started")}),
    RunStatus.CANCELLED,
    FACT,
    STATE,
    *(StateProposal("some_kind", value, 4) for value in VALUES),
    EVENT,
    Diagnostic(3, "tool:scan", "took 4 ticks", "c3"),
    RevisionConflict("to write at revision 4", "revision 5", reason="too late"),
    Entry(EVENT, 1),
    Entry(EVENT, 0, RevisionConflict("to write", "revision 5")),
    OWNERSHIP,
    field_owners(),
)


class Number(int):
    """An integer that equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Items(list[int]):
    """A list of a student's own class."""


class Lying(list[int]):
    """A list that says it is empty."""

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Level(IntEnum):
    """Numbers with names."""

    HIGH = 3


class Choice(StrEnum):
    """Texts with names."""

    DROP = "drop"


class Pair(NamedTuple):
    """A tuple with names."""

    choice: str
    reason: str


class Words(str):
    """Text of a student's own class."""


class OwnState(RunState):
    """A state of a student's own class."""


def misfit() -> RunState:
    """A real RunState whose field was overwritten behind its back."""
    state = RunState("run-7")
    object.__setattr__(state, "revision", Number(1))
    return state


OPAQUE: tuple[object, ...] = (
    OwnState("run-7"),
    misfit(),
    object(),
    print,
    RunState,
    ExecutionContext("runtime", "runtime"),
    RULES.but("run_completed", conditions=()),
    RULES.row("run_started"),
    {object(): 1},
    iter(()),
    1j,
    Exception("x"),
)

# A subclass or a view, and the plain value that it crosses as.
UNDER: tuple[tuple[object, object], ...] = (
    (Number(1), 1),
    (Items([1]), [1]),
    (Words("green"), "green"),
    (Lying([1, 2]), [1, 2]),
    (Level.HIGH, 3),
    (Choice.DROP, "drop"),
    (Pair("drop", "c2"), ("drop", "c2")),
    (collections.OrderedDict(a=1), {"a": 1}),
    (collections.Counter("a"), {"a": 1}),
    (collections.defaultdict(list, a=[1]), {"a": [1]}),
    (types.MappingProxyType({"a": 1}), {"a": 1}),
    (collections.ChainMap({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
    (collections.UserDict(a=1), {"a": 1}),
    (collections.UserList([1]), [1]),
    (collections.UserString("green"), "green"),
    (collections.deque([1, 2]), [1, 2]),
    (range(3), [0, 1, 2]),
    ({"a": 1}.values(), [1]),
    ({"a": 1}.keys(), {"a"}),
    ({"a": 1}.items(), {("a", 1)}),
    ({Number(1)}, {1}),
    ({Choice.DROP: [Level.HIGH]}, {"drop": [3]}),
    (bytearray(b"x"), b"x"),
)

MALFORMED: tuple[tuple[Node, str], ...] = (
    ([], "malformed tree"),
    ([1], "malformed tree"),
    ([None, 1], "malformed tree"),
    (2**53, "malformed tree"),
    (["Q", 1], "unknown tag"),
    (["h", 1, "object", "x"], "unknown tag"),
    (["i", 5], "malformed scalar"),
    (["i", "5", "5"], "malformed scalar"),
    (["i", "green"], "malformed scalar"),
    (["i", "f" * 1026], "wider than 4096 bits"),
    (["f", "1e9999"], "malformed scalar"),
    (["b", "!"], "malformed scalar"),
    (["u", "//8="], "malformed scalar"),
    (["d", "key"], "a key too many"),
    (["d", "key", 1, "key", 2], "a key twice"),
    (["d", ["l"], 1], "a key that cannot be one"),
    (["s", 1, 1.0], "a key twice"),
    (["z", True, 1], "a key twice"),
    (["c"], "without a name"),
    (["c", ["l"]], "without a name"),
    (["c", "Popen", "id"], "not on the list"),
    (["c", "ExecutionContext", "runtime", "runtime", None], "not on the list"),
    (["c", "Fact", "build", "green"], "with 2 fields, not 7"),
    (["c", "Fact", "build", 1, "", "", None, 0, None], "whose value is a int"),
    (["c", "Fact", "", "green", "", "", None, 0, None], "its own class refuses"),
    (["c", "StateProposal", "run_started", "", True], "whose expected_revision is a bool"),
    (["c", "StateProposal", "run_started", ["l"], 0], "whose value is a list"),
    (["e", "RunStatus", "done"], "no member"),
    (["e", "RunStatus", ["l"]], "no member"),
    (["e", "RunStatus"], "not on the list"),
    (["e", "Signals", 9], "not on the list"),
    (["r", "MY_RULES"], "not on the list"),
    (["r", "RULES", 1], "not on the list"),
    (["x", "RevisionConflict", "skipped", "a", "b", "c"], "not on the list"),
    (["x", "SystemExit", "refused", "a", "b", "c"], "not on the list"),
    (["x", "RevisionConflict", "revision_conflict", "a", 1, "c"], "malformed refusal"),
    (["c", "Plan", ["t", 1]], "whose nodes is a tuple"),
    (["q", 1], "something else than entries"),
    (["q", ["t"], ["t", 1]], "something else than entries"),
)


def handle(value: object) -> Node:
    """What stands for an opaque value in these tests."""
    return ["h", type(value).__name__]


def through(value: object) -> object:
    """The value after a journey as bytes."""
    body = codec.frame(encode(value, handle))[codec.HEADER.size :]
    return decode(parse(body), codec.refuse_opaque, limits=Limits())


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_arrive_equal_and_with_equal_types(value: object) -> None:
    """What crosses by value is the same value of the same type on the other side."""
    arrived = through(value)

    assert repr(value) == repr(arrived)
    assert type(value) is type(arrived)
    assert value == arrived


def test_nan_arrives_as_nan() -> None:
    """The one float that is not equal to itself crosses, too."""
    assert math.isnan(through(math.nan))


def test_a_rules_table_crosses_by_its_name() -> None:
    """The table that arrives is our own, whatever its name was sent with."""
    assert [through(RULES) is RULES, through(SOURCE_TEXT) is SOURCE_TEXT] == [True, True]


def test_every_noun_of_the_book_crosses() -> None:
    """None of the frozen nouns, and none of their statuses, is forgotten."""
    public = [one for one in vars(nouns).values() if isinstance(one, type)]
    frozen = {one.__name__ for one in public if is_dataclass(one)}
    statuses = {one.__name__ for one in public if issubclass(one, Enum) and one is not StrEnum}
    shown = {name for name in frozen if any(name in repr(value) for value in PLAIN)}

    assert frozen == shown
    assert set() == frozen - set(book().values)
    assert statuses == set(book().members)


def test_a_trace_crosses_with_its_refusals_and_notes() -> None:
    """Accepted events, refusals and diagnostics of a store arrive in order."""
    store = StateStore(RunState("run-7"))
    door = store.context("runtime", "runtime")
    store.apply(StateProposal("run_started", "", 0), context=door)
    with pytest.raises(RevisionConflict):
        store.apply(StateProposal("run_started", "", 0), context=door)
    note = store.note("tool:scan", "took 4 ticks", correlation="c3")

    arrived = through(store.trace)

    assert list(store.trace) == list(arrived)
    assert store.trace.refused == arrived.refused
    assert [note] == list(arrived.diagnostics)


def test_every_refusal_of_the_book_crosses() -> None:
    """None of the classes in errors.py is forgotten."""
    sent = [known("to write", "revision 5") for known in refusal_classes()]

    assert sent == [through(refusal) for refusal in sent]
    assert 1 + len(Refusal.__subclasses__()) == len(sent)


@pytest.mark.parametrize("value", OPAQUE, ids=lambda value: type(value).__name__)
def test_what_is_not_plain_is_opaque(value: object) -> None:
    """A noun's subclass, a context, a changed table or an odd field never crosses by value."""
    assert handle(value) == encode(value, handle)


@pytest.mark.parametrize(("value", "expected"), UNDER, ids=lambda value: type(value).__name__)
def test_a_subclass_of_a_plain_type_crosses_as_its_base_value(
    value: object, expected: object
) -> None:
    """What arrives is exactly the value under the subclass, whatever the subclass says of itself."""
    arrived = through(value)

    assert codec.strictly_equal(expected, arrived)


@pytest.mark.parametrize(("tree", "words"), MALFORMED, ids=lambda one: str(one)[:40])
def test_a_malformed_tree_is_refused(tree: Node, words: str) -> None:
    """Each malformed tree is refused for its own reason."""
    with pytest.raises(CodecError, match=words):
        decode(tree, codec.refuse_opaque, limits=Limits())


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"{}", b'[{"a":1}]', b"NaN", b"[Infinity]", b"[" * 100_000, b"9" * 5000, b"1 2"],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_that_is_no_tree_is_refused(body: bytes) -> None:
    """JSON objects, bare NaN, deep nesting and cut-off text all end as CodecError."""
    with pytest.raises(CodecError):
        parse(body)


def test_the_limits_are_exact() -> None:
    """The last allowed value crosses, the next one does not."""
    limits = Limits(max_nodes=10, max_depth=3, max_int_bits=16, max_equal_hashes=2)
    nines, tens = ["l", *[0] * 9], ["l", *[0] * 10]
    deep, deeper = ["l", ["l", ["l", 0]]], ["l", ["l", ["l", ["l", 0]]]]
    prime = (1 << 61) - 1
    two = ["s", *[["i", format(n * prime, "x")] for n in (1, 2)]]
    three = ["s", *[["i", format(n * prime, "x")] for n in (1, 2, 3)]]
    wide = replace(limits, max_int_bits=128)

    assert [0] * 9 == decode(nines, codec.refuse_opaque, limits=limits)
    assert [[[0]]] == decode(deep, codec.refuse_opaque, limits=limits)
    assert {prime, 2 * prime} == decode(two, codec.refuse_opaque, limits=wide)
    for tree, bound in ((tens, limits), (deeper, limits), (two, limits), (three, wide)):
        with pytest.raises(CodecError):
            decode(tree, codec.refuse_opaque, limits=bound)


def test_sets_of_sets_whose_hashes_are_equal_have_two_levels() -> None:
    """Each level multiplies the comparisons: a third one is refused before it is built."""
    prime = (1 << 61) - 1
    atoms = [["i", format(5 + n * prime, "x")] for n in range(1, 9)]

    def but_one(items: list[Node]) -> list[Node]:
        return [["z", *(one for one in items if one is not left)] for left in items]

    two, three = ["s", *but_one(atoms)], ["s", *but_one(but_one(atoms))]

    assert 8 == len(decode(two, codec.refuse_opaque, limits=Limits()))  # type: ignore[arg-type]
    with pytest.raises(codec.TooLarge, match="too many equal hashes"):
        decode(three, codec.refuse_opaque, limits=Limits())


def test_a_list_that_holds_itself_is_refused() -> None:
    """Encoding ends, although the value does not."""
    loop: list[object] = []
    loop.append(loop)

    with pytest.raises(CodecError, match="nested too deeply"):
        encode(loop, handle)


EQUAL: tuple[tuple[object, object, bool], ...] = (
    (1, 1, True),
    (1, 1.0, False),
    (1, True, False),
    ("1", 1, False),
    ([1], (1,), False),
    ({1, 2}, frozenset({1, 2}), False),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}, True),
    ({"a": [1]}, {"a": [True]}, False),
    (RunStatus.QUEUED, "queued", False),
    (STATE, replace(STATE), True),
    (STATE, replace(STATE, revision=5), False),
    (math.nan, math.nan, True),
)


@pytest.mark.parametrize(("one", "other", "expected"), EQUAL, ids=repr)
def test_strict_equality_looks_at_types(one: object, other: object, expected: bool) -> None:
    """1.0 and True are not 1, a tuple is no list, a status is no text."""
    assert expected is codec.strictly_equal(one, other)
    assert expected is codec.strictly_equal(other, one)


def test_strict_equality_asks_no_object_of_its_own() -> None:
    """What equals everything by its own word is compared by value, or refused."""
    assert not codec.strictly_equal(Number(1), 2)
    with pytest.raises(HandleMisuse):
        codec.strictly_equal(object(), object())


REACHED: Counter[str] = Counter()

leaves = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False)
    | some.text(some.characters(codec=None))
    | some.binary()
    | some.sampled_from((math.inf, -math.inf, "\ud800", 2**70, RunStatus.QUEUED))
)
keys = some.recursive(leaves, lambda inner: some.lists(inner, max_size=3).map(tuple), max_leaves=4)
values = some.recursive(
    leaves,
    lambda inner: (
        some.lists(inner)
        | some.lists(inner).map(tuple)
        | some.dictionaries(keys, inner)
        | some.sets(keys)
        | some.frozensets(keys)
    ),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(values)
def every_value_survives(value: object) -> None:
    """Any plain value arrives as itself; counts the tags it used."""
    tree = encode(value, handle)
    REACHED.update(tag for tag in tags(tree))
    arrived = decode(json.loads(json.dumps(tree)), codec.refuse_opaque, limits=Limits())

    assert value == arrived
    assert codec.strictly_equal(value, arrived)


def tags(tree: Node) -> list[str]:
    """The tags used anywhere in a tree."""
    if type(tree) is not list:
        return ["bare"]
    return [str(tree[0]), *[tag for one in tree[1:] for tag in tags(one)]]


def test_a_hundred_values_survive_and_reach_every_plain_tag() -> None:
    """The search visits every tag of plain data, so its silence means something."""
    REACHED.clear()
    every_value_survives()

    assert {"bare", "l", "t", "d", "s", "z", "i", "u", "f", "b", "e"} <= set(REACHED)
