"""A crash at every moment of a run, two crashes, a sleeper, and the wrong loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from accounts import complaints, repeated
from killing import (
    LEASE,
    Crash,
    Effects,
    Fuse,
    FusedFile,
    FusedMemory,
    World,
    ship,
)

from runstate_lab.batching import BatchingLoop
from runstate_lab.checkpoint import CheckpointStore
from runstate_lab.driver import Driver
from runstate_lab.errors import Refusal
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import (
    CallStatus,
    Decision,
    Lease,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock, ScriptedModel, ScriptedTool
from runstate_lab.store import StateStore
from runstate_lab.tools import Outcome, Tool, ToolRegistry
from runstate_lab.turn import TurnContext

MOMENTS = Counter({"before": 49, "after": 49})
RUNNING = RunState("run-7", status=RunStatus.RUNNING)


def between_commits(moment: str) -> bool:
    """One moment for each thing that is durable: "after" it is before the next one."""
    return moment.startswith("before") and moment != "before note"


def crashed(
    fuse: Fuse,
    store: FusedMemory | FusedFile,
    effects: Effects,
    *,
    worker: str,
    tick: int,
    driver_class: type[Driver] = Driver,
) -> str | None:
    """Where the run crashed, or None where it came to its end."""
    store.fuse = fuse
    world = World(effects, fuse)
    try:
        ship(store, world, worker=worker, tick=tick, driver_class=driver_class)
    except Crash as crash:
        return str(crash)
    return None


def ending(store: StateStore) -> str:
    """How the run ended, and why."""
    state = store.load()
    return f"{state.status}: {state.stop_reason}"


def test_a_crash_at_every_moment_ends_in_order() -> None:
    """98 crash points; 80 runs complete, 18 stop at an effect that nobody may repeat."""
    at: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for moment in range(1, sum(MOMENTS.values()) + 1):
        store, effects = FusedMemory(Fuse()), Effects()
        where = crashed(Fuse(moment), store, effects, worker="w1", tick=0)
        at[str(where).split()[0]] += 1

        assert [] == complaints(store, effects.lines), where
        assert crashed(Fuse(), store, effects, worker="w2", tick=100) is None
        assert [] == complaints(store, effects.lines), where
        state = store.load()
        ends[ending(store)] += 1
        asked.update(line["by"] for line in effects.lines if not line["changed"])
        assert state == ship(store, World(effects, Fuse()), worker="w3", tick=200)

    assert MOMENTS == at
    assert {"completed: goal_reached": 80, "failed: tool_error": 18} == ends
    # Asked a second time under their key: the calls themselves, and one node.
    assert {"c1#2": 2, "c3#2": 2, "node eu": 2} == asked


def test_the_run_without_a_crash_has_exactly_these_moments() -> None:
    """The crash points above are all there are: none was missed at the end."""
    fuse, effects = Fuse(), Effects()
    store = FusedMemory(fuse)

    assert crashed(fuse, store, effects, worker="w1", tick=0) is None
    assert MOMENTS == Counter(moment.split()[0] for moment in fuse.moments)
    assert ["c1", "c2#2", "c3", "node eu", "node us", "c5"] == [
        line["by"] for line in effects.lines
    ]
    assert [] == complaints(store, effects.lines)


def test_two_crashes_at_every_pair_of_moments_end_in_order() -> None:
    """The worker crashes, and so does the one who takes over, everywhere."""
    firsts, ends = everywhere(_two_crashes)

    assert 44 == firsts
    assert {"completed: goal_reached": 696, "failed: tool_error": 265} == ends


def test_a_worker_that_only_slept_does_no_harm() -> None:
    """At each moment another takes over and crashes, the first wakes up, a third goes on."""
    firsts, ends = everywhere(_a_crash_during_a_nap)

    assert 44 == firsts
    assert {"completed: goal_reached": 729, "failed: tool_error": 232} == ends


def test_a_worker_that_overslept_is_told() -> None:
    """At each moment another takes over and ends the run; then the first wakes up."""
    woke: Counter[str] = Counter()
    for moment in range(1, sum(MOMENTS.values()) + 1):
        store, effects = FusedMemory(Fuse()), Effects()
        took_over: list[str | None] = []
        woke[_sleep(Fuse(moment), Fuse(), store, effects, took_over)] += 1

        assert [None] == took_over
        assert [] == complaints(store, effects.lines), moment

    assert {
        "driver_fenced": 47,
        "saw the end": 47,
        "answer_repeated": 3,
        "revision_conflict": 1,
    } == woke


def everywhere(play: Callable[[int, int], str | None]) -> tuple[int, Counter[str]]:
    """The number of first moments, and the endings over every pair of moments."""
    first, ends = 0, Counter[str]()
    while True:
        second = 0
        while (ended := play(first + 1, second + 1)) is not None:
            second += 1
            ends[ended] += 1
        if not second:
            return first, ends
        first += 1


def _two_crashes(first: int, second: int) -> str | None:
    store, effects = FusedMemory(Fuse()), Effects()
    for at, worker, tick in ((first, "w1", 0), (second, "w2", 100)):
        fuse = Fuse(at, matters=between_commits)
        if crashed(fuse, store, effects, worker=worker, tick=tick) is None:
            return None
    assert [] == complaints(store, effects.lines), (first, second)
    return _the_third_goes_on(store, effects)


def _a_crash_during_a_nap(first: int, second: int) -> str | None:
    store, effects = FusedMemory(Fuse()), Effects()
    fuses = [Fuse(at, matters=between_commits) for at in (first, second)]
    took_over: list[str | None] = []
    _sleep(*fuses, store, effects, took_over)
    if took_over in ([], [None]):
        return None
    assert [] == complaints(store, effects.lines), (first, second)
    return _the_third_goes_on(store, effects)


def _the_third_goes_on(store: FusedMemory, effects: Effects) -> str:
    assert crashed(Fuse(), store, effects, worker="w3", tick=200) is None
    assert [] == complaints(store, effects.lines)
    return ending(store)


def _sleep(
    first: Fuse, second: Fuse, store: FusedMemory, effects: Effects, took_over: list[str | None]
) -> str:
    def nap(moment: str) -> None:
        took_over.append(crashed(second, store, effects, worker="w2", tick=100))
        store.fuse = first

    first.blow = nap
    try:
        crashed(first, store, effects, worker="w1", tick=0)
    except Refusal as refusal:
        return refusal.code
    return "saw the end"


def test_a_file_store_goes_on_after_an_exception_inside_each_transaction(tmp_path: Path) -> None:
    """The same store object is used on, as after a KeyboardInterrupt; nothing half remains."""
    at: Counter[str] = Counter()
    moment = 0
    while True:
        moment += 1
        effects, fuse = Effects(), Fuse(moment, matters=lambda name: name.startswith("inside"))
        store = FusedFile(tmp_path / f"{moment}.sqlite", fuse)
        where = crashed(fuse, store, effects, worker="w1", tick=0)
        if where is None:
            store.close()
            break
        at[where] += 1

        assert [] == complaints(store, effects.lines), where
        assert crashed(Fuse(), store, effects, worker="w2", tick=100) is None
        assert [] == complaints(store, effects.lines), where
        store.close()

    assert 38 == sum(at.values())


class EffectFirst(Driver):
    """WRONG ON PURPOSE: the effect comes before its intent is committed."""

    def _carry_out(self, call: ToolCall, state: RunState, turn: TurnContext) -> RunState:
        outcome = turn.tools.execute(call)
        self._write("tool_dispatched", call, at=state.revision)
        return self._record(call, outcome)


class Optimist(Driver):
    """WRONG ON PURPOSE: takes silence for a certain failure."""

    def _lose_what_was_under_way(self, state: RunState) -> RunState:
        for call in state.calls:
            if str(call.status) == "dispatched":
                self._record(call, Outcome(call.call_id, CallStatus.FAILED, "surely not"))
        return self.store.load()


@pytest.mark.parametrize(("driver", "bad"), [(EffectFirst, 8), (Optimist, 8), (Driver, 0)])
def test_the_accounts_find_the_wrong_drivers(driver: type[Driver], bad: int) -> None:
    """A judge that never complains would prove nothing."""
    found = 0
    for moment in range(1, 99):
        store, effects = FusedMemory(Fuse()), Effects()
        crashed(Fuse(moment), store, effects, worker="w1", tick=0, driver_class=driver)
        before = complaints(store, effects.lines)
        crashed(Fuse(), store, effects, worker="w2", tick=100, driver_class=driver)
        found += bool(before + complaints(store, effects.lines))

    assert bad == found


class FusedCheckpoints(CheckpointStore):
    """Checkpoints with a moment before and after each save."""

    def __init__(self) -> None:
        super().__init__()
        self.fuse = Fuse()

    def save(self, state: RunState) -> str:
        """The name of the checkpoint, if the process lives that long."""
        self.fuse.moment("before save")
        name = super().save(state)
        self.fuse.moment("after save")
        return name


def regions(effects: Effects, fuse: Fuse) -> ExecutableGraph:
    """Two regions at once and then a mail; none may be tried again, none has a key."""
    world = World(effects, fuse)

    def node(name: str, needs: tuple[str, ...] = ()) -> Node:
        return Node(name, lambda values: world.change(f"node {name}", None) or {}, needs=needs)

    return ExecutableGraph((node("eu"), node("us"), node("mail", ("eu", "us"))), start=("eu", "us"))


def by_batch(at: int) -> tuple[str | None, Effects]:
    """Where the loop of the source text crashed, and the effects of both workers."""
    effects, checkpoints, where = Effects(), FusedCheckpoints(), None
    for worker, fuse in (("w1", Fuse(at)), ("w2", Fuse())):
        checkpoints.fuse = fuse
        graph = regions(effects, fuse)
        clock = LogicalClock(100 if where else 0)
        loop = BatchingLoop(graph, checkpoints, worker=worker, max_concurrency=2, clock=clock)
        try:
            loop.run_all(RUNNING)
        except Crash as crash:
            where = str(crash)
    return where, effects


def by_result(at: int) -> tuple[str | None, Effects, StateStore]:
    """The same with the Executor, which commits each claim and each result."""
    effects, where = Effects(), None
    store = FusedMemory(Fuse(), RUNNING)
    for worker, fuse in (("w1", Fuse(at)), ("w2", Fuse())):
        store.fuse = fuse
        runtime = Runtime(store, clock=LogicalClock(100 if where else 0))
        scheduler = Scheduler(regions(effects, fuse), runtime, worker, lease=LEASE)
        try:
            Executor(scheduler, max_concurrency=2).run_all()
        except Crash as crash:
            where = str(crash)
    return where, effects, store


def test_saving_once_per_batch_repeats_every_effect_since_the_last_save() -> None:
    """Crash point by crash point: which effects happen twice."""
    twice = []
    for at in range(1, 11):
        where, effects = by_batch(at)
        twice.append((where, *(line.split()[1] for line in repeated(effects.lines))))

    assert [
        ("before effect node eu",),
        ("after effect node eu", "eu"),
        ("before effect node us", "eu"),
        ("after effect node us", "eu", "us"),
        ("before save", "eu", "us"),
        ("after save",),
        ("before effect node mail",),
        ("after effect node mail", "mail"),
        ("before save", "mail"),
        ("after save",),
    ] == twice
    assert by_batch(11)[0] is None


def test_a_commit_per_result_repeats_nothing_and_tells_what_is_unknown() -> None:
    """The same graph with the Executor: no effect twice, none denied."""
    points = 0
    told: Counter[str] = Counter()
    while True:
        where, effects, store = by_result(points + 1)
        if where is None:
            break
        points += 1

        assert [] == complaints(store, effects.lines), where
        given_up = [one for one in store.load().nodes if one.reason and one.reason.endswith("left")]
        told.update(node.name for node in given_up)

    assert 26 == points
    assert {"eu": 6, "us": 8, "mail": 4} == told


def test_a_call_meant_twice_happens_twice() -> None:
    """Two calls with equal arguments have two keys; only a retry shares its key."""
    page = ScriptedTool(["paged=yes"])
    tools = ToolRegistry([Tool("page", page, keyed=True)])
    script = [
        Decision("", (ToolCall("c1", "page"),)),
        Decision("", (ToolCall("c2", "page"),), True),
    ]
    for run_id in ("run-7", "run-8"):
        store = StateStore(RunState(run_id, success=("paged=yes",)))
        Driver(store, "w1", model=ScriptedModel(script), tools=tools).run()

    assert 4 == len(set(page.effects)) == page.calls


def test_a_turn_that_goes_on_after_a_wait_keeps_its_name() -> None:
    """The notes of turn 2 before and after Rosa's answer correlate with turn 2."""
    store, effects = FusedMemory(Fuse()), Effects()
    crashed(Fuse(), store, effects, worker="w1", tick=0)

    assert [f"run-7/turn {turn}" for turn in (1, 2, 2, 3, 4)] == [
        note.correlation for note in store.trace.diagnostics
    ]


def test_an_answer_that_comes_during_the_takeover_is_kept() -> None:
    """The next driver looks again before it declares a call lost."""
    store = StateStore(RunState("run-7", success=("build=green",)))
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_driver("w1", StateProposal("driver_leased", Lease("w1", 1, 10), 1))
    runtime.epoch = 1
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "get_status"), 2))

    class Interrupted(Driver):
        def _take_the_wheel(self) -> RunState:
            state = super()._take_the_wheel()
            late = StateProposal("tool_result_recorded", "build=green", state.revision)
            runtime.accept_tool_result("get_status", late, call_id="c1")
            return state

    model = ScriptedModel([Decision("done", final=True)])
    clock = LogicalClock(10)
    driver = Interrupted(store, "w2", model=model, tools=ToolRegistry([]), clock=clock)

    assert RunStatus.COMPLETED == driver.run().status
    assert store.load().first_error is None
