"""Graphs, claims and reports: the same result in any order, nothing done twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import FrameType

import pytest
from killing import Crash, Fuse, FusedMemory

from runstate_lab.errors import (
    AnswerExpired,
    AnswerForeign,
    AnswerStale,
    GraphRefused,
    IllegalTransition,
    KeyContested,
    Malformed,
)
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import (
    Claim,
    NodeReport,
    NodeState,
    Plan,
    RunState,
    RunStatus,
    StateProposal,
)
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock
from runstate_lab.sqlite import SqliteStateStore
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
        ExecutableGraph(both, start=("a", "b"))

    assert ("a", "b") == ExecutableGraph(both, start=("a", "b"), reducers={"notes": "".join}).order


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


class Deploy:
    """Build, then deploy behind Rosa, then announce; docs stand beside. Counts each effect."""

    def __init__(self, *, tries: int = 1, failures: int = 0) -> None:
        self.effects: list[str] = []
        self._failures = failures
        self.graph = ExecutableGraph(
            [
                Node("build", self._work("build"), writes=("build",)),
                Node("docs", self._work("docs"), writes=("docs",)),
                Node(
                    "deploy",
                    self._work("deploy"),
                    needs=("build",),
                    writes=("deploy",),
                    max_attempts=tries,
                    approver="rosa",
                ),
                Node("announce", self._work("announce"), needs=("deploy",), writes=("announce",)),
            ],
            start=("build", "docs"),
        )

    def executor(self, made: Runtime, worker: str = "w1", **options: object) -> Executor:
        """An executor of a worker, two nodes at once."""
        return Executor(Scheduler(self.graph, made, worker, lease=5), max_concurrency=2, **options)

    def _work(self, name: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
        def work(values: Mapping[str, str]) -> dict[str, str]:
            self.effects.append(name)
            if name == "deploy" and self.effects.count(name) <= self._failures:
                raise OSError("no route")
            return {name: "done"}

        return work


def answer(made: Runtime, kind: str, *, attempt: int = 1, approver: str = "rosa") -> RunState:
    """The state after an answer about the deploy node."""
    report = NodeReport("deploy", attempt, reason="so be it")
    return made.accept_approval(approver, StateProposal(kind, report, made.store.load().revision))


def statuses(state: RunState) -> dict[str, str]:
    """Each node's status."""
    return {node.name: str(node.status) for node in state.nodes}


def test_an_executor_asks_before_the_work_and_lets_the_others_go_on() -> None:
    """Until Rosa answers nothing of the deploy has happened; build and docs are done."""
    story, made = Deploy(), runtime()
    state = story.executor(made).run_all()

    assert {
        "build": "completed",
        "docs": "completed",
        "deploy": "waiting_approval",
        "announce": "pending",
    } == statuses(state)
    assert (["build", "docs"], "deploy, attempt 1?") == (story.effects, state.node("deploy").reason)
    assert state == story.executor(made).run_all()


@pytest.mark.parametrize("worker", ["w1", "w2"])
def test_an_approved_node_is_done_exactly_once(worker: str) -> None:
    """By the worker that asked or by another one; the attempt is the approved one."""
    story, made = Deploy(), runtime()
    story.executor(made).run_all()
    answer(made, "node_approved")
    state = story.executor(made, worker).run_all()
    story.executor(made, "w3").run_all()

    assert {"completed"} == set(statuses(state).values())
    assert ["announce", "build", "deploy", "docs"] == sorted(story.effects)
    assert (worker, 1, True) == (
        state.node("deploy").worker,
        state.node("deploy").attempt,
        state.node("deploy").approved,
    )


def test_an_approved_node_is_ready_once_more_and_nobodys() -> None:
    """Whatever tick the approver names: only a claim makes a lease. Asking used up no attempt."""
    story, made = Deploy(), runtime()
    story.executor(made).run_all()
    report = NodeReport("deploy", 1, until=99)
    made.accept_approval("rosa", StateProposal("node_approved", report, made.store.load().revision))
    assert made.store.load().node("deploy").may_begin
    node = Scheduler(story.graph, made, "w2").judge().node("deploy")

    assert ("ready", 0, None, None, True, "rosa agreed") == (
        node.status,
        node.attempt,
        node.worker,
        node.until,
        node.approved,
        node.reason,
    )


def test_a_denied_node_fails_and_blocks_what_needs_it() -> None:
    """Nothing of it has happened."""
    story, made = Deploy(), runtime()
    story.executor(made).run_all()
    answer(made, "node_denied")
    state = story.executor(made).run_all()

    assert ("failed", "so be it") == (state.node("deploy").status, state.node("deploy").reason)
    assert "deploy is failed" == state.node("announce").reason
    assert "deploy" not in story.effects


def test_a_question_without_an_answer_expires() -> None:
    """At its tick the answer comes too late, the node is cancelled and what needs it is blocked."""
    clock = LogicalClock(3)
    story, made = Deploy(), runtime(clock)
    executor = story.executor(made, patience=4)
    executor.run_all()
    clock.advance(3)
    assert "waiting_approval" == executor.run_all().node("deploy").status
    clock.advance(1)
    with pytest.raises(AnswerExpired, match="found tick 7, open until 7"):
        answer(made, "node_approved")
    state = executor.run_all()

    assert ("cancelled", "no answer of rosa until tick 7") == (
        state.node("deploy").status,
        state.node("deploy").reason,
    )
    assert "deploy is cancelled" == state.node("announce").reason
    assert "deploy" not in story.effects


def test_an_approval_is_of_one_attempt() -> None:
    """A second try asks again; the answer to the first question is stale for it."""
    story, made = Deploy(tries=2, failures=1), runtime()
    story.executor(made).run_all()
    answer(made, "node_approved")
    state = story.executor(made).run_all()
    assert ("waiting_approval", 2, False) == (
        state.node("deploy").status,
        state.node("deploy").attempt,
        state.node("deploy").approved,
    )
    with pytest.raises(AnswerStale):
        answer(made, "node_approved", attempt=1)
    with pytest.raises(AnswerForeign):
        answer(made, "node_approved", attempt=2, approver="mallory")
    answer(made, "node_approved", attempt=2)
    state = story.executor(made).run_all()

    assert ({"completed"}, 2) == (set(statuses(state).values()), story.effects.count("deploy"))
    with pytest.raises(IllegalTransition):
        answer(made, "node_approved", attempt=2)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("early", [False, True])
def test_the_result_is_the_same_whenever_the_answer_comes(backwards: bool, early: bool) -> None:
    """While the sibling is at work or after everything, reports in either order."""
    story, made = Deploy(), runtime()

    def arrival(batch: Sequence[Claim]) -> Sequence[Claim]:
        return tuple(reversed(batch)) if backwards else batch

    scheduler = Scheduler(story.graph, made, "w1")
    executor = Executor(scheduler, max_concurrency=1, arrival=arrival)
    scheduler.plan()
    while batch := scheduler.take_ready(limit=1 + backwards):
        executor.run_batch(batch)
        if early and made.store.load().node("deploy").status == "waiting_approval":
            answer(made, "node_approved")
    if not early:
        answer(made, "node_approved")
    state = executor.run_all()

    assert dict.fromkeys(["build", "docs", "deploy", "announce"], "done") == story.graph.values(state)
    assert 4 == len(story.effects)


def test_a_claim_from_before_the_approval_does_no_work() -> None:
    """The work begins with a claim of its own, so that a crash shows whether it began."""
    story, made = Deploy(), runtime()
    executor = story.executor(made)
    executor.scheduler.plan()
    executor.run_batch(executor.scheduler.take_ready(limit=2))
    batch = executor.scheduler.take_ready(limit=2)
    assert (None,) == executor.run_batch(batch)
    answer(made, "node_approved")
    (refusal,) = executor.run_batch(batch)

    assert ("attempt_fenced", False) == (refusal.code, "deploy" in story.effects)


def test_a_crash_around_an_approval_repeats_no_effect() -> None:
    """Every moment between two commits; the worker comes back under its own name, later."""
    points, given_up = 0, []
    while True:
        story, clock = Deploy(), LogicalClock()
        store = FusedMemory(Fuse(points + 1), RunState("run-7", status=RunStatus.RUNNING))
        made, where = Runtime(store, clock=clock), None
        try:
            story.executor(made).run_all()
            answer(made, "node_approved")
            story.executor(made).run_all()
        except Crash as crash:
            where = str(crash)
        if where is None:
            break
        points += 1
        store.fuse = Fuse()
        clock.advance(100)
        state = story.executor(made).run_all()
        if state.node("deploy").status == "waiting_approval":
            answer(made, "node_approved")
            state = story.executor(made).run_all()

        assert sorted(set(story.effects)) == sorted(story.effects), where
        assert not [node for node in state.nodes if node.status in ("running", "ready")], where
        given_up += [(node.name, where) for node in state.nodes if node.status == "failed"]

    assert (34, 14) == (points, len(given_up))
    assert [
        ("deploy", "after node_claimed"),
        ("deploy", "before node_asked"),
        ("deploy", "after node_claimed"),
        ("deploy", "before node_finished"),
    ] == [one for one in given_up if one[0] == "deploy"]


class Mute(Exception):
    """Fails to say what it is."""

    def __str__(self) -> str:
        raise OSError("speechless")


class Leaving(Exception):
    """Leaves instead of saying what it is."""

    def __str__(self) -> str:
        raise SystemExit(1)


class Numeric(Exception):
    """Says a number where text belongs."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Mute(), "Mute"),
        (Leaving(), "Leaving"),
        (Numeric(), "Numeric"),
        (OSError("half \ud800 a pair"), "OSError: half \\ud800 a pair"),
        (OSError("x" * 5_000_000), "OSError: " + "x" * 990 + "…"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyError("build"), "KeyError: 'build'"),
    ],
    ids=range(7),
)
def test_whatever_work_raises_is_the_failure_of_its_node(
    error: BaseException, words: str, tmp_path: Path
) -> None:
    """Unprintable, unstorable or enormous: the reason is short text that a file can keep."""

    def work(values: object) -> dict[str, str]:
        raise error

    graph = ExecutableGraph([Node("build", work)], start=("build",))
    begun = RunState("run-7", status=RunStatus.RUNNING)
    with closing(SqliteStateStore(tmp_path / "run-7.sqlite", begun)) as store:
        state = Executor(Scheduler(graph, Runtime(store), "w1"), max_concurrency=1).run_all()

    assert ("failed", words) == (state.node("build").status, state.node("build").reason)


def test_an_interrupt_of_the_work_leaves() -> None:
    """Control-C is meant for the process, not for the node, which stays claimed."""

    def work(values: object) -> dict[str, str]:
        raise KeyboardInterrupt

    made = runtime()
    graph = ExecutableGraph([Node("build", work)], start=("build",))
    with pytest.raises(KeyboardInterrupt):
        Executor(Scheduler(graph, made, "w1"), max_concurrency=1).run_all()

    assert "running" == made.store.load().node("build").status


class Shouting(str):
    """Text that is not quite text."""

    def __str__(self) -> str:
        return self


class Refusing:
    """A value that cannot be told."""

    def __str__(self) -> str:
        raise OSError("speechless")


@pytest.mark.parametrize(
    ("writes", "status"),
    [
        (None, "failed"),
        (["build"], "failed"),
        ("build", "failed"),
        ({"build": Refusing()}, "failed"),
        ({Mute(): "green"}, "failed"),
        ({7: "green"}, "failed"),
        ({"build": "half \ud800 a pair"}, "failed"),
        ({"build": Shouting("green")}, "failed"),
        ({"build": 7}, "completed"),
        ({}, "completed"),
    ],
    ids=range(10),
)
def test_whatever_work_gives_back_ends_its_node(
    writes: object, status: str, tmp_path: Path
) -> None:
    """No value of somebody else's code escapes or wedges the run, on disk either."""
    node = Node("build", lambda values: writes, writes=("build",))
    graph = ExecutableGraph([node], start=("build",))
    begun = RunState("run-7", status=RunStatus.RUNNING)
    with closing(SqliteStateStore(tmp_path / "run-7.sqlite", begun)) as store:
        state = Executor(Scheduler(graph, Runtime(store), "w1"), max_concurrency=1).run_all()

    assert status == state.node("build").status


def test_a_graph_that_was_drawn_again_runs_by_the_plan_in_the_run() -> None:
    """Who must agree and how often may be tried is what the run was planned with."""
    made = runtime()
    Scheduler(Deploy(tries=1).graph, made, "w1").plan()
    state = Executor(
        Scheduler(
            ExecutableGraph(
                [
                    Node("build", dict),
                    Node("docs", dict),
                    Node("deploy", dict, needs=("build",), max_attempts=9),
                    Node("announce", dict, needs=("deploy",)),
                ],
                start=("build", "docs"),
            ),
            made,
            "w1",
        ),
        max_concurrency=4,
    ).run_all()

    assert "waiting_approval" == state.node("deploy").status


def test_a_failed_attempt_is_the_last_one_by_the_plan_in_the_run() -> None:
    """A drawing that allows more attempts does not wedge the node."""
    made, node = runtime(), Node("build", lambda values: None)
    Scheduler(ExecutableGraph([node], start=("build",)), made, "w1").plan()
    again = ExecutableGraph([replace(node, max_attempts=9)], start=("build",))
    state = Executor(Scheduler(again, made, "w1"), max_concurrency=1).run_all()

    assert ("failed", 1) == (state.node("build").status, state.node("build").attempt)


def test_a_run_that_ends_while_nodes_are_taken_gives_no_claims() -> None:
    """The first claim meets the end, and the second ready node is not tried."""

    class Ended(Runtime):
        def accept_worker(self, worker: str, proposal: StateProposal) -> RunState:
            state = self.store.load()
            if not state.status.terminal:
                self.accept_user("ada", StateProposal("run_cancelled", "no", state.revision))
            return super().accept_worker(worker, proposal)

    scheduler = Scheduler(Deploy().graph, Ended(runtime().store), "w1")
    scheduler.plan()

    assert () == scheduler.take_ready(limit=2)


def scheduler_of(**fields: object) -> Scheduler:
    """A scheduler of an empty graph with some arguments replaced."""
    given = {"graph": ExecutableGraph([], start=()), "runtime": runtime(), "worker": "w1"}
    given |= fields
    return Scheduler(given.pop("graph"), given.pop("runtime"), given.pop("worker"), **given)


def executor_of(**fields: object) -> Executor:
    """An executor with some arguments replaced."""
    given = {"scheduler": scheduler_of(), "max_concurrency": 1} | fields
    return Executor(given.pop("scheduler"), **given)


MISTAKES: tuple[tuple[Callable[..., object], dict[str, object], str], ...] = (
    (Node, {"name": ""}, "asked a node's name, found ''"),
    (Node, {"name": 7}, "asked a node's name, found a int, not text"),
    (Node, {"name": "half \ud800"}, "asked a node's name, found half a character"),
    (Node, {"writes": ("half \ud800",)}, "asked a key that build writes, found half a character"),
    (Node, {"work": "build"}, "asked build's work that can be called, found 'build'"),
    (Node, {"work": None}, "asked build's work that can be called, found None"),
    (Node, {"needs": "ab"}, r"asked build's needs as a tuple of names, found the text 'ab'; one name is \('ab',\)"),
    (Node, {"needs": ["a"]}, "asked build's needs as a tuple of names, found \\['a'\\]"),
    (Node, {"needs": None}, "asked build's needs as a tuple of names, found None"),
    (Node, {"needs": (7,)}, "asked a name among build's needs, found a int, not text"),
    (Node, {"needs": ("",)}, "asked a name among build's needs, found ''"),
    (Node, {"needs": ("a", "b", "a")}, "asked build's needs, each once, found \\('a', 'b', 'a'\\)"),
    (Node, {"writes": "build"}, "asked build's writes as a tuple of names, found the text 'build'"),
    (Node, {"writes": ("a", "a")}, "asked build's writes, each once, found \\('a', 'a'\\)"),
    (Node, {"max_attempts": 0}, "asked build's max_attempts as a whole number from 1, found 0"),
    (Node, {"max_attempts": -1}, "asked build's max_attempts as a whole number from 1, found -1"),
    (Node, {"max_attempts": True}, "asked build's max_attempts as a whole number from 1, found True"),
    (Node, {"max_attempts": 2.0}, "asked build's max_attempts as a whole number from 1, found 2.0"),
    (Node, {"max_attempts": None}, "asked build's max_attempts as a whole number from 1, found None"),
    (Node, {"approver": ""}, "asked build's approver, found ''"),
    (Node, {"approver": "rosa:x"}, "asked build's approver without a colon, found 'rosa:x'"),
    (Node, {"approver": True}, "asked build's approver, found a bool, not text"),
    (ExecutableGraph, {"nodes": "ab"}, "asked an iterable of Node, found 'ab'"),
    (ExecutableGraph, {"nodes": None}, "asked an iterable of Node, found None"),
    (ExecutableGraph, {"nodes": Node("a", dict)}, "asked an iterable of Node, found Node"),
    (ExecutableGraph, {"nodes": ["a"]}, "asked each node of a graph: Node, found 'a'"),
    (ExecutableGraph, {"start": "build"}, r"asked a graph's start as a tuple of names, found the text 'build'; one name is \('build',\)"),
    (ExecutableGraph, {"start": None}, "asked a graph's start as a tuple of names, found None"),
    (ExecutableGraph, {"start": (7,)}, "asked a name among a graph's start, found a int"),
    (ExecutableGraph, {"start": (["a"],)}, "asked a name among a graph's start, found a list"),
    (ExecutableGraph, {"reducers": ["notes"]}, "asked a graph's reducers: Mapping, found "),
    (ExecutableGraph, {"reducers": {"notes": ", "}}, "asked the reducer of notes that can be called, found ', '"),
    (ExecutableGraph, {"reducers": {7: max}}, "asked a key of a graph's reducers, found a int, not text"),
    (scheduler_of, {"graph": [Node("a", dict)]}, "asked a scheduler's graph that has node, values, accept_writes\\(\\), found "),
    (scheduler_of, {"runtime": StateStore(RunState("r"))}, "asked a scheduler's runtime: Runtime, found <"),
    (scheduler_of, {"worker": ""}, "asked a scheduler's worker, found ''"),
    (scheduler_of, {"worker": "w:1"}, "asked a scheduler's worker without a colon, found 'w:1'"),
    (scheduler_of, {"worker": None}, "asked a scheduler's worker, found a NoneType, not text"),
    (scheduler_of, {"lease": 0}, "asked a scheduler's lease as a whole number from 1, found 0"),
    (scheduler_of, {"lease": -1}, "asked a scheduler's lease as a whole number from 1, found -1"),
    (scheduler_of, {"lease": True}, "asked a scheduler's lease as a whole number from 1, found True"),
    (scheduler_of, {"lease": 1.5}, "asked a scheduler's lease as a whole number from 1, found 1.5"),
    (scheduler_of, {"lease": None}, "asked a scheduler's lease as a whole number from 1, found None"),
    (executor_of, {"scheduler": None}, "asked an executor's scheduler: Scheduler, found None"),
    (executor_of, {"max_concurrency": 0}, "asked an executor's max_concurrency as a whole number from 1, found 0"),
    (executor_of, {"max_concurrency": "2"}, "asked an executor's max_concurrency as a whole number from 1, found '2'"),
    (executor_of, {"max_concurrency": None}, "asked an executor's max_concurrency as a whole number from 1, found None"),
    (executor_of, {"arrival": None}, "asked an executor's arrival that can be called, found None"),
    (executor_of, {"patience": 0}, "asked an executor's patience as a whole number from 1, found 0"),
    (executor_of, {"patience": True}, "asked an executor's patience as a whole number from 1, found True"),
    (scheduler_of().take_ready, {"limit": True}, "asked a limit of nodes to take as a whole number from 1, found True"),
    (scheduler_of().take_ready, {"limit": 1.0}, "asked a limit of nodes to take as a whole number from 1, found 1.0"),
    (scheduler_of().take_ready, {"limit": None}, "asked a limit of nodes to take as a whole number from 1, found None"),
    (executor_of().run_batch, {"batch": None}, "asked a batch of claims, found None"),
    (executor_of().run_batch, {"batch": ["build"]}, "asked each claim of a batch: Claim, found 'build'"),
    (NodeState, {"name": "a", "needs": "b"}, "asked a's needs as a tuple of names, found the text 'b'"),
    (NodeState, {"name": "a", "attempt": -1}, "asked a's attempts made, found -1"),
    (NodeState, {"name": "a", "approver": ""}, "asked a's approver, found ''"),
    (NodeReport, {"node": "a", "attempt": "1"}, "asked an attempt, found '1'"),
    (NodeReport, {"node": "a", "reason": None}, "asked a reason, found a NoneType, not text"),
    (NodeReport, {"node": "a", "until": 1.5}, "asked a tick, found 1.5"),
    (Claim, {"node": "a", "worker": "w", "attempt": 1, "until": "9"}, "asked a tick, found '9'"),
    (Plan, {"nodes": [NodeState("a")]}, "asked nodes as a tuple of NodeState, found "),
    (Plan, {"nodes": ("a",)}, "asked nodes as a tuple of NodeState, found "),
)  # fmt: skip
USUAL: dict[object, dict[str, object]] = {
    Node: {"name": "build", "work": dict},
    ExecutableGraph: {"nodes": [], "start": ()},
}


@pytest.mark.parametrize(
    ("ask", "mistake", "words"), MISTAKES, ids=[f"{n} {m[2][:40]}" for n, m in enumerate(MISTAKES)]
)
def test_a_mistaken_argument_is_told(
    ask: Callable[..., object], mistake: dict[str, object], words: str
) -> None:
    """What was asked, what was found, one hint; at once, not in the middle of a run."""
    with pytest.raises(Malformed, match=words) as refused:
        ask(**USUAL.get(ask, {}) | mistake)

    assert 1 == str(refused.value).count("\nhint: ")


def test_a_need_that_is_not_in_the_run_is_not_met() -> None:
    """A state that nobody planned: its node waits, and nothing breaks."""
    nodes = (NodeState("deploy", needs=("build",)),)
    made = Runtime(StateStore(RunState("run-7", status=RunStatus.RUNNING, nodes=nodes)))
    state = Scheduler(ExecutableGraph([], start=()), made, "w1").judge()

    assert ("pending", 0) == (state.node("deploy").status, state.revision)


def test_an_arrival_that_repeats_a_claim_repeats_no_work() -> None:
    """The second time the node is no longer held."""
    story, made = Deploy(), runtime()
    executor = story.executor(made, arrival=lambda batch: (*batch, *batch))
    executor.scheduler.plan()
    refusals = executor.run_batch(executor.scheduler.take_ready(limit=2))

    assert [None, None, "attempt_fenced", "attempt_fenced"] == [
        refusal and refusal.code for refusal in refusals
    ]
    assert ["build", "docs"] == story.effects


def test_a_run_that_ended_asks_nobody() -> None:
    """A claim from before the end is not worked on, nor asked about."""
    story, made = Deploy(), runtime()
    executor = story.executor(made)
    executor.scheduler.plan()
    executor.run_batch(executor.scheduler.take_ready(limit=2))
    batch = executor.scheduler.take_ready(limit=2)
    revision = made.store.load().revision
    ended = made.accept_user("ada", StateProposal("run_cancelled", "not today", revision))
    (refusal,) = executor.run_batch(batch)

    assert ("attempt 1 by w1, cancelled", ended) == (refusal.found, made.store.load())


def test_a_clock_that_shows_no_tick_is_told() -> None:
    """A time of day is no logical tick."""
    graph = ExecutableGraph([Node("build", dict)], start=("build",))
    made = Runtime(StateStore(RunState("run-7", status=RunStatus.RUNNING)))
    scheduler = Scheduler(graph, made, "w1")
    scheduler.plan()
    made.clock = lambda: 1.5
    with pytest.raises(Malformed, match=r"asked a tick of the clock, found 1\.5"):
        scheduler.now()
    made.clock = 7
    with pytest.raises(Malformed, match="asked the runtime's clock that can be called, found 7"):
        scheduler.now()


def test_a_reducer_gives_text() -> None:
    """What it combines goes to the next node's work and into its results."""
    graph = ExecutableGraph(
        [Node(name, writes(notes=name), writes=("notes",)) for name in "ab"],
        start=("a", "b"),
        reducers={"notes": len},
    )
    state = Executor(Scheduler(graph, runtime(), "w1"), max_concurrency=2).run_all()
    with pytest.raises(Malformed, match="asked what the reducer of notes gives, found a int"):
        graph.values(state)


def test_two_workers_that_plan_at_once_plan_once() -> None:
    """The second one looks again and finds the nodes there."""
    made, graph = runtime(), release()

    class Overtaken(Runtime):
        def accept_runtime(self, proposal: StateProposal) -> RunState:
            if proposal.kind == "nodes_planned" and not made.store.load().nodes:
                Scheduler(graph, made, "w1").plan()
            return super().accept_runtime(proposal)

    state = Scheduler(graph, Overtaken(made.store), "w2").plan()

    assert graph.order == tuple(node.name for node in state.nodes)


def steps_to_draw(length: int) -> int:
    """How many lines of Python it takes to draw a chain, last node first."""
    nodes = [
        Node(f"n{place}", dict, needs=(f"n{place - 1}",) if place else ())
        for place in reversed(range(length))
    ]
    steps = 0

    def look(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        nonlocal steps
        steps += event == "line"
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        ExecutableGraph(nodes, start=("n0",))
    finally:
        sys.settrace(before)
    return steps


def test_drawing_a_long_chain_takes_steps_in_proportion_to_its_length() -> None:
    """A thousand nodes in a row, in either order; twice as many take twice the steps more."""
    names = [f"n{place}" for place in range(1000)]
    nodes = [
        Node(name, dict, needs=(names[place - 1],) if place else ())
        for place, name in enumerate(names)
    ]

    assert tuple(names) == ExecutableGraph(nodes, start=("n0",)).order
    assert tuple(names) == ExecutableGraph(reversed(nodes), start=("n0",)).order
    quarter, half, whole = steps_to_draw(25), steps_to_draw(50), steps_to_draw(100)
    assert 2 * (half - quarter) == whole - half


def test_a_graph_is_ordered_in_layers_and_each_layer_as_it_was_drawn() -> None:
    """A node stands in the layer after the last of its needs."""
    drawn = {"f": "ce", "b": "a", "z": "", "c": "b", "e": "z", "a": "", "d": "a"}
    nodes = [Node(name, dict, needs=tuple(needs)) for name, needs in drawn.items()]

    assert tuple("zabedcf") == ExecutableGraph(nodes, start=("z", "a")).order
