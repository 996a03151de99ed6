"""The naive store over SQLite: what it keeps, what it loses, and that nobody is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import runstate_lab
from runstate_lab.brokenfiles import NaiveFileStore
from runstate_lab.errors import StoreUnreadable, WriterRejected
from runstate_lab.model import RunState, StateProposal
from runstate_lab.runtime import Runtime

START = StateProposal("run_started", "", 0)
CANCEL = StateProposal("run_cancelled", "cancelled_by_user", 0)


def test_the_second_page_replaces_the_first(tmp_path: Path) -> None:
    """Both are acknowledged at revision 1; the file holds what came last."""
    mine, yours = (NaiveFileStore(tmp_path / "run.sqlite", RunState("run-7")) for _ in range(2))
    started = Runtime(mine).accept_runtime(START)
    cancelled = Runtime(yours).accept_runtime(CANCEL)

    assert (1, 1) == (started.revision, cancelled.revision)
    assert cancelled == mine.load() == yours.load()
    assert ((), ()) == (mine.trace.refused, yours.trace.refused)
    mine.close()
    yours.close()


def test_one_writer_alone_loses_nothing(tmp_path: Path) -> None:
    """What is wrong shows only when two work from one page."""
    first = NaiveFileStore(tmp_path / "run.sqlite", RunState("run-7"))
    Runtime(first).accept_runtime(START)
    first.close()
    again = NaiveFileStore(tmp_path / "run.sqlite", RunState("run-7"))

    assert "running" == again.load().status
    again.close()


def test_it_is_wrong_in_one_step_only(tmp_path: Path) -> None:
    """The writer is still checked, and a refusal writes nothing."""
    store = NaiveFileStore(tmp_path / "run.sqlite", RunState("run-7"))
    with pytest.raises(WriterRejected):
        Runtime(store).accept_model_proposal(START)

    assert 0 == store.load().revision
    store.close()


def test_a_folder_that_is_not_there_is_named() -> None:
    """The refusal says which file was asked for."""
    with pytest.raises(StoreUnreadable, match=r"/nowhere/run\.sqlite"):
        NaiveFileStore("/nowhere/run.sqlite", RunState("run-7"))


def test_it_comes_with_the_book() -> None:
    """The name is loaded late, as the other wrong stores are."""
    assert NaiveFileStore is runstate_lab.NaiveFileStore
