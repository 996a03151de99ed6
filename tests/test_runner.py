"""A small class, from folder to gradebook: nothing stops it, nothing is graded twice."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_course as tiny  # noqa: E402

from runstate_lab.course.faults import CourseFault  # noqa: E402
from runstate_lab.grading import dispatch, runner  # noqa: E402
from runstate_lab.grading.handed import Handed  # noqa: E402
from runstate_lab.grading.isolation import Isolation, NotIsolated  # noqa: E402
from runstate_lab.grading.ours import processors  # noqa: E402
from runstate_lab.grading.runner import ClassReport, grade, read_records, record_path  # noqa: E402
from runstate_lab.grading.session import Job, grade_one  # noqa: E402
from runstate_lab.grading.verdict import Record, Verdict  # noqa: E402

LOOP = "# answer: 01.1\ndef newest(facts, key):\n    while True:\n        pass"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny course on disk."""
    return tiny.write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three submissions: right, half right, and no notebook."""
    folder = tmp_path_factory.mktemp("class")
    tiny.hand_in(folder, "ana")
    tiny.hand_in(folder, "ben", {"01.1": "# answer: 01.1\n%time x = 1"})
    tiny.hand_in(folder, "=cmd()").write_bytes(b"{")
    return folder


@pytest.fixture(scope="module")
def report(
    course: Path, submissions: Path, tmp_path_factory: pytest.TempPathFactory
) -> ClassReport:
    """The class graded once, confined."""
    return grade(submissions, tmp_path_factory.mktemp("out"), course=course, seed=3)


@pytest.fixture
def no_session(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No submission is really graded; the students asked for are listed."""
    asked: list[str] = []

    def pretend(job: Job, exercise: object, seconds: float) -> tuple[object, str]:
        asked.append(job.student)
        return dispatch._no_record(job, exercise, "reference"), "log"  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_job", pretend)
    monkeypatch.setattr(runner, "_refuse_broken", lambda *_: None)
    monkeypatch.setattr(
        runner, "measure", lambda level, hidden: Isolation(level, (), {"a": "closed"})
    )
    monkeypatch.setattr(runner, "require", lambda *_: None)
    return asked


def test_three_verdicts_in_one_class(report: ClassReport) -> None:
    """PASS, FAIL and NOT_GRADED stand side by side, and the class is done."""

    assert [
        ("=cmd()", "NOT_GRADED", None, "cut-off"),
        ("ana", "PASS", 5, ""),
        ("ben", "FAIL", 3, "magic"),
    ] == [
        (row["student"], row["verdict"], row["points"], row["reason_code"]) for row in report.rows
    ]
    assert 0 == report.exit_code


def test_everything_is_written_for_everybody(report: ClassReport) -> None:
    """Records, pages, gradebook and the measured isolation are on disk."""
    written = {path.relative_to(report.out).as_posix() for path in report.out.rglob("*.*")}
    students = ("=cmd()", "ana", "ben")

    assert {
        "gradebook.csv", "gradebook.json", "index.html", "isolation.json",
        *(f"feedback/{name}.html" for name in students),
        *(f"records/{name}/{tiny.EXERCISE}.json" for name in students),
    } == {name for name in written if not name.endswith(".ipynb")}  # fmt: skip
    assert report.records == read_records(report.out)


def test_the_held_back_input_is_on_no_page(report: ClassReport) -> None:
    """What the held-back cases ask is not told."""
    pages = "".join(path.read_text("utf-8") for path in report.out.rglob("*.html"))

    assert "An unknown key is refused with KeyError." in pages
    assert "secret-key-9461" not in pages


def test_a_regrade_of_nothing_new_starts_nothing(
    report: ClassReport, course: Path, submissions: Path, no_session: list[str]
) -> None:
    """Submission, exercise version, seed and level are those of the records."""
    again = grade(submissions, report.out, course=course, seed=3)

    assert ([], 3) == (no_session, again.kept)
    assert report.records == again.records


@pytest.mark.parametrize(
    "changed", [{"seed": 4}, {"level": "none"}, {"force": True}], ids=["seed", "level", "force"]
)
def test_a_regrade_that_asks_for_more_grades_again(
    changed: dict[str, object],
    report: ClassReport,
    course: Path,
    submissions: Path,
    no_session: list[str],
    tmp_path: Path,
) -> None:
    """Another seed, another level or --force leaves no record standing."""
    for record in report.records:
        kept = record_path(tmp_path, Handed(record.student, record.exercise, Path()))
        old = record_path(report.out, Handed(record.student, record.exercise, Path()))
        dispatch.write_file(kept, old.read_text(encoding="utf-8"))
    arguments = {"course": course, "seed": 3, "jobs": 1, **changed}
    grade(submissions, tmp_path, **arguments)  # type: ignore[arg-type]

    assert ["=cmd()", "ana", "ben"] == no_session


def test_where_our_side_fails_the_exit_status_and_a_log_say_so(
    course: Path, submissions: Path, no_session: list[str], tmp_path: Path
) -> None:
    """A grader that died leaves NOT_GRADED records, logs, and exit status 3."""
    failed = grade(submissions, tmp_path, course=course)

    assert (3, {Verdict.NOT_GRADED}) == (
        failed.exit_code, {record.verdict for record in failed.records},
    )  # fmt: skip
    assert 3 == len(list(tmp_path.rglob("*.log")))


def test_weak_walls_are_refused_before_any_submission(
    course: Path, submissions: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One open canary, and nothing is graded."""
    leaky = Isolation("confined", (), {"read hidden tests": "open"})
    monkeypatch.setattr(runner, "measure", lambda level, hidden: leaky)
    with pytest.raises(NotIsolated):
        grade(submissions, tmp_path / "out", course=course)

    assert [] == list(tmp_path.iterdir())


def test_a_broken_exercise_is_refused_before_any_submission(
    submissions: Path, tmp_path: Path
) -> None:
    """Where our own solution fails no student is blamed for it."""
    course = tiny.write_course(tmp_path / "course")
    hidden = course / "solutions" / tiny.EXERCISE / "test_hidden.py"
    hidden.write_text(tiny.HIDDEN.replace('"done"', '"undone"'), encoding="utf-8")
    with pytest.raises(CourseFault) as refused:
        grade(submissions, tmp_path / "out", course=course)

    assert f"our own solution of {tiny.EXERCISE} is FAIL" in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_session_that_outlives_its_time_is_ended(course: Path, tmp_path: Path) -> None:
    """The outer clock ends it; the record says that it was our side."""
    path = tiny.hand_in(tmp_path, "ana", {"01.1": LOOP})
    exercise = runner.load_exercise(course, "01")
    job = Job(str(course), exercise.name, "ana", str(path), "none", "none", 0)
    record, log = dispatch.run_job(job, exercise, 0.1)

    assert ("NOT_GRADED", "grader-time", None) == (
        record.verdict, record.reason_code, record.points,
    )  # fmt: skip
    assert exercise.version == record.exercise_version


@pytest.mark.parametrize(
    ("codes", "kept", "tried"),
    [
        (("starved", ""), "", 2),
        (("kernel", ""), "", 2),
        (("grader-time", "starved"), "starved", 2),
        (("reference",), "reference", 1),
        (("",), "", 1),
    ],
)
def test_what_a_busy_machine_may_have_spoilt_is_tried_once_more_alone(
    codes: tuple[str, ...],
    kept: str,
    tried: int,
    course: Path,
    submissions: Path,
    tmp_path: Path,
    no_session: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A starved answer gets a second chance after all others, a broken exercise none."""
    running: list[str] = []
    beside: list[int] = []

    def pretend(job: Job, exercise: object, seconds: float) -> tuple[Record, str]:
        running.append(job.student)
        no_session.append(job.student)
        beside.append(len(running))
        code = codes[no_session.count("ana") - 1] if job.student == "ana" else ""
        running.remove(job.student)
        return replace(job.blank(), reason_code=code), ""

    monkeypatch.setattr(runner, "run_job", pretend)
    found = grade(submissions, tmp_path / "out", course=course, jobs=2)

    assert {kept} == {row.reason_code for row in found.records if row.student == "ana"}
    assert tried == no_session.count("ana")
    assert "ana" == no_session[-1] or tried == 1
    assert tried == 1 or 1 == beside[-1]
    assert 3 == len(found.records)


def test_no_more_jobs_than_processors_run(
    course: Path, submissions: Path, tmp_path: Path, no_session: list[str]
) -> None:
    """Eight times as many are asked for; the report says how many ran."""
    found = grade(submissions, tmp_path / "out", course=course, jobs=8 * processors())

    assert processors() == found.jobs


def test_the_notebook_of_another_exercise_is_not_graded(course: Path, tmp_path: Path) -> None:
    """It is no wrong answer: the reason says whose notebook it is."""
    path = tiny.hand_in(tmp_path, "ana")
    path.write_text(path.read_text(encoding="utf-8").replace("01.", "02."), encoding="utf-8")
    job = Job(str(course), tiny.EXERCISE, "ana", str(path), "none", "none", 0)
    record = grade_one(job, tmp_path)

    assert (Verdict.NOT_GRADED, None, "other-exercise") == (
        record.verdict, record.points, record.reason_code,
    )  # fmt: skip
    assert "its answers are those of exercise 02" in record.reason


def test_a_record_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    """Half a file, or one of another kit, counts as none."""
    for text in ("", "[]", "{", json.dumps({"student": "ana"}), json.dumps({"tasks": [{}]})):
        (tmp_path / "record.json").write_text(text, encoding="utf-8")

        assert dispatch.read_record(tmp_path / "record.json") is None
