"""Grading. The walls a worker puts around itself, with nothing but ctypes.

Four walls, all of them in the kernel: resource limits, no new privileges (and
no old ones), Landlock for files, seccomp for system calls. They need no root
and no user namespace, and they cannot be taken down again. Python-level tricks
do not matter behind them.

What is not here: proof. `isolation` measures what is closed; this module only
says what it asked for, and refuses where the kernel lacks it. Which system calls
a worker may make is in `calls`. The numbers are those of x86_64 Linux; elsewhere
there are no walls, as `missing` tells and `Unconfinable` says.
"""

from __future__ import annotations

import ctypes
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from runstate_lab.grading import calls

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, SIGKILL = 1, 38, 9
CAPSET, SECCOMP, LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 126, 317, 444, 445, 446
CAPABILITY_VERSION = 0x20080522

# Landlock rights: the bit for each, and the version that first knew the late ones.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_CHAR, MAKE_BLOCK = 1, 2, 4, 8, 1 << 6, 1 << 11
FIRST_RIGHTS = (1 << 13) - 1
LATER_RIGHTS = {1 << 13: 2, 1 << 14: 3, 1 << 15: 5}  # refer, truncate, device ioctl
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
TCP, TCP_SINCE = 3, 4
SCOPES, SCOPES_SINCE = 3, 6  # abstract sockets, signals

SYSTEM_FILES = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/zero",
    "/dev/urandom",
)

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, ANSWER = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL, NOT_PERMITTED, NOT_KNOWN = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
X86_64, X32_BIT = 0xC000003E, 0x40000000
Instruction = tuple[int, int, int, int]


class Unconfinable(OSError):
    """This system cannot build a wall that the level asks for."""


def limit_resources(*, memory: int, cpu_seconds: int) -> tuple[str, ...]:
    """The limits that hold now; nothing where the system has none."""
    try:
        import resource
    except ImportError:
        return ()
    table = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: 16 << 20,
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0,
    }
    # Memory that no other limit counts: locked pages and message queues.
    later = (getattr(resource, name, None) for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE"))
    table |= {limit: 0 for limit in later if limit is not None}
    for limit, value in table.items():
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At the hard limit of processor time no word is left; a second later it is SIGKILL.
        spare = limit == resource.RLIMIT_CPU and (hard == resource.RLIM_INFINITY or value < hard)
        resource.setrlimit(limit, (value, value + spare))
    return ("rlimits",)


def confine(readable: Iterable[str], writable: Iterable[str]) -> tuple[str, ...]:
    """The walls that stand from now on around this process, for good.

    Call it once, with one thread, after everything trusted is imported.
    """
    lacking = missing()
    if lacking:
        raise Unconfinable(lacking)
    kernel = ctypes.CDLL(None, use_errno=True)
    for option, value in ((PR_SET_PDEATHSIG, SIGKILL), (PR_SET_NO_NEW_PRIVS, 1)):
        if kernel.prctl(option, value, 0, 0, 0):
            raise Unconfinable(f"this kernel does not take prctl {option}")
    _drop_capabilities(kernel)
    folders = [*writable]
    version = _landlock(kernel, [*readable], folders)
    _seccomp(kernel, assemble(os.getpid(), scratch=bool(folders)))
    return (f"landlock {version}", "seccomp", "no_new_privs")


def missing() -> str:
    """What this system lacks for the walls, in a few words; empty where nothing is seen.

    The seccomp filter can only be tried by building it, which cannot be undone.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"no walls are known for {sys.platform} on {platform.machine()}"
    return "" if landlock_version() else "this kernel has no Landlock, or it is switched off"


def landlock_version() -> int:
    """The kernel's Landlock version, 0 where it has none."""
    if sys.platform != "linux":
        return 0
    kernel = ctypes.CDLL(None, use_errno=True)
    return max(kernel.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1), 0)


def readable_paths(library: Path) -> tuple[str, ...]:
    """What a worker may read: Python's own modules, shared libraries, the kit.

    Never the checkout around the kit: tests and solutions lie beside it.
    """
    python = (os.path.dirname(os.__file__), os.path.join(sys.base_exec_prefix, "lib"))
    return tuple(dict.fromkeys((*python, *SYSTEM_FILES, str(library))))


def assemble(process: int, *, scratch: bool = False) -> list[Instruction]:
    """The seccomp filter's program; `process` is the one that may signal itself.

    >>> program = assemble(1)
    >>> program[0], program[-1]
    ((32, 0, 0, 4), (6, 0, 0, 327681))
    """
    program: list[Instruction] = [
        (LOAD, 0, 0, 4), (JUMP_EQUAL, 1, 0, X86_64), (ANSWER, 0, 0, KILL),
        (LOAD, 0, 0, 0), (JUMP_AT_LEAST, 0, 1, X32_BIT), (ANSWER, 0, 0, KILL),
    ]  # fmt: skip
    guards = calls.guards(process, scratch)
    for number in dict.fromkeys(guard.number for guard in guards):
        program += _guarded(number, [guard for guard in guards if guard.number == number])
    for number in sorted(calls.allowed(scratch)):
        program += [(JUMP_EQUAL, 0, 1, number), (ANSWER, 0, 0, ALLOW)]
    for number in calls.ABSENT.values():
        program += [(JUMP_EQUAL, 0, 1, number), (ANSWER, 0, 0, NOT_KNOWN)]
    none = calls.NO_CALLS
    program += [
        (JUMP_AT_LEAST, 0, 2, none.start), (JUMP_AT_LEAST, 1, 0, none.stop),
        (ANSWER, 0, 0, NOT_KNOWN),
        (JUMP_AT_LEAST, 0, 1, calls.NEWEST_KNOWN + 1), (ANSWER, 0, 0, NOT_KNOWN),
    ]  # fmt: skip
    return [*program, (ANSWER, 0, 0, NOT_PERMITTED)]


def _guarded(number: int, guards: Iterable[calls.Guard]) -> list[Instruction]:
    """The call's own part of the filter: its arguments are looked at, then it is allowed."""
    refuse, block = (ANSWER, 0, 0, NOT_PERMITTED), list[Instruction]()
    for guard in guards:
        low = 16 + 8 * guard.argument
        block.append((LOAD, 0, 0, low))
        for value in guard.never:
            block += [(JUMP_EQUAL, 0, 1, value), refuse]
        if guard.only:
            last = len(guard.only)
            block += [(JUMP_EQUAL, last - at, 0, one) for at, one in enumerate(guard.only)]
            block.append(refuse)
        if guard.wide:
            block += [(LOAD, 0, 0, low + 4), (JUMP_EQUAL, 1, 0, 0), refuse]
    block.append((ANSWER, 0, 0, ALLOW))
    return [(JUMP_EQUAL, 0, len(block), number), *block]


def _call(kernel: ctypes.CDLL, what: str, *arguments: object) -> int:
    answer = kernel.syscall(*arguments)
    if answer < 0:
        raise Unconfinable(f"{what}: {os.strerror(ctypes.get_errno())}")
    return int(answer)


def _drop_capabilities(kernel: ctypes.CDLL) -> None:
    # As root a process could raise its own limits again; without capabilities
    # and without exec it cannot.
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    _call(kernel, "capset", CAPSET, header, bytes(24))


def _landlock(kernel: ctypes.CDLL, readable: Sequence[str], writable: Sequence[str]) -> int:
    version = landlock_version()
    handled = FIRST_RIGHTS | sum(right for right, since in LATER_RIGHTS.items() if version >= since)
    net = TCP if version >= TCP_SINCE else 0
    scopes = SCOPES if version >= SCOPES_SINCE else 0
    size = 8 if version < TCP_SINCE else 16 if version < SCOPES_SINCE else 24
    attributes = struct.pack("<QQQ", handled, net, scopes)[:size]
    rules = _call(kernel, "landlock", LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    in_scratch = handled & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK)
    granted = [(path, READ_FILE | READ_DIR) for path in readable]
    granted += [(path, in_scratch) for path in writable]
    granted.append(("/dev/null", READ_FILE | WRITE_FILE))
    for path, rights in granted:
        _grant(kernel, rules, path, rights & handled)
    _call(kernel, "landlock", LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return version


def _grant(kernel: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= FILE_RIGHTS
    _call(kernel, f"landlock {path}", LANDLOCK_ADD, rules, 1, struct.pack("<Qi", rights, place), 0)
    os.close(place)


def _seccomp(kernel: ctypes.CDLL, program: list[Instruction]) -> None:
    code = b"".join(struct.pack("<HBBI", *one) for one in program)
    kept = ctypes.create_string_buffer(code, len(code))
    pointer = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(kept))
    _call(kernel, "this kernel takes no seccomp filter", SECCOMP, 1, 0, pointer)
