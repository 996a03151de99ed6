"""The pages: everything escaped, nothing loaded, held-back cases by title only."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from runstate_lab.grading import verdict
from runstate_lab.grading.feedback import index_page, student_pages
from runstate_lab.grading.handed import Unexpected
from runstate_lab.grading.verdict import Case, Record, Verdict, from_json, grade_task, to_json

SCRIPT = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags of a page, and whether each was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Kept until it is closed."""
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Closes the tag that was opened last."""
        assert self.open.pop() == tag


def record(student: str = "ana", **changes: object) -> Record:
    """A record with one visible and one held-back case that failed."""
    cases = [
        Case("two writers", True, Verdict.FAIL, "wrong", f"expected 4 {SCRIPT}"),
        Case("every order", False, Verdict.FAIL, "raised", "ValueError"),
    ]
    task = grade_task("04.1", "apply", 4, cases, notes=("found by its cell id",))
    fields: dict[str, object] = {
        "student": student, "exercise": "04", "exercise_version": "v", "submission": "ab" * 32,
        "seed": 0, "level": "confined", "isolation": "confined", "verdict": Verdict.FAIL,
        "points": 0, "max_points": 4, "tasks": (task,), "reason": task.reason,
    }  # fmt: skip
    return Record(**{**fields, **changes})  # type: ignore[arg-type]


def tags(page: str) -> Tags:
    """The page's tags, all of them closed."""
    parser = Tags()
    parser.feed(page)

    assert [] == parser.open
    return parser


def test_nothing_of_a_submission_becomes_markup() -> None:
    """Names and messages are escaped wherever they stand."""
    page = student_pages([record(SCRIPT)])[SCRIPT]
    index = index_page([record(SCRIPT)], [Unexpected(SCRIPT, "a file")], "confined")

    assert "script" not in tags(page).seen + tags(index).seen
    assert page.count("&lt;script&gt;") == 3


def test_a_page_loads_nothing() -> None:
    """No address, no script, no picture: it opens the same without a network."""
    page = student_pages([record()])["ana"]

    assert [] == re.findall(r"(?:src|href|url)\s*[=(]", page)
    assert "default-src 'none'" in page


def test_each_student_has_one_page_with_all_exercises() -> None:
    """Two records of one student stand on one page."""
    pages = student_pages([record(), record(exercise="02"), record("ben")])

    assert ["ana", "ben"] == sorted(pages)
    assert ["02", "04"] == re.findall(r"<h2[^>]*>(\d\d)</h2>", pages["ana"])


def test_a_verdict_is_a_word_and_not_only_a_colour() -> None:
    """The three verdicts read differently."""
    page = index_page(
        [
            record("a", verdict=Verdict.PASS, points=4),
            record("b"),
            record("c", verdict=Verdict.NOT_GRADED, points=None, tasks=()),
        ],
        [],
        "confined",
    )

    assert ["PASS", "FAIL", "NOT_GRADED"] == re.findall(r"</span> ([A-Z_]+)</td>", page)


def test_what_was_not_graded_is_said_to_be_no_zero() -> None:
    """The page gives the reason and no points."""
    lost = record(verdict=Verdict.NOT_GRADED, points=None, tasks=(), reason="the file is empty")
    page = student_pages([lost])["ana"]

    assert "this is not a zero" in page
    assert "the file is empty." in page


def test_a_link_leads_to_the_page_of_an_odd_name() -> None:
    """Blanks, question marks and other scripts are quoted in the address."""
    page = index_page([record("李 ?#")], [], "confined")

    assert 'href="feedback/%E6%9D%8E%20%3F%23.html"' in page


def test_both_themes_are_there() -> None:
    """A dark page follows the reader's setting."""

    assert "prefers-color-scheme: dark" in student_pages([record()])["ana"]


def test_no_page_of_a_student_is_larger_than_200_kb() -> None:
    """Megabytes of words, notes and cases are cut."""
    noise = "<&\"'" * 250_000
    cases = [Case(noise, True, Verdict.FAIL, "wrong", noise)] * 30
    task = grade_task("04.1", noise, 4, cases, notes=(noise,) * 50)
    hostile = record(tasks=(task,) * 3, reason=noise, notes=(noise,) * 50)
    page = student_pages([hostile, replace(hostile, exercise="02")])["ana"]

    assert len(page.encode()) <= 200_000
    assert [] == tags(page).open


def test_a_record_holds_no_letter_that_a_page_cannot_show() -> None:
    """Control characters, half letters and a page's worth of words are cleaned on the way to disk."""
    hostile = record(reason="a\ud800\x00\x1b[2K\u202eb\u200c", notes=("x" * 10_000, *"y" * 5_000))
    kept = json.dumps(to_json(hostile), ensure_ascii=False)

    assert "a???[2K?b\u200c" in kept
    assert len(kept.encode()) < 20_000
    assert hostile.student == from_json(json.loads(kept)).student


def test_no_path_and_no_traceback_of_ours_is_on_a_students_page() -> None:
    """They tell a student nothing, and a stranger where we are."""
    ours = str(Path(verdict.__file__).parents[2])
    words = f"it failed in {ours}/runstate_lab/x.py\nTraceback (most recent call last):\n  secret"
    scratch = "it failed in /var/tmp/runstate-grade-ab12cd/job.json"
    rows = [record(reason=words, tasks=()), record(exercise="02", reason=scratch, tasks=())]
    page = student_pages(rows)["ana"]

    assert [] == [part for part in (ours, "Traceback", "secret", "ab12cd") if part in page]
    assert 2 == page.count("it failed in …")


def test_what_does_not_fit_on_the_index_page_is_counted() -> None:
    """Thousands of files beside the students are named as a number."""
    page = index_page([], [Unexpected(f"{number}", "a file") for number in range(5_290)], "confined")

    assert "… and 4990 more" in page
    assert len(page) < 200_000


def test_the_index_page_says_what_to_look_at_and_what_to_know() -> None:
    """Copies, names alike, the public tests, the seed and the state that the worker keeps."""
    page = index_page([record(likeness="x"), record("ben", likeness="x")], [], "confined")

    for words in (
        "04: “ana”, “ben” handed in the same file",
        "nothing of it is held against anyone",
        "which Binder opens too",
        "Seed 0 is the default",
        "lives in the student&#39;s own worker",
    ):
        assert words in page.replace("student's", "student&#39;s")


def test_the_index_page_names_the_file_that_was_taken() -> None:
    """A note of the record stands beside its reason."""
    page = index_page([record(notes=("graded from “x (1).ipynb”",))], [], "confined")

    assert "(graded from “x (1).ipynb”)" in page
