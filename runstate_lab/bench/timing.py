"""Turns taken: contenders run A B C A B C, so that noise hits all alike.

Ratios come from pairs of slices of one round, and are medians over rounds;
the lowest and the highest round are told beside each median.
Where a disk takes part, a round is run again when the control shows that a
sync waited for the scheduler: then every contender would look the same.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

from runstate_lab.bench.rows import Aim, Line

SLOWEST_SYNC = 0.001
TRIES = 4
SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class Slice:
    """What one contender did in one round; `middle` is its median time for one, if taken."""

    count: int
    seconds: float
    middle: float = 0.0

    @property
    def rate(self) -> float:
        """How many a second; by the median where there is one, which a busy core hardly moves."""
        return 1 / self.middle if self.middle else self.count / self.seconds


Contender = Callable[[], Slice]


@dataclass(frozen=True)
class Rounds:
    """The slices of all contenders, round by round, and how many rounds were noisy."""

    slices: Mapping[str, tuple[Slice, ...]]
    noisy: int = 0

    def line(self, name: str, unit: str, *, more: str = "") -> Line:
        """The median rate of a contender, with its spread."""
        rates = [one.rate for one in self.slices[name]]
        return Line(name, median(rates), unit, more, spread(rates))

    def aim(self, words: str, wanted: float, name: str, base: str, *, why: str = "") -> Aim:
        """How many times the base's rate, round by round; not measured without the base."""
        if base not in self.slices or name not in self.slices:
            return Aim(words, wanted, None, why=why)
        pairs = zip(self.slices[name], self.slices[base], strict=True)
        ratios = [one.rate / other.rate for one, other in pairs]
        return Aim(words, wanted, median(ratios), why=why, spread=spread(ratios))

    @property
    def notes(self) -> tuple[str, ...]:
        """A word of warning, where the disk never calmed down."""
        if not self.noisy:
            return ()
        total = len(next(iter(self.slices.values())))
        return (
            f"in {self.noisy} of {total} rounds a sync took more than 1 ms (busy cores): "
            "ratios lean towards 1",
        )


def interleave(
    contenders: Mapping[str, Contender],
    *,
    rounds: int,
    control: str | None = None,
    slowest: float = SLOWEST_SYNC,
) -> Rounds:
    """The slices of some rounds, after one to warm up; `control` is whose syncs must be quick."""
    for contender in contenders.values():
        contender()
    gc.collect()
    gc.freeze()
    try:
        played = [_round(contenders, control, slowest) for _ in range(rounds)]
    finally:
        gc.unfreeze()
    slices = {name: tuple(seen[name] for seen, _ in played) for name in contenders}
    return Rounds(slices, sum(not calm for _, calm in played))


def spread(found: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest."""
    return min(found), max(found)


def timed(count: int, work: Callable[[], object]) -> Slice:
    """The slice of a piece of work in memory that does so many at once.

    Counted is the time that the processor worked, in all threads: what a wait
    would be on an idle machine.
    """
    started = process_time()
    work()
    return Slice(count, max(process_time() - started, SHORTEST))


def timed_each(steps: Iterable[object]) -> Slice:
    """The slice of steps taken one by one, with the median time of a step."""
    times: list[float] = []
    before = perf_counter()
    for _ in steps:
        now = perf_counter()
        times.append(now - before)
        before = now
    return Slice(len(times), sum(times), median(times))


def _round(
    contenders: Mapping[str, Contender], control: str | None, slowest: float
) -> tuple[dict[str, Slice], bool]:
    for _ in range(TRIES):
        seen: dict[str, Slice] = {}
        for name, contender in contenders.items():
            gc.collect()
            seen[name] = contender()
        if control is None or seen[control].middle <= slowest:
            return seen, True
    return seen, False
