"""Grading. The pipes to one worker: frames out, frames in, and its printed text.

Three threads move bytes, so that the asking side never waits longer than its
deadline: one writes, one reads frames, one keeps the first part of what the
student printed. Pipes and threads work alike on every system.

What is not here: what the frames mean (see `proxy`).
"""

from __future__ import annotations

import io
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from runstate_lab.grading.codec import HEADER, Limits
from runstate_lab.grading.faults import (
    OurFault,
    ProtocolViolation,
    StudentDied,
    StudentTimeout,
    WorkerGone,
)

WORKER = Path(__file__).with_name("worker.py")
# -I would also ignore the hash seed, which a repeatable grade needs; these
# flags and an environment of our own leave nothing else open. -S: no packages.
FLAGS = ("-s", "-P", "-S", "-X", "utf8")
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
}
INHERITED = ("SYSTEMROOT",)  # Windows starts no Python without it
KEPT_TEXT = 64 << 10
MOST_TEXT = 64 << 20
MOST_UNREAD = 8
SURELY_FITS = 512
LEFT_BEHIND_SECONDS = 5.0


class Channel:
    """One worker process with its pipes; killed with its whole group."""

    def __init__(self, limits: Limits, *, scratch: Path | None = None) -> None:
        self.limits = limits
        self.printed = bytearray()
        self.printed_bytes = 0
        self.scratch = scratch
        self._own_folder = None if scratch else _empty_folder()
        folder = str(scratch) if scratch else self._own_folder.name  # type: ignore[union-attr]
        self._process = _start(folder)
        self._ready = _poll(self._process.stdin, "POLLOUT")  # type: ignore[arg-type]
        self._full = _poll(self._process.stdout, "POLLIN")  # type: ignore[arg-type]
        self._killed = False
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: queue.SimpleQueue[bytes | WorkerGone | OurFault] = queue.SimpleQueue()
        self._unread = threading.Semaphore(MOST_UNREAD)
        threads = (self._write_frames, self._read_frames, self._keep_text)
        self._threads = [threading.Thread(target=one, daemon=True) for one in threads]
        for thread in self._threads:
            thread.start()

    def send(self, frame: bytes) -> None:
        """Nothing: the frame is on its way, also if the worker never reads it."""
        if len(frame) <= SURELY_FITS and self._ready is not None and self._ready.poll(0):
            try:
                self._process.stdin.write(frame)  # type: ignore[union-attr]
            except OSError:
                return  # the worker is dead; the reading side says so
        else:
            self._outgoing.put(frame)

    @property
    def process(self) -> int:
        """The number of the worker's process."""
        return self._process.pid

    def receive(self, seconds: float) -> bytes | None:
        """The body of the next frame, None where none came; raises why none will."""
        try:
            found = self._incoming.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            return None
        if isinstance(found, WorkerGone | OurFault):
            self._incoming.put(found)
            raise self._explained(found) if isinstance(found, WorkerGone) else found
        self._unread.release()
        return found

    def pending(self) -> bool:
        """Whether the worker said something that nobody asked for."""
        return not self._incoming.empty()

    def unread(self) -> bool:
        """Whether the worker has said something that our side has yet to take."""
        if self.pending():
            return True
        try:
            return bool(self._full and self._full.poll(0))
        except OSError:
            return False

    def kill(self) -> None:
        """Ends the worker and every process of its group, at once."""
        if self._killed:
            return  # the group's number may be somebody else's by now
        self._killed = True
        try:
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()

    def close(self) -> WorkerGone | None:
        """What the worker had said unasked before it was ended, if anything."""
        self.kill()
        self._outgoing.put(None)
        left = self._left_behind()
        if self._own_folder is not None:
            self._own_folder.cleanup()
        if left:
            return ProtocolViolation("a process was left behind")
        for thread in self._threads:
            thread.join()
        found = self._incoming.get()
        if isinstance(found, OurFault):
            raise found
        if not isinstance(found, WorkerGone):
            return ProtocolViolation("unasked data after the last reply")
        return found if isinstance(found, ProtocolViolation) else None

    def _left_behind(self) -> bool:
        """Whether somebody holds the pipes although the worker is dead.

        A thread of ours that only waits for a processor finds its pipe ended:
        that is told apart, or a busy machine would look like a process.
        """
        until = time.monotonic() + LEFT_BEHIND_SECONDS
        while any(thread.is_alive() for thread in self._threads):
            for thread in self._threads:
                thread.join(timeout=0.05)
            held = any(map(_still_open, (self._process.stdout, self._process.stderr)))
            if held and time.monotonic() > until:
                return True
        return False

    def _explained(self, gone: WorkerGone) -> WorkerGone:
        # The pipe ends a moment before the process does; its status says why.
        if type(gone) is not StudentDied:
            return gone
        if self.printed_bytes > MOST_TEXT:
            return StudentDied(f"printed more than {MOST_TEXT >> 20} MB")
        try:
            status = self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            return StudentDied("closed the channel before it answered")
        if status == -getattr(signal, "SIGXCPU", 0):
            return StudentTimeout("used up its processor time")
        if status < 0:
            return StudentDied(f"ended by {_signal_name(-status)} before it answered")
        return StudentDied(f"ended with exit status {status} before it answered")

    def _write_frames(self) -> None:
        stream = self._process.stdin
        try:
            while (frame := self._outgoing.get()) is not None:
                view = memoryview(frame)
                while view:
                    view = view[stream.write(view) :]  # type: ignore[union-attr]
        except OSError:
            return  # the worker is dead; the reading side says so
        finally:
            stream.close()  # type: ignore[union-attr]

    def _read_frames(self) -> None:
        try:
            self._read_all()
        except Exception as error:  # a thread that dies silently would look like a slow answer
            self._incoming.put(OurFault(f"the reading thread failed: {type(error).__name__}"))

    def _read_all(self) -> None:
        with io.BufferedReader(self._process.stdout) as stream:  # type: ignore[arg-type]
            while True:
                found = self._frame(stream)
                if not self._unread.acquire(blocking=False):
                    found = ProtocolViolation(f"more than {MOST_UNREAD} messages unasked")
                self._incoming.put(found)
                if isinstance(found, WorkerGone):
                    return

    def _frame(self, stream: IO[bytes]) -> bytes | WorkerGone:
        header = stream.read(HEADER.size)
        if not header:
            return StudentDied("closed the channel")
        if len(header) < HEADER.size:
            return ProtocolViolation("the channel ended within a frame")
        (size,) = HEADER.unpack(header)
        if size > self.limits.max_bytes:
            return ProtocolViolation(f"a frame of {size} bytes, limit {self.limits.max_bytes}")
        body = stream.read(size)
        if len(body) < size:
            return ProtocolViolation("the channel ended within a frame")
        return body

    def _keep_text(self) -> None:
        with self._process.stderr as stream:  # type: ignore[union-attr]
            while chunk := stream.read(1 << 16):
                room = KEPT_TEXT - len(self.printed)
                self.printed += chunk[: max(room, 0)]
                self.printed_bytes += len(chunk)
                if self.printed_bytes > MOST_TEXT:
                    self._process.kill()
                    return


def _poll(stream: IO[bytes], event: str) -> select.poll | None:
    # A pipe that polls as writable takes a small frame at once, which saves the
    # way through a thread; where pipes cannot be polled the thread does it all.
    if not hasattr(select, "poll"):
        return None
    ready = select.poll()
    ready.register(stream, getattr(select, event))
    return ready


def _still_open(stream: IO[bytes] | None) -> bool:
    """Whether the other end of a pipe is in somebody's hands."""
    if not hasattr(select, "poll"):
        return stream is not None and not stream.closed
    try:
        ended = select.poll()
        ended.register(stream, 0)  # type: ignore[arg-type]
        return not ended.poll(0)
    except (OSError, ValueError):
        return False


def _signal_name(number: int) -> str:
    # Real-time signals have numbers and no names.
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _start(folder: str) -> subprocess.Popen[bytes]:
    environment = ENVIRONMENT | {"HOME": folder} | _inherited(os.environ)
    return subprocess.Popen(
        [sys.executable, *FLAGS, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def _empty_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="worker-", ignore_cleanup_errors=True)


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in INHERITED if name in environment}
