"""Two processes on one run: nothing acknowledged is lost, and nobody starves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from runstate_lab.bench.commits import fresh
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Slice, interleave
from runstate_lab.model import RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore

ONE, TWO = "one writer", "two writers"


class Contest:
    """Keeps what the writers of all rounds reported: lost writes, fairness, waits."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.lost = 0
        self.acknowledged = 0
        self.fairness: list[float] = []
        self.slowest = 0.0

    def held(self, writers: int) -> Slice:
        """The writes of so many processes on a new run, counted again in the file."""
        path = fresh(self.folder)
        store = SqliteStateStore(path, RunState("run-7"))
        Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
        reports = _write(path, self.seconds, writers)
        acknowledged = [int(one["acknowledged"]) for one in reports]
        kept = store.load().revision - 1
        store.close()
        self.lost += sum(acknowledged) - kept
        self.acknowledged += sum(acknowledged)
        if writers > 1:
            self.fairness.append(min(acknowledged) / max(*acknowledged, 1))
            self.slowest = max(self.slowest, *(one["slowest"] for one in reports))
        else:
            middle = self.seconds / max(acknowledged[0], 1)
            return Slice(kept, self.seconds, middle)
        return Slice(kept, self.seconds)


def measure(scale: Scale) -> Row:
    """Commits a second of one writer and of two, every commit with a sync."""
    with TemporaryDirectory() as folder:
        contest = Contest(Path(folder), scale.seconds)
        contenders = {ONE: lambda: contest.held(1), TWO: lambda: contest.held(2)}
        rounds = interleave(contenders, rounds=min(scale.rounds, 5), control=ONE)
    lines = tuple(Line(name, rounds.rate(name), "commits/s") for name in contenders)
    aims = (
        Aim("0 lost of all acknowledged", 0, contest.lost, at_most=True),
        Aim("fairness 0.9, the fewer by the more", 0.9, median(contest.fairness)),
        Aim("0.6 x one writer", 0.6, rounds.ratio(TWO, ONE)),
    )
    notes = (
        f"{contest.acknowledged} acknowledged; the longest wait {contest.slowest * 1000:.0f} ms",
        *rounds.notes,
    )
    return Row("contention", "two processes write to one run, durable full", lines, aims, notes)


def _write(path: Path, seconds: float, writers: int) -> list[dict[str, float]]:
    command = [sys.executable, "-m", "runstate_lab.bench.writer", str(path), str(seconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, f"w{number}"], **pipes) for number in range(writers)]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate()[0]) for process in processes]
