"""The board in a real JupyterLab: by pointer and by keys, with a learner's own store, looked at."""

from __future__ import annotations

import os
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Locator, expect  # noqa: E402

from runstate_lab.live.boards.board import Board  # noqa: E402

LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
WIDER = "(node) => node.scrollWidth > node.clientWidth + 1"
MINE = """from runstate_lab import RULES, RunState, StateProposal, StateStore, reduce


class MyStore(StateStore):
    \"\"\"Written by a learner: it takes what it is given.\"\"\"

    def __init__(self, state):
        super().__init__(state)
        self.pages = {state.revision: state}

    def apply(self, proposal, *, context):
        event = self._event(proposal, context)
        page = self.pages[proposal.expected_revision]
        self._state = self.pages[page.revision + 1] = reduce(page, event, RULES)
        from runstate_lab import Entry
        self._keep(Entry(event, self._state.revision))
        return self._state
"""
OWN = """from runstate_lab.live import Board
board = Board("two_writers", variants=("compare-and-swap",), mine=MyStore)
board"""
TWO = 'from runstate_lab.live import Board\nboard = Board("two_writers")\nboard'
LOOKED_AT = [
    "from runstate_lab.live import Board\nboard = Board('two_writers', schedule='ABABAB')\n"
    "board.choose('naive'), board.explore(), board.fork(), board.go(4), board.step('B')\nboard",
    "world = Board('crash_between')\nworld.choose('effect first'), world.shortest()\nworld",
    "three = Board('three_writers', variants=('naive', 'compare-and-swap'), schedule='ABCABC')\nthree",
    "mail = Board(variants=('naive',), parts=('picture', 'state', 'laws', 'diff', 'faults'))\n"
    "mail.play('AAA+BB!BBBa')\nmail",
    "late = Board('late_result', parts=('picture', 'state'))\nlate.choose('naive'), late.shortest()\nlate",
    "class Wrong(StateStore):\n    def apply(self, proposal, *, context):\n        return {}['x']\n"
    "wrong = Board(mine=Wrong)\nwrong.choose('mine'), wrong.play('AAA'), wrong.explore()\nwrong",
    "locked = Board()\nlocked.seal('predict first')\nlocked",
]


def shown(visit: Any, *cells: str) -> Locator:
    """The only board on a fresh page."""
    visit.open(visit.server.write("board.ipynb", list(cells)))
    visit.run_all()
    board = visit.page.locator(".runstate[data-schedule]")
    board.wait_for(timeout=SLOW)
    return board


def said(board: Locator) -> Locator:
    """The live line of a board."""
    return board.locator(".rs-live")


def shot(visit: Any, board: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        board.screenshot(path=Path(folder) / f"{name}.png")


def measure_presses(page: Any, presses: int = 30) -> list[float]:
    """Milliseconds from each click on the board's buttons to what is seen of it."""
    times = page.evaluate(PRESSES, presses)
    return [float(one) for one in times]


PRESSES = """async (presses) => {
  const root = document.querySelector(".runstate[data-schedule]"), times = [];
  const open = (name) => root.querySelector(`[data-do="${name}"]:not([aria-disabled="true"])`);
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let press = 0; press < presses; press += 1) {
    const button = open(press % 2 ? "A" : "B") ?? open("A") ?? open("B") ?? open("reset");
    await painted();
    const begun = performance.now(), changed = new Promise((done) => {
      const watch = new MutationObserver(() => { watch.disconnect(); done(); });
      watch.observe(root, { attributes: true, attributeFilter: ["data-at"] });
    });
    button.click();
    await changed;
    await painted();
    times.push(performance.now() - begun);
  }
  return times;
}"""


def test_two_writers_are_played_by_pointer(visit: Any) -> None:
    """Six presses lose an update; scrub, chip, another store, every order, the shortest one."""
    board = shown(visit, TWO)
    board.get_by_label("naive", exact=True).check()
    for worker in "ABABAB":
        board.locator(f'[data-do="{worker}"]').click()
    expect(said(board)).to_contain_text("tests=green is gone, and nobody was told")
    expect(board.locator(".rs-fact-lost")).to_have_text("tests=green accepted, now gone")
    expect(board.locator('[data-do="A"]')).to_have_attribute("aria-disabled", "true")
    expect(board.locator(".rs-actor").first).to_contain_text("A is done")
    board.locator('[data-do="back"]').click()
    expect(board).to_have_attribute("data-at", "5")
    board.locator(".rs-chip").click()
    expect(board).to_have_attribute("data-at", "6")
    board.get_by_label("compare-and-swap", exact=True).check()
    expect(said(board)).to_contain_text("refused, revision conflict; found revision 5")
    board.locator("summary", has_text="The same order").click()
    expect(board.locator('[data-part="stores"] tbody tr')).to_have_count(4)
    expect(board.locator('[data-part="stores"]')).to_contain_text("1 of 2 results lost")

    board.get_by_label("naive", exact=True).check()
    board.locator('[data-do="explore"]').click()
    expect(board.locator(".rs-board-said")).to_contain_text("20 orders: an update is lost in 18", timeout=SLOW)
    expect(board.locator(".rs-board-ends li")).to_have_count(4)
    expect(board.locator(".rs-board-ends li").first).to_contain_text("9 of 20, 45%")
    board.locator('[data-shortest="no_lost_update"]').click()
    expect(board).to_have_attribute("data-schedule", "AABBBA")
    shot(visit, board, "board_light")
    times = measure_presses(visit.page)
    print(f"median of {len(times)} presses: {median(times):.1f} ms")
    assert median(times) < 100
    assert ([], []) == (visit.errors, visit.outside)


def test_two_writers_are_played_by_keys(visit: Any) -> None:
    """Letters press, arrows scrub, f forks, s swaps; letters in a field are only typed."""
    board = shown(visit, TWO)
    keys = visit.page.keyboard
    board.locator('[data-do="reset"]').focus()
    for key in "ABABA":
        keys.press(key)
    expect(board).to_have_attribute("data-schedule", "ABABA")
    keys.press("ArrowLeft")
    keys.press("f")
    expect(said(board)).to_have_text("Branch 1 is kept; branch 2 goes on after ABAB.")
    keys.press("b")
    expect(board).to_have_attribute("data-schedule", "ABABB")
    keys.press("s")
    expect(board).to_have_attribute("data-store", "naive")
    expect(board.locator('[data-part="branches"] tbody tr')).to_have_count(2)
    board.locator('[data-branch="1"]').focus()
    keys.press("Enter")
    expect(board).to_have_attribute("data-schedule", "ABABA")
    expect(board).to_have_attribute("data-store", "compare-and-swap")
    expect(board).to_have_attribute("data-at", "4")
    keys.press("Home")
    expect(board).to_have_attribute("data-at", "0")
    field = board.get_by_label("Order or token")
    field.focus()
    keys.press("Control+a")
    keys.type("bbaabs")
    expect(board).to_have_attribute("data-schedule", "ABABA")
    keys.press("Enter")
    expect(board.locator(".rs-order .rs-why")).to_contain_text("there is no move S here after BBAAB")
    assert ([], []) == (visit.errors, visit.outside)


def test_a_branch_is_kept_by_pointer_and_every_order_run_by_keys(visit: Any) -> None:
    """What the two tests before leave out: fork and switch pressed; explore, load, a fault by keys."""
    board = shown(visit, "from runstate_lab.live import Board\nBoard('two_writers', variants=('naive',))")
    keys = visit.page.keyboard
    for worker in "AB":
        board.locator(f'[data-do="{worker}"]').click()
    board.locator('[data-do="fork"]').click()
    board.locator('[data-do="B"]').click()
    board.locator('[data-branch="1"]').click()
    expect(board).to_have_attribute("data-schedule", "AB")
    board.locator('[data-branch="2"]').click()
    expect(board).to_have_attribute("data-schedule", "ABB")

    board.locator('[data-do="explore"]').focus()
    keys.press("Enter")
    expect(board.locator(".rs-board-said")).to_contain_text("20 orders", timeout=SLOW)
    board.locator('[data-shortest="no_lost_update"]').focus()
    keys.press("Enter")
    expect(board).to_have_attribute("data-schedule", "AABBBA")
    keys.press("Home")
    keys.press("a")
    board.locator(".rs-board-faults summary").focus()
    keys.press("Enter")
    board.get_by_label("as it is", exact=True).focus()
    keys.press("ArrowRight")
    expect(board.get_by_label("crash", exact=True)).to_be_checked()
    board.locator('[data-do="A"]').focus()
    keys.press("Enter")
    expect(board).to_have_attribute("data-schedule", "AA!", timeout=SLOW)
    assert ([], []) == (visit.errors, visit.outside)


def test_the_keys_of_the_notebook_stop_at_a_widget(visit: Any) -> None:
    """No letter cuts, adds or deletes a cell from inside a widget; arrows move between its choices."""
    board = shown(visit, "from runstate_lab.live import Board\nBoard('two_writers')")
    keys, cells = visit.page.keyboard, visit.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    for control in (board.locator('[data-do="reset"]'), board.get_by_label("naive", exact=True)):
        control.focus()
        for key in ("x", "d", "d", "j", "k", "m", "y", "z"):
            keys.press(key)
        expect(control).to_be_focused()
    keys.press("ArrowRight")
    expect(board).to_have_attribute("data-store", "last-write-wins")
    assert before == cells.count()
    assert ([], []) == (visit.errors, visit.outside)


def test_a_step_is_foretold(visit: Any) -> None:
    """Marked before the press, judged with the step, counted."""
    board = shown(visit, "from runstate_lab.live import Board\n"
                  "Board(variants=('compare-and-swap',), schedule='AABBB', parts=('picture', 'expect'))")
    board.get_by_label("refused", exact=True).check()
    visit.page.keyboard.press("a")
    expect(said(board)).to_contain_text("nothing changed. You expected: refused. So it is.")
    expect(board.locator(".rs-board-expect")).to_contain_text("1 of 1 came as you said")
    expect(board.get_by_label("refused", exact=True)).not_to_be_checked()
    board.locator('[data-do="back"]').click()
    expect(said(board)).not_to_contain_text("You expected")
    assert ([], []) == (visit.errors, visit.outside)


def test_a_learners_own_store_is_explored_and_its_counterexample_replayed(visit: Any) -> None:
    """Typed into a cell, explored over all orders; the shortest bad one steps again, as a token too."""
    board = shown(visit, MINE, OWN)
    board.get_by_label("mine", exact=True).check()
    board.locator('[data-do="explore"]').click()
    expect(board.locator(".rs-board-said")).to_contain_text("20 orders: an update is lost in 18", timeout=SLOW)
    board.locator('[data-shortest="no_lost_update"]').click()
    expect(board).to_have_attribute("data-schedule", "AABBBA")
    expect(said(board)).to_contain_text("scan=clean is gone, and nobody was told")
    visit.page.keyboard.press("ArrowLeft")
    expect(said(board)).to_contain_text("accepted at revision 5")
    visit.page.keyboard.press("ArrowRight")
    token = board.get_by_label("Token of this step").input_value()
    assert re.fullmatch(r"AABBBA-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{2}", token)
    board.get_by_label("compare-and-swap", exact=True).check()
    expect(said(board)).to_contain_text("refused, revision conflict")

    board.locator('[data-do="reset"]').click()
    field = board.get_by_label("Order or token")
    field.fill(token)
    board.get_by_role("button", name="Play this order").click()
    expect(board).to_have_attribute("data-store", "mine", timeout=SLOW)
    expect(board).to_have_attribute("data-schedule", "AABBBA")
    for wrong, reason in ((token.replace("AABBBA", "AABBAB"), "does not add up"), (BORROWED, "another place")):
        field.fill(wrong)
        field.press("Enter")
        expect(board.locator(".rs-order .rs-why")).to_contain_text(reason, timeout=SLOW)
        expect(field).to_have_attribute("aria-invalid", "true")
    assert ([], []) == (visit.errors, visit.outside)


BORROWED = Board("three_writers", variants=("naive",), schedule="ABC").token()


@pytest.mark.slow
def test_faults_are_asked_of_the_kernel(visit: Any) -> None:
    """A crash, a late proposal, its mail; and a kernel that is gone is told."""
    board = shown(visit, TWO)
    board.locator(".rs-board-faults summary").click()
    crash, mail = board.get_by_label("crash", exact=True), board.locator('[data-do="mail-A"]')
    crash.check()
    expect(board.locator(".rs-actor").first).to_contain_text("A has not begun: nothing to forget")
    board.get_by_label("as it is", exact=True).check()
    board.locator('[data-do="A"]').click()
    crash.check()
    board.locator('[data-do="A"]').click()
    expect(board).to_have_attribute("data-schedule", "AA!", timeout=SLOW)
    expect(said(board)).to_contain_text("crashes: what it knew is gone")
    for length in (4, 5):
        board.locator('[data-do="A"]').click()
        expect(board).to_have_attribute("data-schedule", "AA!" + "A" * (length - 3), timeout=SLOW)
    expect(mail).to_have_attribute("aria-disabled", "true")
    board.get_by_label("late", exact=True).check()
    board.locator('[data-do="A"]').click()
    expect(said(board)).to_contain_text("it is late, and no answer comes", timeout=SLOW)
    mail.click()
    expect(said(board)).to_contain_text("The mail of A, the test tool, arrives", timeout=SLOW)
    expect(board.locator(".rs-fact-new")).to_have_text("tests=green")
    shot(visit, board, "board_faults")
    visit.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    visit.wait_until_idle()
    board.locator('[data-do="first"]').click()
    board.locator('[data-do="B"]').click()
    expect(board).to_have_attribute("data-schedule", "B")
    crash.check()
    board.locator('[data-do="B"]').click()
    expect(said(board)).to_contain_text("The kernel has not answered yet. If it is busy, your press waits", timeout=SLOW)
    assert [] == visit.outside


@pytest.mark.slow
def test_the_boards_can_be_read_by_everybody(visit: Any) -> None:
    """Both themes, wide and narrow: contrast, clipping, names of controls, no traceback."""
    cells = ["from runstate_lab import StateStore", *LOOKED_AT]
    visit.open(visit.server.write("boards.ipynb", cells))
    visit.run_all()
    boards = visit.page.locator(".runstate")
    expect(boards).to_have_count(len(LOOKED_AT), timeout=SLOW)
    for theme, wide in (("Light", 1280), ("Dark", 1280), ("Dark", 640)):
        visit.page.set_viewport_size({"width": wide, "height": 800})
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")
        found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]

        assert [] == looked["faults"], (theme, wide)
        assert looked["seen"] > 150
        assert [] == [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS
        ]
        assert [] == [one for one in boards.all() if one.evaluate(WIDER)]
        for number in range(len(LOOKED_AT)):
            shot(visit, boards.nth(number), f"board_{theme}_{wide}_{number}")
    expect(said(boards.nth(5))).to_contain_text("A, the test tool, fails: KeyError: 'x'")
    assert 0 == visit.page.locator(".jp-RenderedText[data-mime-type*=stderr]").count()
    assert ([], []) == (visit.errors, visit.outside)
