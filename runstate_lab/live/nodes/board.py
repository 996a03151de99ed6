"""Machinery. The node board: a graph, its workers, a clock; every press asks the real scheduler.

Each press is answered by a real store and kept as a frame. Moving back and
forward folds frames and runs nothing; a press after going back plays the
kept presses on a fresh store and takes another way from there.

What is not here: what a press does (see `nodeworld`), what it shows (see
`nodeviews`) and how presses are kept (see `nodeframes`).
"""

from __future__ import annotations

from typing import Any

from runstate_lab.errors import Refusal
from runstate_lab.graph import ExecutableGraph
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.live import locked_picture, script, style
from runstate_lab.live.marks import Marks, box, still, text
from runstate_lab.live.nodes.frames import Framed
from runstate_lab.live.nodes.layout import WIDE
from runstate_lab.live.nodes.marks import SHEET, fitted, moved
from runstate_lab.live.nodes.views import HEADS, PRESS_HEADS, Plain
from runstate_lab.live.nodes.world import release_graph
from runstate_lab.scheduler import Scheduler
from runstate_lab.show.frames import captioned

ROW = 28


class NodeBoard(Framed):
    """A scheduler board for a graph of nodes: claims, leases, attempts, fencing.

    `scheduler` is a class, or several, to be played beside the right one on
    the same presses.

    >>> board = NodeBoard()
    >>> board.take("w1", limit=2)
    'w1 looks: build is ready. It takes build, attempt 1 of 2, until tick 5.'
    >>> board.finish("w2")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked w2 to finish its node, found w2 holds nothing
    hint: let w2 take what is ready first
    """

    _esm = script("dom.js", "scrub.js", "exports.js", "nodeboard.js")
    _css = style("marks.css", "runstate.css", "nodemarks.css", "nodeboard.css")

    played = ("frames", "presses", "at")
    def __init__(
        self,
        graph: ExecutableGraph | None = None,
        *,
        workers: tuple[str, ...] = ("w1", "w2"),
        lease: int = 5,
        scheduler: type[Scheduler] | tuple[type[Scheduler], ...] = (),
        compare: bool = False,
    ) -> None:
        drawn = release_graph() if graph is None else graph
        kinds = scheduler if isinstance(scheduler, tuple) else (scheduler,)
        _fit(drawn, workers, kinds)
        fit("compare", compare, "a flag")
        try:
            super().__init__(drawn, tuple(workers), lease, kinds, compare=compare)
        except Refusal as refusal:
            raise Askew(refusal.asked, refusal.found, refusal.hint) from refusal

    def take(self, worker: str, *, limit: int = 1) -> str:
        """What a worker gets that looks and takes at most so many ready nodes."""
        return self.press("take", self._worker(worker), _whole("a limit", limit))

    def finish(self, worker: str, node: str = "") -> str:
        """What the report of a worker is answered that its node is done."""
        return self.press("finish", worker, *self._slip("finish", worker, node))

    def fail(self, worker: str, node: str = "") -> str:
        """What is said when the work of a worker does not succeed."""
        return self.press("fail", worker, *self._slip("fail", worker, node))

    def late(self, worker: str, node: str = "", *, attempt: int = 0) -> str:
        """What the result of an attempt is answered that was given up long ago."""
        return self.press("late", worker, *self._slip("late", worker, node, attempt))

    def die(self, worker: str) -> str:
        """What is left when a worker does nothing any more."""
        return self.press("die", self._worker(worker))

    def revive(self, worker: str) -> str:
        """What is said when a dead worker comes back under its name."""
        return self.press("revive", self._worker(worker))

    def tick(self, ticks: int = 1) -> str:
        """What the clock shows so many ticks later."""
        return self.press("tick", _whole("a number of ticks", ticks))

    def lease_end(self) -> str:
        """What the clock shows when the next lease or question has run out."""
        self._unsealed()
        now = self._view()
        if not now["next"]:
            raise Askew("the end of a lease", "no lease is running", "let a worker take a node")
        return self.press("tick", now["next"] - now["tick"])

    def release(self) -> str:
        """What the scheduler finds when it looks: ready, blocked, run out."""
        return self.press("release")

    def approve(self, node: str = "", *, approver: str = "") -> str:
        """What an approver's yes is answered."""
        return self.press("approve", *self._question(node, approver))

    def deny(self, node: str = "", *, approver: str = "") -> str:
        """What an approver's no is answered."""
        return self.press("deny", *self._question(node, approver))

    def cancel(self, node: str = "") -> str:
        """What is said when the run, or one node of it, is cancelled."""
        fit("node", node, "a text")
        return self.press("cancel", self._node(node) if node else "")

    def text(self) -> str:
        """All that is drawn, in lines: the clock, each node, each desk."""
        self._unsealed()
        now = self._view()
        lines = [f"tick {now['tick']}, revision {now['revision']}, run {now['status']}"]
        lines += [_row_words(row) for row in self._rows()]
        lines += [_desk_words(worker, now[f"desk:{worker}"]) for worker in self._workers]
        return "\n".join([*lines, self.said()])

    def table(self) -> Any:
        """Every node and every claim ever made on it, as a pandas table."""
        self._unsealed()
        return captioned("Claims", HEADS, self._rows())

    def sentence(self) -> str:
        """Where the graph stands, and what the press shown was answered."""
        if self.sealed:
            return f"Node board, locked: {self.sealed}"
        now = self._view()
        nodes = ", ".join(f"{name} {now[f'node:{name}']['status']}" for name in self._drawn.order)
        on = "" if self.shown == "Scheduler" else f" on {self.shown}"
        where = f"Node board{on} at tick {now['tick']}"
        return f"{where}: {nodes or 'no nodes'}. {self.said()}"

    def picture(self) -> str:
        """The graph and the desks at the press shown, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        now, drawing = self._view(), self._drawings["wide"]
        nodes = {name: now[f"node:{name}"] for name in self._drawn.order}
        wide, high = drawing.size
        groups = [("rs-sheet", (SHEET,)), ("rs-base", now["heading"])]
        groups += [(f"rs-nb-{one['way']}", drawing.ways(name)) for name, one in nodes.items()]
        groups += [
            ("rs-place", moved(one["marks"], drawing.corner(name))) for name, one in nodes.items()
        ]
        groups.append(("rs-desks", self._desks(now, high)))
        return still(groups, (wide, high + ROW * len(self._workers)), self.sentence())

    def _ground(self) -> Plain:
        return {
            "pages": {
                page: {
                    "size": list(one.size),
                    "corners": {name: list(one.corner(name)) for name in self._drawn.order},
                    "ways": {name: one.ways(name) for name in self._drawn.order},
                }
                for page, one in self._drawings.items()
            },
            "nodes": list(self._drawn.order),
            "workers": list(self._workers),
            "kinds": [{"id": kind, "label": kind} for kind in self._kinds],
            "heads": list(HEADS),
            "press_heads": list(PRESS_HEADS),
        }

    def _desks(self, now: Plain, top: int) -> Marks:
        drawn: list[Any] = []
        for place, worker in enumerate(self._workers):
            y = top + place * ROW
            words = fitted(_desk_words(worker, now[f"desk:{worker}"]), 12, WIDE - 60)
            role = f"nb-tag rs-nb-ink-{place % 2}"
            drawn.append(box(4, y, WIDE - 8, ROW - 6, "nb-desk-line"))
            drawn.append(text(14, y + 15, words, role, anchor="start"))
        return tuple(drawn)

    def _rows(self) -> list[list[str]]:
        now = self._view()
        return [row for name in self._drawn.order for row in now[f"node:{name}"]["rows"]]

    def _worker(self, worker: str) -> str:
        if worker not in self._workers:
            raise Askew(f"{worker!r}", "no such worker", f"name one of {', '.join(self._workers)}")
        return worker

    def _node(self, node: str) -> str:
        if node not in self._drawn.order:
            known = ", ".join(self._drawn.order) or "no node"
            raise Askew(f"{node!r}", "no such node", f"name one of {known}")
        return node

    def _slip(self, wish: str, worker: str, node: str, attempt: int = 0) -> tuple[str, int]:
        """The node and attempt that are meant; the newest one, where several would do."""
        self._unsealed()
        fit("node", node, "a text")
        desk = self._view()[f"desk:{self._worker(worker)}"]
        slips = desk["old" if wish == "late" else "held"]
        if node:
            self._node(node)
        meant = [one for one in slips if node in ("", one[0]) and attempt in (0, one[1])]
        if meant:
            return meant[-1 if node else 0][0], meant[-1 if node else 0][1]
        found = ", ".join(f"{one[0]} {one[1]}" for one in slips) or "nothing"
        if wish == "late":
            asked, hint = f"a late result of {worker}", "release() what ran out first"
            raise Askew(asked, f"old attempts: {found}", hint)
        asked, hint = f"{worker} to {wish} {node or 'its node'}", "take what is ready first"
        raise Askew(asked, f"{worker} holds {found}", f"let {worker} {hint}")

    def _question(self, node: str, approver: str) -> tuple[str, str]:
        self._unsealed()
        fit("node", node, "a text")
        fit("approver", approver, "a text")
        asking = dict(self._view()["asking"])
        if not asking:
            hint = "finish() a node that has an approver: the executor asks first"
            raise Askew("an answer of an approver", "nothing waits for one", hint)
        chosen = self._node(node) if node else next(iter(asking))
        return approver or asking.get(chosen, "anybody"), chosen


def _whole(what: str, asked: int) -> int:
    if type(asked) is not int or asked < 1:
        raise Askew(f"{what} {asked!r}", "no whole number from 1", "give 1 or more")
    return asked


def _fit(graph: object, workers: object, kinds: tuple[object, ...]) -> None:
    if not isinstance(graph, ExecutableGraph):
        raise Askew("a graph", f"a {type(graph).__name__}", "give an ExecutableGraph")
    if not isinstance(workers, tuple) or not workers or len(set(workers)) < len(workers):
        raise Askew("workers", repr(workers), 'give a tuple of names such as ("w1", "w2")')
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Scheduler)):
            raise Askew("a scheduler", repr(kind), "give a class that is a Scheduler")


def _row_words(row: list[str]) -> str:
    name, attempt, version, worker, lease, status = row
    held = f", claimed by {worker} at revision {version}, lease {lease}" if worker else ""
    return f"{name}: {status}, attempt {attempt}{held}"


def _desk_words(worker: str, desk: Plain) -> str:
    if not desk["alive"]:
        return f"{worker} is dead; the store was not told"
    held = "; ".join(slip[2] for slip in desk["held"])
    return f"{worker} holds {held}" if held else f"{worker} holds nothing"
