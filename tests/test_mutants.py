"""Each seeded fault is noticed by every group of tests that it names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))["mutant"]


def run_tests(folder: Path, paths: list[str]) -> int:
    """Pytest's exit code on a copy of the book; 1 means that a test failed."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'tests'}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:nbval",
        "-p",
        "no:cacheprovider",
        "--noconftest",
    ]
    done = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(folder), *paths],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A copy of the book and of its tests, to be spoilt."""
    (tmp_path / "runstate_lab").mkdir()
    for module in (ROOT / "runstate_lab").glob("*.py"):
        shutil.copy(module, tmp_path / "runstate_lab")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("*.ipynb"))
    return tmp_path


def test_there_are_eleven_seeded_faults() -> None:
    """The list that the tests must kill is complete and names each once."""
    assert 11 == len({mutant["name"] for mutant in MUTANTS})


@pytest.mark.slow
def test_the_unspoilt_copy_passes(book: Path) -> None:
    """Else a dead mutant would prove nothing."""
    paths = sorted({path for mutant in MUTANTS for path in mutant["killed_by"]})

    assert 0 == run_tests(book, paths)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_seeded_fault_is_killed(book: Path, mutant: dict[str, object]) -> None:
    """Each of the groups that it names sees the fault by itself."""
    spoilt = book / str(mutant["file"])
    text = spoilt.read_text("utf-8")

    assert 1 == text.count(mutant["old"]), "the line is not there just once"
    spoilt.write_text(text.replace(mutant["old"], mutant["new"]), "utf-8")
    assert dict.fromkeys(mutant["killed_by"], 1) == {
        path: run_tests(book, [path]) for path in mutant["killed_by"]
    }
