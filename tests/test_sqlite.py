"""The durable store: several processes, pruning, snapshots, foreign and torn files."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runstate_lab.errors import IllegalTransition, Malformed, RevisionConflict, StoreUnreadable
from runstate_lab.model import RunState, StateEvent, StateProposal, ToolCall
from runstate_lab.records import read_event, read_state, write_event, write_state
from runstate_lab.rules import SOURCE_TEXT, replay
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.worlds import run_7_at_revision_4

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
        event = StateEvent("x", "runtime", "runtime", value, number, "c9", 3, 2)
        assert event == read_event(write_event(event), number)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The refusal names the path that was given."""
    with pytest.raises(StoreUnreadable, match=r"nowhere.run\.sqlite"):
        SqliteStateStore(tmp_path / "nowhere" / "run.sqlite", RunState("run-7"))


def test_a_text_that_no_file_can_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A lone surrogate: the state stays as it was."""
    store = store_in(tmp_path)
    Runtime(store).accept_runtime(START)
    with pytest.raises(Malformed):
        Runtime(store).accept_runtime(StateProposal("followup_required", "\ud800", 1))

    assert 1 == store.load().revision == len(store.trace)


USES: dict[str, Callable[[SqliteStateStore], object]] = {
    "load": lambda store: store.load(),
    "trace": lambda store: store.trace,
    "base": lambda store: store.base,
    "apply": lambda store: store.apply(START, context=store.context("runtime", "runtime")),
    "note": lambda store: store.note("tool:scan", "called", correlation="c1"),
    "prune": lambda store: store.prune(keep=0),
}


def found_by(use: Callable[[SqliteStateStore], object], store: SqliteStateStore) -> str:
    """What the refusal of a use says it found, which is one line with a hint of its own."""
    with pytest.raises(StoreUnreadable) as refused:
        use(store)

    assert refused.value.hint
    assert 2 == len(str(refused.value).splitlines())
    return refused.value.found


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_a_closed_store_says_so(tmp_path: Path, use: Callable[[SqliteStateStore], object]) -> None:
    """Every use is refused in the house's own words, and closing again is nothing."""
    store = store_in(tmp_path)
    store.close()
    store.close()

    assert "a store that was closed" == found_by(use, store)


@pytest.mark.parametrize("use", [*USES.values(), SqliteStateStore.close], ids=[*USES, "close"])
def test_a_store_belongs_to_one_thread(
    tmp_path: Path, use: Callable[[SqliteStateStore], object]
) -> None:
    """In another thread every use is refused; in its own the store goes on."""
    store = store_in(tmp_path)
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(found_by, use, store).result()

    assert "a store that was opened in another thread" == found
    assert 1 == Runtime(store).accept_runtime(START).revision


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_store_belongs_to_one_process(tmp_path: Path) -> None:
    """After a fork every use is refused in the child, whose locks are not its own."""
    store = store_in(tmp_path)
    child = os.fork()
    if child == 0:
        try:
            found = {found_by(use, store) for use in USES.values()}
            os._exit(0 if found == {"a store that was opened before the process was forked"} else 1)
        finally:
            os._exit(2)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert 1 == Runtime(store).accept_runtime(START).revision


@pytest.mark.parametrize("name", USES)
def test_dropped_tables_are_told(tmp_path: Path, name: str) -> None:
    """Another program took the tables away: a refusal, not an error of SQLite."""
    store = store_in(tmp_path)
    other = sqlite3.connect(tmp_path / "run.sqlite")
    for table in ("runs", "events", "refusals", "notes"):
        other.execute(f"drop table {table}")
    other.close()

    assert "no such table" in found_by(USES[name], store)
    with pytest.raises(StoreUnreadable, match="no such table"):
        SqliteStateStore.open(tmp_path / "run.sqlite", "run-7")


@pytest.mark.parametrize("name", ["apply", "note", "prune"])
@pytest.mark.parametrize(
    ("pragma", "found"),
    [
        ("query_only = 1", "a file that may only be read"),
        ("max_page_count = 1", "a full disk"),
        ("busy_timeout = 0", "a file that another program keeps locked"),
    ],
)
def test_a_write_that_fails_is_refused_and_can_be_made_again(
    tmp_path: Path, pragma: str, found: str, name: str
) -> None:
    """Read-only, full, locked: nothing is acknowledged, and nothing stays half done."""
    store = store_in(tmp_path)
    fill_a_page(store)
    before = store.load()
    other = sqlite3.connect(tmp_path / "run.sqlite", isolation_level=None)
    if pragma.startswith("busy"):
        other.execute("begin immediate")
    store._file.execute(f"pragma {pragma}")
    proposal = StateProposal("followup_required", "x" * 9_000, before.revision)
    uses = USES | {
        "apply": lambda store: Runtime(store).accept_runtime(proposal),
        "note": lambda store: store.note("tool:scan", "x " * 4_500, correlation="c1"),
    }
    if (pragma, name) != ("max_page_count = 1", "prune"):
        assert found == found_by(uses[name], store)
    other.close()
    for undo in ("query_only = 0", "max_page_count = 100000", "busy_timeout = 60000"):
        store._file.execute(f"pragma {undo}")

    assert before == store.load() == SqliteStateStore.open(tmp_path / "run.sqlite", "run-7").load()
    assert before.revision + 1 == Runtime(store).accept_runtime(proposal).revision


def fill_a_page(store: SqliteStateStore) -> None:
    """Events and notes, so that whatever comes next is a change."""
    Runtime(store).accept_runtime(START)
    fill(Runtime(store), 3)


def gone(path: Path) -> None:
    """The file is deleted."""
    path.unlink()


def moved(path: Path) -> None:
    """The file has another name now."""
    path.rename(path.with_suffix(".old"))


def replaced(path: Path) -> None:
    """Another file stands there, which is a store, too."""
    other = path.with_suffix(".other")
    SqliteStateStore(other, RunState("run-7")).close()
    other.replace(path)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("lost", [gone, moved, replaced])
@pytest.mark.parametrize("durable", ["full", "effects", "normal"])
def test_nothing_is_acknowledged_that_nobody_can_read(
    tmp_path: Path, lost: Callable[[Path], None], durable: str
) -> None:
    """The file under an open store is lost: every write is refused, and the state stays."""
    path = tmp_path / "run.sqlite"
    store = SqliteStateStore(path, RunState("run-7"), durable=durable)
    state = Runtime(store).accept_runtime(START)
    lost(path)
    dispatch = StateProposal("tool_dispatched", ToolCall("c1", "scan"), 1)
    writes: list[Callable[[SqliteStateStore], object]] = [
        lambda store: Runtime(store).accept_runtime(dispatch),
        lambda store: Runtime(store).accept_runtime(START),
        USES["note"],
        USES["prune"],
    ]

    assert ["a file that was deleted or replaced"] * 4 == [found_by(use, store) for use in writes]
    assert state == store.load()
    assert (1, ()) == (len(store.trace), store.trace.diagnostics)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be moved there")
def test_a_file_that_is_put_back_is_written_on(tmp_path: Path) -> None:
    """The very same file under its name again: the refusal was only for the meantime."""
    path = tmp_path / "run.sqlite"
    store = store_in(tmp_path)
    moved(path)
    found_by(USES["apply"], store)
    path.with_suffix(".old").rename(path)

    assert 1 == Runtime(store).accept_runtime(START).revision


def test_a_relative_path_means_the_same_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store writes on in the file that it opened."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = SqliteStateStore("run.sqlite", RunState("run-7"), durable="normal")
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert 1 == Runtime(store).accept_runtime(START).revision
    assert 1 == SqliteStateStore.open(tmp_path / "run.sqlite", "run-7").load().revision
    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_a_path_that_is_a_folder_is_refused_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    """No lock file, no database."""
    (tmp_path / "folder").mkdir()

    with pytest.raises(StoreUnreadable, match="found a folder"):
        SqliteStateStore(tmp_path / "folder", RunState("run-7"))
    assert [tmp_path / "folder"] == list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["a\0b", 7, b"run.sqlite", None])
def test_what_is_no_path_is_refused(path: object) -> None:
    """In one line, whatever it is."""
    with pytest.raises(Malformed):
        SqliteStateStore(path, RunState("run-7"))
    with pytest.raises(Malformed):
        SqliteStateStore.open(path, "run-7")


def test_a_number_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    """Beyond 64 bits: neither a run nor an offer, and the store goes on."""
    with pytest.raises(Malformed):
        store_in(tmp_path, RunState("run-7", revision=2**70))
    store = store_in(tmp_path)
    with pytest.raises(Malformed):
        Runtime(store).accept_runtime(StateProposal("run_started", "", 2**70))

    assert 1 == Runtime(store).accept_runtime(START).revision


@pytest.mark.parametrize(
    "context",
    [
        {"call_id": 7},
        {"tick": float("nan")},
        {"tick": True},
        {"tick": 10**5_000},
        {"epoch": "1"},
    ],
    ids=["call_id", "nan", "true", "huge", "epoch"],
)
def test_what_could_not_be_read_back_is_never_written(
    tmp_path: Path, context: dict[str, object]
) -> None:
    """A context of the wrong types is refused, and the run stays readable."""
    store = store_in(tmp_path)
    with pytest.raises(Malformed):
        store.apply(START, context=store.context("runtime", "runtime", **context))

    assert 1 == Runtime(store).accept_runtime(START).revision
    assert 1 == len(SqliteStateStore.open(tmp_path / "run.sqlite", "run-7").trace)


@pytest.mark.parametrize("run_id", ["run\0 7", "运行", "' or 1 --", "run-7 "])
def test_any_text_is_a_run_of_its_own(tmp_path: Path, run_id: str) -> None:
    """Ids are compared to the last character."""
    store_in(tmp_path).close()
    store_in(tmp_path, RunState("run")).close()
    store = store_in(tmp_path, RunState(run_id))
    Runtime(store).accept_runtime(START)

    assert 1 == SqliteStateStore.open(tmp_path / "run.sqlite", run_id).load().revision
    assert 0 == SqliteStateStore.open(tmp_path / "run.sqlite", "run-7").load().revision
    with pytest.raises(StoreUnreadable, match="no such run"):
        SqliteStateStore.open(tmp_path / "run.sqlite", "run\0")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("delete from events where revision = 3", "revision 4"),
        ("delete from events where revision > 4", "revision 4"),
        ("delete from runs", "no such run"),
        ("update events set event = '[\"run_started\"]' where revision = 3", "damage"),
        ("""update events set event = '["tool_dispatched","r","r",""]' where revision = 3""", "damage"),
        ("""update events set event = '["no_such","r","r",""]' where revision = 3""", "damage"),
    ],
)
def test_a_damaged_history_is_told_and_not_written_on(
    tmp_path: Path, statement: str, found: str
) -> None:
    """A gap, a lost end, a line without sense: load and apply are refused, nothing is kept."""
    knows, late = store_in(tmp_path), store_in(tmp_path)
    Runtime(knows).accept_runtime(START)
    revision = fill(Runtime(knows), 2).revision
    other = sqlite3.connect(tmp_path / "run.sqlite")
    other.execute(statement)
    other.commit()
    store = knows if "> 4" in statement else late
    before = other.execute("select count(*) from events").fetchone()

    assert found in found_by(USES["load"], store)
    proposal = StateProposal("followup_required", "go on", revision)
    door = store.context("runtime", "runtime")
    assert found in found_by(lambda store: store.apply(proposal, context=door), store)
    assert before == other.execute("select count(*) from events").fetchone()
    assert (0,) == other.execute("select count(*) from refusals").fetchone()


def test_a_refusal_of_somebodys_own_can_be_read_back(tmp_path: Path) -> None:
    """A rules table may refuse in its own class; the trace keeps the nearest known one."""

    class TooLate(IllegalTransition):
        """A refusal that the book does not know."""

    class Strict(SqliteStateStore):
        """A store with a check of its own."""

        def _check(self, event: StateEvent) -> None:
            raise TooLate("to start", "a Friday")

    store = Strict(tmp_path / "run.sqlite", RunState("run-7"))
    with pytest.raises(TooLate):
        Runtime(store).accept_runtime(START)

    assert ["illegal_transition"] == [one.code for one in store.trace.refused]


def test_an_interrupt_between_begin_and_block_is_made_good(tmp_path: Path) -> None:
    """A transaction that was opened and left does not wedge the store."""
    store = store_in(tmp_path)
    store._transaction(synced=False)

    assert 1 == Runtime(store).accept_runtime(START).revision
