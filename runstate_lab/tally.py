"""Floor 5. What the orders that were run so far have shown, counted.

What is not here: running them (see `search`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from enum import Enum
from operator import attrgetter

from runstate_lab.exploration import Exploration, Failure, Outcome
from runstate_lab.laws import Law
from runstate_lab.model import RunState
from runstate_lab.race import Race, moves
from runstate_lab.snapshots import PLAIN, canonical

SHOWN = (
    "what the last of them touched",
    "what the last of them said",
    "how the last of them ended",
    "which moves were open then",
)
PARTS = attrgetter(*(each.name for each in fields(RunState)))


@dataclass
class Tally:
    """What the orders that were run so far have shown."""

    ends: Counter[tuple[object, frozenset[str]]] = field(default_factory=Counter)
    examples: dict[tuple[object, frozenset[str]], str] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    shortest: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)

    def breaks(self, law: str, made: Sequence[str]) -> None:
        """Keep the moves if none that break the law are easier to read."""
        schedule = "".join(made)
        self.shortest[law] = min(
            self.shortest.get(law, schedule), schedule, key=reading_order
        )

    def fail(self, kind: str, who: str, made: Sequence[str], words: str) -> None:
        """Keep a failure if none of this kind and worker is easier to read."""
        schedule = "".join(made)
        known = self.failures.get((kind, who))
        if known is None or reading_order(schedule) < reading_order(known.schedule):
            self.failures[kind, who] = Failure(kind, who, schedule, words)


def reading_order(schedule: str) -> tuple[int, int, str]:
    """How easy a schedule is to read: few moves first, then few changes of hands.

    >>> sorted(("ABAB", "AABB", "AB"), key=reading_order)
    ['AB', 'AABB', 'ABAB']
    """
    made = moves(schedule)
    hands = [move[0].upper() for move in made]
    return len(made), sum(map(str.__ne__, hands, hands[1:])), schedule


def snapshot(state: object) -> object:
    """What a state is now, as something that can be compared later.

    Some stores change their state in place, and values that hold the same are
    not always equal: so the parts are taken down, in an order of their own.

    >>> snapshot({"status": "running", "facts": {1}}) == snapshot({"facts": {1}, "status": "running"})
    True
    """
    if type(state) is RunState:
        parts = PARTS(state)
        try:
            hash(parts)
        except TypeError:
            return canonical(state)
        return parts
    return canonical(state)


def observed(race: Race) -> tuple[object, ...]:
    """What the last move of a race has shown, as something to compare.

    >>> from runstate_lab.laws import idle
    >>> race = idle()
    >>> race.step("A")
    >>> observed(race)
    ((), None, '', ('A',))
    """
    step = race.log[-1]
    touches = tuple(
        (one.verb, one.revision if type(one.revision) is int else canonical(one.revision), one.code)
        for one in step.touches
    )
    return touches, step.said and canonical(step.said), step.ended, race.enabled


def unlike(first: object, then: object) -> str:
    """In words, where two observations of the same move differ.

    >>> unlike(((), None, "", ("A",)), ((), None, "done", ()))
    "how the last of them ended: first '', then 'done'"
    """
    for name, one, other in zip(SHOWN, first, then, strict=True):  # type: ignore[call-overload]
        if one != other:
            return f"{name}: first {one!r:.80}, then {other!r:.80}"
    return "the same moves ended elsewhere"


def shown(state: object) -> object:
    """A state as an outcome shows it: itself where it cannot change, else its text.

    >>> shown((1, 2)), shown([1, 2])
    ((1, 2), '[1, 2]')
    """
    return copy(state) if frozen(state) else canonical(state)


def frozen(value: object) -> bool:
    """Whether a value, and all that it holds, stays as it is.

    >>> frozen((1, "build", None)), frozen((1, ["build"])), frozen(RunState("run-7"))
    (True, False, True)
    """
    kind = type(value)
    if kind in PLAIN:
        return value == value  # noqa: PLR0124 - one number is not
    if isinstance(value, Enum):
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(frozen, value))
    settings = getattr(kind, "__dataclass_params__", None)
    return bool(settings and settings.frozen and settings.eq) and all(
        frozen(getattr(value, each.name)) for each in fields(kind)
    )


def told(
    tally: Tally,
    laws: tuple[Law, ...],
    *,
    reduced: bool = False,
    why: str = "",
    shortest: bool = True,
) -> Exploration:
    """What the tally shows; counts are given where they are exact only.

    >>> told(Tally(), (), why="stopped after 2 orders")
    stopped after 2 orders; no law was asked for
    """
    runs = tally.ends.total()
    exact = not (reduced or tally.failures or why)
    outcomes = tuple(
        Outcome(
            state,
            count if exact else None,
            count / runs if exact else None,
            tuple(law.__name__ for law in laws if law.__name__ in broken),
            tally.examples[state, broken],
        )
        for (state, broken), count in tally.ends.most_common()
    )
    known: Callable[[int], int] = int if exact else bool
    return Exploration(
        runs if exact else None,
        runs,
        outcomes,
        {law.__name__: known(tally.broken[law.__name__]) for law in laws},
        {code: known(count) for code, count in tally.refused.items()},
        tally.shortest,
        failures=tuple(tally.failures.values()),
        reduced=reduced,
        stopped=why,
        surely_shortest=shortest and not (tally.failures or why),
    )
