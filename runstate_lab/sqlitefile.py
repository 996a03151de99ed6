"""Floor 2. Opening the file of a durable store, and knowing one's own.

A foreign or torn file is refused and left as it is. What is not here: what
is written into it (see `sqlite`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runstate_lab.errors import StoreUnreadable

if TYPE_CHECKING:
    # Loaded when a file is opened: most runs live in memory.
    import sqlite3

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


def connect(path: Path) -> sqlite3.Connection:
    """The open file, with the tables of a store in it; refuses a foreign one.

    >>> connect(Path("/nowhere/run.sqlite"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: the file cannot be read as a store: asked a store in /nowhere/run.sqlite, found unable to open database file
    hint: keep the file; name another one, or restore it from a copy
    """
    import sqlite3

    try:
        file = sqlite3.connect(path, timeout=60, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise StoreUnreadable(f"a store in {path}", str(error)) from error
    try:
        _recognise(file, path)
        file.execute("pragma journal_mode = wal")
        file.execute("pragma synchronous = normal")
    except sqlite3.DatabaseError as error:
        file.close()
        raise StoreUnreadable(f"a store in {path}", str(error)) from error
    except StoreUnreadable:
        file.close()
        raise
    return file


def _recognise(file: sqlite3.Connection, path: Path) -> None:
    (mark,) = file.execute("pragma application_id").fetchone()
    (tables,) = file.execute("select count(*) from sqlite_master").fetchone()
    if mark == APPLICATION:
        return
    if mark or tables:
        raise StoreUnreadable(f"a store in {path}", "a database of another program")
    file.execute("begin immediate")
    # Two processes may create the file at once; the second finds the first's.
    (tables,) = file.execute("select count(*) from sqlite_master").fetchone()
    if not tables:
        for statement in SCHEMA.split(";"):
            file.execute(statement)
        file.execute(f"pragma application_id = {APPLICATION}")
    file.execute("commit")
