"""The pages: everything escaped, nothing loaded, held-back cases by title only."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from runstate_lab.grading.feedback import index_page, student_pages
from runstate_lab.grading.handed import Unexpected
from runstate_lab.grading.verdict import Case, Record, Verdict, grade_task

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
