"""Machinery. What every live widget shares: its parts, its stored picture, its faults.

A widget's script is a listed sequence of the files in `front/`, joined as
they are: no build step, no import from anywhere, works offline. What a
notebook keeps is a picture with an alt text and one sentence, the same bytes
each time; the state of a widget is never stored.

What is not here: what a widget shows (see `board` and `form`), and what it
can be saved as (see `exports`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import anywidget
import traitlets

from runstate_lab.live.exports import Exports
from runstate_lab.live.faults import Askew, Sealed
from runstate_lab.live.limits import Limits, any_text
from runstate_lab.live.marks import FRONT, still, text
from runstate_lab.show.letters import escaped, legal, whole

__all__ = ["Askew", "Live", "Sealed", "locked_picture", "script", "style"]
Listener = Callable[["Live"], object]
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """A block in which a new widget tells the browser nothing before its `open` is called.

    >>> with quiet():
    ...     Live().comm is None
    True
    """
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def script(*parts: str) -> str:
    """The named files of `front/`, joined into one module that exports render.

    >>> script("dom.js").endswith("export default { render };\\n")
    True
    """
    texts = [(FRONT / part).read_text("utf-8") for part in parts]
    return "\n".join([*texts, "export default { render };\n"])


def style(*parts: str) -> str:
    """The named style sheets of `front/`, joined."""
    return "\n".join((FRONT / part).read_text("utf-8") for part in parts)


class Live(Limits, Exports, anywidget.AnyWidget):
    """A widget with a sentence, a stored picture and a place for faults.

    `graph` is all that can happen, sent to the browser once. A sealed widget
    keeps it here. A subclass gives `sentence()`, `picture()` and `reset()`.
    """

    played: tuple[str, ...] = ()
    """The names of what the learner moves; it comes back when a seal is broken."""

    fault = traitlets.Unicode("").tag(sync=True)
    sealed = traitlets.Unicode("").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    prediction = traitlets.Dict().tag(sync=True)

    limits = {"sealed": any_text("sealed")}
    call = "sentence()"
    """A call that does what one of the buttons does, as a learner types it."""

    def __init__(self, known: dict[str, Any] | None = None, **shown: object) -> None:
        self._known = known or {}
        self._before: dict[str, Any] = {}
        super().__init__(graph=self._known, **shown)
        self.guard()

    def open(self) -> None:
        """Let the browser know this widget, as it is now; a second time changes nothing."""
        if not _QUIET.get():
            super().open()

    def seal(self, sentence: str) -> None:
        """Take all that can happen away from the browser until `unseal` is called."""
        self._before = {name: getattr(self, name) for name in self.played}
        self.reset()
        with self.together():
            self.sealed, self.graph = sentence, {}

    def unseal(self, *, choice: str = "", why: str = "") -> None:
        """Give it to the browser; show the prediction beside the result."""
        # One message: a browser that has only half of it would draw nonsense.
        with self.together():
            self.prediction = {"choice": choice, "why": why} if choice else {}
            self.graph, self.sealed = self._known, ""
            for name, value in self._before.items():
                setattr(self, name, value)
            self._before = {}

    def reset(self) -> str:
        """Back to the start; what is said there."""
        return ""

    def _unsealed(self, wish: str = "to play") -> None:
        if self.sealed:
            raise Sealed(f"asked {wish}, found the widget locked\nhint: {self.sealed}")

    def sentence(self) -> str:
        """What the widget shows now, in one sentence."""
        raise NotImplementedError

    def picture(self) -> str:
        """What the widget shows now, as HTML that needs no script."""
        raise NotImplementedError

    def listen(self, listener: Listener, *names: str) -> None:
        """Call the listener after each change; its exception is shown in the widget."""

        def heard(change: object) -> None:
            self.attempt(lambda: listener(self))

        self.observe(heard, list(names) or traitlets.All)

    def attempt(self, work: Callable[[], object]) -> None:
        """Run the work; show what it raises in the widget instead of losing it.

        >>> live = Live()
        >>> live.attempt(lambda: 1 / 0)
        >>> live.fault
        'ZeroDivisionError: division by zero'
        """
        try:
            work()
        except Exception as fault:  # a learner's callback may raise anything; it is shown
            said = f"{type(fault).__name__}: {fault}"
        else:
            said = ""
        with self.together():
            self.fault = said

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict[str, object], dict[str, object]]:
        bundle, metadata = super()._repr_mimebundle_(**kwargs)
        still = f"{self.picture()}{self._aside()}"
        shown = {**bundle, "text/plain": legal(self.sentence()), "text/html": still}
        return shown, metadata

    def _aside(self) -> str:
        """The line below the stored picture; whoever sees the live widget does not see it."""
        if self.sealed:
            return "<p><small>No buttons here: once it is predicted, run this cell again.</small></p>"
        call = escaped(self.call)
        return f"<p><small>No buttons here; in a cell, <code>{call}</code> does the same.</small></p>"

    def get_state(self, *given: Any, **more: Any) -> dict[str, Any]:
        """What is sent to the browser; half a letter fits into no message."""
        return whole(super().get_state(*given, **more))


def locked_picture(sentence: str) -> str:
    """The picture that stands where a result will be, once it was predicted.

    >>> locked_picture("Predict 04.p1 first.")[:39]
    '<img alt="Locked. Predict 04.p1 first."'
    """
    size = (760, 64)
    words = text(20, 38, f"Locked. {sentence}", "label", anchor="start")
    return still([("rs-locked", (words,))], size, f"Locked. {sentence}")
