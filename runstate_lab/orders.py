"""Floor 5. Every order in which workers can take their steps, and any one of them again.

`explore` runs every order and counts exactly; `explore_world` does so for a
world that the kit brings; `play` runs one order again, from its letters or from
its token. Workers are code, or all of them tables of acts.

What is not here: which arguments make sense (see `arguments`), what a move is
(see `race`), and how orders are found (see `search` and `spaces`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runstate_lab.arguments import (
    Workers,
    check_crew,
    check_question,
    fresh,
    tabled,
    told,
    world_of,
)
from runstate_lab.errors import OrderRefused, TokenRefused, words_of
from runstate_lab.exploration import Exploration, Failure
from runstate_lab.model import RunState
from runstate_lab.race import Race, moves
from runstate_lab.search import MOST, Question, Search
from runstate_lab.spaces import PLACES, explore_tables
from runstate_lab.store import StateStore
from runstate_lab.tables import Place, replay
from runstate_lab.tokens import Token, digits, place_of
from runstate_lab.variants import MakeStore, World
from runstate_lab.watch import Endless, bounded
from runstate_lab.worlds import WORLDS

NO_REPLAY = ("store shared", "not the same twice")


def explore(
    workers: Workers,
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
    a worker before any move: raised: TypeError: object of type 'StateStore' has no len()
    """
    check_crew(workers)
    check_question(store, invariants, at_end, faults, most)
    most = most or (PLACES if tabled(workers) else MOST)
    asked = Question(workers, store, tuple(invariants), tuple(at_end), faults, reduced, most)
    return _with_tokens(explore_tables(asked) if tabled(workers) else Search(asked).result(), asked)


def explore_world(
    world: str | World,
    variant: str = "",
    *,
    store: MakeStore | None = None,
    reduced: bool = False,
) -> Exploration:
    """Every order of a world, by its name or as it is, also on a store of your own.

    The store is a class or a function that takes the state to start from.

    >>> explore_world("two_writers", "naive")
    20 orders, 18 break no_lost_update, 18 break no_decision_on_old_facts
    >>> explore_world("two_writers")
    20 orders, 0 break no_lost_update, 0 break no_decision_on_old_facts, 18 report revision_conflict
    """
    one = world_of(world)
    if not (store is None or callable(store)):
        raise OrderRefused("store to be a class, or a function of the first state", told(store))
    asked = Question(
        one.variant(variant).workers,
        lambda: one.fresh(variant, store=store),
        one.invariants,
        one.at_end,
        one.faults,
        reduced,
    )
    found = Search(asked).result()
    if store is not None or WORLDS.get(one.name) is not one:
        return _with_tokens(found, asked)
    return _with_tokens(found, asked, world=one.name, variant=variant or next(iter(one.variants)))


def play(
    order: str,
    workers: Workers | None = None,
    *,
    store: Any = None,
) -> Any:
    """The race after an order, given as letters or as a token, on a fresh store.

    A token of a world needs nothing else; any other order needs its workers
    and a fresh store, or the factory that `explore` was given: a class or a
    function is called. Tables need the shared value or its factory, and the
    `Place` is given where they end.

    >>> race = play(explore_world("two_writers", "naive").tokens["no_lost_update"])
    >>> print(race.schedule, *race.store.load().facts)
    AABBBA tests=green
    >>> play("AABBBA")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.TokenRefused: the order names no world: asked 'AABBBA', found neither workers nor a store to play it with
    hint: copy it whole, and play it with the workers and the store that it was made with
    """
    bare = isinstance(order, str) and not {"-", "/"} & set(order)
    token = Token(order) if bare else Token.read(order)
    workers, store = _cast(order, token, workers, store)
    if token.place not in ("", _home(workers, store)):
        found = f"workers {', '.join(workers)} on a {type(store).__name__}"
        raise TokenRefused(repr(order), found, reason="the token belongs to another place")
    try:
        race = _played(token.schedule, workers, store)
    except (Exception, SystemExit, Endless) as fault:  # noqa: BLE001 - it went well with the token
        if not token.end:
            raise
        found = fault.found if isinstance(fault, OrderRefused) else words_of(fault)
        raise _out_of_date(token, found) from fault
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


def _home(workers: Workers, store: Any) -> str:
    if tabled(workers):
        acts = [[act.name for act in table.acts] for table in workers.values()]
        return digits(list(workers), acts, [table.own for table in workers.values()], store)
    return place_of(workers, store)


def _cast(order: str, token: Token, workers: Any, store: Any) -> tuple[Workers, Any]:
    """Who plays the order, and on what: the token's own world, or what was given."""
    if workers is not None:
        check_crew(workers)
        if store is None and not tabled(workers):
            raise TokenRefused(repr(order), "workers and no store", reason="a store is missing")
        return workers, fresh(store, workers)
    if store is not None:
        if token.world:
            why = "a world's token brings its own store: leave `store` out"
            raise TokenRefused(repr(order), f"a store beside {token.world}", reason=why)
        raise TokenRefused(repr(order), "a store and no workers", reason="workers are missing")
    if token.world:
        world = _world_of(token)
        return world.variant(token.store).workers, world.fresh(token.store)
    why = "the order names no world"
    raise TokenRefused(repr(order), "neither workers nor a store to play it with", reason=why)


def _played(schedule: str, workers: Workers, store: Any) -> Race | Place:
    if tabled(workers):
        return replay(schedule, workers, store)
    race = Race(workers, store)
    for move in moves(schedule):
        race.step(move)
    return race


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
    """The same with a token for each broken law; an order that breaks it no more is told."""
    if any(failure.kind in NO_REPLAY for failure in found.failures):
        return found
    tokens, laws = {}, {law.__name__: law for law in asked.laws}
    for name, schedule in found.shortest.items():
        try:
            with bounded():
                store = asked.store()
                place = _home(asked.workers, store)
            race = _played(schedule, asked.workers, store)
            with bounded():
                end, broken = end_of(race), not laws[name](race)
            words = "" if broken else f"{name} is not broken any more"
        except (Exception, SystemExit, Endless) as fault:  # noqa: BLE001 - it went well before
            words = f"the same moves ended with {words_of(fault)}"
        if words:
            return _in_doubt(found, Failure("not the same twice", "the code", schedule, words))
        tokens[name] = str(Token(schedule, world, variant, place, end))
    return replace(found, tokens=tokens)


def _in_doubt(found: Exploration, failure: Failure) -> Exploration:
    """What is left of a result once its code was seen to differ: no count."""
    return replace(
        found,
        schedules=None,
        outcomes=tuple(replace(one, count=None, share=None) for one in found.outcomes),
        broken={name: bool(count) for name, count in found.broken.items()},
        refused={code: bool(count) for code, count in found.refused.items()},
        failures=(*found.failures, failure),
    )
