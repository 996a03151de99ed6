"""What a learner did so far: one JSON file, replaced atomically.

The file stands in the course folder as `.runstate/progress.json`.
`RUNSTATE_PROGRESS` names another one, and `RUNSTATE_PROGRESS=off` (or an empty
value) keeps everything in memory, so that building and checking always see a
learner who has done nothing. A file that is broken at any depth, or comes from
a newer kit, is set aside and said once; it is never overwritten.
What the sections mean is the business of those who write them (shapes: `entries`).
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runstate_lab.course import catalogue
from runstate_lab.course.entries import SHAPES, Misshapen, shaped
from runstate_lab.course.faults import AskedWrongly

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

VERSION = 1
SECTIONS = tuple(SHAPES)
LARGEST = 4 * 1024 * 1024
VARIABLE = "RUNSTATE_PROGRESS"
FILE = Path(".runstate", "progress.json")

Entry = Mapping[str, Any]


class Progress:
    """The entries of one learner, by section and key.

    >>> progress = Progress(None)
    >>> progress.record("hints", "04.1", {"shown": 2})
    >>> progress.entry("hints", "04.1")
    {'shown': 2}
    >>> progress.record("grades", "04.1", {})
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: progress has no section 'grades'
    hint: known: predictions, answers, hints, checks, solutions, hand_ins
    """

    def __init__(self, path: Path | None) -> None:
        """Progress kept in that file, or in memory where `path` is None."""
        self.path = path
        self._memory: dict[str, dict[str, Any]] = {}

    def entry(self, section: str, key: str) -> Entry | None:
        """What is recorded under that key, or None."""
        return self.section(section).get(key)

    def section(self, name: str) -> Mapping[str, Entry]:
        """A copy of one section; empty where nothing was recorded."""
        _known(name)
        return copy.deepcopy(self._read().get(name, {}))

    def record(self, section: str, key: str, entry: Entry) -> None:
        """Keep an entry, in place of an earlier one of the same key."""
        _known(section)
        with self._locked():
            entries = self._read()
            entries.setdefault(section, {})[key] = dict(entry)
            self._write(entries)

    def forget(self, section: str, key: str) -> None:
        """Drop an entry; where there is none, nothing is written."""
        if self.entry(section, key) is None:
            return
        with self._locked():
            entries = self._read()
            entries.get(section, {}).pop(key, None)
            self._write(entries)

    def clear(self) -> None:
        """Forget everything."""
        with self._locked():
            self._write({})

    def _read(self) -> dict[str, dict[str, Any]]:
        if self.path is None:
            return self._memory
        try:
            return _entries_in(_content(self.path))
        except FileNotFoundError:
            return {}
        except (Misshapen, PermissionError, IsADirectoryError) as error:
            _set_aside(self.path, getattr(error, "strerror", None) or str(error))
            return {}

    def _write(self, entries: dict[str, dict[str, Any]]) -> None:
        if self.path is None:
            self._memory = entries
            return
        text = json.dumps(
            {"version": VERSION, "entries": entries}, indent=1, ensure_ascii=False, sort_keys=True
        )
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        # A lone surrogate is written as the escape that JSON has for it.
        with draft.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time: two notebooks and a terminal share the file."""
        if self.path is None:
            yield
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name("lock").open("a") as lock:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def progress_path(root: Path | None = None) -> Path | None:
    """Where progress is kept; None means in memory only."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in {"", "off"} else Path(named).expanduser()
    try:
        return (root or catalogue.find_root(or_the_kits=False)) / FILE
    except AskedWrongly:
        return None


def progress_of(root: Path | None = None) -> Progress:
    """The learner's progress in a course folder, or in the current one.

    In memory, each call within one process gives the same object.
    """
    path = progress_path(root)
    return _IN_MEMORY if path is None else Progress(path)


def keep(section: str, key: str, entry: Entry) -> str:
    """Nothing where it was recorded; else why it is kept for this session only."""
    book = progress_of()
    try:
        book.record(section, key, entry)
    except OSError as error:
        _UNWRITTEN.setdefault(book.path, Progress(None)).record(section, key, entry)
        words = error.strerror or str(error)
        return f"Kept for this session only: {book.path} cannot be written ({words})."
    return ""


def recall(section: str, key: str) -> Entry | None:
    """What is recorded under that key, or kept for this session only."""
    book = progress_of()
    try:
        entry = book.entry(section, key)
    except OSError:
        entry = None
    unwritten = _UNWRITTEN.get(book.path)
    return entry or (unwritten.entry(section, key) if unwritten else None)


def _content(path: Path) -> bytes:
    """What stands there, up to a byte more than is believed; a pipe is not waited for."""

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", opener=opener) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Misshapen("it is no regular file")
        return file.read(LARGEST + 1)


def _entries_in(content: bytes) -> dict[str, dict[str, Any]]:
    """The entries that a file holds; Misshapen where it holds anything else."""
    if len(content) > LARGEST:
        raise Misshapen(f"it is larger than {LARGEST >> 20} MB")
    try:
        document = json.loads(content)
    except RecursionError:
        raise Misshapen("it is nested too deeply") from None
    except ValueError as error:
        raise Misshapen(str(error)) from None
    if not isinstance(document, dict) or type(document.get("version")) is not int:
        raise Misshapen("it is JSON, but no progress")
    if document["version"] != VERSION:
        raise Misshapen(
            f"it is progress of version {str(document['version'])[:20]}; "
            f"this kit reads version {VERSION}"
        )
    return shaped(document.get("entries"))


def _set_aside(path: Path, found: str) -> None:
    """Nothing; the file has another name, and that is said once."""
    aside = next(
        candidate
        for number in range(1, 10_000)
        if not os.path.lexists(candidate := path.with_name(f"progress.broken-{number}.json"))
    )
    kept = f"it is kept as {aside.name}"
    try:
        os.replace(path, aside)
    except FileNotFoundError:
        return
    except OSError as error:
        kept = f"it stays where it is ({error.strerror})"
        if path in _SAID:
            return
        _SAID.add(path)
    words = f"{path} cannot be read ({found}); {kept}, and progress starts anew."
    # In a notebook, or on a closed console, nobody may be there to read it.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(words.encode("ascii", "backslashreplace").decode(), file=sys.stderr)


def _known(section: str) -> None:
    if section not in SECTIONS:
        raise AskedWrongly(
            f"progress has no section {section!r}", hint=f"known: {', '.join(SECTIONS)}"
        )


_IN_MEMORY = Progress(None)
_UNWRITTEN: dict[Path | None, Progress] = {}
_SAID: set[Path] = set()
