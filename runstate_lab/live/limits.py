"""Machinery. What may be set on a widget from outside: a wrong value is refused, the old one stays.

A widget lists its settable traits in `limits`. All other traits are its own.
A value is looked at together with those beside it, so that a step never lies
behind the end of its order. The same holds for what a browser sends.

What is not here: what a call is given (see `faults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import traitlets

from runstate_lab.live.faults import Askew

Given = Mapping[str, Any]
Fits = Callable[[Any, Given], bool]
Says = Callable[[Any, Given], str]
LOCKED = ("sealed",)
"""What a program may set and a browser may not."""

_AT_WORK: ContextVar[tuple[int, ...]] = ContextVar("at_work", default=())


class Unfit(Askew, traitlets.TraitError):
    """A value that a widget cannot show; what it had stays."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Whether a widget can show a value, and what is possible, in words.

    Both look at the widget and at all its settable values as they would be.
    """

    fits: Fits
    says: Says


class Limits:
    """What every widget does with a value that is set from outside."""

    limits: Mapping[str, Limit] = {}

    def guard(self) -> None:
        """Look at every value that is set from now on."""
        self._register_validator(_checked, list(_own(type(self))))

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block in which the widget itself sets several values, sent as one message."""
        before = _AT_WORK.set((*_AT_WORK.get(), id(self)))
        try:
            with self.hold_sync():
                yield
        finally:
            _AT_WORK.reset(before)

    def __setattr__(self, name: str, value: object) -> None:
        try:
            super().__setattr__(name, value)
        except traitlets.TraitError as wrong:
            if isinstance(wrong, Unfit) or name not in _own(type(self)):
                raise
            raise self._unfit(name, value) from wrong

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what a browser sends, or nothing of it; then the browser is told what stands."""
        own = [name for name in _own(type(self)) if name not in self.limits or name in LOCKED]
        taken = {name: value for name, value in sync_data.items() if name not in own}
        refused = [name for name in sync_data if name in own]
        try:
            super().set_state(taken)
        except traitlets.TraitError:
            refused = [name for name in sync_data if name in self.keys]
        if refused:
            self.send_state(refused)

    def _unfit(self, name: str, value: object) -> Unfit:
        asked, found = f"{name}={value!r:.60}", f"a {type(value).__name__} that does not fit"
        if name not in self.limits:
            hint = "use the calls of the widget, such as " + getattr(self, "call", "reset()")
            return Unfit(asked, "a value that only the widget itself sets", hint)
        return Unfit(asked, found, f"give {self.limits[name].says(self, self._given())}")

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.limits}


def _checked(widget: Any, proposal: Any) -> Any:
    """The value, if the widget sets it itself or can show it beside the others."""
    name, value = proposal["trait"].name, proposal["value"]
    if id(widget) in _AT_WORK.get():
        return value
    given = widget._given() | {name: value}
    if name not in widget.limits or not _holds(widget, name, given):
        raise widget._unfit(name, value)
    if name not in LOCKED and widget.sealed:
        raise Unfit(f"{name}={value!r:.60}", "the widget locked", widget.sealed)
    for other in widget.limits:
        if not _holds(widget, other, given):
            found = f"{other}={given[other]!r:.60} beside it"
            hint = f"first set {other} to {widget.limits[other].says(widget, given)}"
            raise Unfit(f"{name}={value!r:.60}", found, hint)
    return value


def _holds(widget: Any, name: str, given: Given) -> bool:
    # Whatever a check stumbles over, it is no value to show.
    try:
        return bool(widget.limits[name].fits(widget, given))
    except Exception:  # noqa: BLE001
        return False


def _own(kind: type) -> tuple[str, ...]:
    """The traits that our own classes define."""
    return tuple(
        name
        for one in kind.__mro__
        if one.__module__.startswith(__package__)
        for name, trait in vars(one).items()
        if isinstance(trait, traitlets.TraitType) and trait.metadata.get("sync")
    )


def one_of(name: str, known: Callable[[Any, Given], Sequence[str]]) -> Limit:
    """One of some texts."""
    return Limit(
        lambda widget, given: given[name] in tuple(known(widget, given)),
        lambda widget, given: f"one of {', '.join(map(repr, known(widget, given)))}",
    )


def number(name: str, last: Callable[[Any, Given], int], *, first: int = 0) -> Limit:
    """A whole number up to the last one."""
    return Limit(
        lambda widget, given: type(given[name]) is int
        and first <= given[name] <= last(widget, given),
        lambda widget, given: f"a whole number from {first} to {last(widget, given)}",
    )


def flag(name: str) -> Limit:
    """True or False."""
    return Limit(lambda widget, given: type(given[name]) is bool, lambda widget, given: "True or False")


def any_text(name: str) -> Limit:
    """Any text."""
    return Limit(lambda widget, given: isinstance(given[name], str), lambda widget, given: "a text")


def some_of(name: str, known: Callable[[Any, Given], Sequence[Any]], says: str) -> Limit:
    """A list in which each known value stands at most once."""

    def fits(widget: Any, given: Given) -> bool:
        held, there = given[name], list(known(widget, given))
        return len(held) == len(set(held)) and all(one in there for one in held)

    return Limit(fits, lambda widget, given: f"a list of {says}")
