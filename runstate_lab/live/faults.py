"""Machinery. What a widget refuses: a call that cannot be followed, and a lock.

What is not here: what a store refuses (see `errors` of the book); that is
shown, not raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf


class Askew(ValueError):
    """A call that a widget cannot follow: what was asked, what there is, what to do."""

    def __init__(self, asked: str, found: str, hint: str) -> None:
        super().__init__(f"asked {asked}, found {found}\nhint: {hint}")
        self.asked, self.found, self.hint = asked, found, hint


class Sealed(RuntimeError):
    """The widget waits for a prediction; nothing can be played before it."""


def _texts(given: object) -> bool:
    return isinstance(given, (tuple, list)) and all(isinstance(one, str) for one in given)


def _functions(given: object) -> bool:
    return isinstance(given, (tuple, list)) and all(map(callable, given))


def _named(given: object) -> bool:
    return isinstance(given, Mapping) and _texts([*given, *given.values()])


def _seconds(given: object) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given < inf


KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "a text": (lambda given: isinstance(given, str), "give a text"),
    "a name": (lambda given: isinstance(given, str) and bool(given.strip()), "give a name"),
    "a flag": (lambda given: isinstance(given, bool), "give True or False"),
    "a count": (lambda given: type(given) is int and given > 0, "give a whole number from 1"),
    "seconds": (_seconds, "give a number of seconds above 0"),
    "texts": (_texts, 'give a tuple of texts, such as ("naive",)'),
    "functions": (_functions, "give a tuple of functions, such as (no_lost_update,)"),
    "names": (_named, 'give letters and their names, such as {"A": "the test tool"}'),
    "workers": (lambda given: isinstance(given, Mapping), 'workers={"A": f, "B": g}'),
}
"""What a call can be given, how it is known, and what to do instead."""


def fit(what: str, given: object, kind: str) -> None:
    """None when a call can be followed with what it was given.

    >>> fit("compare", "x", "a flag")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked compare='x', found no flag
    hint: give True or False
    """
    fits, hint = KINDS[kind]
    if not fits(given):
        raise Askew(f"{what}={given!r:.60}", f"no {kind.removeprefix('a ')}", hint)
