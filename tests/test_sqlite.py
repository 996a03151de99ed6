"""The durable store: several processes, pruning, snapshots, foreign and torn files."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from runstate_lab.errors import RevisionConflict, StoreUnreadable
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.orders import run_7_at_revision_4
from runstate_lab.records import read_event, read_state, write_event, write_state
from runstate_lab.rules import SOURCE_TEXT, replay
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore

START = StateProposal("run_started", "", 0)


def store_in(folder: Path, state: RunState | None = None) -> SqliteStateStore:
    """A store on a file of its own."""
    return SqliteStateStore(folder / "run.sqlite", state or RunState("run-7"), durable="normal")


def fill(runtime: Runtime, count: int) -> RunState:
    """The state after so many dispatches and results."""
    state = runtime.store.load()
    for number in range(count):
        call = ToolCall(f"c{state.step}", "scan")
        state = runtime.accept_runtime(StateProposal("tool_dispatched", call, state.revision))
        proposal = StateProposal("tool_result_recorded", f"scan{number}=clean", state.revision)
        state = runtime.accept_tool_result("scan", proposal, call_id=call.call_id)
    return state


def test_a_run_is_there_after_its_process_is_gone(tmp_path: Path) -> None:
    """Closed and opened again: the same state, the same trace."""
    first = store_in(tmp_path)
    runtime = Runtime(first)
    runtime.accept_runtime(START)
    with pytest.raises(RevisionConflict):
        runtime.accept_runtime(START)
    state = fill(runtime, 30)
    entries = list(first.trace)
    first.close()
    again = SqliteStateStore.open(tmp_path / "run.sqlite", "run-7")

    assert state == again.load()
    assert entries == list(again.trace)
    assert ["revision_conflict"] == [refusal.code for refusal in again.trace.refused]
    assert state == replay(again.base, again.trace.accepted)


def test_two_stores_on_one_file_see_each_other(tmp_path: Path) -> None:
    """What one commits the other loads; a stale proposal is a conflict."""
    one, two = store_in(tmp_path), store_in(tmp_path)
    Runtime(one).accept_runtime(START)

    with pytest.raises(RevisionConflict):
        Runtime(two).accept_runtime(START)
    assert 1 == two.load().revision
    assert 2 == len(one.trace)


def test_a_context_of_another_process_is_foreign(tmp_path: Path) -> None:
    """Contexts are minted by a store in this process, not by the file."""
    one, two = store_in(tmp_path), store_in(tmp_path)

    with pytest.raises(PermissionError):
        two.apply(START, context=one.context("runtime", "runtime"))


def test_pruning_does_not_break_recovery(tmp_path: Path) -> None:
    """The state stays, the base moves on, and what is left folds to the state."""
    store = store_in(tmp_path)
    Runtime(store).accept_runtime(START)
    state = fill(Runtime(store), 20)

    assert 31 == store.prune(keep=10)
    again = SqliteStateStore.open(tmp_path / "run.sqlite", "run-7")
    assert state == again.load()
    assert 10 == len(again.trace)
    assert state == replay(again.base, again.trace.accepted)
    assert state.revision + 2 == fill(Runtime(again), 1).revision


def test_pruning_by_another_process_is_noticed(tmp_path: Path) -> None:
    """What lies between is gone, so the snapshot is read; no old state is written on."""
    here, there = store_in(tmp_path), store_in(tmp_path)
    Runtime(here).accept_runtime(START)
    state = fill(Runtime(here), 5)
    here.prune(keep=0)

    assert state == there.load()
    assert [] == list(there.trace)
    assert state.revision + 2 == fill(Runtime(there), 1).revision
    assert here.load() == there.load()


def syncs(store: SqliteStateStore) -> str:
    """How the next commit is synced, as SQLite says."""
    return {1: "normal", 2: "full"}[store._file.execute("pragma synchronous").fetchone()[0]]


@pytest.mark.parametrize(
    ("durable", "expected"),
    [
        ("full", ["full", "full", "full", "normal", "normal"]),
        ("effects", ["full", "normal", "full", "normal", "normal"]),
        ("normal", ["normal"] * 5),
    ],
)
def test_what_must_survive_a_power_cut_is_synced(
    tmp_path: Path, durable: str, expected: list[str]
) -> None:
    """A start, a turn, a dispatch; a refusal and a note are never synced by themselves."""
    store = SqliteStateStore(tmp_path / "run.sqlite", RunState("run-7"), durable=durable)
    runtime, seen = Runtime(store), []
    for proposal in (
        START,
        StateProposal("turn_started", "", 1),
        StateProposal("tool_dispatched", ToolCall("c1", "scan"), 2),
    ):
        runtime.accept_runtime(proposal)
        seen.append(syncs(store))
    with pytest.raises(RevisionConflict):
        runtime.accept_runtime(START)
    seen.append(syncs(store))
    store.note("tool:scan", "called", correlation="c1")

    assert expected == [*seen, syncs(store)]


def test_snapshots_grow_geometrically(tmp_path: Path) -> None:
    """All snapshots together weigh less than twice the events, however long the run."""
    store = store_in(tmp_path)
    Runtime(store).accept_runtime(START)
    seen = []
    for _ in range(60):
        fill(Runtime(store), 10)
        row = store._file.execute("select snapshot_revision, length(snapshot) from runs").fetchone()
        seen += [row] if row not in seen else []
    (events,) = store._file.execute("select sum(length(event)) from events").fetchone()

    assert 8 == len(seen)
    assert sum(length for _, length in seen) <= 2 * events


def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Another program's tables are neither read nor written."""
    path = tmp_path / "run.sqlite"
    other = sqlite3.connect(path)
    other.execute("create table recipes (name text)")
    other.commit()
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnreadable, match="another program"):
        SqliteStateStore(path, RunState("run-7"))
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    "content", [b"not a database at all", b"SQLite format 3\x00" + b"\xff" * 90]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    """A clear error, and not a byte is changed."""
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)

    with pytest.raises(StoreUnreadable):
        SqliteStateStore(path, RunState("run-7"))
    assert content == path.read_bytes()


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    """Cut in the middle: no state is made up."""
    store = store_in(tmp_path)
    Runtime(store).accept_runtime(START)
    fill(Runtime(store), 200)
    store._file.execute("pragma wal_checkpoint(truncate)")
    store.close()
    path = tmp_path / "run.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(StoreUnreadable):
        SqliteStateStore.open(path, "run-7").trace
    assert whole[: len(whole) // 2] == path.read_bytes()


def test_a_run_under_other_rules_is_refused(tmp_path: Path) -> None:
    """The table in force belongs to the run."""
    store_in(tmp_path).close()

    with pytest.raises(StoreUnreadable, match="SOURCE_TEXT"):
        SqliteStateStore(tmp_path / "run.sqlite", RunState("run-7"), rules=SOURCE_TEXT)


def test_several_runs_share_a_file(tmp_path: Path) -> None:
    """Each has its own revision and trace."""
    seven, eight = store_in(tmp_path), store_in(tmp_path, RunState("run-8"))
    Runtime(seven).accept_runtime(START)
    fill(Runtime(seven), 3)
    Runtime(eight).accept_runtime(START)

    assert (7, 1) == (seven.load().revision, eight.load().revision)
    assert (7, 1) == (len(seven.trace), len(eight.trace))


def test_notes_are_redacted_in_the_file(tmp_path: Path) -> None:
    """No secret reaches the disk."""
    store = store_in(tmp_path)
    store.note("tool:scan", "called with api_key=sk-123", correlation="c1")
    store._file.execute("pragma wal_checkpoint(truncate)")

    assert b"sk-123" not in (tmp_path / "run.sqlite").read_bytes()
    assert "[redacted]" in store.trace.diagnostics[0].words


def write_many(
    path: str, worker: str, count: int, ready: multiprocessing.Barrier, done: multiprocessing.Queue
) -> None:
    """Dispatch calls, re-reading after each conflict; say how it went."""
    store = SqliteStateStore.open(path, "run-7", durable="normal")
    runtime = Runtime(store)
    ready.wait(60)
    written = conflicts = 0
    while written < count:
        state = store.load()
        try:
            call = ToolCall(f"{worker}-{written}", "scan")
            runtime.accept_runtime(StateProposal("tool_dispatched", call, state.revision))
            written += 1
        except RevisionConflict:
            conflicts += 1
    done.put((worker, written, conflicts))


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Every acknowledged write is in the state; every conflict was reported and kept."""
    Runtime(store_in(tmp_path)).accept_runtime(START)
    start = multiprocessing.get_context("spawn")
    done, ready = start.Queue(), start.Barrier(2)
    path = str(tmp_path / "run.sqlite")
    writers = [
        start.Process(target=write_many, args=(path, name, 150, ready, done)) for name in "AB"
    ]
    for writer in writers:
        writer.start()
    said = [done.get(timeout=60) for _ in writers]
    for writer in writers:
        writer.join(60)
    store = SqliteStateStore.open(path, "run-7")
    state = store.load()

    assert 300 == sum(written for _, written, _ in said)
    assert 300 == len({call.call_id for call in state.calls})
    assert 301 == state.revision == len(store.trace.accepted)
    assert sum(conflicts for _, _, conflicts in said) == len(store.trace.refused)


def test_records_are_read_back_exactly() -> None:
    """A state with calls, and every event of a run, survive the round trip."""
    state = run_7_at_revision_4()

    assert state == read_state(write_state(state))
    for number, value in enumerate((ToolCall("c9", "deploy", (("release", "7"),), key="k"), "a=b")):
        from runstate_lab.model import StateEvent

        event = StateEvent("x", "runtime", "runtime", value, number, "c9", 3, 2)
        assert event == read_event(write_event(event), number)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Loading and applying are refused in the kit's own words, and closing again is nothing."""
    store = store_in(tmp_path)
    door = store.context("runtime", "runtime")
    store.close()
    store.close()

    with pytest.raises(StoreUnreadable):
        store.load()
    with pytest.raises(StoreUnreadable):
        store.apply(START, context=door)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The refusal names the path that was given."""
    with pytest.raises(StoreUnreadable, match=r"nowhere.run\.sqlite"):
        SqliteStateStore(tmp_path / "nowhere" / "run.sqlite", RunState("run-7"))


def test_a_text_that_no_file_can_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A lone surrogate: the state stays as it was."""
    store = store_in(tmp_path)
    Runtime(store).accept_runtime(START)
    with pytest.raises(StoreUnreadable):
        Runtime(store).accept_runtime(StateProposal("followup_required", "\ud800", 1))

    assert 1 == store.load().revision == len(store.trace)
