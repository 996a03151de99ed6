"""JupyterLab in this process: what it is told, and what is said when it ends at once.

Ours is the settings folder that Jupyter reads last, so a `preferred_dir` or
`root_dir` that a user or a site keeps for other work does not move the course;
what is typed on the command line still wins. Which folder is served is not
decided here.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from runstate_lab.cli.front import app_folder, extension_folders, shell
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.folder import replace

NAME = "runstate-lab"
OURS = Path(".runstate", "jupyter")
# Read one after the other, each over the one before: ours must stand in all of them.
FILES = ("jupyter_config", "jupyter_server_config", "jupyter_lab_config")
OLDER = ("NotebookApp", "LabApp")
NOTHING: Mapping[str, frozenset[str]] = {}
ENDS = (".py", ".json")
SERVICES = "jupyter_server.services"
Settings = Mapping[str, Mapping[str, Any]]

# They stand with the very class: a user's setting for it would win over one for its parent.
FIXED: Settings = {
    "ServerApp": {
        "ip": "127.0.0.1",
        "sock": "",
        "file_to_run": "",
        "contents_manager_class": f"{SERVICES}.contents.largefilemanager.AsyncLargeFileManager",
        "kernel_manager_class": f"{SERVICES}.kernels.kernelmanager.AsyncMappingKernelManager",
        "kernel_spec_manager_class": "jupyter_client.kernelspec.KernelSpecManager",
        # jupytext would offer to open the masters as notebooks.
        "jpserver_extensions": {"jupyterlab_jupytext": False},
    },
    "AsyncLargeFileManager": {"preferred_dir": ""},
    "KernelSpecManager": {"allowed_kernelspecs": [], "ensure_native_kernel": True},
    "GatewayClient": {"url": ""},
    "LabApp": {
        "extension_manager": "readonly",
        "core_mode": False,
        "dev_mode": False,
        "collaborative": False,
        "watch": False,
    },
}
# The news pop-up would cover the first lesson, and its question goes to another host.
QUIET: Settings = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}
MANAGERS = ("AsyncLargeFileManager", "AsyncMappingKernelManager")
FOLDERS = ("root_dir", "notebook_dir", "preferred_dir")
TOGETHER: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FOLDERS, FOLDERS),
    "gateway_url": ("url", "kernel_manager_class", "kernel_spec_manager_class"),
    "no_browser": ("open_browser",),
}
MISLEADING = ("JUPYTER_NO_CONFIG", "JUPYTER_GATEWAY_URL", "JUPYTERLAB_DIR", "PYTHONHOME")
RESTORED = """\
# Written by `{name} lab`: your own settings first, then the course's command in front.
[ -r ~/.bashrc ] && . ~/.bashrc
export PATH={folder}:"$PATH"
"""


def settings(
    root: Path,
    first: Path,
    *,
    port: int | None,
    browser: bool,
    given: Iterable[str] = (),
    older: Mapping[str, frozenset[str]] = NOTHING,
) -> Settings:
    """What Jupyter is told about a course folder, less what `given` arguments name.

    What `older` groups say of the server is said there too: Jupyter moves it to the server last.

    >>> there = settings(Path("/c"), Path("a.ipynb"), port=None, browser=True)
    >>> there["ServerApp"]["preferred_dir"]
    '/c'
    >>> named = settings(Path("/c"), Path("a"), port=1, browser=True, given=["--notebook-dir=/d"])
    >>> "root_dir" in named["ServerApp"], "preferred_dir" in named["AsyncLargeFileManager"]
    (False, False)
    """
    where, named, here = f"/lab/tree/{first.as_posix()}", _named(given), {"root_dir": str(root)}
    server: dict[str, Any] = {
        **dict.fromkeys(FOLDERS, str(root)),
        "default_url": where,
        "allow_root": _is_root(),
        "terminado_settings": _terminal(root / OURS),
        "port": port,
        "open_browser": None if browser else False,
    }
    ours = {
        "ServerApp": server,
        # A settings file that was named may set `ServerApp.root_dir`, and these would win over it.
        **({} if "config" in named else dict.fromkeys(MANAGERS, here)),
        "LabApp": {
            "app_dir": None if app_folder() is None else str(app_folder()),
            "labextensions_path": list(map(str, extension_folders())),
            "default_url": where,
            "open_browser": server["open_browser"],
        },
    }
    moved = {**FIXED["ServerApp"], **{name: server[name] for name in (*FOLDERS, "port")}}
    for group, words in older.items():
        ours[group] = {name: moved[name] for name in moved if name in words} | ours.get(group, {})
    return {
        group: {
            name: value
            for name, value in {**FIXED.get(group, {}), **ours.get(group, {})}.items()
            if value is not None and name not in named
        }
        for group in {**FIXED, **ours}
    }


def older_groups(root: Path) -> dict[str, frozenset[str]]:
    """The older groups that settings files speak of, and the words of those files."""
    lines = [list(_lines(path)) for path in settings_files(root)]
    words = [frozenset(re.findall(r"\w+", " ".join(line for _, line in each))) for each in lines]
    return {
        group: frozenset().union(*(each for each in words if group in each)) for group in OLDER
    }


def environment(root: Path, given: Mapping[str, str]) -> dict[str, str]:
    """The server's environment, which its kernels and terminals inherit.

    The folder of the kit's own command stands first in PATH, and nothing names
    another Python, another JupyterLab or a kernel elsewhere.
    """
    ours = {name: value for name, value in given.items() if name not in MISLEADING}
    if sys.prefix != sys.base_prefix:
        ours["VIRTUAL_ENV"] = sys.prefix
    else:
        ours.pop("VIRTUAL_ENV", None)
    if ours.get("VIRTUAL_ENV") != given.get("VIRTUAL_ENV"):
        ours.pop("VIRTUAL_ENV_PROMPT", None)
    if given.get("JUPYTER_NO_CONFIG"):
        ours["JUPYTER_CONFIG_DIR"] = str(root / OURS / "none")
    command = script()
    paths = {
        "PATH": [command.parent] if command else [],
        "JUPYTER_PATH": [Path(sys.prefix, "share", "jupyter")],
        "JUPYTER_CONFIG_PATH": [root / OURS],
    }
    for name, first in paths.items():
        old = ours.get(name, "").split(os.pathsep)
        new = list(map(str, first))
        ours[name] = os.pathsep.join([*new, *(path for path in old if path and path not in new)])
    return ours


def script() -> Path | None:
    """The console script of the kit that runs here; None where it has none."""
    names = {NAME, f"{NAME}.exe"}
    try:
        files = importlib.metadata.distribution(NAME).files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    recorded = [Path(os.path.abspath(str(each.locate()))) for each in files if each.name in names]
    folders = (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent)
    beside = [folder / name for folder in folders for name in sorted(names)]
    return next((path for path in (*recorded, *beside) if path.is_file()), None)


def prepare(root: Path, told: Settings, *, given: Iterable[str] = ()) -> None:
    """Write what Jupyter is told below the course folder; what is there already stays."""
    names = FILES[:1] if "config" in _named(given) else FILES
    contents = {f"{name}.json": told if name in names else {} for name in FILES}
    contents[str(Path("labconfig", "default_setting_overrides.json"))] = QUIET
    texts = {name: json.dumps(content, indent=1) for name, content in contents.items()}
    if command := script():
        folder = shlex.quote(str(command.parent))
        texts["bashrc"] = RESTORED.format(name=NAME, folder=folder)
    for name, text in texts.items():
        path = root / OURS / name
        if not path.is_file() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, text.encode())


def serve(root: Path, arguments: tuple[str, ...]) -> None:
    """Run JupyterLab until it ends; AskedWrongly where it ends with an error."""
    told = environment(root, os.environ)
    os.environ.clear()
    os.environ.update(told)
    if not any(Path(argument.rpartition("=")[2]).exists() for argument in arguments):
        # Terminals would open in a folder of the same name below where you are.
        os.chdir(root)
    first = _FirstWords()
    try:
        from jupyterlab.labapp import main

        with first:
            main(list(arguments))
    except SystemExit as end:
        if end.code:
            raise ended(root, first.words or f"it ended with {end.code!r}") from None
    except Exception as error:
        raise ended(root, f"{type(error).__name__}: {error}") from error


def settings_files(root: Path) -> list[Path]:
    """The settings files of the user and the site, in the order in which they win."""
    from jupyter_core.paths import jupyter_config_path

    folders = [Path(path) for path in jupyter_config_path() if Path(path) != root / OURS]
    names = (*FILES, "jupyter_notebook_config")
    found = (folder / f"{name}{end}" for folder in folders for name in names for end in ENDS)
    return [path for path in found if path.is_file()]


def ended(root: Path, words: str) -> AskedWrongly:
    """What stopped Jupyter, and where the setting stands as far as that can be seen."""
    from jupyter_core.paths import jupyter_config_dir

    files = settings_files(root)
    places = list(_places(words, files)) or list(map(str, files))
    if not places:
        hint = "look at what you gave after `lab`; runstate-lab doctor tells what is installed"
    elif all(place.startswith(jupyter_config_dir()) for place in places):
        hint = "change that setting, or leave your settings out: set JUPYTER_NO_CONFIG=1"
    else:
        hint = "change that setting, or ask the one who keeps it"
    lines = "".join(f"\nsettings of yours or of this machine: {place}" for place in places)
    return AskedWrongly(f"JupyterLab stopped with an error: {words}{lines}", hint=hint)


def _places(words: str, files: list[Path]) -> Iterator[str]:
    """The lines of settings files that hold a name or a value of the message."""
    quoted = re.findall(r"'+([^' ]+)'+|\b(\d{2,})\b", words)
    wanted = [value for pair in quoted for value in pair if value]
    for path in files:
        for number, line in _lines(path):
            if any(value in line for value in wanted):
                yield f"{path}:{number}: {line}"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers; a generated file is all comments."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


class _FirstWords:
    """The first critical message of Jupyter; its loggers take no handler of ours."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.words = ""

    def __enter__(self) -> _FirstWords:
        """Look at each record when it is made."""
        self._before = logging.getLogRecordFactory()

        def note(*parts: Any, **more: Any) -> logging.LogRecord:
            record = self._before(*parts, **more)
            # The address, with its token, is a critical message too.
            if record.levelno >= logging.CRITICAL and "://" not in record.getMessage():
                self.words = self.words or record.getMessage().strip()
            return record

        logging.setLogRecordFactory(note)
        return self

    def __exit__(self, *_: object) -> None:
        """As it was before."""
        logging.setLogRecordFactory(self._before)


def _named(given: Iterable[str]) -> set[str]:
    """The settings that arguments name, and those that go with them."""
    named: set[str] = set()
    for argument in given:
        if argument.startswith("-"):
            name = argument.partition("=")[0].lstrip("-").rpartition(".")[2].replace("-", "_")
            named.update((name, *TOGETHER.get(name, ())))
        elif Path(argument).is_dir():
            named.update(FOLDERS)
        elif Path(argument).is_file():
            named.add("file_to_run")
    return named


def _terminal(folder: Path) -> dict[str, Any] | None:
    """No login shell, for /etc/profile would set PATH anew; bash and fish restore it themselves."""
    command, name = script(), Path(shell()).name
    if os.name == "nt":
        return None
    if command and name == "bash":
        return {"shell_command": [shell(), "--rcfile", str(folder / "bashrc")]}
    if command and name == "fish":
        restored = f"set -gx PATH {shlex.quote(str(command.parent))} $PATH"
        return {"shell_command": [shell(), "-C", restored]}
    return {"shell_command": [shell()]}


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
