"""Our own processes: an environment that is ours, and no life after their parent's."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from runstate_lab.course.faults import CourseFault
from runstate_lab.grading import controls, dispatch, ours, scratch
from runstate_lab.grading.session import Job
from runstate_lab.grading.verdict import Record, Verdict

HOSTILE = {
    "PYTHONOPTIMIZE": "1",
    "PYTHONSTARTUP": "/no/such/file",
    "PYTHONWARNINGS": "error",
    "PYTHONDONTWRITEBYTECODE": "x",
    "PYTEST_ADDOPTS": "--collect-only",
    "PYTEST_PLUGINS": "no_such_plugin",
    "CI": "true",
    "IPYTHONDIR": "/no/such/folder",
    "JUPYTER_CONFIG_DIR": "/no/such/folder",
    "LC_ALL": "C",
}


def graded(folder: Path, level: str = "none") -> tuple[Record, Record]:
    """The records of the two controls."""
    made = controls.write_controls(folder)
    jobs = [
        Job(str(made.root), made.exercise.name, "control", str(path), level, level, 0)
        for path in (made.right, made.wrong)
    ]
    right, wrong = (dispatch.run_job(job, made.exercise, 300.0)[0] for job in jobs)
    return right, wrong


def test_the_controls_are_told_apart_whatever_the_shell_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable of the instructor's switches asserts off, adds a plugin or breaks a kernel."""
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    right, wrong = graded(tmp_path)
    controls.refuse_undecided(right, wrong)

    assert (Verdict.PASS, 1) == (right.verdict, right.points)
    assert (Verdict.FAIL, 0) == (wrong.verdict, wrong.points)
    assert ["wrong", "wrong", "wrong", "raised"] == [case.kind for case in wrong.tasks[0].cases]


def test_a_grader_without_asserts_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the asserts are off after all, the wrong control gets through and nothing is graded."""
    monkeypatch.setitem(ours.SET, "PYTHONOPTIMIZE", "1")
    right, wrong = graded(tmp_path)
    with pytest.raises(CourseFault, match="cannot tell a right answer from a wrong one"):
        controls.refuse_undecided(right, wrong)


def test_only_listed_variables_reach_our_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allow-list is all there is."""
    monkeypatch.setenv("SOME_SECRET", "x")
    found = ours.environment(tmp_path)
    listed = {*ours.LET_THROUGH, *ours.SET, *ours.IN_SCRATCH, *ours.TEMPORARY, "PYTHONPATH"}

    assert set() == set(found) - listed


def test_the_working_folder_is_on_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student's folder that is called like a library is never imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    planted = tmp_path / "jinja2"
    planted.mkdir()
    (planted / "__init__.py").write_text("raise SystemExit('planted')")
    done = subprocess.run(
        ours.command("runstate_lab.grading.feedback"),
        cwd=tmp_path,
        env=ours.environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_our_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """The parent's end of a pipe is enough: nothing has to be sent."""
    child = (
        "import sys, time; from runstate_lab.grading.ours import end_with_parent;"
        "end_with_parent(); print(flush=True);\nwhile True: time.sleep(60)"
    )
    parent = (
        "import subprocess, sys;"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}], stdin=subprocess.PIPE,"
        " stdout=subprocess.PIPE, start_new_session=True);"
        "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", parent],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ours.environment(tmp_path),
    )
    number = int(started.stdout.readline())  # type: ignore[union-attr]
    watched = os.pidfd_open(number)
    started.kill()
    started.communicate()
    ended, _, _ = select.select([watched], [], [], 60)
    os.close(watched)

    assert [watched] == ended


def test_a_folder_in_use_is_not_swept_and_an_abandoned_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock tells which; what is not ours by name stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "runstate-grade-other").mkdir()
    with scratch.scratch() as used:
        program = (
            "import os; from runstate_lab.grading.scratch import scratch\n"
            "with scratch() as folder: os._exit(9)"
        )
        environment = {**ours.environment(tmp_path), "TMPDIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], env=environment, check=False)
        before = len(list(tmp_path.glob("runstate-grade-*")))

        assert (3, 1) == (before, scratch.sweep())
        assert used.is_dir()
    assert ["runstate-grade-other"] == [path.name for path in tmp_path.glob("runstate-grade-*")]


def started_in(folder: Path) -> list[int]:
    """The processes whose environment names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes()
        except OSError:
            continue
        if bytes(folder) in variables:
            found.append(int(entry.name))
    return found


@pytest.mark.slow
def test_nothing_lives_on_when_a_grading_is_killed(tmp_path: Path) -> None:
    """Session, kernel and worker end with it, and the next grading sweeps its folders."""
    (tmp_path / "course").mkdir()
    made = controls.write_controls(tmp_path / "course")
    reached, submission = tmp_path / "reached", tmp_path / "class" / "ana" / made.right.name
    os.mkfifo(reached)
    submission.parent.mkdir(parents=True)
    # The first worker only loads the answer; the second one belongs to our kernel.
    tells = f"open({str(reached)!r}, 'w').close()\n"
    text = made.right.read_text().replace("def twice", tells.replace("\n", "\\n") + "def twice")
    submission.write_text(text)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    grading = subprocess.Popen(
        [
            *(sys.executable, "-m", "runstate_lab", "--course", str(made.root), "grade"),
            *(str(submission.parents[1]), "--out", str(tmp_path / "out"), "--isolation", "none"),
        ],
        env={**ours.environment(temporary), "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
    )
    for _ in range(2):
        reached.read_bytes()
    watched = [os.pidfd_open(number) for number in started_in(temporary)]
    grading.kill()
    grading.wait()
    left = list(watched)
    while left:
        ended, _, _ = select.select(left, [], [], 60)
        assert ended, "a process lives on"
        left = [one for one in left if one not in ended]

    assert len(watched) >= 4
    assert [] == started_in(temporary)
    assert list(temporary.glob("runstate-grade-*"))
