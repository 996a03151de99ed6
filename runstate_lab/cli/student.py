"""Verbs for students: lab, check, hint, solution, reset, submit, progress."""

from __future__ import annotations

import getpass
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runstate_lab.cli.laboratory import lab
from runstate_lab.cli.talk import Asked, say, tell, tell_report
from runstate_lab.course.catalogue import Catalogue, Exercise
from runstate_lab.course.faults import AskedWrongly, CourseFault
from runstate_lab.course.progress import Entry, Progress, progress_of

if TYPE_CHECKING:
    from runstate_lab.grading.checks import Outcome

NOT_HELD = 1


@click.command()
@click.argument("exercise")
@click.option("--json", "as_json", is_flag=True, help="The result for machines.")
@click.option("--all", "held_back", is_flag=True, help="The held-back checks too, where they are.")
@click.pass_context
def check(ctx: click.Context, exercise: str, as_json: bool, held_back: bool) -> None:
    """Run the visible checks of EXERCISE (04) on your saved notebook."""
    from runstate_lab.grading.checks import check_notebook

    course = ctx.obj.own_catalogue
    wanted = course.exercise(exercise)
    source = _source_of_checks(course, wanted) if held_back else None
    report = check_notebook(wanted, course.root / wanted.notebook)
    held = [task.id for task in wanted.tasks if report.task_held(task.id)]
    if source is not None:
        report = replace(report, others=_held_back(course, wanted, source))
    if as_json:
        outcomes = [asdict(outcome) for outcome in (*report.outcomes, *report.others)]
        tell(json.dumps({"exercise": wanted.name, "held": held, "checks": outcomes}, indent=1))
    else:
        tell_report(str(report))
    book = progress_of(course.root)
    attempts = (book.entry("checks", wanted.number) or {}).get("attempts", 0) + 1
    book.record("checks", wanted.number, {"attempts": attempts, "held": held})
    ctx.exit(0 if report.held else NOT_HELD)


@click.command()
@click.argument("task")
@click.pass_obj
def hint(asked: Asked, task: str) -> None:
    """One more hint for TASK (04.1); each call shows a further step."""
    course = asked.own_catalogue
    wanted = course.exercise(task).task(task)
    book = progress_of(course.root)
    before = (book.entry("hints", task) or {}).get("shown", 0)
    shown = min(before + 1, len(wanted.hints))
    for number, words in enumerate(wanted.hints[:shown], start=1):
        tell(f"hint {number} of {len(wanted.hints)}: {words}")
    if before == shown:
        say(f"That was the last hint. After an attempt: runstate-lab solution {task}")
    book.record("hints", task, {"shown": shown})


@click.command()
@click.argument("task")
@click.pass_obj
def solution(asked: Asked, task: str) -> None:
    """The solution of TASK (04.1), after an attempt, where solutions are at hand."""
    from runstate_lab.course.marks import read_master

    course = asked.own_catalogue
    exercise = course.exercise(task)
    wanted = exercise.task(task)
    book = progress_of(course.root)
    text = (_require_attempt(course, exercise, book) / exercise.master).read_text(encoding="utf-8")
    for cell in read_master(text, exercise.master):
        if cell.role == "answer" and cell.task == wanted.id:
            tell(cell.solved)
    book.record("solutions", wanted.id, {"shown": True})


@click.command()
@click.argument("exercise")
@click.pass_obj
def reset(asked: Asked, exercise: str) -> None:
    """Begin EXERCISE (04) anew; the old notebook is kept."""
    from runstate_lab.course.folder import reset as begin_anew

    course = asked.catalogue_to_change("reset")
    wanted = course.exercise(exercise)
    kept = begin_anew(course, wanted)
    say(f"{wanted.notebook} is as it was in the beginning.")
    say(f"What stood there is kept: {kept}" if kept else "There was nothing of yours to keep.")
    progress_of(course.root).forget("checks", wanted.number)


@click.command()
@click.argument("exercise")
@click.option("--to", type=click.Path(file_okay=False), help="The hand-in folder.")
@click.option("--make", is_flag=True, help="Make that folder where it does not exist.")
@click.option("--as", "student", help="Your name in the hand-in folder; else your login.")
@click.pass_obj
def submit(asked: Asked, exercise: str, to: str | None, make: bool, student: str | None) -> None:
    """Hand in EXERCISE (04) as it is saved; prints the receipt."""
    from runstate_lab.course.handing import doubt
    from runstate_lab.course.handing import submit as hand_in

    course = asked.catalogue_to_change("submit")
    wanted = course.exercise(exercise)
    folder = course.root / "hand_in" if to is None else _hand_in_folder(to, make=make)
    doubtful = doubt(course, wanted)
    receipt = hand_in(course, wanted, student=_login() if student is None else student, to=folder)
    _tell_receipt(f"{receipt.sha256}  {receipt.path}")
    say(f"Handed in as {receipt.student}. Only what was saved is in it.")
    if doubtful:
        say(f"warning: {doubtful}")
    if receipt.set_aside:
        say(f"What was handed in before is kept: {receipt.set_aside}")
    try:
        progress_of(course.root).record("hand_ins", wanted.number, asdict(receipt))
    except (OSError, CourseFault) as error:
        say(f"`runstate-lab progress` will not know of it: {error}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The result for machines.")
@click.pass_obj
def progress(asked: Asked, as_json: bool) -> None:
    """What you have done so far, exercise by exercise."""
    course = asked.own_catalogue
    rows = [_row(course, exercise) for exercise in course.exercises]
    if as_json:
        tell(json.dumps(rows, indent=1))
        return
    tell(_predictions(progress_of(course.root)))
    for row in rows:
        checked = (
            f"{row['tasks_held']} of {row['tasks']} tasks held"
            if row["attempts"]
            else "not checked yet"
        )
        hints = f", {row['hints']} hint{'' if row['hints'] == 1 else 's'}" if row["hints"] else ""
        handed = ", handed in" if row["handed_in"] else ""
        changed = "; the saved notebook was changed since" if row["changed_since"] else ""
        tell(f"{row['exercise']}  {checked}{hints}{handed}{changed}")


def _tell_receipt(line: str) -> None:
    """The receipt where data goes; where that is closed or full, where talk goes."""
    try:
        gone = not tell(line)
    except OSError:
        gone = True
    if gone:
        say(line)


def _source_of_checks(course: Catalogue, exercise: Exercise) -> Path:
    from runstate_lab.course.folder import sources

    root = sources(course)
    if root is None or not (root / exercise.hidden).exists():
        raise AskedWrongly(
            "the held-back checks are not at hand here",
            hint=f"runstate-lab check {exercise.number} runs the visible ones; "
            "the others are in the kit's repository",
        )
    return root


def _held_back(course: Catalogue, exercise: Exercise, root: Path) -> tuple[Outcome, ...]:
    """The held-back checks as a grade would find them: title and kind of failure only."""
    from runstate_lab.grading.checks import Outcome
    from runstate_lab.grading.dispatch import grade_own
    from runstate_lab.grading.feedback import case_words

    record = grade_own(root, exercise.name, course.root / exercise.notebook)
    if not record.tasks:
        raise CourseFault(f"the held-back checks could not be run: {record.reason}")
    return tuple(
        Outcome(task.task, case.title, case.verdict == "PASS", case_words(case))
        for task in record.tasks
        for case in task.cases
        if not case.visible
    )


def _predictions(book: Progress) -> str:
    made = book.section("predictions").values()
    revealed = sum(bool(entry.get("revealed")) for entry in made)
    count = len(made) - revealed
    without = f", {revealed} opened without one" if revealed else ""
    return f"{count} prediction{'' if count == 1 else 's'} made{without}"


def _changed_since(path: Path, handed: Entry | None) -> bool:
    from runstate_lab.course.folder import digest

    try:
        return bool(handed and path.is_file() and digest(path) != handed.get("sha256"))
    except OSError:
        return True


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise AskedWrongly(
            "this machine knows no login of yours", hint="--as ada.lovelace"
        ) from None


def _hand_in_folder(to: str, *, make: bool) -> Path:
    if not to.strip():
        raise AskedWrongly("--to names no folder", hint="--to FOLDER, or leave --to out")
    if not make and not Path(to).is_dir():
        raise AskedWrongly(f"there is no folder {to}", hint="look at its name; --make makes it")
    return Path(to)


def _row(course: Catalogue, exercise: Exercise) -> dict[str, object]:
    book = progress_of(course.root)
    handed = book.entry("hand_ins", exercise.number)
    checked = book.entry("checks", exercise.number) or {}
    hints = (book.entry("hints", task.id) or {} for task in exercise.tasks)
    return {
        "exercise": exercise.name,
        "tasks": len(exercise.tasks),
        "tasks_held": sum(task.id in checked.get("held", ()) for task in exercise.tasks),
        "attempts": checked.get("attempts", 0),
        "hints": sum(entry.get("shown", 0) for entry in hints),
        "handed_in": handed is not None,
        "changed_since": _changed_since(course.root / exercise.notebook, handed),
    }


def _require_attempt(course: Catalogue, exercise: Exercise, book: Progress) -> Path:
    """The root where the solutions are at hand, after an attempt."""
    from runstate_lab.course.folder import sources

    root = sources(course)
    if root is None or not (root / exercise.master).exists():
        raise AskedWrongly(
            f"the solutions are not in {course.root}",
            hint=f"runstate-lab hint {exercise.tasks[0].id}; solutions are in the kit's repository",
        )
    if book.entry("checks", exercise.number) is None:
        raise AskedWrongly(
            f"exercise {exercise.number} was never tried here",
            hint=f"write an answer, save, then: runstate-lab check {exercise.number}",
        )
    return root


VERBS = (lab, check, hint, solution, reset, submit, progress)
