"""Machinery. Be the scheduler: you say who goes next, real code and a real store answer.

    Board("two_writers")                         a world of the kit, all its variants
    Board("two_writers", mine=MyStore)           your own store beside them
    Board(workers={"A": f, "B": g}, store=make)  your own workers

Every control is also a plain call with the same effect, and gives the sentence
that the widget says. Moving back and forward never runs a step again.

What is not here: what a move does (see `boardplays`), and what the browser
holds (see `boardgraph`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runstate_lab.laws import Law
from runstate_lab.live.boards import views as boardviews
from runstate_lab.live.boards import words
from runstate_lab.live.boards.graph import Ground
from runstate_lab.live.boards.reads import fault_in, frames_along, order_of
from runstate_lab.live.boards.shown import SHEETS, Shown, tabled
from runstate_lab.live.boards.worlds import cast_of, own_cast
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.live import script, style
from runstate_lab.live.runs.diffs import Change
from runstate_lab.orders import explore, explore_world
from runstate_lab.race import Worker, moves
from runstate_lab.worlds import MakeStore

PARTS = (
    "picture", "state", "trace", "tried", "stores", "laws", "diff", "faults", "explore",
    "branches", "token",
)  # fmt: skip
EXTRA = ("expect",)
PATIENCE = 20_000
FRONT = ("dom.js", "scrub.js", "exports.js", "boardwalk.js", "boardparts.js", "boardpanels.js", "board.js")


class Board(Shown):
    """Be the scheduler of two to four workers on one store.

    >>> board = Board("two_writers", variants=("naive", "compare-and-swap"))
    >>> board.play("AABBAB").partition("; ")[2]
    'tests=green is gone, and nobody was told.'
    >>> board.choose("compare-and-swap").partition(": ")[2]
    'refused, revision conflict; found revision 5; nothing changed.'
    >>> board.step("B")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked the move 'B', found B was refused: revision conflict
    hint: moves() lists what is open; back() or reset() to choose another order
    """

    _esm = script(*FRONT)
    _css = style(*SHEETS, "runstate.css", "board.css")

    def __init__(
        self,
        world: str = "",
        *,
        variants: tuple[str, ...] = (),
        mine: MakeStore | None = None,
        workers: Mapping[str, Worker] | None = None,
        store: Callable[[], Any] | None = None,
        invariants: tuple[Law, ...] = (),
        at_end: tuple[Law, ...] = (),
        names: Mapping[str, str] | None = None,
        parts: tuple[str, ...] = PARTS,
        schedule: str = "",
        compare: bool = False,
    ) -> None:
        for what, given, kind in (
            ("world", world, "a text"), ("variants", variants, "texts"),
            ("invariants", invariants, "functions"), ("at_end", at_end, "functions"),
            ("names", {} if names is None else names, "names"), ("parts", parts, "texts"),
            ("workers", {} if workers is None else workers, "workers"),
            ("schedule", schedule, "a text"), ("compare", compare, "a flag"),
        ):  # fmt: skip
            fit(what, given, kind)
        for part in parts:
            if part not in (*PARTS, *EXTRA):
                hint = f"choose among {', '.join((*PARTS, *EXTRA))}"
                raise Askew(f"the part {part!r}", "no such part", hint)
        if workers is None:
            cast = cast_of(world or "two_writers", tuple(variants), mine, names)
        else:
            cast = own_cast(workers, store, tuple(invariants), tuple(at_end), names)
        self.title = (world or "two_writers") if workers is None else "your own workers"
        self.ground = Ground(cast)
        first = cast.settings[0].name
        graph = {**self.ground.graph(), "parts": list(parts), "title": self.title}
        super().__init__(graph, shown=first, comparing=compare)
        self.on_msg(self._heard)
        if schedule:
            self.play(schedule)

    def step(self, move: str) -> str:
        """What one move does after the step shown: "A", with a fault "A!", or mail "a".

        >>> Board(variants=("naive",)).step("A")
        'A, the test tool, reads revision 4.'
        """
        self._unsealed()
        why = self._off(move)
        if why:
            hint = "moves() lists what is open; back() or reset() to choose another order"
            raise Askew(f"the move {move!r}", why, hint)
        order, hoped = (*self._moves()[: self.at], move), self.expected
        with self.together():
            self._visit(order)
            if hoped:
                came = words.happened(self._path()[-1])
                self.foretold = [*self.foretold, [self.schedule, hoped, came]]
                self.expected = ""
        return self.text()

    def expect(self, what: str) -> str:
        """What is foretold about the next step; it is judged when the step is made.

        >>> board = Board(variants=("compare-and-swap",), schedule="AABBB")
        >>> board.expect("accepted")
        'You expect of the next step: accepted.'
        >>> board.step("A").partition("changed. ")[2]
        'You expected: accepted. It is: refused.'
        """
        self._unsealed()
        if what not in words.EXPECTED:
            hint = f"choose one of {', '.join(words.EXPECTED)}"
            raise Askew(f"to expect {what!r}", "no such end of a step", hint)
        self.expected = what
        return f"You expect of the next step: {what}."

    def play(self, order: str) -> str:
        """What the last step of an order or of a token says; whole orders count as tried.

        >>> Board(variants=("naive",)).play("AAAA")
        Traceback (most recent call last):
            ...
        runstate_lab.live.faults.Askew: asked the order 'AAAA', found A is done after AAA
        hint: give an order such as AABABB or the beginning of one, or a token
        """
        self._unsealed()
        plays = {name: plays for name, plays in self.ground.plays.items()}
        variant, schedule = order_of(order, plays, self.shown, self.title)
        self.shown = variant
        return self._visit(moves(schedule))

    def back(self) -> str:
        """What is said one step earlier; nothing is run again."""
        return self._go(max(0, self.at - 1))

    def forward(self) -> str:
        """What is said one step later; nothing is run again."""
        return self._go(min(len(self._moves()), self.at + 1))

    def first(self) -> str:
        """What is said before any step."""
        return self._go(0)

    def last(self) -> str:
        """What the newest step says."""
        return self._go(len(self._moves()))

    def go(self, step: int) -> str:
        """What is said at a step; step 0 is the start."""
        newest = len(self._moves())
        if type(step) is not int or not 0 <= step <= newest:
            raise Askew(f"step {step!r}", f"{newest} steps", f"give a number from 0 to {newest}")
        return self._go(step)

    def reset(self) -> str:
        """What is said at the start again; the tried orders stay counted."""
        with self.together():
            self.schedule, self.at = "", 0
        return words.opening(self.ground.path(self.shown, "")[-1], self.ground.cast)

    def choose(self, variant: str) -> str:
        """What the same order says on another variant."""
        self._unsealed()
        fit("variant", variant, "a text")
        if variant not in self.ground.plays:
            names = ", ".join(self.ground.plays)
            raise Askew(f"the variant {variant!r}", "no such variant", f"choose one of {names}")
        with self.together():
            self.shown = variant
            self._publish()
        return self.text()

    def moves(self) -> list[tuple[str, bool, str]]:
        """Every move with whether it is open now and, if not, why not.

        >>> Board(schedule="AAA").moves()[0]
        ('A', False, 'A is done')
        """
        self._unsealed()
        offered = self.ground.moves_view(self.shown, self._path()[-1], look=True)
        return [(move, not why, why) for move, _, why in offered]

    def explore(self, variant: str = "") -> str:
        """What all the orders of the variant shown, or of another one, together say.

        >>> Board(variants=("naive",)).explore()
        '20 orders: an update is lost in 18, decided on old facts in 18.'
        """
        self._unsealed()
        fit("variant", variant, "a text")
        name = variant or self.shown
        if name not in self.ground.plays:
            names = ", ".join(self.ground.plays)
            raise Askew(f"to explore {name!r}", "no such variant", f"choose one of {names}")
        setting = self.ground.plays[name].setting
        moments = self.ground.plays[name].moments.values()
        faulty = min((one for one in moments if one.of_store), key=lambda one: len(one.key), default=None)
        if faulty is not None:
            view = boardviews.broken_store(faulty)
            self._explored(name, view)
            return view["said"]
        if setting.world:
            found = explore_world(setting.world, name)
        else:
            found = explore(
                setting.workers,
                store=setting.make,
                invariants=setting.invariants,
                at_end=setting.at_end,
                faults=setting.faults,
                most=PATIENCE,
            )
        self._explored(name, boardviews.explored_view(found, setting))
        return self.explored[name]["said"]

    def shortest(self, law: str = "") -> str:
        """What the last step of the shortest bad order says; it is loaded to be stepped through.

        >>> board = Board(variants=("naive",))
        >>> board.shortest("no_lost_update").partition("; ")[2], board.schedule
        ('scan=clean is gone, and nobody was told.', 'AABBBA')
        """
        self._unsealed()
        fit("law", law, "a text")
        if self.shown not in self.explored:
            self.explore()
        found = {name: schedule for name, _, schedule, _ in self.explored[self.shown]["laws"]}
        broken = [name for name, schedule in found.items() if schedule]
        if (law and law not in broken) or not broken:
            said = self.explored[self.shown]["said"]
            hint = f"broken are: {', '.join(broken) or 'none'}"
            raise Askew(f"the shortest order that breaks {law or 'a law'}", said, hint)
        return self._visit(moves(found[law or broken[0]]))

    def token(self) -> str:
        """The order shown as a short text that `play` runs again anywhere."""
        self._unsealed()
        return self._path()[-1].token

    def fork(self) -> str:
        """What is said when the order shown is kept as a branch, and another one goes on here."""
        self._unsealed()
        lines = self._lines()
        lines.append(["".join(self._moves()[: self.at]), self.at, self.shown])
        with self.together():
            self.kept, self.line = lines, len(lines) - 1
            self.schedule = lines[-1][0]
            self._publish()
        there = f"after {self.schedule}" if self.schedule else "from the start"
        return f"Branch {len(lines) - 1} is kept; branch {len(lines)} goes on {there}."

    def switch(self, branch: int) -> str:
        """What a branch says where it was left; the one shown is kept."""
        self._unsealed()
        lines = self._lines()
        if type(branch) is not int or not 1 <= branch <= len(lines):
            hint = f"give a number from 1 to {len(lines)}; fork() makes one"
            raise Askew(f"branch {branch}", f"{len(lines)} branches", hint)
        with self.together():
            self.kept, self.line = lines, branch - 1
            self.schedule, self.at, self.shown = lines[branch - 1]
            self._publish()
        return self.text()

    def changes(self) -> tuple[Change, ...]:
        """What the step shown changed in the state: changed fields only."""
        self._unsealed()
        return boardviews.changed(self._path()[-1]) if self.at else ()

    def outcomes(self) -> Any:
        """The final states of all orders of the variant shown, as a pandas table."""
        self._unsealed()
        if self.shown not in self.explored:
            self.explore()
        found = self.explored[self.shown]
        return tabled(found["said"], boardviews.OUTCOME_HEADS, boardviews.outcome_rows(found))

    def view(self) -> Any:
        """The order shown as a run to look at: State, Trace and Context side by side."""
        # Imported here: no one waits for the run view who does not open one.
        from runstate_lab.live.runs.view import RunView

        self._unsealed()
        return RunView(frames=frames_along(self._path(), self.ground.cast))

    def _explored(self, name: str, view: dict[str, Any]) -> None:
        with self.together():
            self.explored = {**self.explored, name: view}

    def _off(self, move: str) -> str:
        return fault_in(self.ground.plays[self.shown], self._path()[-1], move)

    def _go(self, place: int) -> str:
        self._unsealed()
        self.at = place
        return self.text()

    def _visit(self, order: tuple[str, ...]) -> str:
        with self.together():
            self.schedule, self.at = "".join(order), len(order)
            self._publish()
            here = self._path()[-1]
            whole = here.over and not here.failure
            if whole and self.schedule and self.schedule not in self.tried:
                self.tried = [*self.tried, self.schedule]
        return self.text()

    def _publish(self) -> None:
        """Hand the browser the nodes that it does not have of the orders that are shown."""
        wanted = [schedule for schedule, _, _ in self._lines()]
        found: dict[str, Any] = {}
        for name in self.ground.plays:
            nodes = [self.ground.more(name, schedule) for schedule in wanted]
            found[name] = {key: node for part in nodes for key, node in part.items()}
        if any(found.values()) or self.more:
            self.more = found

    def _heard(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        asked = {"play": self.play, "step": self.step, "explore": self.explore}
        asked |= {"shortest": self.shortest, "choose": self.choose}
        number, why, said = content.get("number", 0), "", ""
        self.send({"begun": number})
        try:
            said = asked[content["do"]](content.get("what", ""))
        except Askew as wrong:
            why = f"{wrong.found}; {wrong.hint}"
        except Exception as fault:  # noqa: BLE001 - shown in the widget: a kernel's console is out of sight
            with self.together():
                self.fault = f"{type(fault).__name__}: {fault}"
        self.send({"heard": number, "why": why, "said": said})
