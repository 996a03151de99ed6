"""Machinery. The approval desk's timeline: cards, presses and revisions by tick.

A card is a bar from the tick at which it was shown to the tick at which it
runs out. Below it stand the presses of each tick, numbered as in the ledger:
round ones were accepted, square ones refused.

What is not here: what a press does (see `deskworld`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runstate_lab.live.desks.world import Card
from runstate_lab.live.marks import Mark, Marks, box, line, text

WIDTH = 820
TICKS = 10
LEFT, STEP = 110, 70
RIGHT = LEFT + TICKS * STEP
BAR, ROW = 24, 32
SLOTS, SLOT = 3, 23
STAMP = 150


@dataclass(frozen=True, slots=True)
class Dot:
    """One press on the timeline: its number, its tick, and what it was answered."""

    number: int
    tick: int
    accepted: bool | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that the picture shows: cards, presses, and the revision of each tick."""

    cards: Sequence[Card]
    dots: Sequence[Dot]
    revisions: dict[int, int]
    tick: int


def size(timeline: Timeline) -> tuple[int, int]:
    """How much room the picture takes.

    >>> size(Timeline((), (), {0: 7}, 0))
    (820, 124)
    """
    return WIDTH, _revisions_at(timeline) + 54


def marks(timeline: Timeline) -> Marks:
    """The timeline as it stands at one tick."""
    height = size(timeline)[1]
    bottom = height - 24
    now = box(_x(timeline.tick) + 1, 4, STEP - 2, height - 8, "column")
    axis = line(LEFT, bottom, RIGHT, bottom, "lane")
    numbers = [text(_x(at) + STEP / 2, height - 8, str(at), "soft") for at in range(TICKS)]
    drawn = [now, axis, *_titles(timeline, height), *numbers]
    for place, card in enumerate(timeline.cards):
        drawn += _bar(card, 8 + place * ROW, bottom, newest=place == len(timeline.cards) - 1)
    drawn += [mark for dot in timeline.dots for mark in _dot(dot, timeline)]
    for tick, revision in timeline.revisions.items():
        drawn += _pill(_x(tick) + STEP / 2, _revisions_at(timeline), revision)
    return tuple(drawn)


def _titles(timeline: Timeline, height: int) -> Marks:
    places = {
        "cards": 24,
        "presses": _presses_at(timeline) + 4,
        "revision": _revisions_at(timeline) + 4,
        "tick": height - 8,
    }
    return tuple(text(8, y, name, "name", anchor="start") for name, y in places.items())


def _bar(card: Card, y: int, bottom: int, *, newest: bool) -> Marks:
    until = card.request.expires_at or 0
    start, end = _x(card.since), min(_x(until), RIGHT)
    look = "card-ended" if card.ended else "card-open"
    words = f"{card.request.request_id}, seen at revision {card.request.seen_revision}"
    stamp = f"{card.ended} at tick {card.at}" if card.ended else f"open until tick {until}"
    beside = end + 10 + STAMP < WIDTH
    at, anchor = (end + 10, "start") if beside else (start - 10, "end")
    runs_out = line(end, y + BAR, end, bottom, "expiry") if newest else None
    return tuple(
        mark
        for mark in (
            runs_out,
            box(start, y, end - start, BAR, look),
            text(start + 10, y + 17, words, "label", anchor="start"),
            text(at, y + 17, stamp, "soft" if card.ended else "good", anchor=anchor),
        )
        if mark is not None
    )


def _dot(dot: Dot, timeline: Timeline) -> Marks:
    if dot.accepted is None:
        return ()
    place = sum(one.tick == dot.tick and one.accepted is not None for one in _before(dot, timeline))
    x = _x(dot.tick) + STEP / 2 + (place % SLOTS - 1) * SLOT
    y = _presses_at(timeline) + place // SLOTS * SLOT
    newest = " rs-newest" if dot.number == len(timeline.dots) else ""
    if dot.accepted:
        shape: Mark = box(x - 10, y - 10, 20, 20, f"press-yes{newest}", corner=10)
    else:
        shape = box(x - 10, y - 10, 20, 20, f"press-no{newest}", corner=2)
    return (shape, text(x, y + 4, str(dot.number), "press-number"))


def _before(dot: Dot, timeline: Timeline) -> Sequence[Dot]:
    return timeline.dots[: dot.number - 1]


def _pill(x: float, y: float, revision: int) -> Marks:
    return (
        box(x - 15, y - 11, 30, 22, "pill", corner=11),
        text(x, y + 5, str(revision), "pill-text"),
    )


def _presses_at(timeline: Timeline) -> int:
    return 8 + len(timeline.cards) * ROW + 18


def _revisions_at(timeline: Timeline) -> int:
    asked = [dot.tick for dot in timeline.dots if dot.accepted is not None]
    most = max((asked.count(tick) for tick in asked), default=1)
    return _presses_at(timeline) + (most + SLOTS - 1) // SLOTS * SLOT + 21


def _x(tick: int) -> int:
    return LEFT + tick * STEP
