"""The questions of the lessons: one file `questions/<lesson>.toml` for each.

A lesson's source names ids only, so that no notebook holds an answer.

    [[quiz]]                      quiz("02.1"); its questions are 02.1.1, 02.1.2 ...
    id = "02.1"
    [[quiz.questions]]
    text = "Who may close a run?"
    because = "Said after the right answer."
    choices = [
      { text = "any tool", wrong = "M6" },
      { text = "the runtime", right = true },
    ]

    [[predict]]                   predict("02.2"), then after("02.2", ...)
    id = "02.2"
    text = "What happens?"
    choices = ["it is accepted", "it is refused"]
    outcome = "Optional: said beside the prediction, once it was made."

    [[fill]]                      fill("02.6"); <1> and <2> in the code are the blanks
    id = "02.6"
    text = "Complete the comparison."
    code = "if <1> != <2>:"
    because = "..."
    blanks = [
      [{ text = "a", right = true }, { text = "b", fault = "This builds NaiveStore: ..." }],
      [{ text = "c", fault = "..." }, { text = "d", right = true }],
    ]

    [[order]]                     order("02.8"); steps in the right order
    id = "02.8"
    text = "Put the steps in order; two do not belong."
    steps = ["read", "compute", "submit"]
    distractors = [{ text = "wait a second", fault = "Time heals nothing here." }]
    because = "..."

Backticks mark code. The choices are shown in the order given, the steps of an
order shuffled. What is not here: asking and judging (see `predictions` and
`quizzes`).
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runstate_lab.course.faults import AskedWrongly, CourseFault, Place
from runstate_lab.course.misconceptions import BY_ID

FOLDER = Path(__file__).parent / "questions"
KINDS = ("quiz", "predict", "fill", "order")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Choice:
    """One thing to choose; a wrong one says which belief or which fault it is."""

    text: str
    right: bool = False
    wrong: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Question:
    """A question with one right choice."""

    id: str
    text: str
    choices: tuple[Choice, ...]
    because: str = ""


@dataclass(frozen=True)
class Prediction:
    """A question about what comes next; nobody is right before it came."""

    id: str
    text: str
    choices: tuple[str, ...]
    outcome: str = ""


@dataclass(frozen=True)
class Fill:
    """Code with blanks, each with its own choices."""

    id: str
    text: str
    code: str
    blanks: tuple[tuple[Choice, ...], ...]
    because: str = ""


@dataclass(frozen=True)
class Order:
    """Steps to put in order, and some that stay out."""

    id: str
    text: str
    steps: tuple[str, ...]
    distractors: tuple[Choice, ...]
    because: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """All slips as they are first shown: shuffled, the same for everybody.

        >>> Order("0", "", ("one", "two", "three"), ()).shown
        ('two', 'one', 'three')
        """
        slips = (*self.steps, *(choice.text for choice in self.distractors))
        return tuple(
            sorted(slips, key=lambda slip: hashlib.sha256(f"{self.id} {slip}".encode()).digest())
        )


Task = Question | Prediction | Fill | Order


@dataclass(frozen=True)
class Quiz:
    """Some questions asked together."""

    id: str
    questions: tuple[Question, ...]


def quiz_of(id: str) -> Quiz:
    """The quiz with that id."""
    found = _entry("quiz", id)
    questions = tuple(
        Question(f"{id}.{number}", one["text"], _choices(one["choices"]), one.get("because", ""))
        for number, one in enumerate(found["questions"], start=1)
    )
    return Quiz(id, questions)


def prediction_of(id: str) -> Prediction:
    """The prediction with that id."""
    found = _entry("predict", id)
    return Prediction(id, found["text"], tuple(found["choices"]), found.get("outcome", ""))


def prediction_ids() -> tuple[str, ...]:
    """The ids of all predictions, lesson by lesson."""
    return tuple(id for lesson in lessons() for id in _tables(lesson)["predict"])


def fill_of(id: str) -> Fill:
    """The fill task with that id."""
    found = _entry("fill", id)
    blanks = tuple(map(_choices, found["blanks"]))
    return Fill(id, found["text"], found["code"], blanks, found.get("because", ""))


def order_of(id: str) -> Order:
    """The ordering task with that id."""
    found = _entry("order", id)
    distractors = _choices(found.get("distractors", []))
    return Order(id, found["text"], tuple(found["steps"]), distractors, found.get("because", ""))


def task_of(id: str) -> Task:
    """The question, prediction or task with that id.

    >>> task_of("99.1")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: no questions for lesson '99'
    hint: ...
    """
    quiz, _, number = id.rpartition(".")
    tables = _tables(_lesson(id))
    if quiz in tables["quiz"]:
        asked = [question for question in quiz_of(quiz).questions if question.id == id]
        if not asked:
            raise AskedWrongly(
                f"no question {id}", hint=f"quiz {quiz} has questions {quiz}.1 and on"
            )
        return asked[0]
    makers = {"predict": prediction_of, "fill": fill_of, "order": order_of}
    for kind, make in makers.items():
        if id in tables[kind]:
            return make(id)
    raise _unknown(id, tables)


def lessons() -> tuple[str, ...]:
    """The numbers of the lessons that have questions."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def check_all() -> list[CourseFault]:
    """What is wrong with the tables; empty when all is well."""
    return [fault for lesson in lessons() for fault in _faults(lesson)]


def _faults(lesson: str) -> list[CourseFault]:
    place = Place(FOLDER / f"{lesson}.toml")
    tables = _tables(lesson)
    found = []
    for id in tables["quiz"]:
        for question in quiz_of(id).questions:
            found += [
                f"{question.id}: {words}" for words in _wrong_with(question.choices, beliefs=True)
            ]
    for id in tables["fill"]:
        for number, blank in enumerate(fill_of(id).blanks, start=1):
            found += [f"{id}, blank {number}: {words}" for words in _wrong_with(blank)]
    for id in tables["order"]:
        if order_of(id).shown[: len(order_of(id).steps)] == order_of(id).steps:
            found.append(f"{id}: it is shown in the right order")
    found += [f"{id} is in two tables" for id in _twice(tables)]
    found += [
        f"{id} is not of lesson {lesson}"
        for table in tables.values()
        for id in table
        if _lesson(id) != lesson
    ]
    return [
        CourseFault(words, place=place, hint="see runstate_lab/course/questiontable.py")
        for words in found
    ]


def _wrong_with(choices: tuple[Choice, ...], *, beliefs: bool = False) -> list[str]:
    found = []
    if sum(choice.right for choice in choices) != 1:
        found.append("there must be one right choice")
    for choice in choices:
        if not choice.right and beliefs and choice.wrong not in BY_ID:
            found.append(f"{choice.text!r} names no misconception")
        if not choice.right and not beliefs and not choice.fault:
            found.append(f"{choice.text!r} names no fault")
    return found


def _twice(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    ids = [id for table in tables.values() for id in table]
    return sorted({id for id in ids if ids.count(id) > 1})


def _entry(kind: str, id: str) -> Mapping[str, Any]:
    tables = _tables(_lesson(id))
    if id not in tables[kind]:
        raise _unknown(id, tables)
    return tables[kind][id]


def _unknown(id: str, tables: Mapping[str, Mapping[str, Any]]) -> AskedWrongly:
    known = [f"{kind} {one}" for kind, table in tables.items() for one in table]
    return AskedWrongly(f"no such question or task: {id}", hint=f"known: {', '.join(known)}")


def _lesson(id: str) -> str:
    return id.partition(".")[0]


def _tables(lesson: str) -> dict[str, dict[str, Mapping[str, Any]]]:
    path = FOLDER / f"{lesson}.toml"
    if not path.exists():
        raise AskedWrongly(
            f"no questions for lesson {lesson!r}", hint=f"known: {', '.join(lessons())}"
        )
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed: int) -> dict[str, dict[str, Mapping[str, Any]]]:
    document = tomllib.loads(path.read_text("utf-8"))
    unknown = set(document) - set(KINDS)
    if unknown:
        raise CourseFault(
            f"unknown tables {sorted(unknown)}",
            place=Place(path),
            hint=f"known: {', '.join(KINDS)}",
        )
    return {kind: {entry["id"]: entry for entry in document.get(kind, [])} for kind in KINDS}


def _choices(rows: list[Mapping[str, Any]]) -> tuple[Choice, ...]:
    return tuple(Choice(**row) for row in rows)
