"""Checkpoints are named for good; recovery tells and never guesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstate_lab.checkpoint import CheckpointStore, FileCheckpointStore, recover
from runstate_lab.errors import Malformed, StoreUnreadable
from runstate_lab.model import CallStatus, NodeState, NodeStatus, RunState, ToolCall
from runstate_lab.orders import run_7_at_revision_4


@pytest.mark.parametrize(
    ("status", "key", "answer", "repeatable"),
    [
        (CallStatus.PROPOSED, None, "not executed", True),
        (CallStatus.NOT_EXECUTED, None, "not executed", True),
        (CallStatus.FAILED, None, "failed", True),
        (CallStatus.DISPATCHED, None, "outcome unknown", False),
        (CallStatus.UNKNOWN, None, "outcome unknown", False),
        (CallStatus.UNKNOWN, "deploy-7", "outcome unknown", True),
    ],
)
def test_recovery_gives_one_of_three_answers(
    status: CallStatus, key: str | None, answer: str, repeatable: bool
) -> None:
    """Not executed, failed, outcome unknown; and whether it may be tried again."""
    call = ToolCall("c1", "deploy", key=key, status=status)
    (found,) = recover(RunState("run-7", calls=(call,))).calls

    assert (answer, repeatable) == (found.answer, found.repeatable)


def test_recovery_names_the_nodes_that_are_held() -> None:
    """What a dead worker was doing is unknown, too."""
    held = NodeState("build", status=NodeStatus.RUNNING, attempt=2, worker="w1")
    found = recover(RunState("run-7", nodes=(held, NodeState("deploy"))))

    assert (("build", "attempt 2 by w1, outcome unknown"),) == found.nodes


def test_checkpoints_in_a_folder_outlive_their_store(tmp_path: Path) -> None:
    """Several runs and revisions; oldest first; an unfinished file is not one."""
    store = FileCheckpointStore(tmp_path)
    names = [store.save(state) for state in (RunState("run-7"), run_7_at_revision_4())]
    (tmp_path / "run-7@5.part").write_text("{", "utf-8")
    again = FileCheckpointStore(tmp_path)

    assert set(names) == set(again.names)
    assert run_7_at_revision_4() == again.load("run-7@4")
    with pytest.raises(StoreUnreadable, match="no such checkpoint"):
        again.load("run-7@5")


def test_saving_the_same_state_again_changes_nothing() -> None:
    """A repeated save is no conflict; another state under the name is one."""
    store = CheckpointStore()
    assert store.save(RunState("run-7")) == store.save(RunState("run-7"))
    with pytest.raises(Malformed):
        store.save(RunState("run-7", goal="another"))
    with pytest.raises(Malformed):
        store.save("run-7")


@pytest.mark.parametrize("run_id", ["../x", "a/b", "a\0b", "运行", "..", "a b"])
def test_an_id_cannot_lead_out_of_the_folder(tmp_path: Path, run_id: str) -> None:
    """Whatever it holds, its file is in the folder and is found again."""
    folder = tmp_path / "in"
    name = FileCheckpointStore(folder).save(RunState(run_id, goal="ship"))

    assert RunState(run_id, goal="ship") == FileCheckpointStore(folder).load(name)
    assert [folder] == list(tmp_path.iterdir())
    assert 1 == len(list(folder.iterdir()))


@pytest.mark.parametrize("run_id", ["x" * 300, "\ud800"])
def test_an_id_that_no_file_can_have_is_refused(tmp_path: Path, run_id: str) -> None:
    """Too long, or no text at all."""
    with pytest.raises(Malformed):
        FileCheckpointStore(tmp_path).save(RunState(run_id))


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    """Not text, too deep, or another run's: no state is made up."""
    for name, content in {
        "run-1@0": b"\xff\xfe",
        "run-2@0": b"[" * 100_000,
        "run-3@0": b'{"RunState":["run-7"]}',
    }.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    store = FileCheckpointStore(tmp_path)
    for name in ("run-1@0", "run-2@0"):
        with pytest.raises(Malformed):
            store.load(name)
    with pytest.raises(StoreUnreadable, match="not that checkpoint"):
        store.load("run-3@0")
