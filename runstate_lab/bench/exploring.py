"""Every order: how long to a verdict, and a large space beside a plain search and model checkers.

Everybody searches the same places: writers who read, think and commit by
compare-and-swap, and read again when they were too late. Where the numbers of
places differ, there is no row. Only ours counts the orders, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from runstate_lab.bench.peers import MINICHECK, MUSIL, Peer
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Contender, Rounds, Slice, interleave, spread, timed
from runstate_lab.orders import explore, explore_world
from runstate_lab.tables import no_lost_update, register_writers

AIM_MS, WHOLE = 50, 0.67
LOST = "two writers, naive store: lost update found"
KEPT = "two writers, compare-and-swap: no loss in any order"
MANY = 10**8
ROUNDS = 3

Place = tuple[int, tuple[tuple[int, int, int], ...]]


class Model(NamedTuple):
    """The writers without the kit, for everybody else; a worker is row, copy and rounds left."""

    writers: int
    rounds: int

    @property
    def start(self) -> Place:
        """A register of 0, and nobody has begun."""
        return 0, ((0, 0, self.rounds),) * self.writers

    def after(self, place: Place, number: int) -> Place:
        """The place after one more act of a writer."""
        register, workers = place
        row, copy, left = workers[number]
        if row == 0:
            moved = (1, register, left)
        elif row == 1:
            moved = (2, copy + 1, left)
        elif register == copy - 1:
            register, moved = copy, (0, 0, left - 1)
        else:
            moved = (0, 0, left)
        return register, (*workers[:number], moved, *workers[number + 1 :])

    def next(self, place: Place) -> Iterator[tuple[int, Place]]:
        """Who can move, and where that leads."""
        for number, (_, _, left) in enumerate(place[1]):
            if left:
                yield number, self.after(place, number)

    def kept(self, place: Place) -> bool:
        """Whether all rounds are in the register, once all are done."""
        register, workers = place
        return register == self.writers * self.rounds or any(left for _, _, left in workers)


@dataclass(frozen=True, slots=True)
class Held:
    """A place for the peer that takes a tuple for several places."""

    register: int
    workers: tuple[tuple[int, int, int], ...]


def measure(scale: Scale) -> Row:
    """Time to each verdict, ours and that of whoever is here."""
    model = Model(*scale.writers)
    size = f"{model.writers} x {model.rounds}"
    reduced, whole = f"{size}: reduced", f"{size}: whole, orders counted"
    plain = f"{size}: plain search"
    met: dict[str, int] = {}
    contenders: dict[str, Contender] = {
        LOST: lambda: _world("naive", lost=True),
        KEPT: lambda: _world("compare-and-swap", lost=False),
        reduced: lambda: _tables(model, reduced=True, met=met, name=reduced),
        whole: lambda: _tables(model, reduced=False, met=met, name=whole),
        plain: lambda: _searched(lambda: _plain(model), met, plain),
    }
    more = {}
    for peer, (check, _) in PEERS.items():
        if peer.version is not None:
            title = _title(size, peer)
            search = check(model)
            contenders[title] = lambda search=search, title=title: _searched(search, met, title)
            more[title] = peer.more
    rounds = interleave(contenders, rounds=min(scale.rounds, ROUNDS))
    places = {count for name, count in met.items() if name != reduced}
    if len(places) != 1:
        raise ValueError(f"the same model has different numbers of places: {met}")
    lines = tuple(_line(rounds, name, met, more.get(name, "")) for name in contenders)
    note = (
        f"{size} is writers x rounds, compare-and-swap; work of the processor; at most {ROUNDS} "
        "rounds; the peers know of nobody who is alike, and count no orders"
    )
    return Row("explore", "verdicts over every order", lines, _aims(rounds, reduced, whole, plain, size), (note,))


def _aims(rounds: Rounds, reduced: str, whole: str, plain: str, size: str) -> tuple[Aim, ...]:
    times = [1000 * slice_.seconds for slice_ in rounds.slices[reduced]]
    return (
        Aim(f"{AIM_MS} ms {reduced}", AIM_MS, median(times), at_most=True, spread=spread(times)),
        rounds.aim(f"{WHOLE} x the plain search, whole and counted", WHOLE, whole, plain),
        *(
            rounds.aim(f"{times} x {peer.distribution}", times, reduced, _title(size, peer), why=peer.absence)
            for peer, (_, times) in PEERS.items()
        ),
    )


def _line(rounds: Rounds, name: str, met: dict[str, int], more: str) -> Line:
    times = [1000 * slice_.seconds for slice_ in rounds.slices[name]]
    unit = f"ms, {met[name]:,} places" if name in met else "ms, 20 orders"
    return Line(name, median(times), unit, more, spread(times))


def _title(size: str, peer: Peer) -> str:
    return f"{size}: {peer.title}"


def _world(variant: str, *, lost: bool) -> Slice:
    found: list[Any] = []
    slice_ = timed(1, lambda: found.append(explore_world("two_writers", variant)))
    if found[0].schedules != 20 or bool(found[0].broken["no_lost_update"]) is not lost:
        raise ValueError(f"two writers on the store {variant}: {found[0]!r}")
    return slice_


def _tables(model: Model, *, reduced: bool, met: dict[str, int], name: str) -> Slice:
    def search() -> int:
        tables = register_writers(model.writers, model.rounds, mode="swap")
        found = explore(tables, store=lambda: 0, at_end=(no_lost_update,), reduced=reduced)
        if not found.holds:
            raise ValueError(f"compare-and-swap: {found!r}")
        return found.states or 0

    return _searched(search, met, name)


def _searched(search: Callable[[], int], met: dict[str, int], name: str) -> Slice:
    counts: list[int] = []
    slice_ = timed(1, lambda: counts.append(search()))
    met[name] = counts[0]
    return slice_


def _plain(model: Model) -> int:
    """Breadth first, each place kept with the one before it: what anybody would write."""
    before: dict[Place, Place | None] = {model.start: None}
    waiting = [model.start]
    for place in waiting:
        if not model.kept(place):
            raise ValueError(f"compare-and-swap loses an update at {place}")
        for _, after in model.next(place):
            if after not in before:
                before[after] = place
                waiting.append(after)
    return len(before)


def _minicheck(model: Model) -> Callable[[], int]:
    from minicheck import Protocol, check_safety

    def search() -> int:
        protocol = Protocol(
            name="lost",
            candidate=False,
            fields=("register", "workers"),
            initial=model.start,
            transitions=lambda place: [(f"writer {number}", after) for number, after in model.next(place)],
            invariants={"kept": lambda place: model.kept((place["register"], place["workers"]))},
        )
        found = check_safety(protocol, max_states=MANY)
        if not (found["exhaustive"] and found["properties"]["kept"]["holds"]):
            raise ValueError(f"the peer finds a loss: {found}")
        return int(found["reachable_states"])

    return search


def _musil(model: Model) -> Callable[[], int]:
    from musil import Action, check
    from musil import Model as Checked

    def action(number: int, row: int) -> Any:
        return Action(
            f"writer {number} row {row}",
            lambda held: held.workers[number][2] > 0 and held.workers[number][0] == row,
            lambda held: Held(*model.after((held.register, held.workers), number)),
        )

    def search() -> int:
        checked = Checked(
            init=Held(*model.start),
            actions=[action(number, row) for number in range(model.writers) for row in range(3)],
            invariants={"kept": lambda held: model.kept((held.register, held.workers))},
            terminal=lambda held: not any(left for _, _, left in held.workers),
        )
        found = check(checked, max_states=MANY)
        if not found.ok:
            raise ValueError(f"the peer finds a loss: {found}")
        return int(found.states_explored)

    return search


PEERS: dict[Peer, tuple[Callable[[Model], Callable[[], int]], float]] = {
    MINICHECK: (_minicheck, 100),
    MUSIL: (_musil, 150),
}
"""How a peer's search is made, and the aim: how many times as long it may take."""
