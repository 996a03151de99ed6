"""Binder's files, without Docker: what repo2docker would read, and a run of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from runstate_lab.course import catalogue

ROOT = Path(__file__).resolve().parents[1]
BINDER = ROOT / "binder"
SECONDS = 120
FIRST_LESSON = re.compile(r"(http://127\.0\.0\.1:\d+)/lab/tree/notebooks/00_start_here\.ipynb")


def answer(address: str) -> bytes:
    """What the server says; it prints its address a moment before it listens."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            with urllib.request.urlopen(address) as reply:
                return reply.read()
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def test_the_python_is_named_and_fits_the_pins() -> None:
    """Without runtime.txt Binder would take a Python that is too old."""
    name, _, version = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip().partition("-")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert ("python", "3.11") == (name, version)
    assert ">=3.11" == project["requires-python"]


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_the_scripts_are_bash_and_may_run(name: str) -> None:
    """Executable, with a first line, and bash can parse them."""
    path = BINDER / name

    assert os.access(path, os.X_OK)
    assert path.read_text(encoding="utf-8").startswith("#!/bin/bash\n")
    assert 0 == subprocess.run(["bash", "-n", str(path)], check=False).returncode


def test_the_kit_is_installed_after_the_pins_and_brings_nothing_else() -> None:
    """`--no-deps`, and no build environment fetched from anywhere."""
    text = (BINDER / "postBuild").read_text(encoding="utf-8")

    assert "--no-deps --no-build-isolation ." in text


def test_binder_opens_the_first_lesson() -> None:
    """The address in `start` is the catalogue's first lesson."""
    first = catalogue.load(ROOT).lessons[0].notebook.as_posix()

    assert f"--LabApp.default_url=/lab/tree/{first}" in (BINDER / "start").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("made", [True, False], ids=["course folder", "none"])
def test_binder_serves_the_course_folder(made: bool, tmp_path: Path) -> None:
    """Where none can be made the server starts all the same, in the checkout."""
    kit = tmp_path / "bin" / "runstate-lab"
    kit.parent.mkdir()
    (tmp_path / "mine").mkdir()
    answer = f"echo {tmp_path / 'mine'}" if made else "echo no room >&2; exit 2"
    kit.write_text(f"#!/bin/bash\n{answer}\n", encoding="utf-8")
    kit.chmod(0o755)
    seen = subprocess.run(
        ["bash", str(BINDER / "start"), "printf", "%s\n"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{kit.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = tmp_path / "mine" if made else tmp_path

    assert f"--ServerApp.root_dir={folder}" == seen.stdout.splitlines()[0]


def test_no_other_file_of_binders_changes_the_build() -> None:
    """An environment.yml or apt.txt would bring unpinned parts."""

    assert ["postBuild", "requirements.txt", "runtime.txt", "start"] == sorted(
        path.name for path in BINDER.iterdir()
    )


@pytest.mark.slow
def test_what_binder_would_do_ends_in_a_running_lab(tmp_path: Path) -> None:
    """Fresh Python, pins, postBuild, start: the server has the kernel and a course folder."""
    source, python = tmp_path / "src", tmp_path / "env" / "bin" / "python"
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, source / name)
    environment = {
        **{
            key: value
            for key, value in os.environ.items()
            if key not in ("VIRTUAL_ENV", "PYTHONPATH", "RUNSTATE_PROGRESS")
        },
        "HOME": str(tmp_path),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
    }

    def run(*command: str) -> None:
        subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)

    run(sys.executable, "-m", "venv", str(tmp_path / "env"))
    run(str(python), "-m", "pip", "install", "-q", "-r", "binder/requirements.txt")
    run("bash", "-c", "./binder/postBuild")
    server = subprocess.Popen(
        ["./binder/start", "jupyter", "lab", "--allow-root", "--no-browser", "--ip=127.0.0.1"]
        + ["--port=0", "--IdentityProvider.token=lesson"],
        cwd=source,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        opened = next(filter(None, map(FIRST_LESSON.search, server.stderr)))
        assert b'"python3"' in answer(f"{opened[1]}/api/kernelspecs?token=lesson")
        listed = json.loads(answer(f"{opened[1]}/api/contents?token=lesson"))["content"]
        assert {"catalogue.toml", "exercises", "notebooks"} == {each["name"] for each in listed}
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)
    run(str(python), "-c", "import os; os.chdir('/'); import runstate_lab.show")
    run(
        "bash",
        "-c",
        "cd runstate-course/notebooks; runstate-lab check 04; runstate-lab solution 04.1 | grep .",
    )
