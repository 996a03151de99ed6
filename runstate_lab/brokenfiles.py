"""Floor 4. A durable store that is WRONG ON PURPOSE: it saves whole pages.

Each process reads the page, works on it and writes the whole page back. The
file is never torn, and every writer is told that it was heard; what another
process wrote in between is gone.

What is not here: anything to build on. The right one is `sqlite`.
"""

from __future__ import annotations

from pathlib import Path

from runstate_lab.errors import StoreUnreadable
from runstate_lab.model import RunState, StateEvent
from runstate_lab.queueing import Queue
from runstate_lab.records import read_state, write_state
from runstate_lab.rules import RULES, Rules
from runstate_lab.store import StateStore

TABLE = "create table if not exists pages (run_id text primary key, page text not null)"
READ = "select page from pages where run_id = ?"
WRITE = "insert or replace into pages values (?, ?)"


class NaiveFileStore(StateStore):
    """Keeps a run as one page in a file; two processes lose each other's work.

    >>> import tempfile
    >>> from runstate_lab.model import StateProposal
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "run.sqlite"
    >>> mine, yours = (NaiveFileStore(path, RunState("run-7")) for _ in range(2))
    >>> for store in (mine, yours):
    ...     door = store.context("runtime", "runtime")
    ...     print(store.apply(StateProposal("run_started", "", 0), context=door).revision)
    1
    1
    >>> mine.load().revision, mine.trace, yours.trace
    (1, Trace: 1 entries, 0 refused, Trace: 1 entries, 0 refused)
    >>> mine.close(), yours.close(), folder.cleanup()
    (None, None, None)
    """

    def __init__(self, path: str | Path, state: RunState, *, rules: Rules = RULES) -> None:
        super().__init__(state, rules=rules)
        import sqlite3

        try:
            self._file = sqlite3.connect(path, timeout=60, isolation_level=None)
        except sqlite3.OperationalError as fault:
            raise StoreUnreadable(f"a page in {path}", str(fault)) from fault
        self._queue = Queue(Path(f"{path}.queue"))
        with self._queue:
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._file.execute(TABLE)
            if self._file.execute(READ, (state.run_id,)).fetchone() is None:
                self._save(state)
        self.load()

    def load(self) -> RunState:
        """The page as it is in the file now."""
        row = self._file.execute(READ, (self._state.run_id,)).fetchone()
        self._state = read_state(row[0])
        return self._state

    def close(self) -> None:
        """Let go of the file; the page stays in it."""
        self._file.close()
        self._queue.close()

    def _next(self, event: StateEvent) -> RunState:
        after = super()._next(event)
        # WRONG ON PURPOSE: the page in the file may be newer than the one that was read.
        with self._queue:
            self._save(after)
        return after

    def _save(self, state: RunState) -> None:
        self._file.execute(WRITE, (state.run_id, write_state(state)))
