"""Floor 0. Every refusal: what was asked, what was found, and what to do now.

A refusal is an answer, not an accident. It is raised to the caller and, by
every honest store, kept in the trace.

    Refusal                          code                 builtin
    ├── Malformed                    malformed            ValueError
    ├── UnknownEvent                 unknown_event        ValueError
    ├── ContextRejected              context_rejected     PermissionError
    ├── WriterRejected               writer_rejected      PermissionError
    ├── RevisionConflict             revision_conflict    RuntimeError
    ├── IllegalTransition            illegal_transition   ValueError
    ├── ReasonMissing                reason_missing       ValueError
    ├── SuccessNotMet                success_not_met      ValueError
    ├── StillPending                 still_pending        ValueError
    ├── CallUnknown                  call_unknown         ValueError
    ├── CallForeign                  call_foreign         ValueError
    ├── CallRepeated                 call_repeated        ValueError
    ├── ResultRepeated               result_repeated      ValueError
    ├── RequestRepeated              request_repeated     ValueError
    └── RequestUnknown               request_unknown      ValueError

What is not here: who raises which, and in what order (see `rules.check`).
"""

from __future__ import annotations


class Refusal(Exception):
    """The base of all refusals; `except Refusal` catches every one.

    `definite` answers the question a caller has after any failure: did it
    certainly not happen? A refusal by a store is always definite.

    >>> refusal = SuccessNotMet("to complete run-7", "no fact build=green")
    >>> print(refusal)
    success criterion is not met: asked to complete run-7, found no fact build=green
    hint: record the missing fact through the tool's door, then propose again
    >>> isinstance(refusal, ValueError), refusal.definite
    (True, True)
    """

    code = "refused"
    builtin: type[Exception] = Exception
    definite = True
    reason = "refused"
    hint = "read the message, then load the state again"

    def __init__(self, asked: str, found: str, *, reason: str = "") -> None:
        # OSError.__init__ would read two arguments as (errno, strerror).
        Exception.__init__(self, asked, found)
        self.asked = asked
        self.found = found
        if reason:
            self.reason = reason

    def __str__(self) -> str:
        return f"{self.reason}: asked {self.asked}, found {self.found}\nhint: {self.hint}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code}: {self.reason})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Refusal):
            return NotImplemented
        return (type(self), self.args, self.reason) == (type(other), other.args, other.reason)

    def __hash__(self) -> int:
        return hash((type(self), self.args, self.reason))

    def kept(self) -> Refusal:
        """An equal refusal without traceback, fit to be kept in a trace.

        >>> first = RevisionConflict("to write at revision 4", "revision 5")
        >>> first.kept() == first, first.kept() is first
        (True, False)
        """
        return type(self)(self.asked, self.found, reason=self.reason)


class Malformed(Refusal, ValueError):
    """The value offered has the wrong shape for what it claims to be."""

    code = "malformed"
    builtin = ValueError
    reason = "malformed value"
    hint = "give plain text or one of the frozen nouns of runstate_lab.model"


class UnknownEvent(Refusal, ValueError):
    """No row of the rules table is about this kind of event."""

    code = "unknown_event"
    builtin = ValueError
    reason = "unknown event"
    hint = "use one of the kinds that the rules table lists"


class ContextRejected(Refusal, PermissionError):
    """The context was not minted by this store: typed by hand, or foreign."""

    code = "context_rejected"
    builtin = PermissionError
    reason = "event source/authority rejected"
    hint = "go through a door of the Runtime; it asks the store for a context"


class WriterRejected(Refusal, PermissionError):
    """The authority or the source may not write this kind of event."""

    code = "writer_rejected"
    builtin = PermissionError
    reason = "event source/authority rejected"
    hint = "hand the proposal to the door whose authority the rules table names"


class RevisionConflict(Refusal, RuntimeError):
    """The state moved on since the proposal was computed."""

    code = "revision_conflict"
    builtin = RuntimeError
    reason = "revision conflict"
    hint = "load the state again and decide: recompute, drop or escalate"


class IllegalTransition(Refusal, ValueError):
    """No arrow of this kind leaves the current status."""

    code = "illegal_transition"
    builtin = ValueError
    reason = "illegal transition"
    hint = "look at the status chart; a terminal status has no arrows out"


class ReasonMissing(Refusal, ValueError):
    """The new status needs a reason that the proposal does not give."""

    code = "reason_missing"
    builtin = ValueError
    reason = "reason is missing"
    hint = "put one of the reasons that the rules table lists into the value"


class SuccessNotMet(Refusal, ValueError):
    """A fact that the goal asks for is not there, or not from a tool."""

    code = "success_not_met"
    builtin = ValueError
    reason = "success criterion is not met"
    hint = "record the missing fact through the tool's door, then propose again"


class StillPending(Refusal, ValueError):
    """A call or a request is open, so the run cannot be complete."""

    code = "still_pending"
    builtin = ValueError
    reason = "something is still pending"
    hint = "wait for each open call and request, or fail or cancel the run"


class CallUnknown(Refusal, ValueError):
    """A tool result names no call, or one that was never dispatched."""

    code = "call_unknown"
    builtin = ValueError
    reason = "no such call was dispatched"
    hint = "dispatch the call first and give its call id with the result"


class CallForeign(Refusal, ValueError):
    """A tool result names the call of another tool."""

    code = "call_foreign"
    builtin = ValueError
    reason = "the call belongs to another tool"
    hint = "results are bound to call ids; give the id of this tool's own call"


class CallRepeated(Refusal, ValueError):
    """The call id was used before: dispatched twice, or answered twice."""

    code = "call_repeated"
    builtin = ValueError
    reason = "the call id was used before"
    hint = "give each attempt a call id of its own; an answered call is closed"


class ResultRepeated(Refusal, ValueError):
    """The same source reports the same value again."""

    code = "result_repeated"
    builtin = ValueError
    reason = "the same result was accepted before"
    hint = "the fact is already in the state; nothing needs to be written"


class RequestRepeated(Refusal, ValueError):
    """A request is opened under the id of one that is still open."""

    code = "request_repeated"
    builtin = ValueError
    reason = "the request id is in use"
    hint = "give each request an id of its own"


class RequestUnknown(Refusal, ValueError):
    """An answer names no open request, or one made to somebody else."""

    code = "request_unknown"
    builtin = ValueError
    reason = "no such request is open"
    hint = "answer with the id of the open request, as the one who was asked"
