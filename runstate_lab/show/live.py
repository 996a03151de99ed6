"""Machinery. What every live widget shares: its parts, its stored picture, its faults.

A widget's script is a listed sequence of the files in `front/`, joined as
they are: no build step, no import from anywhere, works offline. What a
notebook keeps is a picture with an alt text and one sentence, the same bytes
each time; the state of a widget is never stored.

What is not here: what a widget shows (see `widget` and `form`).
"""

from __future__ import annotations

from collections.abc import Callable

import anywidget
import traitlets

from runstate_lab.show.marks import FRONT

Listener = Callable[["Live"], object]


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


class Live(anywidget.AnyWidget):
    """A widget with a sentence, a stored picture and a place for faults.

    A subclass gives `sentence()` and `picture()`; both hold for the step that
    is shown now.
    """

    fault = traitlets.Unicode("").tag(sync=True)
    sealed = traitlets.Unicode("").tag(sync=True)

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
            self.fault = f"{type(fault).__name__}: {fault}"
        else:
            self.fault = ""

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict[str, object], dict[str, object]]:
        bundle, metadata = super()._repr_mimebundle_(**kwargs)
        shown = {**bundle, "text/plain": self.sentence(), "text/html": self.picture()}
        return shown, metadata
