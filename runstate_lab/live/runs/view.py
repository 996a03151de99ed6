"""Machinery. Open a run and look at what happened: scrub, compare, ask who wrote it.

    RunView(store)               a store of the book, finished or running
    RunView(frames=frames)       frames made elsewhere, such as those of a wrong store

Everything was computed from the trace before the browser saw it. Moving back
and forward, comparing two steps and asking for an owner never run anything.

What is not here: changing anything; a run is only looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from runstate_lab.context import Context, ContextBuilder
from runstate_lab.errors import Malformed
from runstate_lab.live.exports import standalone
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.limits import Limit, any_text, flag, number, some_of
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import still, svg
from runstate_lab.live.runs import timeline
from runstate_lab.live.runs.book import panes, run_table
from runstate_lab.live.runs.diffs import FIELDS, Change, diff
from runstate_lab.live.runs.folding import Row, Sieve, place, rows
from runstate_lab.live.runs.graph import contexts_of, run_graph
from runstate_lab.live.runs.lens import Provenance, provenance
from runstate_lab.live.runs.replays import Frame, beginning, frames_of
from runstate_lab.store import StateStore

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame

PREVIOUS = -1
COLUMNS = 9
FRONT = ("dom.js", "scrub.js", "exports.js", "runcells.js", "runpicture.js", "runpanes.js", "runview.js")


class RunView(Live):
    """Look at a run: what was offered, what the state became, what the model saw.

    >>> from runstate_lab import RunState
    >>> view = RunView(StateStore(RunState("run-7", goal="ship release 7")))
    >>> view.lens("goal")
    'goal is ship release 7: so since the start; no entry of this trace wrote it.'
    >>> view.go(3)
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked step 3, found 0 steps
    hint: give a number from 0 to 0
    """

    _esm = script(*FRONT)
    _css = style("marks.css", "runstate.css", "runmarks.css", "runview.css")

    played = ("at", "since", "picked", "hidden", "rejected", "folds", "words", "opened")
    at = traitlets.Int(0).tag(sync=True)
    since = traitlets.Int(PREVIOUS).tag(sync=True)
    picked = traitlets.Unicode("status").tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)
    rejected = traitlets.Bool(False).tag(sync=True)
    folds = traitlets.Bool(False).tag(sync=True)
    words = traitlets.Unicode("").tag(sync=True)
    opened = traitlets.List(traitlets.Int()).tag(sync=True)
    rereads = traitlets.Bool(False).tag(sync=True)

    limits = {
        **Live.limits,
        "at": number("at", lambda view, given: len(view.frames) - 1),
        "since": number("since", lambda view, given: len(view.frames) - 1, first=PREVIOUS),
        "picked": Limit(
            lambda view, given: given["picked"].partition("/")[0] in FIELDS,
            lambda view, given: f"a field, such as {', '.join(FIELDS[:4])} or facts/build",
        ),
        "hidden": some_of("hidden", lambda view, given: view._known["sources"], "sources"),
        "rejected": flag("rejected"),
        "folds": flag("folds"),
        "words": any_text("words"),
        "opened": some_of("opened", lambda view, given: range(len(view.frames)), "steps"),
    }
    call = "view.go(0)"

    def __init__(
        self,
        store: StateStore | None = None,
        *,
        frames: Sequence[Frame] = (),
        at: int | None = None,
        budget: int = 2_000,
        privacy: str = "open",
        private_keys: tuple[str, ...] = (),
    ) -> None:
        if not isinstance(frames, (tuple, list)) or not all(type(one) is Frame for one in frames):
            raise Askew(f"frames={frames!r:.60}", "no frames", "give a list of Frame")
        if (store is None) == (not frames):
            found = "neither" if store is None else "both"
            raise Askew("a store or frames to look at", found, "give one of the two")
        self._store, self._privacy = store, privacy
        self._reader = f"{privacy}, {budget} characters"
        self.frames = _in_order(frames) if store is None else frames_of(store)
        try:
            self._builder = ContextBuilder(budget=budget, private_keys=private_keys)
            self._contexts = contexts_of(self.frames, self._builder, privacy)
        except Malformed as wrong:
            raise Askew(wrong.asked, wrong.found, "see ContextBuilder") from wrong
        super().__init__(self._graph(), rereads=store is not None)
        self.go(len(self.frames) - 1 if at is None else at)
        self.on_msg(self._heard)

    def go(self, step: int) -> str:
        """What is said at a step; step 0 is the start."""
        self._unsealed()
        newest = len(self.frames) - 1
        if type(step) is not int or not 0 <= step <= newest:
            many = "1 step" if newest == 1 else f"{newest} steps"
            raise Askew(f"step {step}", many, f"give a number from 0 to {newest}")
        self.at = step
        return self.said()

    def back(self) -> str:
        """What is said at the step shown before this one; folded steps are passed over."""
        return self.go(max((row.first for row in self._steps() if row.first < self.at), default=0))

    def forward(self) -> str:
        """What is said at the step shown after this one; folded steps are passed over."""
        later = (row.first for row in self._steps() if row.first > self.at)
        return self.go(min(later, default=self.at))

    def first(self) -> str:
        """What is said at the start."""
        return self.go(0)

    def last(self) -> str:
        """What the newest step says."""
        return self.go(len(self.frames) - 1)

    def reset(self) -> str:
        """What is said at the start, with everything shown again."""
        with self.together():
            self.since, self.picked, self.at = PREVIOUS, "status", 0
            self.hidden, self.opened, self.words = [], [], ""
            self.rejected = self.folds = False
        return self.frames[0].said

    def said(self) -> str:
        """The step shown, in one sentence."""
        self._unsealed()
        return self.frames[self.at].said

    def lens(self, field: str) -> str:
        """Who proposed and who wrote a field, or what is in it: "status", "facts/build"."""
        sentence = self.provenance(field).sentence
        self.picked = field
        return sentence

    def provenance(self, field: str) -> Provenance:
        """The same answer as a value."""
        self._unsealed()
        fit("field", field, "a text")
        return provenance(self.frames, self.at, field)

    def compare(self, since: int | None = None) -> str:
        """What changed since a step, in words; since the previous one unless it is named."""
        changes = self.changes(since)
        self.since = PREVIOUS if since is None else since
        base = max(0, self.at - 1) if since is None else since
        told = "; ".join(map(str, changes)) or "nothing"
        return f"From step {base} to step {self.at}: {told}."

    def changes(self, since: int | None = None) -> tuple[Change, ...]:
        """What changed since a step: changed fields only, tuples by their elements."""
        self._unsealed()
        base = max(0, self.at - 1) if since is None else since
        if type(base) is not int or not 0 <= base < len(self.frames):
            hint = f"give a number from 0 to {len(self.frames) - 1}"
            raise Askew(f"what changed since step {base}", f"{len(self.frames) - 1} steps", hint)
        return diff(self.frames[base].after, self.frames[self.at].after)

    def context(self) -> Context:
        """What a model may read of the state at this step, and what was left out."""
        self._unsealed()
        return self._contexts[self.at]

    def hide(self, *sources: str) -> str:
        """How many steps are left when these sources are folded away; none shows all."""
        known = self._known["sources"]
        for source in sources:
            if source not in known:
                raise Askew(
                    f"to hide {source}",
                    "no such source",
                    f"name one of {', '.join(known)}",
                )
        return self._sift(hidden=list(sources))

    def only_rejected(self, on: bool = True) -> str:
        """How many steps are left when only the rejected ones are shown."""
        return self._sift(rejected=bool(on))

    def fold(self, on: bool = True) -> str:
        """How many steps are left when those that changed nothing are folded."""
        return self._sift(folds=bool(on))

    def search(self, words: str) -> str:
        """How many steps have a text in their sentence; the empty one shows all."""
        if not isinstance(words, str):
            raise Askew("to search", f"a {type(words).__name__}", "give a text, or an empty one")
        return self._sift(words=words)

    def unfold(self, step: int, on: bool = True) -> str:
        """What is shown when the fold that a step is in is opened, or closed again."""
        folds = [
            row for row in self.rows() if row.folded and step in range(row.first, row.last + 1)
        ]
        row = folds[0] if folds else None
        if row is None:
            raise Askew(f"to open the fold of step {step}", "that step is shown", "fold() first")
        others = [first for first in self.opened if first != row.first]
        self.opened = [*others, row.first] if on else others
        return self._shown_words()

    def rows(self) -> tuple[Row, ...]:
        """The rows shown: a step each, or several that are folded."""
        self._unsealed()
        return rows(self.frames, self._sieve, self.opened)

    def refresh(self) -> str:
        """What is said after a look at what the store has taken since."""
        self._unsealed()
        if self._store is None:
            raise Askew(
                "to read the store again",
                "frames without a store",
                "make another RunView",
            )
        newest = self.at == len(self.frames) - 1
        self.frames = frames_of(self._store)
        self._contexts = contexts_of(self.frames, self._builder, self._privacy)
        self._known = self._graph()
        at = len(self.frames) - 1 if newest else min(self.at, len(self.frames) - 1)
        with self.together():
            self.graph, self.at = self._known, at
            self.since = min(self.since, len(self.frames) - 1)
        return self.said()

    def text(self) -> str:
        """All that the widget shows, in lines: the step, the three panes, changes, owner."""
        self._unsealed()
        since = None if self.since == PREVIOUS else self.since
        picked = self._owner()
        lines = panes(self.frames, self.at, self._contexts[self.at], self.rows())
        changed = [f"  {change}" for change in self.changes(since)] or ["  nothing"]
        base = max(0, self.at - 1) if since is None else since
        head = [self.sentence(), beginning(self.frames)]
        tail = [f"Changed since step {base}:", *changed, "Who wrote it:", f"  {picked}"]
        return "\n".join([*filter(None, head), *lines, *tail])

    def table(self) -> CaptionedFrame:
        """The trace as it is shown, folded steps in one row, as a pandas table."""
        return run_table(self.frames, self.rows())

    def svg(self, *, whole: bool = False) -> str:
        """The picture as an SVG document; `whole` draws every row shown, however wide."""
        if not whole:
            return super().svg()
        self._unsealed("to save the picture")
        groups, size = self._drawn(len(self.rows()))
        return standalone([svg(groups, size)], self.sentence(), mark=type(self).__name__)

    def sentence(self) -> str:
        """Which step of which run is shown, and what happened there."""
        if self.sealed:
            return f"Run view, locked: {self.sealed}"
        newest = len(self.frames) - 1
        refused = sum(frame.refused for frame in self.frames)
        run = f"{self._known['run']}, {newest} steps, {refused} refused"
        sieve = f" ({self._sieve.words})" if self._sieve.words else ""
        return f"Run view of {run}{sieve}. {self.frames[self.at].said}"

    def picture(self) -> str:
        """The space-time picture around the step shown, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        groups, size = self._drawn(COLUMNS)
        return still(groups, size, self.sentence())

    def _graph(self) -> dict[str, Any]:
        return run_graph(self.frames, self._contexts, self._reader)

    @property
    def _sieve(self) -> Sieve:
        return Sieve(tuple(self.hidden), self.rejected, self.folds, self.words)

    def _steps(self) -> list[Row]:
        return [row for row in self.rows() if not row.folded]

    def _owner(self) -> str:
        try:
            return provenance(self.frames, self.at, self.picked).sentence
        except Askew:
            return f"{self.picked.replace('/', ' ')} is not in the state at this step."

    def _sift(self, **changed: Any) -> str:
        self._unsealed()
        with self.together():
            for name, value in {**changed, "opened": []}.items():
                setattr(self, name, value)
        return self._shown_words()

    def _shown_words(self) -> str:
        shown = sum(row.first > 0 for row in self._steps())
        return f"{shown} of {len(self.frames) - 1} steps shown."

    def _drawn(self, columns: int) -> tuple[list[tuple[str, Any]], tuple[int, int]]:
        shown = self.rows()
        room = columns * timeline.COLUMN
        return timeline.drawn(self.frames, shown, place(shown, self.at), room)

    def _heard(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        if content.get("refresh"):
            self.attempt(self.refresh)
            self.send({"refreshed": True})


def _in_order(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    numbers = [frame.number for frame in frames]
    if numbers != list(range(len(frames))):
        raise Askew("frames in order", f"the numbers {numbers[:6]}", "number them 0, 1, 2, ...")
    return tuple(frames)
