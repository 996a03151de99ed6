"""Machinery. Run-7 is killed at each of its moments, and another worker goes on.

A moment is a commit, a save or an effect; a fuse raises before the n-th one,
and what was committed until then outlives the worker as a disk would. Three
loops, each with an idempotency key and without: the driver of the book, and
two that are wrong on purpose. Every outcome is a real run.

What is not here: how a run is drawn (see `crashmarks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from runstate_lab.batching import BatchingLoop
from runstate_lab.brokenloops import EffectFirstDriver
from runstate_lab.checkpoint import CheckpointStore, Recovery, recover
from runstate_lab.driver import Driver
from runstate_lab.errors import ToolFailure
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import (
    Budget,
    Decision,
    ExecutionContext,
    NodeStatus,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.scripted import LogicalClock, ScriptedModel
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

COMMIT, SAVE, EFFECT = "commit", "save", "effect"
LEASE, LATER = 10, 100
BEGIN = RunState(
    "run-7",
    goal="ship release 7",
    success=("tests=green", "deploy=done"),
    budget=Budget(max_turns=2, max_attempts=3),
)
WISH = Decision(
    "test and ship",
    (ToolCall("c1", "run_tests"), ToolCall("c2", "deploy", (("release", "7"),))),
    final=True,
)
RESULTS = {"run_tests": "tests=green", "deploy": "deploy=done"}

ACTS = {"run_tests": "tests run", "deploy": "deploys"}


class Crash(BaseException):
    """The worker is gone; nothing in the book may catch it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened for good: what, its words, the revision or the count after it.

    `fresh` is false where the world was asked again under a key it knew.
    """

    sort: str
    words: str
    number: int
    fresh: bool = True


class Fuse:
    """Remembers the moments of one worker, and blows before one of them.

    >>> fuse = Fuse(1)
    >>> fuse.happened(Moment(COMMIT, "start", 1))
    >>> try:
    ...     fuse.before()
    ... except Crash:
    ...     print(fuse.moments[-1].words)
    start
    """

    def __init__(self, at: int | None = None) -> None:
        self.moments: list[Moment] = []
        self._at = at

    def before(self) -> None:
        """The last chance to die before the next moment."""
        if len(self.moments) == self._at:
            raise Crash

    def happened(self, moment: Moment) -> None:
        """One more moment that nobody can take back."""
        self.moments.append(moment)


class Outside:
    """The world: counts what it was asked and what it did; a known key changes nothing."""

    def __init__(self) -> None:
        self.fuse = Fuse()
        self.asked: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self._keys: set[str] = set()
        self._turned_away = False

    def act(self, tool: str, key: str | None) -> str:
        """The result of one request to change the world; no runner is free at first."""
        if tool == "run_tests" and not self._turned_away:
            self._turned_away = True
            raise ToolFailure("no runner is free")
        self.fuse.before()
        fresh = key is None or key not in self._keys
        self.asked[tool] += 1
        self.done[tool] += fresh
        if key is not None:
            self._keys.add(key)
        self.fuse.happened(Moment(EFFECT, ACTS[tool], self.done[tool], fresh))
        return RESULTS[tool]


class FusedStore(StateStore):
    """A store whose commits are moments; it outlives the worker."""

    fuse = Fuse()

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, if the worker lives that long."""
        self.fuse.before()
        after = super().apply(proposal, context=context)
        words = _words(proposal, context.call_id)
        self.fuse.happened(Moment(COMMIT, words, after.revision))
        return after


class FusedCheckpoints(CheckpointStore):
    """Checkpoints whose saves are moments."""

    fuse = Fuse()

    def save(self, state: RunState) -> str:
        """The name of the checkpoint, if the worker lives that long."""
        self.fuse.before()
        name = super().save(state)
        self.fuse.happened(Moment(SAVE, "save batch", state.revision))
        return name


class ByDriver:
    """A run that a driver of some class drives, on a store that outlives it."""

    kept_in = "store"

    def __init__(self, driver: type[Driver], *, keyed: bool) -> None:
        self.outside = Outside()
        self._store = FusedStore(BEGIN)
        self._driver = driver
        self._keyed = keyed

    def go(self, worker: str, fuse: Fuse, tick: int) -> None:
        """Drive from wherever the run is, until the end or the fuse."""
        self._store.fuse = self.outside.fuse = fuse
        tools = [
            Tool("run_tests", self._act("run_tests"), keyed=self._keyed),
            Tool("deploy", self._act("deploy"), takes=("release",), keyed=self._keyed),
        ]
        self._driver(
            self._store,
            worker,
            model=ScriptedModel([WISH]),
            tools=ToolRegistry(tools),
            clock=LogicalClock(tick),
            lease=LEASE,
        ).run()

    def kept(self) -> RunState:
        """What a recovery finds."""
        return self._store.load()

    def says(self) -> tuple[str, int]:
        """What the state says of the deployment, and how many attempts it knows of."""
        state = self.kept()
        dispatched = [
            event for event in self._store.trace.accepted if event.kind == "tool_dispatched"
        ]
        attempts = sum(event.value.tool == "deploy" for event in dispatched)
        if state.fact("deploy"):
            return "deployed", attempts
        answers = [call.answer for call in recover(state).calls if call.tool == "deploy"]
        return (answers[0] if answers else "nothing"), attempts

    def _act(self, name: str) -> Callable[[Mapping[str, str]], str]:
        return lambda arguments: self.outside.act(name, arguments.get("idempotency_key"))


class ByBatch:
    """The same two calls as nodes of a batch that is saved once, at its end."""

    kept_in = "checkpoints"

    def __init__(self, *, keyed: bool) -> None:
        self.outside = Outside()
        self._checkpoints = FusedCheckpoints()
        self._keyed = keyed

    def go(self, worker: str, fuse: Fuse, tick: int) -> None:
        """Run from the newest checkpoint, until the end or the fuse."""
        self._checkpoints.fuse = self.outside.fuse = fuse
        nodes = [Node(name, self._work(name), max_attempts=3) for name in RESULTS]
        graph = ExecutableGraph(nodes, start=tuple(RESULTS))
        clock = LogicalClock(tick)
        loop = BatchingLoop(graph, self._checkpoints, worker=worker, max_concurrency=2, clock=clock)
        loop.run_all(self._begun)

    def kept(self) -> RunState:
        """What a recovery finds."""
        names = self._checkpoints.names
        return self._checkpoints.load(names[-1]) if names else self._begun

    def says(self) -> tuple[str, int]:
        """What the state says of the deployment, and how many attempts it knows of."""
        node = self.kept().node("deploy")
        if node is None:
            return "nothing", 0
        done = node.status is NodeStatus.COMPLETED
        return ("deployed" if done else str(node.status)), node.attempt

    @property
    def _begun(self) -> RunState:
        return RunState("run-7", goal=BEGIN.goal, status=RunStatus.RUNNING)

    def _work(self, name: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
        def work(values: Mapping[str, str]) -> dict[str, str]:
            self.outside.act(name, f"run-7:{name}" if self._keyed else None)
            return {}

        return work


@dataclass(frozen=True, slots=True)
class Loop:
    """One way to run: its words, and how a fresh run of it is made."""

    label: str
    make: Callable[[bool], ByDriver | ByBatch]
    kept_in: str


LOOPS = {
    "intent first": Loop(
        "intent first (the driver)", lambda keyed: ByDriver(Driver, keyed=keyed), "store"
    ),
    "effect first": Loop(
        "effect first (wrong)", lambda keyed: ByDriver(EffectFirstDriver, keyed=keyed), "store"
    ),
    "once per batch": Loop(
        "saved once per batch (wrong)", lambda keyed: ByBatch(keyed=keyed), "checkpoints"
    ),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kill and what came of it: both workers' moments, and the books beside the world."""

    before: tuple[Moment, ...]
    after: tuple[Moment, ...]
    found: Recovery
    status: str
    asked: int
    deployed: int
    tests: int
    says: str
    attempts: int


@cache
def moments(loop: str, keyed: bool) -> tuple[Moment, ...]:
    """All that happens in a run that nobody kills.

    >>> [moment.words for moment in moments("once per batch", False)]
    ['deploys', 'save batch', 'tests run', 'save batch']
    """
    fuse = Fuse()
    LOOPS[loop].make(keyed).go("w1", fuse, 0)
    return tuple(fuse.moments)


@cache
def outcome(loop: str, keyed: bool, point: int) -> Outcome:
    """What is left when w1 dies before the moment of that number, and w2 goes on.

    >>> twice = outcome("once per batch", False, 1)
    >>> twice.deployed, twice.says, twice.attempts
    (2, 'deployed', 1)
    >>> print(outcome("intent first", False, 8).found)
    run-7 running at revision 7
      c1 run_tests: failed
      c2 deploy: outcome unknown
    """
    run = LOOPS[loop].make(keyed)
    first, second = Fuse(point), Fuse()
    try:
        run.go("w1", first, 0)
    except Crash:
        pass
    found = recover(run.kept())
    run.go("w2", second, LATER)
    says, attempts = run.says()
    state = run.kept()
    why = state.stop_reason or "every node completed"
    asked, done = run.outside.asked["deploy"], run.outside.done
    return Outcome(
        tuple(first.moments),
        tuple(second.moments),
        found,
        f"{state.status}, {why}",
        asked,
        done["deploy"],
        done["run_tests"],
        says,
        attempts,
    )


SHORT = {
    "driver_leased": "lease",
    "driver_superseded": "take over",
    "run_started": "start",
    "turn_started": "turn",
    "model_output_received": "decide",
    "tool_dispatched": "dispatch",
    "tool_result_recorded": "result",
    "tool_failed": "failed",
    "tool_outcome_unknown": "unknown",
    "followup_required": "settle",
    "run_completed": "complete",
    "run_failed": "fail",
}


def _words(proposal: StateProposal, call_id: str | None) -> str:
    about = call_id or getattr(proposal.value, "call_id", "")
    if proposal.kind == "tool_outcome_unknown":
        about = str(proposal.value)
    return f"{SHORT[proposal.kind]} {about}".strip()
