"""Grading. The pages for people: one per student, and an index for the instructor.

Everything that comes from a submission is escaped by the template engine, and
the pages may load nothing and run nothing. Of a held-back case they show its
title and the kind of failure.

What is not here: the rows for machines (see `gradebook`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import jinja2

from runstate_lab.grading.alike import remarks
from runstate_lab.grading.gradebook import ordered
from runstate_lab.grading.handed import Unexpected
from runstate_lab.grading.verdict import REASONS, Case, Record, Verdict, fit

LARGEST_PAGE = 200_000
# How much of a text is shown: less where the page would become too large.
LENGTHS = (500, 100, 20)
MOST_LISTED = 300
TEMPLATES = Path(__file__).parent / "templates"
SIGNS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.NOT_GRADED: "–"}
WORDS = {Verdict.PASS: "passed", Verdict.FAIL: "not passed", Verdict.NOT_GRADED: "not graded"}


def student_pages(records: Iterable[Record]) -> dict[str, str]:
    """Each student's page as HTML text, by student; none is larger than 200 kB."""
    return {
        student: _student_page(student, list(rows))
        for student, rows in groupby(ordered(records), key=lambda record: record.student)
    }


def _student_page(student: str, records: list[Record]) -> str:
    template = _environment().get_template("student.html")
    page = ""
    for most in LENGTHS:
        page = template.render(student=student, records=records, most=most)
        if len(page.encode("utf-8", "replace")) <= LARGEST_PAGE:
            break
    return page


def index_page(
    records: Iterable[Record],
    unexpected: Iterable[Unexpected],
    isolation: str,
    not_closed: Iterable[str] = (),
) -> str:
    """The instructor's overview: every submission, what was none, and what to look at."""
    rows, others = ordered(records), list(unexpected)
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    return (
        _environment()
        .get_template("index.html")
        .render(
            records=rows,
            unexpected=others[:MOST_LISTED],
            more=len(others[MOST_LISTED:]),
            isolation=isolation,
            not_closed=list(not_closed),
            counts=counts,
            remarks=remarks(rows),
            most=LENGTHS[0],
        )
    )


def case_words(case: Case, *, most: int = 500) -> str:
    """What the student is told about a case that did not hold.

    >>> case_words(Case("counts", False, Verdict.FAIL, "raised", "ValueError"))
    'the answer raised an exception (ValueError)'
    >>> case_words(Case("counts", True, Verdict.PASS))
    ''
    """
    if not case.kind:
        return ""
    found = REASONS[case.kind][0]
    return f"{found} ({fit(case.message, most=most)})" if case.message else found


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(signs=SIGNS, words=WORDS, case_words=case_words)
    environment.filters["address"] = lambda student: quote(f"feedback/{student}.html")
    environment.filters["fit"] = lambda text, most: fit(text, most=most)
    environment.filters["number"] = lambda points: "" if points is None else f"{points:g}"
    return environment
