"""Machinery. One frozen model of what is drawn, with three renderings.

A `Picture` is nodes and arrows, and for a view over time also lanes and
steps. It gives an SVG, a text twin that says everything the SVG shows, and a
pandas table. Positions are optional: without them the layout is Graphviz's.

What is not here: which nodes and arrows a run has (see `chart`, `spacetime`),
and how DOT is written and rendered (see `dot`, `engine`).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runstate_lab.show import dot, engine
from runstate_lab.show.letters import escaped, legal
from runstate_lab.show.parts import Arrow, Lane, Node, Point, Step, one_line

if TYPE_CHECKING:
    import pandas

THEMES = ("light", "inline")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is drawn, as a value: equal pictures give equal bytes.

    >>> start, end = Node(name="queued", lit=True), Node(name="running")
    >>> go = Arrow(tail="queued", head="running", label="run_started")
    >>> print(Picture(title="A first chart", nodes=(start, end), arrows=(go,)).text())
    A first chart.
    Nodes: queued (current), running.
    Arrows:
    - queued to running: run_started
    >>> Picture(title="A loose end", nodes=(start,), arrows=(go,))
    Traceback (most recent call last):
        ...
    ValueError: asked an arrow from queued to running, found no node running
    hint: give each arrow two of the picture's nodes: queued
    """

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...] = ()
    lanes: tuple[Lane, ...] = ()
    steps: tuple[Step, ...] = ()
    summary: str = ""
    size: Point | None = None

    def __post_init__(self) -> None:
        names = [node.name for node in self.nodes]
        for arrow in self.arrows:
            for end in (arrow.tail, arrow.head):
                if end not in names:
                    raise ValueError(
                        f"asked an arrow from {arrow.tail} to {arrow.head}, found no node {end}\n"
                        f"hint: give each arrow two of the picture's nodes: {', '.join(names)}"
                    )

    @property
    def sentence(self) -> str:
        """The picture in one sentence: what it is, and what stands out."""
        return one_line(self.summary or f"{self.title}: {len(self.arrows)} arrows.")

    def dot(self) -> str:
        """The DOT source, the same for equal pictures."""
        return dot.source(self)

    def svg(self, *, theme: str = "light", prefix: str = "rs") -> str:
        """The drawing: on its own light ground, or `inline` for a themed page.

        Ids and classes start with `prefix`, so that two inline pictures can
        share a page.

        >>> Picture(title="A chart", nodes=(Node(name="queued"),)).svg(theme="dark")
        Traceback (most recent call last):
            ...
        ValueError: asked the theme 'dark', found only light, inline
        hint: inline follows the theme of the page, dark included
        """
        if theme not in THEMES:
            raise ValueError(
                f"asked the theme {theme!r}, found only {', '.join(THEMES)}\n"
                "hint: inline follows the theme of the page, dark included"
            )
        return engine.dress(
            engine.render(self.dot()), name=self.sentence, inline=theme == "inline", prefix=prefix
        )

    def text(self) -> str:
        """The text twin: everything the drawing shows, in lines to read aloud."""
        lines = [f"{one_line(self.title)}."]
        if self.lanes:
            lanes = [_with_note(lane.name, lane.note) for lane in self.lanes]
            lines.append(f"Lanes: {', '.join(lanes)}.")
            lines += [f"{step.number}. {step.sentence}" for step in self.steps]
            return "\n".join(lines)
        named = [_with_note(node.shown, _remark(node)) for node in self.nodes]
        lines.append(f"Nodes: {', '.join(named)}.")
        if self.arrows:
            lines.append("Arrows:")
        return "\n".join(lines + [f"- {arrow.sentence}" for arrow in self.arrows])

    def table(self) -> pandas.DataFrame:
        """The same as a pandas table: one row a step, or one an arrow."""
        from runstate_lab.show.frames import captioned

        if self.lanes:
            columns = tuple(name for name, _ in self.steps[0].cells) if self.steps else ()
            rows = [tuple(text for _, text in step.cells) for step in self.steps]
            return captioned(self.title, ("step", *columns), [
                (step.number, *row) for step, row in zip(self.steps, rows, strict=True)
            ])
        return captioned(self.title, ("from", "to", "event", "standing", "rule"), [
            (arrow.tail, arrow.head, arrow.events, str(arrow.standing), arrow.rule)
            for arrow in self.arrows
        ])

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, str]:
        return {"text/html": self._image(), "text/plain": legal(self.sentence)}

    def _image(self) -> str:
        # An untrusted notebook shows an <img>, but a stored SVG only as text.
        try:
            drawing = self.svg()
        except engine.EngineMissing as missing:
            return f"<pre>{escaped(self.text())}\n\n{escaped(str(missing))}</pre>"
        coded = base64.b64encode(drawing.encode()).decode()
        alt = escaped(self.sentence)
        return f'<img alt="{alt}" src="data:image/svg+xml;base64,{coded}">'


def _remark(node: Node) -> str:
    return ", ".join(word for word in ("current" if node.lit else "", node.note) if word)


def _with_note(name: str, note: str) -> str:
    return one_line(f"{name} ({note})" if note else name)
