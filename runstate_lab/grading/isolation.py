"""Grading. The walls as measured: a probe attacks canaries before any student does.

A probe worker is made exactly like a student's. It tries what no answer may do,
each against something planted for it, and says what opened. What counts is this
measurement, not what was configured; and what no wall here closes is named in
the same record.

What is not here: the walls (see `confine`), and what is planted (see `canaries`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.grading.canaries import planted
from runstate_lab.grading.confine import missing
from runstate_lab.grading.faults import StudentError, WorkerGone
from runstate_lab.grading.proxy import LEVELS, Student, WorkerUnavailable

CANARIES = (
    "read hidden tests",
    "read the grader's memory",
    "read the grader's environment",
    "signal the grader",
    "limit or slow the grader",
    "clock of the grader",
    "tcp",
    "udp",
    "sockets by path",
    "start a process",
    "run a program",
    "write outside its folder",
    "too much memory",
    "memory that no limit counts",
    "shared memory by number",
    "semaphores by number",
    "messages by number or name",
    "lock a file of ours",
    "flags of a file of ours",
    "watch a file of ours",
    "stop or hide itself",
    "disk and caches of all",
)
# What no level here closes. The first is tried out in each measurement.
SIZES = "size, owner and times of a file whose path it knows"
NOT_CLOSED = (
    SIZES,
    "whether a path exists, and where a link points",
    "the clock, and how busy the machine is",
    "one worker slowing another: processors, caches and memory are shared",
    "that it is being graded, by which process number, on which machine",
    "flaws of the kernel itself, which it shares with the grader",
)
PROBE_MEMORY = 1 << 30
PROBE = Path(__file__).with_name("probe.py")
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
CONTAINER = (
    'docker run --rm --platform linux/amd64 -v "$PWD":/course -w /course python:3.11 '
    'sh -c "pip install . && runstate-lab grade SUBMISSIONS --out OUT"'
)
HINT = (
    "hint: in the course folder, with the submissions in it, run (podman takes the same): "
    f"{CONTAINER}\n"
    "it takes a kernel of Linux 5.13 or newer with Landlock, which a container shares with its "
    "machine; `--isolation none` is for your own answers only"
)


class NotIsolated(RuntimeError):
    """The walls do not hold what the chosen level asks for."""


@dataclass(frozen=True)
class Isolation:
    """What was measured: each canary `closed` or `open`, and the verdict.

    >>> seen = Isolation("confined", ("seccomp",), {"tcp": "closed", "udp": "open"})
    >>> print(seen.summary)
    confined: 1 of 2 canaries closed (seccomp); OPEN: udp; 6 things are not closed by any level
    >>> print(seen.statement.splitlines()[-1])
    flaws of the kernel itself, which it shares with the grader
    >>> seen.verdict, seen.open
    ('not isolated', ('udp',))
    """

    level: str
    mechanisms: tuple[str, ...]
    measured: Mapping[str, str]
    not_closed: tuple[str, ...] = NOT_CLOSED

    @property
    def open(self) -> tuple[str, ...]:
        """The canaries that the probe reached."""
        return tuple(name for name, found in self.measured.items() if found != "closed")

    @property
    def verdict(self) -> str:
        """`isolated` where every canary stayed closed behind confining walls."""
        held = self.level == "confined" and self.measured and not self.open
        return "isolated" if held else "not isolated"

    @property
    def summary(self) -> str:
        """One line for records and pages."""
        closed, planned = len(self.measured) - len(self.open), len(self.measured)
        walls = f" ({', '.join(self.mechanisms)})" if self.mechanisms else ""
        line = f"{self.level}: {closed} of {planned} canaries closed{walls}"
        opened = f"; OPEN: {', '.join(self.open)}" if self.open else ""
        return f"{line}{opened}; {len(self.not_closed)} things are not closed by any level"

    @property
    def statement(self) -> str:
        """The summary, and below it, one a line, what is not closed."""
        return "\n".join((self.summary + ":", *self.not_closed))

    def record(self) -> dict[str, object]:
        """The measurement as plain values, for a JSON record."""
        return {
            "level": self.level,
            "mechanisms": list(self.mechanisms),
            "measured": dict(self.measured),
            "open": list(self.open),
            "not_closed": list(self.not_closed),
            "verdict": self.verdict,
            "summary": self.summary,
        }


def measure(level: str, *, hidden: Path | None = None) -> Isolation:
    """What a worker of this level can reach, tried out with planted canaries.

    `hidden` is the folder of the held-back tests; by default the checkout's
    own solutions, where there are some. Raises NotIsolated where the system
    has no walls, and WorkerUnavailable where not even an open worker starts.
    """
    lacking = missing() if level == "confined" else ""
    if lacking:
        raise _lacking(lacking)
    folder = hidden or (SOLUTIONS if SOLUTIONS.is_dir() else None)
    cells = [(PROBE.read_text(encoding="utf-8"), "probe")]
    with planted(folder, readable=PROBE) as things:
        targets = {**things, "memory": 2 * PROBE_MEMORY}
        try:
            student = Student(cells, level=level, memory=PROBE_MEMORY, call_timeout=10.0)
        except WorkerUnavailable as error:
            # The last wall can only be tried by building it, in a worker.
            said = re.search("Unconfinable: (.*)", str(error))
            if said is None:
                raise
            raise _lacking(said[1].strip()) from None
        with student as probe:
            left = tuple(one for one in NOT_CLOSED if one != SIZES or _sees_sizes(probe, targets))
            found = {name: _reached(probe, name, targets) for name in CANARIES}
            mechanisms = probe.mechanisms
    return Isolation(level, mechanisms, found, left)


def require(isolation: Isolation, level: str) -> None:
    """Refuses a measurement below the level, naming what is open.

    >>> require(Isolation("none", (), {"tcp": "open"}), "none")
    >>> require(Isolation("none", (), {"tcp": "open"}), "confined")
    Traceback (most recent call last):
        ...
    runstate_lab.grading.isolation.NotIsolated: asked for level confined, found ...
    hint: in the course folder, with the submissions in it, run ...
    """
    if level not in LEVELS:
        raise ValueError(f"asked for level {level!r}, found {LEVELS}\nhint: use one of these")
    if level == "none":
        return
    unplanned = [name for name in CANARIES if name not in isolation.measured]
    if isolation.verdict != "isolated" or unplanned:
        found = isolation.summary
        if unplanned and not isolation.open:
            found += f"; NOT MEASURED: {', '.join(unplanned)}"
        raise NotIsolated(f"asked for level {level}, found {found}\n{HINT}")


def _lacking(what: str) -> NotIsolated:
    return NotIsolated(f"asked for level confined, found no walls: {what}\n{HINT}")


def _sees_sizes(probe: Student, targets: Mapping[str, object]) -> bool:
    try:
        return bool(probe.size_of(dict(targets)) == targets["size"])
    except (StudentError, WorkerGone):
        return False


def _reached(probe: Student, name: str, targets: Mapping[str, object]) -> str:
    # A canary whose attack kills the probe is not proved closed.
    try:
        return "open" if probe.attack(name, dict(targets)) is not False else "closed"
    except WorkerGone:
        return "open"
