"""Machinery. Which steps of a run are shown, and which are folded into one row.

A step that a filter leaves out is not gone: it stands, with its neighbours, in
one row that says how many there are and that can be opened.

What is not here: how a row looks (see `timeline` and `runview`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from runstate_lab.live.runs.replays import Frame


@dataclass(frozen=True)
class Sieve:
    """What is left out: some sources, all but the rejected, idle steps, what lacks a text.

    >>> Sieve(rejected=True).words
    'rejected steps only'
    """

    hidden: Collection[str] = ()
    rejected: bool = False
    folds: bool = False
    search: str = ""

    def keeps(self, frame: Frame) -> bool:
        """Whether the step is shown; the start always is."""
        if frame.number == 0:
            return True
        return not (
            frame.source in self.hidden
            or (self.rejected and not frame.refused)
            or (self.folds and frame.idle)
            or (self.search.lower() not in frame.said.lower())
        )

    @property
    def words(self) -> str:
        """What the sieve does, in words; nothing when everything is shown."""
        told = [
            f"without {', '.join(self.hidden)}" if self.hidden else "",
            "rejected steps only" if self.rejected else "",
            "steps that changed nothing are folded" if self.folds else "",
            f"with the text {self.search!r}" if self.search else "",
        ]
        return ", ".join(filter(None, told))


@dataclass(frozen=True)
class Row:
    """One row of what is shown: a step, or several that are folded.

    `opened` is the row above the steps of a fold that was opened.

    >>> print(Row(3, 14))
    12 steps folded
    """

    first: int
    last: int
    folded: bool = True
    opened: bool = False

    def __str__(self) -> str:
        many = self.last - self.first + 1
        steps = "1 step" if many == 1 else f"{many} steps"
        return f"{steps} opened" if self.opened else f"{steps} folded"


def rows(frames: Sequence[Frame], sieve: Sieve, opened: Collection[int] = ()) -> tuple[Row, ...]:
    """The rows for a run; a fold is opened by the number of its first step.

    >>> rows((), Sieve())
    ()
    """
    return tuple(_rows(frames, sieve, opened))


def _rows(frames: Sequence[Frame], sieve: Sieve, opened: Collection[int]) -> Iterator[Row]:
    for shown, run in groupby(frames, key=sieve.keeps):
        numbers = [frame.number for frame in run]
        if not shown:
            is_open = numbers[0] in opened
            yield Row(numbers[0], numbers[-1], opened=is_open)
            if not is_open:
                continue
        yield from (Row(number, number, folded=False) for number in numbers)


def place(shown: Sequence[Row], number: int) -> int:
    """Which row a step stands in.

    >>> place((Row(0, 0, folded=False), Row(1, 9)), 4)
    1
    """
    return next(
        index
        for index, row in enumerate(shown)
        if row.first <= number <= row.last and not row.opened
    )
