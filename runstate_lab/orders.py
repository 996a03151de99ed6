"""Floor 5. Every order in which workers can take their steps, and any one of them again.

`explore` runs every order and counts exactly; `explore_world` does so for a
world that the kit brings; `play` runs one order again, from its letters or from
its token. Workers are code, or all of them tables of acts.

What is not here: what a move is (see `race`), and how orders are found (see
`search` and `spaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from runstate_lab.errors import Malformed, TokenRefused
from runstate_lab.exploration import Exploration
from runstate_lab.model import RunState
from runstate_lab.race import Race, Worker, moves
from runstate_lab.search import MOST, Question, Search
from runstate_lab.spaces import PLACES, explore_tables
from runstate_lab.store import StateStore
from runstate_lab.tables import Place, Table, replay
from runstate_lab.tokens import Token, digits, place_of
from runstate_lab.variants import MakeStore, World
from runstate_lab.worlds import WORLDS

NO_REPLAY = ("store shared", "not the same twice")


def explore(
    workers: Mapping[str, Worker] | Mapping[str, Table],
    *,
    store: Callable[[], Any],
    invariants: tuple[Callable[[Any], bool], ...] = (),
    at_end: tuple[Callable[[Any], bool], ...] = (),
    faults: str = "",
    reduced: bool = False,
    most: int | None = None,
) -> Exploration:
    """Every order of the workers' steps, each on a fresh store from the factory.

    `invariants` are asked after every move, `at_end` when nobody has a move
    left. Each mark in `faults` may hit one step of each order. A reduced search
    runs fewer orders and counts none; it trusts that the workers share nothing
    but the store. `most` bounds the orders that are run.

    Where the workers are tables, `store` gives the plain shared value, a law is
    asked about a `Place`, and `most` bounds the places that are met.

    >>> def two(store):
    ...     yield
    >>> explore({"A": two, "B": two}, store=lambda: StateStore(RunState("run-7")))
    6 orders
    >>> explore({"A": len}, store=lambda: StateStore(RunState("run-7")))
    no count, because of failures:
    a worker before any move: raised: TypeError: object of type 'Line' has no len()
    """
    tabled = _tabled(workers)
    most = most or (PLACES if tabled else MOST)
    asked = Question(workers, store, tuple(invariants), tuple(at_end), faults, reduced, most)
    return _with_tokens(explore_tables(asked) if tabled else Search(asked).result(), asked)


def explore_world(
    name: str, variant: str = "", *, store: MakeStore | None = None, reduced: bool = False
) -> Exploration:
    """Every order of a world that the kit brings, also on a store of your own.

    >>> explore_world("two_writers", "naive")
    20 orders, 18 break no_lost_update, 18 break no_decision_on_old_facts
    >>> explore_world("two_writers")
    20 orders, 0 break no_lost_update, 0 break no_decision_on_old_facts, 18 report revision_conflict
    """
    world = _world(name)
    asked = Question(
        world.variant(variant).workers,
        lambda: world.fresh(variant, store=store),
        world.invariants,
        world.at_end,
        world.faults,
        reduced,
    )
    found = Search(asked).result()
    if store is not None:
        return _with_tokens(found, asked)
    return _with_tokens(found, asked, world=name, variant=variant or next(iter(world.variants)))


def play(
    order: str,
    workers: Mapping[str, Worker] | Mapping[str, Table] | None = None,
    *,
    store: Any = None,
) -> Any:
    """The race after an order, given as letters or as a token, on a fresh store.

    A token of a world needs nothing else; any other order needs its workers
    and a fresh store. Tables need the shared value, and the `Place` is given
    where they end.

    >>> race = play(explore_world("two_writers", "naive").tokens["no_lost_update"])
    >>> print(race.schedule, *race.store.load().facts)
    AABBBA tests=green
    >>> play("AABBBA")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.TokenRefused: the order names no world: asked 'AABBBA', found neither workers nor a store to play it with
    hint: copy it whole, and play it with the workers and the store that it was made with
    """
    bare = isinstance(order, str) and "-" not in order
    token = Token(order) if bare else Token.read(order)
    if workers is None and token.world:
        world = _world_of(token)
        workers, store = world.variant(token.store).workers, world.fresh(token.store)
    if workers is None or (store is None and not _tabled(workers)):
        why = "the order names no world"
        raise TokenRefused(repr(order), "neither workers nor a store to play it with", reason=why)
    if token.place not in ("", _home(workers, store)):
        found = f"workers {', '.join(workers)} on a {type(store).__name__}"
        raise TokenRefused(repr(order), found, reason="the token belongs to another place")
    try:
        race = _played(token.schedule, workers, store)
    except Malformed as fault:
        if not token.end:
            raise
        raise _out_of_date(token, fault.found) from fault
    if token.end not in ("", end_of(race)):
        raise _out_of_date(token, "another end than it was made with")
    return race


def end_of(race: Race | Place) -> str:
    """What stands in a token for how an order ended.

    >>> here, there = (Race(WORLDS["two_writers"].variant().workers, StateStore(RunState(name)))
    ...                for name in ("run-7", "run-8"))
    >>> end_of(here) == end_of(there)
    False
    """
    if isinstance(race, Place):
        return digits(race)
    codes = {name: refusal.code for name, refusal in race.refusals.items()}
    return digits(race.store.load(), codes, race.unanswered, race.said)


def _tabled(workers: Mapping[str, Any]) -> TypeGuard[Mapping[str, Table]]:
    tables = [name for name, worker in workers.items() if isinstance(worker, Table)]
    if tables and len(tables) < len(workers):
        raise Malformed("workers that are all code or all tables", f"tables: {', '.join(tables)}")
    return bool(tables)


def _home(workers: Mapping[str, Worker] | Mapping[str, Table], store: Any) -> str:
    if _tabled(workers):
        acts = [[act.name for act in table.acts] for table in workers.values()]
        return digits(list(workers), acts, [table.own for table in workers.values()], store)
    return place_of(workers, store)


def _played(
    schedule: str, workers: Mapping[str, Worker] | Mapping[str, Table], store: Any
) -> Race | Place:
    if _tabled(workers):
        return replay(schedule, workers, store)
    race = Race(workers, store)
    for move in moves(schedule):
        race.step(move)
    return race


def _world(name: str) -> World:
    if name not in WORLDS:
        raise Malformed(f"the world {name!r}", ", ".join(WORLDS))
    return WORLDS[name]


def _world_of(token: Token) -> World:
    world = WORLDS.get(token.world)
    if world is None or token.store not in world.variants:
        found = ", ".join(WORLDS if world is None else world.variants)
        raise TokenRefused(repr(str(token)), found, reason="the token's world is not of this kit")
    return world


def _out_of_date(token: Token, found: str) -> TokenRefused:
    return TokenRefused(repr(str(token)), found, reason="the token is out of date")


def _with_tokens(
    found: Exploration, asked: Question, *, world: str = "", variant: str = ""
) -> Exploration:
    if any(failure.kind in NO_REPLAY for failure in found.failures):
        return found
    tokens = {
        law: str(_token(schedule, asked, world, variant))
        for law, schedule in found.shortest.items()
    }
    return replace(found, tokens=tokens)


def _token(schedule: str, asked: Question, world: str, variant: str) -> Token:
    store = asked.store()
    place = _home(asked.workers, store)
    race = play(schedule, asked.workers, store=store)
    return Token(schedule, world, variant, place, end_of(race))
