"""Grading. What a test sees when the student's side fails.

    StudentError          Exception      the answer raised; also a builtin or a Refusal
    ├── NameMissing                      the answer does not define the name
    └── TooMuch                          the answer gave back more than is read
    HandleMisuse          BaseException  a test treated a student's object as plain data
    WorkerGone            BaseException  the worker is dead; `code` says why
    ├── StudentTimeout       timeout     it computed for too long
    │   └── StudentWaits     waits       it slept, read, or waited for nothing of ours
    ├── BudgetSpent          budget      all answers of the submission together
    ├── StudentDied          died
    ├── OutOfMemory          memory
    ├── ProtocolViolation    protocol
    └── StudentStarved       starved     nobody's fault: the machine was too busy
    OurFault              BaseException  our own side of the wire failed

The last three families derive from BaseException, so that `pytest.raises(Exception)`
in a test can never take a dead worker for the exception it waits for.

What is not here: who raises them (see `proxy`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from runstate_lab.errors import Refusal

# What a student's exception may become. Never StopIteration, GeneratorExit,
# SystemExit, KeyboardInterrupt, AttributeError, AssertionError or a skip: those
# would steer the test that called.
BUILTINS: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    LookupError,
    ZeroDivisionError,
    OverflowError,
    ArithmeticError,
    NameError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    FileNotFoundError,
    PermissionError,
    OSError,
    UnicodeError,
)


@dataclass(frozen=True)
class RefusalClaim:
    """What a worker says about a refusal: texts to compare, never code to run."""

    name: str
    code: str
    asked: str
    found: str
    reason: str


@dataclass(frozen=True)
class Raised:
    """What a worker says about an exception; everything in it is a claim."""

    type_name: str
    ancestry: tuple[str, ...] = ()
    message: str = ""
    trace: str = ""
    refusal: RefusalClaim | None = None


class StudentError(Exception):
    """The student's code raised; what is known of it is plain text.

    `message` and `trace` are the student's own words: a report on a held-back
    test must not show them, since they may repeat the test's inputs.

    >>> error = student_error(Raised("MyError", ("MyError", "KeyError"), "build"))
    >>> print(error, isinstance(error, KeyError), error.type_name)
    MyError: build True MyError
    """

    def __init__(self, raised: Raised) -> None:
        # OSError.__init__ would read its arguments as (errno, strerror).
        Exception.__init__(self, raised)
        self.type_name = raised.type_name
        self.ancestry = raised.ancestry
        self.message = raised.message
        self.trace = raised.trace

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}" if self.message else self.type_name


class NameMissing(StudentError):
    """The answer cells do not define a name that the test asks for."""


class TooMuch(StudentError):
    """The answer gave back more than is read; no test waits for that."""

    def __str__(self) -> str:
        return self.message


class StudentRefusal(StudentError):
    """The student's code raised one of the book's refusals.

    It is equal to the book's refusal of the same words.
    """

    book_class: type[Refusal] = Refusal

    def __init__(self, raised: Raised) -> None:
        super().__init__(raised)
        claim = raised.refusal
        if claim is not None:
            self.asked, self.found, self.reason = claim.asked, claim.found, claim.reason

    def kept(self) -> Refusal:
        """The book's own refusal with the claimed words."""
        return self.book_class(self.asked, self.found, reason=self.reason)

    def __eq__(self, other: object) -> bool:
        plain = other.kept() if isinstance(other, StudentRefusal) else other
        return self.kept() == plain

    def __hash__(self) -> int:
        return hash(self.kept())


class HandleMisuse(BaseException):
    """A test used a student's object as if it were plain data."""

    code = "not-plain"


class OurFault(BaseException):
    """Our own side of the wire failed: nothing is known of the answer."""

    code = "grader"


class WorkerGone(BaseException):
    """The worker is dead, and with it every answer; the base of the reasons why."""

    code = "died"


class StudentTimeout(WorkerGone):
    """No answer within the limit of processor time."""

    code = "timeout"


class StudentWaits(StudentTimeout):
    """It slept, read, or waited for nothing of ours, and never answered."""

    code = "waits"


class BudgetSpent(WorkerGone):
    """All answers of the submission together took longer than one may."""

    code = "budget"


class StudentStarved(WorkerGone):
    """It had no processor, or no reply of ours: nothing is known of the answer."""

    code = "starved"


class StudentDied(WorkerGone):
    """The worker's process ended before it answered."""

    code = "died"


class OutOfMemory(WorkerGone):
    """The answer asked for more memory than the limit."""

    code = "memory"


class ProtocolViolation(WorkerGone):
    """The worker sent something that an untampered worker never sends."""

    code = "protocol"


def student_error(raised: Raised) -> StudentError:
    """The exception to raise in a test for one that a student's code raised.

    Names are compared with fixed tables, so a student's class that is called
    SystemExit or Skipped stays an ordinary failure.

    >>> claim = RefusalClaim("RevisionConflict", "revision_conflict", "a", "revision 5", "c")
    >>> error = student_error(Raised("Stale", ("Stale", "RevisionConflict"), refusal=claim))
    >>> isinstance(error, RuntimeError), error.code, error.found
    (True, 'revision_conflict', 'revision 5')
    >>> type(student_error(Raised("SystemExit", ("SystemExit",), "0"))).__name__
    'StudentError'
    """
    if raised.refusal is not None:
        known = refusal_class(raised.refusal.name, raised.refusal.code)
        if known is not None and raised.refusal.name in raised.ancestry:
            return _refusing(known)(raised)
    for name in raised.ancestry:
        for builtin in BUILTINS:
            if builtin.__name__ == name:
                return _joined(builtin)(raised)
    return StudentError(raised)


def refusal_class(name: str, code: str) -> type[Refusal] | None:
    """The book's refusal of this name and this code, or None.

    >>> refusal_class("RevisionConflict", "revision_conflict").__name__
    'RevisionConflict'
    >>> refusal_class("RevisionConflict", "skipped") is None
    True
    """
    for known in refusal_classes():
        if (known.__name__, known.code) == (name, code):
            return known
    return None


def nearest_refusal(kind: type) -> type[Refusal] | None:
    """The book's refusal that a class is or derives from, the nearest one; None for others.

    >>> class Stale(refusal_class("RevisionConflict", "revision_conflict")): pass
    >>> nearest_refusal(Stale).__name__, nearest_refusal(ValueError) is None
    ('RevisionConflict', True)
    """
    return next((one for one in kind.__mro__ if one in refusal_classes()), None)


@functools.cache
def refusal_classes() -> tuple[type[Refusal], ...]:
    """The book's refusals, whatever other code may derive from them."""
    found = [Refusal]
    for one in found:
        found += [sub for sub in one.__subclasses__() if sub.__module__ == Refusal.__module__]
    return tuple(found)


@functools.cache
def _joined(builtin: type[Exception]) -> type[StudentError]:
    words = {"__doc__": f"A student's exception that is also a {builtin.__name__}."}
    return type(f"Student{builtin.__name__}", (StudentError, builtin), words)


@functools.cache
def _refusing(known: type[Refusal]) -> type[StudentRefusal]:
    words = {"__doc__": f"A student's {known.__name__}.", "book_class": known}
    return type(f"Student{known.__name__}", (StudentRefusal, known), words)
