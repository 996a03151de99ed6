"""Machinery. What a board shows: the step, the picture, the tables, the branches.

What is not here: moving it (see `board`).
"""

from __future__ import annotations

from typing import Any

import traitlets

from runstate_lab.live.boards import marks as boardmarks
from runstate_lab.live.boards import views as boardviews
from runstate_lab.live.boards import words
from runstate_lab.live.boards.graph import Ground
from runstate_lab.live.boards.layout import LEFT, window
from runstate_lab.live.boards.plays import Moment, Setting
from runstate_lab.live.boards.reads import reached
from runstate_lab.live.limits import Limit, flag, number, one_of
from runstate_lab.live.live import Live, locked_picture
from runstate_lab.live.marks import still, text
from runstate_lab.race import moves

SHEETS = ("marks.css", "boardmarks.css")


class Shown(Live):
    """An order on a variant, a step of it, and the branches beside it."""

    ground: Ground
    title: str

    played = ("schedule", "at", "shown", "tried", "kept", "line", "more", "explored", "foretold")
    schedule = traitlets.Unicode("").tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)
    tried = traitlets.List(traitlets.Unicode()).tag(sync=True)
    comparing = traitlets.Bool(False).tag(sync=True)
    kept = traitlets.List().tag(sync=True)
    line = traitlets.Int(0).tag(sync=True)
    more = traitlets.Dict().tag(sync=True)
    explored = traitlets.Dict().tag(sync=True)
    expected = traitlets.Unicode("").tag(sync=True)
    foretold = traitlets.List().tag(sync=True)

    limits = {
        **Live.limits,
        "schedule": Limit(
            lambda board, given: board._plays(given["schedule"]),
            lambda board, given: "an order that can be played, such as "
            + "".join(board.ground.workers),
        ),
        "at": number("at", lambda board, given: len(moves(given["schedule"]))),
        "shown": one_of("shown", lambda board, given: tuple(board.ground.plays)),
        "tried": Limit(
            lambda board, given: all(map(board._plays, given["tried"])),
            lambda board, given: "a list of orders that can be played",
        ),
        "comparing": flag("comparing"),
        "kept": Limit(
            lambda board, given: all(board._is_line(one) for one in given["kept"]),
            lambda board, given: "a list of branches, each an order, a step and a variant",
        ),
        "line": number("line", lambda board, given: max(0, len(given["kept"]) - 1)),
        "expected": one_of("expected", lambda board, given: ("", *words.EXPECTED)),
        "foretold": Limit(
            lambda board, given: all(board._is_foretold(*one) for one in given["foretold"]),
            lambda board, given: "a list of orders, each with what was expected and what came",
        ),
    }
    call = 'board.step("A")'

    def text(self) -> str:
        """What the step shown says, in one sentence."""
        self._unsealed()
        return words.sentence(self._path()[-1], self.ground.cast) + self._judged()

    def table(self) -> Any:
        """The steps up to the one shown, as a pandas table."""
        self._unsealed()
        rows = [words.row(moment, self.ground.cast) for moment in self._path()[1:]]
        numbered = [[str(number), *row] for number, row in enumerate(rows, start=1)]
        return tabled("Trace", boardviews.TRACE_HEADS, numbered)

    def compare(self) -> Any:
        """The order shown on every variant of this board, as a pandas table."""
        self._unsealed()
        order = "".join(self._moves()[: self.at])
        rows = [
            boardviews.compare_row(self.ground.path(name, order), plays.setting)
            for name, plays in self.ground.plays.items()
        ]
        caption = f"Order {order or '(nothing played yet)'}"
        return tabled(caption, boardviews.COMPARE_HEADS, rows)

    def branches(self) -> Any:
        """All branches side by side, as a pandas table."""
        self._unsealed()
        rows = []
        for number, (schedule, at, name) in enumerate(self._lines(), start=1):
            order = "".join(moves(schedule)[:at])
            row = boardviews.compare_row(self.ground.path(name, order), self._setting(name))
            rows.append([str(number), order or "(start)", name, *row[2:]])
        return tabled("Branches", boardviews.BRANCH_HEADS, rows)

    def sentence(self) -> str:
        """Which step of which order is shown, and what the state is."""
        if self.sealed:
            return f"Board, locked: {self.sealed}"
        order = "".join(self._moves()[: self.at])
        played = f"order {order}" if order else "nothing played yet"
        here = self._path()[-1]
        says = words.sentence(here, self.ground.cast) if here.failure else boardviews.says(here.after)
        return f"Board of {self.title} on {self.shown}, {played}. {says}"

    def picture(self) -> str:
        """The space-time view of the step shown, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        layout, path = self.ground.layout, self._path()
        groups = [("rs-base", boardmarks.ground(layout, self.ground.cast.names))]
        shown = window(len(self._moves()), self.at, layout)
        for number in shown:
            x = layout.place(number - shown.start + 1)
            if number < len(path):
                groups.append(("rs-step", boardmarks.marks(path[number], layout, x)))
            groups.append(("rs-base", (text(x, layout.size[1] - 6, str(number), "soft"),)))
        before = path[min(shown.start, len(path)) - 1].after
        revision = str(getattr(before, "revision", "?"))
        groups.append(("rs-base", boardmarks.pill(LEFT + 18, layout.store, revision)))
        if self.at in shown:
            place = layout.place(self.at - shown.start + 1)
            groups.insert(0, ("rs-shade", (boardmarks.shade(layout, place),)))
        return still(groups, layout.size, self.sentence(), sheets=SHEETS)

    def seal(self, sentence: str) -> None:
        """Take everything away that tells how an order goes, until `unseal` is called."""
        super().seal(sentence)
        with self.together():
            self.more, self.explored, self.kept, self.line = {}, {}, [], 0
            self.tried = []
            self.expected, self.foretold = "", []

    def _judged(self) -> str:
        """What was foretold about the step shown, and whether it came so."""
        order = "".join(self._moves()[: self.at])
        for schedule, hoped, came in reversed(self.foretold):
            if schedule == order:
                return f" You expected: {hoped}. " + ("So it is." if hoped == came else f"It is: {came}.")
        return ""

    def _plays(self, schedule: str) -> bool:
        """Whether an order can be played on one of the variants."""
        return any(reached(plays, schedule) for plays in self.ground.plays.values())

    def _is_line(self, line: list[Any]) -> bool:
        schedule, at, name = line
        known = name in self.ground.plays and self._plays(schedule)
        return known and type(at) is int and 0 <= at <= len(moves(schedule))

    def _is_foretold(self, schedule: str, hoped: str, came: str) -> bool:
        return self._plays(schedule) and hoped in words.EXPECTED and isinstance(came, str)

    def _moves(self) -> tuple[str, ...]:
        return moves(self.schedule)

    def _path(self) -> tuple[Moment, ...]:
        return self.ground.path(self.shown, "".join(self._moves()[: self.at]))

    def _setting(self, name: str) -> Setting:
        return self.ground.plays[name].setting

    def _lines(self) -> list[list[Any]]:
        lines = [list(one) for one in self.kept] or [[]]
        lines[self.line] = [self.schedule, self.at, self.shown]
        return lines


def tabled(caption: str, heads: tuple[str, ...], rows: list[list[str]]) -> Any:
    """The rows as a pandas table with a caption."""
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, heads, rows)
