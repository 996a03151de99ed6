"""Machinery. The way a run went through the statuses, read from its history.

A history is a trace, or plain statuses in order. A trace says which events
were accepted, not which status they met; that is worked out from the rules.

What is not here: drawing it (see `chart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runstate_lab.model import RunState, RunStatus
from runstate_lab.rules import Rules


@dataclass(frozen=True)
class Leg:
    """One item of a history: the status it met, the one it led to, by which event."""

    item: object
    start: RunStatus
    end: RunStatus
    kind: str = ""

    @property
    def moved(self) -> bool:
        """Whether the status changed."""
        return self.start is not self.end


def path(history: Sequence[object], current: RunStatus, rules: Rules) -> list[Leg]:
    """One leg for each item of a history; a refused one leads nowhere.

    >>> from runstate_lab.rules import RULES
    >>> legs = path(("queued", "running"), RunStatus.RUNNING, RULES)
    >>> [(str(leg.start), str(leg.end)) for leg in legs if leg.moved]
    [('queued', 'running')]
    """
    legs: list[Leg] = []
    here = _first_status(history, current, rules)
    for item in history:
        end, kind = _led_to(item, here, rules)
        legs.append(Leg(item, here, end, kind))
        here = end
    return legs


def status_of(value: object) -> RunStatus:
    """The status of a state, or the one that a word names.

    >>> status_of("finished")
    Traceback (most recent call last):
        ...
    ValueError: asked the status 'finished', found only queued, running, waiting, completed, failed, cancelled
    hint: give a RunState, a RunStatus or one of these words
    """
    if isinstance(value, RunState):
        return value.status
    if value not in tuple(RunStatus):
        raise ValueError(
            f"asked the status {str(value)!r}, found only {', '.join(RunStatus)}\n"
            "hint: give a RunState, a RunStatus or one of these words"
        )
    return RunStatus(str(value))


def _led_to(item: object, here: RunStatus, rules: Rules) -> tuple[RunStatus, str]:
    kind = _accepted_kind(item)
    if kind is None:
        plain = getattr(item, "event", None) is None
        return (status_of(item) if plain else here), ""
    return (rules.row(kind).to or here) if kind in rules.kinds else here, kind


def _accepted_kind(item: object) -> str | None:
    event = getattr(item, "event", None)
    return event.kind if event is not None and getattr(item, "refusal", None) is None else None


def _first_status(history: Sequence[object], current: RunStatus, rules: Rules) -> RunStatus:
    """The status that every event up to the first change could have met."""
    possible = list(RunStatus)
    for item in history:
        event = getattr(item, "event", None)
        if event is None:
            return status_of(item)
        kind = _accepted_kind(item)
        if kind is None or kind not in rules.kinds:
            continue
        row = rules.row(kind)
        possible = [status for status in possible if status in row.come_from]
        if event.expected_revision and RunStatus.RUNNING in possible:
            possible = [status for status in possible if status is not RunStatus.QUEUED]
        if row.to is not None:
            return possible[0] if possible else row.come_from[0]
    return current
