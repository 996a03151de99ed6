"""Bytes on disk for each event, in a short and in a long run: flat, or growing."""

from __future__ import annotations

import operator
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypedDict

from runstate_lab.bench.commits import fresh
from runstate_lab.bench.peers import LANGGRAPH, SQLITE_SAVER, offline
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore

LARGEST = 180
FLAT = 1.15


class Facts(TypedDict):
    """The peer's state: a counter, and a list that a reducer channel adds to."""

    count: int
    facts: Annotated[list[str], operator.add]


def measure(scale: Scale) -> Row:
    """Bytes for an event of ours, with snapshots; and for a step of the peer's."""
    with TemporaryDirectory() as folder:
        sizes = {steps: _ours(fresh(Path(folder)), steps) for steps in scale.steps}
        lines = [
            Line(f"SqliteStateStore, {steps:,} tool calls", size, "bytes/event")
            for steps, size in sizes.items()
        ]
        missing = [peer.absence for peer in (LANGGRAPH, SQLITE_SAVER) if peer.version is None]
        if not missing:
            for steps in scale.peer_steps:
                size = _langgraph(fresh(Path(folder)), steps)
                title = f"{SQLITE_SAVER.title}, {steps:,} steps"
                lines.append(Line(title, size, "bytes/step"))
            lines[-1] = Line(title, size, "bytes/step", SQLITE_SAVER.more)
    short, long = scale.steps
    aims = (
        *(
            Aim(f"{LARGEST} bytes/event at {steps:,}", LARGEST, size, at_most=True)
            for steps, size in sizes.items()
        ),
        Aim(f"flat: {FLAT} x", FLAT, sizes[long] / sizes[short], at_most=True),
    )
    what = "an event with a fact of 12 bytes; the peer's fact goes to a reducer channel"
    return Row("disk", what, tuple(lines), aims, tuple(missing))


def _ours(path: Path, steps: int) -> float:
    store = SqliteStateStore(path, RunState("run-7"), durable="normal")
    runtime = Runtime(store)
    state = runtime.accept_runtime(StateProposal("run_started", "", 0))
    for number in range(steps):
        call = ToolCall(f"c{number:05}", "get_status")
        state = runtime.accept_runtime(StateProposal("tool_dispatched", call, state.revision))
        result = StateProposal("tool_result_recorded", f"build={number:06}", state.revision)
        state = runtime.accept_tool_result("get_status", result, call_id=call.call_id)
    store.close()
    return path.stat().st_size / state.revision


def _langgraph(path: Path, steps: int) -> float:
    offline()
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def step(state: Facts) -> dict[str, Any]:
        return {"count": state["count"] + 1, "facts": [f"build={state['count']:06}"]}

    graph = StateGraph(Facts)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: END if state["count"] >= steps else "step")
    file = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(file)
    saver.setup()
    file.execute("pragma synchronous = off")
    config = {"configurable": {"thread_id": "run-7"}, "recursion_limit": 2 * steps + 10}
    graph.compile(checkpointer=saver).invoke({"count": 0, "facts": []}, config, durability="sync")
    file.execute("pragma wal_checkpoint(truncate)")
    file.close()
    return path.stat().st_size / steps
