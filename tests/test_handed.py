"""What lies in the folder of a class: each name has a row or a reason."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstate_lab.course.names import shown
from runstate_lab.course.reasons import Unreadable
from runstate_lab.grading.handed import LISTED, Absent, Found, Handed, look, students

KNOWN = ("02_ownership", "04_compare_and_swap")
SWAP = "04_compare_and_swap"
FILE = f"{SWAP}.ipynb"


def notebook(*answers: str) -> bytes:
    """A notebook with these answer cells, found by their marker lines."""
    cells = [{"cell_type": "code", "source": f"# answer: {task}\nx = 1"} for task in answers]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def put(path: Path, content: bytes = b"") -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def only(folder: Path) -> Found:
    """What lies there, graded for one exercise."""
    return look(folder, KNOWN, (SWAP,))


def reasons(found: Found) -> dict[str, str]:
    """The reasons for what is no submission."""
    return {row.name: row.reason for row in found.unexpected}


def test_submissions_are_found_in_order(tmp_path: Path) -> None:
    """Students and their exercises come sorted, with the path that was found."""
    for name in (f"李/{FILE}", f"ana/{FILE}", "ana/02_ownership.ipynb"):
        put(tmp_path / name)
    found = look(tmp_path, KNOWN, KNOWN)

    assert () == found.unexpected
    assert (
        Handed("ana", "02_ownership", tmp_path / "ana" / "02_ownership.ipynb"),
        Handed("ana", SWAP, tmp_path / "ana" / FILE),
        Handed("李", SWAP, tmp_path / "李" / FILE),
    ) == found.handed


def test_everything_else_is_listed_with_a_reason(tmp_path: Path) -> None:
    """Nothing is left out in silence, and nothing of it is opened."""
    for name in ("ana/conftest.py", "ana/.x/a", "roster.csv", ".secret/x", f"ana/{FILE}"):
        put(tmp_path / name)
    (tmp_path / "ben").symlink_to("ana")
    os.mkfifo(tmp_path / "pipe")
    not_one = f"not one of 02_ownership.ipynb, {FILE}"

    assert {
        ".secret": "a hidden folder",
        "ana/.x": not_one,
        "ana/conftest.py": not_one,
        "ben": "a symbolic link; it is not followed",
        "pipe": "neither a file nor a folder, beside the student folders",
        "roster.csv": "a file beside the student folders",
    } == reasons(look(tmp_path, KNOWN, KNOWN))


BESIDE = ["__MACOSX/ana/._x.ipynb", "._ana", ".DS_Store", "Thumbs.db", "desktop.ini",
          f".ipynb_checkpoints/{FILE}", "@eaDir/x", f".Trash-1000/files/{FILE}", "lost+found/x",
          "$RECYCLE.BIN/x", f".git/{FILE}", "~$roster.xlsx"]  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_what_other_systems_leave_behind_is_never_a_student(name: str, tmp_path: Path) -> None:
    """Beside the students and one level down it is listed as what it is."""
    put(tmp_path / name, notebook("04.1"))
    put(tmp_path / "ana" / name, notebook("04.1"))
    put(tmp_path / "ana" / FILE)
    found, top = only(tmp_path), name.partition("/")[0]

    assert ["ana"] == [row.student for row in found.handed]
    assert () == found.absent
    why = "left behind by another system or program"
    assert {top: why, f"ana/{top}": why} == reasons(found)


def test_an_exercise_that_was_not_asked_for_is_not_unexpected(tmp_path: Path) -> None:
    """Grading one exercise says nothing about the others."""
    put(tmp_path / "ana" / "02_ownership.ipynb")
    put(tmp_path / "ana" / FILE)

    assert {} == reasons(look(tmp_path, KNOWN, ("02_ownership",)))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("ana\u00a0maria", "ana(U+00A0)maria"),
        ("c\x1b[2K", "c(U+001B)[2K"),
        ("ana\nmaria", "ana(U+000A)maria"),
        ("ana ", "ana "),
        ("con", "con"),
        (".ana", ".ana"),
        ("a" * 240, shown("a" * 240)),
        ("ana\u202e", "ana(U+202E)"),
        (os.fsdecode(b"caf\xe9"), "caf(U+DCE9)"),
    ],
)
def test_a_folder_of_a_bad_name_has_a_row(name: str, row: str, tmp_path: Path) -> None:
    """It says what is wrong with the name, and which would do."""
    put(tmp_path / name / FILE, notebook("04.1"))
    found = only(tmp_path)
    (absent,) = found.absent

    assert () == found.handed
    assert (row, SWAP, "bad-name") == (absent.student, absent.exercise, absent.code)
    assert "would do" in absent.detail
    assert (row,) == students(tmp_path) or name == ".ana"


@pytest.mark.parametrize("name", ["عل\u200cرضا", "क्\u200dष", "Zoe\u0308", "李雷"])
def test_letters_of_any_script_are_graded(name: str, tmp_path: Path) -> None:
    """Joiners and accents on their own are no reason to leave a student out."""
    put(tmp_path / name / FILE)

    assert [name] == [row.student for row in only(tmp_path).handed]


def test_an_empty_folder_is_listed_and_has_a_row(tmp_path: Path) -> None:
    """Nobody is left out in silence; the detail says what the file should be called."""
    (tmp_path / "ana").mkdir()
    found = only(tmp_path)

    assert {"ana": "an empty folder"} == reasons(found)
    assert (
        Absent("ana", SWAP, "nothing-handed-in", f"found nothing, looked for {FILE}"),
    ) == found.absent  # fmt: skip


def test_who_handed_in_nothing_has_a_row_for_each_exercise_of_the_class(tmp_path: Path) -> None:
    """Where two exercises are handed in, both are missing."""
    put(tmp_path / "ana" / FILE)
    put(tmp_path / "ben" / "02_ownership.ipynb")
    put(tmp_path / "di" / "notes.txt")
    found = look(tmp_path, KNOWN, KNOWN)

    assert [("di", "02_ownership"), ("di", SWAP)] == [
        (row.student, row.exercise) for row in found.absent
    ]


def test_who_handed_in_another_exercise_is_listed(tmp_path: Path) -> None:
    """It is no fault, but it is said."""
    put(tmp_path / "ana" / "02_ownership.ipynb")
    found = only(tmp_path)

    assert () == found.absent
    assert {"ana": f"handed in 02_ownership, and nothing for {SWAP}"} == reasons(found)


ONE = [
    f"{SWAP} (1).ipynb",
    f"{SWAP}-Copy1.ipynb",
    f"Copy of {SWAP}.ipynb",
    f"{SWAP}.ipynb.txt",
    f"{SWAP}.IPYNB",
    f"{SWAP}_final.ipynb",
    f"week 4/{FILE}",
    f"{SWAP}-checkpoint.ipynb",
    "04.ipynb",
    "ex 4.ipynb",
    "my answers.ipynb",
    "answers.json",
    "answers",
]


@pytest.mark.parametrize("name", ONE)
def test_the_only_file_that_may_be_meant_is_taken(name: str, tmp_path: Path) -> None:
    """With a note that says which one it was."""
    put(tmp_path / "ana" / name, notebook("04.1"))
    put(tmp_path / "ana" / "notes.txt", b"remember the milk")
    found = only(tmp_path)
    (row,) = found.handed

    assert (("ana", SWAP), ()) == ((row.student, row.exercise), found.absent)
    assert (f"graded from “{name}”: there was no {FILE}",) == row.notes
    assert notebook("04.1") == row.read()
    assert ["ana/notes.txt"] == list(reasons(found))


def test_a_broken_file_is_taken_by_its_name(tmp_path: Path) -> None:
    """Its reason is told by the reader, as for a file of the right name."""
    put(tmp_path / "ana" / "04 (2).ipynb", b"{")

    assert [SWAP] == [row.exercise for row in only(tmp_path).handed]


@pytest.mark.parametrize(
    ("name", "content"),
    [("04 notes.ipynb", notebook()), ("diary.ipynb", b"{"), ("02.ipynb", b"{")],
)
def test_a_notebook_that_nobody_can_assign_is_misnamed(
    name: str, content: bytes, tmp_path: Path
) -> None:
    """Neither its answers nor its whole name say that it is of this exercise."""
    put(tmp_path / "ana" / name, content)
    found = look(tmp_path, (SWAP,), (SWAP,))

    assert () == found.handed
    assert [("misnamed", f"found {name}, looked for {FILE}")] == [
        (row.code, row.detail) for row in found.absent
    ]


def test_two_files_that_may_be_meant_are_both_named(tmp_path: Path) -> None:
    """Nobody guesses which one counts."""
    put(tmp_path / "ana" / f"{SWAP} (1).ipynb", notebook("04.1"))
    put(tmp_path / "ana" / f"{SWAP} (2).ipynb", notebook("04.1"))
    found = only(tmp_path)

    assert () == found.handed
    assert [("misnamed", f"found {SWAP} (1).ipynb, {SWAP} (2).ipynb, looked for {FILE}")] == [
        (row.code, row.detail) for row in found.absent
    ]


def test_beside_the_right_name_copies_are_left_out(tmp_path: Path) -> None:
    """The right name is graded, the rest is listed."""
    put(tmp_path / "ana" / FILE, notebook("04.1"))
    put(tmp_path / "ana" / f"{SWAP}-Copy1.ipynb", notebook("04.1"))
    found = only(tmp_path)

    assert [()] == [row.notes for row in found.handed]
    assert {f"ana/{SWAP}-Copy1.ipynb": f"left out: {FILE} is there"} == reasons(found)


def test_thousands_of_junk_files_are_counted(tmp_path: Path) -> None:
    """Ten are named, the rest is a number."""
    for number in range(2_000):
        put(tmp_path / "ana" / f"{number:04}.dat")
    put(tmp_path / "ana" / FILE)
    found = reasons(only(tmp_path))

    assert LISTED + 1 == len(found)
    assert "... and 1,990 more that are no submission" == found["ana/"]


def test_a_folder_swapped_for_a_link_is_refused_when_it_is_read(tmp_path: Path) -> None:
    """Another student's file is never read in place of one's own."""
    for student in ("ana", "ben"):
        put(tmp_path / "class" / student / FILE, student.encode())
    _, ben = only(tmp_path / "class").handed
    (tmp_path / "class" / "ben").rename(tmp_path / "away")
    (tmp_path / "class" / "ben").symlink_to("ana")
    with pytest.raises(Unreadable) as refused:
        ben.read()

    assert "symlink" == refused.value.code


NAME = st.one_of(
    st.sampled_from(["ana", "Ana", "con", "ana ", ".ana", "__MACOSX", ".git", "x.ipynb", FILE,
                     f"{SWAP} (1).ipynb", "04.ipynb", "a\u00a0b", "a\u202eb", "عل\u200cرضا"]),
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40),
)  # fmt: skip
CONTENT = st.sampled_from([b"", b"{", notebook("04.1"), notebook("02.1"), notebook(), b"PK\x03\x04"])
TREE = st.dictionaries(
    NAME,
    st.one_of(
        CONTENT,
        st.just("link"),
        st.dictionaries(NAME, st.one_of(CONTENT, st.just("link"), st.just({})), max_size=4),
    ),
    max_size=6,
)


def plant(folder: Path, tree: dict[str, object]) -> list[str]:
    """The names that could be made in the folder."""
    made = []
    for name, what in tree.items():
        path = folder / name
        if name in (".", "..") or len(os.fsencode(name)) > 250:
            continue
        made.append(name)
        if isinstance(what, dict):
            path.mkdir()
            plant(path, what)
        elif isinstance(what, bytes):
            path.write_bytes(what)
        else:
            path.symlink_to("nowhere")
    return made


@settings(deadline=None, max_examples=200)
@given(TREE, st.sampled_from([KNOWN, (SWAP,), ("02_ownership",)]))
def test_every_name_in_the_class_has_a_row_or_a_reason(
    tree: dict[str, object], chosen: tuple[str, ...]
) -> None:
    """No folder is without a row, and nothing is both handed in and missing."""
    with tempfile.TemporaryDirectory() as made:
        names = plant(Path(made), tree)
        found = look(Path(made), KNOWN, chosen)
    handed = {(row.student, row.exercise) for row in found.handed if row.exercise in chosen}
    missing = {(row.student, row.exercise) for row in found.absent}
    rows = {student for student, _ in handed | missing}
    listed = {row.name.removesuffix("/") for row in found.unexpected}

    assert set() == handed & missing
    for name in names:
        assert shown(name) in rows or shown(name, most=80) in listed or shown(name) in listed
