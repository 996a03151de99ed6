"""Grading. The walls a worker puts around itself, with nothing but ctypes.

Four walls, all of them in the kernel: resource limits, no new privileges (and
no old ones), Landlock for files, seccomp for system calls. They need no root
and no user namespace, and they cannot be taken down again. Python-level tricks
do not matter behind them.

What is not here: proof. `isolation` measures what is closed; this module only
says what it asked for, and refuses where the kernel lacks it. The numbers are
those of x86_64 Linux; elsewhere there are no walls and `Unconfinable` says so.
"""

from __future__ import annotations

import ctypes
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

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

# Refused system calls by what they would open. Landlock restricts neither file
# modes and times nor other processes' limits and priorities, so they are here.
REFUSED = {
    "programs and processes": {
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "setsid": 112, "setpgid": 109,
    },
    "other processes": {
        "kill": 62, "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
        "pidfd_send_signal": 424, "pidfd_open": 434, "pidfd_getfd": 438, "ptrace": 101,
        "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440,
        "process_mrelease": 448, "kcmp": 312, "setrlimit": 160, "setpriority": 141,
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203,
        "sched_setattr": 314, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279,
    },
    "network": {
        "socket": 41, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    },
    "memory beyond the limit": {
        "memfd_create": 319, "memfd_secret": 447, "userfaultfd": 323, "msgget": 68,
        "semget": 64, "shmget": 29, "mq_open": 240, "mq_unlink": 241,
    },
    "files past Landlock": {
        "truncate": 76, "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452,
        "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "utime": 132, "utimes": 235,
        "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300,
        "quotactl": 179, "quotactl_fd": 443, "acct": 163, "chroot": 161,
    },
    "mounts and namespaces": {
        "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
        "fspick": 433, "mount_setattr": 442, "statmount": 457, "listmount": 458,
    },
    "the machine": {
        "bpf": 321, "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249,
        "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
        "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "syslog": 103,
        "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
        "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
        "personality": 135, "vhangup": 153, "modify_ldt": 154,
    },
}
CLONE, CLONE3, THREAD_FLAG = 56, 435, 0x00010000
NEWEST_KNOWN = 462

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, NOT_PERMITTED, NOT_KNOWN = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
X86_64, X32_BIT = 0xC000003E, 0x40000000
Instruction = tuple[int, int, int, int]


class Unconfinable(OSError):
    """This system cannot build a wall that the level asks for."""


@dataclass(frozen=True)
class Guard:
    """A system call that is refused for some values of one argument."""

    number: int
    argument: int
    never: tuple[int, ...] = ()
    only: int | None = None
    high_word: bool = False


def guards(process: int) -> tuple[Guard, ...]:
    """The calls that are half allowed: on this process, or without a dangerous flag."""
    return (
        Guard(234, 0, only=process),  # tgkill: abort() and raise() use it on themselves
        Guard(302, 2, only=0, high_word=True),  # prlimit64: asking, never setting
        Guard(72, 1, never=(8, 10, 15)),  # fcntl: no signal to another owner
        Guard(16, 1, never=(0x8901, 0x8902, 0x5412)),  # ioctl: the same, and typing into a terminal
        Guard(157, 0, never=(PR_SET_PDEATHSIG,)),  # prctl: the worker dies with the grader
    )


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
    for limit, value in table.items():
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    return ("rlimits",)


def confine(readable: Iterable[str], writable: Iterable[str]) -> tuple[str, ...]:
    """The walls that stand from now on around this process, for good.

    Call it once, with one thread, after everything trusted is imported.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Unconfinable(f"no walls are known for {sys.platform} on {platform.machine()}")
    kernel = ctypes.CDLL(None, use_errno=True)
    for option, value in ((PR_SET_PDEATHSIG, SIGKILL), (PR_SET_NO_NEW_PRIVS, 1)):
        if kernel.prctl(option, value, 0, 0, 0):
            raise Unconfinable(f"this kernel does not take prctl {option}")
    _drop_capabilities(kernel)
    version = _landlock(kernel, [*readable], [*writable])
    _seccomp(kernel, assemble(os.getpid()))
    return (f"landlock {version}", "seccomp", "no_new_privs")


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


def assemble(process: int) -> list[Instruction]:
    """The seccomp filter's program; `process` is the one that may signal itself.

    >>> program = assemble(1)
    >>> program[0], program[-1]
    ((32, 0, 0, 4), (6, 0, 0, 2147418112))
    """
    program: list[Instruction] = [
        (LOAD, 0, 0, 4), (JUMP_EQUAL, 1, 0, X86_64), (ANSWER, 0, 0, KILL),
        (LOAD, 0, 0, 0), (JUMP_AT_LEAST, 0, 1, X32_BIT), (ANSWER, 0, 0, KILL),
        # clone3 hides its flags behind a pointer; without it libc falls back to clone.
        (JUMP_EQUAL, 0, 1, CLONE3), (ANSWER, 0, 0, NOT_KNOWN),
        (JUMP_EQUAL, 0, 4, CLONE), (LOAD, 0, 0, 16), (JUMP_ANY_BIT, 1, 0, THREAD_FLAG),
        (ANSWER, 0, 0, NOT_PERMITTED), (ANSWER, 0, 0, ALLOW),
    ]
    for guard in guards(process):
        program += _guarded(guard)
    for number in sorted(n for group in REFUSED.values() for n in group.values()):
        program += [(JUMP_EQUAL, 0, 1, number), (ANSWER, 0, 0, NOT_PERMITTED)]
    program += [(JUMP_AT_LEAST, 0, 1, NEWEST_KNOWN + 1), (ANSWER, 0, 0, NOT_KNOWN)]
    return [*program, (ANSWER, 0, 0, ALLOW)]


def _guarded(guard: Guard) -> list[Instruction]:
    low = 16 + 8 * guard.argument
    block: list[Instruction] = [(LOAD, 0, 0, low)]
    for value in guard.never:
        block += [(JUMP_EQUAL, 0, 1, value), (ANSWER, 0, 0, NOT_PERMITTED)]
    if guard.only is not None:
        block += [(JUMP_EQUAL, 1, 0, guard.only), (ANSWER, 0, 0, NOT_PERMITTED)]
    if guard.high_word:
        block += [(LOAD, 0, 0, low + 4), (JUMP_EQUAL, 1, 0, 0), (ANSWER, 0, 0, NOT_PERMITTED)]
    block.append((ANSWER, 0, 0, ALLOW))
    return [(JUMP_EQUAL, 0, len(block), guard.number), *block]


def _call(kernel: ctypes.CDLL, what: str, *arguments: object) -> int:
    answer = kernel.syscall(*arguments)
    if answer < 0:
        code = ctypes.get_errno()
        raise Unconfinable(code, f"{what}: {os.strerror(code)}")
    return int(answer)


def _drop_capabilities(kernel: ctypes.CDLL) -> None:
    # As root a process could raise its own limits again; without capabilities
    # and without exec it cannot.
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    _call(kernel, "capset", CAPSET, header, bytes(24))


def _landlock(kernel: ctypes.CDLL, readable: Sequence[str], writable: Sequence[str]) -> int:
    version = landlock_version()
    if not version:
        raise Unconfinable("this kernel has no Landlock")
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
    _call(kernel, "seccomp", SECCOMP, 1, 0, pointer)
