"""`runstate-lab lab`: JupyterLab at the first lesson, in a course folder of the learner's own.

How Jupyter is told about it is in `server`, how the folder is filled in `course.folder`.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

import click

from runstate_lab.cli import server
from runstate_lab.cli.talk import Asked, say, tell
from runstate_lab.course import catalogue as catalogues
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.folder import Delivery, is_ours, origin, set_up


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
@click.option("--prepare", is_flag=True, help="Only make the course folder, and print its path.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def lab(asked: Asked, port: int | None, prepare: bool, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab at the first lesson (ARGUMENTS go to Jupyter)."""
    root = course_folder(asked)
    course = catalogues.load(root)
    if prepare:
        tell(str(root))
        return
    say(f"{course.title}\ncourse folder: {root}")
    browser = has_browser()
    if not browser:
        say("no browser here: open the address that Jupyter prints")
    if not server.script():
        say(f"there is no command runstate-lab beside {sys.executable}")
        say(f"hint: in the lab's terminal write: {Path(sys.executable).name} -m runstate_lab")
    first = course.lessons[0].notebook
    older = server.older_groups(root)
    told = server.settings(root, first, port=port, browser=browser, given=arguments, older=older)
    server.prepare(root, told, given=arguments)
    server.serve(root, arguments)


def course_folder(asked: Asked) -> Path:
    """The folder to serve; that of a kit or a checkout is filled, or brought up to date."""
    folder, source = origin(asked.root, Path.cwd().resolve(), far=asked.far)
    if source is None:
        return folder
    if not is_ours(folder, source) and not _may_fill(folder):
        raise AskedWrongly(
            f"{folder} is no course folder of runstate-lab, and it is not empty",
            hint="rename it, or run this in another folder",
        )
    try:
        done = set_up(source, folder)
    except PermissionError as error:
        raise AskedWrongly(
            f"the course folder cannot be written: {error.filename}: {error.strerror}",
            hint="run this in a folder of your own, such as your home folder",
        ) from None
    _tell_delivery(done, folder)
    return folder


def _may_fill(folder: Path) -> bool:
    """Ask before the course is put among somebody's files; no one to ask means no."""
    question = f"{folder} holds files of yours. Put the course among them?"
    return sys.stdin.isatty() and click.confirm(question, err=True)


def _tell_delivery(done: Delivery, folder: Path) -> None:
    """One line for each thing that happened."""
    lines = (
        (done.written, "{count} written to {folder}"),
        (done.brought, "{count} not as built; your changed copies are now in {folder}: {names}"),
        (done.kept, "{count} newer in the kit; yours were changed and stay: {names}"),
    )
    for paths, words in lines:
        if paths:
            count = f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
            say(words.format(count=count, folder=folder, names=", ".join(map(str, paths))))
    if done.set_aside:
        say(f"the record of delivered files was broken; it is kept as {done.set_aside}")


def has_browser() -> bool:
    """Whether a browser with a window could be opened."""
    seen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    try:
        return bool(seen and webbrowser.get())
    except webbrowser.Error:
        return False
