"""Floor 5. A bound on how long one step of somebody's code may go on.

Instructions are counted, not seconds: the same code is stopped at the same
place each time. Code outside this package is counted one by one; a call into
the package counts once, and what runs in C (`sum(count())`) is not seen.

What is not here: what becomes of a step that was stopped (see `search`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

INSTRUCTIONS = 500_000
OWN = str(Path(__file__).parent) + os.sep


class Endless(BaseException):
    """A step that took too many instructions; no `except Exception` swallows it."""


@dataclass
class Watch:
    """How many instructions are left, and whether the stop was given."""

    left: int
    fired: bool = False


@contextmanager
def bounded(instructions: int = INSTRUCTIONS) -> Iterator[Watch]:
    """A block whose code outside this package may take so many instructions.

    Under a debugger or a coverage tool nothing is counted: Python has room for
    one of them only. A bare `except:` that swallows the stop ends the counting;
    `fired` tells it.

    >>> def spin():
    ...     while True: pass
    >>> with bounded(50):
    ...     spin()
    Traceback (most recent call last):
        ...
    runstate_lab.watch.Endless: more than 50 instructions in one step
    """
    watch = Watch(instructions)
    if sys.gettrace() is not None:
        yield watch
        return
    sys.settrace(_counter(watch, instructions))
    try:
        yield watch
    finally:
        sys.settrace(None)


def _counter(watch: Watch, most: int) -> Callable[[FrameType, str, object], object]:
    def count(frame: FrameType, event: str, argument: object) -> object:
        watch.left -= 1
        if watch.left < 0:
            watch.fired = True
            raise Endless(f"more than {most} instructions in one step")
        if event == "call":
            if frame.f_code.co_filename.startswith(OWN):
                return None
            # A loop on one line starts no line anew, so lines would not do.
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return count

    return count
