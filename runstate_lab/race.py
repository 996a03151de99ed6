"""Floor 5. One run of some workers on one store, in the order that you choose.

A worker is ordinary code with `yield` wherever another may run: n yields make
n + 1 steps. What it yields, other than None, has happened in the world, and
stays, whatever becomes of the worker.

A schedule is text, one move after another:

    A     the next step of worker A
    A!    a fault at A's next step; `FAULTS` lists the marks: ! _ ~ + ?
    a     A's oldest mail is delivered

What is not here: threads, time and chance. The order is the only freedom.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from copy import copy
from inspect import iscoroutine, isgenerator
from typing import NamedTuple

from runstate_lab.errors import OrderRefused, OutcomeUnknown, Refusal
from runstate_lab.line import FAULTS, Line, Touch
from runstate_lab.model import StateEvent
from runstate_lab.store import StateStore
from runstate_lab.watch import Endless, bounded

Worker = Callable[[StateStore], Generator[object, None, None]]

MOVE = re.compile(rf"[A-Z][{re.escape(''.join(FAULTS))}]?|[a-z]")
CRASH = "!"
CLOSINGS = 20


class NeverYields(OrderRefused):
    """A worker that is an ordinary function: it would do all its work at once."""


class Step(NamedTuple):
    """What one move did: who touched what, what was said, how it ended.

    `ended` is empty while the worker goes on; else "done", "crashed", "no
    answer", "delivered", or the code of the refusal that ended it.
    """

    number: int
    move: str
    worker: str
    touches: tuple[Touch, ...]
    said: object = None
    ended: str = ""


class Race:
    """Some workers and one store; nothing moves unless you say so.

    A refusal ends its worker and is kept under the worker's name; so is an
    answer that never came. Any other exception is the worker's own fault and
    is raised.

    >>> from runstate_lab.model import RunState, StateProposal
    >>> def starter(store):
    ...     seen = store.load().revision
    ...     yield
    ...     store.apply(StateProposal("run_started", "", seen),
    ...                 context=store.context("runtime", "runtime"))
    >>> race = Race({"A": starter, "B": starter}, StateStore(RunState("run-7")))
    >>> for name in "ABAB":
    ...     race.step(name)
    >>> race.refusals
    {'B': RevisionConflict(revision_conflict: revision conflict)}
    >>> [step.ended for step in race.log]
    ['', '', 'done', 'revision_conflict']
    """

    def __init__(self, workers: Mapping[str, Worker], store: StateStore) -> None:
        check_names(workers)
        self.store = store
        self.start = copy(store.load())
        self.log: list[Step] = []
        self.refusals: dict[str, Refusal] = {}
        self.unanswered: list[str] = []
        self._acknowledged: list[tuple[str, StateEvent]] = []
        self._workers = dict(workers)
        self._lines = {name: Line(store) for name in workers}
        self._running = {name: self._begun(name) for name in workers}
        # A crash runs no `finally`: what was left behind is kept until the race is over.
        self._left: list[Generator[object, None, None]] = []

    @property
    def schedule(self) -> str:
        """The moves made so far, as text."""
        return "".join(step.move for step in self.log)

    @property
    def said(self) -> tuple[object, ...]:
        """What the workers have said to the world, in order."""
        return tuple(step.said for step in self.log if step.said is not None)

    @property
    def acknowledged(self) -> tuple[tuple[str, StateEvent], ...]:
        """Who offered what the store accepted, in order, as seen from the workers' lines.

        The store's own trace is not asked: a store may lie about what it took.
        """
        return tuple(self._acknowledged)

    @property
    def accepted(self) -> tuple[StateEvent, ...]:
        """The events that the store accepted, in order, as seen from the lines."""
        return tuple(event for _, event in self._acknowledged)

    @property
    def enabled(self) -> tuple[str, ...]:
        """The moves that are open: workers with a step left, then mail on its way."""
        mail = [name.lower() for name, line in self._lines.items() if line.mail]
        return (*self._running, *mail)

    def step(self, move: str, *, watched: bool = True) -> None:
        """Make exactly one move.

        A watched step is stopped when it seems to have no end (`Endless`).

        >>> from runstate_lab.model import RunState
        >>> def idle(store):
        ...     yield
        >>> race = Race({"A": idle}, StateStore(RunState("run-7")))
        >>> race.step("B")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the move 'B', found these moves open: A
        hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
        """
        if move not in self._running and not self._is_open(move):
            left = ", ".join(self.enabled) or "none"
            raise OrderRefused(f"the move {move!r}", f"these moves open: {left}")
        name, fault = move[0].upper(), move[1:]
        if move.islower():
            self._lines[name].deliver()
            self._write(move, name, ended="delivered")
        elif fault == CRASH:
            self._left.append(self._running[name])
            self._running[name] = self._begun(name)
            self._write(move, name, ended="crashed")
        elif watched:
            with bounded() as watch:
                self._advance(move, name, fault)
            if watch.fired:
                raise Endless("it goes on without an end, and catches what would stop it")
        else:
            self._advance(move, name, fault)

    def passed(self, name: str) -> tuple[object, ...]:
        """What a worker was given by its store, and gave it, so far."""
        return tuple(self._lines[name].passed)

    def close(self) -> None:
        """End the workers that are not done; whatever they do about it is dropped."""
        for worker in (*self._running.values(), *self._left):
            for _ in range(CLOSINGS):
                try:
                    with bounded():
                        worker.close()
                    break
                except KeyboardInterrupt:
                    raise
                except BaseException:  # noqa: BLE001, S112 - nobody waits for these
                    continue
        self._running.clear()
        self._left.clear()

    def _is_open(self, move: str) -> bool:
        shaped = isinstance(move, str) and MOVE.fullmatch(move) is not None
        return shaped and move[0] in self.enabled

    def _begun(self, name: str) -> Generator[object, None, None]:
        worker = self._workers[name](self._lines[name].seen)
        if not isgenerator(worker):
            kind = type(worker).__name__
            if iscoroutine(worker):
                worker.close()
            raise NeverYields(
                f"worker {name} to be code with `yield` in it", f"a function that gave a {kind}"
            )
        return worker

    def _advance(self, move: str, name: str, fault: str) -> None:
        line = self._lines[name]
        if fault or line.ordered:
            line.order(fault)
        said, ended = None, ""
        try:
            said = next(self._running[name])
        except StopIteration:
            ended = "done"
        except Refusal as refusal:
            self.refusals[name] = _kept(refusal)
            ended = refusal.code
        except OutcomeUnknown:
            self.unanswered.append(name)
            ended = "no answer"
        if ended:
            del self._running[name]
        self._write(move, name, said=said, ended=ended)
        if fault and line.ordered:
            line.order("")
            raise OrderRefused(f"the move {move!r}", f"a step of {name} that sends no proposal")

    def _write(self, move: str, name: str, *, said: object = None, ended: str = "") -> None:
        touches = self._lines[name].taken()
        for touch in touches:
            if touch.verb == "apply" and touch.proposal is not None and not touch.code:
                self._acknowledged.append((name, _event(touch)))
        self.log.append(Step(len(self.log) + 1, move, name, touches, said, ended))


def _event(touch: Touch) -> StateEvent:
    """The event that a proposal and its context make, whatever their own classes are."""
    proposal, context = touch.proposal, touch.context
    return StateEvent(
        proposal.kind,  # type: ignore[union-attr]
        getattr(context, "source", ""),
        getattr(context, "authority", ""),
        getattr(proposal, "value", ""),
        proposal.expected_revision,  # type: ignore[union-attr]
        getattr(context, "call_id", None),
    )


def _kept(refusal: Refusal) -> Refusal:
    """The refusal without its traceback; itself, where its class cannot be made anew."""
    try:
        kept = refusal.kept()
    except Exception:  # noqa: BLE001 - a learner's refusal with an __init__ of its own
        return refusal.with_traceback(None)
    return kept


def check_names(workers: Mapping[str, Worker]) -> None:
    """None when each worker has a letter of its own to stand in a schedule.

    >>> check_names({"A": len, "b": len})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked workers named by one capital letter each, found ['A', 'b']
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    named = isinstance(workers, Mapping) and len(workers) > 0
    if not named or any(not re.fullmatch("[A-Z]", str(name)) for name in workers):
        found = (
            str(list(workers)) if isinstance(workers, Mapping) else f"a {type(workers).__name__}"
        )
        raise OrderRefused("workers named by one capital letter each", found)


def moves(schedule: str) -> tuple[str, ...]:
    """The moves of a schedule.

    >>> moves("AB!a")
    ('A', 'B!', 'a')
    >>> moves("A1")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the schedule 'A1', found '1', which is no move
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    rest = MOVE.sub("", schedule)
    if rest:
        raise OrderRefused(f"the schedule {schedule!r}", f"{rest[0]!r}, which is no move")
    return tuple(MOVE.findall(schedule))
