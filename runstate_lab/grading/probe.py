"""Grading. The cell that attacks the canaries, run in a worker like any answer.

Each attack tries every way it knows; it returns False only where all failed.
What is not here: the canaries (see `isolation`).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any


def attack(name: str, targets: dict[str, Any]) -> bool:
    """Whether at least one way to this canary is open.

    >>> attack("read hidden tests", {"hidden": ["/no/such/file"]})
    False
    """
    return any(_works(way, targets) for way in WAYS[name])


def size_of(targets: dict[str, Any]) -> int:
    """The size of a file of ours, seen by its path; no wall of ours closes that."""
    return os.stat(targets["existing"]).st_size


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


def _signal_by_owner(targets: dict[str, Any]) -> object:
    import fcntl

    # What happens at this end is told to the owner, by the signal that was chosen.
    end = os.pipe()[0]
    return fcntl.fcntl(end, fcntl.F_SETOWN, targets["process"]) == 0


def _limit(targets: dict[str, Any]) -> object:
    import resource

    # The limits are set to what they are: the grader is only shown to be in reach.
    limit = resource.RLIMIT_NOFILE
    found = resource.prlimit(targets["process"], limit)
    return resource.prlimit(targets["process"], limit, found)


def _priority(targets: dict[str, Any]) -> object:
    found = os.getpriority(os.PRIO_PROCESS, targets["process"])
    return os.setpriority(os.PRIO_PROCESS, targets["process"], found)


def _processors(targets: dict[str, Any]) -> object:
    return os.sched_setaffinity(targets["process"], os.sched_getaffinity(targets["process"]))


def _schedule(targets: dict[str, Any]) -> object:
    process = targets["process"]
    return os.sched_setscheduler(process, os.sched_getscheduler(process), os.sched_param(0))


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


def _send_by_path(targets: dict[str, Any]) -> object:
    # A pair may be made without socket(); its ends can send to other addresses.
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.chdir(targets["folder"])
    return one.sendto(b"canary", "socket")


def _send_message_by_path(targets: dict[str, Any]) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.chdir(targets["folder"])
    return one.sendmsg([b"canary"], [], 0, "socket")


def _connect_by_path(targets: dict[str, Any]) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.chdir(targets["folder"])
    return one.connect("socket")


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


def _lock_memory(targets: dict[str, Any]) -> object:
    place = ctypes.create_string_buffer(1)
    return ctypes.CDLL(None).mlock(place, 1) == 0


def _locked_pages(targets: dict[str, Any]) -> object:
    return mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x2000)  # MAP_LOCKED


def _long_pipe(targets: dict[str, Any]) -> object:
    import fcntl

    return fcntl.fcntl(os.pipe()[0], fcntl.F_SETPIPE_SZ, 1 << 18)


def _shared_memory(targets: dict[str, Any]) -> object:
    library = ctypes.CDLL(None)
    library.shmat.restype = ctypes.c_void_p
    found = library.shmat(targets["segment"], None, 0)
    return found is not None and ctypes.c_long(found).value != -1


def _own_shared_memory(targets: dict[str, Any]) -> object:
    library = ctypes.CDLL(None)
    number = library.shmget(0, 4096, 0o1600)
    return number >= 0 and library.shmctl(number, 0, None) == 0


def _semaphore(targets: dict[str, Any]) -> object:
    step = struct.pack("hhh", 0, 1, 0)
    return ctypes.CDLL(None).semop(targets["semaphore"], step, 1) == 0


def _semaphore_value(targets: dict[str, Any]) -> object:
    return ctypes.CDLL(None).semctl(targets["semaphore"], 0, 12) >= 0  # GETVAL


def _message(targets: dict[str, Any]) -> object:
    return ctypes.CDLL(None).msgsnd(targets["messages"], struct.pack("l8s", 1, b"x"), 8, 0) == 0


def _read_message(targets: dict[str, Any]) -> object:
    found = ctypes.create_string_buffer(16)
    return ctypes.CDLL(None).msgrcv(targets["messages"], found, 8, 0, 0o4000) >= 0


def _queue(targets: dict[str, Any]) -> object:
    return ctypes.CDLL(None).mq_open(targets["queue"].encode(), os.O_RDWR) >= 0


def _reached(targets: dict[str, Any]) -> int:
    """One of our files, open: the planted one, or one that each worker may read."""
    try:
        return os.open(targets["existing"], os.O_RDONLY)
    except OSError:
        return os.open(targets["readable"], os.O_RDONLY)


def _lock(targets: dict[str, Any]) -> object:
    import fcntl

    return fcntl.flock(_reached(targets), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_a_range(targets: dict[str, Any]) -> object:
    import fcntl

    return fcntl.lockf(_reached(targets), fcntl.LOCK_SH | fcntl.LOCK_NB)


def _lease(targets: dict[str, Any]) -> object:
    import fcntl

    return fcntl.fcntl(_reached(targets), fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0


def _flags(targets: dict[str, Any]) -> object:
    import fcntl

    # FS_IOC_GETFLAGS, then FS_IOC_SETFLAGS to what they are.
    file, found = _reached(targets), bytearray(8)
    fcntl.ioctl(file, 0x80086601, found)
    return fcntl.ioctl(file, 0x40086602, found) == 0


def _blocks(targets: dict[str, Any]) -> object:
    import fcntl

    return fcntl.ioctl(_reached(targets), 2, bytearray(8)) == 0  # FIGETBSZ


def _attributes(targets: dict[str, Any]) -> object:
    return os.listxattr(targets["existing"])


def _watch(targets: dict[str, Any]) -> object:
    library = ctypes.CDLL(None, use_errno=True)
    news = library.inotify_init()
    if news < 0:
        return ctypes.get_errno() == 24  # allowed, but this user has too many already
    return library.inotify_add_watch(news, targets["existing"].encode(), 1) >= 0


def _notice(targets: dict[str, Any]) -> object:
    import fcntl

    folder = os.open(os.path.dirname(targets["readable"]), os.O_RDONLY)
    return fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS) == 0


def _stop(targets: dict[str, Any]) -> object:
    # Ignored, so that the probe goes on where the signal is allowed.
    before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        return signal.raise_signal(signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)


def _timer(targets: dict[str, Any]) -> object:
    # A timer of its own may send any signal, SIGSTOP too; this one never runs.
    if sys.platform != "linux":
        return False
    event, number = struct.pack("qii48x", 0, signal.SIGSTOP, 0), ctypes.c_int()
    return ctypes.CDLL(None).syscall(222, 1, event, ctypes.byref(number)) == 0


def _outlive(targets: dict[str, Any]) -> object:
    return ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0  # PR_SET_PDEATHSIG


def _hide(targets: dict[str, Any]) -> object:
    library = ctypes.CDLL(None)
    hidden = library.prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
    library.prctl(4, 1, 0, 0, 0)
    return hidden


def _flush(targets: dict[str, Any]) -> object:
    # Of no file: where syncfs is allowed it answers EBADF, and no disk is stalled.
    library = ctypes.CDLL(None, use_errno=True)
    library.syncfs(-1)
    return ctypes.get_errno() == 9


def _forget_pages(targets: dict[str, Any]) -> object:
    return os.posix_fadvise(_reached(targets), 0, 0, os.POSIX_FADV_DONTNEED)


def _other_clock(targets: dict[str, Any]) -> object:
    clock = ctypes.c_int()
    found = ctypes.CDLL(None).clock_getcpuclockid(targets["process"], ctypes.byref(clock))
    return found == 0


WAYS: dict[str, tuple[Callable[[dict[str, Any]], object], ...]] = {
    "read hidden tests": (_read_hidden, _list_hidden),
    "read the grader's memory": (_memory, _ptrace),
    "read the grader's environment": (_environment, _arguments),
    "signal the grader": (_signal, _signal_thread, _signal_by_owner),
    "limit or slow the grader": (_limit, _priority, _processors, _schedule),
    "clock of the grader": (_other_clock,),
    "tcp": (_tcp, _tcp_listen),
    "udp": (_udp, _local_socket),
    "sockets by path": (_send_by_path, _send_message_by_path, _connect_by_path),
    "start a process": (_fork,),
    "run a program": (_program, _replace_itself),
    "write outside its folder": (_write, _change_mode, _change_time),
    "too much memory": (_allocate, _allocate_file),
    "memory that no limit counts": (_lock_memory, _locked_pages, _long_pipe),
    "shared memory by number": (_shared_memory, _own_shared_memory),
    "semaphores by number": (_semaphore, _semaphore_value),
    "messages by number or name": (_message, _read_message, _queue),
    "lock a file of ours": (_lock, _lock_a_range, _lease),
    "flags of a file of ours": (_flags, _blocks, _attributes),
    "watch a file of ours": (_watch, _notice),
    "stop or hide itself": (_stop, _timer, _outlive, _hide),
    "disk and caches of all": (_flush, _forget_pages),
}
