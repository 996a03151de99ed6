"""Floor 4. What an outsider may do with a run while it is active.

Look, answer, cancel: each wish goes through a door, at the newest revision.
What is not here: driving (see `driver`).
"""

from __future__ import annotations

from runstate_lab.errors import RevisionConflict
from runstate_lab.model import Answer, RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.tools import Check, a, able, door, fits, keepable, maybe

RUNTIME: dict[str, Check] = {"runtime": able("accept_user", "accept_approval")}
ANSWER: dict[str, Check] = {
    "request_id": keepable,
    "run_id": keepable,
    "call_id": maybe(keepable),
    "digest": maybe(keepable),
}


class ActiveRunControl:
    """What an outsider may do with a run while it is active: look, answer, cancel.

    It holds no lease and no state of its own; every wish goes through a door.

    >>> from runstate_lab.store import StateStore
    >>> control = ActiveRunControl(Runtime(StateStore(RunState("run-7"))))
    >>> print(control.cancel("ada", "wrong release").status)
    cancelled
    """

    def __init__(self, runtime: Runtime) -> None:
        fits("a control's", RUNTIME, {"runtime": runtime})
        self.runtime = runtime

    @property
    def waiting_for(self) -> str | None:
        """Why the run waits, or None where it does not."""
        return self.runtime.store.load().waiting_for

    @property
    def pending(self) -> tuple[str, ...]:
        """The calls and requests that the run still owes an answer about."""
        return self.runtime.store.load().pending

    def cancel(self, user: str, words: str) -> RunState:
        """The state after a user's cancellation; tried again if others write meanwhile.

        >>> from runstate_lab.store import StateStore
        >>> control = ActiveRunControl(Runtime(StateStore(RunState("run-7"))))
        >>> control.cancel("ada", "")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.ReasonMissing: reason is missing: asked run_cancelled because of '', found no words
        hint: put one of the reasons that the rules table lists into the value
        """
        door("a user", user)
        keepable("words for the end of a run", words)
        seen = -1
        while True:
            revision = self.runtime.store.load().revision
            try:
                return self.runtime.accept_user(
                    user, StateProposal("run_cancelled", words, revision)
                )
            except RevisionConflict:
                # A wish to cancel does not depend on what was written meanwhile, if anything was.
                if revision <= seen:
                    raise
                seen = revision

    def answer(self, approver: str, kind: str, answer: Answer) -> RunState:
        """The state after an approver's answer to what they saw.

        >>> from runstate_lab.store import StateStore
        >>> control = ActiveRunControl(Runtime(StateStore(RunState("run-7"))))
        >>> control.answer("rosa", "approval_granted", Answer("a1", "run-7"))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.IllegalTransition: approval_granted is not legal from queued: asked approval_granted, which starts from waiting, found status queued
        hint: look at the status chart; a terminal status has no arrows out
        """
        door("an approver", approver)
        a(Answer)("an answer", answer)
        fits("an answer's", ANSWER, {name: getattr(answer, name) for name in ANSWER})
        revision = self.runtime.store.load().revision
        return self.runtime.accept_approval(approver, StateProposal(kind, answer, revision))
