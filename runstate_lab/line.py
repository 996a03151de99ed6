"""Floor 5. The line between a worker and its store: what was asked, what came back.

A worker is given its store as `Seen`, which only forwards: whatever the store
has and can do is there under its own name. The line behind it writes down each
touch, and a fault of the line can be ordered for the next proposal: lost, late,
twice, or answered to nobody.

What is not here: which step meets the fault (see `race`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType
from typing import Any, NamedTuple

from runstate_lab.errors import OutcomeUnknown, Refusal
from runstate_lab.model import ExecutionContext, StateProposal

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
    `apply` the proposal, who it came from, and the code of a refusal (or the
    name of what else was raised).
    """

    verb: str
    revision: int | None = None
    proposal: StateProposal | None = None
    context: ExecutionContext | None = None
    code: str = ""


CALLS = (MethodType, FunctionType, BuiltinMethodType, MethodWrapperType, partial)


class Mail(NamedTuple):
    """A proposal that is still on its way, as it was handed over."""

    arguments: tuple[Any, ...]
    named: dict[str, Any]


class Line:
    """What one worker did to its store, and what is on its way.

    >>> from runstate_lab.model import RunState
    >>> from runstate_lab.store import StateStore
    >>> line = Line(StateStore(RunState("run-7")))
    >>> line.seen.load().revision, [touch.verb for touch in line.touches]
    (0, ['load'])
    >>> line.order("_")
    >>> line.seen.apply(StateProposal("run_started", "", 0), context=line.seen.context("runtime", "runtime"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OutcomeUnknown: no answer to run_started
    """

    def __init__(self, store: Any) -> None:
        self.store = store
        self.touches: list[Touch] = []
        self.mail: list[Mail] = []
        self.ordered = ""
        # What passed between the two: a worker that holds something mutable of it
        # can change the store without a touch.
        self.passed: list[object] = []

    @property
    def seen(self) -> Any:
        """The store as the worker is given it."""
        return Seen(self)

    def order(self, fault: str) -> None:
        """Let the next proposal meet that fault; an empty one orders nothing."""
        self.ordered = fault

    def deliver(self) -> None:
        """Let the oldest mail arrive; nobody hears the answer."""
        mail = self.mail.pop(0)
        try:
            self._offer(mail)
        except Refusal:
            return

    def taken(self) -> tuple[Touch, ...]:
        """The touches since this was last asked."""
        if not self.touches:
            return ()
        touches = tuple(self.touches)
        self.touches.clear()
        return touches

    def call(
        self, verb: str, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        """What the store's function gives; the touch is written down."""
        if verb == "context":
            return function(*arguments, **named)
        self.passed += [one for one in arguments if one is not self.store]
        self.passed += named.values()
        if verb == "apply" and (arguments or named):
            answer = self._sent(Mail(arguments, named))
        elif verb == "load":
            at = len(self.touches)
            self.touches.append(Touch(verb))
            answer = function(*arguments, **named)
            self.touches[at] = Touch(verb, getattr(answer, "revision", None))
        else:
            self.touches.append(Touch(verb))
            answer = function(*arguments, **named)
        if answer is not self.store:
            self.passed.append(answer)
        return answer

    def _sent(self, mail: Mail) -> Any:
        """What the store answers, unless a fault was ordered for this proposal."""
        fault, self.ordered = self.ordered, ""
        proposal, context = _offered(mail)
        silence = OutcomeUnknown(f"no answer to {getattr(proposal, 'kind', 'apply')}")
        if fault in ("~", "+"):
            self.mail.append(mail)
        if fault in ("~", "_"):
            self.touches.append(Touch("send", proposal=proposal, context=context))
            raise silence
        try:
            answer = self._offer(mail)
        except Refusal:
            if fault == "?":
                raise silence from None
            raise
        if fault == "?":
            raise silence
        return answer

    def _offer(self, mail: Mail) -> Any:
        proposal, context = _offered(mail)
        try:
            answer = self.store.apply(*mail.arguments, **mail.named)
        except BaseException as error:
            code = error.code if isinstance(error, Refusal) else type(error).__name__
            self.touches.append(Touch("apply", None, proposal, context, code))
            raise
        code = answer.code if isinstance(answer, Refusal) else ""
        revision = getattr(answer, "revision", None)
        self.touches.append(Touch("apply", revision, proposal, context, code))
        return answer


class Seen:
    """A store as its worker sees it: nothing here but the store's own.

    >>> seen = Line(["build", "tests"]).seen
    >>> len(seen), seen[0], "scan" in seen, seen.index("tests"), list(seen)
    (2, 'build', False, 1, ['build', 'tests'])
    """

    __slots__ = ("__weakref__", "_line_of_the_race")

    def __init__(self, line: Line) -> None:
        BEHIND.__set__(self, line)

    def __getattribute__(self, name: str) -> Any:
        line = BEHIND.__get__(self)
        if name == "__class__":
            return type(line.store)
        try:
            value = getattr(line.store, name)
        except AttributeError:
            line.touches.append(Touch(name))
            raise
        if isinstance(value, CALLS):
            return Call(self, name, value)
        line.touches.append(Touch(name))
        line.passed.append(value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        line = BEHIND.__get__(self)
        line.touches.append(Touch(name))
        line.passed.append(value)
        setattr(line.store, name, value)

    def __delattr__(self, name: str) -> None:
        line = BEHIND.__get__(self)
        line.touches.append(Touch(name))
        delattr(line.store, name)


BEHIND: Any = Seen.__dict__["_line_of_the_race"]


class Call:
    """A function of the store; the touch is written down when it is called, not before."""

    __slots__ = ("_function", "_seen", "_verb")

    def __init__(self, seen: Seen, verb: str, function: Callable[..., Any]) -> None:
        self._seen = seen
        self._verb = verb
        self._function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the function gives; a store that gives itself is given as it is seen."""
        line = BEHIND.__get__(self._seen)
        answer = line.call(self._verb, self._function, arguments, named)
        return self._seen if answer is line.store else answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _entered(store: Any) -> Any:
    return type(store).__enter__(store)


def _left(store: Any, *told: Any) -> Any:
    return type(store).__exit__(store, *told)


def _called(store: Any, *arguments: Any, **named: Any) -> Any:
    return store(*arguments, **named)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "__len__": len,
    "__bool__": bool,
    "__iter__": iter,
    "__next__": next,
    "__reversed__": reversed,
    "__contains__": operator.contains,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__call__": _called,
    "__enter__": _entered,
    "__exit__": _left,
    "__eq__": operator.eq,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__hash__": hash,
    "__repr__": repr,
    "__str__": str,
    "__format__": format,
    "__add__": operator.add,
    "__iadd__": operator.iadd,
    "__or__": operator.or_,
    "__ior__": operator.ior,
    "__sub__": operator.sub,
}
"""What Python asks of an object's class and not of the object: forwarded by name."""


def _forwarded(verb: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    def forward(seen: Seen, *arguments: Any, **named: Any) -> Any:
        line = BEHIND.__get__(seen)
        others = [BEHIND.__get__(one).store if type(one) is Seen else one for one in arguments]
        answer = line.call(verb, operation, (line.store, *others), named)
        return seen if answer is line.store else answer

    return forward


for _verb, _operation in OPERATIONS.items():
    setattr(Seen, _verb, _forwarded(_verb, _operation))


def _offered(mail: Mail) -> tuple[StateProposal | None, ExecutionContext | None]:
    """The proposal and the context among what was handed over, as far as they fit."""
    offered = [*mail.arguments, *mail.named.values()]
    proposals = [one for one in offered if hasattr(one, "expected_revision") and hasattr(one, "kind")]
    contexts = [one for one in offered if hasattr(one, "authority") and hasattr(one, "source")]
    return (proposals or [None])[0], (contexts or [None])[0]
