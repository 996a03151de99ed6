"""Floor 5. A bound on how long one step of somebody's code may go on.

Lines are counted, not seconds: the same code is stopped at the same place on
every machine. Code outside this package is counted line by line; a call into
the package counts once.

What is not here: what becomes of a step that was stopped (see `search`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

LINES = 100_000
OWN = str(Path(__file__).parent)


class Endless(BaseException):
    """A step that took too many lines; no `except Exception` swallows it."""


@contextmanager
def bounded(lines: int = LINES) -> Iterator[None]:
    """A block whose code outside this package may take so many lines.

    Under a debugger or a coverage tool nothing is counted: Python has room for
    one of them only. A bare `except:` that swallows the stop ends the counting.

    >>> def spin():
    ...     while True:
    ...         try:
    ...             1 / 0
    ...         except Exception:
    ...             pass
    >>> with bounded(50):
    ...     spin()
    Traceback (most recent call last):
        ...
    runstate_lab.watch.Endless: more than 50 lines in one step
    """
    if sys.gettrace() is not None:
        yield
        return
    sys.settrace(_counter(lines))
    try:
        yield
    finally:
        sys.settrace(None)


def _counter(lines: int) -> Callable[[FrameType, str, object], object]:
    left = lines

    def count(frame: FrameType, event: str, argument: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise Endless(f"more than {lines} lines in one step")
        return None if frame.f_code.co_filename.startswith(OWN) else count

    return count
