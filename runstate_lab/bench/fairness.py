"""How the writers of one run shared it, from when each write was acknowledged.

Counted is what happens while all are at work: the first writes of the one
that was told to go first, and the last of the one that ended last, are left
out. Starting Python is no part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from runstate_lab.bench.timing import Slice


@dataclass(frozen=True)
class Report:
    """What a writer did, in seconds of the clock that all processes share."""

    began: float
    ended: float
    acknowledged: tuple[float, ...]
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class Share(Slice):
    """What the writers of one round did together: how fairly, and how long one waited."""

    fairness: float = 1.0
    longest: float = 0.0
    conflicts: int = 0

    @property
    def rate(self) -> float:
        """How many a second; one and two writers are counted alike, not by a median."""
        return self.count / self.seconds


def shared(reports: Sequence[Report]) -> Share:
    """What was acknowledged while all were at work; who gets nothing waits all the time.

    >>> early, late = Report(0, 4, (1, 2, 3, 4)), Report(2, 6, (5, 6))
    >>> share = shared([early, late])
    >>> share.count, share.seconds, share.fairness, share.longest
    (2, 2, 0.0, 2)
    """
    began, ended = max(one.began for one in reports), min(one.ended for one in reports)
    inside = [[at for at in one.acknowledged if began < at <= ended] for one in reports]
    counts = [len(times) for times in inside]
    waits = [[later - at for at, later in pairwise((began, *times, ended))] for times in inside]
    return Share(
        sum(counts),
        ended - began,
        median(waits[0][:-1] or waits[0]) if len(reports) == 1 else 0.0,
        fairness=min(counts) / max(*counts, 1),
        longest=max(map(max, waits)),
        conflicts=sum(one.conflicts for one in reports),
    )
