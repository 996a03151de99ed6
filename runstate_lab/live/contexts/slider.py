"""Machinery. The context slider: what a model gets to see, at every budget.

Every budget was really built before the browser saw it; the slider only
looks up. Two states of one run can be looked at side by side.

What is not here: what a context holds (see `context` of the book), and where
it changes (see `contextviews`).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import traitlets

from runstate_lab.context import ContextBuilder
from runstate_lab.errors import Refusal, words_of
from runstate_lab.live.contexts.run import PRIVATE_KEYS, busy_run
from runstate_lab.live.contexts.views import (
    LEFT,
    NAMES,
    OUT,
    ROOM,
    Gallery,
    Line,
    Plain,
    folded,
    unpacked,
)
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.limits import flag, number, one_of
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import FRONT, Mark, Marks, box, line, still, text
from runstate_lab.model import RunState
from runstate_lab.rules import replay
from runstate_lab.show.frames import captioned
from runstate_lab.store import StateStore

SHEET: Mark = ("style", {}, (FRONT / "contextmarks.css").read_text("utf-8"))
HEADS = ("line", "size", "shown", "reason")
WIDE, TOP, HIGH, HALF = 826, 26, 34, 42
BAR = (WIDE, 88)
ROW, LETTERS, WIDE_FROM = 17, 112, 0x2E80


class ContextSlider(Live):
    """What a model may read of a run, at every budget and in both privacy modes.

    `at` names a revision, or several, to look at beside the newest state.

    >>> slider = ContextSlider(RunState("run-7", goal="ship release 7"))
    >>> slider.spend(40)
    'Budget 40: 3 of 3 lines, 40 characters; left out: goal (14 characters): budget.'
    >>> slider.spend(0)
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked a budget of 0 characters, found budgets from 1
    hint: give a whole number from 1
    """

    _esm = script("dom.js", "exports.js", "contextslider.js")
    _css = style("marks.css", "runstate.css", "contextmarks.css", "contextslider.css")

    played = ("budget", "privacy", "shown")
    budget = traitlets.Int(1).tag(sync=True)
    privacy = traitlets.Unicode("open").tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)
    compare = traitlets.Bool(False).tag(sync=True)

    limits = {
        **Live.limits,
        "budget": number("budget", lambda slider, given: slider.most, first=1),
        "privacy": one_of("privacy", lambda slider, given: slider._ids("modes")),
        "shown": one_of("shown", lambda slider, given: slider._ids("states")),
        "compare": flag("compare"),
    }
    call = "slider.spend(300)"

    def __init__(
        self,
        run: StateStore | RunState | None = None,
        *,
        at: int | tuple[int, ...] = (),
        budget: int | None = None,
        privacy: str = "open",
        private_keys: tuple[str, ...] | None = None,
    ) -> None:
        keys = PRIVATE_KEYS if run is None and private_keys is None else private_keys or ()
        states = _states(busy_run() if run is None else run, at)
        try:
            ContextBuilder(private_keys=keys)
        except Refusal as refusal:
            raise Askew(refusal.asked, refusal.found, refusal.hint) from refusal
        gallery = Gallery(states, keys)
        newest = next(iter(states))
        known = {**gallery.plain(), **_ground(states, gallery, keys)}
        super().__init__(known, shown=newest, compare=len(states) > 1)
        self._default = max(1, self.most * 3 // 5)
        self.spend(self._default if budget is None else budget)
        if privacy != "open":
            self.choose(privacy=privacy)

    @property
    def most(self) -> int:
        """The smallest budget at which nothing is left out for want of room."""
        return int(self._known["most"])

    def spend(self, budget: int) -> str:
        """What a context of at most so many characters holds; more than enough is enough."""
        self._unsealed()
        if type(budget) is not int or budget < 1:
            asked = f"a budget of {budget!r} characters"
            raise Askew(asked, "budgets from 1", "give a whole number from 1")
        self.budget = min(budget, self.most)
        return self.said()

    def wider(self) -> str:
        """What is said at the next budget at which a line comes in or goes out."""
        self._unsealed()
        after = [place for place in self._here()["turns"] if place > self.budget]
        return self.spend(after[0] if after else self.most)

    def narrower(self) -> str:
        """What is said at the budget before which a line came in or went out."""
        self._unsealed()
        before = [place for place in self._here()["turns"] if place < self.budget]
        return self.spend(before[-1] if before else 1)

    def choose(self, *, privacy: str = "", at: int | str = "") -> str:
        """What the same budget holds in another privacy mode, or at another revision."""
        self._unsealed()
        fit("privacy", privacy, "a text")
        modes, states = self._ids("modes"), self._ids("states")
        self.privacy = _one_of(privacy or self.privacy, modes, "privacy mode")
        self.shown = _one_of(str(at) if at != "" else self.shown, states, "revision")
        return self.said()

    def reset(self) -> str:
        """What is said where the slider stood at first."""
        with self.together():
            self.shown, self.privacy = self._known["states"][0]["id"], "open"
            self.budget = self._default
        return "" if self.sealed else self.said()

    def said(self) -> str:
        """What the context shown holds, in one sentence."""
        self._unsealed()
        return f"Budget {self.budget}: {self._at()['said']}"

    def context(self) -> str:
        """The context shown, as its builder gives it."""
        self._unsealed()
        return "\n".join(one.shown for one in self._lines() if one.where != OUT)

    def left_out(self) -> tuple[str, ...]:
        """What is left out and why, in the builder's words."""
        self._unsealed()
        found = [self._known["left"][place] for place in self._at()["left"]]
        return tuple(f"{one['what']}: {one['why']}" for one in found)

    def text(self) -> str:
        """All that is drawn, in lines: the context, what is left out, what is spent on what."""
        left = [f"left out: {one}" for one in self.left_out()] or ["left out: nothing"]
        return "\n".join([self.said(), self.context(), *left, _spending(self._at(), self.budget)])

    def table(self) -> Any:
        """Every line there could be: its size, whether it is in, and why not."""
        self._unsealed()
        rows = [[one.shown, str(one.size), one.where, one.why] for one in self._lines()]
        return captioned(f"Lines; everything takes {self.most}", HEADS, rows)

    def compared(self) -> Any:
        """The same budget at every revision of this slider, line by line."""
        self._unsealed()
        names = [one["id"] for one in self._known["states"]]
        found = {name: {one.key: one.where for one in self._lines(name)} for name in names}
        keys = dict.fromkeys(key for name in reversed(names) for key in found[name])
        rows = [[key, *(found[name].get(key, "not there") for name in names)] for key in keys]
        heads = [f"at revision {name}" for name in names]
        return captioned(f"Lines at budget {self.budget}", ("line", *heads), rows)

    def sentence(self) -> str:
        """Which state and mode is shown, and what its context holds."""
        if self.sealed:
            return f"Context slider, locked: {self.sealed}"
        mode = "" if self.privacy == "open" else f", privacy {self.privacy}"
        return f"Context of {self._known['run']} at revision {self.shown}{mode}. {self.said()}"

    def picture(self) -> str:
        """The bar of the budget and the context under it, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        rows = [(one.shown, "ctx-line") for one in self._lines() if one.where != OUT]
        rows += [(f"left out: {one}", "ctx-left") for one in self.left_out()]
        words = [
            text(LEFT, BAR[1] + 12 + place * ROW, _cut(words), role, anchor="start")
            for place, (words, role) in enumerate(rows)
        ]
        groups = [("rs-sheet", (SHEET,)), ("rs-base", self._known["pages"]["wide"]["base"])]
        groups += [("rs-bar-spent", self._bar()), ("rs-budget", _marker(self.budget, self.most))]
        size = (WIDE, BAR[1] + 12 + ROW * len(rows))
        return still([*groups, ("rs-words", tuple(words))], size, self.sentence())

    def _ids(self, what: str) -> list[str]:
        return [str(one["id"]) for one in self._known[what]]

    def _here(self, name: str = "") -> Plain:
        return dict(self._known["shown"][name or self.shown][self.privacy])

    def _at(self, name: str = "") -> Plain:
        here = self._here(name)
        return dict(here["views"][bisect_right(here["stops"], self.budget) - 1])

    def _lines(self, name: str = "") -> list[Line]:
        here = self._here(name)
        past = here["views"][: bisect_right(here["stops"], self.budget)]
        lines, keys = self._known["lines"], self._known["keys"]
        return [unpacked(lines[place], keys) for place in folded(past)]

    def _bar(self) -> Marks:
        drawn: list[Mark] = []
        for kind, _, x, wide, label in self._at()["bar"]:
            drawn.append(box(x, TOP, wide, HIGH, f"ctx-{kind.replace(' ', '-')}", corner=2))
            if label:
                drawn.append(text(x + wide / 2, TOP + 21, label, "label"))
        return tuple(drawn)


def _states(run: object, at: int | tuple[int, ...]) -> dict[str, RunState]:
    """The newest state first, then the ones asked for, by revision."""
    wanted = at if isinstance(at, tuple) else (at,)
    if isinstance(run, RunState):
        if wanted:
            raise Askew(f"revision {wanted[0]}", "one state, no store", "give the store of the run")
        return {str(run.revision): run}
    if not isinstance(run, StateStore) and not hasattr(run, "trace"):
        found = f"a {type(run).__name__}"
        raise Askew("a run to look at", found, "give a StateStore or a RunState")
    try:
        events, base, newest = run.trace.accepted, run.base, run.load()
        found = {str(newest.revision): newest}
    except Exception as fault:  # a learner's own store may raise anything
        hint = "mend the store's load() and trace, then look again"
        raise Askew("a run to look at", f"the store failed: {words_of(fault)}", hint) from fault
    for revision in wanted:
        steps = revision - base.revision if type(revision) is int else -1
        if not 0 <= steps <= len(events):
            hint = f"give a revision from {base.revision} to {newest.revision}"
            raise Askew(f"revision {revision!r}", f"{len(events)} accepted events", hint)
        found[str(revision)] = replay(base, events[:steps], run.rules)
    return found


def _ground(states: dict[str, RunState], gallery: Gallery, keys: tuple[str, ...]) -> Plain:
    newest = next(iter(states))
    labels = {"open": "open", "private": f"private: no {', '.join(keys)}"}
    return {
        "run": states[newest].run_id,
        "states": [
            {"id": name, "label": f"{name} (newest)" if name == newest else name} for name in states
        ],
        "modes": [{"id": mode, "label": labels[mode]} for mode in gallery.modes],
        "heads": list(HEADS),
        "bar": {"left": LEFT, "room": ROOM, "top": TOP, "high": HIGH, "half": HALF},
        "pages": {
            "wide": {"size": list(BAR), "room": ROOM, "base": _base(gallery.most, ROOM)},
            "narrow": {
                "size": [BAR[0] // 2, BAR[1]],
                "room": ROOM // 2,
                "base": _base(gallery.most, ROOM // 2),
            },
        },
    }


def _cut(words: str) -> str:
    # The font of these lines gives every letter the same room, a Chinese one twice as much.
    wide = [1 + (ord(letter) > WIDE_FROM) for letter in words]
    if sum(wide) <= LETTERS:
        return words
    kept = [letter for place, letter in enumerate(words) if sum(wide[: place + 1]) < LETTERS]
    return "".join(kept) + "…"


def _base(most: int, room: float) -> Marks:
    y = TOP + HIGH + 22
    return (
        box(LEFT, TOP, room, HIGH, "ctx-all", corner=2),
        text(LEFT, y, "0", "soft", anchor="start"),
        text(LEFT + room, y, f"everything takes {most}", "soft", anchor="end"),
    )


def _marker(budget: int, most: int) -> Marks:
    x = LEFT + budget * ROOM / most
    middle = min(max(x, LEFT + HALF), LEFT + ROOM - HALF)
    return (
        line(x, TOP - 6, x, TOP + HIGH + 6, "ctx-budget"),
        text(middle, TOP - 11, f"budget {budget}", "ctx-words"),
    )


def _spending(view: Plain, budget: int) -> str:
    used = sum(part[1] for part in view["bar"])
    parts = [f"{NAMES[part[0]]} {part[1]}" for part in view["bar"]]
    return f"spent: {', '.join(parts) or 'nothing'}; free {budget - used}"


def _one_of(asked: str, known: list[str], what: str) -> str:
    if asked not in known:
        raise Askew(f"the {what} {asked!r}", "no such choice", f"choose one of {', '.join(known)}")
    return asked
