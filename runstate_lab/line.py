"""Floor 5. The line between a worker and its store: what was asked, what came back.

A worker talks to its store through a line. The line writes down each touch,
and a fault of the line can be ordered for the next proposal: lost, late,
twice, or answered to nobody.

What is not here: which step meets the fault (see `race`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runstate_lab.errors import OutcomeUnknown, Refusal
from runstate_lab.model import ExecutionContext, RunState, StateProposal
from runstate_lab.store import StateStore

FAULTS = {
    "!": "crash here: what the worker knows is gone, it starts again from its beginning",
    "_": "the proposal is lost on its way",
    "~": "the proposal is late: it arrives when its mail is delivered",
    "+": "the proposal arrives, and once more when its mail is delivered",
    "?": "the proposal arrives, its answer does not",
}
"""The marks that may follow a worker's letter, and what each does to that step."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One thing a worker did to its store in a step.

    `verb` is the store's word; a `load` names the revision that was seen, an
    `apply` the proposal, who it came from, and the code of a refusal.
    """

    verb: str
    revision: int | None = None
    proposal: StateProposal | None = None
    context: ExecutionContext | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Mail:
    """A proposal that is still on its way."""

    proposal: StateProposal
    context: ExecutionContext


class Line:
    """A store as one worker sees it; everything but the touches is the store's own.

    >>> line = Line(StateStore(RunState("run-7")))
    >>> line.load().revision, [touch.verb for touch in line.touches]
    (0, ['load'])
    >>> line.order("_")
    >>> line.apply(StateProposal("run_started", "", 0), context=line.context("runtime", "runtime"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OutcomeUnknown: no answer to run_started
    """

    def __init__(self, store: StateStore) -> None:
        self.__dict__.update(store=store, touches=[], mail=[], fault="")

    def __getattr__(self, name: str) -> Any:
        self.touches.append(Touch(name))
        return getattr(self.store, name)

    def __setattr__(self, name: str, value: object) -> None:
        self.touches.append(Touch(name))
        setattr(self.store, name, value)

    def load(self) -> RunState:
        """What the store loads."""
        state = self.store.load()
        self.touches.append(Touch("load", getattr(state, "revision", None)))
        return state

    def context(self, *arguments: Any, **named: Any) -> ExecutionContext:
        """A context of the store; asking for it touches nothing."""
        return self.store.context(*arguments, **named)

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """What the store answers, unless a fault was ordered for this proposal."""
        fault = self.__dict__["fault"]
        self.__dict__["fault"] = ""
        if fault in ("~", "+"):
            self.mail.append(Mail(proposal, context))
        if fault in ("~", "_"):
            self.touches.append(Touch("send", proposal=proposal, context=context))
            raise OutcomeUnknown(f"no answer to {proposal.kind}")
        answer = self._answer(proposal, context)
        if fault == "?":
            raise OutcomeUnknown(f"no answer to {proposal.kind}")
        if isinstance(answer, Refusal):
            raise answer
        return answer

    @property
    def ordered(self) -> str:
        """The fault that no proposal has met yet, if any."""
        return self.__dict__["fault"]

    def order(self, fault: str) -> None:
        """Let the next proposal meet that fault; an empty one orders nothing."""
        self.__dict__["fault"] = fault

    def deliver(self) -> RunState | Refusal:
        """What the store answers to the oldest mail; nobody hears it."""
        mail = self.mail.pop(0)
        return self._answer(mail.proposal, mail.context)

    def taken(self) -> tuple[Touch, ...]:
        """The touches since this was last asked."""
        if not self.touches:
            return ()
        touches = tuple(self.touches)
        self.touches.clear()
        return touches

    def _answer(self, proposal: StateProposal, context: ExecutionContext) -> RunState | Refusal:
        try:
            answer: RunState | Refusal = self.store.apply(proposal, context=context)
        except Refusal as refusal:
            answer = refusal
        code = answer.code if isinstance(answer, Refusal) else ""
        revision = getattr(answer, "revision", None)
        self.touches.append(Touch("apply", revision, proposal, context, code))
        return answer
