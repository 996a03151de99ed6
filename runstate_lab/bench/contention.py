"""Two processes on one run: nothing acknowledged is lost, and nobody starves.

What is lost is looked for in the whole file; for how it is shared, see
`fairness`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from runstate_lab.bench.commits import fresh
from runstate_lab.bench.fairness import Report, Share, shared
from runstate_lab.bench.rows import Aim, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import interleave, spread
from runstate_lab.model import RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore

ONE, TWO = "one writer", "two writers"
FAIR, LONGEST, TIMES = 0.9, 50, 0.6


class Contest:
    """Holds rounds on new runs; keeps what was acknowledged and what was lost in all of them."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.lost = 0
        self.acknowledged = 0

    def held(self, writers: int) -> Share:
        """The writes of so many processes on a new run, counted again in the file."""
        path = fresh(self.folder)
        store = SqliteStateStore(path, RunState("run-7"))
        Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
        reports = _write(path, self.seconds, writers)
        acknowledged = sum(len(one.acknowledged) for one in reports)
        self.lost += acknowledged - (store.load().revision - 1)
        self.acknowledged += acknowledged
        store.close()
        return shared(reports)


def measure(scale: Scale) -> Row:
    """Commits a second of one writer and of two, every commit with a sync."""
    with TemporaryDirectory() as folder:
        contest = Contest(Path(folder), scale.seconds)
        contenders = {ONE: lambda: contest.held(1), TWO: lambda: contest.held(2)}
        rounds = interleave(contenders, rounds=scale.rounds, control=ONE)
    shares = [one for one in rounds.slices[TWO] if isinstance(one, Share)]
    fairness = [one.fairness for one in shares]
    waits = [1000 * one.longest for one in shares]
    aims = (
        Aim("0 lost of all acknowledged", 0, contest.lost, at_most=True),
        Aim(f"fairness {FAIR}, the fewer by the more", FAIR, median(fairness), spread=spread(fairness)),
        _waited(waits),
        rounds.aim(f"{TIMES} x one writer", TIMES, TWO, ONE),
    )
    conflicts = sum(one.conflicts for one in shares) / max(1, sum(one.count for one in shares))
    notes = (
        f"{contest.acknowledged:,} acknowledged; {conflicts:.2f} conflicts for each by two writers",
        "counted is the time in which both write; a conflict is loaded again and tried again",
        *rounds.notes,
    )
    lines = tuple(rounds.line(name, "commits/s") for name in contenders)
    return Row("contention", "two processes write to one run, durable full", lines, aims, notes)


def _waited(waits: list[float]) -> Aim:
    words = f"{LONGEST} ms the longest wait of a round"
    return Aim(words, LONGEST, median(waits), at_most=True, spread=spread(waits))


def _write(path: Path, seconds: float, writers: int) -> list[Report]:
    command = [sys.executable, "-m", "runstate_lab.bench.writer", str(path), str(seconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, f"w{number}"], **pipes) for number in range(writers)]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [Report(**json.loads(process.communicate()[0])) for process in processes]
