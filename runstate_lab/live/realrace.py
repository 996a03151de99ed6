"""Machinery. A button that starts a real race; what comes out is never stored.

The page, the notebook and the sentence hold no measured number: a race is run
when it is asked for, by real processes on one real file, and its numbers are
those of this machine at this moment.

What is not here: the race (see `show.realrace`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import traitlets

from runstate_lab.live.exports import standalone
from runstate_lab.live.faults import fit
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import Marks, box, line, still, svg, text
from runstate_lab.show.realrace import HEADS, Tally, as_table, tally

SIZE = (760, 152)
LEFT, RIGHT, HIGH = 132, 746, 26
ROWS = {"naive": 12, "right": 92}
ABOUT = {"naive": "saves whole pages", "right": "compares, then swaps"}
SECONDS = 60.0
SHEETS = ("marks.css", "racemarks.css")
IDLE = "not raced yet"


class RealRace(Live):
    """Processes race for one file when the button is pressed; nothing is stored.

    >>> race = RealRace(each=3)
    >>> race
    A real race: 2 processes write 3 results each to one SQLite file, on the naive store and on the right one. What comes out is not stored; run this cell and press Race now.
    >>> race.start(worst=True).partition(" right: ")[0]
    'naive: 3 of 6 acknowledged results are in the file, 3 lost, nobody was told anything.'
    """

    _esm = script("dom.js", "exports.js", "realrace.js")
    _css = style(*SHEETS, "runstate.css", "realrace.css")

    call = "race.start()"
    played = ("rows", "said", "marks")
    rows = traitlets.List().tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)
    marks = traitlets.List().tag(sync=True)

    def __init__(self, *, writers: int = 2, each: int = 50, limit: float = SECONDS) -> None:
        for what, given in (("writers", writers), ("each", each)):
            fit(what, given, "a count")
        fit("limit", limit, "seconds")
        self._writers, self._each, self._limit = writers, each, limit
        super().__init__({"size": list(SIZE), "heads": list(HEADS), "opening": self._opening()})
        with self.together():
            self.marks = _drawn(())
        self.on_msg(self._heard)

    def start(self, *, worst: bool = False) -> str:
        """What a race on each store came to, run now by real processes.

        In the worst order every read waits until all have read.
        """
        self._unsealed("to race")
        held = self._each if worst else 1
        size = {"writers": self._writers, "each": self._each, "held": held, "limit": self._limit}
        tallies = [tally(store, **size) for store in ROWS]
        with self.together():
            self.rows = [list(map(str, astuple(one))) for one in tallies]
            self.marks = _drawn(tallies)
            self.said = self.text()
        return self.said

    def reset(self) -> str:
        """Forget the last race."""
        with self.together():
            self.rows, self.marks, self.said = [], _drawn(()), ""
        return self._opening()

    def text(self) -> str:
        """What the last race came to, in one sentence a store."""
        if self.sealed:
            return self.sentence()
        return " ".join(one.sentence for one in self._tallies) or "Nothing was raced yet."

    def table(self) -> Any:
        """The last race as a pandas table, one row a store."""
        self._unsealed("to look at a race")
        return as_table(self._tallies)

    def sentence(self) -> str:
        """What will be raced; never what came out, because a notebook keeps this."""
        return f"A real race, locked: {self.sealed}" if self.sealed else self._opening()

    def picture(self) -> str:
        """The course before the race; a notebook keeps this, so it has no result."""
        if self.sealed:
            return locked_picture(self.sealed)
        return still([("rs-race", _drawn(()))], SIZE, self.sentence(), sheets=SHEETS)

    def svg(self) -> str:
        """The last race as one SVG document; it is yours to keep."""
        self._unsealed("to save the picture")
        drawn = svg([("rs-race", _drawn(self._tallies))], SIZE, sheets=SHEETS)
        return standalone([drawn], self.text(), mark=type(self).__name__)

    @property
    def _tallies(self) -> list[Tally]:
        return [Tally(store, *map(int, counts)) for store, *counts in self.rows]

    def _opening(self) -> str:
        return (
            f"A real race: {self._writers} processes write {self._each} results each to one "
            "SQLite file, on the naive store and on the right one. What comes out is not "
            "stored; run this cell and press Race now."
        )

    def _heard(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        # Said before the work: the page tells a busy kernel from a dead one.
        self.send({"started": True})
        self.attempt(lambda: self.start(worst=bool(content.get("worst"))))
        self.send({"ended": True})


def _drawn(tallies: Sequence[Tally]) -> Marks:
    """A bar for each store: what was acknowledged, and how much of it is in the file."""
    known = {one.store: one for one in tallies}
    marks: list[Any] = []
    for store, y in ROWS.items():
        marks += [
            text(14, y + 12, store, "name", anchor="start"),
            text(14, y + 29, ABOUT[store], "soft", anchor="start"),
        ]
        marks += _bar(known[store], y) if store in known else _course(y)
    return tuple(marks)


def _course(y: int) -> Marks:
    return (
        line(LEFT + 20, y + HIGH / 2, RIGHT, y + HIGH / 2, "lane"),
        text((LEFT + RIGHT) / 2, y + HIGH + 18, IDLE, "soft"),
    )


def _bar(one: Tally, y: int) -> Marks:
    left = LEFT + 20
    kept = (RIGHT - left) * (one.acknowledged - one.lost) / max(1, one.acknowledged)
    marks = [box(left, y, kept, HIGH, "pill-new", corner=4)] if kept else []
    if one.lost:
        marks.append(box(left + kept, y, RIGHT - left - kept, HIGH, "gone", corner=4))
    told = f"{one.conflicts} conflicts told" if one.conflicts else "no conflict told"
    counted = f"{one.found} of {one.acknowledged} acknowledged in the file"
    lost = f"{one.lost} lost" if one.lost else "none lost"
    look = "warn" if one.lost else "good"
    return (
        *marks,
        text(left, y + HIGH + 18, f"{counted}, {lost}", look, anchor="start"),
        text(RIGHT, y + HIGH + 18, told, "label", anchor="end"),
    )
