"""Saving in a real JupyterLab: what comes down is what is shown, in colours of its own."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Locator, expect  # noqa: E402

SLOW = 60_000
SVG = "{http://www.w3.org/2000/svg}"
CELLS = [
    "from runstate_lab.live import Board, StateChart\nboard = Board(variants=('naive',), schedule='ABABAB')\nboard",
    "StateChart('run_started', 'waiting', 'completed')",
    "locked = Board()\nlocked.seal('predict first')\nlocked",
]
DARK = "rgb(21, 24, 28)"


def fetched(visit: Any, press: Any) -> tuple[str, str]:
    """The name and the text of the file that comes down after a press."""
    with visit.page.expect_download(timeout=SLOW) as coming:
        press()
    return coming.value.suggested_filename, Path(coming.value.path()).read_text("utf-8")


def shown(root: Locator) -> list[str]:
    """The words that stand in the drawing on the page."""
    return root.locator(".rs-drawing text").all_text_contents()


def test_what_is_shown_is_saved_by_pointer_and_by_keys(visit: Any) -> None:
    """The picture has the words, its own colours and an opaque ground; the table all cells."""
    visit.open(visit.server.write("exports.ipynb", CELLS))
    visit.run_all()
    board = visit.page.locator(".runstate[data-schedule]")
    chart = visit.page.locator(".runstate[data-status]")
    chart.wait_for(timeout=SLOW)
    visit.theme("Dark")
    for root, stem in ((board, "board"), (chart, "status-chart")):
        name, text = fetched(visit, root.get_by_role("button", name="Save picture (SVG)").click)
        page = ElementTree.fromstring(text)
        words = ["".join(node.itertext()) for node in page.iter(f"{SVG}text")]

        assert (f"{stem}.svg", shown(root)) == (name, words)
        assert (page[0].text, DARK) == (page.get("aria-label"), page[1].get("fill"))
        assert [] == [
            one for one in ("class=", "var(", "href", "tabindex", "rs-hit") if one in text
        ]
        assert [] == [node for node in page.iter(f"{SVG}text") if not node.get("fill")]

    root.get_by_role("button", name="Save table (CSV)").focus()
    name, text = fetched(visit, lambda: visit.page.keyboard.press("Enter"))
    rows = list(csv.reader(text.splitlines()))

    assert "status-chart.csv" == name
    assert ["step", "event", "at status", "answer", "revision"] == rows[0]
    assert ["3", "run_completed", "waiting", "refused by illegal_transition", "2"] == rows[3]
    expect(root.locator(".rs-exports [role=status]")).to_have_text(
        "status-chart.csv is among your downloads."
    )
    locked = visit.page.locator(".runstate", has=visit.page.locator(".rs-locked"))
    expect(locked).to_have_count(1)
    assert 0 == locked.locator(".rs-exports").count()
    assert ([], []) == (visit.errors, visit.outside)
