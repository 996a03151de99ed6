"""Every order of some workers, found without the kit's search: by walking, one move further.

It knows a race only: which moves are open, what a move does, which laws hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from runstate_lab.errors import OrderRefused
from runstate_lab.laws import Law
from runstate_lab.race import Race, Worker
from runstate_lab.store import StateStore


@dataclass
class Walked:
    """What walking every order has shown."""

    orders: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    ends: set[tuple[object, frozenset[str]]] = field(default_factory=set)
    breaking: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)


def walked(
    workers: Mapping[str, Worker],
    store: Callable[[], StateStore],
    invariants: tuple[Law, ...],
    at_end: tuple[Law, ...] = (),
    faults: str = "",
) -> Walked:
    """Counts over all orders; `breaking` holds every prefix that breaks a law for the first time."""
    found = Walked()

    def race_after(moves: tuple[str, ...]) -> Race:
        race = Race(workers, store())
        for move in moves:
            race.step(move, watched=False)
        return race

    def further(made: tuple[str, ...], race: Race, broken: frozenset[str]) -> None:
        ways = list(open_moves(made, race, faults))
        laws = invariants if ways else invariants + at_end
        fresh = {law.__name__ for law in laws if not law(race)} - broken
        for name in fresh:
            found.breaking.setdefault(name, set()).add(made)
        broken = broken | fresh
        if not ways:
            found.orders += 1
            found.broken.update(broken)
            found.refused.update(codes(race))
            found.ends.add((race.store.load(), broken))
        for move in ways:
            try:
                after = race_after((*made, move))
            except OrderRefused:
                # A mark that hits no proposal is no order of its own.
                continue
            further((*made, move), after, broken)

    further((), race_after(()), frozenset())
    return found


def codes(race: Race) -> set[str]:
    """The code of every refusal: heard by its worker, handled by it, or met by mail."""
    met = {touch.code for step in race.log for touch in step.touches if touch.code}
    return met | {one.code for one in race.refusals.values()}


def open_moves(made: tuple[str, ...], race: Race, faults: str) -> Iterator[str]:
    """Each open move, plain and with each mark that is left."""
    used = "".join(move[1:] for move in made)
    for move in race.enabled:
        yield move
        for mark in sorted(set(faults)) if move.isupper() else ():
            if used.count(mark) >= faults.count(mark):
                continue
            mine = [one for one in made if one[0] == move]
            if mark != "!" or (mine and mine[-1] != move + "!"):
                yield move + mark
