"""`runstate-lab doctor`: what is here, what is missing, and what that means."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from runstate_lab.cli import front
from runstate_lab.cli.server import script
from runstate_lab.cli.talk import Asked, say, tell
from runstate_lab.course.faults import CourseFault
from runstate_lab.course.folder import State, origin, states

NEEDED = (
    "jupyterlab",
    "ipykernel",
    "ipywidgets",
    "anywidget",
    "graphviz",
    "graphviz-pure",
    "pandas",
    "pytest",
    "nbval",
    "nbformat",
    "nbclient",
    "jupytext",
    "click",
    "rich",
    "Jinja2",
    "hatchling",
)
FOR_TESTS = ("hypothesis", "playwright", "axe-playwright-python")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Tell what is installed here, and what is missing."""
    missing = [name for name in NEEDED if _version(name) is None]
    fronts = [] if "jupyterlab" in missing else front.front_ends()
    rows = (*_machine(ctx.obj), *_lab(missing, fronts), *_packages(NEEDED), *_packages(FOR_TESTS))
    width = max(len(what) for what, _ in rows)
    for what, found in rows:
        tell(f"{what:{width}} {found}")
    if missing:
        say(f"missing: {', '.join(missing)}\nhint: pip install {' '.join(missing)}")
    for each in fronts:
        if each.hint:
            say(f"without {each.name} the widgets are still pictures, without buttons")
            say(f"hint: {each.hint}")
    ctx.exit(1 if missing or any(each.hint for each in fronts) else 0)


def _lab(missing: list[str], fronts: list[front.FrontEnd]) -> Iterator[tuple[str, str]]:
    """What the lab needs beside packages."""
    yield from ((f"front end {each.name}", each.found) for each in fronts)
    yield "terminal in the lab", "none" if "jupyterlab" in missing else front.terminal()
    command = script()
    yield "command", str(command) if command else "none; python -m runstate_lab does the same"


def _machine(asked: Asked) -> Iterator[tuple[str, str]]:
    yield "runstate-lab", _version("runstate-lab") or "not installed, run from its folder"
    yield "Python", f"{sys.version.split()[0]} on {platform.system()} {platform.machine()}"
    yield "SQLite", sqlite3.sqlite_version
    yield "course", _course(asked)
    yield "course folder", _course_folder(asked)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    yield "Chromium", browser or "none; browser tests are left out"
    yield "isolation", _isolation()


def _packages(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        yield name, _version(name) or "missing"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _course(asked: Asked) -> str:
    try:
        course = asked.catalogue
    except CourseFault as fault:
        return f"none: {fault.found}"
    kinds = "with solutions" if course.has_solutions else "without solutions"
    return (
        f"{course.root} ({len(course.lessons)} lessons, {len(course.exercises)} exercises, {kinds})"
    )


def _course_folder(asked: Asked) -> str:
    """Whether the learner's files are as delivered, changed, or older than the kit's."""
    try:
        folder, source = origin(asked.root, Path.cwd().resolve(), far=asked.far)
        if source is None:
            return f"{folder}: a course of its own, which no kit fills"
        if not folder.exists():
            return "not made yet; runstate-lab lab makes it"
        found = states(source, folder)
    except (CourseFault, OSError) as fault:
        return f"cannot be told: {fault}"
    counted = [(state, [str(name) for name in found if found[name] is state]) for state in State]
    parts = (
        f"{len(names)} {state}" + ("" if state is State.FRESH else f" ({', '.join(names)})")
        for state, names in counted
        if names
    )
    cure = {State.MISSING, State.STALE} & set(found.values())
    advice = "; runstate-lab lab brings it up to date" if cure else ""
    return f"{folder}: {', '.join(parts)}{advice}"


def _isolation() -> str:
    """The walls as measured with planted canaries, not as configured."""
    from runstate_lab.grading.isolation import NotIsolated, measure
    from runstate_lab.grading.proxy import WorkerUnavailable

    try:
        return measure("confined").summary
    except (NotIsolated, WorkerUnavailable) as reason:
        return f"none: {str(reason).splitlines()[0]}"
