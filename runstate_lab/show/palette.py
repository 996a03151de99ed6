"""Machinery. The colours of every picture, and what they become in a page.

A picture is always laid out in the light colours; `INLINE` says what each one
turns into when the picture is part of a page that has its own theme. Text on
the page's ground takes the page's own text colour, so it stays readable.

What is not here: any decision about what is lit or refused (see `picture`).
"""

from __future__ import annotations

GROUND = "#ffffff"
INK = "#1e293b"
LABEL = "#475569"
LINE = "#64748b"
BOX = "#f8fafc"
LANE = "#8492a6"
ACCENT = "#1d4ed8"
COMMIT = "#1d4fd7"
LIT = "#dbeafe"
LIT_INK = "#1e3a8a"
ON_ACCENT = "#fffffe"
REFUSED = "#b42318"

INLINE_TEXT = {
    INK: "currentColor",
    LABEL: "currentColor",
    ACCENT: "currentColor",
    REFUSED: "currentColor",
}
"""Text on the page's own ground; LIT_INK and ON_ACCENT stand on opaque fills.

COMMIT keeps its colour everywhere: white words stand on it.
"""

INLINE_SHAPE = {
    BOX: "none",
    LINE: "currentColor",
    LANE: "currentColor",
    ACCENT: "var(--rs-accent, #3b82f6)",
    REFUSED: "var(--rs-refused, #e5484d)",
}
"""Lines and fills; the two variables have defaults that show on light and dark."""

FONT = "Helvetica"
FONTS_IN_PAGE = "Helvetica, Arial, 'Liberation Sans', sans-serif"
BODY, SMALL = 13, 11
