"""Grading. How our side starts a Python of its own, and how that one ends with us.

The environment is an allow-list: a variable in an instructor's shell could
switch the asserts off, load a plugin, or shadow a library, and a grade would
say something else. Libraries come from where this process found its own.

What is not here: a student's worker (see `channel`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
LET_THROUGH = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TZ",
    # Windows starts no Python, or no socket, without these.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
)
SET = {
    "LANG": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "RUNSTATE_PROGRESS": "off",
    "JUPYTER_PLATFORM_DIRS": "1",
}
IN_SCRATCH = ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
TEMPORARY = ("TMPDIR", "TEMP", "TMP")


def environment(scratch: Path) -> dict[str, str]:
    """The environment of a process of ours that works in a scratch folder of ours.

    >>> "PYTHONOPTIMIZE" in environment(Path("scratch"))
    False
    """
    kept = {name: os.environ[name] for name in LET_THROUGH if name in os.environ}
    folders = {name: str(scratch / name.lower()) for name in IN_SCRATCH}
    return {
        **kept,
        **SET,
        **folders,
        **dict.fromkeys(TEMPORARY, str(scratch)),
        "PYTHONPATH": os.pathsep.join(libraries()),
    }


def libraries() -> tuple[str, ...]:
    """The folders in which this process finds its libraries, never the working folder.

    >>> libraries()[0] == str(PACKAGE_PARENT), "" in libraries()
    (True, False)
    """
    here = Path.cwd()
    found = [Path(entry) for entry in sys.path if os.path.isabs(entry) and Path(entry).is_dir()]
    return tuple(dict.fromkeys(map(str, [PACKAGE_PARENT, *(one for one in found if one != here)])))


def processors() -> int:
    """How many processors this process may use.

    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours; the working folder is not on its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def end_with_parent() -> None:
    """Ends this process and its group when the other end of its stdin is closed.

    The parent holds that end and writes nothing: whatever ends it, closes it.
    """
    held = os.dup(0)
    threading.Thread(target=_end_at, args=(held,), daemon=True).start()


def _end_at(held: int) -> None:
    while os.read(held, 1 << 10):
        continue
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)
