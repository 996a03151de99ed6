"""Grading. Scratch folders of ours: held while in use, swept when their holder was killed.

What is not here: what is put into one (see `dispatch`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # no POSIX: nothing is held, so nothing is swept
    fcntl = None  # type: ignore[assignment]

PREFIX = "runstate-grade-"
HELD = "held"


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder that is gone at the end; whoever looks can see that it is in use."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep() -> int:
    """How many scratch folders of a killed grading were removed."""
    if fcntl is None:
        return 0
    found = Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{HELD}")
    left = [path.parent for path in found if _abandoned(path)]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _hold(folder: Path) -> int:
    # Locked under another name first: a sweeper never meets one that is not held yet.
    draft = folder / f".{HELD}"
    lock = os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(draft, folder / HELD)
    return lock


def _abandoned(path: Path) -> bool:
    """Whether the folder is ours, and nobody who lives holds it."""
    try:
        if path.parent.is_symlink() or path.parent.stat().st_uid != os.geteuid():
            return False
        lock = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
