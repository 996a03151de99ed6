"""Grading. What our side plants for the probe to attack, and takes away again.

Files, a port, a local socket, shared memory, a semaphore and two queues: each
really ours while the probe runs, so that "closed" was tried out.

What is not here: the attacks (see `probe`), and what they tell (see `isolation`).
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import socket
import struct
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PRIVATE, CREATE, REMOVE, SET_VALUE = 0, 0o1600, 0, 16
NO_NUMBER = -1  # this system has no such thing: nothing to reach


@contextmanager
def planted(hidden: Path | None, *, readable: Path) -> Generator[dict[str, object], None, None]:
    """The canaries while they stand, as plain values to hand to the probe.

    `hidden` is the folder of the held-back tests, `readable` a file of ours
    that every worker may read.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-")))
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        name = f"canary_{secrets.token_hex(8)}.py"
        paths = stack.enter_context(_hidden(hidden or folder, name))
        existing = folder / "existing"
        existing.write_bytes(b"c" * (1 + secrets.randbelow(4096)))
        targets = {
            "hidden": [str(path) for path in paths],
            "process": os.getpid(),
            "port": server.getsockname()[1],
            "folder": str(folder),
            "outside": str(folder / "outside"),
            "existing": str(existing),
            "size": existing.stat().st_size,
            "readable": str(readable),
            **stack.enter_context(_numbered()),
        }
        if hasattr(socket, "AF_UNIX") and sys.platform == "linux":
            stack.enter_context(_local_socket(folder))
        yield targets


@contextmanager
def _hidden(folder: Path, name: str) -> Generator[list[Path], None, None]:
    """The held-back files to aim at: one of ours, and the real ones beside it."""
    real = sorted(folder.rglob("test_*.py"))[:3]
    canary = folder / name
    try:
        canary.write_text(json.dumps("canary"), encoding="utf-8")
    except OSError:
        if not real:
            raise
        yield real
        return
    try:
        yield [canary, *real]
    finally:
        canary.unlink(missing_ok=True)


@contextmanager
def _local_socket(folder: Path) -> Generator[None, None, None]:
    # By the folder's descriptor: a path in a deep folder is too long for a socket.
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
            one.bind(f"/proc/self/fd/{place}/socket")
            yield
    finally:
        os.close(place)


@contextmanager
def _numbered() -> Generator[dict[str, object], None, None]:
    """What is reached by a number, or by a name that is no path: System V and POSIX."""
    name = f"/canary-{secrets.token_hex(8)}"
    found: dict[str, object] = dict.fromkeys(("segment", "semaphore", "messages"), NO_NUMBER)
    if sys.platform != "linux":
        yield {**found, "queue": ""}
        return
    system = ctypes.CDLL(None, use_errno=True)
    segment = system.shmget(PRIVATE, 4096, CREATE)
    semaphore = system.semget(PRIVATE, 1, CREATE)
    messages = system.msgget(PRIVATE, CREATE)
    queue = system.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    try:
        if semaphore >= 0:
            system.semctl(semaphore, 0, SET_VALUE, 1)
        if messages >= 0:
            system.msgsnd(messages, struct.pack("l8s", 1, b"canary"), 8, 0)
        yield {"segment": segment, "semaphore": semaphore, "messages": messages, "queue": name}
    finally:
        system.shmctl(segment, REMOVE, None)
        system.semctl(semaphore, 0, REMOVE)
        system.msgctl(messages, REMOVE, None)
        if queue >= 0:
            os.close(queue)
            system.mq_unlink(name.encode())
