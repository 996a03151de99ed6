"""Machinery. What a widget refuses: a call that cannot be followed, and a lock.

What is not here: what a store refuses (see `errors` of the book); that is
shown, not raised.
"""

from __future__ import annotations


class Askew(ValueError):
    """A call that a widget cannot follow: what was asked, what there is, what to do."""

    def __init__(self, asked: str, found: str, hint: str) -> None:
        super().__init__(f"asked {asked}, found {found}\nhint: {hint}")
        self.asked, self.found, self.hint = asked, found, hint


class Sealed(RuntimeError):
    """The widget waits for a prediction; nothing can be played before it."""
