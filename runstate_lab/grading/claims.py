"""Grading. Exceptions on the wire: written as texts, read as claims.

What a worker says about an exception is believed to be text and nothing more.
What our side says about one is rebuilt in the worker, so that a student's code
can catch the book's refusals.

What is not here: which classes a test then sees (see `faults`).
"""

from __future__ import annotations

import builtins
import traceback

from runstate_lab.errors import Refusal
from runstate_lab.grading.codec import Node
from runstate_lab.grading.faults import Raised, RefusalClaim, nearest_refusal, refusal_class

LONGEST_TEXT = 2000
LONGEST_NAME = 100
MOST_ANCESTORS = 20
SHOWN_FRAMES = 6


def write(error: BaseException) -> list[Node]:
    """Name, ancestry, message, trace of the cells, and the words of a refusal.

    >>> write(KeyError("build"))[:3]
    ['KeyError', ['KeyError', 'LookupError', 'Exception', 'BaseException'], "'build'"]
    """
    kind = type(error)
    ancestry = [one.__name__[:LONGEST_NAME] for one in kind.__mro__[:-1]]
    refusal, known = None, nearest_refusal(kind)
    if isinstance(error, Refusal) and known is not None:
        words = [readable(str(one)) for one in (error.asked, error.found, error.reason)]
        refusal = [known.__name__, known.code, *words]
    name = kind.__name__[:LONGEST_NAME]
    return [name, ancestry[:MOST_ANCESTORS], _message(error), _trace(error), refusal]


def told(error: BaseException) -> list[Node]:
    """What `write` says; a few words where the exception cannot be written down."""
    try:
        return write(error)
    except BaseException:  # a metaclass or a property of a student's may raise anything
        return ["Exception", ["Exception"], "an exception that cannot be written down", "", None]


def read(claims: list[Node]) -> Raised | None:
    """The claims as plain texts; None where they have not the right shape.

    >>> read(["ValueError", ["ValueError"], "bad", "", None]).message
    'bad'
    >>> read(["ValueError", 7]) is None
    True
    """
    match claims:
        case [str(name), list(ancestry), str(message), str(trace), refusal]:
            claim = _refusal(refusal)
            texts = all(type(one) is str for one in ancestry) and len(ancestry) <= MOST_ANCESTORS
            if texts and (refusal is None) == (claim is None):
                name, message, trace = map(readable, (name, message, trace))
                return Raised(name, tuple(map(str, ancestry)), message, trace, claim)
    return None


def rebuilt(raised: Raised) -> Exception:
    """In the worker: the exception that a function of ours raised.

    >>> rebuilt(Raised("LookupError", message="nothing there"))
    LookupError('nothing there')
    """
    claim = raised.refusal
    if claim is not None:
        known = refusal_class(claim.name, claim.code) or Refusal
        return known(claim.asked, claim.found, reason=claim.reason)
    kind = getattr(builtins, raised.type_name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        return kind(raised.message)
    return RuntimeError(f"{raised.type_name}: {raised.message}")


def readable(text: str) -> str:
    r"""The text, cut, and without half characters that no report could hold.

    >>> readable("half \ud800")
    'half \\ud800'
    """
    return text[:LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()


def _refusal(tree: Node) -> RefusalClaim | None:
    match tree:
        case [str(name), str(code), str(asked), str(found), str(reason)]:
            return RefusalClaim(name, code, *map(readable, (asked, found, reason)))
    return None


def _message(error: BaseException) -> str:
    try:
        return readable(str(error))
    except BaseException:  # a student's __str__ may raise anything
        return ""


def _trace(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith("<cell ")]
    return readable("".join(traceback.format_list(ours[-SHOWN_FRAMES:])))
