"""The system calls of a worker: each decided once, and honest Python goes on working."""

from __future__ import annotations

import errno
import re
from collections import Counter
from pathlib import Path

import pytest

from runstate_lab.grading import calls
from runstate_lab.grading.faults import StudentError
from runstate_lab.grading.proxy import Student

HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm/unistd_64.h"),
)
TOOLS = '''
import ctypes

def numbers(wanted, arguments=(-1, -1, -1, -1, -1, -1)):
    """The error number of each system call, made with arguments that mean nothing."""
    library = ctypes.CDLL(None, use_errno=True)
    found = {}
    for number in wanted:
        ctypes.set_errno(0)
        answer = library.syscall(number, *arguments)
        found[number] = ctypes.get_errno() if answer == -1 else 0
    return found

def stop_by(number): __import__("signal").raise_signal(number)
'''

# What an ordinary answer may do, and what it gives: the same as without walls.
HONEST = {
    "threads": (
        """
import threading
from concurrent.futures import ThreadPoolExecutor
def answer():
    lock, found = threading.RLock(), []
    def add(n):
        with lock: found.append(n)
    some = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for one in some: one.start()
    for one in some: one.join()
    with ThreadPoolExecutor(4) as pool: return sorted(found), list(pool.map(abs, [-1, 2]))
""",
        (list(range(8)), [1, 2]),
    ),
    "an event loop": (
        """
import asyncio
async def work():
    queue, event = asyncio.Queue(), asyncio.Event()
    async def give():
        await asyncio.sleep(0.01); await queue.put(1); event.set()
    task = asyncio.create_task(give())
    await event.wait(); await task
    loop = asyncio.get_running_loop()
    threaded = await asyncio.to_thread(lambda: 2)
    late = asyncio.Event(); loop.call_later(0.01, late.set); await late.wait()
    async with asyncio.timeout(5): return [await queue.get(), threaded, type(loop).__name__]
def answer(): return asyncio.run(work())
""",
        [1, 2, "_UnixSelectorEventLoop"],
    ),
    "every selector, a pair of sockets, an event": (
        """
import os, select, selectors, socket
def answer():
    found = []
    for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
        one, other = socket.socketpair(); one.setblocking(False)
        with one, other, kind() as chosen:
            chosen.register(other, selectors.EVENT_READ); one.send(b"x"); one.sendall(b"yz")
            found.append((len(chosen.select(1)), other.recv(9), one.gettimeout()))
    event = os.eventfd(1); found.append(os.eventfd_read(event)); os.close(event)
    return found
""",
        [(1, b"xyz", 0.0)] * 3 + [1],
    ),
    "signals of its own": (
        """
import signal
def answer():
    found = []
    for one in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
        before = signal.signal(one, lambda number, frame: found.append(number))
        signal.raise_signal(one); signal.signal(one, before)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    signal.raise_signal(signal.SIGUSR1)
    waiting = len(signal.sigpending()); signal.sigwait({signal.SIGUSR1})
    before = signal.signal(signal.SIGALRM, lambda number, frame: found.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
    return [*map(str, found)], waiting
""",
        (["10", "12", "15", "14", "2", "alarm"], 1),
    ),
    "a database in memory": (
        """
import sqlite3
def answer():
    with sqlite3.connect(":memory:") as file:
        file.execute("create table t (a)")
        file.executemany("insert into t values (?)", [(n,) for n in range(1000)])
        return file.execute("select sum(a) from t").fetchone()[0]
""",
        499500,
    ),
    "time and chance": (
        """
import datetime, random, secrets, time, uuid, zoneinfo
def answer():
    time.sleep(0.001); random.seed(7)
    assert time.process_time() >= 0 and time.thread_time() >= 0 and time.monotonic_ns() > 0
    assert len(secrets.token_bytes(9)) == 9 and uuid.uuid4() and random.SystemRandom().random() < 1
    assert time.get_clock_info("monotonic").monotonic and datetime.datetime.now().year > 2000
    return random.randrange(10)
""",
        5,
    ),
    "arithmetic and data": (
        """
import dataclasses, decimal, enum, fractions, functools, gc, itertools, json, re, statistics
@dataclasses.dataclass(frozen=True)
class Point: x: int
class Colour(enum.Enum): RED = 1
@functools.lru_cache
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
def answer():
    gc.collect(); kept = [bytearray(1 << 20) for _ in range(50)]; del kept
    return [str(decimal.Decimal("0.1") * 3), Point(2).x, Colour.RED.name, fibonacci(80),
            statistics.mean([1, 2, 3]), json.loads("[1]"), str(fractions.Fraction(1, 3))]
""",
        ["0.3", 2, "RED", 23416728348467685, 2, [1], "1/3"],
    ),
    "much text": (
        "import sys\ndef answer():\n  for n in range(20_000): print(n, 'x' * 50)\n"
        "  sys.stdout.flush(); print('e', file=sys.stderr); return sys.stdout.isatty()",
        False,
    ),
    "imports of every kind": (
        """
import importlib, os
NAMES = '''ctypes multiprocessing multiprocessing.pool concurrent.futures subprocess socket ssl
select mmap resource fcntl termios curses readline pdb doctest unittest logging pickle csv
sqlite3 zlib lzma bz2 hashlib hmac array struct platform locale getpass shutil tempfile glob
pathlib inspect ast dis traceback tracemalloc cProfile timeit typing collections.abc contextvars
xml.etree.ElementTree http.client urllib.request email asyncio queue heapq bisect graphlib
string textwrap unicodedata encodings.utf_16'''.split()
def answer():
    for name in NAMES:
        try: importlib.import_module(name)
        except ModuleNotFoundError: pass  # not every Python has them all
    return os.cpu_count() > 0 and len(os.sched_getaffinity(0)) > 0
""",
        True,
    ),
    "a library by ctypes": (
        "import ctypes\ndef answer(): return ctypes.CDLL(None).abs(-3)",
        3,
    ),
    "faults are told": (
        """
import faulthandler, os, tempfile, traceback, warnings
def answer():
    with open(os.devnull, "w") as nowhere:
        faulthandler.enable(nowhere); faulthandler.dump_traceback(nowhere)
        faulthandler.dump_traceback_later(60, file=nowhere)
        faulthandler.cancel_dump_traceback_later(); faulthandler.disable()
    try: 1 / 0
    except ZeroDivisionError: return traceback.format_exc().splitlines()[-1]
""",
        "ZeroDivisionError: division by zero",
    ),
    "questions about itself": (
        """
import os, platform, resource, shutil, sys, threading
def answer():
    assert os.getpid() and os.getppid() and os.getcwd() and os.getpgrp() and os.getsid(0)
    assert platform.system() and platform.python_version() and os.uname().sysname
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss and os.times().user >= 0
    assert resource.getrlimit(resource.RLIMIT_AS) and os.sysconf("SC_PAGE_SIZE")
    assert os.path.realpath(os.__file__) and shutil.get_terminal_size((80, 24)).columns
    return os.path.exists(os.__file__), os.access("/no/such", os.R_OK)
""",
        (True, False),
    ),
    "pipes": (
        """
import os
def answer():
    one, other = os.pipe(); os.set_blocking(one, False); os.set_inheritable(other, True)
    os.write(other, b"x"); third = os.dup(one); os.close(one)
    with open(third, "rb", buffering=0) as file: return file.read(1)
""",
        b"x",
    ),
    "memory that is mapped": (
        """
import mmap
def answer():
    with mmap.mmap(-1, 1 << 16) as place:
        place.write(b"abc"); place.flush(); place.resize(1 << 17); place.seek(0)
        place.madvise(mmap.MADV_DONTNEED)
        return len(place)
""",
        1 << 17,
    ),
}

# What an ordinary answer may try in vain, and the exception that says so.
REFUSED_CLEANLY = {
    "a program": ("import subprocess\ndef answer(): subprocess.run(['true'])", "PermissionError"),
    "a shell": ("import os\ndef answer(): os.system('true') and 1/0", "ZeroDivisionError"),
    "a program in a loop": (
        "import asyncio\ndef answer():\n"
        "  asyncio.run(asyncio.create_subprocess_exec('true'))",
        "PermissionError",
    ),
    "a process": (
        "import multiprocessing\ndef answer(): multiprocessing.Process(target=print).start()",
        "PermissionError",
    ),
    "a pool of processes": (
        "import concurrent.futures as cf\ndef answer():\n"
        "  with cf.ProcessPoolExecutor() as pool: pool.submit(abs, 1).result()",
        "PermissionError",
    ),
    "a fork": ("import os\ndef answer(): os.fork()", "PermissionError"),
    "a signal to another": ("import os\ndef answer(): os.kill(1, 0)", "PermissionError"),
    "a child that is not there": ("import os\ndef answer(): os.wait()", "ChildProcessError"),
    "a socket": ("import socket\ndef answer(): socket.socket()", "PermissionError"),
    "a page": (
        "import urllib.request\ndef answer(): urllib.request.urlopen('http://127.0.0.1/')",
        "URLError",
    ),
    "a temporary file": (
        "import tempfile\ndef answer(): tempfile.TemporaryFile()",
        "FileNotFoundError",
    ),
    "a file": ("def answer(): open('notes.txt', 'w')", "PermissionError"),
    "a folder": ("import os\ndef answer(): os.mkdir('notes')", "PermissionError"),
    "another's file": ("def answer(): open('/etc/passwd')", "PermissionError"),
    "a question": ("def answer(): input('name? ')", "EOFError"),
    "a line of input": (
        "import sys\ndef answer(): assert sys.stdin.read() == ''; sys.stdin.buffer.raw.write(b'x')",
        "UnsupportedOperation",
    ),
    "endless recursion": ("def answer(): return answer()", "RecursionError"),
    "deep data": (
        "import json\ndef answer():\n  x = []\n"
        "  for _ in range(100_000): x = [x]\n  json.dumps(x)",
        "RecursionError",
    ),
}


@pytest.fixture(scope="module")
def walled() -> object:
    """One confined worker for the calls."""
    with Student([(TOOLS, "tools")], level="confined", call_timeout=20.0) as student:
        yield student


def decided() -> Counter[int]:
    """How often each number stands in one of the tables."""
    groups = (*calls.ALLOWED.values(), calls.IN_SCRATCH, calls.ABSENT, *calls.REFUSED.values())
    guarded = {guard.number for guard in calls.guards(1, True)}
    return Counter([*guarded, *(number for group in groups for number in group.values())])


def test_every_system_call_is_decided_once() -> None:
    """Each of the 382 calls up to 470 stands in one table, and no other number does."""
    assert dict.fromkeys(calls.NUMBERS, 1) == decided()
    assert 382 == len(calls.NUMBERS)


def test_the_names_are_those_of_the_kernels_header() -> None:
    """A number is never written beside another call's name."""
    groups = (*calls.ALLOWED.values(), calls.IN_SCRATCH, calls.ABSENT, *calls.REFUSED.values())
    ours = {name: number for group in groups for name, number in group.items()}
    ours |= {guard.name: guard.number for guard in calls.guards(1, True)}
    header = next((path for path in HEADERS if path.is_file()), None)
    text = header.read_text(encoding="utf-8") if header else ""
    theirs = {name: int(number) for name, number in re.findall(r"__NR_(\w+) (\d+)", text)}

    assert [] == [name for name, number in theirs.items() if ours.get(name, number) != number]
    assert set() == {name for name, number in theirs.items() if number <= 450} - set(ours)


def test_every_refused_call_answers_that_it_is_not_permitted(walled: Student) -> None:
    """Exact count: each row of the table answers EPERM, none is forgotten."""
    listed = [number for group in calls.REFUSED.values() for number in group.values()]
    listed += calls.IN_SCRATCH.values()
    found = walled.numbers(listed)

    assert Counter({errno.EPERM: 260}) == Counter(found.values())


def test_calls_that_are_too_new_do_not_exist(walled: Student) -> None:
    """clone3, the gap in the numbers and everything newer than the table answer ENOSYS."""
    numbers = [*calls.ABSENT.values(), 337, 423, calls.NEWEST_KNOWN + 1, 600, 4000]

    assert dict.fromkeys(numbers, errno.ENOSYS) == walled.numbers(numbers)


@pytest.mark.parametrize(
    ("number", "commands"),
    [
        (72, [8, 10, 15, 1024, 1026, 1031, 1033, 1034, 5, 6, 7, 36, 37, 38, 9, 11, 16, 1035]),
        (16, [2, 0x80086601, 0x40086602, 0x5412, 0x8901, 0x5452, 0x40049409, 0xC0189436]),
        (157, [1, 4, 22, 23, 24, 26, 28, 33, 35, 36, 38, 53, 54, 57, 59, 62, 0x59616D61]),
    ],
    ids=["fcntl", "ioctl", "prctl"],
)
def test_a_command_that_python_does_not_need_is_refused(
    number: int, commands: list[int], walled: Student
) -> None:
    """Owners, leases, seals, pipes, inode flags, death signals: every command not on the list."""
    position = 0 if number == 157 else 1
    found = [
        walled.numbers([number], [2, 2, 0, 0, 0, 0][:position] + [command] + [0] * (5 - position))
        for command in commands
    ]

    assert [{number: errno.EPERM}] * len(commands) == found


@pytest.mark.parametrize("flags", [0x11, 0x4111, 0x003D0F11, 0x103D0F00, 0x00010000, 0x7C020011])
def test_a_clone_that_is_no_plain_thread_is_refused(flags: int, walled: Student) -> None:
    """One set of flags makes a thread; a fork, a namespace or half a thread is another set."""
    assert {56: errno.EPERM} == walled.numbers([56], [flags, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("signal", [19, 20, 21, 22])
def test_a_worker_cannot_stop_itself(signal: int, walled: Student) -> None:
    """A stopped process would use no time and say nothing."""
    with pytest.raises(StudentError, match="PermissionError"):
        walled.stop_by(signal)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_is_not_in_the_way_of_the_walls(name: str) -> None:
    """Behind the walls it gives what it gives without them."""
    cell, expected = HONEST[name]
    with Student([(cell, "1.1")], level="confined", call_timeout=20.0) as student:
        found = student.answer()

    assert expected == found


def test_a_scratch_folder_takes_files_and_a_database(tmp_path: Path) -> None:
    """With a folder of its own an answer keeps files there, the kit's store on disk included."""
    cell = """
import json, os, pathlib, shutil, sqlite3, tempfile
from runstate_lab import RunState, SqliteStateStore, StateProposal
from runstate_lab.runtime import Runtime
def answer():
    store = SqliteStateStore("run.sqlite", RunState("run-7"))
    state = Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
    store.close()
    with sqlite3.connect("other.sqlite") as file:
        file.execute("pragma journal_mode = wal"); file.execute("create table t (a)")
    file.close()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        draft = pathlib.Path(folder, "draft"); draft.write_text("x"); draft.rename("kept")
    shutil.copyfile("kept", "copy")
    with open("copy", "r+b") as file: file.truncate(0); os.fsync(file.fileno())
    return state.revision, sorted(name for name in os.listdir() if "queue" not in name)
"""
    with Student([(cell, "1.1")], level="confined", scratch=tmp_path, call_timeout=20.0) as student:
        found = student.answer()

    assert (1, ["copy", "kept", "other.sqlite", "run.sqlite"]) == found


@pytest.mark.parametrize("name", REFUSED_CLEANLY)
def test_what_is_refused_is_refused_with_its_own_exception(name: str) -> None:
    """The answer goes on after it; no worker dies of a refused call."""
    cell, expected = REFUSED_CLEANLY[name]
    with Student([(cell, "1.1")], level="confined", call_timeout=20.0) as student:
        with pytest.raises(StudentError) as raised:
            student.answer()
        after = student.dead

    assert (expected, None) == (raised.value.type_name, after)
