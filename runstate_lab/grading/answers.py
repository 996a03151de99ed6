"""Grading. From the cells of a notebook to answers that can run, and what is wrong with the rest.

This is the one way for `check` and for a grade: the same cells are taken, the
same texts parsed, the same answers loaded once, the same sentences found.

What is not here: the checks (see `bridge`, `hidden` and `visible`).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import Cell
from runstate_lab.course.taking import Answer, likeness, other_exercise, take
from runstate_lab.grading.binding import WorkerPlan
from runstate_lab.grading.exercise import GradedExercise, worker_cells
from runstate_lab.grading.loading import load_flaws
from runstate_lab.grading.sift import Sifted, sift

DEFINES = re.compile(r"^(?:async def|def|class) (\w+)|^(\w+)\s*=(?!=)", re.MULTILINE)
MOST_NOTES = 3
PYTHONS_OWN = frozenset(name for name in dir(builtins) if not name.startswith("_"))


@dataclass(frozen=True)
class Flaw:
    """Why a task fails without its checks being run; `code` is a row of `REASONS`."""

    code: str
    detail: str = ""
    trace: str = ""


@dataclass(frozen=True)
class Prepared:
    """The answers of one notebook: how to run them, what is flawed, what was noticed."""

    plan: WorkerPlan
    flaws: Mapping[str, Flaw]
    notes: Mapping[str, tuple[str, ...]]
    likeness: str

    def flaw(self, task: str) -> Flaw:
        """The task's flaw; an empty one where its checks can be run."""
        return self.flaws.get(task, Flaw(""))


def prepare(exercise: GradedExercise, cells: tuple[Cell, ...], plan: WorkerPlan) -> Prepared:
    """The answers of these cells, each loaded once in a worker that `plan` describes.

    Raises Unreadable where the notebook is that of another exercise.
    """
    other = other_exercise(cells, exercise.wanted)
    if other:
        raise Unreadable("other-exercise", detail=f"its answers are those of exercise {other}")
    answers = {wanted.answer: take(cells, wanted) for wanted in exercise.wanted}
    sifted = sift({key: row.parts for key, row in answers.items() if not row.flaw})
    sources = {key: row.source for key, row in sifted.items() if not row.flaw}
    loads = load_flaws(exercise, sources, lambda cells: replace(plan, cells=cells))
    usable = {key: source for key, source in sources.items() if key not in loads}
    names = {key: exercise.names(key) for key in usable}
    flaws = {key: Flaw(row.flaw) for key, row in answers.items() if row.flaw}
    flaws |= {key: Flaw(row.flaw, row.detail) for key, row in sifted.items() if row.flaw}
    flaws |= {key: Flaw(row.kind, row.detail, row.trace) for key, row in loads.items()}
    runnable = replace(plan, cells=worker_cells(exercise, usable), names=names)
    beside = _defined_beside(exercise, cells)
    notes = {
        key: (*_notes(row, sifted.get(key, Sifted())), *_left_beside(row, beside))
        for key, row in answers.items()
    }
    return Prepared(runnable, flaws, notes, likeness(answers))


def _defined_beside(exercise: GradedExercise, cells: tuple[Cell, ...]) -> dict[str, int]:
    """The names that a learner's own cells define, which nobody takes; by the cell's number."""
    ours = {row.cell_id for row in exercise.cells if row.cell_id}
    texts = {row.source.strip() for row in exercise.cells}
    own = [
        cell
        for cell in cells
        if cell.kind == "code" and cell.cell_id not in ours and cell.source.strip() not in texts
        and not any(take((cell,), wanted).parts for wanted in exercise.wanted)
    ]
    return {
        found[1] or found[2]: cell.number for cell in own for found in DEFINES.finditer(cell.source)
    }


def _left_beside(answer: Answer, beside: Mapping[str, int]) -> list[str]:
    text = "\n".join(answer.parts)
    return [
        f"`{name}` is defined in cell {number}, which is no answer and is not taken: "
        "define it in the answer's cell"
        for name, number in beside.items()
        if re.search(rf"\b{re.escape(name)}\b", text)
        and not re.search(rf"^(?:def|class) {re.escape(name)}\b|^{re.escape(name)}\s*=", text, re.M)
    ][:MOST_NOTES]


def _notes(answer: Answer, sifted: Sifted) -> tuple[str, ...]:
    taken = [f"`{name}`" for name in sifted.bound if name in PYTHONS_OWN]
    again = [f"the cell gives {', '.join(taken)} another meaning, for all cells"] if taken else []
    return (*answer.notes, *sifted.notes, *again)
