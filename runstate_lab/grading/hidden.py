"""Grading. The held-back cases: a pytest plugin with the fixture `student`.

A case is a test of `test_hidden.py` marked `@pytest.mark.task("04.1")`; the
first line of its docstring is the title that a student sees. Each case gets a
fresh worker. Every planned case is accounted for, and only one that was set
up, ran and was taken down without fault counts as held.

What is not here: the visible checks (see `bridge`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

import pytest

from runstate_lab.grading.binding import WorkerPlan
from runstate_lab.grading.kinds import kind_of
from runstate_lab.grading.proxy import Student
from runstate_lab.grading.verdict import OURS, Case, Verdict

COSTLY = ("timeout", "waits", "died", "memory", "budget", "starved")
COSTLY_LIMIT = 2


@dataclass(frozen=True)
class HiddenCase:
    """One held-back case, planned before any student code runs."""

    node: str
    task: str
    title: str


class HiddenCases:
    """The plugin: plans the cases, lends the worker, keeps the outcomes."""

    def __init__(self, plan: WorkerPlan, dropped: Mapping[str, str]) -> None:
        self.plan = plan
        self.dropped = dropped
        self.planned: list[HiddenCase] = []
        self.outcomes: dict[str, tuple[Verdict, str, str]] = {}

    @pytest.fixture
    def seed(self) -> int:
        """The seed of this grading, from which a case may vary its inputs."""
        return self.plan.seed

    @pytest.fixture
    def student(self) -> Iterator[Student]:
        """The student's names, each call answered by a fresh confined worker."""
        worker = self.plan.start()
        yield worker
        gone = worker.close()
        self.plan.settle(worker)
        if gone is not None:
            raise gone

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declares the mark, which the cases cannot do without."""
        config.addinivalue_line("markers", "task(id): the task that a held-back case is for")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Plans the cases: what is not planned here cannot be passed later."""
        for item in items:
            if isinstance(item, pytest.Function):
                mark = item.get_closest_marker("task")
                task = str(mark.args[0]) if mark and mark.args else ""
                self.planned.append(HiddenCase(item.nodeid, task, _title(item)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Leaves out a case whose answer is not there, or has cost too much."""
        case = self._case(item)
        if case is None:
            return None
        if case.task in self.dropped:
            self.outcomes[case.node] = (Verdict.FAIL, self.dropped[case.task], "")
            return True
        if self._costly(case.task) >= COSTLY_LIMIT:
            self.outcomes[case.node] = (Verdict.FAIL, "not-run", "")
            return True
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The report as it was; its outcome is kept.

        The first fault counts, but one thing more: what a case made of a worker
        that had died is not believed, and its end is the outcome.
        """
        report = yield
        case = self._case(item)
        if case is not None:
            before = self.outcomes.get(case.node)
            died = call.when == "teardown" and report.failed
            if before is None or before[0] is Verdict.PASS or died:
                self._keep(case, call, report)
        return report

    def _keep(
        self, case: HiddenCase, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        if report.skipped or hasattr(report, "wasxfail"):
            self.outcomes[case.node] = (Verdict.FAIL, "skipped", "")
        elif report.failed:
            self.outcomes[case.node] = _fault(call)
        elif call.when == "teardown":
            self.outcomes.setdefault(case.node, (Verdict.PASS, "", ""))

    def _costly(self, task: str) -> int:
        nodes = [case.node for case in self.planned if case.task == task]
        return sum(self.outcomes[node][1] in COSTLY for node in nodes if node in self.outcomes)

    def _case(self, item: pytest.Item) -> HiddenCase | None:
        return next((case for case in self.planned if case.node == item.nodeid), None)

    def cases(self, task: str) -> tuple[Case, ...]:
        """The task's held-back cases: title and kind of failure, nothing else."""
        missing = (Verdict.NOT_GRADED, "no-result", "")
        rows = []
        for case in self.planned:
            if case.task == task:
                verdict, kind, raised = self.outcomes.get(case.node, missing)
                rows.append(Case(case.title, False, verdict, kind, raised))
        return tuple(rows)


def _fault(call: pytest.CallInfo[None]) -> tuple[Verdict, str, str]:
    error = call.excinfo.value if call.excinfo else AssertionError()
    kind, raised = kind_of(error)
    if kind == "wrong" and call.when != "call":
        kind = "grader"
    return Verdict.NOT_GRADED if kind in OURS else Verdict.FAIL, kind, raised


def _title(item: pytest.Function) -> str:
    words = (item.function.__doc__ or "").strip().splitlines()
    return words[0] if words else item.originalname.replace("_", " ")
