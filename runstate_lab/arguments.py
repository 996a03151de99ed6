"""Floor 5. What `explore` and `play` are given: refused at once where it makes no sense.

A wrong argument is a refusal; wrong code under test is a failure, told in the
result with its schedule.

What is not here: running anything (see `orders`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from runstate_lab.errors import OrderRefused, words_of
from runstate_lab.line import FAULTS
from runstate_lab.race import Worker, check_names
from runstate_lab.tables import Table
from runstate_lab.variants import World
from runstate_lab.worlds import WORLDS

Workers = Mapping[str, Worker] | Mapping[str, Table]


def check_crew(workers: Any) -> None:
    """None when these are workers: a letter each, all of them code or all of them tables.

    >>> check_crew({"A": 5})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked worker A to be a function with `yield`, or a Table, found 5, an int
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    if not isinstance(workers, Mapping):
        raise OrderRefused("workers named by one capital letter each", told(workers))
    check_names(workers)
    for name, worker in workers.items():
        if not callable(worker) and not isinstance(worker, Table):
            raise OrderRefused(f"worker {name} to be a function with `yield`, or a Table", told(worker))
    tables = [name for name, worker in workers.items() if isinstance(worker, Table)]
    if tables and len(tables) < len(workers):
        raise OrderRefused("workers that are all code or all tables", f"tables: {', '.join(tables)}")


def tabled(workers: Workers) -> TypeGuard[Mapping[str, Table]]:
    """Whether the workers are tables.

    >>> tabled({"A": len})
    False
    """
    return isinstance(next(iter(workers.values())), Table)


def check_question(store: Any, invariants: Any, at_end: Any, faults: Any, most: Any) -> None:
    """None when a search can be asked this.

    >>> check_question(list, (), (), None, None)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked faults as a text of their marks, found None
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    if not callable(store):
        raise OrderRefused("store to be a factory: a function that gives a fresh one", told(store))
    for name, laws in (("invariants", invariants), ("at_end", at_end)):
        if not isinstance(laws, tuple | list) or not all(map(callable, laws)):
            raise OrderRefused(f"{name} to be a tuple of functions", told(laws))
    if not isinstance(faults, str):
        raise OrderRefused("faults as a text of their marks", told(faults))
    if set(faults) - set(FAULTS):
        raise OrderRefused(f"the faults {faults!r}", f"only {' '.join(FAULTS)}")
    if most is not None and (type(most) is not int or most < 1):
        raise OrderRefused("most to be a whole number from 1", told(most))


def world_of(world: str | World) -> World:
    """The world of that name, or the world itself.

    >>> world_of("two_authors").name
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the world 'two_authors', found two_writers, three_writers, stranger, early_completion, no_answer, two_schedulers, stalled_worker, crash_between, approve_or_cancel, two_resumes, stale_approval, late_result
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    if isinstance(world, World):
        return world
    if not isinstance(world, str) or world not in WORLDS:
        raise OrderRefused(f"the world {world!r:.80}", ", ".join(WORLDS))
    return WORLDS[world]


def fresh(store: Any, workers: Workers) -> Any:
    """The store to play on: the one that is given, or what a factory gives.

    >>> fresh(lambda: 0, {"A": Table})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked a store to play on, found 0, an int, which has no load()
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    if isinstance(store, type) or (callable(store) and not hasattr(store, "load")):
        try:
            store = store()
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's factory
            asked = f"a store from the factory {getattr(store, '__name__', store)!s:.80}"
            raise OrderRefused(asked, words_of(fault)) from fault
    if not tabled(workers) and not hasattr(store, "load"):
        raise OrderRefused("a store to play on", f"{told(store)}, which has no load()")
    return store


def told(value: object) -> str:
    """A value and what it is, in words.

    >>> told(None), told(["A"])
    ('None', "['A'], a list")
    """
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"{value!r:.80}, {'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
