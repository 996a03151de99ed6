"""What lies in the folder of a class."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runstate_lab.grading.handed import Absent, Handed, absent, look

KNOWN = ("02_ownership", "04_compare_and_swap")


def names(folder: Path, chosen: tuple[str, ...] = KNOWN) -> tuple[list[str], dict[str, str]]:
    """Submissions as student/exercise, and the reasons for the rest."""
    handed, unexpected = look(folder, KNOWN, chosen)
    return (
        [f"{row.student}/{row.exercise}" for row in handed],
        {row.name: row.reason for row in unexpected},
    )


def put(path: Path) -> None:
    """An empty file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")


def test_submissions_are_found_in_order(tmp_path: Path) -> None:
    """Students and their exercises come sorted, with the path that was found."""
    for name in ("李/04_compare_and_swap.ipynb", "ana/04_compare_and_swap.ipynb",
                 "ana/02_ownership.ipynb"):  # fmt: skip
        put(tmp_path / name)
    handed, unexpected = look(tmp_path, KNOWN, KNOWN)

    assert () == unexpected
    assert (
        Handed("ana", "02_ownership", tmp_path / "ana" / "02_ownership.ipynb"),
        Handed("ana", "04_compare_and_swap", tmp_path / "ana" / "04_compare_and_swap.ipynb"),
        Handed("李", "04_compare_and_swap", tmp_path / "李" / "04_compare_and_swap.ipynb"),
    ) == handed


def test_everything_else_is_listed_with_a_reason(tmp_path: Path) -> None:
    """Nothing is left out in silence, and nothing of it is opened."""
    for name in ("ana/04.ipynb", "ana/conftest.py", "ana/.x/a", "roster.csv", ".git/x"):
        put(tmp_path / name)
    (tmp_path / "ben").symlink_to("ana")
    put(tmp_path / "c\x1b[2K" / "04_compare_and_swap.ipynb")
    found, reasons = names(tmp_path)
    not_one = "not one of 02_ownership.ipynb, 04_compare_and_swap.ipynb"

    assert [] == found
    assert {
        ".git": "a hidden folder",
        "ana/.x": not_one,
        "ana/04.ipynb": not_one,
        "ana/conftest.py": not_one,
        "ben": "a symbolic link; it is not followed",
        "c?[2K": "a folder name that cannot be printed as it is, or is too long",
        "roster.csv": "a file beside the student folders",
    } == reasons


def test_an_exercise_that_was_not_asked_for_is_not_unexpected(tmp_path: Path) -> None:
    """Grading one exercise says nothing about the others."""
    put(tmp_path / "ana" / "02_ownership.ipynb")
    put(tmp_path / "ana" / "04_compare_and_swap.ipynb")

    assert (["ana/02_ownership"], {}) == names(tmp_path, ("02_ownership",))


def test_a_name_that_is_no_utf_8_is_listed(tmp_path: Path) -> None:
    """Bytes that are no text are shown as question marks."""
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")

    assert ["caf?"] == list(names(tmp_path)[1])


def test_an_empty_folder_is_listed(tmp_path: Path) -> None:
    """Nobody is left out in silence."""
    (tmp_path / "ana").mkdir()

    assert ([], {"ana": "an empty folder"}) == names(tmp_path)


@pytest.mark.parametrize(
    ("name", "misnamed"),
    [
        ("04.ipynb", True),
        ("04_compare_and_swap (1).ipynb", True),
        ("04_compare_and_swap-Copy1.ipynb", True),
        ("04_compare_and_swap.IPYNB", True),
        ("week 4/04_compare_and_swap.ipynb", True),
        ("answer.py", False),
    ],
)
def test_what_was_handed_in_instead_is_named(name: str, misnamed: bool, tmp_path: Path) -> None:
    """A misnamed notebook is told from no notebook at all."""
    put(tmp_path / "ana" / name)

    assert (
        Absent("ana", "04_compare_and_swap", (name,), misnamed),
    ) == absent(tmp_path, "04_compare_and_swap", KNOWN, ())  # fmt: skip


@pytest.mark.parametrize(
    ("beside", "found"), [("", []), ("02 (1).ipynb", []), ("04.ipynb", [("04.ipynb",)])]
)
def test_who_handed_in_another_exercise_is_absent_only_with_a_misnamed_file(
    beside: str, found: list[tuple[str, ...]], tmp_path: Path
) -> None:
    """The file's number says for which exercise it was meant."""
    put(tmp_path / "ana" / "02_ownership.ipynb")
    if beside:
        put(tmp_path / "ana" / beside)
    handed, _ = look(tmp_path, KNOWN, KNOWN)
    rows = absent(tmp_path, "04_compare_and_swap", KNOWN, handed)

    assert found == [row.found for row in rows]


def test_an_empty_handed_student_is_absent(tmp_path: Path) -> None:
    """The detail says what the file should be called."""
    (tmp_path / "ana").mkdir()
    (row,) = absent(tmp_path, "04_compare_and_swap", KNOWN, ())

    assert "found nothing, looked for 04_compare_and_swap.ipynb" == row.detail
