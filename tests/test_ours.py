"""Our own processes: an environment that is ours, and no life after their parent's."""

from __future__ import annotations

import os
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
    import select

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
