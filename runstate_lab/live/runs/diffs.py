"""Machinery. What is different between two states, and one made from the other.

A difference lists changed fields only. Fields that are tuples are told by
their elements (added, removed, changed), each under a name: the key of a fact,
the id of a call. Patching the older state with the changes gives the newer
one, exactly.

What is not here: who made a change (see `lens`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import SequenceMatcher

from runstate_lab.live.faults import Askew
from runstate_lab.model import (
    TUPLES,
    Approval,
    Budget,
    Callback,
    Fact,
    FirstError,
    Lease,
    NodeState,
    RunState,
    ToolCall,
    TurnState,
)

Parts = tuple[tuple[str, str], ...]
NAMED_BY = {
    Fact: "key",
    ToolCall: "call_id",
    Approval: "request_id",
    Callback: "request_id",
    NodeState: "name",
}
FIELDS = tuple(one.name for one in fields(RunState))
FEW = 6
NOTHING = "none"
SET, ADDED, REMOVED, CHANGED = "set", "added", "removed", "changed"


@dataclass(frozen=True)
class Change:
    """One difference: the field, the element inside if it is a tuple, old and new.

    `place` is where the element stands: in the older state if it was removed,
    in the newer one otherwise.

    >>> print(Change("status", SET, "queued", "running"))
    status: queued → running
    """

    field: str
    how: str
    old: object = None
    new: object = None
    element: str = ""
    place: int = 0

    def __str__(self) -> str:
        name = f"{self.field} {self.element}".strip()
        if self.how == ADDED:
            return f"{name}: added {short(self.new)}"
        if self.how == REMOVED:
            return f"{name}: removed {short(self.old)}"
        return f"{name}: {contrast(self.old, self.new)}"


def diff(before: RunState, after: RunState) -> tuple[Change, ...]:
    """What must change in the one state so that it becomes the other.

    >>> one = RunState("run-7")
    >>> two = replace(one, facts=(Fact("build", "green"),), step=1)
    >>> [str(change) for change in diff(one, two)]
    ['step: 0 → 1', 'facts build: added build=green']
    >>> diff(one, one), patch(one, diff(one, two)) == two
    ((), True)
    """
    for state in (before, after):
        if not isinstance(state, RunState):
            raise Askew("a difference", f"a {type(state).__name__}", "give two run states")
    found: list[Change] = []
    for name in FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old is new or old == new:
            continue
        if name in TUPLES:
            found.extend(_elementwise(name, old, new))
        else:
            found.append(Change(name, SET, old, new))
    return tuple(found)


def patch(before: RunState, changes: Iterable[Change]) -> RunState:
    """The state that the changes lead to; they must be about exactly this state.

    >>> patch(RunState("run-7"), [Change("step", SET, 4, 5)])
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked to change step from 4, found 0
    hint: patch the state that the difference was made from
    """
    written: dict[str, object] = {}
    by_field: dict[str, list[Change]] = {}
    for change in changes:
        by_field.setdefault(change.field, []).append(change)
    for name, about in by_field.items():
        if name not in FIELDS:
            raise Askew(f"to change {name}", "no such field", f"name one of {', '.join(FIELDS)}")
        now = getattr(before, name)
        if name in TUPLES:
            written[name] = _patched(name, now, about)
        else:
            written[name] = _met(about[-1], now)
    return replace(before, **written)


def names(values: Iterable[object]) -> tuple[str, ...]:
    """A name for each element of a tuple; the second of a name is `name#2`.

    >>> names((Fact("build", "red"), Fact("build", "green"), ToolCall("c1", "scan")))
    ('build', 'build#2', 'c1')
    """
    seen: Counter[str] = Counter()
    given = []
    for value in values:
        name = _name(value)
        seen[name] += 1
        given.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(given)


def parts(value: object) -> Parts:
    """All that a value says, as names and texts; what it does not say is left out.

    >>> parts(FirstError("attempt", "c1", "", 5))
    (('level', 'attempt'), ('name', 'c1'), ('revision', '5'))
    >>> parts(None)
    (('', 'none'),)
    """
    if not is_dataclass(value):
        return (("", _plain(value)),)
    said = ((one.name, _plain(getattr(value, one.name), "")) for one in fields(value))
    return tuple((name, words) for name, words in said if words)


def contrast(old: object, new: object) -> str:
    """The parts in which two values differ, old and new.

    >>> contrast(ToolCall("c1", "deploy"), ToolCall("c1", "deploy", attempt=2))
    'attempt 1 → 2'
    >>> contrast(None, Lease("w1", 1, 10))
    'none → w1, reign 1 until tick 10'
    """
    was, now = dict(parts(old)), dict(parts(new))
    if "" in was or "" in now:
        return f"{short(old)} → {short(new)}"
    told = [
        f"{name} {was.get(name, NOTHING)} → {now.get(name, NOTHING)}"
        for name in dict.fromkeys((*was, *now))
        if was.get(name) != now.get(name)
    ]
    return "; ".join(told)


def short(value: object) -> str:
    """A value of a state in a few words.

    >>> short(NodeState("deploy", worker="w1", attempt=1)), short(()), short(Budget())
    ('pending, attempt 1, w1', 'none', 'no limit')
    """
    match value:
        case ToolCall():
            return f"{value.tool}({_plain(value.arguments, '')}) {value.status}"
        case Approval():
            return f"{value.approver} is asked: {value.question}"
        case Callback():
            return f"{value.service} will call back"
        case NodeState():
            tries = f"attempt {value.attempt}" if value.attempt else ""
            said = (
                value.status,
                tries,
                value.worker,
                value.reason,
                _plain(value.writes, ""),
            )
            return ", ".join(filter(None, said))
        case Lease():
            return f"{value.holder}, reign {value.epoch} until tick {value.until}"
        case Budget():
            return ", ".join(f"{name} {text}" for name, text in parts(value)) or "no limit"
        case TurnState():
            return f"{value.number}, {value.phase}" + (", final" if value.final else "")
        case Fact() | FirstError():
            return str(value)
    return _plain(value)


def several(values: Iterable[object]) -> str:
    """What stands in a tuple, by name; of a long one the newest.

    >>> several(f"c{number}" for number in range(9))
    '9 entries, the newest c8'
    """
    inside = names(values)
    if len(inside) > FEW:
        return f"{len(inside)} entries, the newest {inside[-1]}"
    return ", ".join(inside) or "none"


def _plain(value: object, nothing: str = "none") -> str:
    match value:
        case None | () | "":
            return nothing
        case bool():
            return "yes" if value else "no"
        case tuple() if all(isinstance(one, tuple) for one in value):
            return ", ".join("=".join(map(str, one)) for one in value)
        case tuple():
            return ", ".join(map(str, value))
    return str(value)


def _name(value: object) -> str:
    by = NAMED_BY.get(type(value))
    if by is not None:
        return str(getattr(value, by))
    return str(value[0]) if isinstance(value, tuple) and value else str(value)


def _elementwise(
    field: str, before: tuple[object, ...], after: tuple[object, ...]
) -> Iterator[Change]:
    was, now = names(before), names(after)
    kept = dict(_kept(was, now))
    stayed = set(kept.values())
    for place, old in enumerate(before):
        if place not in kept:
            yield Change(field, REMOVED, old, None, was[place], place)
        elif after[kept[place]] != old:
            yield Change(field, CHANGED, old, after[kept[place]], was[place], kept[place])
    for place, new in enumerate(after):
        if place not in stayed:
            yield Change(field, ADDED, None, new, now[place], place)


def _kept(was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The places, in both, of the elements that stay in their order."""
    same, shorter = 0, min(len(was), len(now))
    while same < shorter and was[same] == now[same]:
        same += 1
    yield from ((place, place) for place in range(same))
    matcher = SequenceMatcher(None, was[same:], now[same:], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            yield same + block.a + step, same + block.b + step


def _patched(field: str, now: tuple[object, ...], about: list[Change]) -> tuple[object, ...]:
    elements = list(now)
    gone = sorted((one for one in about if one.how == REMOVED), key=lambda one: -one.place)
    for change in gone:
        _met(change, elements.pop(change.place) if change.place < len(elements) else None)
    for change in sorted((one for one in about if one.how == ADDED), key=lambda one: one.place):
        elements.insert(change.place, change.new)
    for change in about:
        if change.how == CHANGED:
            found = elements[change.place] if change.place < len(elements) else None
            _met(change, found)
            elements[change.place] = change.new
    return tuple(elements)


def _met(change: Change, found: object) -> object:
    if found != change.old:
        name = f"{change.field} {change.element}".strip()
        asked = f"to change {name} from {short(change.old)}"
        raise Askew(asked, short(found), "patch the state that the difference was made from")
    return change.new
