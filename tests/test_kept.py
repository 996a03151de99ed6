"""What counts in an output folder: one truth for the file, the pages and the verb."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.course.faults import AskedWrongly  # noqa: E402
from runstate_lab.grading import dispatch, gradebook, runner  # noqa: E402
from runstate_lab.grading.isolation import Isolation  # noqa: E402
from runstate_lab.grading.kept import read_records, refuse_places  # noqa: E402
from runstate_lab.grading.runner import grade  # noqa: E402
from runstate_lab.grading.session import Job  # noqa: E402

OTHER = "02_other_fact"
MORE = f"""
[[exercises]]
number = "02"
name = "{OTHER}"
title = "Another fact"
lesson = "01"

[[exercises.tasks]]
id = "02.1"
title = "find it"
points = 1
answers = ["newest"]
hints = ["a", "b", "c"]
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The tiny course with a second exercise."""
    root = tiny.write_course(tmp_path / "course")
    (root / "catalogue.toml").write_text(tiny.CATALOGUE + MORE, encoding="utf-8")
    text = json.dumps(tiny.notebook()).replace("01.", "02.")
    for part in ("solutions", "exercises"):
        (root / part / OTHER).mkdir()
        (root / part / OTHER / f"{OTHER}.ipynb").write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """Two students with both exercises."""
    folder = tmp_path / "class"
    for student in ("ana", "ben"):
        path = tiny.hand_in(folder, student)
        shutil.copy(path, path.with_name(f"{OTHER}.ipynb"))
    return folder


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No submission is really graded; what was asked for is listed."""
    listed: list[str] = []

    def pretend(job: Job, exercise: object, seconds: float) -> tuple[object, str]:
        listed.append(f"{job.student}/{job.exercise[:2]}")
        return dispatch._no_record(job, exercise, "not-json"), ""  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_job", pretend)
    monkeypatch.setattr(runner, "_refuse_broken", lambda *_: None)
    monkeypatch.setattr(
        runner, "measure", lambda level, hidden: Isolation(level, (), {"a": "closed"})
    )
    monkeypatch.setattr(runner, "require", lambda *_: None)
    return listed


def book(out: Path) -> list[str]:
    """The rows of gradebook.csv, which the records and the JSON must agree with."""
    text = (out / "gradebook.csv").read_text(encoding="utf-8")
    records = read_records(out)
    assert text == gradebook.as_csv(records)
    assert gradebook.as_json(records) == (out / "gradebook.json").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return [f"{row['student']}/{row['exercise'][:2]}" for row in rows]


def test_a_student_who_left_is_in_no_gradebook(course: Path, given: Path, tmp_path: Path) -> None:
    """The file and the records agree; the record itself is kept aside."""
    out = tmp_path / "out"
    grade(given, out, course=course)
    shutil.rmtree(given / "ben")
    grade(given, out, course=course)

    assert ["ana/01", "ana/02"] == book(out)
    assert (out / "gone" / "ben" / f"{OTHER}.json").is_file()
    assert ["ana.html"] == [path.name for path in out.glob("feedback/*")]


def test_a_student_who_comes_back_is_not_graded_again(
    course: Path, given: Path, tmp_path: Path, asked: list[str]
) -> None:
    """The record comes back with the submission."""
    out = tmp_path / "out"
    grade(given, out, course=course)
    shutil.move(given / "ben", tmp_path / "ben")
    grade(given, out, course=course)
    shutil.move(tmp_path / "ben", given / "ben")
    asked.clear()
    again = grade(given, out, course=course)

    assert ([], 4) == (asked, again.kept)
    assert ["ana/01", "ana/02", "ben/01", "ben/02"] == book(out)


def test_the_rows_of_another_exercise_stay(course: Path, given: Path, tmp_path: Path) -> None:
    """Grading 02 leaves 01 in the book, but for a submission that is gone."""
    out = tmp_path / "out"
    grade(given, out, course=course, exercise="01")
    (given / "ben" / f"{tiny.EXERCISE}.ipynb").unlink()
    seen = grade(given, out, course=course, exercise="02")

    assert ["ana/01", "ana/02", "ben/02"] == book(out)
    assert {OTHER} == {record.exercise for record in seen.records}
    assert tiny.EXERCISE in (out / "feedback" / "ana.html").read_text(encoding="utf-8")


def test_who_handed_in_nothing_usable_has_a_row(course: Path, given: Path, tmp_path: Path) -> None:
    """Misnamed and empty-handed students are NOT_GRADED; grading the other keeps that."""
    out = tmp_path / "out"
    (given / "cy").mkdir()
    (given / "di").mkdir()
    (given / "ben" / f"{OTHER}.ipynb").unlink()
    (given / "cy" / "diary.ipynb").write_text("{", encoding="utf-8")
    seen = grade(given, out, course=course, exercise="02")
    found = {record.student: record for record in seen.records}

    assert ["ana", "cy", "di"] == list(found)
    assert ("NOT_GRADED", None, "misnamed") == (
        found["cy"].verdict, found["cy"].points, found["cy"].reason_code,
    )  # fmt: skip
    assert f"found diary.ipynb, looked for {OTHER}.ipynb" in found["cy"].reason
    assert "nothing-handed-in" == found["di"].reason_code
    grade(given, out, course=course)
    assert ["ana/01", "ana/02", "ben/01", "cy/01", "cy/02", "di/01", "di/02"] == book(out)


def test_a_class_of_two_exercises_gives_the_empty_handed_two_rows(
    course: Path, given: Path, tmp_path: Path
) -> None:
    """No folder is without a row: both exercises were handed in by others."""
    (given / "di").mkdir()
    seen = grade(given, tmp_path / "out", course=course)

    assert [tiny.EXERCISE, OTHER] == [row.exercise for row in seen.records if row.student == "di"]


def test_a_folder_of_a_bad_name_is_told_by_row_and_exit_status(
    course: Path, given: Path, tmp_path: Path
) -> None:
    """The row says which name would do; after renaming the folder it is graded."""
    (given / "ana").rename(given / "ana\u00a0maria")
    seen = grade(given, tmp_path / "out", course=course)
    (row, _) = [row for row in seen.records if row.reason_code == "bad-name"]

    assert (1, "ana(U+00A0)maria") == (seen.exit_code, row.student)
    assert "it holds NO-BREAK SPACE (U+00A0); “ana_maria” would do" in row.reason
    (given / "ana\u00a0maria").rename(given / "ana_maria")
    again = grade(given, tmp_path / "out", course=course)
    assert (0, ["ana_maria/01", "ana_maria/02", "ben/01", "ben/02"]) == (
        again.exit_code, book(tmp_path / "out"),
    )  # fmt: skip


def test_a_file_of_another_name_is_graded_with_a_note(
    course: Path, given: Path, tmp_path: Path, asked: list[str]
) -> None:
    """It is graded again where it gets its right name, or another file is meant."""
    path = given / "ben" / f"{tiny.EXERCISE}.ipynb"
    path.rename(given / "ben" / "01 (1).ipynb")
    first = grade(given, tmp_path / "out", course=course, exercise="01")
    (given / "ben" / "01 (1).ipynb").rename(path)
    asked.clear()
    second = grade(given, tmp_path / "out", course=course, exercise="01")

    assert (f"graded from “01 (1).ipynb”: there was no {tiny.EXERCISE}.ipynb",) == next(
        row.notes for row in first.records if row.student == "ben"
    )
    assert ["ben/01"] == asked
    assert [(), ()] == [row.notes for row in second.records]


def test_what_is_graded_is_a_copy_of_the_bytes_that_were_read(
    course: Path, given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is swapped while it is graded changes nothing, and its link is not read."""
    (given / "ana" / f"{tiny.EXERCISE}.ipynb").write_bytes(b"{1")
    (given / "ben" / f"{tiny.EXERCISE}.ipynb").write_bytes(b"{2")

    def pretend(job: Job, exercise: object, seconds: float) -> tuple[object, str]:
        for student in ("ana", "ben"):
            shutil.rmtree(given / student, ignore_errors=True)
        return dispatch._no_record(job, exercise, "not-json"), ""  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_job", pretend)
    seen = grade(given, tmp_path / "out", course=course, exercise="01", jobs=1)

    assert [("ana", hashlib.sha256(b"{1").hexdigest()), ("ben", "")] == [
        (row.student, row.submission) for row in seen.records
    ]
    assert "gone" == seen.records[1].reason_code


@pytest.mark.parametrize("out", ["class", "class/out", "class/ana/out", ".", "link/out"])
def test_an_output_folder_in_the_class_is_refused(
    out: str, course: Path, given: Path, tmp_path: Path
) -> None:
    """Equal, below, above, or through a symbolic link: nothing is written."""
    (tmp_path / "link").symlink_to(given)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AskedWrongly, match="hint: name an output folder beside"):
        grade(given, tmp_path / out, course=course)

    assert before == sorted(tmp_path.rglob("*"))


def test_a_folder_beside_the_class_is_allowed(tmp_path: Path) -> None:
    """A name that only begins the same is another folder."""
    refuse_places(tmp_path / "class", tmp_path / "class-graded")


@pytest.mark.parametrize("jobs", [0, -3])
def test_fewer_jobs_than_one_are_refused(
    jobs: int, course: Path, given: Path, tmp_path: Path
) -> None:
    """Nothing would ever be graded."""
    with pytest.raises(AskedWrongly, match="--jobs 1"):
        grade(given, tmp_path / "out", course=course, jobs=jobs)
