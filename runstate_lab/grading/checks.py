"""Grading. The visible checks of an exercise, run at once on a learner's own notebook.

The same cells are taken, the same answers loaded and the same kind of worker
asked as in a grade; only the kernel is left out, so that it takes seconds. What
holds here, a grade does not fail for a visible reason. A check that does not
hold says first what it expected; the traceback comes last. A held-back check is
never run here, only counted.

What is not here: running the cells (see `visible`).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from runstate_lab.course import catalogue as catalogues
from runstate_lab.course.catalogue import Exercise, Task
from runstate_lab.course.faults import AskedWrongly, CourseFault
from runstate_lab.course.folder import KIT
from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import Cell, Notebook, document, no_notebook, parse
from runstate_lab.course.taking import Wanted, cell_id_of
from runstate_lab.grading import ours, visible
from runstate_lab.grading.answers import Flaw, Prepared, prepare
from runstate_lab.grading.binding import BUDGET_SECONDS, CALL_SECONDS, WorkerPlan
from runstate_lab.grading.exercise import GradedExercise, as_handed_out
from runstate_lab.grading.faults import OurFault, StudentStarved
from runstate_lab.grading.proxy import WorkerUnavailable
from runstate_lab.grading.purse import Purse
from runstate_lab.grading.scratch import scratch
from runstate_lab.grading.verdict import OURS, sentence

WALL_SECONDS = 600.0
NOT_WRITTEN = "not written yet"
BUSY = "this machine was too busy to tell: try again when less is running"


@dataclass(frozen=True)
class Outcome:
    """One check of one task: held, or why not."""

    task: str
    check: str
    held: bool
    words: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Report:
    """What became of every visible check of an exercise."""

    exercise: Exercise
    outcomes: tuple[Outcome, ...]
    held_back: int
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[Outcome, ...] = ()

    @property
    def held(self) -> bool:
        """Whether every task has a check and every check that was run held."""
        visible = all(self.task_held(task.id) for task in self.exercise.tasks)
        return visible and all(outcome.held for outcome in self.others)

    def of(self, task: str) -> tuple[Outcome, ...]:
        """The outcomes of one task, in the notebook's order."""
        return tuple(outcome for outcome in self.outcomes if outcome.task == task)

    def task_held(self, task: str) -> bool:
        """Whether the task has checks and all of them held."""
        return bool(self.of(task)) and all(outcome.held for outcome in self.of(task))

    @property
    def first_fault(self) -> Outcome | None:
        """The first check that did not hold."""
        return next((outcome for outcome in self.outcomes if not outcome.held), None)

    @property
    def closing(self) -> str:
        """The last line: never "all passed", for there are held-back checks."""
        failed = sum(not outcome.held for outcome in self.outcomes)
        missing = [task.id for task in self.exercise.tasks if not self.of(task.id)]
        plural = "" if self.held_back == 1 else "s"
        others = f"{self.held_back} held-back check{plural} not run here"
        if self.others:
            others = f"{sum(row.held for row in self.others)} of {len(self.others)} held-back checks held"
        if missing:
            return f"no visible check is left for {', '.join(missing)}, {others}"
        if failed:
            return f"{failed} of {len(self.outcomes)} visible checks did not hold, {others}"
        if self.others:
            return f"visible checks held, {others}"
        if self.held_back:
            return f"visible checks held; this is not the whole answer: {others}"
        return "visible checks held; there are no others"

    def __str__(self) -> str:
        """Task by task in words, then the tracebacks, then the closing line."""
        lines = []
        for task in self.exercise.tasks:
            mark = "held    " if self.task_held(task.id) else "not held"
            lines.append(f"{task.id}  {mark}  {task.title}")
            lines += [
                f"      {outcome.check}: {outcome.words}"
                for outcome in self.of(task.id)
                if not outcome.held
            ]
            lines += [f"      note: {note}" for note in self.notes.get(task.id, ())]
        for row in self.others:
            mark = "held    " if row.held else "not held"
            words = f": {row.words}" if row.words else ""
            lines.append(f"{row.task}  {mark}  {row.check.removesuffix('.')}{words}")
        for trail in self._trails():
            lines += ["", *trail.rstrip().splitlines()]
        return "\n".join([*lines, "", self.closing])

    __repr__ = __str__

    def _trails(self) -> tuple[str, ...]:
        """One traceback a task: the rest is mostly the same once more."""
        firsts = (
            next((outcome.traceback for outcome in self.of(task.id) if outcome.traceback), "")
            for task in self.exercise.tasks
        )
        return tuple(dict.fromkeys(filter(None, firsts)))


def check(asked: str, *, folder: Path | None = None) -> Report:
    """What the visible checks say about an exercise as it is saved on disk.

    Works in a notebook too: save the exercise, then `check("04")`.
    """
    course = catalogues.load(folder or catalogues.find_root())
    exercise = course.exercise(asked)
    return check_notebook(exercise, course.root / exercise.notebook)


def check_notebook(exercise: Exercise, path: Path, *, call_seconds: float = CALL_SECONDS) -> Report:
    """The report for one notebook file, by the checks that came with the exercise."""
    if not path.is_symlink() and not path.exists():
        raise AskedWrongly(
            f"there is no {path}",
            hint=f"runstate-lab reset {exercise.number} puts a fresh one there",
        )
    try:
        content = read_bytes(path)
        cells = parse(content)
        handed_out = _handed_out(exercise)
        graded = as_handed_out(exercise, handed_out or document(content))
        if handed_out is None:
            graded = _without_stubs(graded)
        return check_cells(exercise, graded, cells, call_seconds=call_seconds)
    except Unreadable as refusal:
        raise no_notebook(refusal, path, exercise) from None


def check_answers(exercise: Exercise, stub: Notebook, notebook: Notebook) -> Report:
    """The report for a notebook of our own making, by the checks of the stub's.

    The stubs are run like any answer: one that holds by itself is found.
    """
    cells = parse(json.dumps(notebook).encode())
    return check_cells(exercise, _without_stubs(as_handed_out(exercise, stub)), cells)


def check_cells(
    exercise: Exercise,
    graded: GradedExercise,
    cells: tuple[Cell, ...],
    *,
    call_seconds: float = CALL_SECONDS,
) -> Report:
    """The report for these cells; given and check cells are those of `graded`."""
    with scratch() as folder:
        purse = Purse(str(folder / "purse"), BUDGET_SECONDS)
        try:
            prepared = _prepared(graded, cells, purse, call_seconds)
            rows = _run(graded, prepared, folder)
            outcomes = tuple(_outcomes(graded, prepared, rows))
        except (WorkerUnavailable, OurFault, StudentStarved) as fault:
            raise CourseFault(
                f"the checks could not be run: {str(fault).splitlines()[0]}",
                hint="try again; if it stays like this: runstate-lab doctor",
            ) from None
    return Report(exercise, outcomes, graded.held_back, prepared.notes)


def _handed_out(exercise: Exercise) -> Notebook | None:
    """The exercise as it was handed out, where this kit is the one that did."""
    for root in (KIT, KIT.parents[1]):
        try:
            same = exercise in catalogues.load(root).exercises
            if same:
                return document((root / exercise.notebook).read_bytes())
        except (CourseFault, OSError, Unreadable):
            continue
    return None


def _without_stubs(graded: GradedExercise) -> GradedExercise:
    """The exercise where its own cells are no stubs to compare the answers with."""
    named = tuple(Wanted(task.id, cell_id_of(task.id)) for task in graded.tasks)
    return replace(graded, wanted=named)


def _prepared(
    exercise: GradedExercise, cells: tuple[Cell, ...], purse: Purse, call_seconds: float
) -> Prepared:
    """The answers, behind the walls of a grade where this machine has them."""
    plan = WorkerPlan("confined", purse, call_seconds=call_seconds)
    try:
        return prepare(exercise, cells, plan)
    except WorkerUnavailable:
        return prepare(exercise, cells, WorkerPlan("none", purse, call_seconds=call_seconds))


def _run(exercise: GradedExercise, prepared: Prepared, folder: Path) -> dict[str, dict[str, str]]:
    """What each check cell printed and what went wrong in it, by its name."""
    cells = [
        {"role": row.role, "task": row.task, "source": row.source, "name": row.name}
        for row in exercise.cells
        if row.kind == "code" and not (row.role == "answer" and prepared.flaw(row.task).code)
    ]
    prepared.plan.write(folder)
    (folder / visible.CELLS).write_text(json.dumps(cells), encoding="utf-8")
    _wait_for(folder)
    lines = (folder / visible.RESULTS).read_text(encoding="utf-8").splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def _wait_for(folder: Path) -> None:
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            ours.command("runstate_lab.grading.visible", str(folder)),
            cwd=folder,
            env=ours.environment(folder),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            code = child.wait(timeout=WALL_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            child.kill()
            child.wait()
            child.stdin.close()  # type: ignore[union-attr]
    if code != 0:
        said = (folder / "log").read_text(encoding="utf-8", errors="replace").strip()
        raise OurFault(BUSY if code is None else said.splitlines()[-1] if said else "no word")


def _outcomes(
    exercise: GradedExercise, prepared: Prepared, rows: Mapping[str, Mapping[str, str]]
) -> Iterator[Outcome]:
    for task, row in exercise.checks:
        flaw = prepared.flaw(row.task)
        if flaw.code in OURS:
            raise OurFault(flaw.detail or flaw.code)
        if flaw.code:
            words, trace = _flawed(flaw, task), flaw.trace
        else:
            found = rows[row.name]
            words = _words(found) if "kind" in found else _misprint(row.expected, found["printed"])
            trace = found.get("traceback", "")
        # Nobody needs to be shown where a stub says that it is one.
        trace = "" if words.startswith(NOT_WRITTEN) else trace
        yield Outcome(row.task, row.title, not words, words, trace)


def _flawed(flaw: Flaw, task: Task) -> str:
    if flaw.code == "not-answered":
        return f"{NOT_WRITTEN} (exercise {task.id}: {task.title})"
    return sentence(flaw.code, detail=flaw.detail)


def _words(found: Mapping[str, str]) -> str:
    """What went wrong in a check, in the words of a grade."""
    kind, words = found["kind"], found["words"]
    if kind in OURS:
        raise OurFault(words)
    if kind == "wrong" and found["type"] == "AssertionError":
        return words or "the assertion in the check does not hold"
    if kind == "wrong":
        return f"the answer is not what was asked for: {found['type']}: {words}"
    if kind == "not-answered":
        return f"{NOT_WRITTEN} ({words.partition(': ')[2]})"
    # What follows is advice for the author of a check.
    return sentence(kind, detail=words.partition("\nhint: ")[0])


def _misprint(expected: str | None, printed: str) -> str:
    """The first line that is not as expected; empty where all are."""
    if expected is None:
        return ""
    for wanted, line in zip_longest(expected.splitlines(), printed.splitlines()):
        if wanted != line:
            # A check that says itself what it expected is not made to say it twice.
            said = line is not None and "<-- expected" in line
            return f"got {_line(line)}" if said else f"expected {_line(wanted)}, got {_line(line)}"
    return ""


def _line(line: str | None) -> str:
    return "no further line" if line is None else f'"{line}"'
