"""Machinery. Who proposed what, when, and what the store made of it.

Time runs downwards. Each actor has a lane and the store has one between them;
a commit is a circle with the new revision, a refused proposal is dashed, ends
before the store and names its code.

What is not here: playing the steps (see the widgets), and the status chart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runstate_lab.show import palette
from runstate_lab.show.dot import width
from runstate_lab.show.parts import Arrow, Form, Lane, Node, Standing, Step, one_line
from runstate_lab.show.picture import Picture
from runstate_lab.show.told import told

STORE = "store"
WORDS = {"read": "reads", "compute": "computes", "submit": "proposes"}
WIDE, MARGIN, EDGE, HEAD = 640.0, 26.0, 78.0, 130.0
WIDEST, NARROWEST = 250.0, 150.0
FEW, BESIDE_STORE, APART = 3, 192.0, 92.0
FIRST, LINE, BETWEEN = 38.0, 13.5, 18.0


@dataclass(frozen=True)
class Move:
    """One row of a space-time view: a step of one actor, and the answer to it.

    `kind` is read, compute or submit. A code means that the store refused.

    >>> Move("A", 3, "submit", seen=4, code="revision_conflict", after=5).refused
    True
    >>> Move("A", 1, "peek")
    Traceback (most recent call last):
        ...
    ValueError: asked a move 'peek' of A, found only read, compute, submit
    hint: split the work into these steps
    """

    actor: str
    step: int
    kind: str
    seen: int | None = None
    value: str = ""
    outcome: str = ""
    after: int | None = None
    code: str = ""

    def __post_init__(self) -> None:
        if self.kind not in WORDS:
            raise ValueError(
                f"asked a move {self.kind!r} of {self.actor}, found only {', '.join(WORDS)}\n"
                "hint: split the work into these steps"
            )

    @property
    def refused(self) -> bool:
        """Whether the store turned this proposal away."""
        return bool(self.code)

    @property
    def sentence(self) -> str:
        """The move in words, ready to be read aloud."""
        words = one_line(f"{self.actor} {WORDS[self.kind]} {self.value}")
        if self.kind != "submit":
            return f"{words} revision {self.seen}." if self.kind == "read" else f"{words}."
        words += f", expects revision {self.seen}" if self.seen is not None else ""
        if self.refused:
            stays = f", the store stays at revision {self.after}" if self.after is not None else ""
            return f"{words}: refused by {self.code}{stays}."
        becomes = f"committed as revision {self.after}" if self.after is not None else "committed"
        return f"{words}: {becomes}{f', {self.outcome}' if self.remark else ''}."

    @property
    def remark(self) -> str:
        """What must be said of an accepted move besides its acceptance, if anything."""
        return self.outcome if self.outcome not in ("", "accepted", "committed", "refused") else ""


def space_time(
    moves: Iterable[object], *, lanes: Sequence[str] | None = None, title: str = "Space-time view"
) -> Picture:
    """The moves in time: a trace, or rows with the fields of `Move`.

    `lanes` puts the actors, and the store if it is named, into an order.

    >>> conflict = Move("B", 2, "submit", "4", "scan=clean", code="revision_conflict", after=5)
    >>> print(space_time([Move("A", 1, "submit", 4, "tests=passed", after=5), conflict]).text())
    Space-time view.
    Lanes: A, store (revision 4), B.
    1. A proposes tests=passed, expects revision 4: committed as revision 5.
    2. B proposes scan=clean, expects revision 4: refused by revision_conflict, the store stays at revision 5.
    >>> space_time([conflict], lanes=["A"])
    Traceback (most recent call last):
        ...
    ValueError: asked the lanes A, found moves of B
    hint: name every actor, or leave lanes out
    """
    rows = tuple(as_move(item, place) for place, item in enumerate(moves, 1))
    places = _places(rows, lanes)
    gap = _gap(places)
    nodes: list[Node] = []
    drawn: list[Arrow] = []
    steps: list[Step] = []
    y = FIRST
    for row in rows:
        lines = _lines(row, gap)
        y += BETWEEN + LINE * (len(lines) + row.refused)
        ends = _ends(row, places, y)
        nodes += ends
        drawn += _arrow(row, ends, lines, places, y)
        nodes += _beside(row, lines, places, y)
        steps.append(Step(number=row.step, sentence=row.sentence, y=y, cells=_cells(row)))
    refused = sum(row.refused for row in rows)
    return Picture(
        title=title,
        nodes=tuple(nodes),
        arrows=tuple(drawn),
        lanes=_lanes(rows, places, _head_room(places)),
        steps=tuple(steps),
        summary=f"{title}: {len(rows)} steps of {', '.join(_actors(rows))}; {refused} refused.",
        size=(max(places.values()) + (EDGE if len(places) <= FEW + 1 else APART / 2 + 4), y + 26),
    )


def as_move(item: object, place: int) -> Move:
    """The move in an entry of a trace, a mapping, a row of values, or a move.

    >>> as_move({"actor": "A", "step": 1, "kind": "read", "seen": 4}, 1).sentence
    'A reads revision 4.'
    """
    if isinstance(item, Move):
        return item
    if isinstance(item, Mapping):
        return Move(**item)
    event = getattr(item, "event", None)
    if event is None:
        return Move(*item)
    return Move(
        event.source, place, "submit", event.expected_revision,
        f"{event.kind} {told(event.value)}".strip(),
        after=item.revision, code=item.refusal.code if item.refusal is not None else "",
    )


def _actors(rows: Sequence[Move]) -> list[str]:
    return list(dict.fromkeys(row.actor for row in rows))


def _places(rows: Sequence[Move], lanes: Sequence[str] | None) -> dict[str, float]:
    actors = _actors(rows)
    names = list(lanes) if lanes is not None else actors
    missing = [actor for actor in actors if actor not in names]
    if missing:
        raise ValueError(
            f"asked the lanes {', '.join(names)}, found moves of {', '.join(missing)}\n"
            "hint: name every actor, or leave lanes out"
        )
    if STORE not in names:
        half = (len(names) + 1) // 2
        names = [*names[:half], STORE, *names[half:]]
    if len(names) > FEW + 1:
        return _many_places(names)
    steps = max(len(names) - 1, 1)
    gap = min(WIDEST, max(NARROWEST, (WIDE - MARGIN - 2 * EDGE) / steps))
    return {name: MARGIN + EDGE + place * gap for place, name in enumerate(names)}


def _many_places(names: Sequence[str]) -> dict[str, float]:
    """Lanes close together, with room for words on both sides of the store."""
    places, x = {}, MARGIN + APART / 2
    for before, name in zip((None, *names), names, strict=False):
        if before is not None:
            x += BESIDE_STORE if STORE in (before, name) else APART
        places[name] = x
    return places


def _lanes(rows: Sequence[Move], places: Mapping[str, float], room: float) -> tuple[Lane, ...]:
    notes = {STORE: _opening(rows)}
    return tuple(
        Lane(name=name, x=x, label=_head(one_line(name), room), note=notes.get(name, ""))
        for name, x in places.items()
    )


def _head(name: str, room: float) -> str:
    if width(name, palette.BODY, bold=True) > room:
        # A source reads role:name, and two short lines are one lane's head.
        return "\n".join(_fit(part, room, palette.BODY) for part in re.split("(?<=:)", name, maxsplit=1))
    return name


def _opening(rows: Sequence[Move]) -> str:
    for row in rows:
        if row.kind == "read" and row.seen is not None:
            return f"revision {row.seen}"
        if row.kind == "submit" and row.after is not None:
            return f"revision {row.after if row.refused else row.after - 1}"
    return ""


def _gap(places: Mapping[str, float]) -> float:
    """The room for words: the gap beside the store."""
    beside = [abs(x - places[STORE]) for name, x in places.items() if name != STORE]
    return min(beside, default=WIDEST)


def _head_room(places: Mapping[str, float]) -> float:
    if len(places) > FEW + 1:
        return APART - 18
    return min(_gap(places) - 30, HEAD)


def _lines(row: Move, gap: float) -> list[str]:
    """The words at a move, each line short enough for the gap between two lanes."""
    room = gap - 22
    value = one_line(row.value)
    if row.kind == "read":
        return [f"reads revision {row.seen}"]
    if row.kind == "compute":
        return [_fit(f"computes {value}".strip(), room)]
    expects = f"expects revision {row.seen}" if row.seen is not None else ""
    whole = ", ".join(part for part in (value, expects) if part)
    if width(whole, palette.SMALL, bold=True) > room:
        parts = [value, expects]
        if width(value, palette.SMALL, bold=True) > room:
            parts = [*value.split(" ", 1), expects]
        lines = [_fit(part, room) for part in parts if part]
    else:
        lines = [whole]
    return [*lines, _fit(f"! {row.remark}", room)] if row.remark and not row.refused else lines


def _fit(text: str, room: float, size: float = palette.SMALL) -> str:
    if width(text, size, bold=True) <= room:
        return text
    while text and width(text + "…", size, bold=True) > room:
        text = text[:-1]
    return text + "…"


def _ends(row: Move, places: Mapping[str, float], y: float) -> list[Node]:
    actor = Node(name=f"{row.actor}, step {row.step}", form=Form.MARK, at=(places[row.actor], y))
    if row.kind == "compute":
        return [actor]
    if row.kind == "submit" and not row.refused:
        label = "?" if row.after is None else str(row.after)
        store = Node(name=f"{STORE}, step {row.step}", label=label, form=Form.COMMIT,
                     at=(places[STORE], y))
    else:
        store = Node(name=f"{STORE}, step {row.step}", form=Form.MARK, at=(places[STORE], y),
                     size=(6, 6))
    return [actor, store]


def _arrow(
    row: Move, ends: Sequence[Node], lines: Sequence[str], places: Mapping[str, float], y: float
) -> list[Arrow]:
    if row.kind == "compute":
        return []
    tail, head = ends if row.kind == "submit" else reversed(ends)
    rise = LINE * (len(lines) + row.refused) / 2 + 3
    standing = Standing.LEGAL
    if row.kind == "submit":
        standing = Standing.REFUSED if row.refused else Standing.TAKEN
    return [Arrow(
        tail=tail.name, head=head.name, label="\n".join(lines), standing=standing, rule=row.code,
        step=row.step, by=row.actor, label_at=(_middle(row, places), y - rise),
    )]


def _middle(row: Move, places: Mapping[str, float]) -> float:
    side = 1 if places[STORE] > places[row.actor] else -1
    start = places[row.actor] if len(places) <= FEW + 1 else places[STORE] - side * _gap(places)
    return start + side * _gap(places) / 2 - side * 4


def _beside(
    row: Move, lines: Sequence[str], places: Mapping[str, float], y: float
) -> list[Node]:
    if row.kind != "compute":
        return []
    side = 1 if places[STORE] > places[row.actor] else -1
    half = width(lines[0], palette.SMALL) / 2
    return [Node(name=f"{row.actor}, step {row.step}, words", label=lines[0], form=Form.WORDS,
                 at=(places[row.actor] + side * (half + 12), y))]


def _cells(row: Move) -> tuple[tuple[str, str], ...]:
    outcome = row.outcome or ("refused" if row.refused else "committed")
    return (
        ("actor", row.actor),
        ("does", WORDS[row.kind]),
        ("what", row.value),
        ("revision seen", "" if row.seen is None else str(row.seen)),
        ("outcome", outcome if row.kind == "submit" else row.outcome),
        ("code", row.code),
        ("revision after", "" if row.after is None else str(row.after)),
    )
