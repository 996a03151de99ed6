"""Floor 2. The same store, durable: one file, several processes, fair writers.

One transaction compares the revision and appends the event, whose key it is:
a revision is taken once, whatever else goes wrong. Writers queue at
a lock file beside the database, because SQLite's own waiting lets one writer
starve the others. Snapshots are written when the events since the last one
outweigh it, so the disk per event stays flat. Refusals and notes change no
state: they are committed, and synced with the next event that is.

What is not here: another contract; whatever `store` promises holds here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from runstate_lab.errors import Malformed, Refusal, StoreUnreadable
from runstate_lab.model import ExecutionContext, RunState, StateEvent, StateProposal
from runstate_lab.nouns import text
from runstate_lab.queueing import Queue
from runstate_lab.records import (
    read_event,
    read_refusal,
    read_state,
    write_event,
    write_refusal,
    write_state,
)
from runstate_lab.rules import RULES, Rules, reduce
from runstate_lab.sqlitefile import Found, Told, connect, placed, same, told, understood
from runstate_lab.store import StateStore
from runstate_lab.trace import Diagnostic, Entry, Trace, redact

if TYPE_CHECKING:
    # Loaded when a file is opened: most runs live in memory.
    import sqlite3

OFFERED = """
select event, revision - 1, revision, null, 0 as number from events where run_id = :run
union all select event, expected, revision, refusal, number from refusals where run_id = :run
order by revision, number
"""
# The snapshot, where it is newer than what is known, and the events after both; in one
# statement, so that nothing is pruned in between.
NEWER = """
select snapshot_revision as revision, iif(snapshot_revision > :known, snapshot, null) as written
from runs where run_id = :run
union all select revision, event from events where run_id = :run and revision >
max(:known, (select snapshot_revision from runs where run_id = :run))
order by revision
"""
NOTES = """
select number, component, words, correlation from notes where run_id = ? order by number
"""
HEAD = "select max(revision) from events where run_id = ?"
BASE = "select base from runs where run_id = ?"
RESTORE = "put the file back, then open the run again; what is known here can still be read"
SMALLEST_SNAPSHOT = 4_096
# What a driver that does not find them decides again, before any effect.
REPEATABLE = ("turn_started", "model_output_received", "followup_required")
NOT_SYNCED = {"full": (), "effects": REPEATABLE}


class SqliteStateStore(StateStore):
    """Keeps a run in a file; every process that opens it sees the same run.

    `state` creates the run, or must equal how it was created. Every commit
    survives the death of the process. `durable` says what survives a power
    cut: each event ("full"); each event but those that a driver decides again,
    so each dispatch and each answer ("effects"); or a past ("normal").

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "run.sqlite"
    >>> first = SqliteStateStore(path, RunState("run-7"))
    >>> door = first.context("runtime", "runtime")
    >>> started = first.apply(StateProposal("run_started", "", 0), context=door)
    >>> print(SqliteStateStore.open(path, "run-7").load().status)
    running
    >>> SqliteStateStore(path, RunState("run-7", goal="another"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: the run is there already: asked to create run-7, found a run-7 that began differently
    hint: keep the file; name another one, or restore it from a copy
    >>> first.close(); folder.cleanup()
    """

    def __init__(
        self,
        path: str | Path,
        state: RunState,
        *,
        rules: Rules = RULES,
        durable: str = "full",
    ) -> None:
        super().__init__(state, rules=rules)
        if durable not in ("full", "effects", "normal"):
            raise Malformed("durable full, effects or normal", repr(durable))
        self._not_synced = NOT_SYNCED.get(durable)
        self._synced = False
        self._place = placed(path)
        self._asked = f"run {state.run_id} in {path}"
        self._told = Told(self._asked)
        self._file = connect(Path(self._place))
        # One cursor for what every commit needs; no row may be left in it.
        self._execute = self._file.cursor().execute
        with ExitStack() as undo, self._told:
            undo.callback(self._file.close)
            self._queue = Queue(Path(f"{self._place}.queue"))
            undo.callback(self._queue.close)
            self._identity = os.stat(self._place)
            self._begin(state)
            self._catch_up()
            undo.pop_all()

    @classmethod
    def open(cls, path: str | Path, run_id: str, **options: str) -> SqliteStateStore:
        """The store of a run that is in the file already.

        >>> SqliteStateStore.open("/nowhere/run.sqlite", "run-7")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.StoreUnreadable: the file cannot be read as a store: asked run run-7 in /nowhere/run.sqlite, found no such file
        hint: keep the file; name another one, or restore it from a copy
        """
        text("a run id", run_id)
        asked = f"run {run_id} in {path}"
        if not Path(placed(path)).is_file():
            raise told(asked, "no such file")
        with Told(asked), closing(connect(Path(placed(path)))) as file:
            row = file.execute(BASE, (run_id,)).fetchone()
        return cls(path, _state(asked, row), **options)

    def close(self) -> None:
        """Let go of the file; the run stays in it."""
        with self._told:
            self._file.close()
            self._queue.close()

    @property
    def trace(self) -> Trace:
        """What was offered so far by every process, refusals included."""
        with self._told:
            entries = [
                Entry(
                    self._understood(read_event, event, expected),
                    revision,
                    refusal and self._understood(read_refusal, refusal),
                )
                for event, expected, revision, refusal, _ in self._offered()
            ]
            notes = self._file.execute(NOTES, (self._state.run_id,))
            return Trace(entries, [Diagnostic(*note) for note in notes])

    @property
    def base(self) -> RunState:
        """The state from which the accepted events of the trace can be folded."""
        with self._told:
            row = self._file.execute(BASE, (self._state.run_id,)).fetchone()
            return _state(self._asked, row)

    def load(self) -> RunState:
        """The newest committed state, whoever committed it."""
        with self._told:
            self._catch_up()
        return self._state

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, committed to the file; raises the refusal otherwise."""
        event = self._event(proposal, context)
        with self._told, self._queue:
            try:
                return self._offer(event, context)
            except StoreUnreadable:
                raise
            except Refusal as refusal:
                self._keep_refusal(event, refusal)
                raise

    def note(self, component: str, words: str, *, correlation: str) -> Diagnostic:
        """A diagnostic, redacted and then kept in the file; no state changes."""
        for what, value in (("component", component), ("words", words), ("id", correlation)):
            text(f"a note's {what}", value)
        row = (self._state.run_id, component, redact(words), correlation)
        with self._told, self._queue, self._transaction(synced=False):
            cursor = self._file.execute(
                "insert into notes (run_id, component, words, correlation) values (?, ?, ?, ?)", row
            )
        return Diagnostic(int(cursor.lastrowid or 0), *row[1:])

    def prune(self, *, keep: int) -> int:
        """How many entries were dropped; the base moves on, the state stays."""
        if type(keep) is not int or keep < 0:
            raise Malformed("a number of entries to keep", repr(keep))
        with self._told, self._queue, self._transaction(synced=True):
            self._catch_up()
            base, run_id = self.base, self._state.run_id
            offered = self._offered()
            dropped = offered[: max(0, len(offered) - keep)]
            for event, expected, _, refusal, _ in dropped:
                if refusal is None:
                    base = self._after(base, event, expected)
            last = max((number for *_, number in dropped), default=0)
            run = self._file.execute
            run("delete from events where run_id = ? and revision <= ?", (run_id, base.revision))
            run("delete from refusals where run_id = ? and number <= ?", (run_id, last))
            run("update runs set base = ? where run_id = ?", (write_state(base), run_id))
            self._snapshot(self._state)
        return len(dropped)

    def _begin(self, state: RunState) -> None:
        with self._queue, self._transaction(synced=True):
            row = self._file.execute(
                "select rules, base, snapshot from runs where run_id = ?", (state.run_id,)
            ).fetchone()
            line = write_state(state)
            if row is None:
                first = (state.run_id, self._rules.name, line, line, state.revision)
                self._file.execute("insert into runs values (?, ?, ?, ?, ?)", first)
                return
        asked = f"to create {state.run_id}"
        if row[0] != self._rules.name:
            raise told(f"{asked} under {self._rules.name}", f"a run under {row[0]}")
        if row[1] != line:
            found = f"a {state.run_id} that began differently"
            raise StoreUnreadable(asked, found, reason="the run is there already")
        self._state = self._understood(read_state, row[2])

    def _catch_up(self) -> None:
        run_id, state = self._state.run_id, self._state
        ((head,),) = self._execute(HEAD, (run_id,))
        if head == state.revision:
            return
        rows = self._file.execute(NEWER, {"run": run_id, "known": state.revision})
        first = rows.fetchone()
        if first is None:
            raise told(self._asked, "no such run")
        newest = max(first[0], head or 0)
        if first[1] is not None:
            state = self._understood(read_state, first[1])
        for newest, event in rows:
            if newest != state.revision + 1:
                break
            state = self._after(state, event, state.revision)
        if newest != state.revision:
            raise told(f"{self._asked} after revision {state.revision}", f"revision {newest}")
        self._state = state

    def _offer(self, event: StateEvent, context: ExecutionContext) -> RunState:
        with self._transaction(synced=event.kind not in (self._not_synced or ())):
            self._catch_up()
            self._recognise(event, context)
            self._check(event)
            after = self._next(event)
            self._commit(event, after)
        self._state = after
        return after

    def _commit(self, event: StateEvent, after: RunState) -> None:
        line = write_event(event)
        row = (after.run_id, after.revision, line)
        self._execute("insert into events values (?, ?, ?)", row)
        self._grown += len(line)
        if self._grown > self._heavy:
            self._snapshot(after)

    def _snapshot(self, after: RunState) -> None:
        line = write_state(after)
        self._grown, self._heavy = 0, max(SMALLEST_SNAPSHOT, len(line))
        self._file.execute(
            "update runs set snapshot = ?, snapshot_revision = ? where run_id = ?",
            (line, after.revision, after.run_id),
        )

    def _keep_refusal(self, event: StateEvent, refusal: Refusal) -> None:
        state = self._state
        line, why = write_event(event), write_refusal(refusal)
        row = (state.run_id, state.revision, line, event.expected_revision, why)
        with self._transaction(synced=False):
            self._file.execute(
                "insert into refusals (run_id, revision, event, expected, refusal) "
                "values (?, ?, ?, ?, ?)",
                row,
            )

    def _understood(self, read: Callable[..., Found], *written: object) -> Found:
        return understood(self._asked, read, *written)

    def _after(self, state: RunState, event: str, expected: int) -> RunState:
        offered = self._understood(read_event, event, expected)
        return self._understood(reduce, state, offered, self._rules)

    def _offered(self) -> list[tuple[str, int, int, str | None, int]]:
        return self._file.execute(OFFERED, {"run": self._state.run_id}).fetchall()

    _grown = 0
    _heavy = SMALLEST_SNAPSHOT

    def _transaction(self, *, synced: bool) -> sqlite3.Connection:
        # What is given begins here, and its `with` block commits or rolls back.
        if self._file.in_transaction:
            # An interrupt came between the two.
            self._file.rollback()
        synced = synced and self._not_synced is not None
        if synced is not self._synced:
            # As a script: SQLite obeys this pragma when it is compiled, not when it is run again.
            self._file.executescript(f"pragma synchronous = {'full' if synced else 'normal'}")
            self._synced = synced
        # Immediate: a deferred one cannot be upgraded once another has written.
        self._execute("begin immediate")
        if not same(self._place, self._identity):
            self._file.rollback()
            raise told(self._asked, "a file that was deleted or replaced", hint=RESTORE)
        return self._file


def _state(asked: str, row: tuple[str] | None) -> RunState:
    if row is None:
        raise told(asked, "no such run")
    return understood(asked, read_state, row[0])
