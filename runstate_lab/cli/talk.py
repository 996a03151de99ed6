"""How the verbs speak, and which course they were asked about."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

from runstate_lab.course import catalogue
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.folder import KIT, own_folder

# A pipe that nobody reads; on Windows also EINVAL.
GONE = (errno.EPIPE, errno.ESHUTDOWN, *((errno.EINVAL,) if os.name == "nt" else ()))
VERDICT = re.compile(r"\d\d\.\d+  (held|not held) ")


@dataclass(frozen=True)
class Asked:
    """What was given before the verb."""

    course: Path | None = None

    @property
    def root(self) -> Path:
        """The course folder that is meant."""
        return self.course.resolve() if self.course else catalogue.find_root()

    @property
    def far(self) -> bool:
        """Whether that folder was neither named nor is around or beside you."""
        here = Path.cwd().resolve()
        near = (here, *here.parents, here / catalogue.OWN_COPY)
        return self.course is None and self.root not in near

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue of that folder; which it is, is said unless you are in it."""
        here = Path.cwd().resolve()
        if self.course is None and self.root not in (here, *here.parents):
            say(f"course folder: {self.root}")
        return catalogue.load(self.root)

    def authors_catalogue(self, verb: str) -> Catalogue:
        """The same, where there are masters to work on."""
        course = self.catalogue
        if not any((course.root / each.master).exists() for each in course.rows):
            raise AskedWrongly(
                f"{verb} is for authors, in a checkout; {course.root} holds no masters",
                hint="name the checkout: runstate-lab --course DIR " + verb,
            )
        return course

    def catalogue_to_change(self, verb: str) -> Catalogue:
        """Your own one, which must be around or beside you, or named."""
        course = self.own_catalogue
        if self.far:
            raise AskedWrongly(
                f"{verb} works on your own files, and {course.root} is not where you are",
                hint=f"go there, or name it: runstate-lab --course {course.root} {verb} ...",
            )
        return course

    @property
    def own_catalogue(self) -> Catalogue:
        """The same, but never the one inside the package."""
        if self.root == KIT:
            raise AskedWrongly(
                f"no course folder in {Path.cwd()} or above it",
                hint="runstate-lab lab makes one here; --course DIR names another",
            )
        mine = self.root if self.course else own_folder(self.root)
        if mine == self.root:
            return self.catalogue
        say(f"course folder: {mine}")
        return catalogue.load(mine)


class Talk(Console):
    """A console whose reader may go away; what is being done goes on."""

    def on_broken_pipe(self) -> None:
        """Say no more, instead of ending the verb."""
        self.quiet = True
        _silence(sys.stderr)


def speak_anywhere() -> None:
    """Nothing; from now on a console that cannot show a letter shows its number.

    A narrow console, such as cp1252 or ASCII, must not end a verb.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def talk() -> Console:
    """The console on stderr; words are printed as they are, never as markup."""
    return Talk(stderr=True, highlight=False, markup=False, soft_wrap=True)


def say(words: str) -> None:
    """A line to the reader, on stderr; where nobody listens it is lost."""
    with contextlib.suppress(OSError, ValueError):
        _write(words, sys.stderr)


def tell(line: str) -> bool:
    """Whether the line of data went out on stdout; a reader who left is no fault."""
    return _write(line, sys.stdout)


def tell_report(report: str) -> None:
    """A report on stdout; colour only repeats what its words say."""
    for line in report.splitlines():
        verdict = VERDICT.match(line)
        colour = {"held": "green", "not held": "red"}[verdict[1]] if verdict else None
        tell(click.style(line, fg=colour) if colour else line)


def _write(line: str, stream: TextIO | None) -> bool:
    """Whether it was written; a stream that is closed takes nothing any more."""
    if stream is None or stream.closed:
        return False
    try:
        click.echo(line, file=stream)
    except OSError as error:
        # Else Python would try the rest of the buffer once more when it ends.
        _silence(stream)
        if error.errno not in GONE:
            raise
        return False
    return True


def _silence(stream: TextIO | None) -> None:
    """Nothing; what is still in the stream's buffer goes nowhere when Python ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
