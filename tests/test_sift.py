"""Parsing student text where it can do no harm."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runstate_lab.grading import sift as sifting
from runstate_lab.grading.sift import Sifted, sift

JOINED = "several cells are marked as this answer: joined in order"
FLAWED: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "a missing bracket": (("f(\n",), "syntax", "line 1, '(' was never closed"),
    "a line magic": (("%matplotlib inline\nx = 1",), "magic", "line 1"),
    "a shell command": (("x = 1\n!pip install x",), "magic", "line 2"),
    "a cell magic": (("%%bash\nls -l",), "magic", "line 1"),
    "a help question": (("print?",), "magic", "line 1"),
    "a captured command": (("files = !ls",), "magic", "line 1"),
    "a NUL": (("x = 1\0",), "nul", ""),
    "half a character": (("x = '\ud800'",), "surrogate", ""),
    "200,000 minus signs": (("-" * 200_000 + "1",), "too-deep", ""),
    "200,000 additions": (("1" + "+1" * 200_000,), "too-deep", ""),
    "parts that do not fit": (("def f():\n    return 1", "        x"), "ambiguous", ""),
    "a magic in one of two parts": (("x = 1", "%time x"), "magic", "line 2"),
}


@pytest.mark.parametrize(("parts", "flaw", "detail"), FLAWED.values(), ids=FLAWED)
def test_what_does_not_parse_says_why(parts: tuple[str, ...], flaw: str, detail: str) -> None:
    """The flaw and the line are told, and nothing is left to run."""

    assert {"04.1": Sifted("", flaw, detail)} == sift({"04.1": parts})


PARSED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "plain Python": ("x = 1", ()),
    "await at the top": ("await f()", ()),
    "a percent sign in its place": ("x = 7 % 4\ny = 'a' % ()", ()),
    "a warning": ("x = 1 is 1\ny = '\\d'", ()),
}


@pytest.mark.parametrize(("source", "notes"), PARSED.values(), ids=PARSED)
def test_what_parses_is_handed_on_unchanged(source: str, notes: tuple[str, ...]) -> None:
    """The source is that of the submission, to the letter."""

    assert {"04.1": Sifted(source, notes=notes)} == sift({"04.1": (source,)})


def test_parts_that_fit_are_joined() -> None:
    """A cell that was split in two is one answer, with a note."""
    found = sift({"04.1": ("def f():", "    return 1")})["04.1"]

    assert Sifted("def f():\n    return 1", notes=(JOINED,)) == found


def test_one_answer_that_kills_the_parser_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the child dies of all answers together, each is asked alone."""
    ask = sifting._ask

    def dying(parts: Mapping[str, tuple[str, ...]]) -> dict[str, Sifted] | None:
        return None if "04.1" in parts else ask(parts)

    monkeypatch.setattr(sifting, "_ask", dying)
    found = sift({"04.1": ("bomb",), "04.2": ("x = 1",)})

    assert ("too-deep", "x = 1") == (found["04.1"].flaw, found["04.2"].source)
