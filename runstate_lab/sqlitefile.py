"""Floor 2. The file of a durable store: opened, known as one's own, still there.

A foreign or torn file is refused and left as it is. Whatever SQLite or the
system says against a store's work becomes a refusal here, in one place. What
is not here: what is written into the file (see `sqlite`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from runstate_lab.errors import Malformed, Refusal, StoreUnreadable

if TYPE_CHECKING:
    # Loaded when a file is opened: most runs live in memory.
    import sqlite3

Found = TypeVar("Found")
APPLICATION = 0x52534C41
SCHEMA = """
create table runs (
  run_id text primary key, rules text not null,
  base text not null, snapshot text not null, snapshot_revision integer not null) strict;
create table events (
  run_id text not null, revision integer not null, event text not null,
  primary key (run_id, revision)) strict, without rowid;
create table refusals (
  number integer primary key, run_id text not null, revision integer not null,
  event text not null, expected integer not null, refusal text not null) strict;
create table notes (
  number integer primary key, run_id text not null, component text not null,
  words text not null, correlation text not null) strict;
"""
# How SQLite's words begin, what a reader is told instead, and what to do.
TOLD = (
    ("Cannot operate on a closed", "a store that was closed", "open the run again"),
    (
        "SQLite objects created in a thread",
        "a store that was opened in another thread",
        "open the run again in this thread",
    ),
    (
        "database is locked",
        "a file that another program keeps locked",
        "let the other program finish, then try again",
    ),
    (
        "attempt to write a readonly",
        "a file that may only be read",
        "make the file and its folder writable",
    ),
    ("database or disk is full", "a full disk", "make room on the disk, then try again"),
)


class Told:
    """A block in which every fault of SQLite or the system becomes a refusal.

    >>> with Told("run-7"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: the file cannot be read as a store: asked run-7, found Permission denied
    hint: keep the file; name another one, or restore it from a copy
    """

    __slots__ = ("_asked", "_process")

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._process = os.getpid()

    def __enter__(self) -> None:
        # After a fork both processes would believe that they hold the same locks.
        if os.getpid() != self._process:
            found = "a store that was opened before the process was forked"
            raise told(self._asked, found, hint="open the run again in this process")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if fault is None or isinstance(fault, Refusal):
            return
        import sqlite3

        if isinstance(fault, sqlite3.Error | OSError):
            words = getattr(fault, "strerror", None) or f"{fault}".partition("\n")[0]
            raise told(self._asked, words) from fault
        if isinstance(fault, OverflowError | UnicodeEncodeError):
            found = "a number or text that no file can hold"
            raise Malformed(self._asked, found) from fault


def understood(asked: str, read: Callable[..., Found], *written: object) -> Found:
    """What was written in a file, read; whatever makes no sense is refused.

    >>> understood("run-7", int, "seven")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: the file cannot be read as a store: asked run-7, found damage: invalid literal for int() with base 10: 'seven'
    hint: keep the file; name another one, or restore it from a copy
    """
    try:
        return read(*written)
    except (Refusal, ValueError, TypeError, AttributeError, LookupError) as damage:
        raise told(asked, f"damage: {damage}".partition("\n")[0]) from damage


def told(asked: str, words: str, *, hint: str = "") -> StoreUnreadable:
    """The refusal for a fault, in the house's own words where it has some.

    >>> told("run-7", "database is locked").found
    'a file that another program keeps locked'
    """
    for begin, found, what_to_do in TOLD:
        if words.startswith(begin):
            words, hint = found, what_to_do
    refusal = StoreUnreadable(asked, words)
    refusal.hint = hint or refusal.hint
    return refusal


def placed(path: str | Path) -> str:
    """A path that stays the same when the working folder changes.

    >>> placed("a\\0b")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a path, found 'a\\x00b'
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise Malformed("a path", repr(path)[:80])
    return os.path.abspath(path)


def same(path: str, known: os.stat_result) -> bool:
    """Whether the file at a path is still the one that was opened there.

    >>> same("/nowhere/run.sqlite", os.stat("."))
    False
    """
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_ino == known.st_ino and found.st_dev == known.st_dev


def connect(path: Path) -> sqlite3.Connection:
    """The open file, with the tables of a store in it; refuses a foreign one.

    >>> connect(Path("/nowhere/run.sqlite"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: the file cannot be read as a store: asked a store in /nowhere/run.sqlite, found no folder /nowhere
    hint: keep the file; name another one, or restore it from a copy
    """
    import sqlite3

    asked = f"a store in {path}"
    if path.is_dir():
        raise told(asked, "a folder")
    if not path.parent.is_dir():
        raise told(asked, f"no folder {path.parent}")
    with Told(asked):
        file = sqlite3.connect(path, timeout=60, isolation_level=None)
        try:
            _recognise(file, asked)
            file.execute("pragma journal_mode = wal")
            file.execute("pragma synchronous = normal")
        except (sqlite3.Error, Refusal):
            file.close()
            raise
    return file


def _recognise(file: sqlite3.Connection, asked: str) -> None:
    (mark,) = file.execute("pragma application_id").fetchone()
    (tables,) = file.execute("select count(*) from sqlite_master").fetchone()
    if mark == APPLICATION:
        return
    if mark or tables:
        raise told(asked, "a database of another program")
    file.execute("begin immediate")
    # Two processes may create the file at once; the second finds the first's.
    (tables,) = file.execute("select count(*) from sqlite_master").fetchone()
    if not tables:
        for statement in SCHEMA.split(";"):
            file.execute(statement)
        file.execute(f"pragma application_id = {APPLICATION}")
    file.execute("commit")
