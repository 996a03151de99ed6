"""Floor 2. A queue of writers: whoever waits longest is let in next.

A lock file where the system has one; elsewhere SQLite's own waiting has to
do, which is safe and merely unfair. What is not here: what is written.
"""

from __future__ import annotations

from errno import EBADF
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # Windows, and the browser.
    fcntl = None  # type: ignore[assignment]


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

    def __enter__(self) -> Queue:
        if self._file is not None:
            if self._file.closed:
                raise OSError(EBADF, "Cannot operate on a closed queue")
            fcntl.flock(self._file, fcntl.LOCK_EX)
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

    def close(self) -> None:
        """Let go of the lock file."""
        if self._file is not None:
            self._file.close()
