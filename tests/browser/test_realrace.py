"""The real race in a real JupyterLab: pressed, run by processes, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")
SLOW = 60_000
SERIOUS = ("serious", "critical")
CELLS = ["from runstate_lab.live import RealRace\nRealRace(each=3)"]


def test_a_race_is_started_by_pointer_and_by_keys_and_not_stored(visit: Any) -> None:
    """The worst order has exact numbers; a free race adds up; the notebook keeps neither."""
    name = visit.server.write("race.ipynb", CELLS)
    visit.open(name)
    visit.run_all()
    race = visit.page.locator(".runstate[data-raced]")
    race.wait_for(timeout=SLOW)
    expect(race).to_have_attribute("data-raced", "0")
    race.get_by_role("button", name="Race in the worst order").click()
    expect(race).to_have_attribute("data-busy", "true")
    expect(race).to_have_attribute("data-busy", "false", timeout=SLOW)
    rows = [row.locator("th, td").all_text_contents() for row in race.locator("tbody tr").all()]
    assert [["naive", "6", "3", "3", "0", "0"], ["right", "6", "6", "0", "3", "3"]] == rows
    expect(race.locator(".rs-live")).to_contain_text("naive: 3 of 6 acknowledged results")

    race.get_by_role("button", name="Race now").focus()
    visit.page.keyboard.press("Enter")
    expect(race).to_have_attribute("data-busy", "true")
    expect(race).to_have_attribute("data-busy", "false", timeout=SLOW)
    naive = race.locator("tbody tr").first.locator("td").all_text_contents()
    assert 6 == int(naive[0]) == int(naive[1]) + int(naive[2])

    for theme in ("Light", "Dark"):
        visit.theme(theme)
        looked = visit.page.evaluate(LOOK, ".rs-drawing")
        found = Axe().run(visit.page, context=".runstate").response["violations"]
        assert [] == looked["faults"], theme
        assert [] == [one["id"] for one in found if one["impact"] in SERIOUS]
    visit.command("docmanager:save")
    visit.wait_until_idle()
    kept = json.loads((visit.server.root / name).read_text("utf-8"))
    assert "acknowledged" not in json.dumps(kept["cells"])
    assert ([], []) == (visit.errors, visit.outside)
