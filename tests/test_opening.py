"""Files and folders are opened step by step, and no step is a link."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runstate_lab.course import opening
from runstate_lab.course.opening import opened, read_bytes
from runstate_lab.course.reasons import LARGEST, Unreadable

NAME = "04_compare_and_swap.ipynb"


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Linux, and as on a system without these calls."""
    if not request.param:
        monkeypatch.setattr(opening, "BY_DESCRIPTOR", False)


def link(path: Path) -> None:
    """A link to a readable file."""
    path.with_name("other").write_bytes(b"{}")
    path.symlink_to("other")


def large(path: Path) -> None:
    """One byte more than is read."""
    with path.open("wb") as stream:
        stream.truncate(LARGEST + 1)


NO_FILES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a link": (link, "symlink"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "symlink"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "symlink"),
    "a pipe": (os.mkfifo, "not-a-file"),
    "a folder": (Path.mkdir, "folder"),
    "too large": (large, "too-big"),
    "not there": (lambda path: None, "gone"),
}


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("make", "code"), NO_FILES.values(), ids=NO_FILES)
def test_only_regular_files_are_opened(
    make: Callable[[Path], object], code: str, tmp_path: Path
) -> None:
    """No link is followed, no pipe waited for, and nothing large is read."""
    path = tmp_path / NAME
    make(path)
    with pytest.raises(Unreadable) as refused:
        read_bytes(path)

    assert code == refused.value.code


def test_a_device_is_not_read() -> None:
    """It would never end."""
    with pytest.raises(Unreadable) as refused:
        read_bytes(Path("/dev/zero"))

    assert "not-a-file" == refused.value.code


def test_a_file_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the system says, it is a row of the reasons."""

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(opening.os, "open", refuse)
    with pytest.raises(Unreadable) as refused:
        read_bytes(tmp_path / NAME)

    assert "unreadable" == refused.value.code


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    path = tmp_path / "large.ipynb"
    with path.open("wb") as stream:
        stream.truncate(LARGEST)

    assert LARGEST == len(read_bytes(path))


@pytest.mark.usefixtures("either_way")
def test_no_step_below_the_class_is_a_link(tmp_path: Path) -> None:
    """A student's folder that leads to another one's is refused, and so is a deeper one."""
    (tmp_path / "ana" / "week 4").mkdir(parents=True)
    (tmp_path / "ana" / "week 4" / NAME).write_bytes(b"hers")
    (tmp_path / "ben").symlink_to("ana")
    (tmp_path / "cy").mkdir()
    (tmp_path / "cy" / "week 4").symlink_to("../ana/week 4")

    assert b"hers" == read_bytes(tmp_path / "ana" / "week 4" / NAME, within=tmp_path)
    for student in ("ben", "cy"):
        with pytest.raises(Unreadable) as refused:
            read_bytes(tmp_path / student / "week 4" / NAME, within=tmp_path)

        assert "symlink" == refused.value.code


def test_the_class_folder_itself_may_lie_behind_a_link(tmp_path: Path) -> None:
    """It is the instructor's own."""
    (tmp_path / "real" / "ana").mkdir(parents=True)
    (tmp_path / "real" / "ana" / NAME).write_bytes(b"hers")
    (tmp_path / "class").symlink_to("real")

    assert b"hers" == read_bytes(tmp_path / "class" / "ana" / NAME, within=tmp_path / "class")


def test_a_folder_that_is_swapped_while_it_is_open_is_read_as_it_was(tmp_path: Path) -> None:
    """The name is not looked up a second time."""
    for student in ("ana", "ben"):
        (tmp_path / student).mkdir()
        (tmp_path / student / NAME).write_bytes(student.encode())
    with opened(tmp_path) as top, top.below("ben") as folder:
        (tmp_path / "ben").rename(tmp_path / "gone")
        (tmp_path / "ben").symlink_to("ana")

        assert b"ben" == folder.read(NAME)


def test_a_file_where_a_folder_should_be_is_not_called_a_link(tmp_path: Path) -> None:
    """The cause is told as it is."""
    (tmp_path / "ana").write_bytes(b"")
    with pytest.raises(Unreadable) as refused:
        read_bytes(tmp_path / "ana" / NAME, within=tmp_path)

    assert "not-a-file" == refused.value.code
