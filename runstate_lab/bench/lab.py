"""A real JupyterLab and a real Chromium, with nothing of the machine's own in them.

The server listens on 127.0.0.1 only, at a free port, with a token and
configuration folders of its own, and dies with this process. Every request
to another host is refused and remembered, and so is every error on the
page's console.

What is not here: what is looked at (see `browser`, and the browser tests).
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

PACKAGE_HOME = Path(__file__).parents[2]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZE = {"width": 1280, "height": 800}
READY_SECONDS = 60
OWN = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
IDLE = """() => {
  const shown = window.jupyterapp?.shell.currentWidget?.sessionContext;
  return shown && shown.isReady && shown.kernelDisplayStatus === "idle";
}"""


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its address, its token, and the folder it serves."""

    address: str
    token: str
    root: Path
    progress: Path

    def forget_progress(self) -> None:
        """Start as a learner who has predicted nothing."""
        self.progress.unlink(missing_ok=True)

    def write(self, name: str, cells: list[str]) -> str:
        """The name of a new notebook that holds the cells, none of them run."""
        notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
        notebook.metadata.kernelspec = {
            "name": "python3",
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
        }
        nbformat.write(notebook, self.root / name)
        return name


@dataclass
class Visit:
    """One browser page on the server, and what went wrong on it."""

    page: Any
    server: Server
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, name: str) -> None:
        """Show a notebook and wait until its kernel is there."""
        self.page.goto(f"{self.server.address}/lab/tree/{name}?token={self.server.token}&reset")
        self.page.wait_for_selector(".jp-Notebook", timeout=READY_SECONDS * 1000)
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Wait for a live kernel: a run that comes earlier is dropped."""
        self.page.wait_for_function(IDLE, timeout=READY_SECONDS * 1000)

    def command(self, name: str, **arguments: str) -> None:
        """Give JupyterLab a command, without waiting for what it opens."""
        # Braces, no return: the promise of a command may wait for a dialog for ever.
        self.page.evaluate(
            "([name, given]) => { window.jupyterapp.commands.execute(name, given); }",
            [name, arguments],
        )

    def run_all(self) -> None:
        """Run every cell of the notebook that is shown."""
        self.command("notebook:run-all-cells")

    def theme(self, name: str) -> None:
        """Change to the light or the dark theme and wait until it is there."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        wanted = "true" if name == "Light" else "false"
        self.page.locator(f'body[data-jp-theme-light="{wanted}"]').wait_for(state="attached")


class NoLab(RuntimeError):
    """There is no browser, no JupyterLab, or it does not start."""


def chromium() -> str:
    """Where Chromium is."""
    named = os.environ.get("RUNSTATE_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if not found:
        raise NoLab("no Chromium on this machine; install it, or name it in RUNSTATE_CHROMIUM")
    return found


@contextmanager
def a_browser() -> Iterator[Any]:
    """A Chromium without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoLab("playwright is not installed; install the extra `test`") from None
    place = chromium()
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=place, headless=True, args=list(CHROMIUM_FLAGS)
        )
        try:
            yield running
        finally:
            running.close()


@contextmanager
def a_server(base: Path) -> Iterator[Server]:
    """A JupyterLab server of our own; what it writes is below a folder and stays there."""
    root = base / "course"
    root.mkdir(exist_ok=True)
    _quiet_settings(base)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    token = secrets.token_hex(16)
    log = base / "lab.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            _command_line(root, port, token),
            cwd=root,
            env=_environment(base),
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        try:
            _wait_for(process, f"http://127.0.0.1:{port}/api/status?token={token}", log)
            yield Server(f"http://127.0.0.1:{port}", token, root, base / "progress.json")
        finally:
            _stop(process)


@contextmanager
def a_visit(browser: Any, server: Server) -> Iterator[Visit]:
    """A fresh page whose requests to other hosts are refused."""
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    page = context.new_page()
    here = Visit(page, server)

    def decide(route: Any) -> None:
        if route.request.url.startswith(OWN):
            route.continue_()
        else:
            here.outside.append(route.request.url)
            route.abort()

    context.route("**/*", decide)
    page.on("pageerror", lambda error: here.errors.append(str(error)))
    page.on("console", lambda line: here.errors.append(line.text) if line.type == "error" else None)
    try:
        yield here
    finally:
        context.close()


def _quiet_settings(base: Path) -> None:
    # Without these JupyterLab asks about news in a pop-up and calls home.
    folder = base / "settings" / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True, exist_ok=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
    (folder / "notification.jupyterlab-settings").write_text(json.dumps(quiet))


def _environment(base: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": base / "config",
        "JUPYTER_RUNTIME_DIR": base / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": base / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": base / "workspaces",
        "IPYTHONDIR": base / "ipython",
        "RUNSTATE_PROGRESS": base / "progress.json",
    }
    paths = filter(None, (str(PACKAGE_HOME), os.environ.get("PYTHONPATH", "")))
    return {
        **os.environ,
        **{name: str(path) for name, path in own.items()},
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _command_line(root: Path, port: int, token: str) -> list[str]:
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": root,
        "IdentityProvider.token": token,
        "LabApp.extension_manager": "readonly",
        "LabApp.expose_app_in_browser": True,
    }
    given = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *given]


def _die_with_parent() -> None:
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


def _wait_for(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise NoLab(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    # One SIGTERM: the server shuts its kernels down too.
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
