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
    ├── DriverFenced                 driver_fenced        PermissionError
    ├── LeaseHeld                    lease_held           RuntimeError
    ├── BudgetSpent                  budget_spent         RuntimeError
    ├── CallLate                     call_late            ValueError
    ├── CallNotApproved              call_not_approved    PermissionError
    ├── RetryUnsafe                  retry_unsafe         ValueError
    ├── AnswerForeign                answer_foreign       PermissionError
    ├── AnswerMisbound               answer_misbound      ValueError
    ├── AnswerStale                  answer_stale         ValueError
    ├── AnswerExpired                answer_expired       ValueError
    ├── AnswerRepeated               answer_repeated      ValueError
    ├── NodeUnknown                  node_unknown         ValueError
    ├── NeedsUnmet                   needs_unmet          ValueError
    ├── AttemptFenced                attempt_fenced       RuntimeError
    ├── GraphRefused                 graph_refused        ValueError
    ├── KeyContested                 key_contested        ValueError
    ├── ToolRefused                  tool_refused         PermissionError
    ├── StoreUnreadable              store_unreadable     RuntimeError
    ├── TokenRefused                 token_refused        ValueError
    ├── OrderRefused                 order_refused        ValueError
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


class DriverFenced(Refusal, PermissionError):
    """The speaker no longer drives this run: another reign has begun."""

    code = "driver_fenced"
    builtin = PermissionError
    reason = "the driver was superseded"
    hint = "stop; only the holder of the newest lease may drive this run"


class LeaseHeld(Refusal, RuntimeError):
    """Somebody else's lease on the run still holds."""

    code = "lease_held"
    builtin = RuntimeError
    reason = "the run has a driver"
    hint = "wait until the lease runs out, or ask its holder to stop"


class BudgetSpent(Refusal, RuntimeError):
    """A limit is reached, at the level that the message names."""

    code = "budget_spent"
    builtin = RuntimeError
    reason = "the budget is spent"
    hint = "fail the run with budget_exhausted, or start another run"


class CallLate(Refusal, ValueError):
    """A result comes after its call was given up, retried or the run ended."""

    code = "call_late"
    builtin = ValueError
    reason = "the result comes too late"
    hint = "nothing to do: the trace keeps it and the state stays as it is"


class CallNotApproved(Refusal, PermissionError):
    """A gated call has no approval for exactly these arguments."""

    code = "call_not_approved"
    builtin = PermissionError
    reason = "the call is not approved"
    hint = "request an approval for this call and wait for the answer"


class RetryUnsafe(Refusal, ValueError):
    """A call may not be tried again: it may have had its effect."""

    code = "retry_unsafe"
    builtin = ValueError
    reason = "a retry could repeat the effect"
    hint = "retry a failed call, or an unknown one that has an idempotency key"


class AnswerForeign(Refusal, PermissionError):
    """The answer comes from somebody else, or is about another run."""

    code = "answer_foreign"
    builtin = PermissionError
    reason = "the answer is somebody else's"
    hint = "let the one who was asked answer, about this run"


class AnswerMisbound(Refusal, ValueError):
    """The answer names another call than the request does."""

    code = "answer_misbound"
    builtin = ValueError
    reason = "the answer is bound to another call"
    hint = "answer the request as it was shown, with its own call id"


class AnswerStale(Refusal, ValueError):
    """The call or its arguments changed after the answer's author saw them."""

    code = "answer_stale"
    builtin = ValueError
    reason = "the answer is about an older question"
    hint = "show the request as it is now and ask again"


class AnswerExpired(Refusal, ValueError):
    """The answer comes after the request ran out."""

    code = "answer_expired"
    builtin = ValueError
    reason = "the request has expired"
    hint = "let the runtime expire the request and ask again"


class AnswerRepeated(Refusal, ValueError):
    """The request was answered before."""

    code = "answer_repeated"
    builtin = ValueError
    reason = "the request was answered before"
    hint = "nothing to do: the first answer counts"


class NodeUnknown(Refusal, ValueError):
    """The run has no node of that name, or has it already."""

    code = "node_unknown"
    builtin = ValueError
    reason = "the node is not in the plan"
    hint = "use a name of the planned graph"


class NeedsUnmet(Refusal, ValueError):
    """A node that this one needs is not completed."""

    code = "needs_unmet"
    builtin = ValueError
    reason = "a needed node is not completed"
    hint = "wait for the needed nodes; a failed one blocks this one"


class AttemptFenced(Refusal, RuntimeError):
    """The report or claim names another attempt than the current one."""

    code = "attempt_fenced"
    builtin = RuntimeError
    reason = "the attempt was superseded"
    hint = "drop the result: a newer attempt owns the node"


class GraphRefused(Refusal, ValueError):
    """The graph cannot be built as it was drawn."""

    code = "graph_refused"
    builtin = ValueError
    reason = "the graph is refused"
    hint = "mend the graph where the message says"


class KeyContested(Refusal, ValueError):
    """Two nodes write one key, and no reducer says how they combine."""

    code = "key_contested"
    builtin = ValueError
    reason = "two nodes write one key"
    hint = "give the key a reducer, or let one node write it"


class ToolRefused(Refusal, PermissionError):
    """A proposed call is not one that this run may make."""

    code = "tool_refused"
    builtin = PermissionError
    reason = "the call is refused before it is made"
    hint = "propose a tool of the allow-list, with its arguments and permission"


class StoreUnreadable(Refusal, RuntimeError):
    """A file is not a run's store, or is torn."""

    code = "store_unreadable"
    builtin = RuntimeError
    reason = "the file cannot be read as a store"
    hint = "keep the file; name another one, or restore it from a copy"


class TokenRefused(Refusal, ValueError):
    """The token of a schedule is mistyped, belongs elsewhere, or is out of date."""

    code = "token_refused"
    builtin = ValueError
    reason = "the token cannot be played"
    hint = "copy it whole, and play it with the workers and the store that it was made with"


class OrderRefused(Refusal, ValueError):
    """An order, a worker or a law is not one that can be run or asked."""

    code = "order_refused"
    builtin = ValueError
    reason = "this cannot be played or explored"
    hint = "name workers A, B, C; write them with `yield`; give laws as functions; make open moves"


class ToolFailure(Exception):
    """A tool says that it failed: certainly no result and no effect.

    >>> ToolFailure("connection refused").definite
    True
    """

    definite = True


class OutcomeUnknown(Exception):
    """A tool gave no answer in time: it may have had its effect.

    >>> OutcomeUnknown("no answer within 5 ticks").definite
    False
    """

    definite = False


def words_of(error: BaseException) -> str:
    """What an exception is and says, whatever its author did to it.

    >>> class Mute(Exception):
    ...     def __str__(self):
    ...         raise OSError("speechless")
    >>> words_of(Mute()), words_of(OSError("no route"))
    ('Mute', 'OSError: no route')
    """
    try:
        return f"{type(error).__name__}: {error}"
    except (Exception, SystemExit):  # Somebody else's exception may fail to say what it is.
        return type(error).__name__
