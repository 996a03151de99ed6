"""Grading. The untrusted side: a process that holds the answer cells.

It imports the book, builds its walls, and only then runs a student's cell;
from that moment nothing it says is believed. Requests come in over what was
stdin, answers leave over what was stdout; what the student prints goes to a
third pipe. Run as a program by `channel`, never imported by the grader.

    start level, scratch, limits -> the walls that stand
    load source, cell id         -> nothing
    name name | get handle, name | call handle, args, kwargs | take handle, count

What is not here: any expected value, any verdict, any test.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # The checkout is on the path only until the kit is imported: tests lie in it.
    sys.path.insert(0, str(LIBRARY.parent))

from runstate_lab.grading import claims, codec, confine, surroundings  # noqa: E402
from runstate_lab.grading.faults import Raised  # noqa: E402
from runstate_lab.grading.nouns import book  # noqa: E402

TRUSTING = codec.Limits(1 << 30, 200, 10_000_000, 1 << 20)


class Worker:
    """One worker: its pipes, the student's names, and what crossed by handle."""

    def __init__(self, inbox: int, outbox: int) -> None:
        self.inbox = inbox
        self.outbox = outbox
        self.limits = codec.Limits()
        self.module = types.ModuleType("__main__")
        self.handles: dict[int, object] = {}
        self.crossings = 0
        self.questions = 0
        self.callbacks: dict[int, object] = {}
        self.future = 0
        self.contexts: dict[int, object] = {}
        self.operations: dict[str, Callable[..., object]] = {
            "start": self.start,
            "load": self.load,
            "name": self.name,
            "get": lambda handle, name: getattr(self.handles[handle], name),
            "call": self.call,
            "take": lambda handle, count: list(islice(self.handles[handle], count)),
        }

    def serve(self) -> None:
        """Answers one request after the other until the pipe ends."""
        while True:
            self.answer(self.receive())

    def answer(self, request: list[Any]) -> None:
        """Sends the outcome of one request: a value, or what was raised."""
        operation, nonce, dropped, *operands = request
        for handle in dropped:
            self.handles.pop(handle, None)
        try:
            reply = ["ret", nonce, self.encode(self.operations[operation](*operands))]
            frame = codec.frame(reply)
            if len(frame) > self.limits.max_bytes:
                found, limit = len(frame), self.limits.max_bytes
                raise _TooMuch(f"a value of {found} bytes, limit {limit}")
        except BaseException as error:  # whatever a student raises is an answer
            frame = codec.frame(["exc", nonce, *claims.told(error)])
        self.send(frame)

    def start(
        self, level: str, scratch: str | None, memory: int, cpu_seconds: int, max_bytes: int
    ) -> tuple[str, ...]:
        """The walls that stand, before any student code is here."""
        self.limits = codec.Limits(max_bytes=max_bytes)
        book()
        surroundings.die_with_parent()
        surroundings.prepare(self.module)
        walls = confine.limit_resources(memory=memory, cpu_seconds=cpu_seconds)
        if level == "none":
            return walls
        writable = [scratch] if scratch else []
        return confine.confine(confine.readable_paths(LIBRARY), writable) + walls

    def load(self, source: str, cell: str) -> None:
        """Runs one cell in the namespace that all cells share, as a notebook does."""
        sys.modules["__main__"] = self.module
        file_name = f"<cell {cell}>"
        linecache.cache[file_name] = (len(source), None, source.splitlines(True), file_name)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self.future
        code = compile(source, file_name, "exec", flags, dont_inherit=True)
        # A notebook keeps `from __future__ import ...` for the cells that follow.
        self.future |= code.co_flags & surroundings.FUTURE
        waiting = eval(code, self.module.__dict__)
        if inspect.iscoroutine(waiting):
            import asyncio  # late: starting a worker must not wait for it

            asyncio.run(waiting)

    def name(self, name: str) -> object:
        """What the cells call by this name."""
        if name not in self.module.__dict__:
            raise _Missing(name)
        return self.module.__dict__[name]

    def call(self, handle: int, args: codec.Node, kwargs: codec.Node) -> object:
        """What the student's callable returns."""
        arguments, named = self.decode(args), self.decode(kwargs)
        return self.handles[handle](*arguments, **named)  # type: ignore[operator]

    def ask(self, callback: int, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a trusted function answers; requests that it makes are served meanwhile."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("only the main thread may call what the test handed in")
        self.questions += 1
        number = self.questions
        arguments = (self.encode(list(args)), self.encode(dict(kwargs)))
        self.send(codec.frame(["call", number, callback, method, *arguments]))
        while True:
            message = self.receive()
            if message[0] == "done" and message[1] == number:
                return self.decode(message[2])
            if message[0] == "fail" and message[1] == number:
                raise claims.rebuilt(claims.read(message[2:]) or Raised("RuntimeError"))
            self.answer(message)

    def encode(self, value: object) -> codec.Node:
        """The tree of a value; what is not plain crosses as a handle."""
        return codec.encode(value, self.opaque)

    def opaque(self, value: object) -> codec.Node:
        """A handle of its own for each crossing: a shared one is dropped too early."""
        for token, context in self.contexts.items():
            if context is value:
                return ["g", token]
        self.crossings += 1
        self.handles[self.crossings] = value
        return ["h", self.crossings, _kind(value), type(value).__name__[:80]]

    def decode(self, tree: codec.Node) -> Any:
        """The value of a tree that the grader sent."""
        return codec.decode(tree, self.received, limits=TRUSTING)

    def received(self, tag: str, rest: list[Any]) -> object:
        """What the grader's handles, contexts and callbacks stand for here."""
        if tag == "h":
            return self.handles[rest[0]]
        if tag == "g":
            return self.given_context(*rest)
        if tag == "k":
            return self.given_callback(*rest)
        raise codec.CodecError("an unknown tag")

    def given_context(self, token: int, *fields: object) -> object:
        """The one object that stands for the grader's context, each time the same."""
        if token not in self.contexts:
            self.contexts[token] = book().context(*fields)
        return self.contexts[token]

    def given_callback(self, number: int, name: str, methods: list[str]) -> object:
        """A function, or an object with these methods, answered by the grader."""
        if number not in self.callbacks:
            if methods:
                stand_in = types.SimpleNamespace(
                    **{one: self.asking(number, one, one) for one in methods}
                )
            else:
                stand_in = self.asking(number, "", name)  # type: ignore[assignment]
            self.callbacks[number] = stand_in
        return self.callbacks[number]

    def asking(self, number: int, method: str, name: str) -> Callable[..., object]:
        """A function of this name that asks the grader."""

        def asked(*args: object, **kwargs: object) -> object:
            return self.ask(number, method, args, kwargs)

        asked.__name__ = asked.__qualname__ = name
        return asked

    def receive(self) -> list[Any]:
        """The next message; the process ends with the pipe."""
        (size,) = codec.HEADER.unpack(self.exactly(codec.HEADER.size))
        return codec.parse(self.exactly(size))  # type: ignore[return-value]

    def exactly(self, size: int) -> bytes:
        """So many bytes from the grader."""
        found = bytearray()
        while len(found) < size:
            chunk = os.read(self.inbox, min(size - len(found), 1 << 16))
            if not chunk:
                os._exit(0)
            found += chunk
        return bytes(found)

    def send(self, frame: bytes) -> None:
        """Sends all the bytes of one frame."""
        view = memoryview(frame)
        while view:
            view = view[os.write(self.outbox, view) :]


class _Missing(NameError):
    """The cells define no such name."""


class _TooMuch(codec.CodecError):
    """The reply is longer than the grader reads."""


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "class"
    if isinstance(value, Generator):
        return "generator"
    if callable(value):
        return "callable"
    return "iterator" if isinstance(value, Iterator) else "object"


def _pipes() -> tuple[int, int]:
    inbox, outbox = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return inbox, outbox


def main() -> None:
    """Serves one grader until its pipe ends."""
    sys.path.remove(str(LIBRARY.parent))
    Worker(*_pipes()).serve()


if __name__ == "__main__":
    main()
