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

from runstate_lab.bench.lab import a_server, a_visit  # noqa: E402
from runstate_lab.course.questiontable import order_of  # noqa: E402

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


PREDICTED = ("04.lost", "04.count", "04.append", "04.blind")
OFFERED = "call = wanted(page, call.call_id)"


@pytest.mark.slow
def test_lesson_04_is_played_to_its_end_with_the_offered_line(lesson: Any) -> None:
    """Each prediction answered by click, the line typed into its cell: no order breaks the law."""
    # The last cell has run: a kernel at work would answer later than anybody waits.
    lesson.page.locator('.rs-question[data-id="04.first.1"]').wait_for(timeout=SLOW)
    lesson.wait_until_idle()
    for id in PREDICTED:
        predict(lesson, id, "because I think so")
    before = lesson.page.get_by_text("20 orders, 18 break deployed_once")
    expect(before).to_have_count(2, timeout=SLOW)

    line = lesson.page.locator(".cm-line", has_text="# your line: call = ...")
    line.scroll_into_view_if_needed()
    line.click()
    for key in ("Home", "Shift+End"):
        lesson.page.keyboard.press(key)
    lesson.page.keyboard.type(OFFERED)
    lesson.page.keyboard.press("Shift+Enter")

    cell = lesson.page.locator(".jp-CodeCell", has_text="def decide_again")
    expect(cell.locator(".jp-OutputArea")).to_contain_text(
        "20 orders, 0 break deployed_once", timeout=SLOW
    )
    expect(before).to_have_count(1)
    shot(lesson, "lesson_04_end")
    assert ([], []) == (lesson.errors, lesson.outside)


ASKED = [
    "from runstate_lab.course import fill, order, quiz\nquiz('00.3')",
    "fill('01.7')",
    "order('00.6')",
]


def put_in_order(form: Locator, id: str) -> None:
    """Leave out what does not belong, and move each step up to its place."""
    asked = order_of(id)
    slips = [slip for slip in asked.shown if slip in asked.steps]
    for choice in asked.distractors:
        form.get_by_role("button", name=f"Leave out: {choice.text}").click()
    for place, step in enumerate(asked.steps):
        rows = form.locator(".rs-slips li")
        while form_order(rows, slips).index(step) > place:
            form.get_by_role("button", name=f"Move up: {step}").click()


def form_order(rows: Locator, slips: list[str]) -> list[str]:
    """The slips that are kept, as they stand."""
    return [one for one in rows.locator(".rs-slip-text").all_text_contents() if one in slips]


@pytest.mark.slow
def test_answers_are_there_after_the_server_was_started_again(
    browser: Any, tmp_path: Path
) -> None:
    """A quiz, a fill and an order: answered, the server stopped and started, Run All."""
    base = tmp_path / "lab"
    base.mkdir()
    with a_server(base) as server, a_visit(browser, server) as visit:
        visit.open(server.write("asked.ipynb", ASKED))
        visit.run_all()
        forms = visit.page.locator(".rs-question")
        expect(forms).to_have_count(3, timeout=SLOW)
        quiz, fill, order = (forms.nth(number) for number in range(3))
        quiz.get_by_role("radio").nth(2).check()
        for number, letter in enumerate("bab"):
            fill.locator("select").nth(number).select_option(letter)
        put_in_order(order, "00.6")
        for form in (quiz, fill, order):
            form.get_by_role("button", name="Answer", exact=True).click()
            expect(form.locator(".rs-said p").first).to_be_visible(timeout=SLOW)
    with a_server(base) as server, a_visit(browser, server) as visit:
        visit.open("asked.ipynb")
        visit.run_all()
        forms = visit.page.locator(".rs-question")
        expect(forms).to_have_count(3, timeout=SLOW)
        quiz, fill, order = (forms.nth(number) for number in range(3))

        expect(quiz.get_by_role("radio").nth(2)).to_be_checked()
        expect(quiz.locator(".rs-said-good")).to_contain_text("Right. It was offered, refused")
        expect(quiz.locator(".rs-said")).to_contain_text("You answered this before: 1 try.")
        assert "bab" == "".join(fill.locator("select").nth(number).input_value() for number in range(3))
        expect(fill.locator(".rs-said-wrong")).to_contain_text("c1 is the call of")
        expect(order.locator(".rs-said-good")).to_contain_text("Right. Writer first")
        slips = list(order_of("00.6").steps)
        assert slips == form_order(order.locator(".rs-slips li"), slips)
        expect(order.locator(".rs-slips li.rs-out")).to_have_count(2)
        shot(visit, "answers_restored_light")
        visit.theme("Dark")
        shot(visit, "answers_restored_dark")
        assert ([], []) == (visit.errors, visit.outside)


@pytest.mark.slow
def test_a_still_picture_has_a_line_where_widgets_do_not_come(visit: Any) -> None:
    """With the widget extension off, the picture stands there and says what to call."""
    visit.open(visit.server.write("plain.ipynb", ["from runstate_lab.live import Board\nBoard()"]))
    visit.run_all()
    board = board_of(visit, 0)
    board.wait_for(timeout=SLOW)
    output = visit.page.locator(".jp-OutputArea-output").first
    expect(output).not_to_contain_text("No buttons here")

    visit.page.evaluate(NO_WIDGETS)
    expect(output).to_contain_text('No buttons here; in a cell, board.step("A") does the same.')
    expect(output.locator("img")).to_be_visible()
    shot(visit, "no_widgets")


# What a site does that disables the extension: nobody renders the widget's view any more.
NO_WIDGETS = """() => {
  const content = window.jupyterapp.shell.currentWidget.content;
  content.rendermime.removeMimeType("application/vnd.jupyter.widget-view+json");
  const area = content.widgets[0].outputArea, kept = area.model.toJSON();
  area.model.clear();
  area.model.fromJSON(kept);
}"""
