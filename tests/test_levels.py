"""T1 as printed tables: each counter at its own level."""

from __future__ import annotations

from runstate_lab.driver import Driver
from runstate_lab.errors import ToolFailure
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import Budget, Decision, RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import ScriptedModel, ScriptedTool
from runstate_lab.show import level_table
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

FOUR_TURNS = """
turn   decisions  tool steps  attempts of calls  nodes  attempts of nodes
1      1          1           1                  0      0
2      1          3           4                  0      0
3      1          1           1                  0      0
4      1          0           0                  0      0
run-7  4          5           6                  0      0
"""
FIVE_TURNS = """
turn   decisions  tool steps  attempts of calls  nodes  attempts of nodes
1      0          0           0                  0      0
2      0          0           0                  0      0
3      0          0           0                  3      3
4      0          0           0                  0      0
5      0          0           0                  0      0
run-7  0          0           0                  3      3
"""


def printed(store: StateStore) -> str:
    """The table as text in columns, to be compared with the handwritten one."""
    table = level_table(store)
    rows = [[str(name) for name in table.columns]]
    rows += [[str(cell) for cell in row] for row in table.itertuples(index=False)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = ["  ".join(f"{c:{w}}" for c, w in zip(row, widths, strict=True)) for row in rows]
    text = "\n".join(line.rstrip() for line in lines)
    print(text)
    return text


def test_four_turns_with_a_retried_step_in_turn_two() -> None:
    """One run, four turns, five steps, six attempts."""
    second = (ToolCall("c2", "run_tests"), ToolCall("c3", "scan"), ToolCall("c4", "get_status"))
    script = [
        Decision("look", (ToolCall("c1", "get_status"),)),
        Decision("check", second),
        Decision("ship", (ToolCall("c5", "deploy"),)),
        Decision("done", final=True),
    ]
    acts = {
        "get_status": ["build=green"],
        "run_tests": [ToolFailure("flaky"), "tests=green"],
        "scan": ["scan=clean"],
        "deploy": ["deploy=done"],
    }
    tools = ToolRegistry([Tool(name, ScriptedTool(act)) for name, act in acts.items()])
    store = StateStore(RunState("run-7", success=("deploy=done",), budget=Budget(8, 2)))
    Driver(store, "w1", model=ScriptedModel(script), tools=tools).run()

    assert FOUR_TURNS.strip() == printed(store)


def test_five_turns_one_of_which_runs_three_nodes() -> None:
    """Nodes are neither turns nor steps."""
    runtime = Runtime(StateStore(RunState("run-7")))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    graph = ExecutableGraph([Node(name, lambda values: {}) for name in "abc"], start=tuple("abc"))
    for turn in range(1, 6):
        revision = runtime.store.load().revision
        runtime.accept_runtime(StateProposal("turn_started", "open", revision))
        if turn == 3:
            Executor(Scheduler(graph, runtime, "w1"), max_concurrency=3).run_all()

    assert FIVE_TURNS.strip() == printed(runtime.store)


def test_a_run_without_a_turn_has_one_line() -> None:
    """The empty case: the run itself."""
    assert 1 == len(level_table(StateStore(RunState("run-7"))))
