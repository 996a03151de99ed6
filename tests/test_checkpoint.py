"""Checkpoints are named for good; recovery tells and never guesses."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from runstate_lab.checkpoint import CheckpointStore, FileCheckpointStore, recover
from runstate_lab.errors import Malformed, StoreUnreadable
from runstate_lab.model import CallStatus, NodeState, NodeStatus, RunState, ToolCall
from runstate_lab.nouns import changed
from runstate_lab.records import write_state
from runstate_lab.worlds import run_7_at_revision_4


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


@pytest.mark.parametrize(
    "stray",
    [
        "notes.json",
        "run-7@.json",
        "run-7@four.json",
        "@4.json",
        "run 7@4.json",
        "%ff@4.json",
        "运行@4.json",
        "run-7@4.JSON",
        "run-7@4.json.part",
        "run-7@4.99.part",
        ".json",
    ],
)
def test_a_stray_file_is_no_checkpoint(tmp_path: Path, stray: str) -> None:
    """Only what is named as a checkpoint is; everything else stays where it is."""
    (tmp_path / stray).write_text(write_state(RunState("run-7")), "utf-8")
    store = FileCheckpointStore(tmp_path)
    name = store.save(run_7_at_revision_4())

    assert ("run-7@4",) == (name,) == store.names == FileCheckpointStore(tmp_path).names
    assert (tmp_path / stray).is_file()


def test_folders_and_links_are_no_checkpoints(tmp_path: Path) -> None:
    """Whatever they are called: a link may change without anybody saving."""
    (tmp_path / "elsewhere").write_text(write_state(RunState("run-7")), "utf-8")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "run-7@1.json").mkdir()
    (tmp_path / "in" / "run-7@0.json").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "in" / "run-7@2.json").symlink_to(tmp_path / "nowhere")

    assert () == FileCheckpointStore(tmp_path / "in").names


def test_a_damaged_checkpoint_is_listed_and_told_by_its_name(tmp_path: Path) -> None:
    """It was one, so it is not passed over in silence; the field that is wrong is named."""
    (tmp_path / "run-7@0.json").write_text('{"RunState":["run-7",7]}', "utf-8")
    store = FileCheckpointStore(tmp_path)

    assert ("run-7@0",) == store.names
    with pytest.raises(Malformed) as damage:
        store.load("run-7@0")
    assert (
        "damaged checkpoint: asked run-7@0, found 7 instead of RunState.goal as text"
        == str(damage.value).partition("\n")[0]
    )


def test_what_another_process_saved_is_not_overwritten(tmp_path: Path) -> None:
    """A name means one state in the folder, not only in one store's memory."""
    early, other = FileCheckpointStore(tmp_path), FileCheckpointStore(tmp_path)
    name = other.save(RunState("run-7", goal="ship"))
    with pytest.raises(Malformed, match="another state under that name"):
        early.save(RunState("run-7", goal="another"))

    assert "ship" == early.load(name).goal == FileCheckpointStore(tmp_path).load(name).goal


@pytest.mark.parametrize("state", [RunState("run-7", goal="\ud800"), changed(RunState("r"), step="1")])
def test_a_state_that_could_not_be_read_back_leaves_nothing_behind(
    tmp_path: Path, state: RunState
) -> None:
    """Refused before a file is opened."""
    with pytest.raises(Malformed):
        FileCheckpointStore(tmp_path).save(state)

    assert [] == list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    """A file stands there, or something stands where the checkpoint should be."""
    (tmp_path / "file").write_text("", "utf-8")
    for place in ("file", "file/in"):
        with pytest.raises(StoreUnreadable):
            FileCheckpointStore(tmp_path / place)
    store = FileCheckpointStore(tmp_path / "in")
    (tmp_path / "in" / "run-7@0.json").mkdir()
    with pytest.raises(StoreUnreadable, match="to save run-7@0"):
        store.save(RunState("run-7"))

    assert () == store.names
    assert [tmp_path / "in" / "run-7@0.json"] == list((tmp_path / "in").iterdir())


def test_a_full_disk_is_refused_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint is not there, neither in the folder nor in the store."""

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store = FileCheckpointStore(tmp_path)
    monkeypatch.setattr("runstate_lab.checkpoint._to_disk", full)
    with pytest.raises(StoreUnreadable, match="No space left"):
        store.save(RunState("run-7"))

    assert () == store.names
    assert [] == list(tmp_path.iterdir())
