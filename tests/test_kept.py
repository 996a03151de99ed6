"""What counts in an output folder: one truth for the file, the pages and the verb."""

from __future__ import annotations

import csv
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
    shutil.move(given / "ben" / f"{OTHER}.ipynb", given / "cy" / "02.ipynb")
    seen = grade(given, out, course=course, exercise="02")
    found = {record.student: record for record in seen.records}

    assert ["ana", "cy", "di"] == list(found)
    assert ("NOT_GRADED", None, "misnamed") == (
        found["cy"].verdict, found["cy"].points, found["cy"].reason_code,
    )  # fmt: skip
    assert f"found 02.ipynb, looked for {OTHER}.ipynb" in found["cy"].reason
    assert "nothing-handed-in" == found["di"].reason_code
    grade(given, out, course=course)
    assert ["ana/01", "ana/02", "ben/01", "cy/02", "di/02"] == book(out)


def test_a_class_of_two_exercises_gives_the_empty_handed_no_row(
    course: Path, given: Path, tmp_path: Path
) -> None:
    """Nobody can say which exercise is missing; the report lists what was found."""
    (given / "di").mkdir()
    seen = grade(given, tmp_path / "out", course=course)

    assert ["di"] == [row.name for row in seen.unexpected]
    assert "di" not in {record.student for record in seen.records}


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
