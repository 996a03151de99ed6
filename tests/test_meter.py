"""The account of a worker: it is charged what it computes and idles, never the machine's load."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from runstate_lab.grading import meter as meters
from runstate_lab.grading.faults import StudentStarved, StudentTimeout, StudentWaits, WorkerGone
from runstate_lab.grading.meter import LEAST_WALL, SLICE, Meter

WORKER = -7


@dataclass
class Kernel:
    """What the kernel says: computed by the worker, and both sides' waits for a processor."""

    computed: float = 0.0
    starved: float = 0.0
    ours: float = 0.0
    ready: bool = False


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel whose counters the test moves."""
    made = Kernel()
    monkeypatch.setattr(meters, "processor_seconds", lambda process: made.computed)
    monkeypatch.setattr(
        meters,
        "starved_seconds",
        lambda process, main_only=False: made.ours if process == os.getpid() else made.starved,
    )
    monkeypatch.setattr(meters, "any_ready", lambda process: made.ready)
    return made


def waited_for(
    meter: Meter, kernel: Kernel, seconds: float, **per_second: float
) -> WorkerGone | None:
    """The verdict after so many seconds in which the counters grew at these rates."""
    mark = meter.mark()
    for count in range(round(seconds / SLICE)):
        for name, rate in per_second.items():
            setattr(kernel, name, getattr(kernel, name) + rate * SLICE)
        # Of ten looks so many find a thread that computes or is ready to.
        busy = per_second.get("computed", 0.0) + per_second.get("starved", 0.0)
        kernel.ready = count % 10 < round(10 * busy)
        meter.wait(SLICE, answered=False)
        if gone := meter.over(mark):
            return gone
    return None


@pytest.mark.parametrize(
    ("per_second", "seconds", "ending"),
    [
        ({"computed": 1.0}, 2.9, None),
        ({"computed": 1.0}, 3.1, StudentTimeout),
        ({"computed": 0.1, "starved": 0.9}, 29.0, None),
        ({"computed": 0.1, "starved": 0.9}, 31.0, StudentTimeout),
        ({"computed": 4.0}, 1.0, StudentTimeout),
        ({}, 2.9, None),
        ({}, 3.1, StudentWaits),
        ({"computed": 0.3}, 4.1, StudentWaits),
        ({"ours": 0.5}, 5.9, None),
        ({"ours": 0.5}, 6.2, StudentWaits),
        ({"starved": 1.0}, LEAST_WALL - 1, None),
        ({"starved": 1.0}, LEAST_WALL + 1, StudentStarved),
        ({"ours": 1.0}, LEAST_WALL + 1, StudentStarved),
        ({"starved": 0.5, "ours": 0.5}, LEAST_WALL + 1, StudentStarved),
    ],
    ids=[
        *("computes", "computes too long", "one of ten processors", "the same, too long"),
        *("four threads", "sleeps", "sleeps too long", "sleeps and computes"),
        *("half our fault", "half our fault, too long", "starved", "starved too long"),
        *("without our reply", "both sides starved"),
    ],
)
def test_a_call_ends_by_what_the_kernel_counted(
    per_second: dict[str, float],
    seconds: float,
    ending: type[WorkerGone] | None,
    kernel: Kernel,
) -> None:
    """The same three seconds, whatever the machine does meanwhile."""
    found = waited_for(Meter(WORKER, call=3.0, total=30.0), kernel, seconds, **per_second)

    assert ending is (None if found is None else type(found))


def test_a_thousand_quick_calls_are_charged_what_they_compute(kernel: Kernel) -> None:
    """On a crowded machine each takes long, and none costs the total its time."""
    meter = Meter(WORKER, call=3.0, total=20.0)
    for _ in range(1000):
        mark = meter.mark()
        kernel.computed += 0.001
        kernel.starved += 0.06
        meter.wait(0.061)
        assert meter.over(mark) is None

    assert 1.0 == pytest.approx(meter.charged, abs=0.1)


def test_many_short_sleeps_are_charged_too(kernel: Kernel) -> None:
    """Each is under every limit; together they are not."""
    meter = Meter(WORKER, call=3.0, total=20.0)
    found = None
    for count in range(1000):
        mark = meter.mark()
        meter.wait(0.04)
        if found := meter.over(mark):
            break

    assert StudentWaits is type(found)
    assert 20.0 == pytest.approx(0.04 * count, abs=0.2)


def test_a_worker_that_has_ended_keeps_what_it_was_charged(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a process goes with it."""
    meter = Meter(WORKER, call=3.0, total=20.0)
    kernel.computed = 2.0
    before = meter.charged
    monkeypatch.setattr(meters, "processor_seconds", lambda process: 0.0)

    assert (2.0, 2.0) == (before, meter.charged)


def test_where_nobody_counts_waiting_is_charged() -> None:
    """Without the kernel's word the wall clock is all there is."""
    meter = Meter(WORKER, call=3.0, total=20.0)
    mark = meter.mark()
    meter._reading = lambda: (0.0, 0.0, 0.0)  # type: ignore[method-assign]
    meter._seen = (0.0, 0.0, 0.0)
    meter.wait(3.1)

    assert isinstance(meter.over(mark), StudentWaits)


def test_the_kernel_counts_for_other_processes() -> None:
    """This very process has computed, as its own clock and the other way both say."""
    assert meters.processor_seconds(os.getpid()) > 0
    assert 0.0 == meters.processor_seconds(2**22 + 1)
    assert 0.0 == meters.starved_seconds(2**22 + 1)
