"""What every test of the project shares: empty progress, and skips that count.

Notebooks are compared as a reader who has predicted nothing sees them, so the
progress file is switched off before the first kernel starts. With `CI` or
`RUNSTATE_NO_SKIP` set, a skipped test is a failure: nothing is left out unseen.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

collect_ignore_glob = ["notebooks/src/*", "solutions/*.py"]
os.environ["RUNSTATE_PROGRESS"] = "off"

NO_SKIP = any(
    os.environ.get(name, "").lower() in {"1", "true", "yes"} for name in ("CI", "RUNSTATE_NO_SKIP")
)


def skip_is_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    """The same report, failed where it was skipped and no skip is allowed."""
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"no skip is allowed here: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Each report of a test, with `skip_is_failure` applied."""
    report = yield
    skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each report of a collected file, with `skip_is_failure` applied."""
    report = yield
    skip_is_failure(report)
    return report
