"""The run view in a real JupyterLab: by pointer, by keys, at 1,000 events, for everybody."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Locator, expect  # noqa: E402
from stories import approved_run, graph_run  # noqa: E402
from test_runview import naive_frames  # noqa: E402

from runstate_lab.live import RunView  # noqa: E402

TESTS = Path(__file__).parents[1]
LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
MOST_ELEMENTS = 700
MOST_MILLISECONDS = 60
SETUP = (
    f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
    "from runstate_lab import RunState, StateStore\n"
    "from runstate_lab.live import RunView\n"
    "from stories import approved_run, graph_run\n"
    "from test_runview import long_run, naive_frames\n"
)
STORIES: dict[str, Any] = {
    "RunView(approved_run(), at=0, budget=75)": lambda: RunView(approved_run(), budget=75),
    "RunView(graph_run(), at=0)": lambda: RunView(graph_run()),
    "RunView(frames=naive_frames(), at=0)": lambda: RunView(frames=naive_frames()),
    "RunView(StateStore(RunState('run-7')))": None,
}
# Steps through a whole view with the right arrow and reads what is on the page at each step.
READ_ALL = """(root) => {
  const all = (selector, read) => Array.from(root.querySelectorAll(selector), read);
  const words = (node) => node.textContent.trim();
  const stage = root.querySelector(".rs-stage"), found = [];
  for (let step = 0; step <= Number(root.dataset.steps); step += 1) {
    const owners = {};
    for (const place of all("[data-cell]", (cell) => cell.dataset.cell)) {
      root.querySelector(`[data-cell="${CSS.escape(place)}"]`).click();
      owners[place] = words(root.querySelector(".rs-owner"));
    }
    found.push({
      said: words(root.querySelector(".rs-live")), owners,
      context: all(".rs-lines li", (line) => line.firstChild.textContent),
      left: all(".rs-left p:not(.rs-group-name):not(.rs-soft-note)", (line) => words(line)),
      changes: all(".rs-changes li:not(.rs-more)", (line) => words(line).slice(1)),
      row: words(root.querySelector(".rs-run-table .rs-now th")),
    });
    stage.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  }
  return found;
}"""
# Holds the right arrow down: one step a frame, as a fast keyboard would.
HOLD = """async ([root, steps]) => {
  const stage = root.querySelector(".rs-stage"), took = [];
  for (let step = 0; step < steps; step += 1) {
    const begun = performance.now();
    stage.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    root.getBoundingClientRect();
    took.push(performance.now() - begun);
    if (step % 20 === 0) await new Promise(requestAnimationFrame);
  }
  took.sort((one, other) => one - other);
  return { median: took[steps >> 1], ninth: took[Math.floor(steps * 0.9)], at: root.dataset.at, elements: root.querySelectorAll("*").length };
}"""


def shown(visit: Any, *cells: str) -> Locator:
    """The views that the cells show on a fresh page."""
    visit.open(visit.server.write("runs.ipynb", [SETUP + cells[0], *cells[1:]]))
    visit.run_all()
    views = visit.page.locator(".rs-runview[data-at]")
    expect(views).to_have_count(len(cells), timeout=SLOW)
    return views


def shot(view: Locator, name: str) -> None:
    """Keep a picture where RUNSTATE_SHOTS names a folder."""
    folder = os.environ.get("RUNSTATE_SHOTS")
    if folder:
        view.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.slow
def test_the_page_says_what_the_plain_calls_say(visit: Any) -> None:
    """At every step: the sentence, every owner, the context and the changes are the same words."""
    views = shown(visit, *STORIES)
    for number, make in enumerate(STORIES.values()):
        if make is None:
            continue
        view, found = make(), views.nth(number).evaluate(READ_ALL)

        assert len(view.frames) == len(found)
        for step, page in enumerate(found):
            said, context = view.go(step), view.context()
            assert said == page["said"]
            assert str(step) == page["row"]
            assert list(context.lines) == page["context"]
            assert [f"{one.what} {one.why}" for one in context.left_out] == page["left"]
            assert [str(one).replace(": ", " ", 1) for one in view.changes()] == page["changes"]
            assert {place: view.lens(place) for place in page["owners"]} == page["owners"]
            assert 19 == len([place for place in page["owners"] if "/" not in place])
    assert ([], []) == (visit.errors, visit.outside)


def test_a_run_is_looked_at_with_the_pointer(visit: Any) -> None:
    """Column, row, field, slider, filter, fold and comparison answer to clicks."""
    view = shown(visit, *STORIES).first
    view.locator('[data-column="6"]').click()
    expect(view).to_have_attribute("data-at", "6")
    expect(view.locator(".rs-live")).to_contain_text("refused, answer_foreign")
    view.locator('tr[data-row="8"] td').first.click()
    expect(view).to_have_attribute("data-at", "8")
    view.locator('[data-cell="calls/c1"]').click()
    expect(view.locator(".rs-owner")).to_contain_text("Proposed by model:planner at step 4")
    expect(view.locator('[data-cell="calls/c1"]')).to_have_attribute("data-mark", "changed")
    view.get_by_role("button", name="Compare from here").click()
    view.get_by_label("Step shown").fill("10")
    expect(view).to_have_attribute("data-at", "10")
    expect(view.locator(".rs-changes")).to_contain_text("facts deployed added deployed=7")
    view.get_by_role("button", name="Previous step").click()
    expect(view.locator(".rs-changes")).not_to_contain_text("facts deployed")
    view.get_by_text("Filter and fold").click()
    view.get_by_label("rejected only").check()
    expect(view.locator(".rs-filter summary")).to_contain_text("1 of 10 steps shown")
    expect(view).to_have_attribute("data-rows", "4")
    view.get_by_role("button", name="4 steps folded").click()
    expect(view).to_have_attribute("data-rows", "8")
    view.get_by_role("button", name="Show everything").click()
    view.get_by_label("runtime", exact=True).uncheck()
    expect(view.locator(".rs-filter summary")).to_contain_text("5 of 10 steps shown")
    with visit.page.expect_download() as saved:
        view.get_by_role("button", name="Save table (CSV)").click()
    rows = Path(saved.value.path()).read_text("utf-8").splitlines()

    assert "2 to 3" in rows[3]
    assert [] == visit.errors


def test_a_run_is_looked_at_with_the_keys(visit: Any) -> None:
    """Arrows, Home, End, Enter and typing do the same, and the focus stays where it was."""
    view, press = shown(visit, *STORIES).first, visit.page.keyboard.press
    view.locator('[data-do="first"]').focus()
    for _ in range(3):
        press("ArrowRight")
    expect(view).to_have_attribute("data-at", "3")
    press("End")
    press("ArrowLeft")
    expect(view).to_have_attribute("data-at", "9")
    view.locator('[data-cell="status"]').focus()
    press("ArrowDown")
    expect(view).to_have_attribute("data-picked", "revision")
    press("ArrowLeft")
    expect(view).to_have_attribute("data-at", "8")
    expect(view.locator('[data-cell="revision"]')).to_be_focused()
    view.locator(".rs-run-table .rs-now button").focus()
    press("ArrowUp")
    press("ArrowUp")
    expect(view).to_have_attribute("data-at", "6")
    expect(view.locator(".rs-run-table .rs-now button")).to_be_focused()
    view.locator("summary").focus()
    press("Enter")
    search = view.get_by_label("Search")
    search.focus()
    visit.page.keyboard.type("rosa")
    expect(view.locator(".rs-filter summary")).to_contain_text("2 of 10 steps shown")
    press("ArrowLeft")
    expect(view).to_have_attribute("data-at", "6")
    fold = view.locator(".rs-folded-row button").last
    fold.focus()
    press("Enter")
    expect(view).to_have_attribute("data-rows", "9")
    since = view.get_by_label("Since step")
    since.fill("99")
    since.press("Enter")
    expect(view.locator(".rs-since")).to_contain_text("99 is not a step from 0 to 10")
    since.fill("2")
    since.press("Enter")
    expect(view.locator(".rs-changes")).to_contain_text("status running → waiting")

    assert [] == visit.errors


@pytest.mark.slow
def test_a_thousand_events_stay_smooth_and_small(visit: Any) -> None:
    """The number of elements is bounded at any step, and a held key is followed."""
    views = shown(visit, "RunView(long_run(), at=0, budget=600)", "RunView(approved_run())")
    view = views.first
    held = visit.page.evaluate(HOLD, [view.element_handle(), 1_000])
    view.locator("summary").click()
    view.get_by_label("rejected only").check()
    view.locator(".rs-stage").press("Home")
    few = visit.page.evaluate(HOLD, [view.element_handle(), 100])
    print(f"1,000 events: {held}, rejected only: {few}")
    shot(view, "run_thousand")

    assert "1000" == held["at"]
    assert held["elements"] < MOST_ELEMENTS > few["elements"]
    assert held["median"] < MOST_MILLISECONDS > few["median"]
    assert [] == visit.errors


@pytest.mark.slow
def test_a_run_view_can_be_read_by_everybody_in_both_themes(visit: Any) -> None:
    """No serious axe finding, SVG text of contrast 4.5, nothing clipped, no wider than its place."""
    views = shown(visit, *STORIES, "RunView(long_run(), at=500, budget=600)")
    views.nth(1).locator("summary").click()
    views.nth(1).get_by_label("rejected only").check()
    for theme, width in (
        ("Light", 1280),
        ("Dark", 1280),
        ("Light", 900),
        ("Light", 640),
    ):
        visit.page.set_viewport_size({"width": width, "height": 800})
        visit.theme(theme)
        visit.page.wait_for_timeout(300)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")
        wide = views.evaluate_all(
            "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        )
        assert ([], 0) == (looked["faults"], wide), (theme, width)
        if width == 1280:
            found = Axe().run(visit.page, context=".runstate", options=RULES).response["violations"]
            assert [] == [
                (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS
            ]
            shot(views.first, f"run_{theme.lower()}")
    assert ([], []) == (visit.errors, visit.outside)


def test_a_view_goes_on_without_its_kernel(visit: Any) -> None:
    """The store is read again while the kernel lives; after that the view scrubs and says so."""
    cells = "from stories import Stage\nstage = Stage(StateStore(RunState('run-7')))\nRunView(stage.store)"
    view = shown(visit, cells, "RunView(StateStore(RunState('run-8')))").first
    expect(view).to_have_attribute("data-steps", "0")
    visit.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute("
        "{ code: \"_ = stage.runtime.accept_runtime(stage.offer('run_started'))\" }); }"
    )
    again = view.get_by_role("button", name="Read the store again")
    again.click()
    expect(view).to_have_attribute("data-steps", "1", timeout=SLOW)
    expect(again).to_be_focused()
    visit.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    visit.wait_until_idle()
    view.locator('[data-do="first"]').click()
    expect(view).to_have_attribute("data-at", "0")
    again.click()
    expect(view.locator(".rs-refresh")).to_contain_text("The kernel has not answered yet", timeout=SLOW)
