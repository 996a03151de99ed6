"""Verify: a course that says one thing and does another is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.build import build
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import CourseFault
from runstate_lab.course.verify import graded_faults, verify, visible_faults
from runstate_lab.course.wrong import read_wrong, wrong_answers
from runstate_lab.grading.checks import check_answers
from runstate_lab.grading.runner import grade

ROOT = Path(__file__).resolve().parents[1]
WRONG = Path("solutions", "01_greeting", "wrong")


def said(faults: list[CourseFault]) -> str:
    """All faults as a reader sees them."""
    return "\n".join(map(str, faults))


def test_the_tiny_course_holds_by_its_visible_checks(tiny: Catalogue) -> None:
    """Stub, solution and four wrong answers do what they should."""

    assert "" == said(visible_faults(tiny, check=check_answers))


def test_a_wrong_answer_that_fails_elsewhere_is_told_with_both_checks(tiny: Catalogue) -> None:
    """What its header names, and where it really fails."""
    path = tiny.root / WRONG / "same_for_all.py"
    path.write_text(path.read_text(encoding="utf-8").replace("Ada", "Eve"), encoding="utf-8")

    assert (
        "solutions/01_greeting/wrong/same_for_all.py: "
        "should fail at: 01.1 another name, another greeting\n"
        "  it fails at: 01.1 the name is in the greeting"
    ) == said(visible_faults(tiny, check=check_answers))


def test_a_wrong_answer_that_passes_is_told(tiny: Catalogue) -> None:
    """It is not wrong, or nothing looks."""
    path = tiny.root / WRONG / "accepts_blank.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace('name == ""', "not name.strip()"), encoding="utf-8"
    )

    assert "it fails at: no visible check" in said(visible_faults(tiny, check=check_answers))


def test_too_few_wrong_answers_are_told(tiny: Catalogue) -> None:
    """Four are the least."""
    (tiny.root / WRONG / "same_for_all.py").unlink()

    assert "solutions/01_greeting/wrong: 3 wrong answers; at least 4 are needed" == said(
        visible_faults(tiny, check=check_answers)
    )


def test_a_stub_that_passes_is_told(tiny: Catalogue) -> None:
    """A check that asks nothing lets the stub through."""
    master = tiny.root / tiny.exercise("01").master
    text = master.read_text(encoding="utf-8")
    master.write_text(
        text.replace('    checked(" ")\n', "    raise ValueError\n"), encoding="utf-8"
    )
    build(tiny, ["01_greeting"])

    assert "the stub of 01.2 passes its visible checks" in said(visible_faults(tiny, check=check_answers))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# answer: 01.1\nx = 1", "no line `# fails:"),
        ("# fails: 01.1 a\n# fails: 01.1 b\n# answer: 01.1", "more than one"),
        ("# fails: 01.1 a\nx = 1", "no line `# answer:"),
    ],
)
def test_a_wrong_answer_without_its_marks_is_refused(text: str, words: str) -> None:
    """Header and answer are both needed."""
    with pytest.raises(CourseFault, match=words):
        read_wrong(text, WRONG / "x.py")


@pytest.mark.slow
def test_the_grader_agrees_about_the_tiny_course(tiny: Catalogue) -> None:
    """Held-back checks included: every wrong answer fails where it says."""

    assert "" == said(graded_faults(tiny, grade=grade))


@pytest.mark.slow
def test_the_kits_own_course_holds() -> None:
    """Catalogue, notebooks, visible checks, grader and bundle: no fault."""

    assert "" == said(verify(catalogue.load(ROOT), check=check_answers, grade=grade))


def test_every_exercise_has_four_wrong_answers_with_names() -> None:
    """Each is read, and no two tell of the same check alone."""
    course = catalogue.load(ROOT)
    counted = {each.name: len(wrong_answers(course, each)) for each in course.exercises}

    assert 3 <= len(counted)
    assert {} == {name: number for name, number in counted.items() if number < 4}
