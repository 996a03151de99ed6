"""A terminal in the lab as a student opens it: the kit's own command is there."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from serving import lab  # noqa: E402

from runstate_lab.bench.lab import SIZE  # noqa: E402

CHECKOUT = Path(__file__).parents[2]
SLOW = 120_000
PROFILE = {"home/.profile": "PATH=/usr/bin:/bin", "home/.bashrc": "export PATH=/usr/bin:/bin"}


@pytest.mark.slow
def test_progress_is_typed_into_the_labs_own_terminal(browser: Any, tmp_path: Path) -> None:
    """File, New, Terminal, then the command: it finds the course and says what was done."""
    course = tmp_path / "mine"
    course.mkdir()
    for name in ("catalogue.toml", "notebooks", "exercises"):
        (course / name).symlink_to(CHECKOUT / name)
    seen = tmp_path / "seen"
    os.mkfifo(tmp_path / "end")
    ended = os.open(tmp_path / "end", os.O_RDONLY | os.O_NONBLOCK)
    with lab(course, tmp_path, files=PROFILE) as served:
        context = browser.new_context(viewport=SIZE)
        page = context.new_page()
        page.goto(f"{served.told['url']}lab?token={served.told['token']}")
        page.locator(".lm-MenuBar-item", has_text="File").click(timeout=SLOW)
        page.locator(".lm-Menu-item[data-type=submenu]", has_text="New").first.hover()
        page.locator(".lm-Menu-item", has_text="Terminal").click()
        page.locator(".jp-Terminal .xterm-helper-textarea").wait_for(state="attached", timeout=SLOW)
        # A terminal is focused a moment after it is there; what is typed before is lost.
        page.locator(".jp-Terminal .xterm.focus").wait_for(timeout=SLOW)
        page.keyboard.type(f"runstate-lab progress 2>&1 | tee {seen}; echo $? > {tmp_path}/end\n")
        ready, _, _ = select.select([ended], [], [], SLOW / 1000)
        if folder := os.environ.get("RUNSTATE_SHOTS"):
            page.screenshot(path=f"{folder}/terminal.png")
        context.close()
    os.close(ended)
    told = seen.read_text(encoding="utf-8").splitlines()

    assert ready
    assert "0 predictions made" == told[0]
    assert "02_ownership  not checked yet" in told
