"""Wrong answers with names: each fails for its own reason, at the check it names.

`solutions/<exercise>/wrong/<name>.py` is plain Python with two marks:

    # fails: 04.1 words of the check    a visible check, or the title of a held-back one
    # answer: 04.1                      opens an answer; tasks not answered get the solution

What stands before the first answer tells why somebody would write this.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runstate_lab.course.catalogue import Catalogue, Exercise
from runstate_lab.course.faults import CourseFault, Place, raise_any
from runstate_lab.course.marks import ANSWER

FAILS = re.compile(r"# fails: (?P<task>\d\d\.\d+) (?P<check>\S.*?)\s*")
AT_LEAST = 4

Notebook = dict[str, Any]


@dataclass(frozen=True)
class WrongAnswer:
    """One way of being wrong: the check that finds it, and its answer cells."""

    name: str
    path: Path
    task: str
    check: str
    answers: Mapping[str, str]


def wrong_answers(catalogue: Catalogue, exercise: Exercise) -> tuple[WrongAnswer, ...]:
    """The named wrong answers of an exercise, by name."""
    folder = catalogue.root / exercise.wrong
    return tuple(
        read_wrong(path.read_text(encoding="utf-8"), path.relative_to(catalogue.root))
        for path in sorted(folder.glob("*.py"))
    )


def read_wrong(text: str, path: Path) -> WrongAnswer:
    """The wrong answer of a file; one without its two marks is refused.

    >>> read_wrong("# answer: 04.1", Path("blind_retry.py"))
    Traceback (most recent call last):
    runstate_lab.course.faults.CourseFault: blind_retry.py: no line `# fails: 04.1 the check`
    """
    fails: list[re.Match[str]] = []
    answers: dict[str, list[str]] = {}
    for line in text.splitlines():
        if mark := FAILS.fullmatch(line):
            fails.append(mark)
        elif mark := ANSWER.fullmatch(line):
            answers[mark["task"]] = [line]
        elif answers:
            next(reversed(answers.values())).append(line)
    place = Place(path)
    if not fails:
        raise CourseFault("no line `# fails: 04.1 the check`", place=place)
    if len(fails) > 1:
        raise CourseFault(
            "more than one `# fails:`; the first check that fails is enough", place=place
        )
    if not answers:
        raise CourseFault("no line `# answer: 04.1`", place=place)
    sources = {task: "\n".join(lines).strip() for task, lines in answers.items()}
    return WrongAnswer(path.stem, path, fails[0]["task"], fails[0]["check"], sources)


def handed_in(stub: Notebook, answers: Mapping[str, str]) -> Notebook:
    """The student's notebook with these answers written into it."""
    notebook = copy.deepcopy(stub)
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("runstate", {})
        if marks.get("role") == "answer" and marks["task"] in answers:
            cell["source"] = answers[marks["task"]]
    return notebook


def solution_of(solved: Notebook) -> dict[str, str]:
    """The answer cells of a solved notebook, by task."""
    return {
        cell["metadata"]["runstate"]["task"]: "".join(cell["source"])
        for cell in solved["cells"]
        if cell["metadata"].get("runstate", {}).get("role") == "answer"
    }


@dataclass(frozen=True)
class Class:
    """What the kit hands in to itself: the stub, the solution, every wrong answer."""

    exercise: Exercise
    stub: Notebook
    solved: Notebook
    wrong: tuple[tuple[WrongAnswer, Notebook], ...]

    @property
    def submissions(self) -> Iterator[tuple[str, Notebook]]:
        """Each notebook with the name of the student that hands it in."""
        yield "stub", self.stub
        yield "solution", self.solved
        for wrong, notebook in self.wrong:
            yield f"wrong-{wrong.name}", notebook


def own_class(catalogue: Catalogue, exercise: Exercise) -> Class:
    """The submissions to an exercise whose verdict is known beforehand."""
    paths = (exercise.notebook, exercise.solved)
    missing = [path for path in paths if not (catalogue.root / path).exists()]
    hint = f"runstate-lab build {exercise.name}"
    raise_any([CourseFault("was never built", place=Place(path), hint=hint) for path in missing])
    stub, solved = (
        json.loads((catalogue.root / path).read_text(encoding="utf-8")) for path in paths
    )
    solution = solution_of(solved)
    wrong = wrong_answers(catalogue, exercise)
    unknown = [
        CourseFault(f"answers the unknown task {task}", place=Place(each.path))
        for each in wrong
        for task in each.answers
        if task not in solution
    ]
    raise_any(unknown)
    return Class(
        exercise,
        stub,
        handed_in(stub, solution),
        tuple((each, handed_in(stub, {**solution, **each.answers})) for each in wrong),
    )
