"""Floor 5. What the orders that were run so far have shown, counted.

What is not here: running them (see `search`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

from runstate_lab.exploration import Exploration, Failure, Outcome
from runstate_lab.laws import Law
from runstate_lab.race import moves


@dataclass
class Tally:
    """What the orders that were run so far have shown."""

    ends: Counter[tuple[object, frozenset[str]]] = field(default_factory=Counter)
    examples: dict[tuple[object, frozenset[str]], str] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    shortest: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)


def reading_order(schedule: str) -> tuple[int, int, str]:
    """How easy a schedule is to read: few moves first, then few changes of hands.

    >>> sorted(("ABAB", "AABB", "AB"), key=reading_order)
    ['AB', 'AABB', 'ABAB']
    """
    made = moves(schedule)
    hands = [move[0].upper() for move in made]
    return len(made), sum(map(str.__ne__, hands, hands[1:])), schedule


def snapshot(state: object) -> object:
    """What a state is now, as something that can be compared later and counted.

    Some stores change their state in place; what has no value of its own is
    taken down as text.

    >>> snapshot({"status": "running"})
    "{'status': 'running'}"
    """
    kind = type(state)
    if kind.__eq__ is object.__eq__ and hasattr(state, "__dict__"):
        return f"{kind.__name__} {vars(state)}"
    try:
        hash(state)
    except TypeError:
        return repr(state)
    return copy(state)


def told(
    tally: Tally, laws: tuple[Law, ...], *, reduced: bool = False, why: str = ""
) -> Exploration:
    """What the tally shows; counts are given where they are exact only.

    >>> told(Tally(), (), why="stopped after 0 orders")
    no law was asked for (stopped after 0 orders)
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
    )
