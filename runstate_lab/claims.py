"""Floor 5. Worlds of workers that claim nodes, stall, and crash with effects under way.

What is not here: the scheduler that real runs use (see `scheduler`); these
workers do the same, one event a step, so that another can come in between.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from runstate_lab.broken import LastWriteWinsStore, NaiveStore
from runstate_lab.brokenloops import FencedByNameScheduler
from runstate_lab.graph import ExecutableGraph
from runstate_lab.laws import (
    intent_before_effect,
    no_double_claim,
    no_effect_twice,
    only_the_holder_reports,
)
from runstate_lab.model import (
    Claim,
    NodeReport,
    NodeState,
    NodeStatus,
    Plan,
    RunState,
    StateProposal,
)
from runstate_lab.race import Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.variants import RIGHT, Variant, World

LEASE = 10
REGIONS = ("eu", "us")


def claiming(worker: str) -> Worker:
    """A worker of four steps: look, claim, build, report.

    >>> list(claiming("w1")(StateStore(run_7_with_ready("build"))))
    [None, None, 'built build']
    """

    def work(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        if _status(seen, "build") is not NodeStatus.READY:
            return
        yield
        _claim(Runtime(store), seen, worker, "build")
        yield
        yield "built build"
        _report(Runtime(store), worker, NodeReport("build", 1))

    return work


def grabbing(worker: str) -> Worker:
    """A worker that also takes a node which somebody else holds. WRONG ON PURPOSE.

    >>> held = StateStore(run_7_with_ready("build"))
    >>> ahead = claiming("w1")(held)
    >>> next(ahead), next(ahead)
    (None, None)
    >>> second = grabbing("w2")(held)
    >>> [next(second) for _ in range(3)]
    [None, None, 'built build']
    """

    def work(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        yield
        # WRONG ON PURPOSE: a claim that no store ever accepted.
        if _status(seen, "build") is NodeStatus.READY:
            _claim(Runtime(store), seen, worker, "build")
        yield
        yield "built build"
        _report(Runtime(store), worker, NodeReport("build", 1))

    return work


def building_first(worker: str) -> Worker:
    """A worker that builds what it sees ready and claims it after. WRONG ON PURPOSE.

    >>> list(building_first("w1")(StateStore(run_7_with_ready("build"))))
    [None, 'built build']
    """

    def work(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        if _status(seen, "build") is not NodeStatus.READY:
            return
        yield
        # WRONG ON PURPOSE: seen to be ready is not held.
        yield "built build"
        _claim(Runtime(store), seen, worker, "build")
        _report(Runtime(store), worker, NodeReport("build", 1))

    return work


def stalling(*, by_name: bool = False) -> Worker:
    """Worker w1 at tick 0: it claims the build, stalls, and reports it red.

    >>> list(stalling()(StateStore(run_7_with_ready("build"))))
    [None]
    """

    def work(store: StateStore) -> Generator[object, None, None]:
        runtime = _acting(store, 0, by_name=by_name)
        _claim(runtime, store.load(), "w1", "build")
        yield
        _report(runtime, "w1", NodeReport("build", 1, (("build", "red"),)))

    return work


def restarted(*, by_name: bool = False) -> Worker:
    """Worker w1 again, at tick 10: it frees the build, claims it, and reports it green.

    >>> list(restarted()(StateStore(run_7_with_ready("build"))))
    [None, None]
    """

    def work(store: StateStore) -> Generator[object, None, None]:
        runtime = _acting(store, LEASE, by_name=by_name)
        seen = store.load()
        node = seen.nodes[0]
        if node.status is NodeStatus.RUNNING:
            words = NodeReport("build", node.attempt, reason="its lease ran out")
            seen = runtime.accept_scheduler(StateProposal("node_released", words, seen.revision))
        yield
        seen = _claim(runtime, seen, "w1", "build")
        yield
        _report(runtime, "w1", NodeReport("build", seen.nodes[0].attempt, (("build", "green"),)))

    return work


def one_result_at_a_time(store: StateStore) -> Generator[object, None, None]:
    """A worker that commits each claim before its effect and each result after it.

    What it finds running after a crash has an unknown outcome: it is left alone.

    >>> list(one_result_at_a_time(StateStore(run_7_with_ready("eu", "us"))))
    [None, 'deployed to eu', None, None, 'deployed to us', None]
    """
    return _one_by_one(store, (NodeStatus.READY,))


def repeating_what_runs(store: StateStore) -> Generator[object, None, None]:
    """A worker that does again what it finds running. WRONG ON PURPOSE.

    >>> list(repeating_what_runs(StateStore(run_7_with_ready("eu"))))
    [None, 'deployed to eu', None]
    """
    # WRONG ON PURPOSE: an unknown outcome is taken for no effect.
    return _one_by_one(store, (NodeStatus.READY, NodeStatus.RUNNING))


def effect_first(store: StateStore) -> Generator[object, None, None]:
    """A worker that commits claim and result after the effect. WRONG ON PURPOSE.

    >>> list(effect_first(StateStore(run_7_with_ready("eu", "us"))))
    ['deployed to eu', None, 'deployed to us', None]
    """
    for name in _ready(store.load()):
        # WRONG ON PURPOSE: a crash from here on leaves an effect without an intent.
        yield f"deployed to {name}"
        _commit(store, name)
        yield


def once_per_batch(store: StateStore) -> Generator[object, None, None]:
    """A worker that does a batch and saves once. WRONG ON PURPOSE.

    >>> list(once_per_batch(StateStore(run_7_with_ready("eu", "us"))))
    ['deployed to eu', 'deployed to us']
    """
    batch = _ready(store.load())
    for name in batch:
        yield f"deployed to {name}"
    # WRONG ON PURPOSE: until here only memory knows of the whole batch.
    for name in batch:
        _commit(store, name)


def run_7_with_ready(*names: str) -> RunState:
    """Run-7 with so many nodes, all ready, two attempts each.

    >>> [str(node.status) for node in run_7_with_ready("eu", "us").nodes]
    ['ready', 'ready']
    """
    runtime = Runtime(StateStore(RunState("run-7", goal="ship release 7")))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    plan = Plan(tuple(NodeState(name, max_attempts=2) for name in names))
    state = runtime.accept_runtime(StateProposal("nodes_planned", plan, 1))
    for name in names:
        proposal = StateProposal("node_ready", NodeReport(name), state.revision)
        state = runtime.accept_scheduler(proposal)
    return state


def run_7_with_a_build() -> RunState:
    """Run-7 whose build is ready.

    >>> run_7_with_a_build().nodes[0].name
    'build'
    """
    return run_7_with_ready("build")


def run_7_with_two_regions() -> RunState:
    """Run-7 that may be deployed to eu and to us.

    >>> [node.name for node in run_7_with_two_regions().nodes]
    ['eu', 'us']
    """
    return run_7_with_ready(*REGIONS)


def _one_by_one(store: StateStore, does: Iterable[NodeStatus]) -> Generator[object, None, None]:
    runtime = Runtime(store)
    for name in [node.name for node in store.load().nodes]:
        seen = store.load()
        if _status(seen, name) not in does:
            continue
        if _status(seen, name) is NodeStatus.READY:
            _claim(runtime, seen, "w1", name)
        yield
        yield f"deployed to {name}"
        _report(runtime, "w1", NodeReport(name, 1))
        yield


def _commit(store: StateStore, name: str) -> None:
    runtime = Runtime(store)
    _claim(runtime, store.load(), "w1", name)
    _report(runtime, "w1", NodeReport(name, 1))


def _claim(runtime: Runtime, seen: RunState, worker: str, name: str) -> RunState:
    node = seen.node(name)
    attempt = 1 if node is None else node.attempt + 1
    claim = Claim(name, worker, attempt, runtime.clock() + LEASE)
    proposal = StateProposal("node_claimed", claim, seen.revision)
    return runtime.accept_worker(worker, proposal)


def _report(runtime: Runtime, worker: str, report: NodeReport) -> None:
    # A report does not depend on what others wrote; its fence does.
    proposal = StateProposal("node_finished", report, runtime.store.load().revision)
    runtime.accept_worker(worker, proposal)


def _acting(store: StateStore, tick: int, *, by_name: bool) -> Runtime:
    runtime = Runtime(store, clock=lambda: tick)
    if not by_name:
        return runtime
    return FencedByNameScheduler(ExecutableGraph([], start=()), runtime, "w1").runtime


def _ready(state: RunState) -> list[str]:
    return [node.name for node in state.nodes if node.status is NodeStatus.READY]


def _status(state: RunState, name: str) -> NodeStatus | None:
    node = state.node(name)
    return None if node is None else node.status


TWO_SCHEDULERS = World(
    "two_schedulers",
    "Two schedulers look at one graph; its build is ready, and one of them shall do it.",
    run_7_with_a_build,
    {"A": "scheduler w1", "B": "scheduler w2"},
    {
        RIGHT: Variant({"A": claiming("w1"), "B": claiming("w2")}),
        "naive": Variant({"A": claiming("w1"), "B": claiming("w2")}, NaiveStore),
        "last-write-wins": Variant({"A": claiming("w1"), "B": claiming("w2")}, LastWriteWinsStore),
        "grabbing": Variant({"A": grabbing("w1"), "B": grabbing("w2")}),
        "build first": Variant({"A": building_first("w1"), "B": building_first("w2")}),
    },
    (no_double_claim, no_effect_twice, intent_before_effect, only_the_holder_reports),
)

STALLED_WORKER = World(
    "stalled_worker",
    "Worker w1 stalls until its lease has run out; it is started again under the same name.",
    run_7_with_a_build,
    {"A": "w1, stalled", "B": "w1, started again"},
    {
        RIGHT: Variant({"A": stalling(), "B": restarted()}),
        "fenced by name": Variant({"A": stalling(by_name=True), "B": restarted(by_name=True)}),
    },
    (no_double_claim, only_the_holder_reports),
)

CRASH_BETWEEN = World(
    "crash_between",
    "Release 7 goes to two regions; the worker may crash once, anywhere, and starts again.",
    run_7_with_two_regions,
    {"A": "the worker"},
    {
        RIGHT: Variant({"A": one_result_at_a_time}),
        "repeats what runs": Variant({"A": repeating_what_runs}),
        "effect first": Variant({"A": effect_first}),
        "once per batch": Variant({"A": once_per_batch}),
    },
    (no_effect_twice, intent_before_effect),
    faults="!",
)
