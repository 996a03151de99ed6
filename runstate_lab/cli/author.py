"""Verbs for authors: build, verify, bench, doctor."""

from __future__ import annotations

import json

import click

from runstate_lab.cli.doctor import doctor
from runstate_lab.cli.talk import Asked, say, talk, tell


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--check", is_flag=True, help="Write nothing; refuse a stale or hand-edited notebook."
)
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
@click.pass_obj
def build(asked: Asked, names: tuple[str, ...], check: bool, jobs: int) -> None:
    """Make the notebooks from their masters (NAMES: numbers or names; none: all)."""
    from rich.progress import Progress

    from runstate_lab.course.build import build as build_notebooks
    from runstate_lab.course.build import targets

    catalogue = asked.authors_catalogue("build")
    total = len(targets(catalogue, names))
    with Progress(console=talk(), transient=True) as bar:
        task = bar.add_task("checking" if check else "building", total=total)
        done = build_notebooks(
            catalogue, names, check=check, jobs=jobs, done=lambda target: bar.advance(task)
        )
    say(f"{len(done)} notebooks {'are as built' if check else 'built'}.")


@click.command()
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
@click.pass_context
def verify(ctx: click.Context, jobs: int) -> None:
    """Prove that stubs fail, solutions pass, and wrong answers fail where they say."""
    from runstate_lab.course.verify import verify as prove
    from runstate_lab.grading.checks import check_answers
    from runstate_lab.grading.runner import grade

    course = ctx.obj.authors_catalogue("verify")
    faults = prove(course, check=check_answers, grade=grade, say=tell, jobs=jobs)
    for fault in faults:
        say(str(fault))
    ctx.exit(1 if faults else 0)


@click.command()
@click.option("--only", metavar="NAME", multiple=True, help="This row only (may be given again).")
@click.option("--json", "for_programs", is_flag=True, help="All rows as JSON, for programs.")
@click.option("--quick", is_flag=True, help="Tiny counts: shows the form; the figures say nothing.")
@click.option("--browser", "in_browser", is_flag=True, help="The widgets in a real browser, only.")
def bench(only: tuple[str, ...], for_programs: bool, quick: bool, in_browser: bool) -> None:
    """Measure the kernel beside its peers; a missed aim is said, never an error."""
    from runstate_lab import bench as benches

    only = tuple(benches.NAMED_ONLY) if in_browser else only

    known = {**benches.QUESTIONS, **benches.NAMED_ONLY}
    unknown = sorted(set(only) - set(known))
    if unknown:
        names = ", ".join(known)
        raise click.BadParameter(f"no row {', '.join(unknown)}; hint: one of {names}")
    rows = []
    for row in benches.measure(only, scale=benches.QUICK if quick else benches.FULL):
        rows.append(row)
        if not for_programs:
            tell(benches.as_text(row) + "\n")
    if for_programs:
        tell(json.dumps([benches.as_json(row) for row in rows], indent=2))


VERBS = (build, verify, bench, doctor)
