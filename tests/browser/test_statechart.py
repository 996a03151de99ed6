"""The status chart in a real JupyterLab: walked and foretold, by pointer and by keys."""

from __future__ import annotations

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
WIDER = """() => [...document.querySelectorAll(".runstate")]
  .filter((root) => root.scrollWidth > root.clientWidth + 1).map((root) => root.textContent.slice(0, 40))"""
CHARTS = [
    "from runstate_lab.live import StateChart\nStateChart()",
    "StateChart('run_started', expect=True)",
    "chart = StateChart('run_started', expect=True)\n"
    "chart.expect('completed'); chart.move('run_failed')\n"
    "chart.expect('running'); chart.move('run_started')\nchart",
]


@pytest.fixture
def charts(visit: Any) -> Any:
    """A page with a chart that answers at once and two that ask first."""
    visit.open(visit.server.write("charts.ipynb", CHARTS))
    visit.run_all()
    expect(visit.page.locator(".runstate[data-status]")).to_have_count(3, timeout=SLOW)
    return visit


def chart_of(visit: Any, number: int) -> Locator:
    """The chart with that number on the page."""
    return visit.page.locator(".runstate[data-status]").nth(number)


def said(chart: Locator) -> Locator:
    """What the chart says now."""
    return chart.locator(".rs-live")


def press(visit: Any, *keys: str) -> None:
    """Press the keys, one after the other."""
    for key in keys:
        visit.page.keyboard.press(key)


def click_arrow(visit: Any, chart: Locator, start: str, end: str) -> None:
    """Click with the pointer beside the middle of an arrow: a line has no height of its own."""
    hit = chart.locator(f'.rs-way[data-from="{start}"][data-to="{end}"] .rs-hit')
    x, y = hit.evaluate(
        "(path) => { const box = path.getBoundingClientRect();"
        " return [(box.left + box.right) / 2, (box.top + box.bottom) / 2 + 4]; }"
    )
    visit.page.mouse.click(x, y)


def at(visit: Any) -> str | None:
    """The status whose node has the focus."""
    return visit.page.evaluate("() => document.activeElement.dataset.status ?? null")


def test_a_chart_is_walked_by_pointer_and_by_keys(charts: Any) -> None:
    """Arrow, status, event; then the same from the keyboard; refused arrows name their rule."""
    chart = chart_of(charts, 0)
    click_arrow(charts, chart, "queued", "running")
    expect(chart).to_have_attribute("data-status", "running")
    chart.locator(".rs-kind", has_text="callback_awaited").click()
    expect(said(chart)).to_contain_text("callback_awaited at running: accepted, now waiting")
    chart.locator('.rs-node[data-status="completed"]').click()
    expect(chart).to_have_attribute("data-status", "waiting")
    expect(chart.locator(".rs-attempt text")).to_have_text("run_completed: illegal_transition")
    expect(chart.locator(".rs-attempt path.rs-refused")).to_have_count(1)
    assert 3 == chart.locator(".rs-way.rs-can").count()

    chart.locator('[data-do="reset"]').focus()
    press(charts, "Enter")
    expect(chart).to_have_attribute("data-at", "0")
    chart.locator('.rs-node[tabindex="0"]').focus()
    assert "queued" == at(charts)
    press(charts, "ArrowRight", "Enter")
    expect(chart).to_have_attribute("data-status", "running")
    assert "running" == at(charts)
    press(charts, "ArrowRight", "ArrowUp")
    assert "failed" == at(charts)
    press(charts, "ArrowUp", " ")
    expect(said(chart)).to_contain_text("refused by success_not_met")
    expect(chart.locator(".rs-holds")).to_have_text(
        "Run-7: goal build=green, facts none, open nothing."
    )
    for kind in ("tool_dispatched", "tool_result_recorded"):
        chart.locator(f'[data-do="{kind}"]').focus()
        press(charts, "Enter")
    expect(said(chart)).to_contain_text("accepted, still running")
    expect(chart.locator(".rs-holds")).to_contain_text("facts build=green")
    chart.locator('.rs-node[data-status="completed"]').focus()
    press(charts, " ")
    expect(chart).to_have_attribute("data-status", "completed")
    press(charts, "ArrowLeft", "ArrowLeft", "Enter")
    expect(said(chart)).to_contain_text("refused by illegal_transition")
    press(charts, "Home")
    expect(chart).to_have_attribute("data-at", "0")
    press(charts, "End")
    expect(chart).to_have_attribute("data-at", "6")

    assert ([], []) == (charts.errors, charts.outside)


def test_a_status_is_foretold_on_the_diagram_by_pointer_and_by_keys(charts: Any) -> None:
    """Nothing is drawn before the expectation; then both are told, and the score runs."""
    chart = chart_of(charts, 1)
    chart.locator('[data-do="approval_requested"]').click()
    expect(said(chart)).to_contain_text("Which status do you expect, or is it refused?")
    expect(chart).to_have_attribute("data-status", "running")
    assert 1 == chart.locator(".rs-way").count()
    assert 0 == chart.locator(".rs-next, .rs-can").count()
    chart.locator('.rs-node[data-status="waiting"]').click()
    expect(said(chart)).to_contain_text("you expected waiting; it is waiting")
    assert 2 == chart.locator(".rs-way").count()

    chart.locator('[data-do="run_completed"]').focus()
    press(charts, "Enter")
    assert "waiting" == at(charts)
    press(charts, "ArrowRight", "ArrowUp")
    assert "completed" == at(charts)
    press(charts, "Enter")
    expect(said(chart)).to_contain_text(
        "you expected completed; it was refused by illegal_transition"
    )
    chart.locator('[data-do="refused"]').focus()
    press(charts, "Enter")
    expect(said(chart)).to_have_text("You expect a refusal. Propose an event.")
    chart.locator('[data-do="run_started"]').focus()
    press(charts, "Enter")
    expect(said(chart)).to_contain_text("you expected a refusal; it was refused")
    expect(chart.locator(".rs-score")).to_have_text("2 of 3 as expected.")
    heads = chart.locator("thead th").all_text_contents()
    rows = chart.locator("tbody tr").nth(2).locator("th, td").all_text_contents()

    assert ["step", "event", "at status", "expected", "as expected", "answer", "revision"] == heads
    assert ["3", "run_completed", "waiting", "completed", "no"] == rows[:5]
    assert ([], []) == (charts.errors, charts.outside)


def test_charts_can_be_read_by_everybody_in_both_themes_and_on_narrow_pages(charts: Any) -> None:
    """No serious axe finding, contrast 4.5 and more, nothing clipped, also at 480 pixels."""
    charts.command("application:toggle-left-area")
    for theme in ("Light", "Dark"):
        charts.theme(theme)
        looked = charts.page.evaluate(LOOK, ".runstate[data-status] .rs-drawing")
        found = Axe().run(charts.page, context=".runstate", options=RULES).response["violations"]

        assert [] == looked["faults"], theme
        assert [] == [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS
        ]
    charts.page.set_viewport_size({"width": 480, "height": 800})

    expect(charts.page.locator(".jp-NotebookPanel")).to_be_visible()
    assert [] == charts.page.evaluate(WIDER)
