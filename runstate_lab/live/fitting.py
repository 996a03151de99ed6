"""Machinery. Words that have to fit into a room of a picture: broken, then cut in the middle.

What is not here: how wide letters are (see `show.dot`).
"""

from __future__ import annotations

import re

from runstate_lab.live.marks import Mark
from runstate_lab.show.dot import width

PIECE = re.compile(r"[^\s_:-]*[\s_:-]+|[^\s_:-]+")


def middle(words: str, size: float, room: float, *, bold: bool = False) -> str:
    """The words; where they do not fit, without their middle: names often differ at their end.

    >>> middle("very_long_node_name_017", 12, 84, bold=True)
    'very_l…e_017'
    >>> middle("build", 12, 84)
    'build'
    """
    shown, kept = words, len(words) - 1
    while kept > 1 and width(shown, size, bold=bold) > room:
        kept -= 1
        shown = words[: kept - kept // 2] + "…" + words[len(words) - kept // 2 :]
    return shown


def broken(words: str, size: float, room: float, *, bold: bool = False, most: int = 2) -> list[str]:
    """The words in lines, broken at a space or behind one of `_ - :`.

    >>> broken("recommendation_service", 12, 114)
    ['recommendation_', 'service']
    >>> broken("unknown_event", 12, 78, bold=True)
    ['unknown_', 'event']
    """
    lines = [""]
    for piece in PIECE.findall(words):
        longer = lines[-1] + piece
        if lines[-1] and len(lines) < most and width(longer.rstrip(), size, bold=bold) > room:
            lines.append(piece)
        else:
            lines[-1] = longer
    return [middle(line.strip(), size, room, bold=bold) for line in lines]


def named(mark: Mark, whole: str) -> Mark:
    """A text mark, with the whole name where only a part is to be seen.

    >>> from runstate_lab.live.marks import text
    >>> named(text(0, 0, "bu…ld", "name"), "build")[1]["aria-label"]
    'build'
    """
    tag, attributes, words = mark
    return mark if words == whole else (tag, {**attributes, "aria-label": whole}, words)
