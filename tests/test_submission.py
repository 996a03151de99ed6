"""The reader of submissions: every malformed file of the research, and more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runstate_lab.grading.submission import (
    SIZE_LIMIT,
    Answer,
    Cell,
    Unreadable,
    Wanted,
    other_exercise,
    parse,
    read_bytes,
    same_text,
    take,
)

ANSWER = "# answer: 04.1\nx = 1"
WANTED = Wanted("04.1", cell_id="answer-04-1", stub="# answer: 04.1\nraise NotImplementedError")


def cell(**changes: object) -> dict[str, object]:
    """An answer cell as Jupyter saves it, with some keys changed or None to drop."""
    made = {
        "cell_type": "code",
        "id": "answer-04-1",
        "metadata": {"runstate": {"id": "04.1", "role": "answer", "task": "04.1"}},
        "outputs": [],
        "source": ANSWER,
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def notebook(*cells: object, **changes: object) -> bytes:
    """A notebook's bytes."""
    made = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}
    return json.dumps({name: value for name, value in made.items() if value != "drop"}).encode()


def taken(content: bytes) -> Answer:
    """The answer 04.1 of a notebook."""
    return take(parse(content), WANTED)


REFUSED: Mapping[str, tuple[bytes, str]] = {
    "nothing at all": (b"", "empty"),
    "white space only": (b" \n\t", "empty"),
    "cut off": (notebook(cell())[:-20], "not-json"),
    "Latin 1": (notebook(cell()).replace(b"x = 1", b"x = '\xe9'"), "encoding"),
    "cut in the middle of UTF-16": (b"\xff\xfe{\x00\x00\xd8", "encoding"),
    "a merge conflict": (b"{\n<<<<<<< mine\n=======\n>>>>>>> theirs\n}", "conflict"),
    "a list": (b"[]", "not-a-notebook"),
    "a text": (b'"cells"', "not-a-notebook"),
    "format 3": (notebook(nbformat=3), "v3"),
    "format 5": (notebook(nbformat=5), "version"),
    "format 4 as a text": (notebook(nbformat="4"), "version"),
    "format True": (notebook(nbformat=True), "version"),
    "no format": (notebook(nbformat="drop"), "version"),
    "cells are an object": (notebook(cells={}), "no-cells"),
    "no cells": (notebook(cells="drop"), "no-cells"),
    "a cell is a text": (notebook("x = 1"), "cell"),
    "a source is a number": (notebook(cell(source=5)), "cell"),
    "a source is a list of numbers": (notebook(cell(source=["x", 1])), "cell"),
    "100,000 nested lists": (b"[" * 100_000 + b"]" * 100_000, "nesting"),
    "a number of 5,000 digits": (b'{"nbformat": ' + b"4" * 5000 + b"}", "not-json"),
}


@pytest.mark.parametrize(("content", "code"), REFUSED.values(), ids=REFUSED)
def test_an_unreadable_file_says_why(content: bytes, code: str) -> None:
    """The refusal carries its reason code and one thing to do."""
    with pytest.raises(Unreadable) as refused:
        parse(content)

    assert code == refused.value.code
    assert "\nhint: " in str(refused.value)


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
    "20,000 other cells": (notebook(*[cell(metadata={}, id="o", source="1")] * 20_000, cell()), ()),
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


def link(path: Path) -> None:
    """A link to a readable notebook."""
    path.with_name("other").write_bytes(notebook(cell()))
    path.symlink_to("other")


def large(path: Path) -> None:
    """One byte more than is read."""
    with path.open("wb") as stream:
        stream.truncate(SIZE_LIMIT + 1)


NO_FILES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a link": (link, "symlink"),
    "a pipe": (os.mkfifo, "not-a-file"),
    "a folder": (Path.mkdir, "not-a-file"),
    "too large": (large, "too-big"),
    "not there": (lambda path: None, "unreadable"),
}


@pytest.mark.parametrize(("make", "code"), NO_FILES.values(), ids=NO_FILES)
def test_only_regular_files_are_opened(
    make: Callable[[Path], object], code: str, tmp_path: Path
) -> None:
    """No link is followed, no pipe waited for, and nothing large is read."""
    path = tmp_path / "04_compare_and_swap.ipynb"
    make(path)
    with pytest.raises(Unreadable) as refused:
        read_bytes(path)

    assert code == refused.value.code


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    path = tmp_path / "large.ipynb"
    with path.open("wb") as stream:
        stream.truncate(SIZE_LIMIT)

    assert SIZE_LIMIT == len(read_bytes(path))


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
