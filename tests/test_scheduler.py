"""Graphs, claims and reports: the same result in any order, nothing done twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from runstate_lab.errors import GraphRefused, KeyContested
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import Claim, NodeReport, RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock
from runstate_lab.store import StateStore


def writes(**values: str) -> object:
    """A work that writes these values."""
    return lambda before: values


def runtime(clock: LogicalClock | None = None) -> Runtime:
    """A runtime whose run-7 was started."""
    made = Runtime(StateStore(RunState("run-7")), clock=clock or LogicalClock())
    made.accept_runtime(StateProposal("run_started", "", 0))
    return made


def release() -> ExecutableGraph:
    """Look at the build, then test and scan beside each other, then announce."""
    return ExecutableGraph(
        [
            Node("build", writes(build="green"), writes=("build",)),
            Node("tests", writes(notes="tested"), needs=("build",), writes=("notes",)),
            Node("scan", writes(notes="scanned"), needs=("build",), writes=("notes",)),
            Node("docs", writes(notes="written"), needs=("build",), writes=("notes",)),
            Node("announce", writes(said="yes"), needs=("tests", "scan", "docs"), writes=("said",)),
        ],
        start=("build",),
        reducers={"notes": ", ".join},
    )


@pytest.mark.parametrize(
    ("nodes", "start", "words"),
    [
        ([Node("a", dict, needs=("b",))], (), "no node b"),
        ([Node("a", dict, needs=("a",))], (), "a cycle among a"),
        ([Node("a", dict), Node("a", dict)], ("a",), "a name twice: a"),
        ([Node("a", dict), Node("b", dict)], ("a",), "nothing leads to b"),
        ([Node("a", dict), Node("b", dict, needs=("a",))], ("a", "b"), "found b"),
        ([Node("a", dict)], ("a", "z"), "found z"),
    ],
)
def test_a_graph_is_refused_when_it_is_drawn(
    nodes: list[Node], start: tuple[str, ...], words: str
) -> None:
    """Cycles, unknown needs, names twice, unreachable nodes, strange starts."""
    with pytest.raises(GraphRefused, match=words):
        ExecutableGraph(nodes, start=start)


def test_a_contested_key_needs_a_reducer() -> None:
    """Two writers without one are refused; with one they combine."""
    both = [Node(name, dict, writes=("notes",)) for name in "ab"]
    with pytest.raises(KeyContested, match="a, b and no reducer"):
        ExecutableGraph(both, start="ab")

    assert ("a", "b") == ExecutableGraph(both, start="ab", reducers={"notes": "".join}).order


def test_an_undeclared_key_fails_its_node() -> None:
    """A node that writes what it did not declare does not reach the values."""
    graph = ExecutableGraph([Node("build", writes(status="completed"))], start=("build",))
    state = Executor(Scheduler(graph, runtime(), "w1"), max_concurrency=1).run_all()

    assert ("failed", {}) == (state.node("build").status, graph.values(state))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_result_is_the_same_whatever_arrives_first(order: tuple[int, ...]) -> None:
    """Three nodes in one batch, in each of the six orders."""

    def arrival(batch: Sequence[Claim]) -> Sequence[Claim]:
        return [batch[place] for place in order] if len(batch) == 3 else batch

    graph = release()
    state = Executor(Scheduler(graph, runtime(), "w1"), max_concurrency=3, arrival=arrival).run_all()

    assert {"build": "green", "notes": "tested, scanned, written", "said": "yes"} == graph.values(state)
    assert {"completed"} == {str(node.status) for node in state.nodes}


def test_the_batches_are_as_wide_as_the_limit() -> None:
    """One, then three at once, then one; and one at a time with a limit of one."""
    widths = []
    for limit in (3, 1):
        scheduler = Scheduler(release(), runtime(), "w1")
        executor = Executor(scheduler, max_concurrency=limit)
        scheduler.plan()
        seen = []
        while batch := scheduler.take_ready(limit=limit):
            seen.append(len(batch))
            executor.run_batch(batch)
        widths.append(seen)

    assert [[1, 3, 1], [1, 1, 1, 1, 1]] == widths


def test_a_failed_node_blocks_everything_behind_it() -> None:
    """With the reason, and the rest goes on."""

    def broken(values: object) -> dict[str, str]:
        raise OSError("disk full")

    graph = ExecutableGraph(
        [
            Node("build", broken),
            Node("deploy", dict, needs=("build",)),
            Node("announce", dict, needs=("deploy",)),
            Node("docs", dict),
        ],
        start=("build", "docs"),
    )
    state = Executor(Scheduler(graph, runtime(), "w1"), max_concurrency=4).run_all()
    found = {node.name: (str(node.status), node.reason) for node in state.nodes}

    assert {
        "build": ("failed", "OSError: disk full"),
        "docs": ("completed", None),
        "deploy": ("blocked", "build is failed"),
        "announce": ("blocked", "deploy is blocked"),
    } == found


def test_a_node_is_tried_as_often_as_it_may() -> None:
    """Two failures and a success are attempts 1, 2 and 3 of one node."""
    tries = []

    def flaky(values: object) -> dict[str, str]:
        tries.append(len(tries) + 1)
        if len(tries) < 3:
            raise OSError("no route")
        return {"build": "green"}

    graph = ExecutableGraph(
        [Node("build", flaky, writes=("build",), max_attempts=3)], start=("build",)
    )
    state = Executor(Scheduler(graph, runtime(), "w1"), max_concurrency=1).run_all()

    assert ([1, 2, 3], "completed", 3) == (
        tries,
        state.node("build").status,
        state.node("build").attempt,
    )


def test_a_worker_that_stalls_is_given_up_and_its_late_report_is_fenced() -> None:
    """The second attempt owns the node; the first one's result is refused."""
    clock = LogicalClock()
    made = runtime(clock)
    graph = ExecutableGraph(
        [Node("build", writes(build="green"), writes=("build",), max_attempts=2)], start=("build",)
    )
    first, second = (Scheduler(graph, made, name, lease=5) for name in ("w1", "w2"))
    first.plan()
    (stalled,) = first.take_ready(limit=1)
    assert () == second.take_ready(limit=1)
    clock.advance(5)
    (taken,) = second.take_ready(limit=1)
    (refusal,) = Executor(first, max_concurrency=1).run_batch([stalled])
    assert (None,) == Executor(second, max_concurrency=1).run_batch([taken])

    assert ("attempt_fenced", 1, 2) == (refusal.code, stalled.attempt, taken.attempt)
    assert "w2" == made.store.load().node("build").worker


def test_a_stalled_node_without_attempts_left_fails() -> None:
    """Given up by the scheduler, with the reason."""
    clock = LogicalClock()
    made = runtime(clock)
    scheduler = Scheduler(ExecutableGraph([Node("build", dict)], start=("build",)), made, "w1", lease=5)
    scheduler.plan()
    scheduler.take_ready(limit=1)
    clock.advance(5)
    node = scheduler.judge().node("build")

    assert ("failed", "the lease of w1 ran out, no attempt is left") == (node.status, node.reason)


def test_a_node_may_ask_for_an_approval_of_its_own() -> None:
    """Waiting for an approval is no end: approved it runs on, denied it fails."""
    graph = ExecutableGraph([Node("deploy", dict, approver="rosa")], start=("deploy",))
    ends = []
    for kind in ("node_approved", "node_denied"):
        made = runtime()
        scheduler = Scheduler(graph, made, "w1")
        scheduler.plan()
        (claim,) = scheduler.take_ready(limit=1)
        report = NodeReport("deploy", claim.attempt, reason="deploy release 7?")
        state = made.accept_worker("w1", StateProposal("node_asked", report, made.store.load().revision))
        assert "waiting_approval" == state.node("deploy").status
        state = made.accept_approval("rosa", StateProposal(kind, report, state.revision))
        ends.append(str(state.node("deploy").status))

    assert ["running", "failed"] == ends


def test_five_turns_one_of_which_runs_three_nodes_in_parallel() -> None:
    """Turns, nodes and attempts are counted apart."""
    made = runtime()
    graph = release()
    for turn in range(1, 6):
        revision = made.store.load().revision
        made.accept_runtime(StateProposal("turn_started", "open", revision))
        if turn == 3:
            state = Executor(Scheduler(graph, made, "w1"), max_concurrency=3).run_all()
    state = made.store.load()

    assert (5, 0, 5) == (state.turn.number, state.step, len(state.nodes))
    assert {1} == {node.attempt for node in state.nodes}
    assert 1 == sum(event.kind == "run_started" for event in made.store.trace.accepted)
