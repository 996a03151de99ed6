"""Floor 2. A queue of writers: whoever has written gives way to one who waits.

A lock file alone lets its last holder in again before the next one is awake,
many times over. So waiting is told in a second file, and who leaves it while
another waits pauses for about as long as a write takes. Who was refused does not pause:
it read before the other wrote, and is the next to try. Elsewhere SQLite's own
waiting has to do, which is safe and merely unfair.

What is not here: what is written.
"""

from __future__ import annotations

from errno import EBADF
from pathlib import Path
from select import select
from types import TracebackType
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, and the browser.
    fcntl = None  # type: ignore[assignment]

PAUSE = 0.0003


class Queue:
    """One writer at a time, among all processes that name the same file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Queue(Path(folder) / "run.queue") as queue:
    ...         print(queue.held)
    ...     queue.close()
    True
    """

    def __init__(self, path: Path) -> None:
        self.held = False
        self._file = None if fcntl is None else open(path, "ab")
        self._waiting = None if fcntl is None else open(f"{path}.waiting", "ab")

    def __enter__(self) -> Queue:
        if self._file is not None:
            if self._file.closed:
                raise OSError(EBADF, "Cannot operate on a closed queue")
            if not _taken(self._file):
                self._wait()
        self.held = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.held = False
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            if kind is None and not _taken(self._waiting):
                select((), (), (), PAUSE)
            fcntl.flock(self._waiting, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the lock file."""
        if self._file is not None:
            self._file.close()
            self._waiting.close()

    def _wait(self) -> None:
        fcntl.flock(self._waiting, fcntl.LOCK_SH)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._waiting, fcntl.LOCK_UN)


def _taken(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
