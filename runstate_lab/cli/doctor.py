"""`runstate-lab doctor`: what is here, what is missing, and what that means."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator

import click

from runstate_lab.cli.talk import Asked, say, tell
from runstate_lab.course.faults import CourseFault

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
    for what, found in (*_machine(ctx.obj), *_packages(NEEDED), *_packages(FOR_TESTS)):
        tell(f"{what:24} {found}")
    if missing:
        say(f"missing: {', '.join(missing)}\nhint: pip install {' '.join(missing)}")
    ctx.exit(1 if missing else 0)


def _machine(asked: Asked) -> Iterator[tuple[str, str]]:
    yield "runstate-lab", _version("runstate-lab") or "not installed, run from its folder"
    yield "Python", f"{sys.version.split()[0]} on {platform.system()} {platform.machine()}"
    yield "SQLite", sqlite3.sqlite_version
    yield "course", _course(asked)
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


def _isolation() -> str:
    """The walls as measured with planted canaries, not as configured."""
    from runstate_lab.grading.isolation import NotIsolated, measure
    from runstate_lab.grading.proxy import WorkerUnavailable

    try:
        return measure("confined").summary
    except (NotIsolated, WorkerUnavailable) as reason:
        return f"none: {str(reason).splitlines()[0]}"
