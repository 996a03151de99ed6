"""`runstate-lab lab`: JupyterLab at the first lesson, served from the course folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

import click

from runstate_lab.cli.talk import Asked, say
from runstate_lab.course import catalogue as catalogues
from runstate_lab.course.folder import KIT, replace, set_up

# The news pop-up would cover the first lesson, and its question goes to another host;
# jupytext would offer to open the masters as notebooks.
SETTINGS = {
    Path("labconfig", "default_setting_overrides.json"): {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        }
    },
    Path("jupyter_server_config.json"): {
        "ServerApp": {"jpserver_extensions": {"jupyterlab_jupytext": False}},
        "LabApp": {"extension_manager": "readonly"},
    },
}


class Port(click.ParamType):
    """A port, or the sentence that says what one is."""

    name = "port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number."""
        try:
            number = int(str(value))
        except ValueError:
            number = -1
        if not 0 <= number <= 65535:
            self.fail(f"{value!r} is no port: a port is a number from 0 to 65535, such as 8889.")
        return number


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})
@click.option("--port", type=Port(), help="The port; else Jupyter chooses one.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def lab(asked: Asked, port: int | None, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab at the first lesson (ARGUMENTS go to Jupyter)."""
    root = course_folder(asked)
    course = catalogues.load(root)
    say(f"{course.title}\ncourse folder: {root}")
    command = jupyter_command(root, course.lessons[0].notebook, port=port, arguments=arguments)
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": config_path(root)}
    if os.name == "posix":
        os.execvpe(command[0], command, environment)
    click.get_current_context().exit(subprocess.call(command, env=environment))


def course_folder(asked: Asked) -> Path:
    """The folder to serve; an installed kit's course is copied out of it first."""
    root = asked.root
    if root != KIT:
        return root
    folder = Path.cwd() / catalogues.OWN_COPY
    written, kept = set_up(KIT, folder)
    if written:
        say(f"{len(written)} files written to {folder}")
    for name in kept:
        say(f"{name} is newer in the kit; yours was changed and stays as it is")
    return folder


def jupyter_command(
    root: Path, first: Path, *, port: int | None, arguments: tuple[str, ...]
) -> list[str]:
    """The command that serves this folder, on this machine only."""
    command = [
        sys.executable,
        "-P",  # the working folder may hold what others named
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root}",
        "--ServerApp.ip=127.0.0.1",
        f"--LabApp.default_url=/lab/tree/{first.as_posix()}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    if port is not None:
        command += [f"--ServerApp.port={port}"]
    if not has_browser():
        say("no browser here: open the address that Jupyter prints")
        command.append("--no-browser")
    return [*command, *arguments]


def has_browser() -> bool:
    """Whether a browser with a window could be opened."""
    seen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    try:
        return bool(seen and webbrowser.get())
    except webbrowser.Error:
        return False


def config_path(root: Path) -> str:
    """The search path of Jupyter's settings, ours first; the user's stay in force."""
    folder = root / ".runstate" / "jupyter"
    for name, settings in SETTINGS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace(folder / name, json.dumps(settings, indent=1).encode())
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("JUPYTER_CONFIG_PATH")]))
