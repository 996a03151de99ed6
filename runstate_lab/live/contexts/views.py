"""Machinery. A context at every budget: where it changes, what is in it, what is not and why.

Every context is really built. Budgets between two changes give the same
context, so only the changes are kept; they are found by halving.

What is not here: what a context holds (see `context` of the book), and how it
is drawn (see `contextslider`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from runstate_lab.context import CUT, Context, ContextBuilder
from runstate_lab.live.pool import Pool
from runstate_lab.model import RunState
from runstate_lab.show.dot import width

Plain = dict[str, Any]
Build = Callable[[int], Context]
IN, PART, OUT = "in", "in part", "out"
KINDS = ("run", "goal", "status", "call", "request", "first error", "fact")
NAMES = {
    "run": "run and status",
    "goal": "goal",
    "call": "calls",
    "request": "requests",
    "first error": "first error",
    "fact": "facts",
}
MOST_STOPS = 2_000
STRUCK = "[redacted]"
NAMED = 3
LEFT, ROOM = 4, 818


@dataclass(frozen=True)
class Line:
    """One line that a context could hold: the words shown, its size, in or out, and why."""

    key: str
    shown: str
    kind: str
    size: int
    where: str
    why: str

    def packed(self, keys: Pool) -> list[Any]:
        """The line as plain values; of a line that is cut only the length is kept."""
        shown: str | int | None = None if self.shown == self.key else self.shown
        if self.shown == f"{self.key[: len(self.shown) - 1]}…":
            shown = len(self.shown) - 1
        return [keys.place(self.key), shown, self.kind, self.size, self.where, self.why]


def unpacked(packed: list[Any], keys: list[str]) -> Line:
    """The line that was packed.

    >>> unpacked([0, 4, "goal", 6, "in part", "budget"], ["goal: ship"]).shown
    'goal…'
    """
    place, shown, *rest = packed
    key = keys[place]
    if type(shown) is int:
        shown = f"{key[:shown]}…"
    return Line(key, key if shown is None else shown, *rest)


def stops(build: Build, most: int, *, step: int = 1) -> list[int]:
    """The budgets at which the context changes, the smallest budget first.

    >>> stops(lambda budget: Context(("x" * (budget // 4),), ()), 10)
    [1, 4, 8]
    """
    grid = range(1, most + 1, step)
    found = [grid[0]]

    def search(low: int, high: int, before: Context, after: Context) -> None:
        if before == after:
            return
        if high - low == 1:
            found.append(grid[high])
            return
        middle = (low + high) // 2
        between = build(grid[middle])
        search(low, middle, before, between)
        search(middle, high, between, after)

    search(0, len(grid) - 1, build(grid[0]), build(grid[-1]))
    return found


def enough(build: Build) -> int:
    """The smallest budget that leaves nothing out for want of room.

    >>> from runstate_lab.model import Fact
    >>> state = RunState("run-7", facts=(Fact("build", "green"),))
    >>> enough(lambda budget: ContextBuilder(budget=budget).build(state))
    51
    """
    low, high = 1, 64
    while _cut(build(high)):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _cut(build(middle)) else (low, middle)
    return high


def lines_of(
    state: RunState, context: Context, whole: Context, hidden: frozenset[str]
) -> list[Line]:
    """Every line of the whole context, in or out of this one, in its order.

    >>> state = RunState("run-7", goal="ship release 7")
    >>> small, whole = (ContextBuilder(budget=one).build(state) for one in (34, 99))
    >>> [(line.shown, line.where) for line in lines_of(state, small, whole, frozenset())]
    [('run: run-7', 'in'), ('goal: …', 'in part'), ('status: queued', 'in')]
    """
    control = [line for line in context.lines if not line.startswith("fact: ")]
    facts = list(context.lines[len(control) :])
    first = len(whole.lines) - len(state.facts)
    found = [_control(line, control) for line in whole.lines[:first]]
    kept: list[Line] = []
    for fact, line in zip(reversed(state.facts), reversed(whole.lines[first:]), strict=True):
        if facts and facts[-1] == line and fact.key not in hidden:
            kept.append(_line(line, facts.pop(), "fact", IN))
        elif fact.key in hidden:
            kept.append(Line(f"fact {fact.key}", f"fact: {fact.key}", "fact", 0, OUT, "privacy"))
        else:
            kept.append(Line(line, line, "fact", len(line) + 1, OUT, CUT))
    return _told_apart([*found, *reversed(kept)])


def _told_apart(lines: list[Line]) -> list[Line]:
    """The same lines, where a fact that was reported twice has two keys."""
    seen: Counter[str] = Counter()
    for place, line in enumerate(lines):
        seen[line.key] += 1
        if seen[line.key] > 1:
            lines[place] = replace(line, key=f"{line.key} (again, {seen[line.key]})")
    return lines


def spent(lines: list[Line]) -> list[tuple[str, int]]:
    """How much of the budget each kind of line takes, in the order of reading."""
    sums = dict.fromkeys(NAMES, 0)
    for line in lines:
        if line.where != OUT:
            sums["run" if line.kind == "status" else line.kind] += line.size
    return [(kind, size) for kind, size in sums.items() if size]


def folded(views: Iterable[Plain]) -> list[int]:
    """The places of the lines after some views; each view tells only what it changes.

    >>> folded([{"lines": [[0, 7], [1, 8]]}, {"lines": [[1, 9]]}])
    [7, 9]
    """
    held: dict[int, int] = {}
    for view in views:
        held.update(view["lines"])
    return [held[row] for row in sorted(held)]


class Gallery:
    """Every context of some states, in both privacy modes, as plain values."""

    def __init__(self, states: dict[str, RunState], private_keys: tuple[str, ...]) -> None:
        self._private = private_keys
        self._keys, self._lines, self._left = Pool(), Pool(), Pool()
        self._places: dict[Line, int] = {}
        self.most = max(map(self._enough, states.values()), default=1)
        self.step = max(1, self.most // MOST_STOPS)
        self.shown = {
            name: {mode: self._views(state, mode) for mode in self.modes}
            for name, state in states.items()
        }

    @property
    def modes(self) -> tuple[str, ...]:
        """The privacy modes in which the states differ."""
        return ("open", "private") if self._private else ("open",)

    def plain(self) -> Plain:
        """All of it, as it is sent to the browser."""
        return {
            "most": self.most,
            "step": self.step,
            "keys": self._keys.kept,
            "lines": self._lines.kept,
            "left": self._left.kept,
            "shown": self.shown,
            "names": NAMES,
        }

    def _builder(self, state: RunState, mode: str) -> Build:
        return lambda budget: ContextBuilder(budget=budget, private_keys=self._private).build(
            state, privacy=mode
        )

    def _enough(self, state: RunState) -> int:
        return enough(self._builder(state, "open"))

    def _views(self, state: RunState, mode: str) -> Plain:
        build = self._builder(state, mode)
        whole = self._builder(state, "open")(self.most)
        hidden = frozenset(self._private) if mode == "private" else frozenset()
        places = stops(build, max(self.most, 1 + self.step), step=self.step)
        views, turns, before = [], [], None
        held: list[int] = [-1] * len(whole.lines)
        for budget in places:
            context = build(budget)
            lines = lines_of(state, context, whole, hidden)
            found = [self._place(line) for line in lines]
            fresh = [[row, one] for row, one in enumerate(found) if held[row] != one]
            views.append({"lines": fresh, **self._view(context, lines, before)})
            held = found
            if before is None or _heads(context) != _heads(before):
                turns.append(budget)
            before = context
        return {"stops": places, "turns": turns, "views": views}

    def _place(self, line: Line) -> int:
        # Most lines are the same from one view to the next.
        if line not in self._places:
            self._places[line] = self._lines.place(line.packed(self._keys))
        return self._places[line]

    def _view(self, context: Context, lines: list[Line], before: Context | None) -> Plain:
        return {
            "left": [self._left.place({"what": it.what, "why": it.why}) for it in context.left_out],
            "bar": _bar(spent(lines), self.most),
            "said": _said(context, lines),
            "changed": [] if before is None else _came(before, context),
            "story": "" if before is None else _changed(before, context),
        }


def _cut(context: Context) -> bool:
    return any(one.why == CUT for one in context.left_out)


def _control(whole: str, shown: list[str]) -> Line:
    """The next line of the context, if it is this one or the beginning of it."""
    what = whole.partition(":")[0]
    kind = what.partition(" ")[0] if what.partition(" ")[0] in KINDS else what
    if shown and shown[0] == whole:
        return _line(whole, shown.pop(0), kind, IN)
    if shown and shown[0].startswith(f"{what}: "):
        return _line(whole, shown.pop(0), kind, PART)
    return Line(whole, whole, kind, len(whole) + 1, OUT, CUT)


def _line(key: str, shown: str, kind: str, where: str) -> Line:
    why = CUT if where == PART else ""
    if STRUCK in shown:
        why = "; ".join(filter(None, (why, "a secret is struck out")))
    return Line(key, shown, kind, len(shown) + 1, where, why)


def _heads(context: Context) -> list[str]:
    return [_head(line) for line in context.lines]


def _head(line: str) -> str:
    """What a line is known by; a control line that only grows is the same line."""
    return line if line.startswith("fact: ") else f"{line.partition(':')[0]}:"


def _said(context: Context, lines: list[Line]) -> str:
    used = sum(len(line) + 1 for line in context.lines)
    named = [str(one) for one in context.left_out[-NAMED:]]
    more = len(context.left_out) - len(named)
    left = "; ".join([*([f"{more} more"] if more else []), *named]) or "nothing"
    return f"{len(context.lines)} of {len(lines)} lines, {used} characters; left out: {left}."


def _bar(parts: list[tuple[str, int]], most: int) -> list[list[Any]]:
    """Each part of the bar: its kind, its size, where it begins, how wide it is, its words."""
    drawn: list[list[Any]] = []
    x = float(LEFT)
    for kind, size in parts:
        wide = size * ROOM / most
        label = f"{NAMES[kind]} {size}"
        fits = width(label, 13) < wide - 10
        drawn.append([kind, size, round(x, 1), round(wide, 1), label if fits else ""])
        x += wide
    return drawn


def _came(before: Context, after: Context) -> list[str]:
    return [line for line in after.lines if line not in before.lines and not line.endswith("…")]


def _changed(before: Context, after: Context) -> str:
    """What is different from the context before, in words; a line that only grows says so."""
    was = {_head(line): line for line in before.lines}
    now = {_head(line): line for line in after.lines}
    words = [
        f"{what.removesuffix(':')} is longer" if what in was else f"{new} comes in"
        for what, new in now.items()
        if was.get(what) != new
    ]
    return "; ".join([*words, *(f"{old} goes out" for what, old in was.items() if what not in now)])
