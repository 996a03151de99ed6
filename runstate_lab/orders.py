"""Floor 5. Every order in which workers can take their steps, and any one of them again.

`explore` runs every order and counts exactly; `explore_world` does so for a
world that the kit brings; `play` runs one order again, from its letters or from
its token.

What is not here: what a move is (see `race`), and how orders are found (see
`search` and `spaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from runstate_lab.errors import Malformed, TokenRefused
from runstate_lab.exploration import Exploration
from runstate_lab.laws import Law
from runstate_lab.model import RunState
from runstate_lab.race import Race, Worker, moves
from runstate_lab.search import MOST, Question, Search
from runstate_lab.store import StateStore
from runstate_lab.tokens import Token, digits, place_of
from runstate_lab.variants import MakeStore, World
from runstate_lab.worlds import WORLDS

NO_REPLAY = ("store shared", "not the same twice")


def explore(
    workers: Mapping[str, Worker],
    *,
    store: Callable[[], StateStore],
    invariants: tuple[Law, ...] = (),
    at_end: tuple[Law, ...] = (),
    faults: str = "",
    reduced: bool = False,
    most: int = MOST,
) -> Exploration:
    """Every order of the workers' steps, each on a fresh store from the factory.

    `invariants` are asked after every move, `at_end` when nobody has a move
    left. Each mark in `faults` may hit one step of each order. A reduced search
    runs fewer orders and counts none; it trusts that the workers share nothing
    but the store.

    >>> def two(store):
    ...     yield
    >>> explore({"A": two, "B": two}, store=lambda: StateStore(RunState("run-7")))
    6 orders
    >>> explore({"A": len}, store=lambda: StateStore(RunState("run-7")))
    no count, because of failures:
    a worker after 'no move': raised: TypeError: object of type 'Line' has no len()
    """
    asked = Question(workers, store, tuple(invariants), tuple(at_end), faults, reduced, most)
    return _with_tokens(Search(asked).result(), asked)


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
    order: str, workers: Mapping[str, Worker] | None = None, *, store: StateStore | None = None
) -> Race:
    """The race after an order, given as letters or as a token, on a fresh store.

    A token of a world needs nothing else; any other order needs its workers
    and a fresh store.

    >>> race = play(explore_world("two_writers", "naive").tokens["no_lost_update"])
    >>> print(race.schedule, *race.store.load().facts)
    AABBBA tests=green
    >>> play("AABBBA")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.TokenRefused: the order names no world: asked 'AABBBA', found neither workers nor a store to play it with
    hint: copy it whole, and play it with the workers and the store that it was made with
    """
    token = Token.read(order) if "-" in order else Token(order)
    if workers is None and token.world:
        world = _world(token.world)
        workers, store = world.variant(token.store).workers, world.fresh(token.store)
    if workers is None or store is None:
        why = "the order names no world"
        raise TokenRefused(repr(order), "neither workers nor a store to play it with", reason=why)
    if token.place not in ("", place_of(workers, store)):
        found = f"workers {', '.join(workers)} on a {type(store).__name__}"
        raise TokenRefused(repr(order), found, reason="the token belongs to another place")
    race = Race(workers, store)
    for move in moves(token.schedule):
        race.step(move)
    if token.end not in ("", end_of(race)):
        why = "the token is out of date"
        raise TokenRefused(repr(order), "another end than it was made with", reason=why)
    return race


def end_of(race: Race) -> str:
    """What stands in a token for how an order ended.

    >>> here, there = (Race(WORLDS["two_writers"].variant().workers, StateStore(RunState(name)))
    ...                for name in ("run-7", "run-8"))
    >>> end_of(here) == end_of(there)
    False
    """
    codes = {name: refusal.code for name, refusal in race.refusals.items()}
    return digits(race.store.load(), codes, race.unanswered, race.said)


def _world(name: str) -> World:
    if name not in WORLDS:
        raise Malformed(f"the world {name!r}", ", ".join(WORLDS))
    return WORLDS[name]


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
    place = place_of(asked.workers, store)
    race = play(schedule, asked.workers, store=store)
    return Token(schedule, world, variant, place, end_of(race))
