"""Machinery. Where the lanes and the columns of a board's picture are.

What is not here: what stands in them (see `boardmarks`).
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, LEFT, RIGHT, FIRST = 800, 132, 786, 200
TOP, APART, DOOR, FOOT = 56, 74, 82, 68
FEW, MANY = 6, 7
ABOVE, BELOW = -1, 1


@dataclass(frozen=True)
class Layout:
    """Where the lanes and the columns of a board are.

    >>> layout = Layout(("A", "B"))
    >>> layout.size, layout.lane("A"), layout.store, layout.lane("B")
    ((800, 288), 56, 138, 220)
    >>> Layout(("A", "B", "C", "D")).size
    (800, 436)
    """

    workers: tuple[str, ...]
    columns: int = FEW

    @property
    def upper(self) -> tuple[str, ...]:
        """The workers whose lanes are above the store's."""
        return self.workers[: (len(self.workers) + 1) // 2]

    @property
    def store(self) -> int:
        """The height of the store's lane."""
        return TOP + APART * (len(self.upper) - 1) + DOOR

    @property
    def apart(self) -> int:
        """How far the middles of two columns are from each other."""
        return {FEW: 102, MANY: 88}[self.columns]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole picture."""
        lower = len(self.workers) - len(self.upper)
        last = self.store + (DOOR + APART * (lower - 1) + FOOT if lower else FOOT + 6)
        return WIDTH, last

    def lane(self, worker: str) -> int:
        """The height of a worker's lane."""
        place = self.workers.index(worker)
        if worker in self.upper:
            return TOP + APART * place
        return self.store + DOOR + APART * (place - len(self.upper))

    def side(self, worker: str) -> int:
        """Which side of the store a worker is on."""
        return ABOVE if worker in self.upper else BELOW

    def hue(self, worker: str) -> str:
        """The letter of the colour of a worker, one of four."""
        return "ABCD"[self.workers.index(worker) % 4]

    def place(self, number: int) -> int:
        """The middle of the column with that number in the window."""
        return FIRST + (number - 1) * self.apart


def window(newest: int, at: int, layout: Layout) -> range:
    """The numbers of the columns to show, so that the step shown is among them.

    >>> window(4, 4, Layout(("A", "B"))), window(9, 9, Layout(("A", "B")))
    (range(1, 7), range(4, 10))
    """
    last = min(max(at + 1, layout.columns), max(newest, layout.columns))
    return range(last - layout.columns + 1, last + 1)
