"""Grading. Kinds of failure: from an exception on our side to a row of `REASONS`.

For a held-back case the kind is all that the student sees, so an exception's
name is printed only where it is one of Python's or the kit's: a name of the
student's own making could carry a hidden input out.

What is not here: what a kind does to the points (see `verdict`).
"""

from __future__ import annotations

import builtins
import re

from runstate_lab import errors
from runstate_lab.grading.faults import (
    BudgetSpent,
    HandleMisuse,
    NameMissing,
    OurFault,
    OutOfMemory,
    ProtocolViolation,
    StudentDied,
    StudentError,
    StudentStarved,
    StudentTimeout,
    StudentWaits,
    TooMuch,
    WorkerGone,
)

GONE = (
    StudentTimeout,
    StudentWaits,
    StudentStarved,
    StudentDied,
    BudgetSpent,
    OutOfMemory,
    ProtocolViolation,
    WorkerGone,
    HandleMisuse,
    OurFault,
)
# By name too, because a kernel reports a class name and nothing else.
CODE_OF_NAME = {gone.__name__: gone.code for gone in GONE}
PRINTABLE = frozenset(
    name
    for module in (builtins, errors)
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
# What a stub says, also one that was moved or given a comment.
STUB = re.compile(r"NotImplementedError: exercise \d\d\.\d")
REFUSED_IMPORT = "ImportRefused"
SAID = (
    (STUB, "not-answered"),
    (re.compile("MemoryError"), "memory"),
    (re.compile(REFUSED_IMPORT), "import"),
)
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def kind_of(error: BaseException) -> tuple[str, str]:
    """The kind, and the name of the student's exception where it may be shown.

    >>> kind_of(AssertionError("expected 4"))
    ('wrong', '')
    """
    if isinstance(error, WorkerGone | HandleMisuse | OurFault):
        return error.code, ""
    if isinstance(error, NameMissing):
        return "name-missing", ""
    if isinstance(error, TooMuch):
        return "too-much", ""
    if not isinstance(error, StudentError):
        return "wrong", ""
    if error.type_name == "MemoryError":
        return "memory", ""
    if STUB.match(str(error)):
        return "not-answered", ""
    if error.type_name == REFUSED_IMPORT:
        return "import", ""
    return "raised", error.type_name if error.type_name in PRINTABLE else ""


def kind_of_name(name: str, text: str) -> str:
    """The kind of what our own kernel reported, from its class name and text.

    >>> kind_of_name("StudentTimeout", ""), kind_of_name("AssertionError", "expected 4")
    ('timeout', 'wrong')
    >>> kind_of_name("StudentError", "MemoryError: "), kind_of_name("NameError", "")
    ('memory', 'name-missing')
    >>> kind_of_name("StudentNotImplementedError", "NotImplementedError: exercise 04.1: apply")
    'not-answered'
    """
    if name in CODE_OF_NAME:
        return CODE_OF_NAME[name]
    if name == "WorkerUnavailable":
        return "grader"
    if name == TooMuch.__name__:
        return "too-much"
    if name in ("NameError", "NameMissing"):
        return "name-missing"
    if name.startswith("Student"):
        return next((kind for start, kind in SAID if start.match(text)), "raised")
    return "kernel" if name == "KeyboardInterrupt" else "wrong"


def trace_of(error: BaseException) -> str:
    """The traceback of an answer's own lines; empty where it raised nothing of its own.

    >>> trace_of(HandleMisuse("asked its truth"))
    ''
    """
    if not isinstance(error, StudentError) or not error.trace:
        return ""
    return f"Traceback (most recent call last):\n{error.trace}{error}\n"


def plain(text: str, *, limit: int = 400) -> str:
    """The text without control characters, cut where it is long.

    >>> plain("\\x1b[2Kall passed\\x00", limit=8)
    'all pass…'
    """
    cleaned = CONTROL.sub("", text).strip()
    return cleaned if len(cleaned) <= limit else cleaned[:limit] + "…"
