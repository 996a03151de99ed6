"""Grading. The cell that attacks the canaries, run in a worker like any answer.

Each attack tries every way it knows; it returns False only where all failed.
What is not here: the canaries (see `isolation`).
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Callable
from typing import Any


def attack(name: str, targets: dict[str, Any]) -> bool:
    """Whether at least one way to this canary is open.

    >>> attack("read hidden tests", {"hidden": ["/no/such/file"]})
    False
    """
    return any(_works(way, targets) for way in WAYS[name])


def _works(way: Callable[[dict[str, Any]], object], targets: dict[str, Any]) -> bool:
    try:
        return way(targets) is not False
    except BaseException:  # closed is whatever keeps the attack from its aim
        return False


def _read_hidden(targets: dict[str, Any]) -> object:
    return any(_works(_read, {"path": path}) for path in targets["hidden"])


def _read(targets: dict[str, Any]) -> object:
    return open(targets["path"], "rb").read(1)


def _list_hidden(targets: dict[str, Any]) -> object:
    return os.listdir(os.path.dirname(targets["hidden"][0]))


def _memory(targets: dict[str, Any]) -> object:
    return open(f"/proc/{targets['process']}/mem", "rb")


def _ptrace(targets: dict[str, Any]) -> object:
    library = ctypes.CDLL(None)
    attached = library.ptrace(0x4206, targets["process"], 0, 0)  # PTRACE_SEIZE stops nobody
    if attached == 0:
        library.ptrace(17, targets["process"], 0, 0)
    return attached == 0


def _environment(targets: dict[str, Any]) -> object:
    return open(f"/proc/{targets['process']}/environ", "rb").read(1)


def _arguments(targets: dict[str, Any]) -> object:
    return open(f"/proc/{targets['process']}/cmdline", "rb").read(1)


def _signal(targets: dict[str, Any]) -> object:
    return os.kill(targets["process"], 0)


def _signal_thread(targets: dict[str, Any]) -> object:
    if sys.platform != "linux":
        return False
    process = targets["process"]
    return ctypes.CDLL(None).syscall(234, process, process, 0) == 0


def _limit_grader(targets: dict[str, Any]) -> object:
    import resource

    limit = resource.RLIMIT_NOFILE
    found = resource.prlimit(targets["process"], limit)
    return resource.prlimit(targets["process"], limit, found)


def _tcp(targets: dict[str, Any]) -> object:
    with socket.create_connection(("127.0.0.1", targets["port"]), 1):
        return True


def _tcp_listen(targets: dict[str, Any]) -> object:
    with socket.create_server(("127.0.0.1", 0)):
        return True


def _udp(targets: dict[str, Any]) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"canary", ("127.0.0.1", targets["port"]))


def _local_socket(targets: dict[str, Any]) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM):
        return True


def _fork(targets: dict[str, Any]) -> object:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _program(targets: dict[str, Any]) -> object:
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-V"], {}), 0)
    return True


def _replace_itself(targets: dict[str, Any]) -> object:
    # Arguments that cannot be read: where exec is allowed it answers EFAULT.
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    library.execve(b"/", None, None)
    return ctypes.get_errno() != 1


def _write(targets: dict[str, Any]) -> object:
    with open(targets["outside"], "w") as file:
        return file.write("canary")


def _change_mode(targets: dict[str, Any]) -> object:
    return os.chmod(targets["existing"], 0o644)


def _change_time(targets: dict[str, Any]) -> object:
    return os.utime(targets["existing"])


def _allocate(targets: dict[str, Any]) -> object:
    return len(bytearray(targets["memory"]))


def _allocate_file(targets: dict[str, Any]) -> object:
    return os.memfd_create("canary")


WAYS: dict[str, tuple[Callable[[dict[str, Any]], object], ...]] = {
    "read hidden tests": (_read_hidden, _list_hidden),
    "read the grader's memory": (_memory, _ptrace),
    "read the grader's environment": (_environment, _arguments),
    "signal the grader": (_signal, _signal_thread, _limit_grader),
    "tcp": (_tcp, _tcp_listen),
    "udp": (_udp, _local_socket),
    "start a process": (_fork,),
    "run a program": (_program, _replace_itself),
    "write outside its folder": (_write, _change_mode, _change_time),
    "too much memory": (_allocate, _allocate_file),
}
