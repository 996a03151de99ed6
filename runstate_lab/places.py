"""Floor 5. The places of some tables as whole numbers, and every place that can be reached.

    bits     laws broken so far | worker B's value | worker A's value | shared value

Each different value is kept once and stands in a place by its number. A move
changes the shared value and one worker's, whatever the others are at: so it is
worked out once for these two, and from then on it is one addition.

A reduced search does less, twice. A run of local acts is one move with the act
behind it: nobody could tell. Workers with the same table are alike: of places
that differ in who is who, one is kept. For a law that is `symmetric`, and asks
for `owns`, it does the second only.

What is not here: counting orders, and short ways (see `spaces`, `routes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from runstate_lab.errors import words_of
from runstate_lab.snapshots import canonical
from runstate_lab.tables import Fault, Place, Table, take
from runstate_lab.watch import Endless, bounded

WIDTH = 24
MASK = (1 << WIDTH) - 1


class Value(NamedTuple):
    """What a worker knows and where it stands, in which of the different tables."""

    table: int
    row: int
    own: Any


class Way(NamedTuple):
    """One worker's next move from some shared value: the numbers it leads to.

    `length` is how many letters it takes; `blocked` names the act that cannot
    be made now, if any.
    """

    shared: int
    value: int
    length: int
    moved: bool = True
    fault: Fault | None = None
    blocked: str = ""


class Apart(BaseException):
    """A law looks at who is who, or between local acts: the search cannot be reduced.

    It is raised with the law's name.
    """


class TooMany(Exception):
    """There are more places than were asked for."""


class Veiled(Place):
    """A place as an invariant of a reduced search sees it: `owns` may not be asked."""

    def __init__(self, shared: object, done: bool) -> None:
        object.__setattr__(self, "shared", shared)
        object.__setattr__(self, "done", done)

    @property
    def owns(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Never given."""
        raise Apart


Law = Callable[[Place], bool]


class Space:
    """Places of some tables, and the moves out of each."""

    def __init__(
        self,
        tables: Sequence[Table],
        shared: object,
        *,
        reduced: bool = False,
        runs: bool | None = None,
    ) -> None:
        self.tables = list(tables)
        alike = [(table, canonical(table.own)) for table in tables]
        self.kinds = [alike.index(each) for each in alike]
        self.reduced = reduced
        self.runs = reduced if runs is None else runs
        self.shifts = [WIDTH * number for number in range(1, len(tables) + 1)]
        self.top = WIDTH * (len(tables) + 1)
        self.masks = [MASK | MASK << shift for shift in self.shifts]
        self.deltas: dict[int, int | None] = {}
        self.ways: dict[int, Way] = {}
        self.faulty: dict[int, Fault] = {}
        self._numbers: dict[object, int] = {}
        # Number 0 is nobody's value: one worker's masked place is never another's.
        self._kept: list[Any] = [None]
        self._known: dict[tuple[int, int], Way] = {}
        shared_at = self._number(shared, "shared")
        self.start = shared_at + sum(
            self._number(Value(kind, 0, tables[kind].own)) << shift
            for kind, shift in zip(self.kinds, self.shifts, strict=True)
        )
        self._alike = self._groups() if reduced else []

    @property
    def exact(self) -> bool:
        """Whether an order of these moves is an order of the acts, one for one."""
        return not self.runs or not any(act.local for table in self.tables for act in table.acts)

    def learn(self, key: int, position: int) -> int | None:
        """What a worker's next move adds to a place; None if it has no move now."""
        shift = self.shifts[position]
        before = key & MASK, key >> shift
        if before not in self._known:
            self._known[before] = self._follow(*before)
        way = self.ways[key] = self._known[before]
        if way.fault is not None:
            self.faulty[key] = way.fault
        delta = way.shared - before[0] + (way.value - before[1] << shift)
        self.deltas[key] = delta if way.moved else None
        return self.deltas[key]

    def moves(self, node: int) -> Iterator[tuple[int, int, int]]:
        """Who can move, how many letters it takes, and the place it leads to."""
        for position, mask in enumerate(self.masks):
            key = node & mask
            delta = self.deltas[key] if key in self.deltas else self.learn(key, position)
            if delta is not None:
                yield position, self.ways[key].length, node + delta

    def shared(self, node: int) -> Any:
        """The shared value at a place."""
        return self._kept[node & MASK]

    def shared_number(self, node: int) -> int:
        """The number by which the shared value is known."""
        return node & MASK

    def way(self, node: int, position: int) -> Way:
        """A worker's next move, also where it is none."""
        key = node & self.masks[position]
        if key not in self.ways:
            self.learn(key, position)
        return self.ways[key]

    def values(self, node: int) -> list[Value]:
        """What each worker is at."""
        return [self._kept[node >> shift & MASK] for shift in self.shifts]

    def done(self, node: int) -> bool:
        """Whether all workers are done."""
        return all(value.row == len(self.tables[value.table].acts) for value in self.values(node))

    def place(self, node: int) -> Place:
        """The place as a law sees it."""
        owns = tuple(value.own for value in self.values(node))
        return Place(self.shared(node), owns, self.done(node))

    def seen(self, node: int, law: Law) -> list[Place]:
        """The place as an invariant sees it: veiled, or twice, where it stands for others too."""
        if not self.reduced:
            return [self.place(node)]
        if self.runs or not getattr(law, "symmetric", False):
            return [Veiled(self.shared(node), self.done(node))]
        return [self.place(node), self.place(self._turned(node))]

    def canonical(self, node: int) -> int:
        """The one place that is kept of those that differ in who is who."""
        for shifts, bits in self._alike:
            values = sorted([node >> shift & MASK for shift in shifts])
            node -= node & bits
            for shift, value in zip(shifts, values, strict=True):
                node |= value << shift
        return node

    def _turned(self, node: int) -> int:
        for shifts, bits in self._alike:
            values = [node >> shift & MASK for shift in shifts]
            node = node - (node & bits) + sum(map(int.__lshift__, values[1:] + values[:1], shifts))
        return node

    def twins(self, node: int) -> Iterator[int]:
        """All places that differ from this one in who is who, itself among them."""
        nodes = {node}
        for shifts, bits in self._alike:
            values = [node >> shift & MASK for shift in shifts]
            orders = set(permutations(values))
            nodes = {
                kept - (kept & bits) + sum(map(int.__lshift__, order, shifts))
                for kept in nodes
                for order in orders
            }
        yield from nodes

    def _groups(self) -> list[tuple[list[int], int]]:
        alike = [
            [shift for kind, shift in zip(self.kinds, self.shifts, strict=True) if kind == wanted]
            for wanted in sorted(set(self.kinds))
        ]
        return [(group, sum(MASK << shift for shift in group)) for group in alike if len(group) > 1]

    def _number(self, value: object, kind: str = "value") -> int:
        # 1 and True compare equal, and are two values.
        key = kind, value, canonical(value)
        if key not in self._numbers:
            if len(self._kept) > MASK:
                raise TooMany
            self._numbers[key] = len(self._kept)
            self._kept.append(value)
        return self._numbers[key]

    def _follow(self, shared_at: int, value_at: int) -> Way:
        """One act, or in a reduced search a run of local acts and the act behind it."""
        shared, (kind, row, own) = self._kept[shared_at], self._kept[value_at]
        table, length = self.tables[kind], 0
        while row < len(table.acts):
            act = table.acts[row]
            try:
                taken = take(table, row, shared, own)
            except Fault as fault:
                return Way(shared_at, value_at, length + 1, False, fault)
            if taken is None:
                return Way(shared_at, value_at, length, False, blocked=act.name)
            shared, own, row = taken
            length += 1
            # A longer run goes round in a loop: its places are left to be met.
            if not (self.runs and act.local) or length >= len(table.acts):
                break
        if not length:
            return Way(shared_at, value_at, 0, False)
        number = self._number(Value(kind, row, own))
        return Way(self._number(shared, "shared"), number, length)


class Reached:
    """Every place that can be reached, under some laws; nothing is counted yet.

    >>> from runstate_lab.tables import register_writers
    >>> tables = list(register_writers(2, 1).values())
    >>> len(Reached(Space(tables, 0)).nodes), len(Reached(Space(tables, 0, reduced=True)).nodes)
    (21, 8)
    """

    def __init__(self, space: Space, laws: Sequence[Law] = (), *, most: int = 1_000_000) -> None:
        self.space = space
        self.nodes: list[int] = []
        self.parents: list[int] = []
        self.edges: list[int] = []
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.unasked: dict[str, tuple[str, list[int]]] = {}
        self.full = False
        self._laws = laws
        self._most = most
        self._doubts: list[tuple[str, str]] = []
        self._numbers: dict[int, int] = {}
        try:
            self.at(space.start)
            self._grow()
        except TooMany:
            self.full = True
            self.begins += [len(self.edges)] * (len(self.nodes) + 1 - len(self.begins))

    def at(self, raw: int, parent: int = 0) -> int:
        """The number of the place that stands for this one, as the laws leave it."""
        at = self._numbers.get(raw)
        if at is not None:
            return at
        node = self.space.canonical(raw)
        if self._laws:
            node = self._judged(node)
        at = self._numbers.get(node)
        if at is None:
            if len(self.nodes) >= self._most:
                raise TooMany
            at = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.parents.append(parent)
        if raw != node:
            self._numbers[raw] = at
        while self._doubts:
            name, words = self._doubts.pop()
            self.unasked.setdefault(name, (words, []))[1].append(at)
        return at

    def after(self, at: int) -> list[int]:
        """The numbers of the places one move on, one for each worker that can move."""
        return self.edges[self.begins[at] : self.begins[at + 1]]

    def broken(self, at: int) -> int:
        """The laws broken on the way here, one bit each."""
        return self.nodes[at] >> self.space.top

    def _grow(self) -> None:
        space, edges, known = self.space, self.edges, self._numbers
        deltas, masks = space.deltas, list(enumerate(space.masks))
        for number, node in enumerate(self.nodes):
            begin = len(edges)
            self.begins.append(begin)
            for position, mask in masks:
                key = node & mask
                try:
                    delta = deltas[key]
                except KeyError:
                    delta = space.learn(key, position)
                if delta is not None:
                    at = known.get(node + delta)
                    edges.append(self.at(node + delta, number) if at is None else at)
            if len(edges) == begin:
                self.ends.append(number)
        self.begins.append(len(edges))

    def _judged(self, node: int) -> int:
        for bit, law in enumerate(self._laws):
            flag = 1 << self.space.top + bit
            if node & flag:
                continue
            verdict = self._verdict(node, law)
            if isinstance(verdict, str):
                self._doubts.append((law.__name__, verdict))
            elif not verdict:
                node |= flag
        return node

    def _verdict(self, node: int, law: Law) -> bool | str:
        try:
            verdicts = [asked(law, place) for place in self.space.seen(node, law)]
        except Apart:
            raise Apart(law.__name__) from None
        if len(set(verdicts)) > 1:
            raise Apart(law.__name__)
        return verdicts[0]


def asked(law: Law, place: Place) -> bool | str:
    """What a law says about a place, or in words why that is no verdict.

    >>> asked(lambda place: place.shared > 4, Place(5, (), True))
    True
    >>> asked(lambda place: place.shared, Place(5, (), True))
    'gave 5, neither True nor False'
    """
    try:
        with bounded():
            verdict: object = law(place)
    except (Exception, SystemExit, Endless) as fault:  # noqa: BLE001 - a learner's law
        return f"raised {words_of(fault)}"
    return verdict if isinstance(verdict, bool) else f"gave {verdict!r}, neither True nor False"
