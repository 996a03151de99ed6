"""Grading. What a grade is: three verdicts, the reasons, and the rules that decide.

A verdict is PASS, FAIL or NOT_GRADED. FAIL is the student's answer; NOT_GRADED
is a file that cannot be read, or our side. The reasons are one table.

What is not here: who measures anything (see `session`) and who prints it (see
`gradebook` and `feedback`).
"""

from __future__ import annotations

import re
import sysconfig
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from runstate_lab.course.reasons import FILES, sentence_of


class Verdict(StrEnum):
    """The three verdicts, distinct in every record, page and table.

    >>> print(Verdict.NOT_GRADED, Verdict.NOT_GRADED == Verdict.FAIL)
    NOT_GRADED False
    """

    PASS = "PASS"
    FAIL = "FAIL"
    NOT_GRADED = "NOT_GRADED"


# code -> what was found, what to do now. These sentences are for the student.
REASONS: Mapping[str, tuple[str, str]] = {
    # the file: NOT_GRADED, hand in again; the same rows for `check` and `submit`
    **FILES,
    # the folder: NOT_GRADED
    "misnamed": ("no notebook of the right name was handed in", "rename it and hand in again"),
    "nothing-handed-in": ("no notebook was handed in", "hand in the exercise notebook"),
    "bad-name": (
        "the folder's name cannot be a student's",
        "instructor: rename the folder, and grade again",
    ),
    # our side: NOT_GRADED, nothing for the student to do
    "grader": ("the grader itself failed", "instructor: see the log in the record's folder"),
    "grader-time": ("the grader ran out of time", "instructor: grade this submission again"),
    "kernel": ("the grader's own notebook kernel failed", "instructor: grade it again"),
    "starved": (
        "the machine was too busy to tell, also with this answer alone",
        "instructor: grade it again on a quieter machine",
    ),
    "no-result": ("a planned case gave no result", "instructor: see the log and grade again"),
    "nothing-to-check": ("no check is planned for this task", "instructor: add a check cell"),
    "reference": ("our solved notebook is not usable", "instructor: run the build again"),
    # the answer as text: FAIL
    "missing": (
        "there is no cell with this answer",
        "answer in the cell that came with it, and keep its first line, `# answer: ...`",
    ),
    "not-code": ("the answer's cell is not a code cell", "change its type back to code"),
    "ambiguous": (
        "several different cells claim this answer and do not fit together",
        "merge them into one cell",
    ),
    "not-answered": ("the cell still holds the stub", "replace the NotImplementedError"),
    "syntax": ("the answer does not parse", "run the cell; Python names the line"),
    "magic": (
        "the answer uses a notebook command (%magic, !command or ?help)",
        "answer in plain Python",
    ),
    "too-deep": ("the answer is nested too deeply to be read", "write it in smaller steps"),
    "nul": ("the answer holds a NUL character", "type the line again"),
    "surrogate": ("the answer holds a broken character", "type the line again"),
    # the answer as behaviour: FAIL
    "wrong": ("the answer is not what was asked for", "try the case by hand in the notebook"),
    "raised": ("the answer raised an exception", "read the traceback's last line first"),
    "timeout": ("the answer took too long", "look for a loop that never ends"),
    "waits": (
        "the answer waits and never answers",
        "look for a sleep, a lock, or something that it reads and that nobody sends",
    ),
    "budget": (
        "the answers together took longer than one submission may",
        "make the slow ones faster; none of them needs a second",
    ),
    "import": (
        "the answer imports what is not there when it is graded",
        "import Python's own modules and runstate_lab only",
    ),
    "died": ("the answer ended its process", "an answer returns or raises; it never exits"),
    "memory": ("the answer asked for more memory than allowed", "look for a list that grows"),
    "protocol": ("the answer tampered with the channel", "leave the process's pipes alone"),
    "not-plain": (
        "the answer gave an object where plain values are asked for",
        "return text, numbers, tuples, lists, dicts or the frozen nouns of runstate_lab.model",
    ),
    "too-much": ("the answer gave back too much", "give back only what is asked for"),
    "name-missing": ("a name that the task asks for is not defined", "keep the stub's names"),
    "skipped": ("the case was skipped, which does not count", "let the answer return or raise"),
    "not-run": ("not tried, after earlier cases of this task failed badly", "repair those first"),
}

OURS = frozenset(
    "grader grader-time kernel starved no-result nothing-to-check reference unreadable".split()
)
ABSENT = frozenset({"misnamed", "nothing-handed-in"})

# The fields with words in them that a submission can have a part in.
TOLD = frozenset({"reason", "message", "notes", "title"})
LONGEST = 500
MOST_NOTES = 20
UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
OUR_FOLDERS = re.compile(
    "|".join(
        (
            r"[^\s\"\']{0,200}runstate-(?:grade|taken|check)-\w+",
            re.escape(str(Path(__file__).resolve().parents[2])),
            re.escape(sysconfig.get_paths()["stdlib"]),
            re.escape(sysconfig.get_paths()["purelib"]),
        )
    )
)


@dataclass(frozen=True)
class Case:
    """One planned check of a task.

    The message of a held-back one is at most the name of a known exception.
    """

    title: str
    visible: bool
    verdict: Verdict
    kind: str = ""
    message: str = ""


@dataclass(frozen=True)
class TaskGrade:
    """The grade of one task: all its points, or none."""

    task: str
    title: str
    verdict: Verdict
    points: float | None
    max_points: float
    reason_code: str = ""
    reason: str = ""
    cases: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """Everything that is kept about one graded submission."""

    student: str
    exercise: str
    exercise_version: str
    submission: str
    seed: int
    level: str
    isolation: str
    verdict: Verdict
    points: float | None
    max_points: float
    reason_code: str = ""
    reason: str = ""
    tasks: tuple[TaskGrade, ...] = ()
    notes: tuple[str, ...] = field(default=())
    # The same word for the same answers, for the instructor alone; empty without answers.
    likeness: str = ""

    def key(self) -> tuple[str, str, int, str]:
        """What must be equal for a regrade to have nothing to do."""
        return (self.submission, self.exercise_version, self.seed, self.level)


def sentence(code: str, *, detail: str = "") -> str:
    """The reason in words, with what to do.

    >>> sentence("magic", detail="line 2")
    'the answer uses a notebook command (%magic, !command or ?help): line 2; answer in plain Python'
    >>> sentence("")
    ''
    """
    if not code:
        return ""
    return sentence_of(REASONS[code], detail)


def grade_task(
    task: str,
    title: str,
    max_points: float,
    cases: Iterable[Case],
    *,
    flaw: str = "",
    detail: str = "",
    notes: tuple[str, ...] = (),
) -> TaskGrade:
    """The task's grade: its points only when every planned case held.

    >>> held = Case("counts", True, Verdict.PASS)
    >>> lost = Case("conflicts", False, Verdict.FAIL, "wrong")
    >>> grade_task("04.1", "apply", 4, [held, lost]).points
    0
    >>> print(grade_task("04.1", "apply", 4, []).verdict)
    NOT_GRADED
    """
    kept = tuple(cases)
    first = next((case for case in kept if case.verdict is not Verdict.PASS), None)
    ours = next((case for case in kept if case.verdict is Verdict.NOT_GRADED), None)
    if flaw:
        verdict, code = Verdict.NOT_GRADED if flaw in OURS else Verdict.FAIL, flaw
    elif not kept:
        verdict, code = Verdict.NOT_GRADED, "nothing-to-check"
    elif ours is not None:
        verdict, code = Verdict.NOT_GRADED, ours.kind
    elif first is not None:
        verdict, code, detail = Verdict.FAIL, first.kind, f"first in “{first.title}”"
    else:
        verdict, code = Verdict.PASS, ""
    points = {Verdict.PASS: max_points, Verdict.FAIL: 0, Verdict.NOT_GRADED: None}[verdict]
    reason = sentence(code, detail=detail)
    return TaskGrade(task, title, verdict, points, max_points, code, reason, kept, notes)


def total(tasks: Iterable[TaskGrade]) -> tuple[Verdict, float | None, str, str]:
    """Verdict, points, reason code and reason of the whole submission.

    >>> total([grade_task("04.1", "apply", 4, [Case("counts", True, Verdict.PASS)])])
    (<Verdict.PASS: 'PASS'>, 4, '', '')
    """
    kept = tuple(tasks)
    worst = next((t for t in kept if t.verdict is Verdict.NOT_GRADED), None)
    if worst is None:
        worst = next((t for t in kept if t.verdict is Verdict.FAIL), None)
    if worst is None:
        return Verdict.PASS, sum(t.max_points for t in kept), "", ""
    points = None
    if worst.verdict is Verdict.FAIL:
        points = sum(t.points or 0 for t in kept)
    return worst.verdict, points, worst.reason_code, f"{worst.task}: {worst.reason}"


def to_json(record: Record) -> dict[str, object]:
    """The record as plain values, in the order of its fields; every text fit to be shown."""
    return asdict(record, dict_factory=_fit_to_be_shown)


def fit(text: str, *, most: int = LONGEST) -> str:
    """The text as any page can show it: cut where it is long, no path or traceback of ours.

    >>> fit("a\\ud800b\\x1b[2K"), fit("12345", most=3)
    ('a?b?[2K', '123…')
    >>> fit("it failed\\nTraceback (most recent call last):\\n  File ...")
    'it failed\\n…'
    """
    # Cut twice: megabytes are not searched, and half a path is still found.
    seen = OUR_FOLDERS.sub("…", text[: most + LONGEST])
    told, trace, _ = seen.partition("Traceback (most recent call last)")
    told = told[:most] + "…" if trace or len(told) > most else told
    return "".join(letter if _can_be_shown(letter) else "?" for letter in told)


def _can_be_shown(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return kind not in UNSHOWN or letter in "\n\t\u200c\u200d"


def _fit_to_be_shown(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {name: _fitting(value) if name in TOLD else value for name, value in pairs}


def _fitting(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_fitting(each) for each in value[:MOST_NOTES]]
    return fit(value) if isinstance(value, str) else value


def from_json(plain: Mapping[str, object]) -> Record:
    """The record that `to_json` made; raises where a field is not known.

    >>> from_json({"surprise": 1})
    Traceback (most recent call last):
    ...
    TypeError: Record.__init__() got an unexpected keyword argument 'surprise'
    """
    fields = dict(plain)
    if "tasks" in fields:
        fields["tasks"] = tuple(_task(row) for row in fields["tasks"])  # type: ignore[union-attr]
    if "notes" in fields:
        fields["notes"] = tuple(fields["notes"])  # type: ignore[arg-type]
    if "verdict" in fields:
        fields["verdict"] = Verdict(fields["verdict"])  # type: ignore[arg-type]
    return Record(**fields)  # type: ignore[arg-type]


def _task(row: Mapping[str, object]) -> TaskGrade:
    cases = tuple(
        Case(**{**case, "verdict": Verdict(case["verdict"])})
        for case in row["cases"]  # type: ignore[union-attr]
    )
    changed = {"verdict": Verdict(row["verdict"]), "cases": cases, "notes": tuple(row["notes"])}  # type: ignore[arg-type]
    return TaskGrade(**{**row, **changed})  # type: ignore[arg-type]
