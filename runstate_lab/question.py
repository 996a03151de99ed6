"""Floor 5. What is explored, and how far a search may go.

What is not here: the search (see `search`, `spaces`), and arguments that make
no sense at all (see `arguments`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runstate_lab.errors import OrderRefused
from runstate_lab.laws import Law
from runstate_lab.line import FAULTS
from runstate_lab.race import CRASH, Race, Worker, check_names
from runstate_lab.store import StateStore

LONGEST = 200
MOST = 200_000


@dataclass(frozen=True, slots=True)
class Question:
    """What is explored: workers, a factory of stores, laws, faults and bounds.

    `most` bounds the orders that are run, those that fail among them. One order
    may take 200 moves: a longer one is told as endless, though it may be honest
    work that is too long to be explored.

    >>> Question({"A": len}, list, most=0)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked most to be a whole number from 1, found 0
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """

    workers: Mapping[str, Worker]
    store: Callable[[], StateStore]
    invariants: tuple[Law, ...] = ()
    at_end: tuple[Law, ...] = ()
    faults: str = ""
    reduced: bool = False
    most: int = MOST

    def __post_init__(self) -> None:
        check_names(self.workers)
        names = [getattr(law, "__name__", "") for law in self.laws]
        if {"", "<lambda>"} & set(names) or len(names) != len(set(names)):
            given = ", ".join(getattr(law, "__name__", "") or repr(law) for law in self.laws)
            raise OrderRefused("laws with a name of their own (use def)", given)
        if set(self.faults) - set(FAULTS):
            raise OrderRefused(f"the faults {self.faults!r}", f"only {' '.join(FAULTS)}")
        if type(self.most) is not int or self.most < 1:
            raise OrderRefused("most to be a whole number from 1", repr(self.most))

    @property
    def laws(self) -> tuple[Law, ...]:
        """All laws, those of every move first."""
        return self.invariants + self.at_end

    def faulty(self, race: Race) -> list[str]:
        """The open moves with a fault; a crash before the first step changes nothing."""
        made = Counter(mark for step in race.log for mark in step.move[1:])
        left = Counter(self.faults) - made
        begun: set[str] = set()
        for step in race.log:
            if step.ended != "delivered":
                (begun.discard if step.ended == "crashed" else begun.add)(step.worker)
        return [
            name + mark
            for name in filter(str.isupper, race.enabled)
            for mark in left
            if mark != CRASH or name in begun
        ]
