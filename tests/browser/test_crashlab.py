"""The crash lab in a real JupyterLab: killed by pointer and by keys, looked at."""

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
GONE_ON = "lab.recover(), lab.go_on()\nlab"
CELLS = [
    "from runstate_lab.live import CrashLab\nCrashLab()",
    f"lab = CrashLab(kill='result c2', keyed=True)\n{GONE_ON}",
    f"lab = CrashLab(kill='failed c1')\n{GONE_ON}",
    f"lab = CrashLab(loop='once per batch', kill=1)\n{GONE_ON}",
    f"lab = CrashLab(loop='effect first', kill=0, keyed=True)\n{GONE_ON}",
    "lab = CrashLab(kill=13)\nlab.recover()\nlab",
    "locked = CrashLab()\nlocked.seal('predict first')\nlocked",
    "told = CrashLab(kill='deploys')\ntold.seal('predict first')\n"
    "told.unseal(choice='once', why='it has a key')\ntold",
]
LEFT_THE_PAGE = (
    "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
)


@pytest.fixture
def lab(visit: Any) -> Locator:
    """A fresh lab on a page of its own."""
    visit.open(visit.server.write("crash.ipynb", CELLS[:1]))
    visit.run_all()
    found = visit.page.locator(".runstate[data-phase]")
    found.wait_for(timeout=SLOW)
    return found


def serious(visit: Any) -> list[tuple[str, str]]:
    """What axe finds serious, and where."""
    found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]


def shot(visit: Any, lab: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        lab.screenshot(path=Path(folder) / f"{name}.png")


def test_a_worker_is_killed_by_pointer(visit: Any, lab: Locator) -> None:
    """Aim on the strip, kill, recover, go on; then the other loops at the same place."""
    recover = lab.locator('[data-do="recover"]')
    expect(recover).to_have_attribute("aria-disabled", "true")
    expect(recover.locator("..")).to_contain_text("nobody was killed yet")
    recover.click(force=True)
    expect(lab).to_have_attribute("data-phase", "aimed")

    lab.locator('.rs-hit[data-point="8"]').click()
    expect(lab.locator(".rs-live")).to_contain_text("would be killed before result c2")
    lab.locator('[data-do="kill"]').click()
    expect(lab).to_have_attribute("data-deployed", "1")
    recover.click()
    expect(lab.locator(".rs-calls tbody tr").nth(1)).to_contain_text("outcome unknown")
    lab.locator('[data-do="go_on"]').click()
    expect(lab.locator(".rs-books")).to_contain_text("deployed once, told: outcome unknown")

    lab.get_by_label("saved once per batch (wrong)").check()
    expect(lab).to_have_attribute("data-deployed", "2")
    expect(lab.locator(".rs-calls")).to_contain_text("Nothing is open")
    expect(lab.locator(".rs-pill-twice")).to_have_count(1)
    lab.get_by_label("with a key").check()
    expect(lab).to_have_attribute("data-deployed", "1")
    lab.get_by_text("Every kill point, every loop").first.click()
    expect(lab.locator("details[open] tbody tr")).to_have_count(16)
    shot(visit, lab, "crash_light")
    assert ([], []) == (visit.errors, visit.outside)


def test_a_worker_is_killed_by_keys_and_without_a_kernel(visit: Any, lab: Locator) -> None:
    """Arrows aim, letters press; all of it goes on when the kernel is gone."""
    visit.page.evaluate(LEFT_THE_PAGE)
    visit.wait_until_idle()
    lab.locator('[data-do="kill"]').focus()
    keys = visit.page.keyboard
    for _ in range(7):
        keys.press("ArrowRight")
    expect(lab).to_have_attribute("data-point", "7")
    for key, phase in (("r", "aimed"), ("k", "killed"), ("r", "recovered"), ("g", "ended")):
        keys.press(key)
        expect(lab).to_have_attribute("data-phase", phase)
    expect(lab).to_have_attribute("data-deployed", "0")
    expect(lab.locator(".rs-live")).to_contain_text("deployed never, told: outcome unknown")
    keys.press("End")
    expect(lab).to_have_attribute("data-phase", "aimed")
    expect(lab).to_have_attribute("data-point", "13")
    keys.press("Home")
    expect(lab).to_have_attribute("data-point", "0")
    assert [] == visit.outside


@pytest.mark.slow
def test_the_lab_can_be_read_by_everybody(visit: Any) -> None:
    """Both themes, narrow and wide: contrast, nothing clipped, nothing serious for axe."""
    visit.open(visit.server.write("labs.ipynb", CELLS))
    visit.run_all()
    labs = visit.page.locator(".runstate")
    expect(labs).to_have_count(len(CELLS), timeout=SLOW)
    for one in labs.get_by_text("The same place in every loop").all():
        if one.is_visible():
            one.click()
    for theme, wide in (("Light", WIDE), ("Dark", 640), ("Dark", WIDE)):
        visit.page.set_viewport_size({"width": wide, "height": 800})
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")

        assert [] == looked["faults"], (theme, wide)
        assert looked["seen"] > 200
        assert [] == [fault for one in labs.all() for fault in one.evaluate(WIDER)]
        if wide == WIDE:
            assert [] == serious(visit), theme
    expect(labs.nth(6)).to_contain_text("Locked. predict first")
    expect(labs.nth(7).locator(".rs-prediction")).to_contain_text("w2 has not gone on yet")
    shot(visit, labs.nth(3), "crash_dark")
    assert ([], []) == (visit.errors, visit.outside)
