"""The verbs of `runstate-lab`, for students, instructors and authors.

Talk goes to stderr, data to stdout, and nothing is said by colour alone.
Exit codes: 0 all held, 1 something checked did not hold, 2 asked wrongly,
3 the kit itself failed. What a verb does lives in `course` and `grading`.
"""

from __future__ import annotations

import codecs
import errno
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from runstate_lab.cli.talk import Asked, say, speak_anywhere
from runstate_lab.course.faults import AskedWrongly, CourseFault, unusable

KIT_FAILED = 3


class Verbs(click.Group):
    """A group of verbs that turns faults into words and exit codes."""

    def main(self, *args: Any, **options: Any) -> Any:
        """As click's, on any console."""
        speak_anywhere()
        return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> object:
        """What the verb returns; a fault is said, never thrown at the reader."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except CourseFault as fault:
            say(str(fault))
            ctx.exit(fault.exit_code)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            say(str(unusable(error)))
            ctx.exit(AskedWrongly.exit_code)
        # The end of the line: whatever comes here is the kit's own fault.
        except Exception as error:
            if _unnameable(error):
                say("this system cannot name a file in these letters")
                say("hint: set PYTHONUTF8=1, then try again")
                ctx.exit(AskedWrongly.exit_code)
            say(traceback.format_exc())
            say("This is a fault of runstate-lab, not yours.")
            say("`runstate-lab doctor` tells what is installed.")
            ctx.exit(KIT_FAILED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order in which they were added, not by alphabet."""
        return list(self.commands)


def _unnameable(error: Exception) -> bool:
    """Whether a file's name has letters that the system's own encoding has not."""
    narrow = sys.getfilesystemencoding()
    return (
        isinstance(error, UnicodeEncodeError)
        and narrow != "utf-8"
        and codecs.lookup(error.encoding) == codecs.lookup(narrow)
    )


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--course",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Another course folder than the one you are in.",
)
@click.version_option(package_name="runstate-lab")
@click.pass_context
def main(ctx: click.Context, course: Path | None) -> None:
    """Lessons and exercises on run state. Begin with: runstate-lab lab"""
    ctx.obj = Asked(course)


def _add_verbs() -> None:
    from runstate_lab.cli import author, instructor, student

    for module in (student, instructor, author):
        for verb in module.VERBS:
            main.add_command(verb)


_add_verbs()
