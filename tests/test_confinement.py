"""The walls around a worker: measured, complete, and said to be missing where they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from walls import rewritten

from runstate_lab.grading import channel, confine
from runstate_lab.grading.faults import OutOfMemory, StudentError
from runstate_lab.grading.isolation import CANARIES, Isolation, NotIsolated, measure, require
from runstate_lab.grading.proxy import Student, WorkerUnavailable

CHECKOUT = Path(__file__).resolve().parents[1]
TOOLS = '''
import ctypes, os, resource, socket, sys, threading

def attempt(function):
    try:
        function()
        return "done"
    except OSError as error:
        return type(error).__name__
    except ValueError as error:
        return "ValueError"

def read(path): return attempt(lambda: open(path, "rb").read(1))
def listing(path): return attempt(lambda: os.listdir(path))
def write(path): return attempt(lambda: open(path, "w").write("x"))
def module(name): return __import__(name).__name__
def environment(): return sorted(os.environ)
def hashed(text): return hash(text)
def raise_limit(): return attempt(lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)))
def limit_other(process):
    return attempt(lambda: resource.prlimit(process, resource.RLIMIT_CPU, (1, 1)))
def own_limit(): return resource.getrlimit(resource.RLIMIT_AS)[0]
def slow_other(process): return attempt(lambda: os.setpriority(os.PRIO_PROCESS, process, 19))
def owner(): return attempt(lambda: __import__("fcntl").fcntl(2, 8, os.getppid()))
def stay():
    library = ctypes.CDLL(None, use_errno=True)
    return library.prctl(1, 0, 0, 0, 0)
def fork():
    child = os.fork()
    if child == 0:
        os.close(1); os.close(2)
        while True: signal_free()
    return child
def signal_free(): __import__("time").sleep(60)
def fork_bomb():
    made = 0
    for _ in range(100):
        try: made += os.fork() > 0
        except OSError: pass
    return made
def grow():
    kept = []
    while True: kept.append(bytearray(1 << 24))
def process(): return os.getpid()
def path(): return sys.path
def fall_asleep():
    print("asleep")
    signal_free()
def capabilities():
    header, found = ctypes.create_string_buffer(8), ctypes.create_string_buffer(24)
    ctypes.memmove(header, (0x20080522).to_bytes(4, "little"), 4)
    answer = ctypes.CDLL(None).syscall(125, header, found)
    return answer, found.raw
'''


def confined(*, scratch: Path | None = None, memory: int = 2 << 30) -> Student:
    """A worker behind the walls that holds the tools above."""
    cells = [(TOOLS, "tools")]
    return Student(cells, level="confined", scratch=scratch, memory=memory, call_timeout=20.0)


@pytest.fixture(scope="module")
def walled() -> object:
    """One confined worker for the cases that leave it alive."""
    with confined() as student:
        yield student


def test_all_canaries_are_closed_behind_the_walls() -> None:
    """What a record says about the level was tried out, one by one."""
    found = measure("confined")

    assert dict.fromkeys(CANARIES, "closed") == found.measured
    assert "isolated" == found.verdict
    assert found.summary.startswith("confined: 22 of 22 canaries closed (landlock ")
    require(found, "confined")


def test_all_canaries_are_open_without_walls() -> None:
    """The same attacks succeed on an open worker: they are real."""
    found = measure("none")

    assert dict.fromkeys(CANARIES, "open") == found.measured
    assert ("not isolated", CANARIES) == (found.verdict, found.open)
    require(found, "none")
    with pytest.raises(NotIsolated, match="OPEN: read hidden tests, read the grader's memory"):
        require(found, "confined")


def test_nothing_planted_is_left_behind(tmp_path: Path) -> None:
    """The canary leaves the folder of the held-back tests as it was."""
    (tmp_path / "test_hidden.py").write_text("secret = 1", encoding="utf-8")
    measure("confined", hidden=tmp_path)

    assert ["test_hidden.py"] == [path.name for path in tmp_path.iterdir()]


def test_an_incomplete_measurement_is_refused() -> None:
    """A canary that nobody tried counts as open."""
    with pytest.raises(NotIsolated, match="NOT MEASURED: udp"):
        some = [name for name in CANARIES if name != "udp"]
        require(Isolation("confined", (), dict.fromkeys(some, "closed")), "confined")
    with pytest.raises(NotIsolated):
        require(Isolation("confined", (), {}), "confined")
    with pytest.raises(NotIsolated):
        require(Isolation("none", (), dict.fromkeys(CANARIES, "closed")), "confined")


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("import platform; platform.machine = lambda: 'riscv64'", "no walls are known for linux"),
        ("import sys; sys.platform = 'darwin'", "no walls are known for darwin"),
        (
            "from runstate_lab.grading import confine; confine.landlock_version = lambda: 0",
            "this kernel has no Landlock",
        ),
        (
            "from runstate_lab.grading import confine; confine.SECCOMP = 446",
            "this kernel takes no seccomp filter: ",
        ),
    ],
)
def test_a_system_without_walls_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patch: str, words: str
) -> None:
    """The level is refused before any student code is loaded; open workers still start."""
    monkeypatch.setattr(channel, "WORKER", rewritten(tmp_path, patch))
    with pytest.raises(WorkerUnavailable, match=words):
        Student([("print('never')", "1.1")], level="confined")
    with Student([("def add(a, b): return a + b", "1.1")], level="none") as student:
        assert 3 == student.add(1, 2)


def test_half_allowed_calls_are_refused_for_others(walled: Student) -> None:
    """Limits, priorities, signals by a file's owner and the death signal stay as they are."""
    assert "ValueError" == walled.raise_limit()
    assert 2 << 30 == walled.own_limit()
    assert "PermissionError" == walled.limit_other(os.getpid())
    assert "PermissionError" == walled.slow_other(os.getpid())
    assert "PermissionError" == walled.owner()
    assert -1 == walled.stay()


def test_no_capability_is_left(walled: Student) -> None:
    """Also where the grader runs as root, the worker can do nothing that root can."""
    assert (0, bytes(24)) == walled.capabilities()


def test_the_kit_and_python_can_be_read_and_nothing_else(walled: Student) -> None:
    """The library is open; what lies beside it in the checkout is not."""
    readable = [CHECKOUT / "runstate_lab" / "model.py", Path(os.__file__)]
    closed = [
        CHECKOUT / "pyproject.toml",
        Path(__file__),
        Path("/etc/passwd"),
        Path("/proc/self/environ"),
        Path(f"/proc/{os.getpid()}/cmdline"),
    ]
    folders = [CHECKOUT, CHECKOUT / "tests", Path("/proc"), Path("/"), Path.home(), Path("/tmp")]

    assert ["done"] * 2 == [walled.read(str(path)) for path in readable]
    assert ["PermissionError"] * 5 == [walled.read(str(path)) for path in closed]
    assert ["PermissionError"] * 6 == [walled.listing(str(path)) for path in folders]


def test_no_granted_path_holds_the_checkout() -> None:
    """Tests and solutions are below no path that a worker may read."""
    granted = [Path(path) for path in confine.readable_paths(CHECKOUT / "runstate_lab")]

    assert [] == [path for path in granted if CHECKOUT.is_relative_to(path)]
    assert [CHECKOUT / "runstate_lab"] == [one for one in granted if one.is_relative_to(CHECKOUT)]


def test_the_checkout_is_not_on_the_workers_path(walled: Student) -> None:
    """Nothing beside the kit can be imported, and no installed package either."""
    found = walled.path()

    assert [] == [one for one in found if Path(one).is_relative_to(CHECKOUT)]
    assert [] == [one for one in found if "site-packages" in one]


def test_nothing_can_be_written_without_a_scratch_folder(walled: Student, tmp_path: Path) -> None:
    """Not even the folder the worker stands in."""
    targets = ["here", str(tmp_path / "there"), str(CHECKOUT / "runstate_lab" / "x"), "/dev/shm/x"]

    assert ["PermissionError"] * 4 == [walled.write(path) for path in targets]
    assert "done" == walled.write("/dev/null")


def test_the_scratch_folder_is_the_only_one_to_write(tmp_path: Path) -> None:
    """A module that is put there shadows nothing."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "decimal.py").write_text("raise SystemExit('shadowed')", encoding="utf-8")
    with confined(scratch=scratch) as student:
        assert ["done", "done"] == [student.write("here"), student.read(str(scratch / "here"))]
        assert "PermissionError" == student.write(str(tmp_path / "there"))
        assert "decimal" == student.module("decimal")

    assert ["decimal.py", "here"] == sorted(path.name for path in scratch.iterdir())


def test_the_graders_environment_stays_with_the_grader(
    walled: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker sees six variables, all of them ours."""
    monkeypatch.setenv("GRADER_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    with Student([(TOOLS, "tools")], level="none") as student:
        found = student.environment()

    assert ["HOME", "LANG", "MALLOC_ARENA_MAX", "PATH", "PYTHONHASHSEED"] == [
        name for name in found if name != "LC_CTYPE"
    ]


def test_two_workers_hash_alike(walled: Student) -> None:
    """The order of sets repeats, so that a regrade gives the same result."""
    with confined() as other:
        assert walled.hashed("build=green") == other.hashed("build=green")


def test_a_fork_bomb_makes_no_process(walled: Student) -> None:
    """A hundred forks, none of them born."""
    assert 0 == walled.fork_bomb()
    with pytest.raises(StudentError, match="PermissionError"):
        walled.fork()


def test_memory_is_limited() -> None:
    """A list that grows ends with its own name."""
    with pytest.raises(OutOfMemory), confined(memory=512 << 20) as student:
        student.grow()


def test_a_child_of_an_open_worker_does_not_survive_it() -> None:
    """The whole process group is ended."""
    with Student([(TOOLS, "tools")], level="none") as student:
        child = student.fork()
        assert alive(child)

    assert gone_within(child, 5.0)


def test_a_worker_does_not_survive_its_grader() -> None:
    """Even a grader that is killed leaves no worker, although the answer never returns."""
    grader = f"""
import sys, threading, time
sys.path.insert(0, {str(CHECKOUT)!r})
from runstate_lab.grading.proxy import Student
student = Student([({TOOLS!r}, "tools")], level="confined", call_timeout=60)
process = student.process()
def say():
    while "asleep" not in student.output: time.sleep(0.01)
    print(process, flush=True)
threading.Thread(target=say).start()
student.fall_asleep()
"""
    with subprocess.Popen([sys.executable, "-c", grader], stdout=subprocess.PIPE) as process:
        worker = int(process.stdout.readline())  # type: ignore[union-attr]
        assert alive(worker)
        process.send_signal(signal.SIGKILL)

    assert gone_within(worker, 5.0)


def alive(process: int) -> bool:
    """Whether the process runs: a zombie does not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def gone_within(process: int, seconds: float) -> bool:
    """Whether the process ends in time."""
    end = time.monotonic() + seconds
    while alive(process):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
