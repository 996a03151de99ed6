"""The canaries: each really planted, open where its wall is taken away, closed behind it.

What no wall closes stands in the record, and a system without walls is told in
one sentence with one thing to do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from walls import CHECKOUT, holed, rewritten

from runstate_lab.grading import channel, isolation, runner
from runstate_lab.grading.canaries import planted
from runstate_lab.grading.isolation import (
    CANARIES,
    NOT_CLOSED,
    SIZES,
    Isolation,
    NotIsolated,
    measure,
    require,
)
from runstate_lab.grading.probe import WAYS
from runstate_lab.grading.proxy import Student

EACH_WAY = """

def by(name, number, targets):
    return _works(WAYS[name][number], targets)
"""
# Behind the limits too much memory fails at any level; the file in memory does not.
LIMITED = {("too much memory", "_allocate")}
# The system calls of each wall of the filter, and the canary that opens without them.
HOLES = {
    "signal the grader": (72,),
    "limit or slow the grader": (302, 140, 141, 203, 144, 145),
    "clock of the grader": (228, 229),
    "tcp": (41, 42, 49, 50, 288),
    "udp": (41, 44),
    "sockets by path": (44, 46, 42),
    "start a process": (56,),
    "run a program": (59,),
    "write outside its folder": (90, 268),
    "too much memory": (319,),
    "memory that no limit counts": (72,),
    "shared memory by number": (29, 30, 31),
    "semaphores by number": (65, 66),
    "messages by number or name": (69, 70, 240),
    "lock a file of ours": (73,),
    "flags of a file of ours": (16,),
    "watch a file of ours": (253, 254, 294),
    "stop or hide itself": (157,),
    "disk and caches of all": (306, 221),
}
# Landlock keeps TCP closed too, and root's lost capabilities the memory.
AND_WITHOUT = {"tcp": "\nfrom runstate_lab.grading import confine; confine.TCP_SINCE = 99"}
BEHIND_LANDLOCK = {"read hidden tests", "read the grader's memory", "read the grader's environment"}
# Systems without a wall, made for real: a filter of our own, for good, in this process alone.
KERNELS = {
    "no Landlock": (444, 0x00050026),  # ENOSYS, as before Linux 5.13
    "Landlock off": (444, 0x0005005F),  # EOPNOTSUPP, as where it is not switched on
    "no seccomp": (317, 0x00050016),  # EINVAL, as where filters are not built in
    "an old container": (444, 0x00050001),  # EPERM, as behind an old profile
}
# A grammar of URIs that jsonschema would spend seconds on, each time.
QUICK = "import sys\nsys.modules['rfc3987_syntax'] = None\n"
WITHOUT = """
import ctypes, struct, sys
from runstate_lab.grading import confine
number, answer = map(int, sys.argv[1:3])
kernel = ctypes.CDLL(None, use_errno=True)
kernel.prctl(confine.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
program = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, answer), (6, 0, 0, confine.ALLOW)]
confine._seccomp(kernel, program)
del sys.argv[1:3]
"""
RUN = """
from runstate_lab.cli import main
def run(*arguments):
    try:
        main(arguments, prog_name="runstate-lab")
    except SystemExit as end:
        return end.code
code = run("doctor")
print("doctor", code, flush=True)
code = run("grade", sys.argv[1], "--out", sys.argv[2])
print("grade", code, flush=True)
"""
ELSEWHERE = {
    "macOS": "import sys, platform\nsys.platform = 'darwin'\n",
    "Windows": "import sys, platform\nsys.platform = 'win32'\n",
    "an Arm machine": "import sys, platform\nplatform.machine = lambda: 'aarch64'\n",
}


def test_the_probe_knows_a_way_to_every_canary() -> None:
    """No canary is called closed because nobody attacked it."""
    assert list(CANARIES) == list(WAYS)
    assert [] == [name for name, ways in WAYS.items() if not ways]
    assert set(CANARIES) == BEHIND_LANDLOCK | set(HOLES)


def each_way(level: str) -> dict[tuple[str, str], bool]:
    """Whether each way to each canary is open, tried one by one."""
    source = isolation.PROBE.read_text(encoding="utf-8") + EACH_WAY
    with (
        planted(None, readable=isolation.PROBE) as things,
        Student([(source, "probe")], level=level, memory=1 << 30, call_timeout=10.0) as probe,
    ):
        targets = {**things, "memory": 2 << 30}
        return {
            (name, way.__name__): probe.by(name, number, targets)
            for name, ways in WAYS.items()
            for number, way in enumerate(ways)
        }


@pytest.mark.skipif(sys.platform != "linux", reason="the canaries are those of Linux")
def test_every_single_way_is_open_without_walls() -> None:
    """No attack fails because it is written wrongly."""
    closed = {way for way, found in each_way("none").items() if not found}

    assert LIMITED == closed


def test_every_single_way_is_closed_behind_the_walls() -> None:
    """Not one of the 53 ways is left."""
    found = each_way("confined")

    assert dict.fromkeys(found, False) == found
    assert 53 == len(found)


@pytest.mark.parametrize("name", HOLES)
def test_a_canary_opens_where_its_wall_is_taken_away(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter that lets its calls through is measured as open, and the level is refused."""
    patch = holed(*HOLES[name]) + AND_WITHOUT.get(name, "")
    monkeypatch.setattr(channel, "WORKER", rewritten(tmp_path, patch))
    found = measure("confined")

    assert name in found.open
    with pytest.raises(NotIsolated, match=f"OPEN: .*{name}"):
        require(found, "confined")


@pytest.mark.parametrize("name", sorted(BEHIND_LANDLOCK))
def test_a_canary_opens_where_landlock_is_left_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The filter alone does not keep files closed, and the measurement says so."""
    patch = (
        "from runstate_lab.grading import confine; confine._landlock = lambda *a: 7\n"
        "confine._drop_capabilities = lambda *a: None"
    )
    monkeypatch.setattr(channel, "WORKER", rewritten(tmp_path, patch))

    assert name in measure("confined").open


def test_nothing_that_was_planted_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, shared memory, semaphores and queues are gone; the numbers are free again."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def counted() -> list[int]:
        tables = ("shm", "sem", "msg")
        return [len(Path("/proc/sysvipc", name).read_text().splitlines()) for name in tables]

    before = counted()
    with planted(None, readable=isolation.PROBE):
        during = counted()
    after = counted()

    assert ([1, 1, 1], before) == ([b - a for a, b in zip(before, during, strict=True)], after)
    assert [] == list(tmp_path.iterdir())


def test_what_is_not_closed_stands_beside_what_is() -> None:
    """Sizes are seen by their path, which was tried out; no summary is silent about it."""
    found = measure("confined")
    record = found.record()

    assert NOT_CLOSED == found.not_closed
    assert list(NOT_CLOSED) == record["not_closed"]
    assert found.summary.endswith("; 6 things are not closed by any level")
    assert [found.summary + ":", *NOT_CLOSED] == found.statement.splitlines()


def test_what_is_measured_as_closed_is_not_called_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a probe cannot see the size, the record does not say that it can."""
    blind = isolation.PROBE.read_text(encoding="utf-8").replace(
        'return os.stat(targets["existing"]).st_size', "raise PermissionError"
    )
    (tmp_path / "probe.py").write_text(blind, encoding="utf-8")
    monkeypatch.setattr(isolation, "PROBE", tmp_path / "probe.py")
    found = measure("none")

    assert tuple(one for one in NOT_CLOSED if one != SIZES) == found.not_closed


def told(program: str, tmp_path: Path, *arguments: str) -> tuple[list[str], str]:
    """What `doctor` and `grade` of an empty class print, as lines of data and as talk."""
    (tmp_path / "in").mkdir()
    places = [str(tmp_path / name) for name in ("in", "out")]
    seen = subprocess.run(
        [sys.executable, "-c", QUICK + program + RUN, *arguments, *places],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [] == [word for word in ("Traceback", "a fault of") if word in seen.stderr]
    assert not (tmp_path / "out").exists()
    return seen.stdout.splitlines(), seen.stderr


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_without_a_wall_is_told_and_not_thrown(kernel: str, tmp_path: Path) -> None:
    """Exit 2, what is missing in one sentence, one command; the doctor has the same line."""
    lacking = "takes no seccomp filter" if kernel == "no seccomp" else "has no Landlock"
    words = f"asked for level confined, found no walls: this kernel {lacking}"
    data, talk = told(WITHOUT, tmp_path, *map(str, KERNELS[kernel]))
    walls = [line for line in data if line.startswith("isolation")]

    assert {"doctor 0", "grade 2"} < set(data)
    assert talk.startswith(words)
    assert talk.splitlines()[1].startswith("hint: ")
    assert [1, 1] == [talk.count(one) for one in ("docker run ", "`--isolation none`")]
    assert [True] == [f"none: {words}" in line for line in walls]


@pytest.mark.parametrize("system", ELSEWHERE)
def test_a_system_without_walls_is_told_and_not_thrown(system: str, tmp_path: Path) -> None:
    """On macOS, Windows and Arm the same exit, the same hint, the same line of the doctor."""
    # What needs the real system's name is imported before the name is changed.
    ready = "import jupyter_server.serverapp, runstate_lab.cli, runstate_lab.grading.runner\n"
    program = ready + ELSEWHERE[system]
    words = "asked for level confined, found no walls: no walls are known for "
    data, talk = told(program, tmp_path)

    assert "grade 2" in data
    assert talk.startswith(words)
    assert 1 == talk.count("docker run ")
    assert [True] == [f"none: {words}" in line for line in data if line.startswith("isolation")]


def ordinary_python() -> str:
    """A Python that somebody who is not root may start, or a skip."""
    program = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in filter(None, (sys.executable, shutil.which("python3", path="/usr/bin"))):
        try:
            subprocess.run([python, "-c", program], check=True, **as_somebody())
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip("no Python here that is readable for everybody")


def as_somebody() -> dict[str, object]:
    """How to start a process as an ordinary user: as we are, unless we are root."""
    quiet = {"stderr": subprocess.DEVNULL, "env": {}}
    if os.geteuid() != 0:
        return quiet
    return quiet | {"user": 1001, "group": 1001, "extra_groups": []}


def test_an_ordinary_user_measures_the_same() -> None:
    """Nothing hangs on being root: all canaries are closed, and all were open without walls."""
    program = f"""
import json, os, sys
sys.path.insert(0, {str(CHECKOUT)!r})
os.chdir("/")
from runstate_lab.grading.isolation import measure
print(json.dumps([os.geteuid(), *(measure(level).record() for level in ("none", "confined"))]))
"""
    seen = subprocess.run(
        [ordinary_python(), "-c", program], stdout=subprocess.PIPE, check=True, **as_somebody()
    )
    user, without, behind = json.loads(seen.stdout)

    assert user != 0
    assert list(CANARIES) == without["open"]
    assert [] == behind["open"]
    assert "isolated" == behind["verdict"]


@pytest.mark.slow
def test_no_attack_of_an_ordinary_user_reaches_its_aim() -> None:
    """Behind the walls the attacks on them end for him as they do for root."""
    program = f"""
import json, os, sys, tomllib
sys.path.insert(0, {str(CHECKOUT)!r})
os.chdir("/")
from runstate_lab.grading.proxy import Student
reached, right = [], []
for one in tomllib.load(open({str(CHECKOUT / "tests" / "attacks.toml")!r}, "rb"))["attack"]:
    if one.get("reaches") or one.get("behind"):
        student = Student([(one["cell"], "1.1")], level="confined", call_timeout=20)
        try:
            if student.add(1, 3) == 4: right.append(one["name"])
        except BaseException as error: pass
        student.close()
        if "REACHED" in student.output: reached.append(one["name"])
print(json.dumps([os.geteuid(), reached, right]))
"""
    seen = subprocess.run(
        [ordinary_python(), "-c", program], stdout=subprocess.PIPE, check=True, **as_somebody()
    )
    user, reached, right = json.loads(seen.stdout)

    assert user != 0
    assert ([], []) == (reached, right)


def test_a_record_that_was_made_by_hand_says_what_is_not_closed() -> None:
    """The table is the default: nobody can forget it."""
    assert NOT_CLOSED == Isolation("confined", (), {"tcp": "closed"}).not_closed


def test_the_instructors_page_and_the_record_beside_it_name_what_is_not_closed(
    tmp_path: Path,
) -> None:
    """Each thing stands on index.html and in isolation.json."""
    found = Isolation("confined", (), {"tcp": "closed"})
    runner._write_pages(runner.ClassReport((), (), found.summary, 0, tmp_path), (), found)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "isolation.json").read_text(encoding="utf-8"))

    assert f"<p>Not closed: {'; '.join(NOT_CLOSED)}.</p>" in page
    assert list(NOT_CLOSED) == record["not_closed"]


def test_the_filter_fits_into_the_kernel() -> None:
    """A program of at most 4096 steps, with and without a folder to write in."""
    from runstate_lab.grading.confine import assemble

    assert {True} == {len(assemble(1, scratch=some)) <= 4096 for some in (True, False)}
