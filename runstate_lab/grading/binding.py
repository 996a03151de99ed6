"""Grading. Runs in our own kernel: binds the student's names to a confined worker.

The bridge puts one call of `bind` where our solved notebook has an answer
cell. The names it leaves in the notebook are proxies, so the check cells that
follow compare on this side, and the student's code runs on the other.

What is not here: building that notebook (see `bridge`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from runstate_lab.grading.faults import NameMissing, WorkerGone
from runstate_lab.grading.proxy import Student

JOB = "job.json"


@dataclass(frozen=True)
class WorkerPlan:
    """How to start a worker: its cells, its walls and its time."""

    cells: tuple[tuple[str, str], ...]
    names: dict[str, tuple[str, ...]]
    level: str
    call_seconds: float
    worker_seconds: float
    seed: int = 0

    def start(self) -> Student:
        """A fresh worker that holds the student's answers, nothing of ours."""
        return Student(
            self.cells,
            level=self.level,
            call_timeout=self.call_seconds,
            total=self.worker_seconds,
        )

    def write(self, folder: Path) -> None:
        """The plan as a file, for a kernel that starts in `folder`."""
        text = json.dumps(self.__dict__)
        (folder / JOB).write_text(text, encoding="utf-8")


def read_plan(folder: Path) -> WorkerPlan:
    """The plan that `WorkerPlan.write` left in `folder`."""
    row = json.loads((folder / JOB).read_text(encoding="utf-8"))
    row["cells"] = tuple((source, cell) for source, cell in row["cells"])
    return WorkerPlan(**row)


@dataclass
class Bound:
    """The worker in use, and the answers whose names are bound to it."""

    worker: Student | None = None
    answers: list[str] = field(default_factory=list)
    gone: WorkerGone | None = None


BOUND = Bound()


def bind(answer: str) -> None:
    """Puts the answer's names into the notebook, from a worker that is alive.

    Where an earlier task killed the worker a fresh one is started, so that one
    bad answer does not cost the others their points.
    """
    from IPython import get_ipython

    BOUND.answers.append(answer)
    plan = read_plan(Path.cwd())
    fresh = [answer]
    if BOUND.worker is None or BOUND.worker.dead is not None:
        BOUND.gone = None
        BOUND.worker = plan.start()
        fresh = BOUND.answers
    names = [name for key in fresh for name in plan.names.get(key, ())]
    get_ipython().user_ns.update(_values(BOUND.worker, names))


def _values(worker: Student, names: list[str]) -> dict[str, object]:
    found = {}
    for name in names:
        try:
            found[name] = getattr(worker, name)
        except NameMissing:
            # Not defined by the student: the check that needs it says so.
            continue
    return found


def alive() -> None:
    """Raises what killed the worker: a check must not pass on a dead one."""
    if BOUND.gone is None and BOUND.worker is not None and BOUND.worker.dead is not None:
        BOUND.gone = BOUND.worker.close()
    if BOUND.gone is not None:
        raise BOUND.gone
