"""A course of one small exercise, written where a test wants it.

It has the same shape as the real ones: a catalogue, a solved notebook with
stored outputs, a student's notebook with stubs, and held-back cases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

EXERCISE = "01_newest_fact"

CATALOGUE = """
[course]
title = "A small course"

[[lessons]]
number = "01"
name = "01_facts"
title = "Facts"
minutes = 10
breaks = ["M1"]

[[exercises]]
number = "01"
name = "01_newest_fact"
title = "The newest fact"
lesson = "01"

[[exercises.tasks]]
id = "01.1"
title = "find the newest value"
points = 2
answers = ["newest"]
hints = ["look from the end", "compare the key", "return the value"]

[[exercises.tasks]]
id = "01.2"
title = "keep a ledger"
points = 3
answers = ["Ledger"]
hints = ["keep a list", "append to it", "return a tuple"]
"""

GIVEN = "SEPARATOR = '='"
NEWEST = """# answer: 01.1
def newest(facts, key):
    for fact in reversed(facts):
        name, value = fact.split(SEPARATOR)
        if name == key:
            return value
    raise KeyError(key)"""
NEWEST_STUB = """# answer: 01.1
def newest(facts, key):
    raise NotImplementedError("exercise 01.1: find the newest value")"""
CHECK_NEWEST = """# check: 01.1 the newest build counts
found = newest(("build=red", "build=green"), "build")
assert found == "green", f"the newest build is green, not {found!r}"
print("build is", found)"""
LEDGER = """# answer: 01.2
class Ledger:
    def __init__(self):
        self.kept = []

    def record(self, fact):
        self.kept.append(fact)
        return len(self.kept)

    def facts(self):
        return tuple(self.kept)"""
LEDGER_STUB = """# answer: 01.2
class Ledger:
    def record(self, fact):
        raise NotImplementedError("exercise 01.2: keep a ledger")"""
CHECK_LEDGER = """# check: 01.2 a fact that is recorded is kept
ledger = Ledger()
ledger.record("tests=passed")
print(ledger.facts())"""

SOLUTIONS: Mapping[str, str] = {"01.1": NEWEST, "01.2": LEDGER}

HIDDEN = '''
import pytest


@pytest.mark.task("01.1")
def test_deploy_is_found_among_others(student):
    """A key among others is found."""
    assert student.newest(("build=green", "deploy=done", "build=red"), "deploy") == "done"


@pytest.mark.task("01.1")
def test_an_unknown_key_is_refused(student):
    """An unknown key is refused with KeyError."""
    with pytest.raises(KeyError):
        student.newest(("build=green",), "secret-key-9461")


@pytest.mark.task("01.2")
def test_the_order_is_kept(student, seed):
    """The order of recording is kept."""
    facts = tuple(f"step={number + seed}" for number in range(3))
    ledger = student.Ledger()
    assert [ledger.record(fact) for fact in facts] == [1, 2, 3]
    assert ledger.facts() == facts
'''


def code(source: str, *, role: str, task: str = "", output: str = "") -> dict[str, object]:
    """A code cell of ours; a given cell belongs to no task."""
    marks = {"role": role, **({"task": task} if task else {})}
    if role == "check":
        marks["check"] = source.partition("\n")[0].partition(task)[2].strip()
    streams = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    return {
        "cell_type": "code",
        "id": f"{role}-{task.replace('.', '-') or len(source)}",
        "execution_count": 1,
        "metadata": {"runstate": marks, **({"tags": ["check"]} if role == "check" else {})},
        "outputs": streams,
        "source": source,
    }


def notebook(answers: Mapping[str, str] = SOLUTIONS) -> dict[str, object]:
    """The notebook with these answers, as the solved one is laid out."""
    text = {
        "cell_type": "markdown",
        "id": "text-1",
        "metadata": {"runstate": {"role": "text"}},
        "source": "# The newest fact",
    }
    cells = [
        text,
        code(GIVEN, role="given"),
        code(answers["01.1"], role="answer", task="01.1"),
        code(CHECK_NEWEST, role="check", task="01.1", output="build is green\n"),
        code(answers["01.2"], role="answer", task="01.2"),
        code(CHECK_LEDGER, role="check", task="01.2", output="('tests=passed',)\n"),
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def write_course(root: Path) -> Path:
    """The course folder, complete."""
    solved = root / "solutions" / EXERCISE
    student = root / "exercises" / EXERCISE
    for folder in (solved, student):
        folder.mkdir(parents=True)
    (root / "catalogue.toml").write_text(CATALOGUE, encoding="utf-8")
    (solved / f"{EXERCISE}.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    (solved / "test_hidden.py").write_text(HIDDEN, encoding="utf-8")
    stubs = notebook({"01.1": NEWEST_STUB, "01.2": LEDGER_STUB})
    (student / f"{EXERCISE}.ipynb").write_text(json.dumps(stubs), encoding="utf-8")
    return root


def hand_in(folder: Path, student: str, answers: Mapping[str, str] | None = None) -> Path:
    """A submission with these answers over the solved ones."""
    path = folder / student / f"{EXERCISE}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = notebook({**SOLUTIONS, **(answers or {})})
    path.write_text(json.dumps(made), encoding="utf-8")
    return path
