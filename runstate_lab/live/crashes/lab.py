"""Machinery. The crash lab: kill run-7 at a moment, recover, and let it go on.

Every kill of every loop was really made, on real stores, before the browser
saw it; moving the kill point back and forth runs nothing again.

What is not here: the kills (see `crashes`), and what they look like (see
`crashgraph`, `crashmarks`).
"""

from __future__ import annotations

from typing import Any

import traitlets

from runstate_lab.live.crashes.graph import (
    CALL_HEADS,
    COMPARE_HEADS,
    END,
    MATRIX_TITLE,
    MOMENT_HEADS,
    PHASES,
    REASONS,
    USUAL,
    crash_graph,
    run_name,
)
from runstate_lab.live.crashes.loops import EFFECT, LOOPS, Moment, moments, outcome
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.limits import flag, number, one_of
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import Mark, still

AIMED, KILLED, RECOVERED, ENDED = PHASES


class CrashLab(Live):
    """Kill the worker at any moment of run-7; see what the books say, and what is repeated.

    >>> lab = CrashLab()
    >>> lab.kill("result c2")
    'w1 was killed before result c2: store at revision 7, release 7 is deployed once.'
    >>> lab.recover()
    'recover() reads revision 7: c1 run_tests: failed; c2 deploy: outcome unknown. Outside, release 7 is deployed once.'
    >>> lab.go_on()
    'w2 went on, the run is failed, tool_error: deployed once, told: outcome unknown. The state says: outcome unknown.'
    >>> lab.choose("once per batch").partition(". ")[0]
    'w2 went on, the run is running, every node completed: deployed twice, the books know 1 attempt'
    """

    _esm = script("dom.js", "scrub.js", "exports.js", "crash.js")
    _css = style("marks.css", "runstate.css", "crashmarks.css", "crash.css")

    played = ("loop", "keyed", "point", "phase")
    loop = traitlets.Unicode("intent first").tag(sync=True)
    keyed = traitlets.Bool(False).tag(sync=True)
    point = traitlets.Int(0).tag(sync=True)
    phase = traitlets.Unicode(AIMED).tag(sync=True)

    limits = {
        **Live.limits,
        "loop": one_of("loop", lambda lab, given: tuple(LOOPS)),
        "keyed": flag("keyed"),
        "point": number(
            "point", lambda lab, given: len(moments(given["loop"], given["keyed"]))
        ),
        "phase": one_of("phase", lambda lab, given: PHASES),
    }
    call = "lab.kill(7)"

    def __init__(
        self, *, loop: str = "intent first", keyed: bool = False, kill: int | str | None = None
    ) -> None:
        fit("keyed", keyed, "a flag")
        super().__init__(crash_graph(), loop=_known(loop), keyed=keyed)
        if kill is not None:
            self.kill(kill)

    def choose(self, loop: str = "", *, keyed: bool | None = None) -> str:
        """What the same place says in another loop, or with an idempotency key."""
        self._unsealed()
        fit("loop", loop, "a text")
        fit("keyed", self.keyed if keyed is None else keyed, "a flag")
        wanted = _known(loop or self.loop)
        with_key = self.keyed if keyed is None else keyed
        place = self._point()["same"][run_name(wanted, with_key)]
        with self.together():
            self.loop, self.keyed, self.point = wanted, with_key, place
        return self.text()

    def aim(self, point: int | str) -> str:
        """What is said where the worker would be killed: a number, or a moment's name.

        >>> CrashLab().aim("deploys")
        'w1 runs; it would be killed before deploys, moment 7 of 13.'
        >>> CrashLab().aim("lunch")
        Traceback (most recent call last):
            ...
        runstate_lab.live.faults.Askew: asked to kill before 'lunch', found no such moment
        hint: give a number from 0 to 13, or one of lease, start, ...
        """
        self._unsealed()
        return self._go(self._place(point))

    def kill(self, point: int | str | None = None) -> str:
        """What is left when the worker dies there: before a moment, by number or name."""
        self._unsealed()
        if point is not None:
            self._go(self._place(point))
            self.phase = AIMED
        return self._follow("kill", KILLED)

    def recover(self) -> str:
        """What a recovery reads from what was kept.

        >>> CrashLab().recover()
        Traceback (most recent call last):
            ...
        runstate_lab.live.faults.Askew: asked to recover, found nobody was killed yet
        hint: the order is kill(), recover(), go_on(); spare() takes the kill back
        """
        return self._follow("recover", RECOVERED)

    def go_on(self) -> str:
        """What came of it once another worker went on."""
        return self._follow("go_on", ENDED)

    def spare(self) -> str:
        """What is said when nobody was killed after all."""
        return self._follow("spare", AIMED)

    def back(self) -> str:
        """What is said one moment earlier; nothing is run again."""
        return self._go(self.point - 1)

    def forward(self) -> str:
        """What is said one moment later; nothing is run again."""
        return self._go(self.point + 1)

    def first(self) -> str:
        """What is said before any moment."""
        return self._go(0)

    def last(self) -> str:
        """What is said after the last moment."""
        return self._go(len(self._run()["points"]) - 1)

    def reset(self) -> str:
        """What is said at the start again: nobody is killed."""
        with self.together():
            self.loop, self.keyed, self.point, self.phase = "intent first", False, 0, AIMED
        return "" if self.sealed else self.text()

    def text(self) -> str:
        """What is shown, in one sentence."""
        return str(self._point()["said"][self.phase])

    def table(self) -> Any:
        """The moments of both workers, as a pandas table: what happened, and what was lost."""
        self._unsealed()
        rows = []
        for number, one in enumerate(moments(self.loop, self.keyed)):
            happened = "yes" if self.phase == AIMED or number < self.point else "no"
            rows.append([*self._row(number, one), happened, "w1"])
        if self.phase == ENDED:
            after = outcome(self.loop, self.keyed, self.point).after
            rows += [[*self._row(number, one), "after it", "w2"] for number, one in enumerate(after)]
        return _captioned(f"Moments, {self._name()}", MOMENT_HEADS, rows)

    def calls(self) -> Any:
        """What the recovery says of each open call, and why, as a pandas table."""
        if PHASES.index(self.phase) < PHASES.index(RECOVERED):
            raise Askew("what was recovered", "nothing recovered yet", "kill(), then recover()")
        return _captioned("What recover() says of open calls", CALL_HEADS, self._point()["calls"])

    def compare(self) -> Any:
        """The same place in every loop, with a key and without, as a pandas table."""
        rows = [self._known["runs"][name]["points"][at]["row"] for name, at in self._same()]
        return _captioned("The same place in every loop", COMPARE_HEADS, rows)

    def every_point(self) -> Any:
        """How often each loop deploys after a kill at each place, as a pandas table."""
        self._unsealed()
        heads = tuple(self._known["matrix_heads"])
        return _captioned(MATRIX_TITLE, heads, self._known["matrix"], usual=USUAL)

    def sentence(self) -> str:
        """Which loop is shown, and what came of the kill."""
        if self.sealed:
            return f"Crash lab, locked: {self.sealed}"
        return f"Crash lab, {self._name()}. {self.text()}"

    def picture(self) -> str:
        """Both workers' moments as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        looks = ("style", {}, style("crashmarks.css"))
        groups = [("rs-crash", (looks, *self._marks()))]
        return still(groups, tuple(self._known["size"]), self.sentence())

    def _marks(self) -> list[Mark]:
        run, point = self._run(), self._point()
        happened = len(run["moments"]) if self.phase == AIMED else self.point
        parts = [run["ground"], point["whole" if self.phase == AIMED else "life"]]
        parts += [*run["moments"][:happened], *run["ghosts"][happened:]]
        parts.append(point["aim" if self.phase == AIMED else "kill"])
        later = {AIMED: "idle", KILLED: "idle", RECOVERED: "read", ENDED: "went"}
        parts.append(point[later[self.phase]])
        return [tuple(self._known["marks"][place]) for part in parts for place in part]

    def _follow(self, control: str, phase: str) -> str:
        self._unsealed()
        reason = REASONS[self.phase].get(control)
        if reason:
            hint = "the order is kill(), recover(), go_on(); spare() takes the kill back"
            raise Askew(f"to {control.replace('_', ' ')}", reason, hint)
        self.phase = phase
        return self.text()

    def _go(self, point: int) -> str:
        self._unsealed()
        point = max(0, min(len(self._run()["points"]) - 1, point))
        with self.together():
            self.phase = self.phase if point == self.point else AIMED
            self.point = point
        return self.text()

    def _place(self, point: int | str) -> int:
        words = self._run()["words"]
        if isinstance(point, str) and point in (*words, END):
            return [*words, END].index(point)
        if isinstance(point, int) and not isinstance(point, bool) and 0 <= point <= len(words):
            return point
        hint = f"give a number from 0 to {len(words)}, or one of {', '.join(words)}"
        raise Askew(f"to kill before {point!r}", "no such moment", hint)

    def _row(self, number: int, one: Moment) -> list[str]:
        where = "world" if one.sort == EFFECT else LOOPS[self.loop].kept_in
        again = "" if one.fresh else ": asked again under its key, nothing more happened"
        return [str(number), f"{one.words}{again}", where, str(one.number)]

    def _name(self) -> str:
        return run_name(self.loop, self.keyed)

    def _run(self) -> dict[str, Any]:
        return self._known["runs"][self._name()]

    def _point(self) -> dict[str, Any]:
        self._unsealed()
        return self._run()["points"][self.point]

    def _same(self) -> list[tuple[str, int]]:
        return list(self._point()["same"].items())


def _known(loop: str) -> str:
    fit("loop", loop, "a text")
    if loop not in LOOPS:
        raise Askew(f"the loop {loop!r}", "no such loop", f"choose one of {', '.join(LOOPS)}")
    return loop


def _captioned(
    caption: str, heads: tuple[str, ...], rows: list[list[str]], *, usual: str = ""
) -> Any:
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, heads, rows, usual=usual)
