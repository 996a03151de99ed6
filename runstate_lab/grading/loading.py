"""Grading. Which answers load at all, found before any check runs.

Loading runs the given cells and the answers once in a throw-away worker. An
answer that raises, hangs or exits while loading is left out with that reason,
so that it costs its own task and no other.

What is not here: the checks (see `bridge` and `hidden`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runstate_lab.grading.binding import WorkerPlan
from runstate_lab.grading.exercise import GradedExercise, worker_cells
from runstate_lab.grading.faults import BudgetSpent, StudentStarved, WorkerGone
from runstate_lab.grading.kinds import kind_of, plain, trace_of

Planned = Callable[[tuple[tuple[str, str], ...]], WorkerPlan]


@dataclass(frozen=True)
class LoadFlaw:
    """Why an answer did not load."""

    kind: str
    detail: str
    trace: str = field(default="", compare=False)


def load_flaws(
    exercise: GradedExercise, sources: Mapping[str, str], planned: Planned
) -> dict[str, LoadFlaw]:
    """The answers that do not load, each with its reason; the others do, together.

    Raises StudentStarved where the machine was too busy to tell.
    """
    usable = dict(sources)
    flaws: dict[str, LoadFlaw] = {}
    while usable:
        try:
            found = _flaws(exercise, usable, planned)
        except BudgetSpent as spent:
            found = {key: _flaw(spent) for key in usable}
        if not found:
            break
        flaws |= found
        usable = {key: source for key, source in usable.items() if key not in found}
    return flaws


def _flaws(
    exercise: GradedExercise, sources: Mapping[str, str], planned: Planned
) -> dict[str, LoadFlaw]:
    raised, gone = _attempt(exercise, sources, planned)
    if gone is None:
        return raised
    order = [wanted.answer for wanted in exercise.wanted if wanted.answer in sources]
    for end, answer in enumerate(order[:-1], start=1):
        _, sooner = _attempt(exercise, {key: sources[key] for key in order[:end]}, planned)
        if sooner is not None:
            return {answer: _flaw(sooner)}
    return {order[-1]: _flaw(gone)}


def _attempt(
    exercise: GradedExercise, sources: Mapping[str, str], planned: Planned
) -> tuple[dict[str, LoadFlaw], WorkerGone | None]:
    plan = planned(worker_cells(exercise, sources))
    worker = plan.start()
    gone = worker.close()
    plan.settle(worker)
    if isinstance(gone, StudentStarved):
        raise gone
    failures = worker.failures.items()
    return {key: _flaw(error) for key, error in failures if key in sources}, gone


def _flaw(error: BaseException) -> LoadFlaw:
    return LoadFlaw(kind_of(error)[0], plain(str(error), limit=200), trace_of(error))
