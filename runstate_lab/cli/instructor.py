"""Verbs for instructors: release, grade, gradebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from runstate_lab.cli.talk import Asked, say, talk, tell
from runstate_lab.course.faults import AskedWrongly

if TYPE_CHECKING:
    from runstate_lab.grading.runner import ClassReport
    from runstate_lab.grading.verdict import Record

MOST_LINES = 30
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("--out", type=FOLDER, required=True, help="Where the bundle is written.")
@click.pass_obj
def release(asked: Asked, out: Path) -> None:
    """Make the student bundle; a leaky one is refused, with file and line."""
    from runstate_lab.course.release import release as make_bundle

    tell(str(make_bundle(asked.catalogue, out)))
    say("No secret line is in the bundle, nor in the wheel.")


@click.command()
@click.argument("submissions", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="Where gradebook, pages and records go.")
@click.option(
    "--isolation",
    type=click.Choice(["confined", "none"]),
    default="confined",
    show_default=True,
    help="`none` is for your own answers only.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Submissions graded at the same time.",
)
@click.option("--exercise", help="Only this exercise (04).")
@click.option("--seed", default=0, show_default=True, help="For held-back checks that vary inputs.")
@click.option("--force", is_flag=True, help="Grade anew what has not changed, too.")
@click.pass_context
def grade(
    ctx: click.Context,
    submissions: Path,
    out: Path,
    isolation: str,
    jobs: int,
    exercise: str | None,
    seed: int,
    force: bool,
) -> None:
    """Grade SUBMISSIONS/<student>/<exercise>.ipynb; a regrade does what changed."""
    from runstate_lab.grading import runner
    from runstate_lab.grading.isolation import NotIsolated

    try:
        with _progress() as advance:
            report = runner.grade(
                submissions,
                out,
                level=isolation,
                jobs=jobs,
                exercise=exercise,
                seed=seed,
                force=force,
                course=ctx.obj.course or ctx.obj.root,
                progress=advance,
            )
    except NotIsolated as refusal:
        found, _, hint = str(refusal).partition("\nhint: ")
        raise AskedWrongly(found, hint=hint) from None
    if report.jobs < jobs:
        say(f"{jobs} jobs were asked for; {report.jobs} ran, as many as there are processors.")
    _tell_class(report)
    ctx.exit(report.exit_code)


@click.command()
@click.argument("out", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="The result for machines.")
def gradebook(out: Path, as_json: bool) -> None:
    """Print the gradebook of an earlier grading in OUT."""
    from runstate_lab.grading import gradebook as books
    from runstate_lab.grading.kept import read_records

    records = read_records(out)
    if not records:
        raise AskedWrongly(
            f"{out} holds no records", hint=f"runstate-lab grade SUBMISSIONS --out {out}"
        )
    tell((books.as_json(records) if as_json else books.as_csv(records)).rstrip("\n"))


@contextmanager
def _progress() -> Iterator[Callable[[int, int, Record], None]]:
    """A bar from the first graded submission on; a plain line each without a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = talk()
    bar = Progress(*columns, console=console, transient=False)
    task = bar.add_task("grading", total=None)

    def advance(done: int, total: int, record: Record) -> None:
        if not console.is_terminal:
            say(f"{done} of {total}: {record.student} {record.exercise} {record.verdict}")
            return
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


def _tell_class(report: ClassReport) -> None:
    """How many of each verdict, under which walls; the gradebook's path is the data."""
    from runstate_lab.grading.alike import remarks

    verdicts = [str(record.verdict) for record in report.records]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in sorted(set(verdicts)))
    say(f"{len(verdicts)} submissions: {counted or 'none'}; {report.kept} unchanged.")
    say(f"isolation: {report.isolation}")
    _say_some([f"no submission: {row.name}: {row.reason}" for row in report.unexpected])
    _say_some([f"worth a look: {remark}." for remark in remarks(report.records)])
    named = [record for record in report.records if record.reason_code == "bad-name"]
    if named:
        folders = len({record.student for record in named})
        which = "1 folder has" if folders == 1 else f"{folders} folders have"
        say(f"{which} a name that cannot be a student's, and was not graded:")
        _say_some([f"  {record.student}: {record.reason}" for record in named])
    tell(str(Path(report.out, "gradebook.csv")))


def _say_some(lines: list[str]) -> None:
    for line in lines[:MOST_LINES]:
        say(line)
    if len(lines) > MOST_LINES:
        say(f"... and {len(lines) - MOST_LINES:,} more; see index.html")


VERBS = (release, grade, gradebook)
