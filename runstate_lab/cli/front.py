"""What the lab needs of JupyterLab on this machine: the widgets' front end, and a terminal.

Read from the disk and from Jupyter's settings; nothing is started and nothing
is changed here.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FRONT_ENDS: Mapping[str, str] = {
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets",
    "anywidget": "anywidget",
}
TERMINAL = ("jupyter_server_terminals", "terminado", "winpty" if os.name == "nt" else "ptyprocess")


@dataclass(frozen=True)
class FrontEnd:
    """One extension of JupyterLab; `hint` is empty where it will work."""

    name: str
    found: str
    hint: str = ""


def extension_folders() -> list[Path]:
    """Where the JupyterLab of this Python looks for extensions, in its order."""
    from jupyter_core.paths import jupyter_path

    own = Path(sys.prefix, "share", "jupyter", "labextensions")
    return list(dict.fromkeys([own, *map(Path, jupyter_path("labextensions"))]))


def app_folder() -> Path | None:
    """Where the JupyterLab of this Python keeps its own front end, if beside it."""
    folder = Path(sys.prefix, "share", "jupyter", "lab")
    return folder if folder.is_dir() else None


def front_ends() -> list[FrontEnd]:
    """Whether the widgets' two extensions are there and switched on."""
    disabled = disabled_extensions()
    return [_front_end(name, package, disabled) for name, package in FRONT_ENDS.items()]


def disabled_extensions() -> dict[str, str]:
    """Each name that settings or another extension switch off, and the file that says so."""
    from jupyter_core.paths import jupyter_config_path

    app = app_folder()
    folders = [Path(path, "labconfig") for path in jupyter_config_path()]
    folders += [app / "settings"] if app else []
    files = [folder / "page_config.json" for folder in folders]
    said = [(path, _switches(path)) for path in files]
    for folder in extension_folders():
        others = (*folder.glob("[!@]*/package.json"), *folder.glob("@*/*/package.json"))
        said += [(path, _switches(path, "jupyterlab")) for path in others]
    decided: dict[str, str] = {}
    # The first file that speaks of a name decides, as in JupyterLab.
    for path, switches in said:
        for name, off in switches.items():
            decided.setdefault(name, str(path) if off else "")
    return {name: where for name, where in decided.items() if where}


def terminal() -> str:
    """The shell that a terminal of the lab opens, or why none can be opened."""
    missing = [name for name in TERMINAL if importlib.util.find_spec(name) is None]
    if missing:
        return f"none: {', '.join(missing)} not installed"
    if refusal := _terminal_refused():
        return f"none: {refusal}"
    return f"opens {shell()}"


def shell() -> str:
    """The shell that terminals open: yours where it is there, else one that is."""
    if os.name == "nt":
        return "powershell.exe"
    asked = os.environ.get("SHELL", "")
    return (shutil.which(asked) if asked else None) or shutil.which("bash") or "sh"


def _front_end(name: str, package: str, disabled: Mapping[str, str]) -> FrontEnd:
    off = [key for key in disabled if key == name or key.startswith(f"{name}:")]
    if off:
        where = disabled[off[0]]
        return FrontEnd(name, f"disabled in {where}", f"take {off[0]} out of {where}")
    for folder in extension_folders():
        try:
            about = json.loads((folder / name / "package.json").read_bytes())
            entry = folder / name / about["jupyterlab"]["_build"]["load"]
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, TypeError, OSError):
            entry = folder / name / "package.json, which is readable"
        if entry.is_file():
            return FrontEnd(name, str(about.get("version", "here")))
        return FrontEnd(name, f"broken: there is no {entry}", _again(package))
    return FrontEnd(name, "missing", _again(package))


def _again(package: str) -> str:
    return f"{Path(sys.executable).name} -m pip install --force-reinstall {package}"


def _switches(path: Path, *inside: str) -> dict[str, bool]:
    """What one file says of extensions; nothing where it cannot be read."""
    try:
        table = json.loads(path.read_bytes())
        for key in (*inside, "disabledExtensions"):
            table = table.get(key, {})
    except (OSError, ValueError, AttributeError):
        return {}
    if isinstance(table, list):
        return {str(name): True for name in table}
    return {name: bool(off) for name, off in table.items()} if isinstance(table, dict) else {}


def _terminal_refused() -> str:
    """Which setting switches terminals off; mostly none."""
    from jupyter_server.serverapp import ServerApp

    try:
        app = ServerApp(log=logging.getLogger("runstate-lab.doctor"))
        app.load_config_file()
        app.find_server_extensions()
    except (Exception, SystemExit) as error:
        return f"Jupyter's settings cannot be read: {type(error).__name__}: {error}"
    if not app.terminals_enabled:
        return "switched off by the setting ServerApp.terminals_enabled"
    if not app.jpserver_extensions.get(TERMINAL[0], False):
        return f"the server extension {TERMINAL[0]} is disabled"
    return "" if os.name == "nt" or _has_pty() else "this system gives out no pseudo-terminals"


def _has_pty() -> bool:
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True
