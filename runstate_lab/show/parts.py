"""Machinery. The parts of a picture, as frozen values.

Nodes and arrows, and for a view over time also lanes and steps. Positions are
optional; they are pixels from the top left corner.

What is not here: the picture itself (see `picture`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Point = tuple[float, float]


class Standing(StrEnum):
    """What an arrow is: one that is allowed, one that happened, one turned away."""

    LEGAL = "legal"
    TAKEN = "taken"
    REFUSED = "refused"


class Form(StrEnum):
    """The shape of a node: a box, a revision, a small mark, or words alone."""

    BOX = "box"
    COMMIT = "commit"
    MARK = "mark"
    WORDS = "words"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One thing in a picture; `lit` is shown by border, weight and a mark.

    `drawn` stands in the drawing where label and note are too long for it; the
    text twin has them in full.
    """

    name: str
    label: str = ""
    note: str = ""
    drawn: str = ""
    lit: bool = False
    form: Form = Form.BOX
    at: Point | None = None
    size: Point | None = None

    @property
    def shown(self) -> str:
        """The words to draw: the label, or the name where there is none."""
        return self.label if self.label or self.form is Form.MARK else self.name


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """One arrow; a refused one must name the rule that refused it.

    `quiet` keeps the label off the drawing where another arrow of the same
    trunk already carries it, and `drawn` stands there where the label is too
    long for it; the text twin has the label all the same.

    >>> Arrow(tail="completed", head="running", standing=Standing.REFUSED)
    Traceback (most recent call last):
        ...
    ValueError: asked a refused arrow from completed to running, found no rule
    hint: give rule=, the code of the refusal
    """

    tail: str
    head: str
    label: str = ""
    drawn: str = ""
    standing: Standing = Standing.LEGAL
    rule: str = ""
    by: str = ""
    quiet: bool = False
    step: int | None = None
    route: tuple[Point, ...] = ()
    label_at: Point | None = None

    def __post_init__(self) -> None:
        if self.standing is Standing.REFUSED and not self.rule:
            raise ValueError(
                f"asked a refused arrow from {self.tail} to {self.head}, found no rule\n"
                "hint: give rule=, the code of the refusal"
            )

    @property
    def events(self) -> str:
        """The lines of the label as one line."""
        return ", ".join(map(one_line, self.label.split("\n")))

    @property
    def sentence(self) -> str:
        """The arrow in words, ready to be read aloud."""
        words = f"{self.tail} to {self.head}: {self.events}"
        if self.standing is Standing.REFUSED:
            by = f", proposed by {self.by}" if self.by else ""
            return f"{words}{by}, refused by {self.rule}"
        return f"{words} (taken)" if self.standing is Standing.TAKEN else words


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A line through time, one for each actor and one for the store."""

    name: str
    label: str = ""
    note: str = ""
    x: float = 0


@dataclass(frozen=True, kw_only=True)
class Step:
    """One moment of a view over time, with the sentence that tells it."""

    number: int
    sentence: str
    y: float = 0
    cells: tuple[tuple[str, str], ...] = ()


def one_line(text: str) -> str:
    """The text with each run of white space as one space.

    >>> one_line("tests\\n  passed")
    'tests passed'
    """
    return " ".join(text.split())
