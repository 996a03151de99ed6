"""Commits: the store on disk beside the bare statements that any such store needs.

The control serialises the same JSON, queues at the same kind of lock file and
runs three statements in one transaction. It checks nothing and knows nobody.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Contender, Slice, interleave, timed_each
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.queueing import Queue
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore

TABLES = (
    "create table runs (run_id text primary key, revision integer not null) strict, without rowid",
    "create table events (number integer primary key, run_id text not null, revision integer not null,"
    " event text not null) strict",
    "insert into runs values ('run-7', 0)",
)
AIMS = {"normal": 0.8, "full": 0.9}


class RawLog:
    """The control: an event log in SQLite with a revision, and no contract."""

    def __init__(self, path: Path, durable: str) -> None:
        self._queue = Queue(Path(f"{path}.queue"))
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("pragma journal_mode = wal")
        self._file.execute(f"pragma synchronous = {durable}")
        for statement in TABLES:
            self._file.execute(statement)

    def append(self, row: list[object]) -> None:
        """Commit one event: queue, begin, read, compare and swap, insert, commit."""
        run = self._file.execute
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        with self._queue:
            run("begin immediate")
            (revision,) = run("select revision from runs where run_id = ?", ("run-7",)).fetchone()
            run(
                "update runs set revision = ? where run_id = ? and revision = ?",
                (revision + 1, "run-7", revision),
            )
            run(
                "insert into events (run_id, revision, event) values (?, ?, ?)",
                ("run-7", revision + 1, line),
            )
            run("commit")

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._queue.close()


def measure(scale: Scale) -> Row:
    """Commits a second of the store and of the control, without and with a sync for each."""
    lines: list[Line] = []
    aims: list[Aim] = []
    notes: tuple[str, ...] = ()
    with TemporaryDirectory() as folder:
        for durable, times in AIMS.items():
            ours, control = f"SqliteStateStore {durable}", f"raw control {durable}"
            contenders: dict[str, Contender] = {
                ours: lambda durable=durable: _ours(Path(folder), durable, scale.commits),
                control: lambda durable=durable: _raw(Path(folder), durable, scale.commits),
            }
            rounds = interleave(contenders, rounds=scale.rounds, control=control)
            lines += [rounds.line(name, "commits/s") for name in contenders]
            aims.append(rounds.aim(f"{times} x {control}", times, ours, control))
            notes += rounds.notes
    what = f"one event, one transaction, SQLite {sqlite3.sqlite_version} in WAL mode"
    return Row("commit", what, tuple(lines), tuple(aims), notes)


def fresh(folder: Path) -> Path:
    """A path in the folder where no file is yet."""
    return folder / f"{len(list(folder.iterdir()))}.sqlite"


def _ours(folder: Path, durable: str, commits: int) -> Slice:
    store = SqliteStateStore(fresh(folder), RunState("run-7"), durable=durable)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    slice_ = timed_each(_steps(runtime, commits))
    store.close()
    return slice_


def _steps(runtime: Runtime, commits: int) -> Iterator[object]:
    for number in range(commits // 2):
        call_id = f"c{number:05}"
        call = ToolCall(call_id, "get_status")
        yield runtime.accept_runtime(StateProposal("tool_dispatched", call, 1 + 2 * number))
        result = StateProposal("tool_result_recorded", f"build={number:06}", 2 + 2 * number)
        yield runtime.accept_tool_result("get_status", result, call_id=call_id)


def _raw(folder: Path, durable: str, commits: int) -> Slice:
    log = RawLog(fresh(folder), durable)
    slice_ = timed_each(_raw_steps(log, commits))
    log.close()
    return slice_


def _raw_steps(log: RawLog, commits: int) -> Iterator[object]:
    for number in range(commits // 2):
        call_id = f"c{number:05}"
        yield log.append(["tool_dispatched", "runtime", "runtime", {"ToolCall": [call_id, "get_status"]}])
        result = f"build={number:06}"
        yield log.append(["tool_result_recorded", "tool:get_status", "tool_executor", result, call_id])
