"""The context slider in a real JupyterLab: moved by pointer and by keys, looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Locator, expect  # noqa: E402

from runstate_lab.live import ContextSlider  # noqa: E402

LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
WIDER = "(node) => node.scrollWidth > node.clientWidth + 1"
CELLS = [
    "from runstate_lab.live import ContextSlider\n"
    "from runstate_lab.model import Fact, RunState\nContextSlider()",
    "ContextSlider(at=20, privacy='private', budget=430)",
    "ContextSlider(RunState('run-7'))",
    "ContextSlider(RunState('run-7', goal='发布第七版' * 60, facts=(Fact('构建', '绿色'),)), budget=90)",
    "locked = ContextSlider()\nlocked.seal('predict first')\nlocked",
]


def serious(visit: Any) -> list[tuple[str, str]]:
    """What axe finds serious or worse on the page."""
    found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]


def shot(slider: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        slider.screenshot(path=Path(folder) / f"{name}.png")


def shown(slider: Locator) -> str:
    """The context that the page shows, as text."""
    return "\n".join(slider.locator(".rs-ctx-text li").all_text_contents())


def test_the_page_shows_what_the_plain_calls_give(visit: Any) -> None:
    """By pointer and by keys, in both modes and at both revisions, letter for letter."""
    visit.open(visit.server.write("context.ipynb", [CELLS[0].replace("()", "(at=20)")]))
    visit.run_all()
    slider = visit.page.locator(".runstate[data-budget]")
    slider.wait_for(timeout=SLOW)
    twin = ContextSlider(at=20)
    keys = visit.page.keyboard

    def same() -> None:
        expect(slider).to_have_attribute("data-budget", str(twin.budget))
        expect(slider.locator(".rs-live")).to_have_text(twin.said())
        assert twin.context() == shown(slider)
        rows = slider.locator('[aria-label="Lines"] tbody tr')
        assert len(twin.table()) == rows.count()

    same()
    slider.locator('[data-do="wider"]').click()
    twin.wider()
    same()
    slider.get_by_label("Budget", exact=True).fill("200")
    slider.get_by_role("button", name="Build").click()
    twin.spend(200)
    same()
    slider.get_by_label("private: no oncall_phone, customer_mail").check()
    slider.get_by_label("20", exact=True).check()
    twin.choose(privacy="private", at=20)
    same()
    shot(slider, "context_light")

    slider.locator('[data-do="narrower"]').focus()
    keys.press("End")
    twin.spend(twin.most)
    same()
    keys.press("ArrowLeft")
    twin.narrower()
    same()
    keys.press("p")
    twin.choose(privacy="open")
    same()
    keys.press("Home")
    twin.spend(1)
    same()
    expect(slider.locator('[data-do="narrower"]')).to_have_attribute("aria-disabled", "true")
    expect(slider).to_contain_text("this is the least budget")
    slider.get_by_label("Budget in characters").focus()
    for _ in range(3):
        keys.press("PageUp")
    twin.spend(int(slider.get_attribute("data-budget") or 0))
    same()
    slider.get_by_label("Budget", exact=True).fill("much")
    keys.press("Enter")
    expect(slider).to_contain_text("much is no whole number from 1")
    assert ([], []) == (visit.errors, visit.outside)


@pytest.mark.slow
def test_the_slider_can_be_read_by_everybody_and_needs_no_kernel(visit: Any) -> None:
    """Both themes, wide and narrow, Chinese too; after a restart it goes on."""
    visit.open(visit.server.write("contexts.ipynb", CELLS))
    visit.run_all()
    sliders = visit.page.locator(".runstate")
    expect(sliders).to_have_count(len(CELLS), timeout=SLOW)
    for theme, wide in (("Light", 1280), ("Dark", 1280), ("Dark", 640)):
        visit.page.set_viewport_size({"width": wide, "height": 800})
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")

        assert [] == looked["faults"], (theme, wide)
        assert looked["seen"] > 12
        assert [] == (serious(visit) if wide == 1280 else [])
        assert [] == [one for one in sliders.all() if one.evaluate(WIDER)]
    shot(sliders.nth(1), "context_dark_narrow")
    assert ([], []) == (visit.errors, visit.outside)

    visit.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    visit.wait_until_idle()
    sliders.nth(0).locator('[data-do="all"]').click()
    expect(sliders.nth(0)).to_have_attribute("data-lines", "23")
