"""Grading. What a worker is charged: its processor time, and the time it idles.

A wall clock says how busy the machine is as much as how slow an answer is, so
none decides here. The kernel counts what a process computed, and tells of each
thread whether it is ready. Where no thread is, the worker sleeps, reads, or
waits for a lock; what our own side lost is taken off. Computing and idling have
one limit; a worker that reaches neither while much time passes was starved,
which is nobody's fault. Threads that wait for each other are not starved: how
long each was ready is believed of the main thread only.

What is not here: what follows for a grade (see `faults` and `verdict`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from runstate_lab.grading.faults import (
    StudentStarved,
    StudentTimeout,
    StudentWaits,
    WorkerGone,
)

Told = TypeVar("Told")

SLICE = 0.1
READ_EVERY = 0.05
LEAST_WALL = 60.0
WALL_PER_SECOND = 20.0


@dataclass(frozen=True)
class Mark:
    """Where a call began: what had been charged and how long we had waited."""

    computed: float
    idled: float
    waited: float


class Meter:
    """The account of one worker; `call` and `total` are charged seconds.

    >>> meter = Meter(os.getpid(), call=3.0, total=30.0)
    >>> meter.over(meter.mark()) is None
    True
    """

    def __init__(self, process: int, *, call: float, total: float) -> None:
        self.process = process
        self.call = call
        self.total = total
        self.idled = 0.0
        self.waited = 0.0
        self._read_for_it = 0.0
        self._unread = 0.0
        self._before = processor_seconds(process)
        self._computed = 0.0
        self._seen = self._reading()

    @property
    def charged(self) -> float:
        """The seconds that the worker has computed or idled."""
        return self.computed() + self.idled

    def computed(self) -> float:
        """The worker's processor time on this account; where it has ended, the last known."""
        self._computed = max(self._computed, processor_seconds(self.process) - self._before)
        return self._computed + self._read_for_it

    def read(self, seconds: float) -> None:
        """Charges what our side had to compute to read what the worker said."""
        self._read_for_it += seconds

    def mark(self) -> Mark:
        """The beginning of a call."""
        return Mark(self.computed(), self.idled, self.waited)

    def wait(self, seconds: float, *, answered: bool = True) -> None:
        """Counts so much waiting for the worker; now and then asks what it was."""
        self.waited += seconds
        self._unread += seconds
        if self._unread >= READ_EVERY or not answered:
            self._read(ready=not answered and any_ready(self.process))

    def over(self, mark: Mark) -> WorkerGone | None:
        """Why the call that began at `mark` must end now, or None."""
        computed, idled = self.computed() - mark.computed, self.idled - mark.idled
        if computed + idled >= self.call:
            return self._verdict(self.call, computed, idled)
        if self.charged >= self.total:
            return self._verdict(self.total, self.computed(), self.idled)
        if self.waited - mark.waited >= max(LEAST_WALL, WALL_PER_SECOND * self.call):
            return StudentStarved("neither computed nor idled: the machine was too busy")
        return None

    def _verdict(self, limit: float, computed: float, idled: float) -> WorkerGone:
        if idled > computed:
            return StudentWaits(f"no answer within {limit:g} s: it waits and never answers")
        return StudentTimeout(f"no answer within {limit:g} s of computing")

    def _read(self, *, ready: bool) -> None:
        seen = self._reading()
        computed, starved, ours = (
            max(now - before, 0.0) for now, before in zip(seen, self._seen, strict=True)
        )
        explained = self._unread if ready else computed + starved + ours
        self.idled += max(self._unread - explained, 0.0)
        self._seen, self._unread = seen, 0.0

    def _reading(self) -> tuple[float, float, float]:
        """Computed, the main thread ready without a processor, and the same wait of ours."""
        main = starved_seconds(self.process, main_only=True)
        return self.computed(), main, starved_seconds(os.getpid())


def any_ready(process: int) -> bool:
    """Whether a thread of the process computes, is ready to, or waits for a disk.

    >>> any_ready(os.getpid()), any_ready(-1)
    (True, False)
    """
    return any(state in (b"R", b"D") for state in _told(process, "stat", _state))


def processor_seconds(process: int) -> float:
    """What a process has computed, all its threads together; 0 where nobody tells.

    >>> processor_seconds(os.getpid()) > 0 or not hasattr(time, "pthread_getcpuclockid")
    True
    """
    try:
        # The number that Linux gives to the clock of another process.
        return time.clock_gettime(~process << 3 | 2)
    except (OSError, AttributeError, OverflowError):
        return 0.0


def starved_seconds(process: int, *, main_only: bool = False) -> float:
    """How long the threads of a process were ready to compute and had to wait.

    >>> starved_seconds(-1)
    0.0
    """
    threads = [str(process)] if main_only else None
    return sum(_told(process, "schedstat", lambda text: int(text.split()[1]), threads)) / 1e9


def _told(
    process: int, name: str, read: Callable[[bytes], Told], threads: list[str] | None = None
) -> Iterator[Told]:
    """What the kernel tells of each thread in a file of this name."""
    folder = f"/proc/{process}/task"
    try:
        threads = os.listdir(folder) if threads is None else threads
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"{folder}/{thread}/{name}", "rb") as stream:
                yield read(stream.read())
        except (OSError, ValueError, IndexError):
            continue  # this thread has just ended


def _state(text: bytes) -> bytes:
    # The name before it may hold anything, a parenthesis too.
    return text.rpartition(b")")[2].split()[0]
