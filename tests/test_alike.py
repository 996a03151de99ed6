"""What rows share is said, and changes no grade."""

from __future__ import annotations

import pytest

from runstate_lab.grading.alike import remarks
from runstate_lab.grading.verdict import Record, Verdict


def row(student: str, *, submission: str = "", likeness: str = "", exercise: str = "04") -> Record:
    """A graded row."""
    return Record(
        student, exercise, "v", submission or student, 0, "confined", "confined",
        Verdict.PASS, 10, 10, likeness=likeness,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("Zoë", "Zoe\u0308", "two spellings of one name, with other bytes for an accent"),
        ("Ana", "ana", "they differ in capital letters only"),
        ("аna", "ana", "these names look the same"),
        ("ana(U+00A0)maria", "anna", ""),
    ],
)
def test_names_that_look_the_same_are_told(one: str, other: str, words: str) -> None:
    """With what the difference is; each keeps its row."""
    said = remarks([row(one), row(other), row(one, exercise="02")])

    assert ([words] if words else []) == [
        line.partition(": ")[2].partition(";")[0] for line in said
    ]


def test_equal_files_of_two_students_are_told() -> None:
    """For each exercise, with the students' names."""
    said = remarks([row(name, submission="s", likeness="x") for name in ("ana", "ben", "cy")])

    assert ("04: “ana”, “ben”, “cy” handed in the same file",) == said


def test_equal_answers_in_other_files_are_told() -> None:
    """A changed title does not hide them."""

    assert ("04: “ana”, “ben” gave the same answers",) == remarks(
        [row("ana", likeness="x"), row("ben", likeness="x")]
    )


def test_untouched_stubs_and_broken_files_are_no_copies() -> None:
    """Equal files without an answer in them say nothing about anyone."""

    assert () == remarks([row("ana", submission="s"), row("ben", submission="s")])


def test_the_same_answers_to_two_exercises_are_no_copies() -> None:
    """Nor are two rows of one student."""

    assert () == remarks([row("ana", likeness="x"), row("ben", likeness="x", exercise="02")])
    assert () == remarks([row("ana", likeness="x"), row("ana", likeness="x")])


def test_a_whole_class_that_is_alike_takes_one_line() -> None:
    """Ten names, and how many more."""
    (line,) = remarks([row(f"s{number:03}", likeness="x") for number in range(200)])

    assert line.endswith("“s009” and 190 more gave the same answers")
