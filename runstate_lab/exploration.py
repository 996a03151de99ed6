"""Floor 5. What all the orders together show; a count is exact or it is not given.

What is not here: how the orders are run (see `search`, `spaces`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Outcome:
    """One final state, in how many orders it came about, and which laws they broke.

    `count` and `share` are None where the search was reduced; `schedule` is
    one short order that ends there.
    """

    state: object
    count: int | None
    share: float | None
    broken: tuple[str, ...]
    schedule: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that is wrong with the code under test, not with an order.

    `kind` is "raised", "endless", "stuck", "never yields", "not the same
    twice", "store shared" or "law"; `schedule` is the shortest way to it.
    """

    kind: str
    who: str
    schedule: str
    words: str

    def __str__(self) -> str:
        when = f"after {self.schedule}" if self.schedule else "before any move"
        return f"{self.who} {when}: {self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class Exploration:
    """What all the orders together show.

    `schedules` is the exact number of orders, or None where it is not known:
    the search was reduced, was stopped, or met a failure. `runs` is how many
    orders were run in fact. `broken` counts the orders that break each law,
    `refused` those with a refusal of each code, heard or not; `shortest` holds for each
    broken law the schedule with the fewest moves, then the fewest changes of
    hands, that breaks it; `tokens` the same as text that `play` runs again.
    Where a search was stopped, met a failure, or was reduced and had no room to
    look for shorter ones, each of these is a short order only, and
    `surely_shortest` says no.
    Tables are not run order by order: `states` is how many places were met;
    `note` says why a search that could not be reduced was run whole.

    >>> Exploration(schedules=20, runs=20, broken={"no_lost_update": 18})
    20 orders, 18 break no_lost_update
    >>> Exploration(schedules=None, runs=6, reduced=True, broken={"no_lost_update": 4})
    some orders break no_lost_update (reduced: 6 orders stand for all)
    """

    schedules: int | None
    runs: int
    outcomes: tuple[Outcome, ...] = ()
    broken: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    shortest: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    reduced: bool = False
    stopped: str = ""
    states: int | None = None
    note: str = ""
    surely_shortest: bool = True

    @property
    def holds(self) -> bool:
        """Whether every law held in every order, and nothing failed or was left out."""
        return not (self.failures or self.stopped or any(self.broken.values()))

    def __repr__(self) -> str:
        if self.failures:
            return "\n".join(["no count, because of failures:", *map(str, self.failures)])
        if self.schedules is None:
            return self._verdicts()
        parts = [f"{self.schedules} orders"]
        parts += [f"{count} break {name}" for name, count in self.broken.items()]
        parts += [f"{count} report {code}" for code, count in self.refused.items()]
        return ", ".join(parts) + (f" ({self.note})" if self.note else "")

    def _verdicts(self) -> str:
        met = f"{self.runs} orders" if self.states is None else f"{self.states} places"
        run = f"none of {met} run broke" if self.stopped else "no order breaks"
        parts = [
            f"{'some orders break' if count else run} {name}" for name, count in self.broken.items()
        ]
        parts += [f"some report {code}" for code in self.refused]
        why = self.stopped or f"reduced: {met} stand for all"
        why += f"; {self.note}" if self.note else ""
        if not self.broken:
            parts.append("no law was asked for")
            return f"{why}; {', '.join(parts)}"
        return f"{', '.join(parts)} ({why})"
