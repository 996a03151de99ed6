"""The run loop: a scripted model asks for one tool call a turn, then is done.

Only the loop's own work is measured: a real model takes seconds. So the claim
is "less work for each turn", never "faster agents".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any, TypedDict

from runstate_lab.bench.commits import RawLog, fresh
from runstate_lab.bench.peers import LANGGRAPH, offline
from runstate_lab.bench.rows import Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import (
    SLOWEST_SYNC,
    Contender,
    Slice,
    interleave,
    timed,
    timed_each,
)
from runstate_lab.context import Context, ContextBuilder
from runstate_lab.driver import Driver
from runstate_lab.model import Decision, RunState, RunStatus, ToolCall
from runstate_lab.scripted import ScriptedModel
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

TIMES, FLAT = 20, 0.87
DURABLE = 0.8
CONTEXT = 400
LOOK = Tool("get_status", act=lambda arguments: "build=green")


class Talk(TypedDict):
    """The peer's state: turns, messages in a reducer channel, the call to make."""

    turn: int
    messages: Annotated[list[Any], operator.add]
    pending: str | None


class Stopwatch(ScriptedModel):
    """A scripted model that notes when it was asked: a turn lasts from one to the next."""

    def __init__(self, decisions: list[Decision]) -> None:
        super().__init__(decisions)
        self.seen: list[float] = []

    def decide(self, context: Context, *, turn: int) -> Decision:
        """What the script says; the moment is noted."""
        self.seen.append(perf_counter())
        return super().decide(context, turn=turn)


def measure(scale: Scale) -> Row:
    """Turns a second in memory, in a short and in a long run."""
    short, long = scale.turns
    contenders: dict[str, Contender] = {
        _title(short): lambda: _in_memory(short, repeated=max(1, long // short // 2)),
        _title(long): lambda: _in_memory(long),
    }
    more = {}
    theirs = f"{LANGGRAPH.title}, InMemorySaver, {short:,} turns"
    if LANGGRAPH.version is not None:
        contenders[theirs] = _langgraph(short)
        more[theirs] = LANGGRAPH.more
    rounds = interleave(contenders, rounds=scale.rounds)
    words = f"{TIMES} x langgraph InMemorySaver"
    aims = (
        rounds.aim(words, TIMES, _title(short), theirs, why=LANGGRAPH.absence),
        rounds.aim(f"flat: {FLAT} x at {long:,}", FLAT, _title(long), _title(short)),
    )
    lines = tuple(rounds.line(name, "turns/s", more=more.get(name, "")) for name in contenders)
    note = f"work of the processor; ours renders a context of {CONTEXT} characters each turn, commits five events"
    return Row("loop", "the run loop in memory, one tool call a turn", lines, aims, (note,))


def measure_durable(scale: Scale) -> Row:
    """Turns a second on disk, intent committed before the tool and result after it."""
    ours, control = "Driver on SqliteStateStore", "raw loop, two commits a turn"
    with TemporaryDirectory() as folder:
        contenders: dict[str, Contender] = {
            ours: lambda: _on_disk(Path(folder), scale.durable_turns),
            control: lambda: _raw(Path(folder), scale.durable_turns),
        }
        rounds = interleave(contenders, rounds=scale.rounds, control=control, slowest=2 * SLOWEST_SYNC)
    aim = rounds.aim(f"{DURABLE} x the raw loop", DURABLE, ours, control)
    lines = tuple(rounds.line(name, "turns/s") for name in contenders)
    what = "the run loop on disk, intent and result synced before the next step"
    note = "durable effects: a turn commits five events and a note, and syncs two of them"
    return Row("durable-loop", what, lines, (aim,), (note, *rounds.notes))


def script(turns: int) -> list[Decision]:
    """Decisions for so many turns: a tool call in each but the last, which is final."""
    asking = [
        Decision("look", (ToolCall(f"c{number}", "get_status"),)) for number in range(turns - 1)
    ]
    return [*asking, Decision("done", final=True)]


def _title(turns: int) -> str:
    return f"Driver on StateStore, {turns:,} turns"


def _driven(store: StateStore, turns: int) -> Callable[[], RunState]:
    tools = ToolRegistry([LOOK])
    model, builder = ScriptedModel(script(turns)), ContextBuilder(budget=CONTEXT)
    return Driver(store, "w1", model=model, tools=tools, builder=builder).run


def _in_memory(turns: int, *, repeated: int = 1) -> Slice:
    goal = RunState("run-7", success=("build=green",))
    runs = [_driven(StateStore(goal), turns) for _ in range(repeated)]
    found: list[RunState] = []
    slice_ = timed(turns * repeated, lambda: found.extend(run() for run in runs))
    _completed(found, turns)
    return slice_


def _on_disk(folder: Path, turns: int) -> Slice:
    goal = RunState("run-7", success=("build=green",))
    store = SqliteStateStore(fresh(folder), goal, durable="effects")
    model = Stopwatch(script(turns))
    state = Driver(store, "w1", model=model, tools=ToolRegistry([LOOK])).run()
    store.close()
    _completed([state], turns)
    times = [after - before for before, after in pairwise(model.seen)]
    return Slice(len(times), sum(times), median(times))


def _completed(found: list[RunState], turns: int) -> None:
    for state in found:
        if state.status is not RunStatus.COMPLETED or state.turn.number != turns:
            raise ValueError(f"a run of {turns} turns ended {state.status} in turn {state.turn.number}")


def _raw(folder: Path, turns: int) -> Slice:
    log = RawLog(fresh(folder), "full")
    each = timed_each(_raw_turns(log, turns))
    log.close()
    return each


def _raw_turns(log: RawLog, turns: int) -> Iterator[object]:
    for number in range(turns):
        call_id = f"c{number}"
        log.append(["tool_dispatched", "runtime", "runtime", {"ToolCall": [call_id, "get_status"]}])
        result = LOOK.act({})
        yield log.append(["tool_result_recorded", "tool:get_status", "tool_executor", result, call_id])


def _langgraph(turns: int) -> Contender:
    offline()
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph

    def model(state: Talk) -> dict[str, Any]:
        if state["turn"] >= turns - 1:
            return {"messages": ["done"], "pending": None}
        return {"messages": ["look"], "pending": "get_status"}

    def tool(state: Talk) -> dict[str, Any]:
        return {"messages": [LOOK.act({})], "turn": state["turn"] + 1}

    graph = StateGraph(Talk)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tool" if state["pending"] else END)
    graph.add_edge("tool", "model")
    start = {"turn": 0, "messages": ["go"], "pending": None}

    def played() -> Slice:
        config = {"configurable": {"thread_id": "run-7"}, "recursion_limit": 4 * turns + 20}
        compiled = graph.compile(checkpointer=InMemorySaver())
        ended: list[dict[str, Any]] = []
        slice_ = timed(turns, lambda: ended.append(compiled.invoke(start, config)))
        if ended[0]["turn"] != turns - 1 or ended[0]["messages"][-1] != "done":
            raise ValueError(f"the peer's run of {turns} turns ended in turn {ended[0]['turn'] + 1}")
        return slice_

    return played
