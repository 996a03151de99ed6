"""Machinery. A picture as DOT source, written with the graphviz package.

Labels are escaped here and nowhere else, and widths are set here, because an
engine without fonts takes a Chinese character for a space. A picture whose
nodes have positions is drawn as placed; any other is laid out from left to
right.

What is not here: running an engine (see `engine`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import escape as html_escape
from typing import TYPE_CHECKING

import graphviz

from runstate_lab.show import palette
from runstate_lab.show.letters import legal
from runstate_lab.show.parts import Arrow, Form, Lane, Node, Point, Standing
from runstate_lab.show.routes import clipped, pos

if TYPE_CHECKING:
    from runstate_lab.show.picture import Picture

GRAPH = {"bgcolor": palette.GROUND, "pad": "0", "outputorder": "edgesfirst"}
PLACED = {"layout": "nop2"}
FLOWING = {"layout": "dot", "rankdir": "LR", "nodesep": "0.4", "ranksep": "0.7", "pad": "0.15"}

NODES: dict[Form, dict[str, str]] = {
    Form.BOX: {
        "shape": "box", "style": "rounded,filled", "fillcolor": palette.BOX,
        "color": palette.LINE, "fontcolor": palette.INK, "fontsize": str(palette.BODY),
    },
    Form.COMMIT: {
        "shape": "circle", "style": "filled", "fillcolor": palette.COMMIT, "color": palette.COMMIT,
        "fontcolor": palette.ON_ACCENT, "fontname": "Helvetica-Bold",
        "fontsize": str(palette.SMALL),
    },
    Form.MARK: {
        "shape": "circle", "style": "filled", "fillcolor": palette.LINE, "color": palette.LINE,
    },
    Form.WORDS: {
        "shape": "plain", "style": "", "fontcolor": palette.LABEL, "fontsize": str(palette.SMALL),
    },
}
SIZES: dict[Form, Point] = {
    Form.BOX: (72, 34), Form.COMMIT: (24, 24), Form.MARK: (8, 8), Form.WORDS: (10, 14),
}
LIT = {
    "fillcolor": palette.LIT, "color": palette.ACCENT, "fontcolor": palette.LIT_INK,
    "fontname": "Helvetica-Bold", "penwidth": "2.6",
}
ARROWS: dict[Standing, dict[str, str]] = {
    Standing.LEGAL: {"color": palette.LINE, "fontcolor": palette.LABEL, "penwidth": "1.2"},
    Standing.TAKEN: {
        "color": palette.ACCENT, "fontcolor": palette.ACCENT, "penwidth": "2.6",
        "fontname": "Helvetica-Bold",
    },
    Standing.REFUSED: {
        "color": palette.REFUSED, "fontcolor": palette.REFUSED, "penwidth": "2.2",
        "style": "dotted", "arrowhead": "tee", "arrowsize": "1", "fontname": "Helvetica-Bold",
    },
}
IN_LANES: dict[Standing, dict[str, str]] = {
    Standing.TAKEN: {"penwidth": "1.8"},
    Standing.REFUSED: {"penwidth": "1.8", "style": "dashed"},
}
WIDTHS = (
    ("ijl|'", 0.23), ("ftI.,:;/\\![] ", 0.28), ("r-()`", 0.34), ("cksvxyzJ", 0.5),
    ("mw", 0.84), ("ABCDEFGHKLMNOPQRSTUVXYZ", 0.74), ("W%@", 1.02),
)
"""Widths of Helvetica letters in em, rounded up; any other letter has 0.56."""
LIT_MARK, REFUSED_MARK = "\N{BLACK CIRCLE}", "\N{MULTIPLICATION SIGN}"


def source(picture: Picture) -> str:
    """The DOT source of a picture; equal pictures give equal text."""
    placed = picture.size is not None
    graph = graphviz.Digraph("picture", graph_attr=GRAPH | (PLACED if placed else FLOWING))
    graph.attr("node", fontname=palette.FONT, penwidth="1.2", margin="0")
    graph.attr("edge", fontname=palette.FONT, fontsize=str(palette.SMALL), arrowsize="0.7")
    writer = _Writer(graph, picture)
    writer.frame()
    for lane in picture.lanes:
        writer.lane(lane)
    for step in picture.steps:
        writer.words(str(step.number), (14, step.y), f"rs_step_{step.number}")
    for node in picture.nodes:
        writer.node(node)
    for arrow in picture.arrows:
        writer.arrow(arrow)
    return graph.source


def plain(text: str) -> str:
    """A label that Graphviz shows letter by letter, and never interprets.

    >>> print(plain("<b>R&D</b>"))
    <b>R&amp;D</b>
    """
    # A tab or a return would be laid out by the engine, each in its own way.
    shown = legal(text).replace("\t", " ").replace("\r", " ")
    return graphviz.escape(shown.replace("&", "&amp;"))


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width in pixels of the widest line; a Chinese character is one em.

    >>> width("ab", 10) < width("\\u8fd0\\u884c", 10)
    True
    """
    return max(sum(_em(letter, bold) for letter in line) * size for line in text.split("\n"))


class _Writer:
    """Writes the parts of one picture; keeps the short node names it gave out."""

    def __init__(self, graph: graphviz.Digraph, picture: Picture) -> None:
        self.graph = graph
        self.picture = picture
        self.short = {node.name: f"n{i}" for i, node in enumerate(picture.nodes)}
        self.found = {node.name: node for node in picture.nodes}
        self.ids: Iterator[str] | None = None
        self.used: set[str] = set()

    def frame(self) -> None:
        if self.picture.size is None:
            return
        for name, corner in (("frame0", (0.0, 0.0)), ("frame1", self.picture.size)):
            self.graph.node(name, label="", shape="point", style="invis", width="0", height="0",
                            pos=self.at(corner))

    def node(self, node: Node) -> None:
        look = NODES[node.form] | (LIT if node.lit else {})
        shown = words(node)
        bold = look.get("fontname") == "Helvetica-Bold"
        wide, high = node.size or SIZES[node.form]
        if shown:
            size = float(look["fontsize"])
            padding = 0 if node.form is not Form.BOX else 10 if node.size else 24
            wide = max(wide, width(shown, size, bold=bold) + padding)
            high = max(high, 1.25 * size * len(shown.split("\n")) + padding / 2)
        if node.form is Form.COMMIT:
            wide = high = max(wide, high)
        place = {"pos": self.at(node.at)} if node.at and self.picture.size else {}
        self.graph.node(
            self.short[node.name], label=plain(shown), id=self.unique("node", node.name),
            width=f"{wide / 72:.3f}", height=f"{high / 72:.3f}", fixedsize="true",
            **{"class": f"rs_node rs_{node.form}" + (" rs_lit" if node.lit else "")},
            **look, **place,
        )

    def arrow(self, arrow: Arrow) -> None:
        look = dict(ARROWS[arrow.standing])
        if self.picture.lanes:
            look |= IN_LANES.get(arrow.standing, {})
        label = "" if arrow.quiet else written(arrow)
        if self.picture.size:
            look |= self.placed(arrow)
        look["label"] = plain(label) if self.picture.size else flowing_label(label)
        self.graph.edge(
            self.short[arrow.tail], self.short[arrow.head],
            id=self.unique("arrow", f"{arrow.tail}_{arrow.head}"),
            **{"class": f"rs_arrow rs_{arrow.standing}"}, **look,
        )

    def placed(self, arrow: Arrow) -> dict[str, str]:
        route = arrow.route or clipped(
            self.found[arrow.tail], self.found[arrow.head], SIZES
        )
        place = {"pos": pos(route, self.height, tee=arrow.standing is Standing.REFUSED)}
        middle = ((route[0][0] + route[-1][0]) / 2, (route[0][1] + route[-1][1]) / 2 - 9)
        return place | {"lp": self.at(arrow.label_at or middle)}

    def lane(self, lane: Lane) -> None:
        middle, top, bottom = 22.0, 42.0, self.height - 8
        name = lane.label or lane.name
        ends = [self.unique("lane", f"{lane.name}_{end}") for end in ("top", "bottom")]
        for end, y in zip(ends, (top, bottom), strict=True):
            self.graph.node(end, label="", shape="point", style="invis", width="0", height="0",
                            pos=self.at((lane.x, y)))
        self.graph.edge(*ends, dir="none", color=palette.LANE, penwidth="1",
                        pos=pos(((lane.x, top), (lane.x, bottom)), self.height, head=False),
                        id=self.unique("lane", lane.name), **{"class": "rs_lane"})
        shown = f"{name}\n{lane.note}" if lane.note else name
        wide = max(72.0, width(shown, palette.BODY, bold=True) + 20)
        self.graph.node(
            f"{ends[0]}_head", label=plain(shown), pos=self.at((lane.x, middle)), fixedsize="true",
            width=f"{wide / 72:.3f}", height=f"{38 / 72:.3f}",
            **{"class": "rs_head"}, **NODES[Form.BOX] | {"fontname": "Helvetica-Bold"},
        )

    def words(self, text: str, at: Point, name: str) -> None:
        self.graph.node(name, label=plain(text), pos=self.at(at), **NODES[Form.WORDS])

    @property
    def height(self) -> float:
        return self.picture.size[1] if self.picture.size else 0

    def at(self, point: Point) -> str:
        return f"{point[0]:.1f},{self.height - point[1]:.1f}"

    def unique(self, sort: str, name: str) -> str:
        stem = f"rs_{sort}_{re.sub('[^a-z0-9]+', '_', name.lower()).strip('_') or 'x'}"
        tries = (stem if i == 1 else f"{stem}_{i}" for i in range(1, len(self.used) + 2))
        found = next(name for name in tries if name not in self.used)
        self.used.add(found)
        return found


def words(node: Node) -> str:
    """What stands in a node: the mark and the note are part of it."""
    if node.drawn:
        return node.drawn
    shown = f"{LIT_MARK} {node.shown}" if node.lit else node.shown
    return f"{shown}\n{node.note}" if node.note and node.form is Form.BOX else shown


def written(arrow: Arrow) -> str:
    """What stands at an arrow: a refused one carries a mark and its rule."""
    if arrow.standing is not Standing.REFUSED:
        return arrow.drawn or arrow.label
    if arrow.step is not None:
        return f"{arrow.label}\n{REFUSED_MARK} {arrow.rule}"
    by = f" by {arrow.by}" if arrow.by else ""
    return f"{REFUSED_MARK} {arrow.label}{by}: {arrow.rule}"


def flowing_label(text: str) -> str:
    """An arrow's label for an engine that lays out: wide letters get a set width."""
    if all(_em(letter, False) < 1 for letter in text):
        return plain(text)
    rows = "".join(
        f'<TR><TD WIDTH="{round(width(line, palette.SMALL)) + 4}">{html_escape(legal(line), quote=False)}</TD></TR>'
        for line in text.split("\n")
    )
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0">{rows}</TABLE>>'


def _em(letter: str, bold: bool) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    plain_width = next((em for letters, em in WIDTHS if letter in letters), 0.56)
    return plain_width + (0.055 if bold else 0)
