"""Machinery. Whom and what a board plays: the worlds of the kit, or the learner's own.

What is not here: playing them (see `boardplays`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runstate_lab.errors import OrderRefused
from runstate_lab.laws import Law
from runstate_lab.live.boards.plays import Setting, safely
from runstate_lab.live.faults import Askew
from runstate_lab.race import Worker
from runstate_lab.search import Question
from runstate_lab.worlds import WORLDS, MakeStore, World

MINE, OWN = "mine", "own"
MOST = 4
PLAIN_NAMES = ("work", "worker", "<lambda>")


@dataclass(frozen=True)
class Cast:
    """Everything that a board is made from: a story, names, and one setting a variant."""

    story: str
    names: Mapping[str, str]
    settings: tuple[Setting, ...]

    def who(self, worker: str) -> str:
        """The worker by letter and name, as a sentence begins.

        >>> cast_of("two_writers").who("A")
        'A, the test tool,'
        """
        name = self.names.get(worker, "")
        return f"{worker}, {name}," if name else worker


def settings_of(
    name: str, variants: tuple[str, ...] = (), mine: MakeStore | None = None
) -> tuple[Setting, ...]:
    """The named variants of a world, all of them unless some are named, and "mine".

    >>> from runstate_lab.broken import NaiveStore
    >>> [setting.name for setting in settings_of("two_writers", ("naive",), NaiveStore)]
    ['naive', 'mine']
    >>> settings_of("two_writers", ("hopeful",))
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked the variant 'hopeful' of two_writers, found no such variant
    hint: choose among compare-and-swap, naive, last-write-wins, no authority
    """
    world = _world(name)
    for variant in variants:
        if variant not in world.variants:
            hint = f"choose among {', '.join(world.variants)}"
            raise Askew(f"the variant {variant!r} of {name}", "no such variant", hint)
    found = [_setting(world, variant) for variant in variants or world.variants]
    if mine is not None:
        _check_mine(world, mine)
        found.append(_setting(world, "", mine))
    return tuple(found)


def cast_of(
    name: str = "",
    variants: tuple[str, ...] = (),
    mine: MakeStore | None = None,
    names: Mapping[str, str] | None = None,
) -> Cast:
    """The cast of a world of the kit."""
    world = _world(name)
    known = {**world.actors, **(names or {})}
    return Cast(world.story, known, settings_of(name, variants, mine))


def own_cast(
    workers: Mapping[str, Worker],
    store: Callable[[], Any] | None,
    invariants: tuple[Law, ...],
    at_end: tuple[Law, ...],
    names: Mapping[str, str] | None = None,
) -> Cast:
    """The cast of the learner's own workers on the learner's own factory of stores.

    >>> own_cast({"A": len}, None, (), ())
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked a board for the workers A, found no factory of stores
    hint: give store=lambda: StateStore(run_7_at_revision_4()), fresh at each call
    """
    if store is None or not callable(store):
        hint = "give store=lambda: StateStore(run_7_at_revision_4()), fresh at each call"
        found = "no factory of stores" if store is None else f"a {type(store).__name__}"
        raise Askew(f"a board for the workers {', '.join(workers)}", found, hint)
    try:
        Question(workers, store, tuple(invariants), tuple(at_end))
    except OrderRefused as wrong:
        hint = 'workers={"A": f, "B": g}, and laws that are defined with a name'
        raise Askew(wrong.asked, wrong.found, hint) from wrong
    if len(workers) > MOST:
        asked = f"a board for {len(workers)} workers"
        raise Askew(asked, f"lanes for {MOST}", "explore() takes more")
    called = {letter: _called(worker) for letter, worker in workers.items()}
    setting = Setting(OWN, dict(workers), store, tuple(invariants), tuple(at_end))
    return Cast("", {**called, **(names or {})}, (setting,))


def short_name(names: Mapping[str, str], worker: str) -> str:
    """The name of a worker as it stands at its lane and on its button.

    >>> short_name({"A": "the test tool"}, "A")
    'test tool'
    """
    return names.get(worker, "").removeprefix("the ")


def _setting(world: World, variant: str, mine: MakeStore | None = None) -> Setting:
    return Setting(
        variant if mine is None else MINE,
        world.variant(variant).workers,
        lambda: world.fresh(variant, store=mine),
        world.invariants,
        world.at_end,
        world.faults,
        "" if mine else world.name,
    )


def _check_mine(world: World, mine: Any) -> None:
    hint = "give a class of stores, or a function that makes one from the first state"
    if not callable(mine):
        raise Askew(f"a board with mine={mine!r:.60}", f"a {type(mine).__name__}", hint)
    named = getattr(mine, "__name__", type(mine).__name__)
    store, failure = safely(lambda: world.fresh(store=mine))
    if not failure and not callable(getattr(store, "load", None)):
        failure = f"a {type(store).__name__} without load()"
    if failure:
        raise Askew(f"a board with a store of your own, {named}", failure, hint)


def _world(name: str) -> World:
    if name not in WORLDS:
        raise Askew(f"the world {name!r}", "no such world", f"choose one of {', '.join(WORLDS)}")
    return WORLDS[name]


def _called(worker: object) -> str:
    name = getattr(worker, "__name__", "")
    return "" if name in PLAIN_NAMES else name.replace("_", " ")
