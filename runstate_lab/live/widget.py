"""Machinery. Be the scheduler: two writers, three presses each, one store.

Every control is also a plain call with the same effect, and gives the
sentence that the widget says. Moving back and forward never runs a step
again: all steps were taken once, on real stores, before the browser saw them.

What is not here: which steps there are (see `stepgraph`), and when a widget is
sealed (see the course).
"""

from __future__ import annotations

from typing import Any

import traitlets

from runstate_lab.live import lanes, steps
from runstate_lab.live.live import Askew, Live, locked_picture, script, style
from runstate_lab.live.marks import still
from runstate_lab.live.stepgraph import HEADS, OPENING, step_graph

ALL_STORES = tuple(steps.STORES)


class Scheduler(Live):
    """Be the scheduler: two writers, three presses each, one store.

    >>> board = Scheduler()
    >>> board.play("AABBAB").partition("; ")[2]
    'tests=green is gone, and nobody was told.'
    >>> board.step("B")
    Traceback (most recent call last):
        ...
    runstate_lab.live.live.Askew: asked a step of B, found 3 steps done: read, computed, submitted
    hint: reset(), or go back() and choose another order
    """

    _esm = script("dom.js", "scrub.js", "exports.js", "scheduler.js")
    _css = style("marks.css", "runstate.css")

    played = ("schedule", "at")
    schedule = traitlets.Unicode("").tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Unicode("naive").tag(sync=True)
    cast = traitlets.Unicode("scanner").tag(sync=True)
    tried = traitlets.List(traitlets.Unicode()).tag(sync=True)
    compare = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        *,
        stores: tuple[str, ...] = ALL_STORES,
        casts: tuple[str, ...] = ("scanner",),
        schedule: str = "",
        compare: bool = False,
    ) -> None:
        for asked, known in (
            *((store, ALL_STORES) for store in stores),
            *((cast, tuple(steps.CASTS)) for cast in casts),
        ):
            _one_of(asked, known)
        super().__init__(step_graph(stores, casts), shown=stores[0], cast=casts[0], compare=compare)
        if schedule:
            self.play(schedule)

    def step(self, actor: str) -> str:
        """What one press does: the next step of the actor, after the step shown.

        >>> Scheduler().step("A")
        'A, the test tool, reads revision 4.'
        """
        _one_of(actor, steps.ACTORS)
        order = self.schedule[: self.at]
        if order.count(actor) == len(steps.ACTIONS):
            raise Askew(
                f"a step of {actor}",
                "3 steps done: read, computed, submitted",
                "reset(), or go back() and choose another order",
            )
        return self.play(order + actor)

    def play(self, schedule: str) -> str:
        """What the last step of a whole or partial order says; the order counts as tried.

        >>> Scheduler().play("AAAA")
        Traceback (most recent call last):
            ...
        runstate_lab.live.live.Askew: asked the order 'AAAA', found 4 steps of A, where each writer has 3
        hint: give an order such as 'AABABB', or the beginning of one
        """
        self._unsealed()
        order = "".join(
            self._known["tokens"].get(schedule, schedule).upper().replace(",", "").split()
        )
        if order not in self._nodes:
            raise Askew(
                f"the order {schedule!r}",
                _fault_in(order),
                "give an order such as 'AABABB', or the beginning of one",
            )
        if len(order) == lanes.STEPS and order not in self.tried:
            self.tried = [*self.tried, order]
        self.schedule, self.at = order, len(order)
        return self.text()

    def back(self) -> str:
        """What is said one step earlier; nothing is run again."""
        return self._go(self.at - 1)

    def forward(self) -> str:
        """What is said one step later; nothing is run again."""
        return self._go(self.at + 1)

    def first(self) -> str:
        """What is said before any step."""
        return self._go(0)

    def last(self) -> str:
        """What the newest step says."""
        return self._go(len(self.schedule))

    def reset(self) -> str:
        """What is said at the start again; the tried orders stay counted."""
        self.schedule, self.at = "", 0
        return OPENING

    def choose(self, store: str = "", *, cast: str = "") -> str:
        """What the same order says on another store, or with another writer B.

        >>> board = Scheduler(schedule="ABABAB")
        >>> board.choose("compare-and-swap").split(": ")[1]
        'refused, revision conflict; found revision 5; nothing changed.'
        """
        self._unsealed()
        self.shown = _one_of(store or self.shown, tuple(self._known["nodes"][self.cast]))
        self.cast = _one_of(cast or self.cast, tuple(self._known["nodes"]))
        return self.text()

    def text(self) -> str:
        """What the step shown says, in one sentence."""
        self._unsealed()
        return self._path()[-1]["said"] if self.at else OPENING

    def table(self) -> Any:
        """The steps up to the one shown, as a pandas table."""
        self._unsealed()
        return _tabled("Trace", HEADS, [step["row"] for step in self._path()])

    def outcomes(self) -> Any:
        """The order shown on every store of this widget, as a pandas table."""
        self._unsealed()
        heads = ("store", "revision", "facts", "in short")
        rows = [self._outcome(store) for store in self._known["nodes"][self.cast]]
        return _tabled(f"Order {self.schedule[: self.at]}", heads, rows)

    def sentence(self) -> str:
        """Which step of which order is shown, and what the state is."""
        if self.sealed:
            return f"Scheduler, locked: {self.sealed}"
        played = f"order {self.schedule[: self.at]}" if self.at else "nothing played yet"
        return f"Scheduler on the {self.shown} store, {played}. {self._state()['says']}"

    def picture(self) -> str:
        """The space-time view of the step shown, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        shade = (lanes.shade(self.at),) if self.at else ()
        groups = [("rs-step", step["marks"]) for step in self._path()]
        base = ("rs-base", self._known["base"][self.cast])
        return still([("rs-shade", shade), base, *groups], lanes.SIZE, self.sentence())

    @property
    def _nodes(self) -> dict[str, list[int]]:
        return self._known["nodes"][self.cast][self.shown]

    def _path(self) -> list[dict[str, Any]]:
        cuts = range(1, self.at + 1)
        return [self._known["steps"][self._nodes[self.schedule[:cut]][0]] for cut in cuts]

    def _state(self, store: str = "") -> dict[str, Any]:
        nodes = self._known["nodes"][self.cast][store or self.shown]
        return self._known["states"][nodes[self.schedule[: self.at]][1]]

    def _outcome(self, store: str) -> list[str]:
        state = self._state(store)
        facts = ", ".join(words for words, mood in state["facts"] if mood != "lost")
        return [store, str(state["revision"]), facts, state["short"]]

    def _go(self, place: int) -> str:
        self._unsealed()
        self.at = max(0, min(len(self.schedule), place))
        return self.text()


def _one_of(asked: str, known: tuple[str, ...]) -> str:
    if asked not in known:
        raise Askew(f"{asked!r}", "no such choice", f"choose one of {', '.join(known)}")
    return asked


def _fault_in(order: str) -> str:
    for actor in steps.ACTORS:
        if order.count(actor) > len(steps.ACTIONS):
            return f"{order.count(actor)} steps of {actor}, where each writer has 3"
    return "a letter that is neither A nor B"


def _tabled(caption: str, heads: tuple[str, ...], rows: list[list[str]]) -> Any:
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, heads, rows)
