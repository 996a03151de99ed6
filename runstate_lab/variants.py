"""Floor 5. What a world to explore is: a start, who acts, which laws, and its variants.

Each world has one variant that is right, named first, and beside it others
with another kind of store or other workers: wrong on purpose, or right in
another way. Which, an exploration tells.

What is not here: the worlds themselves (see `worlds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runstate_lab.errors import OrderRefused
from runstate_lab.laws import Law
from runstate_lab.model import RunState
from runstate_lab.race import Worker
from runstate_lab.store import StateStore

MakeStore = Callable[[RunState], StateStore]
RIGHT = "compare-and-swap"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to build a world: its workers, and the kind of store they share."""

    workers: Mapping[str, Worker]
    store: MakeStore = StateStore


@dataclass(frozen=True, slots=True)
class World:
    """A start, the variants to try, and the laws that hold in the right one.

    `actors` names the workers in words; `faults` are the marks that an
    exploration may set, each once.
    """

    name: str
    story: str
    start: Callable[[], RunState]
    actors: Mapping[str, str]
    variants: Mapping[str, Variant]
    invariants: tuple[Law, ...]
    at_end: tuple[Law, ...] = ()
    faults: str = ""

    def variant(self, name: str = "") -> Variant:
        """The named variant; without a name, the right one.

        >>> World("empty", "", lambda: RunState("run-7"), {}, {RIGHT: Variant({})}, ()).variant("naive")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the variant 'naive' of empty, found compare-and-swap
        hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
        """
        if not isinstance(name, str) or (name and name not in self.variants):
            raise OrderRefused(f"the variant {name!r} of {self.name}", ", ".join(self.variants))
        return self.variants[name or next(iter(self.variants))]

    def fresh(self, variant: str = "", *, store: MakeStore | None = None) -> StateStore:
        """A new store of the variant, or of your own kind, at the world's start.

        >>> world = World("empty", "", lambda: RunState("run-7"), {}, {RIGHT: Variant({})}, ())
        >>> world.fresh().load().revision
        0
        """
        return (store or self.variant(variant).store)(self.start())
