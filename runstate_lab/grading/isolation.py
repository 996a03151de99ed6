"""Grading. The walls as measured: a probe attacks canaries before any student does.

A probe worker is made exactly like a student's. It tries ten things that no
answer may do, each against something planted for it, and says what opened.
What counts is this measurement, not what was configured.

What is not here: the walls themselves (see `confine`).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.grading.faults import WorkerGone
from runstate_lab.grading.proxy import LEVELS, Student

CANARIES = (
    "read hidden tests",
    "read the grader's memory",
    "read the grader's environment",
    "signal the grader",
    "tcp",
    "udp",
    "start a process",
    "run a program",
    "write outside its folder",
    "too much memory",
)
PROBE_MEMORY = 1 << 30
PROBE = Path(__file__).with_name("probe.py")
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


class NotIsolated(RuntimeError):
    """The walls do not hold what the chosen level asks for."""


@dataclass(frozen=True)
class Isolation:
    """What was measured: each canary `closed` or `open`, and the verdict.

    >>> seen = Isolation("confined", ("seccomp",), {"tcp": "closed", "udp": "open"})
    >>> print(seen.summary)
    confined: 1 of 2 canaries closed (seccomp); OPEN: udp
    >>> seen.verdict, seen.open
    ('not isolated', ('udp',))
    """

    level: str
    mechanisms: tuple[str, ...]
    measured: Mapping[str, str]

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
        return f"{line}; OPEN: {', '.join(self.open)}" if self.open else line

    def record(self) -> dict[str, object]:
        """The measurement as plain values, for a JSON record."""
        return {
            "level": self.level,
            "mechanisms": list(self.mechanisms),
            "measured": dict(self.measured),
            "open": list(self.open),
            "verdict": self.verdict,
            "summary": self.summary,
        }


def measure(level: str, *, hidden: Path | None = None) -> Isolation:
    """What a worker of this level can reach, tried out with planted canaries.

    `hidden` is the folder of the held-back tests; by default the checkout's
    own solutions, where there are some. Raises WorkerUnavailable where no
    worker of the level can be started at all.
    """
    folder = hidden or (SOLUTIONS if SOLUTIONS.is_dir() else None)
    with _targets(folder) as targets:
        cells = [(PROBE.read_text(encoding="utf-8"), "probe")]
        with Student(cells, level=level, memory=PROBE_MEMORY, call_timeout=10.0) as probe:
            found = {name: _reached(probe, name, targets) for name in CANARIES}
            mechanisms = probe.mechanisms
    return Isolation(level, mechanisms, found)


def require(isolation: Isolation, level: str) -> None:
    """Refuses a measurement below the level, naming what is open.

    >>> require(Isolation("none", (), {"tcp": "open"}), "none")
    >>> require(Isolation("none", (), {"tcp": "open"}), "confined")
    Traceback (most recent call last):
        ...
    runstate_lab.grading.isolation.NotIsolated: asked for level confined, found ...
    hint: grade in a container or on Linux with Landlock; `--isolation none` is for your own answers
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
        raise NotIsolated(
            f"asked for level {level}, found {found}\n"
            "hint: grade in a container or on Linux with Landlock; "
            "`--isolation none` is for your own answers"
        )


def _reached(probe: Student, name: str, targets: Mapping[str, object]) -> str:
    # A canary whose attack kills the probe is not proved closed.
    try:
        return "open" if probe.attack(name, dict(targets)) is not False else "closed"
    except WorkerGone:
        return "open"


@contextmanager
def _targets(folder: Path | None) -> Generator[dict[str, object], None, None]:
    """The canaries while they stand: secret files, a listening port, our process."""
    word = secrets.token_hex(8)
    with (
        tempfile.TemporaryDirectory(prefix="canary-") as planted,
        socket.create_server(("127.0.0.1", 0)) as server,
        _planted(folder or Path(planted), f"canary_{word}.py") as paths,
    ):
        existing = Path(planted) / "existing"
        existing.write_text("canary", encoding="utf-8")
        yield {
            "hidden": [str(path) for path in paths],
            "process": os.getpid(),
            "port": server.getsockname()[1],
            "outside": str(Path(planted) / "outside"),
            "existing": str(existing),
            "memory": 2 * PROBE_MEMORY,
        }


@contextmanager
def _planted(folder: Path, name: str) -> Generator[list[Path], None, None]:
    """The held-back files to aim at: one of ours, and the real ones beside it."""
    real = sorted(folder.rglob("test_*.py"))[:3]
    canary = folder / name
    try:
        canary.write_text(json.dumps("canary"), encoding="utf-8")
    except OSError:
        if not real:
            raise
        yield real
        return
    try:
        yield [canary, *real]
    finally:
        canary.unlink(missing_ok=True)
