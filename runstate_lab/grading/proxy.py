"""Grading. The trusted side: the object `student` that a test talks to.

    cells = [(given_source, "given"), (answer_source, "04.1")]
    with Student(cells, level="confined") as student:
        store = student.MyStore(RunState("run-7"))       # a handle
        context = store.context("runtime", "runtime")    # a handle: same object when sent back
        state = store.apply(StateProposal("run_started", "", 0), context=context)
        assert state == RunState("run-7", status=RunStatus.RUNNING, revision=1)
        with pytest.raises(RevisionConflict):
            store.apply(StateProposal("run_started", "", 0), context=context)
        assert student.take(student.steps(), 3) == ["read", "compute", "submit"]
        assert student.equal(student.count(), 18)        # 18.0 and True are not 18

Plain data, frozen nouns, statuses, refusals and traces arrive by value;
everything else is a `Handle`, which can be called and asked for attributes and
refuses all else with `HandleMisuse`. Give functions as `student.callback(f)`,
objects as `student.export(store, "load", "context", "apply")`, rules tables as
themselves (`RULES`). A name that an attribute of `Student` hides is reached by
`student.get("take")`.

What goes wrong on the student's side is raised at the call that needs it, also
what went wrong in a cell at the start: `StudentError` (an ordinary exception,
which is also the builtin or the Refusal of that name), `WorkerGone` with its
reasons, `HandleMisuse`. `student.failures` maps a cell's id to what it
raised. `close()`, and the end of `with`, report what a test has swallowed. Our
own side failing is `WorkerUnavailable`, raised by the constructor. One thread.

What is not here: the walls (see `confine`), the proof (see `isolation`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from runstate_lab.grading import claims, codec
from runstate_lab.grading.channel import KEPT_TEXT, Channel
from runstate_lab.grading.codec import CodecError, Limits, Node
from runstate_lab.grading.faults import (
    NameMissing,
    OurFault,
    OutOfMemory,
    ProtocolViolation,
    Raised,
    StudentError,
    StudentTimeout,
    TooMuch,
    WorkerGone,
    student_error,
)
from runstate_lab.grading.handle import Callback, Handle, number_of
from runstate_lab.grading.meter import SLICE, Mark, Meter
from runstate_lab.grading.nouns import book, field_hints

LEVELS = ("none", "confined")
GRADE = Limits(broken_text=False)
KINDS = ("class", "generator", "callable", "iterator", "object")
DEEPEST_CALLS = 20
START_SECONDS = 20.0


class WorkerUnavailable(RuntimeError):
    """No worker could be started at this level: our side, not the student's."""


class Student:
    """The student's names, each answered by a worker process of its own.

    >>> with Student([("def add(a, b): return a + b", "1.1")], level="none") as student:
    ...     student.add(2, 3), student.equal(student.add(0, 1), True)
    (5, False)
    """

    def __init__(
        self,
        cells: Iterable[tuple[str, str]] = (),
        *,
        level: str = "confined",
        call_timeout: float = 3.0,
        total: float = 30.0,
        scratch: Path | None = None,
        memory: int = 2 << 30,
        callbacks: int = 10_000,
        limits: Limits = GRADE,
    ) -> None:
        if level not in LEVELS:
            raise ValueError(f"asked for level {level!r}, found {LEVELS}\nhint: use one of these")
        self.level = level
        self.limits = limits
        self.failures: dict[str, StudentError] = {}
        self.dead: WorkerGone | None = None
        self._callbacks_left = callbacks
        self._dropped: list[int] = []
        self._lent: dict[int, Callback] = {}
        self._contexts: dict[int, object] = {}
        self._depth = 0
        self._closed = False
        self._channel = Channel(limits, scratch=scratch)
        self.meter = Meter(self._channel.process, call=START_SECONDS, total=START_SECONDS)
        self.mechanisms = self._start(scratch, memory, int(total + START_SECONDS) + 5)
        self.meter = Meter(self._channel.process, call=call_timeout, total=total)
        self._load(cells)

    def __enter__(self) -> Student:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        gone = self.close()
        if gone is not None and error is None:
            raise gone

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get(name)

    def get(self, name: str) -> Any:
        """What the cells call by this name; raises NameMissing where they do not."""
        return self._request("name", name)

    def take(self, handle: Handle, count: int) -> Any:
        """The next `count` items of a student's iterable, as a list."""
        return self._request("take", number_of(handle, self), count)

    def equal(self, one: object, other: object) -> bool:
        """Whether two plain values are equal with equal types; refuses handles."""
        return codec.strictly_equal(one, other)

    def callback(self, function: Callable[..., object]) -> Callback:
        """A function of ours that student code may call."""
        return self._lend(Callback(function, getattr(function, "__name__", "callback")))

    def export(self, target: object, *methods: str) -> Callback:
        """An object of ours of which student code may call these methods."""
        return self._lend(Callback(target, type(target).__name__, methods))

    @property
    def output(self) -> str:
        """What the student's code printed, its first 64 kB."""
        text = bytes(self._channel.printed).decode("utf-8", "replace")
        cut = self._channel.printed_bytes - KEPT_TEXT
        return text + (f"\n... {cut} bytes more were printed" if cut > 0 else "")

    def close(self) -> WorkerGone | None:
        """Ends the worker; gives why it was dead, or what it had said unasked."""
        if not self._closed:
            self._closed = True
            found = self._channel.close()
            self.dead = self.dead or found
            self._reported = self.dead
            self.dead = self.dead or WorkerGone("this worker was closed")
        return self._reported

    def _start(self, scratch: Path | None, memory: int, cpu_seconds: int) -> tuple[str, ...]:
        folder = str(scratch.resolve()) if scratch else None
        operands = self.level, folder, memory, cpu_seconds, self.limits.max_bytes
        try:
            return self._request("start", *operands)
        except (StudentError, WorkerGone, OurFault) as error:
            printed = self.output[-500:]
            with suppress(OurFault):
                self._channel.close()
            self._closed = True
            raise WorkerUnavailable(
                f"asked for a worker of level {self.level}, found {error} {printed}\n"
                "hint: run `runstate-lab doctor`; where there are no walls, grade in a container"
            ) from None

    def _load(self, cells: Iterable[tuple[str, str]]) -> None:
        for source, cell in cells:
            try:
                self._request("load", source, cell)
            except StudentError as error:
                self.failures[cell] = error
            except WorkerGone:
                return  # raised again by the first call that needs the worker

    def _lend(self, callback: Callback) -> Callback:
        self._lent[len(self._lent) + 1] = callback
        return callback

    # -- the wire

    def _call(self, number: int, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        return self._request("call", number, self._encode(list(args)), self._encode(kwargs))

    def _request(self, operation: str, *operands: object) -> Any:
        try:
            return self._ask(operation, *operands)
        except StudentError:
            raise
        except Exception as error:
            # Ours, whatever it is: no test may take it for the exception it waits for.
            self._channel.kill()
            raise OurFault(f"{type(error).__name__} on our side of the wire: {error}") from error

    def _ask(self, operation: str, *operands: object) -> Any:
        if self.dead is not None:
            raise type(self.dead)(*self.dead.args)
        if self._depth == 0 and self._channel.pending():
            self._receive(self.meter.mark())
            self._fail(ProtocolViolation("unasked data before a request"))
        # A name that cannot be guessed: a reply sent ahead of its request fits none.
        nonce = secrets.token_hex(8)
        dropped, self._dropped = self._dropped, []
        mark = self.meter.mark()
        self._channel.send(codec.frame([operation, nonce, dropped, *operands]))
        return self._await(nonce, mark)

    def _await(self, nonce: str, mark: Mark) -> Any:
        while True:
            match self._receive(mark):
                case ["ret", str(found), tree] if found == nonce:
                    return self._decode(tree)
                case ["exc", str(found), *claimed] if found == nonce:
                    self._raise(claimed)
                case ["call", int(number), int(lent), str(method), args, kwargs]:
                    self._answer(number, lent, method, args, kwargs)
                case ["ret" | "exc", *_]:
                    self._fail(ProtocolViolation("a reply to another request"))
                case _:
                    self._fail(ProtocolViolation("a malformed message"))

    def _receive(self, mark: Mark) -> Node:
        try:
            return codec.parse(self._frame(mark))
        except CodecError as error:
            self._fail(ProtocolViolation(str(error)))
        except WorkerGone as gone:
            self._fail(gone)
        except KeyboardInterrupt:
            # The answer may still come; it must not be taken for the next one's.
            self.dead = StudentTimeout("interrupted while it was asked")
            self._channel.kill()
            raise

    def _frame(self, mark: Mark) -> bytes:
        """The next frame, waited for in slices: a late wake-up of ours costs the worker nothing."""
        while True:
            began = time.monotonic()
            found = self._channel.receive(SLICE)
            waited = min(time.monotonic() - began, SLICE)
            self.meter.wait(waited, answered=found is not None)
            if found is not None:
                return found
            gone = self.meter.over(mark)
            if gone is not None and not self._channel.unread():
                raise gone

    def _fail(self, gone: WorkerGone) -> NoReturn:
        self.dead = gone
        self._channel.kill()
        raise gone

    def _raise(self, claimed: list[Node]) -> NoReturn:
        raised = claims.read(claimed)
        if raised is None:
            self._fail(ProtocolViolation("a malformed exception"))
        if raised.type_name == "MemoryError":
            self._fail(OutOfMemory("asked for more memory than the limit"))
        if raised.type_name == "_Missing":
            raise NameMissing(Raised("NameError", message=f"{raised.message} is not defined"))
        if raised.type_name == "_TooMuch":
            raise TooMuch(raised)
        raise student_error(raised)

    def _answer(self, number: int, lent: int, method: str, args: Node, kwargs: Node) -> None:
        callback = self._lent.get(lent)
        if callback is None or (method not in callback.methods if callback.methods else method):
            self._fail(ProtocolViolation("a callback that was not offered"))
        self._callbacks_left -= 1
        if self._callbacks_left < 0 or self._depth >= DEEPEST_CALLS:
            self._fail(ProtocolViolation("too many callbacks"))
        given, named = self._decode(args), self._decode(kwargs)
        if type(given) is not list or type(named) is not dict or {*map(type, named)} - {str}:
            self._fail(ProtocolViolation("malformed callback arguments"))
        function = getattr(callback.target, method) if method else callback.target
        self._depth += 1
        try:
            answer = function(*given, **named)
        except Exception as error:  # the student's code may catch what ours raises
            reply = ["fail", number, *claims.write(error)]
        else:
            reply = ["done", number, self._encode(answer)]
        finally:
            self._depth -= 1
        self._channel.send(codec.frame(reply))

    # -- values

    def _encode(self, value: object) -> Node:
        return codec.encode(value, self._opaque)

    def _opaque(self, value: object) -> Node:
        if type(value) is Handle:
            return ["h", number_of(value, self)]
        if type(value) is Callback:
            for number, lent in self._lent.items():
                if lent is value:
                    return ["k", number, lent.name, list(lent.methods)]
        if type(value) is book().context:
            fields = [getattr(value, name) for name, _ in field_hints(type(value))]
            return ["g", self._token(value), *fields]
        raise TypeError(
            f"asked to send a {type(value).__name__} to the student, found no plain value\n"
            "hint: wrap a function in student.callback(...), an object in student.export(...)"
        )

    def _token(self, context: object) -> int:
        for token, known in self._contexts.items():
            if known is context:
                return token
        self._contexts[len(self._contexts) + 1] = context
        return len(self._contexts)

    def _decode(self, tree: Node) -> Any:
        began = time.thread_time()
        try:
            return codec.decode(tree, self._received, limits=self.limits)
        except codec.TooLarge as error:
            raise TooMuch(Raised("_TooMuch", message=str(error))) from None
        except CodecError as error:
            self._fail(ProtocolViolation(str(error)))
        finally:
            self.meter.read(time.thread_time() - began)

    def _received(self, tag: str, rest: list[Node]) -> object:
        match tag, rest:
            case "h", [int(number), str(kind), str(name)] if kind in KINDS and len(name) < 100:
                return Handle(self, number, kind, name)
            case "g", [int(token)] if token in self._contexts:
                return self._contexts[token]
        raise CodecError("an unknown tag")
