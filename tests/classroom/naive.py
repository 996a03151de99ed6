"""Two naive graders, to show that the attacks of the class are real ones.

`pytest_beside` puts the submission's code, the held-back tests and a gradebook
into one folder and believes pytest's exit status. `nbval_on` runs nbval on the
submitted notebook. Both work in a folder that is thrown away, with a limit on
memory and time that a naive grader would not even have.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 4 << 30
GRADEBOOK = "student,exercise,verdict,points\n"
FIXTURE = """import pytest
import submission


@pytest.fixture
def student():
    return submission


@pytest.fixture
def seed():
    return 0


def pytest_configure(config):
    config.addinivalue_line("markers", "task(id): the task")
"""


@dataclass(frozen=True)
class Naive:
    """What a naive grader saw: the exit status it believes, or that it hung."""

    status: int | None
    said: str
    folder: Path

    @property
    def passed(self) -> bool:
        """The verdict of the naive grader."""
        return self.status == 0

    def wrote(self, name: str) -> str:
        """The text of a file that should not be there, or not like this."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def pytest_beside(
    folder: Path, given: Mapping[str, Any], submitted: Mapping[str, Any], hidden: Path, *,
    seconds: float = 60.0, conftest: str = "",
) -> Naive:  # fmt: skip
    """The naive grader that runs pytest in the folder of the submission."""
    answers = {_task(cell): "".join(cell["source"]) for cell in submitted["cells"] if _task(cell)}
    parts = []
    for cell in given["cells"]:
        if cell["cell_type"] == "code" and _role(cell) == "given":
            parts.append("".join(cell["source"]))
        elif _task(cell):
            parts.append(answers.get(_task(cell), ""))
    tests = folder / "tests"
    tests.mkdir(parents=True)
    (folder / "submission.py").write_text("\n\n".join(parts), encoding="utf-8")
    (folder / "conftest.py").write_text(FIXTURE, encoding="utf-8")
    (tests / "test_hidden.py").write_text(hidden.read_text(encoding="utf-8"), encoding="utf-8")
    if conftest:
        (tests / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "gradebook.csv").write_text(GRADEBOOK, encoding="utf-8")
    return _run(folder, ["--junitxml=results.xml", "tests"], seconds)


def nbval_on(
    folder: Path, submitted: Mapping[str, Any], hidden: Path, *, seconds: float = 120.0
) -> Naive:
    """The naive grader that runs nbval on what was handed in."""
    folder.mkdir(parents=True)
    (folder / "submitted.ipynb").write_text(json.dumps(submitted), encoding="utf-8")
    (folder / "test_hidden.py").write_text(hidden.read_text(encoding="utf-8"), encoding="utf-8")
    plugin = ["-p", "nbval.plugin", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=20"]
    return _run(folder, [*plugin, "submitted.ipynb"], seconds)


def _role(cell: Mapping[str, Any]) -> str:
    return cell["metadata"].get("runstate", {}).get("role", "")


def _task(cell: Mapping[str, Any]) -> str:
    marks = cell["metadata"].get("runstate", {})
    return marks["task"] if marks.get("role") == "answer" else ""


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _run(folder: Path, arguments: list[str], seconds: float) -> Naive:
    quiet = ["-q", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
    }
    environment["IPYTHONDIR"] = str(folder / "ipython")
    with (folder / "said.txt").open("wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-B", "-m", "pytest", *quiet, *arguments],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True, preexec_fn=_limit,
        )  # fmt: skip
        try:
            status: int | None = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return Naive(status, (folder / "said.txt").read_text("utf-8", "replace"), folder)
