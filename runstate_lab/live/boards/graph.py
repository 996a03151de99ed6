"""Machinery. A board as plain values: what the browser needs to step without a kernel.

All beginnings of plain orders are played once and sent once, where there are
not too many. Equal steps and equal states are sent once and named by their
place in a list.

What is not here: when the browser has to ask (see `board`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runstate_lab.line import FAULTS
from runstate_lab.live.boards import marks as boardmarks
from runstate_lab.live.boards import views as boardviews
from runstate_lab.live.boards import words
from runstate_lab.live.boards.layout import FEW, FIRST, LEFT, MANY, Layout
from runstate_lab.live.boards.plays import Moment, Plays
from runstate_lab.live.boards.worlds import Cast, short_name
from runstate_lab.live.pool import Pool
from runstate_lab.race import moves

Plain = dict[str, Any]
MOST = 2_000
NEXT = "takes its next step"


class Ground:
    """All settings of a board, played as far as they can be, and how they are told."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.plays = {setting.name: Plays(setting) for setting in cast.settings}
        most = MOST // len(self.plays)
        self.whole = {name: plays.every(most) for name, plays in self.plays.items()}
        self.workers = tuple(cast.settings[0].workers)
        longest = max(
            (len(moves(key)) for name, plays in self.plays.items() for key in plays.moments),
            default=0,
        )
        self.layout = Layout(self.workers, FEW if longest <= FEW else MANY)
        self.known = {
            name: set(plays.moments) if self.whole[name] else {""}
            for name, plays in self.plays.items()
        }

    def orders(self, name: str) -> int | None:
        """The exact number of plain orders, or None where they were not all played."""
        if not self.whole[name]:
            return None
        return sum(self.plays[name].moments[key].over for key in self.known[name])

    def path(self, name: str, schedule: str) -> tuple[Moment, ...]:
        """The moments of an order on a setting, the start first."""
        plays = self.plays[name]
        return (plays.moments[""], *plays.path(schedule))

    def step_view(self, moment: Moment) -> Plain:
        """One step as plain values: its sentence, its row, its marks, what it changed."""
        cast, step = self.cast, moment.step
        said = words.sentence(moment, cast)
        return {
            "said": said,
            "happened": words.happened(moment),
            "row": words.row(moment, cast),
            "short": [f"{step.worker} {one}" for one in words.answers(moment)] if step else [],
            "changes": list(map(str, boardviews.changed(moment))),
            "marks": boardmarks.marks(moment, self.layout),
            "rest": boardmarks.resting(moment, self.layout),
        }

    def moves_view(self, name: str, here: Moment, *, look: bool) -> list[list[str]]:
        """Every move with its label and why it is not open; `look` plays one step ahead."""
        plays = self.plays[name]
        found = []
        for worker in self.workers:
            key = here.key + worker
            ahead = plays.after(here, worker) if look else plays.moments.get(key)
            label = words.doing(ahead) if ahead is not None else NEXT
            found.append([worker, label, words.off(here, worker)])
            for mark in FAULTS:
                known = look or ahead is not None
                why = words.off_with_fault(here, worker + mark, ahead) if known else ""
                found.append([worker + mark, FAULTS[mark], why])
            mail = worker.lower()
            found.append([mail, f"mail of {worker} arrives", words.off(here, mail)])
        return found

    def node(self, name: str, path: Sequence[Moment], *, look: bool) -> list[Any]:
        """What the browser needs to show the last moment of a path."""
        here = path[-1]
        return [
            self.step_view(here),
            boardviews.state_view(path, self.plays[name].setting),
            self.moves_view(name, here, look=look),
            here.token,
        ]

    def graph(self) -> Plain:
        """Everything that is sent once."""
        steps, states, presses = Pool(), Pool(), Pool()
        nodes: Plain = {}
        for name in self.plays:
            nodes[name] = {}
            for key in sorted(self.known[name], key=lambda key: (len(key), key)):
                step, state, offered, token = self.node(name, self.path(name, key), look=True)
                place = [steps.place(step), states.place(state), presses.place(offered)]
                nodes[name][key] = [*place, token]
        return {
            **self._frame(),
            "nodes": nodes,
            "steps": steps.kept,
            "states": states.kept,
            "moves": presses.kept,
        }

    def more(self, name: str, schedule: str) -> Plain:
        """The nodes of an order that the browser does not have."""
        plays, found = self.plays[name], {}
        here = plays.moments[""]
        every = (here, *[moment for moment in plays.path(schedule)])
        real = [moment for moment in every if moment.step is None or moment.step.ended != "skipped"]
        for count, moment in enumerate(real, start=1):
            if moment.key not in self.known[name]:
                look = count == len(real)
                found[moment.key] = self.node(name, real[:count], look=look)
        return found

    def _frame(self) -> Plain:
        layout, names = self.layout, self.cast.names
        return {
            "settings": [{"id": name, "label": name} for name in self.plays],
            "workers": [
                [worker, short_name(names, worker), layout.hue(worker), self.cast.who(worker)]
                for worker in self.workers
            ],
            "expected": [{"id": one, "label": one} for one in words.EXPECTED],
            "faults": [[mark, said] for mark, said in FAULTS.items()],
            "faulted": any(setting.faults for setting in self.cast.settings),
            "orders": {name: self.orders(name) for name in self.plays},
            "layout": {
                "size": list(layout.size),
                "columns": layout.columns,
                "apart": layout.apart,
                "first": FIRST,
                "pill": LEFT + 18,
            },
            "base": boardmarks.ground(layout, names),
            "idle": {worker: boardmarks.idle(layout, worker) for worker in self.workers},
            "shade": boardmarks.shade(layout),
            "pill": boardmarks.pill(0, layout.store, "00"),
            "heads": {
                "trace": list(boardviews.TRACE_HEADS),
                "compare": list(boardviews.COMPARE_HEADS),
                "branches": list(boardviews.BRANCH_HEADS),
            },
        }
