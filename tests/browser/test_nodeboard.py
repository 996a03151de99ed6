"""The node board in a real JupyterLab: pressed by pointer and by keys, looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Locator, expect  # noqa: E402

LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
WIDER = "(node) => node.scrollWidth > node.clientWidth + 1"
TO_THE_TOP = "() => document.querySelectorAll('.rs-nb-tall').forEach((it) => { it.scrollTop = 0; })"
CELLS = [
    "from runstate_lab.live import NodeBoard\n"
    "from runstate_lab.brokenloops import FencedByNameScheduler, GreedyScheduler\n"
    "from runstate_lab.graph import ExecutableGraph, Node\n"
    "board = NodeBoard(scheduler=FencedByNameScheduler)\nboard",
    "busy = NodeBoard(scheduler=(FencedByNameScheduler, GreedyScheduler), compare=True)\n"
    "for node in ('build', 'tests', 'scan'): busy.take('w1'), busy.finish('w1', node)\n"
    "busy.take('w2'), busy.finish('w2'), busy.deny(), busy.release(), busy.die('w2')\nbusy",
    "names = [f'step_{place}' for place in range(60)]\n"
    "nodes = [Node(name, dict, tuple(names[place - 1 : place])) for place, name in enumerate(names)]\n"
    "chain = NodeBoard(ExecutableGraph(nodes, start=('step_0',)))\n"
    "for _ in range(20): chain.take('w1'), chain.finish('w1')\n"
    "chain.take('w2'), chain.tick(9)\nchain",
    "wide = [Node(f'suite_{place}_with_a_long_name', dict, ('build',)) for place in range(7)]\n"
    "last = Node('announce', dict, ('build', *(one.name for one in wide)))\n"
    "fan = NodeBoard(ExecutableGraph([Node('build', dict), *wide, last], start=('build',)))\n"
    "fan.take('w1'), fan.finish('w1'), fan.take('w1', limit=2), fan.take('w2', limit=3)\n"
    "fan.fail('w2'), fan.tick(5)\nfan",
    "NodeBoard(ExecutableGraph([], start=()))",
    "locked = NodeBoard()\nlocked.seal('predict first')\nlocked",
]


def press(board: Locator, name: str, at: int) -> None:
    """Press a control with the pointer and wait until its answer is there."""
    board.locator(f'[data-do="{name}"]').click()
    expect(board).to_have_attribute("data-at", str(at), timeout=SLOW)


def status(board: Locator, node: str) -> str:
    """The status of a node as it is drawn."""
    return board.locator(f'[data-node="{node}"]').get_attribute("data-status") or ""


def serious(visit: Any) -> list[tuple[str, str]]:
    """What axe finds serious or worse on the page."""
    found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]


def shot(board: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        board.screenshot(path=Path(folder) / f"{name}.png")


@pytest.fixture
def board(visit: Any) -> Locator:
    """A fresh board on a page of its own."""
    visit.open(visit.server.write("nodes.ipynb", CELLS[:1]))
    visit.run_all()
    found = visit.page.locator(".runstate[data-tick]")
    found.wait_for(timeout=SLOW)
    return found


def test_the_scheduler_answers_each_press_of_the_pointer(visit: Any, board: Locator) -> None:
    """A stalled attempt is fenced, another scheduler lets it pass; scrubbed, another way taken."""
    finish = board.locator('[data-do="w2-finish"]')
    expect(finish).to_have_attribute("aria-disabled", "true")
    expect(finish.locator("..")).to_contain_text("w2 holds nothing")
    finish.click(force=True)
    expect(board).to_have_attribute("data-at", "0")

    press(board, "w1-take", 1)
    press(board, "w1-finish", 2)
    board.get_by_label("How many w1 takes at most").select_option("2")
    press(board, "w1-take", 3)
    board.locator('[data-desk="w1"] .rs-nb-pick select').first.select_option(label="scan, attempt 1")
    press(board, "w1-finish", 4)
    assert ("running", "completed") == (status(board, "tests"), status(board, "scan"))
    press(board, "lease_end", 5)
    expect(board.locator('[data-node="tests"]')).to_contain_text("lease ran out")
    press(board, "release", 6)
    press(board, "w1-take", 7)
    press(board, "w1-late", 8)
    expect(board).to_have_attribute("data-mood", "bad")
    expect(board.get_by_role("status").first).to_contain_text("refused, attempt_fenced")
    board.get_by_label("FencedByNameScheduler", exact=True).check()
    expect(board.get_by_role("status").first).to_contain_text("passed for attempt 2")
    assert "completed" == status(board, "tests")
    board.get_by_text("The same presses on every scheduler").click()
    expect(board.get_by_role("cell", name="differs").first).to_be_visible()
    shot(board, "nodeboard_light")

    board.locator('[data-do="back"]').click()
    assert "running" == status(board, "tests")
    board.locator('[data-do="first"]').click()
    expect(board).to_have_attribute("data-tick", "0")
    press(board, "w2-take", 1)
    expect(board.locator('[data-desk="w2"]')).to_have_attribute("data-held", "build")
    press(board, "w2-die", 2)
    expect(board.locator('[data-desk="w2"]')).to_have_attribute("data-alive", "false")
    press(board, "cancel", 3)
    assert "cancelled" == status(board, "announce")
    assert ([], []) == (visit.errors, visit.outside)


def test_the_scheduler_answers_each_press_of_a_key(visit: Any, board: Locator) -> None:
    """Letters press at the desk that holds the focus, arrows scrub, Tab reaches what is off."""
    keys = visit.page.keyboard
    board.locator('[data-do="w1-take"]').focus()
    done = (
        ("t", "w1 looks: build is ready"),
        ("x", "w1 fails at build, attempt 1: accepted, build is put back"),
        ("t", "It takes build, attempt 2 of 2"),
        ("c", "The clock goes on by 1, to tick 1."),
        ("e", "to tick 5. The lease of w1 on build has run out"),
        ("r", "build is given up because the lease of w1 ran out"),
        ("l", "The late result of w1 for build, attempt 1: refused, illegal_transition"),
    )
    for at, (key, words) in enumerate(done, start=1):
        keys.press(key)
        expect(board).to_have_attribute("data-at", str(at), timeout=SLOW)
        expect(board.get_by_role("status").first).to_contain_text(words)
    keys.press("Home")
    expect(board).to_have_attribute("data-at", "0")
    keys.press("ArrowRight")
    expect(board).to_have_attribute("data-at", "1")
    keys.press("End")
    keys.press("ArrowLeft")
    expect(board).to_have_attribute("data-at", "6")
    keys.press("Tab")
    keys.press("Tab")
    expect(board.locator('[data-do="w1-finish"]')).to_be_focused()
    keys.press("f")
    expect(board).to_have_attribute("data-at", "6")
    board.locator('[data-do="reset"]').focus()
    keys.press("Enter")
    expect(board).to_have_attribute("data-at", "0", timeout=SLOW)
    assert ([], []) == (visit.errors, visit.outside)


@pytest.mark.slow
def test_the_board_can_be_read_by_everybody_and_outlives_its_kernel(visit: Any) -> None:
    """Both themes, wide and narrow; after a restart it scrubs on and says that nobody answers."""
    visit.open(visit.server.write("boards_of_nodes.ipynb", CELLS))
    visit.run_all()
    boards = visit.page.locator(".runstate")
    expect(boards).to_have_count(len(CELLS), timeout=SLOW)
    for theme, wide in (("Light", 1280), ("Dark", 1280), ("Dark", 640)):
        visit.page.set_viewport_size({"width": wide, "height": 800})
        visit.theme(theme)
        # A tall graph is scrolled to its news; here it is looked at from its top.
        visit.page.evaluate(TO_THE_TOP)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")

        assert [] == looked["faults"], (theme, wide)
        assert looked["seen"] > 180
        assert [] == (serious(visit) if wide == 1280 else [])
        assert [] == [one for one in boards.all() if one.evaluate(WIDER)]
    shot(boards.nth(3), "nodeboard_fan_dark_narrow")
    assert ([], []) == (visit.errors, visit.outside)

    visit.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    visit.wait_until_idle()
    board = boards.nth(1)
    board.locator('[data-do="first"]').click()
    expect(board).to_have_attribute("data-at", "0")
    board.locator('[data-do="last"]').click()
    board.locator('[data-do="tick"]').click()
    expect(board.get_by_role("status").first).to_contain_text(
        "The kernel has not answered yet", timeout=SLOW
    )
