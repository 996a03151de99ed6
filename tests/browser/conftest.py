"""A real JupyterLab and a real Chromium for the browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runstate_lab.bench.lab import NoLab, Server, Visit, a_browser, a_server, a_visit, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A Chromium without a window; the test is skipped where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    try:
        chromium()
    except NoLab as missing:
        pytest.skip(str(missing))
    with a_browser() as running:
        yield running


@pytest.fixture(scope="session")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab server; it waits for the browser, so that no server starts in vain."""
    with a_server(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def visit(browser: Any, server: Server) -> Iterator[Visit]:
    """A fresh page whose requests to other hosts are refused."""
    with a_visit(browser, server) as page:
        yield page
