"""Lesson 04 in a real JupyterLab: predicted, played with clicks and keys, looked at."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Locator, expect  # noqa: E402

CHECKOUT = Path(__file__).parents[2]
LESSON = CHECKOUT / "notebooks" / "04_revision_conflicts.ipynb"
LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
BOARDS = [
    "from runstate_lab.live.form import Form, Item, Reply\n"
    "from runstate_lab.rules import RULES\n"
    "from runstate_lab.live import Board, StateChart\n"
    "Board(schedule='ABABAB')",
    "Board(variants=('last-write-wins', 'naive'), schedule='BAABBA', compare=True)",
    "Board(variants=('compare-and-swap',), schedule='AABBBA', parts=('picture', 'state'))",
    "board = Board('three_writers', variants=('naive',), schedule='ABCABC')\nboard",
    "StateChart('run_started', 'waiting', 'run_failed', 'run_started')",
    "StateChart('run_cancelled', 'completed')",
    "order = Item('98.1', 'order', 'Put `this` in order', (('one', 'two', 'three'),))\n"
    "fill = Item('98.2', 'fill', 'Fill', (('a', 'b'), ('c', 'd')), code='if <1> != <2>:')\n"
    "ask = Item('98.3', 'choice', 'Choose', (('left', 'right'),), why=True)\n"
    "Form('All kinds', (order, fill, ask), lambda *given: Reply('Not yet.', 'wrong', given[1]))",
    "StateChart('run_started', 'waiting')",
    "StateChart(rules=RULES.only('run_started', 'approval_requested', 'approval_granted'))",
]


@pytest.fixture
def lesson(visit: Any) -> Any:
    """Lesson 04 as a student opens it, all cells run, nothing predicted."""
    visit.server.forget_progress()
    shutil.copy(LESSON, visit.server.root / LESSON.name)
    visit.open(LESSON.name)
    visit.run_all()
    return visit


def predict(visit: Any, id: str, reason: str) -> None:
    """Answer a prediction with its first choice and a reason."""
    form = visit.page.locator(f'.rs-question[data-id="{id}"]')
    form.wait_for(timeout=SLOW)
    form.get_by_role("radio").first.check()
    form.get_by_label("Why? One line.").fill(reason)
    form.get_by_role("button", name="Keep this prediction").click()
    expect(form.locator(".rs-said")).to_contain_text("You said", timeout=SLOW)


def board_of(visit: Any, number: int) -> Locator:
    """The open board with that number on the page."""
    return visit.page.locator(".runstate[data-schedule]").nth(number)


def click(board: Locator, order: str) -> None:
    """Press the buttons of the actors with the pointer, one after the other."""
    for actor in order:
        board.locator(f'[data-do="{actor}"]').click()


def shot(visit: Any, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        visit.page.screenshot(path=Path(folder) / f"{name}.png")


def test_lesson_04_is_predicted_and_played_with_clicks_and_keys(lesson: Any) -> None:
    """The boards are locked, open in place, and tell a lost update and a conflict."""
    expect(lesson.page.locator(".rs-locked").first).to_be_visible(timeout=SLOW)
    assert 0 == lesson.page.locator(".runstate[data-schedule]").count()

    predict(lesson, "04.lost", "each writes its own line")
    board = board_of(lesson, 0)
    click(board, "ABABAB")
    expect(board).to_have_attribute("data-revision", "5")
    expect(board.locator(".rs-fact-lost")).to_have_text("tests=green accepted, now gone")
    expect(board.locator(".rs-prediction")).to_contain_text("You said: two: both were accepted")
    expect(board.locator(".rs-prediction")).to_contain_text("1 of 2 results in the state")
    expect(board.locator('[data-do="A"]')).to_have_attribute("aria-disabled", "true")
    expect(board.locator(".rs-actor").first).to_contain_text("A is done")
    shot(lesson, "lesson_light")

    predict(lesson, "04.append", "nothing is overwritten")
    board = board_of(lesson, 1)
    board.get_by_label("compare-and-swap", exact=True).check()
    board.locator('[data-do="reset"]').focus()
    lesson.page.keyboard.press("Enter")
    for key in "BABABA":
        lesson.page.keyboard.press(key)
    expect(board).to_have_attribute("data-schedule", "BABABA")
    expect(board.get_by_role("status").first).to_contain_text("refused, revision conflict")
    expect(board.locator(".rs-fact-new")).to_have_text("scan=clean")
    lesson.page.keyboard.press("ArrowLeft")
    expect(board).to_have_attribute("data-at", "5")
    lesson.page.keyboard.press("Home")
    expect(board).to_have_attribute("data-at", "0")
    lesson.page.keyboard.press("End")
    expect(board).to_have_attribute("data-at", "6")
    lesson.theme("Dark")
    shot(lesson, "lesson_dark")

    assert ([], []) == (lesson.errors, lesson.outside)


def test_the_widgets_can_be_read_by_everybody_in_both_themes(visit: Any) -> None:
    """No serious axe finding, SVG text of contrast 4.5 and more, no clipped label."""
    visit.open(visit.server.write("boards.ipynb", BOARDS))
    visit.run_all()
    expect(visit.page.locator(".runstate")).to_have_count(len(BOARDS), timeout=SLOW)
    for theme in ("Light", "Dark"):
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")
        found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]

        assert [] == looked["faults"], theme
        assert looked["seen"] > 100
        assert [] == [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS
        ]
    assert ([], []) == (visit.errors, visit.outside)


@pytest.mark.slow
def test_a_board_goes_on_when_the_kernel_is_gone(visit: Any) -> None:
    """After a restart the steps are still in the browser, and a form says that nobody answers."""
    visit.open(visit.server.write("restart.ipynb", [BOARDS[0], BOARDS[4], BOARDS[6]]))
    visit.run_all()
    visit.page.locator(".rs-question").first.wait_for(timeout=SLOW)
    visit.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    visit.wait_until_idle()
    board = board_of(visit, 0)
    board.locator('[data-do="first"]').click()
    click(board, "BBA")
    chart = visit.page.locator(".runstate[data-status]")
    chart.locator('[data-do="back"]').click()
    form = visit.page.locator(".rs-question").first
    form.get_by_role("button", name="Answer").click()

    expect(board).to_have_attribute("data-schedule", "BBA")
    expect(chart).to_have_attribute("data-status", "failed")
    expect(form.locator(".rs-said")).to_contain_text("The kernel has not answered yet", timeout=SLOW)


PASTED = (
    ("AABX", "there is no move X here after AAB"),
    ("AA1", "1 is no move; an order is made of A, B"),
    ("AAAAB", "A is done after AAA"),
)
FAULTY = (
    "from runstate_lab.live import Board\n"
    "board = Board('two_writers', parts=('picture', 'tried'))\nboard.listen(lambda one: {}['missing'], 'at')\nboard"
)


def test_what_cannot_be_played_says_why(visit: Any) -> None:
    """A pasted order is played or refused in words; a fault of a callback is shown in place."""
    visit.open(visit.server.write("pasted.ipynb", [FAULTY]))
    visit.run_all()
    board = board_of(visit, 0)
    board.wait_for(timeout=SLOW)
    field = board.get_by_label("Order so far")
    for typed, reason in PASTED:
        field.fill(typed)
        field.press("Enter")
        expect(board.locator(".rs-order .rs-why")).to_contain_text(reason)
    field.fill("aab bab")
    field.press("Enter")

    expect(board).to_have_attribute("data-schedule", "AABBAB")
    expect(board.get_by_role("alert")).to_have_text("KeyError: 'missing'", timeout=SLOW)
    assert [] == visit.outside
