"""Machinery. A real race: processes that write to one SQLite file, at once.

    race_table()                    the naive store and the right one, side by side
    real_race("naive", each=5)      one of them
    real_race("naive", each=5, held=5)     in the worst order: always the same numbers

The processes are let go together, once each of them has read the state; the
rest is up to the machine, so two races give two tables. With `held` at `each`,
all read before any of them writes, again and again.

What is not here: what a process does (see `racer`), and races whose every
order is counted (see `orders` of the book).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import runstate_lab
from runstate_lab.brokenfiles import NaiveFileStore
from runstate_lab.show.racer import MEETS, OPEN, WRITERS, ready
from runstate_lab.sqlite import SqliteStateStore

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame

HEADS = ("store", "acknowledged", "found in the file", "lost", "conflicts told", "retries")
MOST = 500
SECONDS = 60.0
GRACE = 5.0


class RaceFailed(RuntimeError):
    """A race without a result: what was asked, what happened, what to do."""

    def __init__(self, asked: str, found: str, hint: str) -> None:
        super().__init__(f"asked {asked}, found {found}\nhint: {hint}")


@dataclass(frozen=True)
class Tally:
    """What the processes were told, and what the file holds afterwards."""

    store: str
    acknowledged: int
    found: int
    lost: int
    conflicts: int
    retries: int

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        told = f"{self.conflicts} conflicts told" if self.conflicts else "nobody was told anything"
        kept = f"{self.found} of {self.acknowledged} acknowledged results are in the file"
        return f"{self.store}: {kept}, {self.lost} lost, {told}."


def real_race(
    store: str = "naive", *, writers: int = 2, each: int = 50, held: int = 1, limit: float = SECONDS
) -> CaptionedFrame:
    """One race on a store, as a table of one row.

    >>> real_race("naive", each=2, held=2).text().partition("1. ")[2]
    'store: naive; acknowledged: 4; found in the file: 2; lost: 2; conflicts told: 0; retries: 0'
    >>> real_race("postgres")
    Traceback (most recent call last):
        ...
    runstate_lab.show.realrace.RaceFailed: asked a race on 'postgres', found no such store
    hint: race on one of naive, right
    """
    return as_table([tally(store, writers=writers, each=each, held=held, limit=limit)])


def race_table(
    *, writers: int = 2, each: int = 50, held: int = 1, limit: float = SECONDS
) -> CaptionedFrame:
    """The same race on the naive store and on the right one, side by side."""
    return as_table(
        [tally(store, writers=writers, each=each, held=held, limit=limit) for store in OPEN]
    )


def as_table(tallies: Sequence[Tally]) -> CaptionedFrame:
    """The races as a table with a caption, one row a store."""
    from runstate_lab.show.frames import captioned

    return captioned(
        "Processes that write to one SQLite file at once", HEADS, map(astuple, tallies)
    )


def tally(store: str, *, writers: int, each: int, held: int, limit: float) -> Tally:
    """One race on a fresh file, counted; the file is removed afterwards."""
    _possible(store, writers, each, held)
    with tempfile.TemporaryDirectory(prefix="runstate-race-") as folder:
        path, begin = Path(folder) / "run.sqlite", ready(writers, each)
        kept = {"naive": NaiveFileStore, "right": SqliteStateStore}[store](path, begin)
        try:
            program = [sys.executable, "-m", "runstate_lab.show.racer", store, str(path)]
            names = list(WRITERS)[:writers]
            commands = {name: [*program, name, str(each), str(held)] for name in names}
            told = [
                json.loads(line) for line in together(commands, meets=MEETS * held, limit=limit)
            ]
            found = {str(fact) for fact in kept.load().facts}
        finally:
            kept.close()
    heard = [result for one in told for result in one["acknowledged"]]
    lost = [result for result in heard if result not in found]
    conflicts, retries = (sum(one[name] for one in told) for name in ("conflicts", "retries"))
    return Tally(store, len(heard), len(found), len(lost), conflicts, retries)


def together(commands: dict[str, list[str]], *, meets: int, limit: float) -> list[str]:
    """The last line that each program says, after all have met so many times.

    To meet, a program says a line and waits for one, which all get together. A program that fails is quoted, one that hangs is ended; neither is left behind.
    """
    ends = time.monotonic() + limit
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(len(commands)))
        racers: list[_Racer] = []
        stack.callback(lambda: [racer.stop() for racer in racers])
        for name, command in commands.items():
            errors = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            racers.append(_Racer(name, command, errors))
        for _ in range(meets):
            _heard(racers, pool, ends)
            for racer in racers:
                racer.go()
        return _heard(racers, pool, ends)


class _Racer:
    """A running program with a line to it and a line from it."""

    def __init__(self, name: str, command: list[str], errors: IO[str]) -> None:
        self.name, self._errors = name, errors
        # A path that a notebook added to its own search is not the child's.
        home = str(Path(runstate_lab.__file__).parents[1])
        places = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": places},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as fault:
            found = f"that {command[0] or 'this Python'} cannot be started here: {fault}"
            hint = "race where Python may start programs"
            raise RaceFailed(f"the process {name}", found, hint) from fault
        self._in, self._out = (
            cast(IO[str], end) for end in (self._process.stdin, self._process.stdout)
        )

    def hear(self) -> str:
        """The next line; empty when there is none any more."""
        return self._out.readline().strip()

    def go(self) -> None:
        """Let it go on; one that is gone is noticed when it is heard."""
        with suppress(OSError):
            self._in.write("go\n")
            self._in.flush()

    def fault(self) -> str:
        """What a program that ended too early left behind, in one line."""
        status = self._process.wait(GRACE)
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else f"exit status {status} without a word"

    def stop(self) -> None:
        """End it, if it has not ended, and close what leads to it."""
        self._process.kill()
        self._process.wait()
        for end in (self._in, self._out):
            with suppress(OSError):
                end.close()


def _heard(racers: Sequence[_Racer], pool: ThreadPoolExecutor, ends: float) -> list[str]:
    listening = {racer.name: pool.submit(racer.hear) for racer in racers}
    wait(listening.values(), max(0.0, ends - time.monotonic()))
    slow = [name for name, line in listening.items() if not line.done()]
    for racer in racers:
        if racer.name not in slow and not listening[racer.name].result():
            hint = "run it again; if it stays so, this is a fault of the lab"
            raise RaceFailed(f"{racer.name} to race", racer.fault(), hint)
    if slow:
        found = f"{', '.join(slow)} still at work; all processes were ended"
        raise RaceFailed("the race to end in time", found, "give fewer results, or a higher limit")
    return [line.result() for line in listening.values()]


def _possible(store: str, writers: int, each: int, held: int) -> None:
    if store not in OPEN:
        hint = f"race on one of {', '.join(OPEN)}"
        raise RaceFailed(f"a race on {store!r}", "no such store", hint)
    for what, value, least, most in (
        ("writers", writers, 2, len(WRITERS)),
        ("each", each, 1, MOST),
        ("held", held, 1, each),
    ):
        if type(value) is not int or not least <= value <= most:
            found = f"{least} to {most} possible"
            raise RaceFailed(f"{what}={value!r}", found, f"give {what} in that range")
