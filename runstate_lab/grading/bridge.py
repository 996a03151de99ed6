"""Grading. The visible checks: nbval on our own notebook, the student's names bound.

The notebook that runs is our solved one with its stored outputs; each answer
cell is replaced by a call that binds the student's names as proxies. Nothing
of the submission's file is in it: no cell, no output, no tag, no metadata.

What is not here: the held-back cases (see `hidden`).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from runstate_lab.grading.exercise import GradedExercise, ReferenceCell
from runstate_lab.grading.kinds import kind_of_name, plain
from runstate_lab.grading.verdict import OURS, Case, Verdict

Outcome = tuple[Verdict, str, str]

NOTEBOOK = "grade.ipynb"
BIND = "from runstate_lab.grading import binding\n\nbinding.bind({answer!r})"
DROPPED = "# answer {answer} was not taken"
ALIVE = "binding.alive()"


@dataclass(frozen=True)
class VisibleCheck:
    """One check cell of our notebook, planned before anything runs."""

    number: int
    task: str
    title: str


def visible_checks(exercise: GradedExercise) -> tuple[VisibleCheck, ...]:
    """Every check cell of the exercise; its first comment line is its title."""
    return tuple(
        VisibleCheck(cell.number, cell.task, _title(cell))
        for cell in exercise.cells
        if cell.role == "check" and cell.kind == "code"
    )


def write_notebook(exercise: GradedExercise, usable: frozenset[str], folder: Path) -> Path:
    """Our notebook with the usable answers bound, written where nbval runs it."""
    notebook = json.loads(exercise.notebook.read_text(encoding="utf-8"))
    cells = []
    for plan, cell in zip(exercise.cells, notebook["cells"], strict=True):
        cells.append(_replaced(plan, cell, usable))
        if plan.role == "check" and plan.kind == "code":
            cells.append(_alive(plan, cell))
    notebook["cells"] = cells
    path = folder / NOTEBOOK
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


class VisibleChecks:
    """A pytest plugin that keeps what nbval found, check by check."""

    def __init__(self, exercise: GradedExercise) -> None:
        self.planned = visible_checks(exercise)
        self.outcomes: dict[int, Outcome] = {}
        self.unbound: dict[str, Outcome] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The report as it was; what it says about a check is kept."""
        report = yield
        marks = getattr(item, "cell", {}).get("metadata", {})
        if call.when in ("setup", "call") and "grade_check" in marks:
            self._keep(marks, _outcome(item, call, report))
        if call.when in ("setup", "call") and "grade_bind" in marks and report.failed:
            self.unbound[marks["grade_bind"]] = _outcome(item, call, report)
        return report

    def _keep(self, marks: Mapping[str, object], outcome: Outcome) -> None:
        number = marks["grade_check"]
        before = self.outcomes.get(number)  # type: ignore[call-overload]
        # What a check made of a worker that had died is not believed.
        died = "grade_alive" in marks and outcome[0] is not Verdict.PASS
        if before is None or before[0] is Verdict.PASS or died:
            self.outcomes[number] = outcome  # type: ignore[index]

    def cases(self, task: str, *, not_run: str = "") -> tuple[Case, ...]:
        """The task's visible cases; one that gave no result says so."""
        rows = []
        for check in self.planned:
            if check.task == task:
                outcome = self.outcomes.get(check.number, (Verdict.NOT_GRADED, "no-result", ""))
                outcome = self.unbound.get(task, outcome)
                if not_run:
                    outcome = (Verdict.FAIL, not_run, "")
                rows.append(Case(check.title, True, *outcome))
        return tuple(rows)


def _title(cell: ReferenceCell) -> str:
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    words = first.lstrip("#").strip() if first.startswith("#") else ""
    return cell.title or words or f"check in cell {cell.number + 1}"


def _replaced(
    plan: ReferenceCell, cell: Mapping[str, object], usable: frozenset[str]
) -> dict[str, object]:
    made = copy.deepcopy(dict(cell))
    if plan.role == "answer":
        text = BIND if plan.task in usable else DROPPED
        marks = {"grade_bind": plan.task}
        made.update(source=text.format(answer=plan.task), outputs=[], metadata=marks)
    if plan.role == "check":
        made["metadata"] = {**made.get("metadata", {}), "grade_check": plan.number}  # type: ignore[dict-item]
    return made


def _alive(plan: ReferenceCell, cell: Mapping[str, object]) -> dict[str, object]:
    return {
        "cell_type": "code",
        "id": f"alive-{plan.number}",
        "execution_count": cell.get("execution_count"),
        "metadata": {"grade_check": plan.number, "grade_alive": True},
        "outputs": [],
        "source": ALIVE,
    }


def _outcome(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> Outcome:
    if report.passed and not hasattr(report, "wasxfail"):
        return Verdict.PASS, "", ""
    # Our kernel runs our cells: its death or its time-out says nothing of the answer.
    if hasattr(report, "wasxfail") or call.when == "setup" or call.excinfo is None:
        return Verdict.NOT_GRADED, "kernel", ""
    said = str(call.excinfo.value)
    if "Kernel dead" in said or said.startswith("Timeout"):
        return Verdict.NOT_GRADED, "kernel", ""
    errors = [out for out in item.test_outputs or () if out.output_type == "error"]  # type: ignore[attr-defined]
    if errors:
        name, text = errors[-1].ename, errors[-1].evalue
        kind = kind_of_name(name, text)
        return Verdict.NOT_GRADED if kind in OURS else Verdict.FAIL, kind, plain(text)
    return Verdict.FAIL, "wrong", _printed(item)


def _printed(item: pytest.Item) -> str:
    outputs = item.test_outputs or ()  # type: ignore[attr-defined]
    words = plain("".join(out.get("text", "") for out in outputs), limit=300)
    return f"the cell printed: {words}" if words else "the cell printed nothing"
