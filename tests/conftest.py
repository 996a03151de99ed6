"""What the tests share: a tiny course, built once and copied for each test.

Notebooks below tests/ are material for tests, never tests themselves.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.build import build
from runstate_lab.course.catalogue import Catalogue

collect_ignore_glob = ["*.ipynb", "courses/*", "submissions/*"]
TINY = Path(__file__).parent / "courses" / "tiny"


@pytest.fixture(scope="session")
def tiny_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny course with its notebooks built; not to be written to."""
    folder = tmp_path_factory.mktemp("course") / "tiny"
    shutil.copytree(TINY, folder)
    build(catalogue.load(folder))
    return folder


@pytest.fixture
def tiny(tiny_built: Path, tmp_path: Path) -> Catalogue:
    """A built copy of the tiny course of one's own."""
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_built, folder)
    return catalogue.load(folder)
