"""Lessons and solved exercises: run, compared by nbval, and within the house's limits.

`make test` hands every notebook to nbval; what nbval cannot see is held here:
a cell that was never run is compared with nothing.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.build import Target, compose, targets
from runstate_lab.course.marks import read_master

ROOT = Path(__file__).resolve().parents[1]
COURSE = catalogue.load(ROOT)
LESSONS = [lesson.notebook for lesson in COURSE.lessons]
SOLVED = [exercise.solved for exercise in COURSE.exercises]
STUBS = [exercise.notebook for exercise in COURSE.exercises]
CHECKED = LESSONS + SOLVED
LINES, MEDIAN_LINES, WORDS, CELLS_BETWEEN = 25, 4, 90, 12
ACTIONS = {"predict", "quiz", "fill", "order", "scheduler", "conflict", "say"}
FORBIDDEN_MIMES = {"application/vnd.jupyter.widget-view+json", "image/svg+xml"}
SCENARIO = "completed 3 ['build=green']\nPermissionError event source/authority rejected\n"


def cells(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The cells of a notebook, or those of one kind."""
    notebook = json.loads((ROOT / path).read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if kind in (None, cell["cell_type"])]


def source(cell: dict[str, Any]) -> str:
    """A cell's text."""
    return "".join(cell["source"])


def lines(text: str) -> int:
    """Its lines, blank ones not counted."""
    return sum(bool(line.strip()) for line in text.splitlines())


def words(text: str) -> int:
    """Its words; a dash or the bars of a table are none."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def called(cell: dict[str, Any]) -> set[str]:
    """The names of the functions that a code cell calls."""
    if cell["cell_type"] != "code":
        return set()
    return {
        node.func.id
        for node in ast.walk(ast.parse(source(cell)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def is_action(cell: dict[str, Any]) -> bool:
    """Whether the learner has to do something here."""
    return bool(ACTIONS & called(cell)) or "action" in cell["metadata"].get("tags", ())


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_no_checked_cell_is_unrun(path: Path) -> None:
    """Every code cell has an execution count, in order, so nbval compares it."""
    counts = [cell["execution_count"] for cell in cells(path, "code")]

    assert list(range(1, len(counts) + 1)) == counts


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_no_cell_is_left_out_of_the_comparison(path: Path) -> None:
    """No tag tells nbval to look away."""
    tags = {tag for cell in cells(path) for tag in cell["metadata"].get("tags", ())}

    assert set() == tags & {"nbval-skip", "nbval-ignore-output"}


@pytest.mark.parametrize("path", STUBS, ids=str)
def test_a_students_notebook_has_no_outputs(path: Path) -> None:
    """It was never run: neither by us nor by a build that leaks."""

    assert [] == [
        cell for cell in cells(path, "code") if cell["outputs"] or cell["execution_count"]
    ]


@pytest.mark.parametrize("path", CHECKED + STUBS, ids=str)
def test_every_cell_says_what_it_is(path: Path) -> None:
    """A role for each, and a task where it is an answer or a check."""
    marks = [cell["metadata"]["runstate"] for cell in cells(path)]

    assert {"given", "answer", "check", "text"} >= {mark["role"] for mark in marks}
    assert [] == [m for m in marks if m["role"] in ("answer", "check") and "task" not in m]


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_stored_pictures_show_in_a_fresh_clone(path: Path) -> None:
    """No widget model and no bare SVG is stored, no widget state, and every picture has words."""
    notebook = json.loads((ROOT / path).read_text(encoding="utf-8"))
    stored = [
        output["data"]
        for cell in cells(path, "code")
        for output in cell["outputs"]
        if "data" in output
    ]

    assert "widgets" not in notebook["metadata"]
    assert set() == {mime for bundle in stored for mime in bundle} & FORBIDDEN_MIMES
    assert [] == [
        bundle for bundle in stored if "text/html" in bundle and not bundle.get("text/plain")
    ]


@pytest.mark.parametrize("path", LESSONS, ids=str)
def test_code_cells_are_small(path: Path) -> None:
    """None over 25 lines, half of them at most 4."""
    lengths = [lines(source(cell)) for cell in cells(path, "code")]

    assert max(lengths) <= LINES
    assert median(lengths) <= MEDIAN_LINES


@pytest.mark.parametrize("path", LESSONS, ids=str)
def test_texts_are_short(path: Path) -> None:
    """At most ninety words at once."""
    counted = {cell["id"]: words(source(cell)) for cell in cells(path, "markdown")}
    long = {name: number for name, number in counted.items() if number > WORDS}

    assert {} == long


@pytest.mark.parametrize("path", LESSONS, ids=str)
def test_the_learner_acts_all_the_time(path: Path) -> None:
    """At most twelve cells lie between two actions, or before the first."""
    places = [number for number, cell in enumerate(cells(path)) if is_action(cell)]
    gaps = [after - before - 1 for before, after in zip([-1, *places], places, strict=False)]

    assert len(places) >= 3
    assert max(gaps) <= CELLS_BETWEEN


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.name)
def test_a_lesson_opens_with_its_title_minutes_and_beliefs(lesson: catalogue.Lesson) -> None:
    """The first text holds what the catalogue says of it."""
    first = source(cells(lesson.notebook)[0])

    assert lesson.title.lower() in first.lower()
    assert f"{lesson.minutes} minutes" in first
    assert [] == [belief for belief in lesson.breaks if f"{belief} " not in first]


def test_a_lesson_that_locks_brings_the_word_that_opens() -> None:
    """The locked picture says `reveal(...)`; a learner who types it must not meet a NameError."""
    texts = {path.name: path.read_text("utf-8") for path in LESSONS}
    locks = [name for name, text in texts.items() if "after(" in text or "locked(" in text]
    opens = [name for name in locks if re.search(r"import [^\n]*reveal", texts[name])]

    assert locks == opens
    assert 5 == len(locks)


def test_the_scenario_of_the_source_text_stands_in_a_lesson_unlocked() -> None:
    """One executed cell prints the two lines, and no prediction locks it."""
    printed = [
        "".join(output["text"])
        for path in LESSONS
        for cell in cells(path, "code")
        for output in cell["outputs"]
        if output["output_type"] == "stream"
    ]

    assert SCENARIO in printed


@pytest.mark.parametrize("target", targets(COURSE), ids=lambda target: target.name)
def test_every_notebook_holds_its_masters_cells(target: Target) -> None:
    """Source by source; whether the outputs are as built is held by `verify`."""
    read = read_master((ROOT / target.master).read_text(encoding="utf-8"), target.master)
    kinds = ("solution", "exercise") if target.exercise else ("lesson",)
    for kind, path in zip(kinds, target.notebooks, strict=True):
        composed = compose(read, target, kind=kind).cells

        assert [cell.source for cell in composed] == [source(cell) for cell in cells(path)]
        assert [cell.id for cell in composed] == [cell["id"] for cell in cells(path)]
