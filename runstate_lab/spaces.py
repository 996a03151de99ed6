"""Floor 5. Every order of tables, counted without being run one by one.

Through each place lead as many orders as through all places before it
together: so one pass over the places counts them all, and 10 to the 37 take
no longer than twenty.

What is not here: what a place is (see `places`), and tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from runstate_lab.errors import OrderRefused, words_of
from runstate_lab.exploration import Exploration, Failure, Outcome
from runstate_lab.places import Apart, Reached, Space, asked as ask
from runstate_lab.routes import Routes
from runstate_lab.search import Question
from runstate_lab.snapshots import canonical
from runstate_lab.tables import Table, unplain

PLACES = 1_000_000
"""How many places a search meets before it is stopped."""


def explore_tables(asked: Question) -> Exploration:
    """What all orders of these tables show; `asked.store` gives the shared value.

    A reduced search is run whole, and says so, when an invariant asks for `owns`
    and is not `symmetric`, or a law at the end tells workers of one table
    apart. Its counts are given where no act is local, or every act is made:
    workers that are alike have as many orders each.

    >>> from runstate_lab.tables import no_lost_update, register_writers
    >>> blind = register_writers(2, 1)
    >>> explore_tables(Question(blind, lambda: 0, (no_lost_update,), most=PLACES))
    20 orders, 18 break no_lost_update
    >>> explore_tables(Question(blind, lambda: [0], most=PLACES))
    no count, because of failures:
    the store's factory before any move: raised: gave [0]: a list, which can change
    """
    tables = list(asked.workers.values())
    if asked.faults:
        raise OrderRefused(f"the faults {asked.faults!r}", "tables, which send no proposals")
    shared, fault = _start(asked)
    if fault is not None:
        broken = dict.fromkeys((law.__name__ for law in asked.laws), False)
        return Exploration(None, 0, broken=broken, failures=(fault,), reduced=asked.reduced)
    note, declared = "", any(getattr(law, "symmetric", False) for law in asked.invariants)
    for runs in ((True, False) if declared else (True,)) if asked.reduced else ():
        try:
            return Survey(asked, Space(tables, shared, reduced=True, runs=runs)).told()
        except Apart as apart:
            note = f"run whole: {apart} tells workers of one table apart, or looks at their own values"
    return replace(Survey(asked, Space(tables, shared)).told(), note=note)


@dataclass
class Ending:
    """All ends with one shared value and the same laws broken."""

    count: int = 0
    places: list[int] = field(default_factory=list)


class Survey:
    """One search at work: what was reached, how often, and what is wrong with it."""

    def __init__(self, asked: Question, space: Space) -> None:
        self._asked = asked
        self._space = space
        self._reached = Reached(space, asked.invariants, most=asked.most)
        self._routes = Routes(self._reached, list(asked.workers))
        self._failures: list[Failure] = []
        self._ends: dict[tuple[int, int], Ending] = {}

    def told(self) -> Exploration:
        """Everything found; counts where they are exact."""
        reached, asked, reduced = self._reached, self._asked, self._space.reduced
        ways, left = orders(reached)
        self._judge_ends(ways)
        self._find_failures([] if reached.full else left)
        exact = self._space.exact and not self._failures and not reached.full
        total = sum(ending.count for ending in self._ends.values())
        low = (1 << self._space.top) - 1
        states = len({node & low for node in reached.nodes} if asked.invariants else reached.nodes)
        broken = {law.__name__: self._broken(bit, exact) for bit, law in enumerate(asked.laws)}
        return Exploration(
            total if exact else None,
            0,
            tuple(self._outcomes(total if exact else 0)),
            broken,
            shortest={
                law.__name__: self._routes.best(self._breaking(bit))[0]
                for bit, law in enumerate(asked.laws)
                if broken[law.__name__]
            },
            failures=tuple(self._failures),
            reduced=reduced,
            stopped=f"stopped after {len(reached.nodes)} places" if reached.full else "",
            states=states,
        )

    def _judge_ends(self, ways: list[int]) -> None:
        for at in self._reached.ends:
            node = self._reached.nodes[at]
            if self._space.done(node):
                broken = self._reached.broken(at) | self._broken_at_end(at)
                key = self._space.shared_number(node), broken
                ending = self._ends.setdefault(key, Ending())
                ending.count += ways[at]
                ending.places.append(at)

    def _broken_at_end(self, at: int) -> int:
        broken = 0
        places = [self._space.place(node) for node in self._space.twins(self._reached.nodes[at])]
        for bit, law in enumerate(self._asked.at_end, start=len(self._asked.invariants)):
            verdicts = {ask(law, place) for place in places}
            if len(verdicts) > 1:
                raise Apart(law.__name__)
            verdict = verdicts.pop()
            if isinstance(verdict, str):
                self._reached.unasked.setdefault(law.__name__, (verdict, []))[1].append(at)
            elif not verdict:
                broken |= 1 << bit
        return broken

    def _breaking(self, bit: int) -> list[int]:
        ends = [at for (_, broken), end in self._ends.items() if broken >> bit & 1 for at in end.places]
        if bit >= len(self._asked.invariants):
            return ends
        return [at for at in range(len(self._reached.nodes)) if self._reached.broken(at) >> bit & 1]

    def _broken(self, bit: int, exact: bool) -> int:
        if not exact:
            return bool(self._breaking(bit))
        return sum(end.count for (_, broken), end in self._ends.items() if broken >> bit & 1)

    def _outcomes(self, total: int) -> Iterable[Outcome]:
        found = []
        for (_, broken), end in self._ends.items():
            names = (law.__name__ for bit, law in enumerate(self._asked.laws) if broken >> bit & 1)
            state = self._space.shared(self._reached.nodes[end.places[0]])
            example = self._routes.first(end.places[0])
            count, share = (end.count, end.count / total) if total else (None, None)
            found.append(Outcome(state, count, share, tuple(names), example))
        return sorted(found, key=lambda outcome: (-(outcome.count or 0), len(outcome.schedule)))

    def _find_failures(self, left: list[int]) -> None:
        for name, (words, places) in self._reached.unasked.items():
            self._failures.append(Failure("law", name, self._routes.best(places)[0], words))
        self._find_faults()
        self._find_stuck()
        if left:
            self._find_endless(left)

    def _find_faults(self) -> None:
        """Acts that are wrong, each with the shortest schedule that shows it."""
        space, met = self._space, {}
        if not space.faulty:
            return
        for at, node in enumerate(self._reached.nodes):
            for mask in space.masks:
                fault = space.faulty.get(node & mask)
                if fault is not None:
                    met.setdefault((fault.kind, fault.act), []).append(at)
        for (kind, act), places in met.items():
            schedule, node = self._routes.best(places)
            for position, name in enumerate(self._asked.workers):
                way = space.way(node, position)
                if way.fault is not None and (way.fault.kind, way.fault.act) == (kind, act):
                    schedule += name * way.length
                    words = f"the act {act}: {way.fault.words}"
                    self._failures.append(Failure(kind, f"worker {name}", schedule, words))
                    break

    def _find_stuck(self) -> None:
        """Places that nobody can leave, though not all are done."""
        space, ends = self._space, self._reached.ends
        stuck = [
            at
            for at in ends
            if not space.done(self._reached.nodes[at])
            and not any(self._reached.nodes[at] & mask in space.faulty for mask in space.masks)
        ]
        if not stuck:
            return
        schedule, node = self._routes.best(stuck)
        blocked = {}
        for position, name in enumerate(self._asked.workers):
            way = space.way(node, position)
            schedule += name * way.length
            if way.blocked:
                blocked[name] = way.blocked
        words = "nobody can move: " + ", ".join(f"{name} at {act}" for name, act in blocked.items())
        self._failures.append(Failure("stuck", _workers(blocked), schedule, words))

    def _find_endless(self, left: list[int]) -> None:
        """A way that leads back to where it was, so that there are orders without end."""
        path = loop(self._reached, left)
        before, node = self._routes.best(path[:1])
        rounds: dict[int, str] = {}
        # Where workers are alike, one round may leave them in each other's place.
        while node not in rounds:
            here = node
            rounds[here], node = self._routes.along(path, here)
        first = list(rounds).index(node)
        before += "".join(list(rounds.values())[:first])
        around = "".join(list(rounds.values())[first:])
        words = f"the moves {around} lead back to the same place; hint: let an act wait with `when`"
        self._failures.append(Failure("endless", _workers(sorted(set(around))), before + around, words))


def orders(reached: Reached) -> tuple[list[int], list[int]]:
    """How many orders lead to each place, and the places on or behind a loop.

    >>> from runstate_lab.tables import register_writers
    >>> reached = Reached(Space(list(register_writers(2, 1).values()), 0))
    >>> sum(orders(reached)[0][at] for at in reached.ends)
    20
    """
    waiting = [0] * len(reached.nodes)
    for at in reached.edges:
        waiting[at] += 1
    ways = [1] + [0] * (len(reached.nodes) - 1)
    ready = [] if waiting[0] else [0]
    for at in ready:
        here = ways[at]
        for after in reached.after(at):
            ways[after] += here
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return ways, [at for at, count in enumerate(waiting) if count]


def loop(reached: Reached, left: list[int]) -> list[int]:
    """Places in a ring, the first of them again at the end, among those that are left.

    >>> from runstate_lab.tables import Act, Table
    >>> spin = Table((Act("spin", lambda shared, own: (shared, own, "spin")),))
    >>> loop(Reached(Space([spin], 0)), [0])
    [0, 0]
    """
    before: dict[int, int] = {}
    for at in left:
        for after in reached.after(at):
            if after == at:
                return [at, at]
            before.setdefault(after, at)
    path = [left[0]]
    while path[-1] not in path[:-1]:
        path.append(before[path[-1]])
    ring = path[path.index(path[-1]) :][:0:-1]
    first = ring.index(min(ring))
    return [*ring[first:], *ring[:first], ring[first]]


def _start(asked: Question) -> tuple[object, Failure | None]:
    make: Callable[[], object] = asked.store
    try:
        shared, again = make(), make()
        unfit = unplain(shared)
        words = f"gave {shared!r}: {unfit}" if unfit else ""
        kind = "raised"
        if not unfit and (shared != again or canonical(shared) != canonical(again)):
            kind, words = "not the same twice", f"it gave {shared!r}, then {again!r}"
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's code may raise anything
        shared, kind, words = None, "raised", words_of(fault)
    if words:
        return None, Failure(kind, "the store's factory", "", words)
    for name, table in asked.workers.items():
        unfit = unplain(table.own)
        if unfit:
            return None, Failure("raised", f"worker {name}", "", f"its own value is {unfit}")
    return shared, None


def _workers(names: Iterable[str]) -> str:
    letters = list(names)
    return f"worker {letters[0]}" if len(letters) == 1 else f"workers {', '.join(letters)}"
