"""Machinery. Presses and their frames: made once by real stores, folded ever after.

What is not here: the plain calls and the picture (see `nodeboard`).
"""

from __future__ import annotations

from typing import Any

import traitlets

from runstate_lab.graph import ExecutableGraph
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.limits import flag, number, one_of
from runstate_lab.live.live import Live
from runstate_lab.live.nodes.marks import Drawing
from runstate_lab.live.nodes.presses import Told, called, hindrance, told
from runstate_lab.live.nodes.views import PRESS_HEADS, Plain, folded, frame, view
from runstate_lab.live.nodes.world import PRESSES, Press, World
from runstate_lab.scheduler import Scheduler
from runstate_lab.show.frames import captioned

OPENING = "The nodes are planned and nobody works yet: let a worker take what is ready."
HINTS = {
    "take": "look at what stands beside the control that is off",
    "finish": "let {worker} take what is ready first",
    "fail": "let {worker} take what is ready first",
    "late": "let the lease run out and release() first; then the result of {worker} is late",
    "die": "revive({worker!r}), or look at the others",
    "revive": "die({worker!r}) first",
    "approve": "name a node that waits for an approver",
    "deny": "name a node that waits for an approver",
}


class Framed(Live):
    """What a board keeps of its presses: one world for each kind of scheduler."""

    frames = traitlets.Dict().tag(sync=True)
    presses = traitlets.List().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)
    compare = traitlets.Bool(False).tag(sync=True)

    limits = {
        **Live.limits,
        "at": number("at", lambda board, given: len(board.presses)),
        "shown": one_of("shown", lambda board, given: tuple(board._kinds)),
        "compare": flag("compare"),
    }
    call = 'board.take("w1")'

    def __init__(
        self,
        graph: ExecutableGraph,
        workers: tuple[str, ...],
        lease: int,
        kinds: tuple[type[Scheduler], ...],
        **shown: object,
    ) -> None:
        self._drawn, self._lease, self._workers = graph, lease, workers
        self._kinds = {one.__name__: one for one in (Scheduler, *kinds)}
        self._drawings = {"wide": Drawing(graph), "narrow": Drawing(graph, narrow=True)}
        self._worlds: dict[str, tuple[list[Press], World]] = {}
        super().__init__({"heads": [], **self._ground()}, shown="Scheduler", **shown)
        self.reset()
        self.on_msg(self._heard)

    def press(self, name: str, *given: Any) -> str:
        """What a press says; what came after the step shown is replaced."""
        self._unsealed()
        fit("press", name, "a text")
        if name not in PRESSES:
            known = ", ".join(PRESSES)
            raise Askew(f"the press {name!r}", "no such press", f"press one of {known}")
        press: Press = (name, *given)
        kept = [tuple(one) for one in self.presses[: self.at]]
        why = hindrance(self._world(self.shown, kept), press)
        if why:
            worker = str(given[0]) if given else ""
            hint = HINTS.get(name, "reset() begins a new run").format(worker=worker)
            raise Askew(called(press), why, hint)
        try:
            grown = {kind: self._grown(kind, kept, press) for kind in self._kinds}
        except BaseException:
            # A learner's scheduler broke in the middle of a press; what is kept is played afresh.
            self._worlds.clear()
            raise
        with self.together():
            self.frames = grown
            self.presses, self.at = [list(one) for one in (*kept, press)], len(kept) + 1
        return self.said()

    def back(self) -> str:
        """What was said one press earlier; nothing is run again."""
        return self._go(self.at - 1)

    def forward(self) -> str:
        """What was said one press later; nothing is run again."""
        return self._go(self.at + 1)

    def first(self) -> str:
        """What is said before any press."""
        return self._go(0)

    def last(self) -> str:
        """What the newest press was answered."""
        return self._go(len(self.presses))

    def reset(self) -> str:
        """What is said at the start again."""
        self._worlds = {}
        opening = {kind: [self._opening(kind)] for kind in self._kinds}
        with self.together():
            self.frames, self.presses, self.at = opening, [], 0
        return OPENING

    def choose(self, scheduler: str) -> str:
        """What the same press said on another scheduler of this board."""
        self._unsealed()
        fit("scheduler", scheduler, "a text")
        if scheduler not in self._kinds:
            known = ", ".join(self._kinds)
            raise Askew(f"{scheduler!r}", "no such scheduler", f"choose one of {known}")
        self.shown = scheduler
        return self.said()

    def said(self) -> str:
        """What the press shown was answered, in one sentence."""
        self._unsealed()
        return str(self._past()[-1]["said"])

    def trace(self) -> Any:
        """The presses up to the one shown and their answers, as a pandas table."""
        self._unsealed()
        return captioned("Presses", PRESS_HEADS, [one["row"] for one in self._past()[1:]])

    def outcomes(self) -> Any:
        """The same presses on every scheduler of this board, as a pandas table."""
        self._unsealed()
        rows = []
        for place in range(1, self.at + 1):
            found = [self.frames[kind][place]["row"] for kind in self._kinds]
            same = "same" if len({row[3] for row in found}) == 1 else "differs"
            rows.append([found[0][0], found[0][2], *(row[3] for row in found), same])
        written = [folded(self.frames[kind][: self.at + 1])["written"] for kind in self._kinds]
        same = "same" if len(set(written)) == 1 else "differs"
        rows.append(["end", "what was written", *written, same])
        return captioned("Schedulers", ("step", "press", *self._kinds, "compared"), rows)

    def _ground(self) -> Plain:
        raise NotImplementedError

    def _past(self) -> list[Plain]:
        return self.frames[self.shown][: self.at + 1]

    def _view(self) -> Plain:
        return folded(self._past())

    def _go(self, place: int) -> str:
        self._unsealed()
        self.at = max(0, min(len(self.presses), place))
        return self.said()

    def _opening(self, kind: str) -> Plain:
        shown = view(self._world(kind, []), self._drawings["wide"], self._lease)
        return frame(Told("", "", OPENING), {}, shown, 0)

    def _grown(self, kind: str, kept: list[Press], press: Press) -> list[Plain]:
        """The frames of the kept presses, and one more for the new press."""
        world = self._world(kind, kept)
        before = self.frames[kind][: len(kept) + 1]
        why = hindrance(world, press)
        done = Told(called(press), why, f"Not here: {why}.") if why else None
        if done is None:
            done = told(world, world.press(press))
        self._worlds[kind] = ([*kept, press], world)
        shown = view(world, self._drawings["wide"], self._lease)
        return [*before, frame(done, folded(before), shown, len(kept) + 1)]

    def _world(self, kind: str, presses: list[Press]) -> World:
        """The world after these presses; played afresh where the last one went elsewhere."""
        played, world = self._worlds.get(kind, ([], None))
        if world is None or played != presses:
            world = World(self._drawn, self._kinds[kind], self._workers, lease=self._lease)
            for press in presses:
                if not hindrance(world, press):
                    world.press(press)
            self._worlds[kind] = (list(presses), world)
        return world

    def _heard(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        self.attempt(lambda: self._pressed(content))
        self.send({"heard": content.get("number", 0)})

    def _pressed(self, content: dict[str, Any]) -> None:
        if content.get("at") is not None:
            self._go(int(content["at"]))
        if content["press"] == ["reset"]:
            self.reset()
        else:
            self.press(*content["press"])
