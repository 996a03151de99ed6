"""Pins: plain `name==version` lines, and one list a part of the other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ALL = ROOT / "constraints.txt"
BINDER = ROOT / "binder" / "requirements.txt"
LINE = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9][0-9a-z.]*")


def pins(path: Path) -> list[str]:
    """The lines of a list of pins."""
    return path.read_text(encoding="utf-8").splitlines()


def normal(name: str) -> str:
    """A distribution's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("path", [ALL, BINDER], ids=lambda path: path.name)
def test_every_line_is_a_name_and_a_version(path: Path) -> None:
    """No address, no file, no option: the list means the same everywhere."""
    text = path.read_text(encoding="utf-8")

    assert [] == [line for line in pins(path) if not LINE.fullmatch(line)]
    assert [] == [word for word in ("://", "file:", "--index", "--find-links", "@") if word in text]


def test_binders_pins_are_a_part_of_all_pins() -> None:
    """Binder installs what the tests ran with."""

    assert [] == sorted(set(pins(BINDER)) - set(pins(ALL)))


def test_every_dependency_is_pinned() -> None:
    """Whatever the project asks for stands in the lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {
        path: {normal(line.partition("==")[0]) for line in pins(path)} for path in (ALL, BINDER)
    }
    asked = [project["dependencies"], *project["optional-dependencies"].values()]
    names = [{normal(re.split(r"[<>=~! \[;]", line)[0]) for line in lines} for lines in asked]

    assert set() == names[0] - pinned[BINDER]
    assert set() == set().union(*names) - pinned[ALL]
