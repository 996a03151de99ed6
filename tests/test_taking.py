"""Which cells are the answers: found in three ways, whatever lies around them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runstate_lab.course.saved import Cell, parse
from runstate_lab.course.taking import (
    Answer,
    Wanted,
    exercises_of,
    likeness,
    other_exercise,
    same_text,
    take,
)
from sheets import ANSWER, cell, notebook

WANTED = Wanted("04.1", cell_id="answer-04-1", stub="# answer: 04.1\nraise NotImplementedError")


def taken(content: bytes) -> Answer:
    """The answer 04.1 of a notebook."""
    return take(parse(content), WANTED)


TAKEN: Mapping[str, tuple[bytes, tuple[str, ...]]] = {
    "as Jupyter saves it": (notebook(cell()), ()),
    "source as lines": (notebook(cell(source=["# answer: 04.1\n", "x = 1"])), ()),
    "a byte order mark": (b"\xef\xbb\xbf" + notebook(cell()), ()),
    "UTF-16": (notebook(cell()).decode().encode("utf-16"), ()),
    "format 4.99": (notebook(cell(), nbformat_minor=99), ()),
    "outputs null": (notebook(cell(outputs=None)), ()),
    "NaN in metadata": (notebook(cell()).replace(b'"metadata": {}', b'"metadata": NaN'), ()),
    "metadata empty": (notebook(cell(metadata={})), ("found by its cell id",)),
    "metadata missing": (notebook(cell(metadata=None)), ("found by its cell id",)),
    "metadata a list": (notebook(cell(metadata=[1])), ("found by its cell id",)),
    "neither id nor metadata": (
        notebook(cell(id=None, metadata=None), nbformat_minor=4),
        ("found by its marker line",),
    ),
    "the same cell twice": (
        notebook(cell(), cell()),
        ("equal copies of the cell: one taken",),
    ),
    "a copy of the stub beside it": (
        notebook(cell(), cell(source=WANTED.stub)),
        ("a copy that still holds the stub was left out",),
    ),
    "a check cell of the same task": (
        notebook(cell(metadata={"runstate": {"role": "check", "task": "04.1"}}, id="c"), cell()),
        (),
    ),
    "UTF-16 without a mark": (notebook(cell()).decode().encode("utf-16-le"), ()),
    "UTF-32": (notebook(cell()).decode().encode("utf-32"), ()),
    "4,000 other cells": (notebook(*[cell(metadata={}, id="o", source="1")] * 4_000, cell()), ()),
    "a letter that is half of one": (notebook(cell(), {"source": "\ud800"}), ()),
}


@pytest.mark.parametrize(("content", "notes"), TAKEN.values(), ids=TAKEN)
def test_a_readable_answer_is_taken(content: bytes, notes: tuple[str, ...]) -> None:
    """Its source is taken whole, with a note where it was not found as expected."""

    assert Answer("04.1", (ANSWER,), notes=notes) == taken(content)


MISSING: Mapping[str, tuple[bytes, str]] = {
    "no cells": (notebook(), "missing"),
    "another answer": (notebook(cell(metadata={}, id="a", source="# answer: 04.2")), "missing"),
    "the marker further down": (
        notebook(cell(metadata={}, id="a", source="x = 1\n# answer: 04.1")),
        "missing",
    ),
    "turned to Markdown": (notebook(cell(cell_type="markdown")), "not-code"),
    "no type at all": (notebook(cell(cell_type=None)), "not-code"),
    "the stub": (notebook(cell(source=WANTED.stub)), "not-answered"),
    "the stub without its marker": (
        notebook(cell(source="\n\nraise NotImplementedError  \n")),
        "not-answered",
    ),
}


@pytest.mark.parametrize(("content", "flaw"), MISSING.values(), ids=MISSING)
def test_an_answer_that_is_not_there_says_so(content: bytes, flaw: str) -> None:
    """The flaw stands in place of a source; the file itself is read."""

    assert flaw == taken(content).flaw


def test_different_copies_are_all_handed_on_in_order() -> None:
    """Whether the parts fit together is asked where parsing is safe."""
    parts = ("def f():", "    return 1")
    found = taken(notebook(*(cell(source=part) for part in parts)))

    assert ("", parts) == (found.flaw, found.parts)


def test_only_marker_and_blank_lines_may_differ() -> None:
    """A changed line is an answer, however small."""

    assert not same_text("# answer: 04.1\nreturn None", "# answer: 04.1\nreturn 0")


@pytest.mark.parametrize(
    ("answers", "other"),
    [
        (("02.1", "02.2"), "02"),
        (("02.1", "04.1"), ""),
        (("04.1",), ""),
        ((), ""),
        (("left.right",), ""),
    ],
)
def test_a_notebook_of_another_exercise_is_seen(answers: tuple[str, ...], other: str) -> None:
    """Only where no answer cell at all belongs to the exercise."""
    cells = tuple(
        Cell(number, "code", f"# answer: {answer}\nx = 1", "", "", "")
        for number, answer in enumerate(answers, start=1)
    )

    assert other == other_exercise(cells, (Wanted("04.1"), Wanted("04.2")))


@pytest.mark.parametrize(
    "source",
    ["# answer: 04.1\nx = 1\n\n", "x = 1", "\r\nx = 1   \r\n"],
    ids=["its lines", "its marker", "its line ends"],
)
def test_answers_are_alike_however_they_are_laid_out(source: str) -> None:
    """Marker, blank lines and line ends make no difference."""

    assert likeness({"04.1": taken(notebook(cell()))}) == likeness(
        {"04.1": taken(notebook(cell(source=source)))}
    )


def test_other_answers_are_not_alike() -> None:
    """One letter makes a difference."""

    assert likeness({"04.1": taken(notebook(cell()))}) != likeness(
        {"04.1": taken(notebook(cell(source="x = 2")))}
    )


def test_who_answered_nothing_is_like_nobody() -> None:
    """Two untouched stubs are no copies."""

    assert "" == likeness({"04.1": taken(notebook(cell(source=WANTED.stub)))})


@pytest.mark.parametrize(
    "changes",
    [{}, {"metadata": {}, "id": "x"}, {"metadata": {}, "source": "x = 1"}],
    ids=["metadata", "marker line", "cell id"],
)
def test_a_notebook_says_in_three_ways_of_which_exercise_it_is(changes: dict[str, object]) -> None:
    """The same three ways by which an answer is found."""

    assert frozenset({"04"}) == exercises_of(parse(notebook(cell(**changes))))


def test_a_type_of_cell_that_is_megabytes_long_is_cut() -> None:
    """The note on it is short, and can be printed."""
    found = taken(notebook(cell(cell_type="\x1b\ud800" + "x" * 3_000_000)))

    assert ("not-code", True) == (found.flaw, found.notes[0].isprintable())
    assert len(found.notes[0]) < 200
