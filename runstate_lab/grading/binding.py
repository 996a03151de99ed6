"""Grading. Runs in our own kernel: binds the student's names to a confined worker.

The bridge puts one call of `bind` where our solved notebook has an answer
cell. The names it leaves in the notebook are proxies, so the check cells that
follow compare on this side, and the student's code runs on the other.

What is not here: building that notebook (see `bridge`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from runstate_lab.grading.faults import NameMissing, WorkerGone
from runstate_lab.grading.proxy import Student
from runstate_lab.grading.purse import Purse
from runstate_lab.grading.surroundings import die_with_parent

JOB = "job.json"
CALL_SECONDS, WORKER_SECONDS, BUDGET_SECONDS = 3.0, 20.0, 60.0


@dataclass(frozen=True)
class WorkerPlan:
    """How to start a worker: its cells, its walls, its time and the purse it draws on."""

    level: str
    purse: Purse
    cells: tuple[tuple[str, str], ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    call_seconds: float = CALL_SECONDS
    worker_seconds: float = WORKER_SECONDS
    seed: int = 0

    def start(self) -> Student:
        """A fresh worker that holds the student's answers, nothing of ours.

        Raises BudgetSpent where the answers have used up their time together.
        """
        left = self.purse.left()
        return Student(
            self.cells,
            level=self.level,
            call_timeout=min(self.call_seconds, left),
            total=min(self.worker_seconds, left),
        )

    def settle(self, worker: Student) -> None:
        """Nothing; what the worker was charged until now is taken from the purse."""
        self.purse.note(worker.meter.process, worker.meter.charged)

    def write(self, folder: Path) -> None:
        """The plan as a file, for a kernel that starts in `folder`."""
        text = json.dumps(asdict(self))
        (folder / JOB).write_text(text, encoding="utf-8")


def read_plan(folder: Path) -> WorkerPlan:
    """The plan that `WorkerPlan.write` left in `folder`."""
    row = json.loads((folder / JOB).read_text(encoding="utf-8"))
    row["cells"] = tuple((source, cell) for source, cell in row["cells"])
    row["purse"] = Purse(**row["purse"])
    return WorkerPlan(**row)


@dataclass
class Bound:
    """The worker in use, and the answers whose names are bound to it."""

    plan: WorkerPlan
    worker: Student | None = None
    answers: list[str] = field(default_factory=list)
    gone: WorkerGone | None = None

    def names_of(self, answer: str) -> dict[str, object]:
        """The answer's names, from a worker that is alive.

        Where an earlier task killed the worker a fresh one is started, so that
        one bad answer does not cost the others their points.
        """
        self.answers.append(answer)
        fresh = [answer]
        if self.worker is None or self.worker.dead is not None:
            self.gone = None
            self.worker = self.plan.start()
            fresh = self.answers
        names = [name for key in fresh for name in self.plan.names.get(key, ())]
        return _values(self.worker, names)

    def alive(self) -> None:
        """Raises what killed the worker: a check must not pass on a dead one."""
        if self.worker is None:
            return
        self.plan.settle(self.worker)
        if self.gone is None and self.worker.dead is not None:
            self.gone = self.worker.close()
        if self.gone is not None:
            raise self.gone


@cache
def bound() -> Bound:
    """What this kernel has bound so far; its plan lies where it was started."""
    die_with_parent()
    return Bound(read_plan(Path.cwd()))


def bind(answer: str) -> None:
    """Puts the answer's names into the notebook."""
    from IPython import get_ipython

    get_ipython().user_ns.update(bound().names_of(answer))


def alive() -> None:
    """Raises what killed the worker that the notebook's names belong to."""
    bound().alive()


def _values(worker: Student, names: list[str]) -> dict[str, object]:
    found = {}
    for name in names:
        try:
            found[name] = getattr(worker, name)
        except NameMissing:
            # Not defined by the student: the check that needs it says so.
            continue
    return found
