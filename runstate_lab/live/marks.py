"""Machinery. Marks: a picture as plain values, drawn the same in two places.

A mark is an SVG element as (tag, attributes, text). Python decides where every
mark stands; the browser draws them live and `still` draws them into the
picture that a notebook keeps. Colours come from one style sheet for both.

What is not here: which marks a picture has (see `boardmarks` and `moves`).
"""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

from runstate_lab.show.letters import escaped, legal

Mark = tuple[str, dict[str, str], str]
Marks = tuple[Mark, ...]

FRONT = Path(__file__).parent / "front"
SVG_SPACE = "http://www.w3.org/2000/svg"
HEAD_LENGTH, HEAD_HALF = 8, 4
SHEETS = ("marks.css",)


def text(x: float, y: float, words: str, role: str, *, anchor: str = "middle") -> Mark:
    """Words at a place; `role` names their look.

    >>> text(10, 20, "reads", "label")
    ('text', {'x': '10', 'y': '20', 'text-anchor': 'middle', 'class': 'rs-label'}, 'reads')
    """
    place = {"x": _number(x), "y": _number(y), "text-anchor": anchor, "class": f"rs-{role}"}
    return ("text", place, legal(words))


def line(x1: float, y1: float, x2: float, y2: float, role: str) -> Mark:
    """A straight line.

    >>> line(0, 0, 9.5, 0, "lane")[1]["d"]
    'M0 0L9.5 0'
    """
    return path(f"M{_number(x1)} {_number(y1)}L{_number(x2)} {_number(y2)}", role)


def path(course: str, role: str) -> Mark:
    """A line along an SVG path."""
    return ("path", {"d": course, "class": f"rs-{role}", "fill": "none"}, "")


def head(x: float, y: float, towards: tuple[float, float], role: str) -> Mark:
    """An arrow head whose tip is at (x, y) and that points in a direction.

    >>> head(0, 10, (0, 1), "accepted")[1]["points"]
    '0,10 -4,2 4,2'
    """
    along_x, along_y = towards
    back_x, back_y = x - HEAD_LENGTH * along_x, y - HEAD_LENGTH * along_y
    side_x, side_y = -HEAD_HALF * along_y, HEAD_HALF * along_x
    corners = ((x, y), (back_x + side_x, back_y + side_y), (back_x - side_x, back_y - side_y))
    points = " ".join(f"{_number(one)},{_number(two)}" for one, two in corners)
    return ("polygon", {"points": points, "class": f"rs-head rs-{role}"}, "")


def dot(x: float, y: float, radius: float, role: str) -> Mark:
    """A round point."""
    place = {"cx": _number(x), "cy": _number(y), "r": _number(radius), "class": f"rs-{role}"}
    return ("circle", place, "")


def box(x: float, y: float, width: float, height: float, role: str, *, corner: float = 6) -> Mark:
    """A box with its upper left corner at (x, y)."""
    place = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
    return ("rect", {**place, "rx": _number(corner), "class": f"rs-{role}"}, "")


def still(
    groups: Iterable[tuple[str, Marks]],
    size: tuple[int, int],
    alt: str,
    *,
    sheets: tuple[str, ...] = SHEETS,
) -> str:
    """An `<img>` that shows the marks anywhere, on an opaque light ground.

    A widget with marks of its own names its sheet behind the common one, which
    stays as it is: every picture that a notebook keeps holds its bytes.

    >>> still((), (10, 10), "A & B")[:25]
    '<img alt="A &amp; B" widt'
    """
    drawing = base64.b64encode(svg(groups, size, sheets=sheets).encode()).decode()
    source = f"data:image/svg+xml;base64,{drawing}"
    return f'<img alt="{escaped(alt)}" width="{size[0]}" src="{source}">'


def svg(
    groups: Iterable[tuple[str, Marks]], size: tuple[int, int], *, sheets: tuple[str, ...] = SHEETS
) -> str:
    """The marks as one SVG document that needs nothing else.

    >>> "<script>" in svg([("base", (text(0, 0, "<script>", "label"),))], (10, 10))
    False
    """
    width, height = size
    root = ElementTree.Element(
        "svg", {"xmlns": SVG_SPACE, "viewBox": f"0 0 {width} {height}", "class": "rs-still"}
    )
    root.set("width", str(width))
    root.set("height", str(height))
    ElementTree.SubElement(root, "style").text = _looks(sheets)
    ElementTree.SubElement(root, "rect", {"width": "100%", "height": "100%", "class": "rs-ground"})
    for role, marks in groups:
        group = ElementTree.SubElement(root, "g", {"class": role})
        for tag, attributes, words in marks:
            held = {name: legal(value) for name, value in attributes.items()}
            ElementTree.SubElement(group, tag, held).text = legal(words) or None
    return ElementTree.tostring(root, encoding="unicode")


def _looks(sheets: tuple[str, ...]) -> str:
    return "".join((FRONT / sheet).read_text("utf-8") for sheet in sheets)


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
