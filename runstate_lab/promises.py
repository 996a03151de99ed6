"""Floor 5. The promises of runtimes, drivers, schedulers and checkpoint stores.

Each clause plays one short run against a factory of its subject: a Runtime
for a store, a Driver for a store, a Scheduler for a graph, a checkpoint
store for a folder. `PROMISES` names all clauses, those of stores, ledgers
and approvals too. What is not here: the audit itself (see `conformance`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from runstate_lab.checkpoint import CheckpointStore
from runstate_lab.conformance import CLAUSES, Clause, named, unless
from runstate_lab.driver import Driver
from runstate_lab.errors import OutcomeUnknown, Refusal, ToolFailure
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.ledgers import APPROVALS, LEDGERS
from runstate_lab.model import (
    Budget,
    Decision,
    Fact,
    Lease,
    NodeReport,
    RunState,
    StateProposal,
    ToolCall,
)
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock, ScriptedModel, ScriptedTool
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

MakeRuntime = Callable[..., Runtime]
MakeDriver = Callable[..., Driver]
MakeScheduler = Callable[..., Scheduler]
MakeCheckpoints = Callable[[Path], CheckpointStore]


def _stamps(make: MakeRuntime) -> str | None:
    """Each door stamps its own source and authority."""
    runtime = make(StateStore(RunState("run-7")))
    for door in (runtime.accept_runtime, runtime.accept_model_proposal):
        named(lambda door=door: door(StateProposal("run_paused", "", 0)), "unknown_event")
    found = [(entry.event.source, entry.event.authority) for entry in runtime.store.trace]
    return unless(found == [("runtime", "runtime"), ("model:planner", "model")], f"{found}")


def _no_posing(make: MakeRuntime) -> str | None:
    """A name with a colon in it does not become another source."""
    runtime = make(StateStore(RunState("run-7")))
    proposal = StateProposal("tool_failed", "no route", 0)
    return named(lambda: runtime.accept_tool_result("get_status:x", proposal), "malformed")


def _ticks(make: MakeRuntime) -> str | None:
    """Every event carries the tick and the reign, as the runtime knows them."""
    runtime = make(StateStore(RunState("run-7")), clock=lambda: 7, epoch=3)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    event = runtime.store.trace[0].event
    return unless((event.tick, event.epoch) == (7, 3), f"tick {event.tick}, reign {event.epoch}")


def _users_cancel(make: MakeRuntime) -> str | None:
    """A user's wish keeps the user's name as its source."""
    runtime = make(StateStore(RunState("run-7")))
    runtime.accept_user("ada", StateProposal("run_cancelled", "not today", 0))
    source = runtime.store.trace[0].event.source
    return unless(source == "user:ada", source)


def _intent_first(make: MakeDriver) -> str | None:
    """The dispatch is committed before the tool has its effect."""
    seen: list[str] = []
    store = _store()

    def look(arguments: object) -> str:
        seen.extend(str(call.status) for call in store.load().calls)
        return "build=green"

    make(store, "w1", model=_script("c1"), tools=ToolRegistry([Tool("get_status", look)])).run()
    return unless(seen == ["dispatched"], f"{seen} while the tool ran")


def _timeout_is_unknown(make: MakeDriver) -> str | None:
    """A tool's silence makes the call unknown, not failed."""
    store = _store()
    tool = ScriptedTool([OutcomeUnknown("no answer")])
    make(store, "w1", model=_script("c1"), tools=ToolRegistry([Tool("get_status", tool)])).run()
    kinds = [event.kind for event in store.trace.accepted]
    return unless("tool_outcome_unknown" in kinds and "tool_failed" not in kinds, f"{kinds[-3:]}")


def _siblings(make: MakeDriver) -> str | None:
    """One failing call does not lose the results of the others."""
    store = _store()
    tools = ToolRegistry(
        [
            Tool("get_status", ScriptedTool(["build=green"])),
            Tool("scan", ScriptedTool([ToolFailure("no route")])),
        ]
    )
    calls = (ToolCall("c1", "scan"), ToolCall("c2", "get_status"))
    model = ScriptedModel([Decision("look", calls), Decision("done", final=True)])
    make(store, "w1", model=model, tools=tools).run()
    found = [str(fact) for fact in store.load().facts]
    return unless(found == ["build=green"], f"facts {found}")


def _no_blind_retry(make: MakeDriver) -> str | None:
    """A call of a dead driver is not made again without an idempotency key."""
    store, tool, clock = _store(), ScriptedTool(["build=green"]), LogicalClock()
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_runtime(StateProposal("turn_started", "open", 1))
    runtime.accept_model_proposal(
        StateProposal("model_output_received", Decision("", (ToolCall("c1", "get_status"),)), 2)
    )
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "get_status"), 3))
    tools = ToolRegistry([Tool("get_status", tool)])
    make(store, "w2", model=_script("c2"), tools=tools, clock=clock).run()
    again = [e for e in store.trace.accepted if e.kind == "tool_dispatched" and e.value.retry_of]
    lost = any(event.kind == "tool_outcome_unknown" for event in store.trace.accepted)
    return unless(lost and not again, f"declared unknown {lost}, tried again {len(again)}")


def _words_complete_nothing(make: MakeDriver) -> str | None:
    """A model that says it is done does not end a run whose goal is not met."""
    store = _store()
    model = ScriptedModel([Decision("all done", final=True)] * 2)
    make(store, "w1", model=model, tools=ToolRegistry([])).run()
    state = store.load()
    ended = (str(state.status), state.stop_reason)
    return unless(ended == ("failed", "budget_exhausted"), f"{ended[0]}: {ended[1]}")


def _one_driver(make: MakeDriver) -> str | None:
    """A second driver is refused while the lease of the first one holds."""
    store = _store()
    first = make(store, "w1", model=_script("c1"), tools=_looking())
    first.runtime.accept_driver("w1", StateProposal("driver_leased", _lease(), 0))
    second = make(store, "w2", model=_script("c1"), tools=_looking())
    return named(second.run, "lease_held")


def _needs_first(make: MakeScheduler) -> str | None:
    """A node is not taken before the nodes that it needs are completed."""
    scheduler = _planned(make, _chain())
    taken = [claim.node for claim in scheduler.take_ready(limit=5)]
    return unless(taken == ["build"], f"took {taken}")


def _taken_once(make: MakeScheduler) -> str | None:
    """A node goes to one of two schedulers."""
    scheduler = _planned(make, _chain())
    other = make(scheduler.graph, scheduler.runtime, "w2")
    taken = [*scheduler.take_ready(limit=5), *other.take_ready(limit=5)]
    return unless(len(taken) == 1, f"{len(taken)} claims on one node")


def _fenced(make: MakeScheduler) -> str | None:
    """A report of an attempt that was given up is refused, also under the same name."""
    clock = LogicalClock()
    scheduler = _planned(make, _chain(), clock)
    (late,) = scheduler.take_ready(limit=1)
    clock.advance(99)
    (again,) = make(scheduler.graph, scheduler.runtime, "w1").take_ready(limit=1)
    report = NodeReport("build", late.attempt, (("build", "red"),))
    proposal = StateProposal("node_finished", report, scheduler.runtime.store.load().revision)
    found = named(lambda: scheduler.runtime.accept_worker("w1", proposal), "attempt_fenced")
    return found or unless(again.attempt == 2, f"attempt {again.attempt} taken")


def _blocked(make: MakeScheduler) -> str | None:
    """A failed node blocks its dependents, with the reason."""

    def broken(values: object) -> dict[str, str]:
        raise OSError("disk full")

    graph = ExecutableGraph(
        [Node("build", broken), Node("deploy", lambda values: {}, needs=("build",))],
        start=("build",),
    )
    scheduler = _planned(make, graph)
    node = Executor(scheduler, max_concurrency=1).run_all().node("deploy")
    found = node and (str(node.status), node.reason)
    return unless(found == ("blocked", "build is failed"), f"{found}")


def _any_arrival(make: MakeScheduler) -> str | None:
    """The result is the same whatever order the reports arrive in."""
    results = set()
    for arrival in (tuple, lambda batch: tuple(reversed(batch))):
        nodes = [Node(n, lambda v, n=n: {"notes": n}, writes=("notes",)) for n in ("a", "b", "c")]
        graph = ExecutableGraph(nodes, start=("a", "b", "c"), reducers={"notes": "".join})
        scheduler = _planned(make, graph)
        state = Executor(scheduler, max_concurrency=3, arrival=arrival).run_all()
        results.add(scheduler.graph.values(state)["notes"])
    return unless(results == {"abc"}, f"{sorted(results)}")


def _limit(make: MakeScheduler) -> str | None:
    """No more nodes are taken at once than the limit says."""
    graph = ExecutableGraph([Node(n, lambda values: {}) for n in "abc"], start=tuple("abc"))
    taken = _planned(make, graph).take_ready(limit=2)
    return unless(len(taken) == 2, f"took {len(taken)}")


def _whole(make: MakeCheckpoints) -> str | None:
    """What was saved is what is loaded, by another store too."""
    with TemporaryDirectory() as folder:
        state = RunState("run-7", goal="ship", facts=(Fact("build", "green", checkpoint="x"),))
        name = make(Path(folder)).save(state)
        return unless(make(Path(folder)).load(name) == state, "another state")


def _named_for_good(make: MakeCheckpoints) -> str | None:
    """A name never comes to mean another state."""
    with TemporaryDirectory() as folder:
        checkpoints = make(Path(folder))
        name = checkpoints.save(RunState("run-7", goal="ship"))
        try:
            checkpoints.save(RunState("run-7", goal="another"))
        except Refusal:
            return None
        return unless(checkpoints.load(name).goal == "ship", "the state was replaced")


def _marked(make: MakeCheckpoints) -> str | None:
    """A fact that came through a checkpoint says from which."""
    with TemporaryDirectory() as folder:
        checkpoints = make(Path(folder))
        name = checkpoints.save(RunState("run-7", facts=(Fact("build", "green"),)))
        found = checkpoints.load(name).facts[0].checkpoint
        return unless(found == name, f"{found}")


def _torn(make: MakeCheckpoints) -> str | None:
    """A half-written file is refused, and the others stay."""
    with TemporaryDirectory() as folder:
        name = make(Path(folder)).save(RunState("run-7", goal="ship release 7"))
        other = make(Path(folder)).save(RunState("run-7", revision=1))
        files = sorted(Path(folder).rglob(f"*{name}*"))
        files[0].write_text(files[0].read_text("utf-8")[:-9], "utf-8")
        fresh = make(Path(folder))
        found = named(lambda: fresh.load(name), "malformed")
        return found or unless(fresh.load(other).revision == 1, "another one was lost")


def _lease() -> Lease:
    return Lease("w1", epoch=1, until=50)


def _store() -> StateStore:
    budget = Budget(max_turns=2)
    return StateStore(RunState("run-7", success=("build=green",), budget=budget))


def _script(call_id: str) -> ScriptedModel:
    calls = (ToolCall(call_id, "get_status"),)
    return ScriptedModel([Decision("look", calls), Decision("done", final=True)])


def _looking() -> ToolRegistry:
    return ToolRegistry([Tool("get_status", ScriptedTool(["build=green"]))])


def _chain() -> ExecutableGraph:
    return ExecutableGraph(
        [
            Node("build", lambda values: {"build": "green"}, writes=("build",), max_attempts=3),
            Node("deploy", lambda values: {}, needs=("build",)),
        ],
        start=("build",),
    )


def _planned(
    make: MakeScheduler, graph: ExecutableGraph, clock: LogicalClock | None = None
) -> Scheduler:
    runtime = Runtime(StateStore(RunState("run-7")), clock=clock or LogicalClock())
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    scheduler = make(graph, runtime, "w1")
    scheduler.plan()
    return scheduler


def _clauses(shows: dict[str, Callable[..., str | None]]) -> tuple[Clause, ...]:
    return tuple(Clause(name, (one.__doc__ or "").strip(), one) for name, one in shows.items())


RUNTIMES = _clauses(
    {
        "each_door_stamps_its_own_writer": _stamps,
        "a_name_cannot_pose_as_a_source": _no_posing,
        "every_event_carries_tick_and_reign": _ticks,
        "a_user_stays_the_source_of_a_wish": _users_cancel,
    }
)
DRIVERS = _clauses(
    {
        "the_intent_is_committed_before_the_effect": _intent_first,
        "a_tools_silence_is_unknown": _timeout_is_unknown,
        "a_failing_sibling_loses_nothing": _siblings,
        "an_unkeyed_call_is_never_repeated_after_a_death": _no_blind_retry,
        "words_complete_nothing": _words_complete_nothing,
        "a_run_has_one_driver": _one_driver,
    }
)
SCHEDULERS = _clauses(
    {
        "a_node_waits_for_its_needs": _needs_first,
        "a_node_is_taken_once": _taken_once,
        "a_late_attempt_is_fenced": _fenced,
        "a_failed_node_blocks_its_dependents": _blocked,
        "the_order_of_arrival_plays_no_part": _any_arrival,
        "the_limit_is_kept": _limit,
    }
)
CHECKPOINTS = _clauses(
    {
        "what_was_saved_is_loaded": _whole,
        "a_name_means_one_state": _named_for_good,
        "a_restored_fact_names_its_checkpoint": _marked,
        "a_torn_checkpoint_is_refused": _torn,
    }
)
PROMISES = {
    "stores": CLAUSES,
    "ledgers": LEDGERS,
    "approvals": APPROVALS,
    "runtimes": RUNTIMES,
    "drivers": DRIVERS,
    "schedulers": SCHEDULERS,
    "checkpoints": CHECKPOINTS,
}
