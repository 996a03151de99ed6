"""Machinery. Tables for readers: a pandas DataFrame with a caption and a text twin.

The HTML is the same bytes each time and names its header cells, so that a
screen reader can tell where it is. Nothing is said by colour alone.

What is not here: any row (see `tables`). This module imports pandas; import
it where a table is shown, never at the top of another module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas

from runstate_lab.show.letters import escaped, legal
from runstate_lab.show.parts import one_line

# JupyterLab sets every cell to the right, which suits numbers, not sentences.
LEFT = ' style="text-align: left"'


class CaptionedFrame(pandas.DataFrame):
    """A DataFrame that keeps its caption when it is filtered or sorted.

    Where it names a `usual` cell, all other cells are printed bold.
    """

    _metadata = ["caption", "usual"]

    @property
    def _constructor(self) -> type[CaptionedFrame]:
        return CaptionedFrame

    def text(self) -> str:
        """The text twin: the caption, then one line a row, ready to be read aloud.

        >>> print(captioned("Fruit", ("name", "colour"), [("apple", "red")]).text())
        Fruit.
        1. name: apple; colour: red
        """
        caption = getattr(self, "caption", "") or "Table"
        lines = [f"{caption.removesuffix('.')}."]
        for number, row in enumerate(self.itertuples(index=False, name=None), 1):
            cells = zip(self.columns, row, strict=True)
            words = [f"{name}: {_shown(cell)}" for name, cell in cells if _shown(cell)]
            lines.append(f"{number}. {'; '.join(words)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col"{LEFT}>{_safe(name)}</th>' for name in self.columns)
        usual = getattr(self, "usual", "")
        body = "\n".join(_row(row, usual) for row in self.itertuples(index=False, name=None))
        caption = _safe(getattr(self, "caption", "") or "Table")
        return (
            f'<table class="rs_table">\n<caption{LEFT}>{caption}</caption>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        )


def captioned(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, usual: str = ""
) -> CaptionedFrame:
    """A DataFrame with a caption; the first column heads each row.

    >>> captioned("Fruit", ("name", "colour"), [("<apple>", "red")])._repr_html_().count("&lt;apple&gt;")
    1
    """
    frame = CaptionedFrame(list(rows), columns=list(columns), dtype=object)
    frame.caption, frame.usual = caption, usual
    return frame


def _row(row: Sequence[object], usual: str) -> str:
    first, *rest = row
    cells = "".join(f"<td{LEFT}>{_cell(cell, usual)}</td>" for cell in rest)
    return f'<tr><th scope="row"{LEFT}>{_safe(first)}</th>{cells}</tr>'


def _cell(cell: object, usual: str) -> str:
    shown = _safe(cell)
    return shown if not usual or cell in ("", usual) else f"<b>{shown}</b>"


def _safe(cell: object) -> str:
    return escaped(_shown(cell))


def _shown(cell: object) -> str:
    return "" if cell is None else legal(one_line(str(cell)))
