"""Every line that a lesson or an exercise offers is typed here, and comes to what the table says.

What is offered is found in the masters by pattern, so that a new offer without
a row in `lessons_tried.toml` is a failure and not forgotten.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import runstate_lab
from playing import Bench, edited, flat, paragraphs
from runstate_lab import NaiveStore, explore, run_7_at_revision_4, two_reporters
from runstate_lab.course import answer, catalogue, questiontable
from runstate_lab.course.marks import Cell, read_master
from runstate_lab.race import Race
from runstate_lab.worlds import WORLDS

ROOT = Path(__file__).resolve().parents[1]
COURSE = catalogue.load(ROOT)
MASTERS = {one.name: one.master for one in (*COURSE.lessons, *COURSE.exercises)}
TABLE = tomllib.loads((ROOT / "tests" / "lessons_tried.toml").read_text("utf-8"))
TRIED: list[dict[str, Any]] = TABLE["tried"]
KEYS = {"master", "offer", "type", "run", "then", "shell", "code", "says", "never", "reads"}
IN_TEXT = re.compile(
    r"<details>|\bYour turn\b|\b(?:Break|Repair)\b|\brepair the\b|\byour line\b"
    r"|\b(?:[Cc]hange|[Rr]eplace) (?:the|its)\b|\b(?:[Pp]ut|[Ss]et) (?:`|the right|the token)"
    r"|\brunstate-lab [a-z]+|`[A-Za-z_][\w.]*\([^`]*\)[^`]*`|`from runstate_lab import[^`]*`"
)
IN_CODE = re.compile(r"\byour line\b|# another\b|, \.\.\.\}|== \.\.\.")


def cells_of(master: str) -> tuple[Cell, ...]:
    """The cells of a lesson or of a solved exercise."""
    path = ROOT / MASTERS[master]
    return read_master(path.read_text("utf-8"), path)


def offers(cells: tuple[Cell, ...]) -> Iterator[tuple[str, int, int]]:
    """The paragraphs in which something is offered, and where in them."""
    for cell in cells:
        pattern = IN_TEXT if cell.role == "text" else IN_CODE
        if cell.role in ("text", "given"):
            for part in paragraphs(cell):
                yield from ((part, *found.span()) for found in pattern.finditer(part))


def unclaimed(master: str, cells: tuple[Cell, ...]) -> list[str]:
    """What is offered and stands in no row of the table."""
    claims = [row["offer"] for row in TRIED if row["master"] == master]
    left = []
    for part, start, end in offers(cells):
        spans = [(part.find(claim), len(claim)) for claim in claims if claim in part]
        if not any(at <= start and end <= at + length for at, length in spans):
            left.append(part[max(0, start - 20) : end + 60])
    return left


@pytest.fixture
def learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with a progress file of their own, who has made every prediction."""
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "progress.json"))
    for id in questiontable.prediction_ids():
        answer(id, "a", why="because I think so")


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The invariants that were false before the first move, of every exploration from here on."""
    false: list[str] = []

    def looking(workers: Any, **given: Any) -> Any:
        found = explore(workers, **given)
        if not any(hasattr(one, "acts") for one in workers.values()):
            start = Race(workers, given["store"]())
            false.extend(law.__name__ for law in given.get("invariants", ()) if not law(start))
        return found

    monkeypatch.setattr(runstate_lab, "explore", looking)
    return false


def rows_of(master: str) -> list[dict[str, Any]]:
    """The rows of a master that are typed or run."""
    return [row for row in TRIED if row["master"] == master and {"type", "run"} & set(row)]


def tried(bench: Bench, row: dict[str, Any]) -> str:
    """What comes out of a row; the cells are put back behind it."""
    if "run" in row:
        return bench.run(row["run"])
    shown = ""
    for edit in row["type"]:
        cell = bench.cells[bench.place(edit["in"])]
        shown = bench.run(edited(cell.solved, edit["old"], edit["new"]))
    for edit in row["type"]:
        bench.run(bench.cells[bench.place(edit["in"])].solved)
    return shown


def faults(row: dict[str, Any], shown: str) -> list[str]:
    """What a row misses in what was shown."""
    missed = [f"{row['offer']}: no {words!r} in\n{shown}" for words in row["says"] if words not in shown]
    never = row.get("never", ())
    return missed + [f"{row['offer']}: {words!r} in\n{shown}" for words in never if words in shown]


@pytest.mark.parametrize("master", MASTERS)
def test_every_offered_line_stands_in_the_table(master: str) -> None:
    """A lesson offers nothing that no row tries."""
    assert [] == unclaimed(master, cells_of(master))


def test_a_new_offer_is_not_forgotten() -> None:
    """Words such as Your turn, in a cell that no row knows, are found."""
    new = Cell("text", "**Your turn.** Change the `3` to a 4.", 1)
    line = Cell("given", "x = 3  # your line here", 2)

    assert ["**Your turn.** Change the `3` to a 4."] * 2 == [
        one[-37:] for one in unclaimed("00_start_here", (new,))
    ]
    assert 1 == len(unclaimed("00_start_here", (line,)))


def test_every_row_is_about_a_line_that_is_offered() -> None:
    """Its words stand in its master once, and it has a result or a reason."""
    stale = [
        row["offer"]
        for row in TRIED
        if sum(row["offer"] in part for cell in cells_of(row["master"]) for part in paragraphs(cell)) != 1
    ]
    bare = [row["offer"] for row in TRIED if not {"says", "reads"} & set(row) or set(row) - KEYS]

    assert ([], []) == (stale, bare)


@pytest.mark.usefixtures("learner")
@pytest.mark.parametrize("master", MASTERS)
def test_every_offered_line_does_what_the_table_says(master: str, watched: list[str]) -> None:
    """The cells are run in order; behind its cell each row is typed, looked at and taken back."""
    bench = Bench(cells_of(master))
    waiting = [(last_cell(bench, row), row) for row in rows_of(master)]
    missed: list[str] = []
    for at, cell in enumerate(bench.cells):
        if cell.role != "text":
            bench.run(cell.solved)
        for row in [row for place, row in waiting if place == at]:
            missed += faults(row, tried(bench, row))

    assert [] == missed
    assert [] == watched


@pytest.mark.parametrize("document", ["README.md", "docs/interactions.md"])
def test_no_document_gives_an_invariant_that_is_false_at_the_start(
    document: str, watched: list[str]
) -> None:
    """A law that only holds at the end belongs into `at_end`, or every order breaks it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    examples = doctest.DocTestParser().get_examples((ROOT / document).read_text("utf-8"))
    for example in examples:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(example.source, document, "exec"), names)

    assert "explore" in names
    assert [] == watched


@pytest.mark.parametrize("world", WORLDS)
def test_no_world_has_an_invariant_that_is_false_at_the_start(world: str) -> None:
    """Whatever the variant: nobody has moved yet, so nobody has broken anything."""
    here = WORLDS[world]
    false = [
        (variant, law.__name__)
        for variant, made in here.variants.items()
        for law in here.invariants
        if not law(Race(made.workers, here.fresh(variant)))
    ]

    assert [] == false


def test_an_invariant_that_is_false_at_the_start_is_seen(watched: list[str]) -> None:
    """One deploy is under way: false before anybody has begun."""

    def deployed_once(race: Race) -> bool:
        return [call.tool for call in race.store.load().calls].count("deploy") == 1

    runstate_lab.explore(
        two_reporters(), store=lambda: NaiveStore(run_7_at_revision_4()), invariants=(deployed_once,)
    )

    assert ["deployed_once"] == watched


def last_cell(bench: Bench, row: dict[str, Any]) -> int:
    """Behind which cell a row is tried."""
    if "run" in row:
        return bench.place(row["then"])
    return max(bench.place(edit["in"]) for edit in row["type"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row for row in TRIED if "shell" in row],
    ids=lambda row: f"{row['master']}: {row['shell']}",
)
def test_every_offered_command_does_what_the_table_says(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a fresh course folder the command ends as it should, and says what it should."""
    from runstate_lab.cli import main

    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.chdir(fresh_course(tmp_path / "course"))
    ended = CliRunner().invoke(main, row["shell"].split())

    assert row["code"] == ended.exit_code, ended.output
    assert [] == faults(row, ended.output)


def fresh_course(folder: Path) -> Path:
    """A course as a learner gets it: lessons, exercises, no solutions."""
    folder.mkdir()
    shutil.copy(ROOT / "catalogue.toml", folder)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns("src"))
    shutil.copytree(ROOT / "exercises", folder / "exercises")
    return folder
