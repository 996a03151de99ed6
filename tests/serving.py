"""A lab that was started as a user starts it, in a home of its own, and what it says over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 180
OUR_PYTHON = (sys.executable, "-m", "runstate_lab")


@dataclass(frozen=True)
class Served:
    """A running lab: what it announced, and where its files are."""

    told: Mapping[str, Any]
    base: Path

    def get(self, path: str) -> Any:
        """The answer to a request, as JSON."""
        with self._open(path) as reply:
            return json.loads(reply.read())

    def first_page(self) -> str:
        """Where the server leads a browser that asks for nothing."""
        with self._open("") as reply:
            return str(reply.url).partition("?")[0].removeprefix(self.told["url"])

    def listed(self) -> list[str]:
        """The names in the file browser."""
        return sorted(each["name"] for each in self.get("api/contents")["content"])

    def _open(self, path: str, data: bytes | None = None) -> Any:
        address = f"{self.told['url']}{path}?token={self.told['token']}"
        return urllib.request.urlopen(urllib.request.Request(address, data=data), timeout=SECONDS)

    def typed(self, line: str) -> str:
        """What a terminal of the lab shows for a line; it ends with the word `done`."""
        import websocket

        with self._open("api/terminals", b"{}") as reply:
            name = json.loads(reply.read())["name"]
        address = self.told["url"].replace("http", "ws")
        socket = websocket.create_connection(
            f"{address}terminals/websocket/{name}?token={self.told['token']}", timeout=SECONDS
        )
        # The quotes keep the typed line itself from ending the wait.
        socket.send(json.dumps(["stdin", f"{line}; echo do''ne\r"]))
        shown = ""
        while "done" not in shown:
            kind, *text = json.loads(socket.recv())
            shown += text[0] if kind == "stdout" else ""
        socket.close()
        return shown


def home(base: Path, *, files: Mapping[str, str] | None = None, **more: str) -> dict[str, str]:
    """The environment of a user with a home of their own below `base`."""
    for name, text in (files or {}).items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text.replace("{base}", str(base)), encoding="utf-8")
    (base / "other").mkdir(exist_ok=True)
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "VIRTUAL_ENV", "RUNSTATE"))
    }
    own = {"HOME": str(base / "home"), "JUPYTER_RUNTIME_DIR": str(base / "run"), **more}
    return {**bare, **{name: value.replace("{base}", str(base)) for name, value in own.items()}}


@contextmanager
def lab(
    course: Path, base: Path, *arguments: str, command: tuple[str, ...] = OUR_PYTHON, **more: Any
) -> Iterator[Served]:
    """A lab that was started as a user starts it, and has announced itself."""
    given = [each.replace("{base}", str(base)) for each in arguments]
    with (base / "lab.log").open("w+") as log:
        process = subprocess.Popen(
            [*command, "--course", str(course), "lab", "--port=0", "--no-browser", *given],
            cwd=base,
            env=home(base, **more),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            yield Served(_announced(base / "run", process, base / "lab.log"), base)
        finally:
            process.terminate()
            process.wait(SECONDS)


def _announced(folder: Path, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    until = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < until:
        for path in folder.glob("jpserver-*.json"):
            told = json.loads(path.read_text() or "{}")
            if told and _answers(told["url"]):
                return told
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(f"{address}login", timeout=SECONDS).close()
    except OSError:
        return False
    return True
