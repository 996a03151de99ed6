"""A lesson or a solved exercise run cell by cell, with edits as a learner types them."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runstate_lab.course.marks import Cell

Before = Callable[["Bench", int], None]


@dataclass
class Bench:
    """The cells of a master, the names they have made so far, and what the last one showed."""

    cells: tuple[Cell, ...]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, source: str) -> str:
        """What a code cell prints, and after it the text of its last expression."""
        *body, last = ast.parse(source).body or [ast.Pass()]
        shown: list[object] = []
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(body, []), "<cell>", "exec"), self.names)
                shown.append(eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names))
            else:
                exec(compile(ast.Module([*body, last], []), "<cell>", "exec"), self.names)
        kept = [repr(value) for value in shown if value is not None]
        return printed.getvalue() + "\n".join(kept)

    def place(self, words: str) -> int:
        """The number of the one code cell that holds the words."""
        found = [at for at, cell in enumerate(self.cells) if cell.role != "text" and words in cell.source]
        assert len(found) == 1, f"{words!r} stands in {len(found)} code cells"
        return found[0]


def edited(source: str, old: str, new: str) -> str:
    """The source with one place replaced; the place must be there once."""
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in\n{source}"
    return source.replace(old, new)


def flat(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())


def paragraphs(cell: Cell) -> Iterator[str]:
    """The paragraphs of a text, or the lines of a code cell, each as one line."""
    parts: Iterable[str] = cell.source.split("\n\n") if cell.role == "text" else cell.source.split("\n")
    return map(flat, parts)
