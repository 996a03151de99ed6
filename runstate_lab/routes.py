"""Floor 5. The shortest schedule to a place of some tables, and the easiest to read of those.

Fewest moves first, then fewest changes of hands. Where one place stands for
all that differ in who is who, the schedule is made for real workers again.

What is not here: which places to go to (see `spaces`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from runstate_lab.places import MASK, Reached, TooMany

Hand = tuple[int, int]
Onward = dict[Hand, int]


class Routes:
    """The ways through everything that was reached.

    >>> from runstate_lab.places import Space
    >>> from runstate_lab.tables import register_writers
    >>> reached = Reached(Space(list(register_writers(2, 1).values()), 0))
    >>> lost = [at for at in reached.ends if reached.space.shared(reached.nodes[at]) == 1]
    >>> Routes(reached, "AB").best(lost)[0]
    'AABBBA'
    """

    def __init__(self, reached: Reached, names: Sequence[str]) -> None:
        self._reached = reached
        self._space = reached.space
        self._names = names

    def best(self, goals: Iterable[int]) -> tuple[str, int]:
        """The schedule to the nearest of these places, and the place it really leads to."""
        depths, order = self._far
        reachable = list(goals)
        nearest = min(depths[at] for at in reachable)
        costs: dict[int, Onward] = {at: {} for at in reachable if depths[at] == nearest}
        for at in reversed(order):
            if depths[at] < nearest and at not in costs:
                onward = self._onward(at, costs)
                if onward:
                    costs[at] = onward
        return self._walk(costs)

    def first(self, at: int) -> str:
        """The schedule by which the search came to a place first."""
        path = [at]
        while path[-1]:
            path.append(self._reached.parents[path[-1]])
        return self.along(path[::-1])[0]

    def along(self, path: Sequence[int], node: int | None = None) -> tuple[str, int]:
        """The schedule from place to place, from the start or from a real place, and its end."""
        schedule = ""
        node = self._flagged(self._space.start, path[0]) if node is None else node
        for wanted in path[1:]:
            position, length, node = next(
                move for move in self._space.moves(node) if self._number(move[2]) == wanted
            )
            node = self._flagged(node, wanted)
            schedule += self._names[position] * length
        return schedule, node

    @cached_property
    def _far(self) -> tuple[list[int], list[int]]:
        """How many letters each place is away, and all places from near to far."""
        depths, order = [-1] * len(self._reached.nodes), []
        waiting = [[0]]
        for depth, now in enumerate(waiting):
            for at in now:
                if depths[at] >= 0:
                    continue
                depths[at] = depth
                order.append(at)
                for _, length, _, after in self._steps(at):
                    while len(waiting) <= depth + length:
                        waiting.append([])
                    if depths[after] < 0:
                        waiting[depth + length].append(after)
        return depths, order

    def _steps(self, at: int) -> Iterator[tuple[int, int, int, int]]:
        moves = self._space.moves(self._reached.nodes[at])
        for (position, length, node), after in zip(moves, self._reached.after(at), strict=False):
            yield position, length, node, after

    def _onward(self, at: int, costs: dict[int, Onward]) -> Onward:
        """How many changes of hands are needed from here, by the hand that moves first."""
        onward: Onward = {}
        for position, length, node, after in self._steps(at):
            if after in costs and self._far[0][after] == self._far[0][at] + length:
                hand = self._hand(self._reached.nodes[at], position)
                changes = _changes(costs[after], self._hand(node, position))
                onward[hand] = min(onward.get(hand, changes), changes)
        return onward

    def _walk(self, costs: dict[int, Onward]) -> tuple[str, int]:
        schedule, last, at, node = "", -1, 0, self._space.start
        node = self._flagged(node, at)
        while costs[at]:
            choices = []
            for position, length, after_node in self._space.moves(node):
                after = self._number(after_node)
                if after in costs and self._far[0][after] == self._far[0][at] + length:
                    changes = _changes(costs[after], self._hand(after_node, position))
                    changes += last not in (-1, position)
                    choices.append((changes, position, length, after, after_node))
            _, last, length, at, node = min(choices)
            node = self._flagged(node, at)
            schedule += self._names[last] * length
        return schedule, node

    def _number(self, node: int) -> int:
        try:
            return self._reached.at(node)
        except TooMany:
            return -1

    def _hand(self, node: int, position: int) -> Hand:
        """Who moves: a worker, or in a reduced search whoever of the alike is at that value."""
        space = self._space
        if space.reduced:
            return space.kinds[position], node >> space.shifts[position] & MASK
        return position, 0

    def _flagged(self, node: int, at: int) -> int:
        top = self._space.top
        return node & ((1 << top) - 1) | self._reached.broken(at) << top


def _changes(onward: Onward, hand: Hand) -> int:
    if not onward:
        return 0
    fewest = 1 + min(onward.values())
    return min(onward.get(hand, fewest), fewest)
