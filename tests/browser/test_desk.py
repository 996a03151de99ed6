"""The approval desk in a real JupyterLab: pressed by pointer and by keys, looked at."""

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
WIDE = 1280
WIDER = """(node) => Array.from(node.querySelectorAll("*"))
  .filter((one) => !one.closest(".rs-drawing") && !one.closest("[tabindex='0'] > *") && one.getBoundingClientRect().right > node.getBoundingClientRect().right + 1)
  .map((one) => `${one.tagName}.${one.className} is wider than its widget`)"""
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
CELLS = [
    "from runstate_lab.live import ApprovalDesk\nApprovalDesk()",
    "desk = ApprovalDesk('StaleDeskStore')\n"
    "desk.tick(), desk.meanwhile('arguments'), desk.grant(card='old'), desk.grant(), desk.deploy()\n"
    "desk",
    "desk = ApprovalDesk('AlwaysOpenDeskStore')\n"
    "for _ in range(7): desk.tick(), desk.grant()\n"
    "desk.expire(), desk.ask(), desk.deny(), desk.ask()\ndesk",
    "locked = ApprovalDesk()\nlocked.seal('predict first')\nlocked",
    "told = ApprovalDesk()\ntold.grant()\ntold.seal('predict first')\n"
    "told.unseal(choice='accepted', why='in time')\ntold",
]


def press(desk: Locator, name: str, answer: str) -> None:
    """Press a control with the pointer and wait for the store's answer."""
    desk.locator(f'[data-do="{name}"]').click()
    expect(desk).to_have_attribute("data-answer", answer, timeout=SLOW)


def serious(visit: Any) -> list[tuple[str, str]]:
    """What axe finds serious, and where."""
    found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]


def shot(visit: Any, desk: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        desk.screenshot(path=Path(folder) / f"{name}.png")


@pytest.fixture
def desk(visit: Any) -> Locator:
    """A fresh desk on a page of its own."""
    visit.open(visit.server.write("desk.ipynb", CELLS[:1]))
    visit.run_all()
    found = visit.page.locator(".runstate[data-tick]")
    found.wait_for(timeout=SLOW)
    return found


def test_the_store_answers_each_press_of_the_pointer(visit: Any, desk: Locator) -> None:
    """Stranger, old card, another desk beside it, a scrub, another way."""
    expect(desk).to_have_attribute("data-status", "waiting")
    old = desk.locator('[data-do="old"]')
    expect(old).to_have_attribute("aria-disabled", "true")
    expect(old.locator("..")).to_contain_text("there is no older card yet")
    old.click(force=True)
    expect(desk).to_have_attribute("data-at", "0")

    press(desk, "max", "refused: answer_foreign")
    press(desk, "arguments", "accepted")
    expect(desk.locator(".rs-card-old")).to_contain_text("deploy(release=7)?")
    press(desk, "old", "refused: answer_stale")
    desk.get_by_label("The same presses on").select_option("StaleDeskStore")
    expect(desk.locator(".rs-differs")).to_contain_text("accepted (differs)", timeout=SLOW)
    press(desk, "grant", "accepted")
    expect(desk.locator(".rs-ends tbody tr")).to_have_count(2)
    expect(desk).to_have_attribute("data-status", "running")
    shot(visit, desk, "desk_light")

    desk.locator('[data-do="first"]').click()
    expect(desk).to_have_attribute("data-status", "waiting")
    expect(desk.locator(".rs-ledger tbody tr")).to_have_count(0)
    press(desk, "deny", "accepted")
    expect(desk).to_have_attribute("data-at", "1")
    press(desk, "deploy", "refused: call_not_approved")
    assert ([], []) == (visit.errors, visit.outside)


def test_the_store_answers_each_press_of_a_key(visit: Any, desk: Locator) -> None:
    """Letters press, arrows scrub, Tab reaches what is off; the live line says it all."""
    desk.locator('[data-do="grant"]').focus()
    keys = visit.page.keyboard
    for tick in "123":
        keys.press("t")
        expect(desk).to_have_attribute("data-tick", tick, timeout=SLOW)
    keys.press("g")
    expect(desk.locator(".rs-live")).to_contain_text("answer_expired", timeout=SLOW)
    keys.press("e")
    expect(desk.locator(".rs-card .rs-stamp").first).to_have_text("expired at tick 3", timeout=SLOW)
    keys.press("Home")
    expect(desk).to_have_attribute("data-at", "0")
    keys.press("ArrowRight")
    expect(desk).to_have_attribute("data-tick", "1")
    keys.press("d")
    expect(desk).to_have_attribute("data-answer", "accepted", timeout=SLOW)
    keys.press("Tab")
    expect(desk.locator('[data-do="deny"]')).to_be_focused()
    desk.locator('[data-do="again"]').focus()
    keys.press("Enter")
    expect(desk).to_have_attribute("data-answer", "refused: answer_repeated", timeout=SLOW)
    desk.locator('[data-do="reset"]').focus()
    keys.press("Enter")
    expect(desk).to_have_attribute("data-at", "0")
    assert ([], []) == (visit.errors, visit.outside)


@pytest.mark.slow
def test_the_desk_can_be_read_by_everybody_and_outlives_its_kernel(visit: Any) -> None:
    """Both themes, narrow and wide; after a restart it scrubs on and says that nobody answers."""
    visit.open(visit.server.write("desks.ipynb", CELLS))
    visit.run_all()
    desks = visit.page.locator(".runstate")
    expect(desks).to_have_count(len(CELLS), timeout=SLOW)
    for theme, wide in (("Light", WIDE), ("Dark", 640), ("Dark", WIDE)):
        visit.page.set_viewport_size({"width": wide, "height": 800})
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")

        assert [] == looked["faults"], (theme, wide)
        assert looked["seen"] > 60
        assert [] == [fault for one in desks.all() for fault in one.evaluate(WIDER)]
        if wide == WIDE:
            assert [] == serious(visit), theme
    expect(desks.nth(3)).to_contain_text("Locked. predict first")
    expect(desks.nth(4).locator(".rs-prediction")).to_contain_text("You said: accepted (in time)")
    expect(desks.nth(4).locator(".rs-prediction")).to_contain_text(
        "The store: Rosa grants: accepted"
    )
    shot(visit, desks.nth(1), "desk_dark")
    assert ([], []) == (visit.errors, visit.outside)

    visit.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    visit.wait_until_idle()
    desk = desks.nth(1)
    desk.locator('[data-do="first"]').click()
    expect(desk).to_have_attribute("data-at", "0")
    desk.locator('[data-do="grant"]').click()
    expect(desk.locator(".rs-live")).to_contain_text("The kernel has not answered yet", timeout=SLOW)
    expect(desk).to_have_attribute("data-silent", "true")
