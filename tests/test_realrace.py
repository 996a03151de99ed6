"""A real race: exact in the worst order, an exact sum in any; faults and hangs are told."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from runstate_lab import show
from runstate_lab.live.live import Sealed
from runstate_lab.live.realrace import RealRace
from runstate_lab.show.racer import race, ready
from runstate_lab.show.realrace import (
    HEADS,
    RaceFailed,
    Tally,
    race_table,
    real_race,
    tally,
    together,
)
from runstate_lab.store import StateStore

WORKS = [sys.executable, "-c", "print('here', flush=True); input(); print('done')"]
FAILS = [sys.executable, "-c", "print('here', flush=True); input(); 1 / 0"]
SILENT = [sys.executable, "-c", "import sys; sys.exit(3)"]
HANGS = [sys.executable, "-c", "print('here', flush=True); import sys; sys.stdin.read()"]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made during the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_worst_order_has_exact_numbers() -> None:
    """All read before any writes: one of two is lost each time, or one of two is told."""
    table = race_table(each=4, held=4)

    assert [["naive", 8, 4, 4, 0, 0], ["right", 8, 8, 0, 4, 4]] == table.values.tolist()
    assert list(HEADS) == list(table.columns)


def test_three_naive_writers_lose_two_of_three() -> None:
    """The file holds one page, whoever wrote last."""
    found = tally("naive", writers=3, each=2, held=2, limit=60)

    assert Tally("naive", 6, 2, 4, 0, 0) == found


def test_a_free_race_adds_up(temporary: Path) -> None:
    """Acknowledged is found and lost; held once, at least one is lost or told."""
    naive = tally("naive", writers=2, each=15, held=1, limit=60)
    right = tally("right", writers=2, each=15, held=1, limit=60)

    assert 30 == naive.acknowledged == naive.found + naive.lost
    assert (30, 30, 0) == (right.acknowledged, right.found, right.lost)
    assert naive.lost >= 1 <= right.conflicts == right.retries
    assert 0 == naive.conflicts
    assert [] == list(temporary.iterdir())


def test_a_race_is_one_row_and_speaks() -> None:
    """The table has a caption and a text twin, as every table has."""
    table = show.real_race("right", each=1, held=1)

    assert (
        "Processes that write to one SQLite file at once.\n1. store: right; acknowledged: 2; "
        "found in the file: 2; lost: 0; conflicts told: 1; retries: 1" == table.text()
    )


def test_a_fault_in_a_process_is_quoted() -> None:
    """The last line of what it said, and which process it was."""
    with pytest.raises(RaceFailed, match="w2 to race, found ZeroDivisionError: division by zero"):
        together({"w1": WORKS, "w2": FAILS}, meets=1, limit=60)


def test_a_process_that_ends_without_a_word_is_told() -> None:
    """Its exit status is what is known."""
    with pytest.raises(RaceFailed, match="found exit status 3 without a word"):
        together({"w1": WORKS, "w2": SILENT}, meets=1, limit=60)


def test_a_process_that_hangs_is_named_and_ended() -> None:
    """The limit counts from the start, and the call comes back."""
    with pytest.raises(RaceFailed, match="w2 still at work; all processes were ended"):
        together({"w1": WORKS, "w2": HANGS}, meets=1, limit=2)


def test_a_program_that_cannot_be_started_is_told() -> None:
    """Some Pythons may start none, as in a browser."""
    with pytest.raises(RaceFailed, match="cannot be started here"):
        together({"w1": ["/nowhere/python"]}, meets=0, limit=60)


def test_a_failed_race_leaves_no_folder(temporary: Path) -> None:
    """The file is removed also when the race ends early."""
    with pytest.raises(RaceFailed, match="still at work"):
        real_race("right", each=2, limit=0.0)

    assert [] == list(temporary.iterdir())


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"store": "postgres"}, "no such store"),
        ({"writers": 1}, "2 to 5 possible"),
        ({"writers": 6}, "2 to 5 possible"),
        ({"each": 0}, "1 to 500 possible"),
        ({"each": "50"}, "1 to 500 possible"),
        ({"each": 3, "held": 4}, "1 to 3 possible"),
    ],
)
def test_what_cannot_be_raced_is_refused(wrong: dict[str, object], found: str) -> None:
    """The message names what is possible and ends with one thing to do."""
    with pytest.raises(RaceFailed, match=found) as refused:
        real_race(**wrong)

    assert "\nhint: " in str(refused.value)


def test_a_writer_alone_is_never_told_anything() -> None:
    """The racer's own loop, without a process: each result is offered once."""
    met: list[str] = []
    told = race(StateStore(ready(2, 3)), "w1", 3, held=2, meet=lambda: met.append("here"))

    assert (("tests.1=green", "tests.2=green", "tests.3=green"), 0, 0) == (
        told.acknowledged,
        told.conflicts,
        told.retries,
    )
    assert 4 == len(met)


def test_a_notebook_keeps_no_number_of_a_race() -> None:
    """Before and after a race the stored output is the same."""
    widget = RealRace(each=2)
    before, _ = widget._repr_mimebundle_()
    said = widget.start(worst=True)
    after, _ = widget._repr_mimebundle_()

    assert before == after
    assert "not raced yet" in RealRace().svg()
    assert (
        "naive: 2 of 4 acknowledged results are in the file, 2 lost, nobody was told anything. "
        "right: 4 of 4 acknowledged results are in the file, 0 lost, 2 conflicts told." == said
    )
    assert ["naive", "right"] == list(widget.table()["store"])
    assert "2 of 4 acknowledged in the file, 2 lost" in widget.svg()
    assert "store,acknowledged,found in the file,lost,conflicts told,retries\n" == RealRace().csv()


def test_a_locked_race_is_not_run() -> None:
    """No process is started, and the page has nothing of it."""
    widget = RealRace(each=1)
    widget.seal("predict first")
    with pytest.raises(Sealed, match="hint: predict first"):
        widget.start()

    assert ([], "") == (widget.rows, widget.said)


def test_a_race_comes_back_when_its_lock_opens() -> None:
    """The rows, the words and the bars are those of the race before the lock."""
    widget = RealRace(each=1)
    widget.start(worst=True)
    before = (widget.svg(), widget.csv(), widget.said)
    widget.seal("predict first")
    widget.unseal()

    assert before == (widget.svg(), widget.csv(), widget.said)
