"""Machinery. The world of a node board: one real store, a scheduler for each worker.

A press is a small tuple such as ("take", "w1", 2). It goes to the real
scheduler, executor or store; what came of it is read from the trace. The
workers' hands are part of the world and not of the state: a worker does not
know that it was given up, and its result may arrive late.

What is not here: what a press looks like (see `nodepresses`, `nodemarks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from runstate_lab.errors import Refusal
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import (
    Claim,
    NodeReport,
    RunState,
    StateProposal,
)
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock
from runstate_lab.store import StateStore
from runstate_lab.trace import Entry

Press = tuple[Any, ...]
HOLDS = "holds"
FATES = {
    "node_finished": "completed",
    "node_failed": "failed",
    "node_put_back": "put back",
    "node_asked": "asked",
    "node_released": "released",
    "node_given_up": "given up",
    "node_cancelled": "cancelled",
    "run_cancelled": "cancelled",
}
LATE_FATES = ("put back", "released", "given up", "cancelled")
USER = "ada"
PRESSES = (
    "take",
    "finish",
    "fail",
    "late",
    "die",
    "revive",
    "tick",
    "release",
    "approve",
    "deny",
    "cancel",
)


def release_graph() -> ExecutableGraph:
    """The nodes of run-7: build, then tests and scan, then deploy behind Rosa, then announce.

    >>> release_graph().order
    ('build', 'tests', 'scan', 'deploy', 'announce')
    """

    def gives(**writes: str) -> Callable[[Mapping[str, str]], Mapping[str, str]]:
        return lambda values: writes

    return ExecutableGraph(
        [
            Node("build", gives(build="green"), writes=("build",), max_attempts=2),
            Node("tests", gives(notes="tested"), ("build",), ("notes",), max_attempts=3),
            Node("scan", gives(notes="scanned"), ("build",), ("notes",), max_attempts=2),
            Node("deploy", gives(deployed="7"), ("tests", "scan"), ("deployed",), approver="rosa"),
            Node("announce", gives(said="yes"), ("deploy",), ("said",)),
        ],
        start=("build",),
        reducers={"notes": ", ".join},
    )


class NotDone(RuntimeError):
    """What the work of a node raises when the learner lets it fail."""


class _Rigged(ExecutableGraph):
    """The same graph, with works that fail while the learner says so."""

    def __init__(self, graph: ExecutableGraph) -> None:
        # It was checked when it was drawn; only its works are looked at here.
        self.__dict__.update(vars(graph))
        self.failing = ""

    def node(self, name: str) -> Node:
        """The node of that name."""
        node = super().node(name)
        return replace(node, work=self._fail) if self.failing == name else node

    def _fail(self, values: Mapping[str, str]) -> Mapping[str, str]:
        raise NotDone("the work did not succeed")


@dataclass
class Hand:
    """A claim that a worker was given, and what became of it."""

    claim: Claim
    version: int | None
    fate: str = HOLDS
    late: str = ""


@dataclass
class Desk:
    """A worker: its scheduler and executor, and every claim it was ever given."""

    worker: str
    scheduler: Scheduler
    executor: Executor
    alive: bool = True
    hands: list[Hand] = field(default_factory=list)

    def held(self) -> list[Hand]:
        """What it has in hand, as far as it knows and the store says."""
        return [hand for hand in self.hands if hand.fate == HOLDS]

    def old(self) -> list[Hand]:
        """The attempts that it was given up on; their results may still come."""
        return [hand for hand in self.hands if hand.fate in LATE_FATES]


@dataclass(frozen=True)
class Outcome:
    """What a press led to: the entries of the trace that it made, and what was refused."""

    press: Press
    entries: tuple[Entry, ...] = ()
    refusal: Refusal | None = None
    claims: tuple[Claim, ...] = ()


class World:
    """One run of a graph on one kind of scheduler.

    >>> world = World(release_graph(), Scheduler, ("w1", "w2"), lease=5)
    >>> [claim.node for claim in world.press(("take", "w1", 2)).claims]
    ['build']
    >>> world.press(("finish", "w1", "build", 1)).entries[-1].event.kind
    'node_finished'
    """

    def __init__(
        self,
        graph: ExecutableGraph,
        scheduler: type[Scheduler],
        workers: tuple[str, ...],
        *,
        lease: int,
    ) -> None:
        self.clock = LogicalClock()
        self.store = StateStore(RunState("run-7", goal="ship release 7"))
        self.runtime = Runtime(self.store, clock=self.clock)
        self._rigged = _Rigged(graph)
        self.runtime.accept_runtime(StateProposal("run_started", "", 0))
        self.desks = {worker: self._desk(scheduler, worker, lease) for worker in workers}
        self._first = next(iter(self.desks.values()))
        self._first.scheduler.plan()
        self._seen = len(self.store.trace)
        self._does: dict[str, Callable[..., object]] = {
            "take": self._take,
            "finish": self._finish,
            "fail": self._fail,
            "late": self._late,
            "die": partial(self._live, alive=False),
            "revive": partial(self._live, alive=True),
            "tick": self.clock.advance,
            "release": self._first.scheduler.judge,
            "approve": partial(self._answer, "node_approved", "go ahead"),
            "deny": partial(self._answer, "node_denied", "not today"),
            "cancel": self._cancel,
        }

    @property
    def state(self) -> RunState:
        """The newest committed state."""
        return self.store.load()

    @property
    def written(self) -> Mapping[str, str]:
        """What the completed nodes wrote, as the scheduler's graph combines it."""
        return self._first.scheduler.graph.values(self.state)

    def press(self, press: Press) -> Outcome:
        """What a press leads to; nothing is raised, a refusal is part of the answer."""
        name, *given = press
        claims: tuple[Claim, ...] = ()
        refusal: Refusal | None = None
        try:
            done = self._does[name](*given)
        except Refusal as found:
            refusal = found.kept()
        else:
            claims = done if isinstance(done, tuple) else ()
            refusal = done if isinstance(done, Refusal) else None
        entries = tuple(self.store.trace[self._seen :])
        self._seen += len(entries)
        # An approved attempt is claimed again under its number: what became of
        # the old claim is noted before the new one is there.
        if name != "late":
            self._note(entries)
        self._hand_out(entries, claims)
        self._settle(press, refusal)
        return Outcome(press, entries, refusal, claims)

    def _desk(self, scheduler: type[Scheduler], worker: str, lease: int) -> Desk:
        own = scheduler(self._rigged, self.runtime, worker, lease=lease)
        return Desk(worker, own, Executor(own, max_concurrency=1))

    def _take(self, worker: str, limit: int) -> tuple[Claim, ...]:
        return self.desks[worker].scheduler.take_ready(limit=limit)

    def _finish(self, worker: str, node: str, attempt: int) -> Refusal | None:
        desk = self.desks[worker]
        hand = self.hand(worker, node, attempt)
        return desk.executor.run_batch((hand.claim,))[0]

    def _fail(self, worker: str, node: str, attempt: int) -> Refusal | None:
        self._rigged.failing = node
        try:
            return self._finish(worker, node, attempt)
        finally:
            self._rigged.failing = ""

    def _late(self, worker: str, node: str, attempt: int) -> None:
        # The work was done long ago: only its message comes now, past the executor.
        graph = self._rigged
        try:
            writes = graph.accept_writes(node, graph.node(node).work(graph.values(self.state)))
        except Exception:  # A node's work is somebody else's code; it wrote nothing.
            writes = ()
        report = NodeReport(node, attempt, writes)
        proposal = StateProposal("node_finished", report, self.state.revision)
        self.desks[worker].scheduler.runtime.accept_worker(worker, proposal)

    def _live(self, worker: str, *, alive: bool) -> None:
        self.desks[worker].alive = alive

    def _answer(self, kind: str, words: str, approver: str, node: str) -> None:
        report = NodeReport(node, self.state.node(node).attempt, reason=words)
        proposal = StateProposal(kind, report, self.state.revision)
        self.runtime.accept_approval(approver, proposal)

    def _cancel(self, node: str = "") -> None:
        revision = self.state.revision
        if node:
            report = NodeReport(node, self.state.node(node).attempt, reason=f"{USER} wishes so")
            self.runtime.accept_scheduler(StateProposal("node_cancelled", report, revision))
        else:
            self.runtime.accept_user(USER, StateProposal("run_cancelled", "not today", revision))

    def hand(self, worker: str, node: str, attempt: int) -> Hand | None:
        """The newest claim of a worker on an attempt of a node, or None."""
        for hand in reversed(self.desks[worker].hands):
            if (hand.claim.node, hand.claim.attempt) == (node, attempt):
                return hand
        return None

    def _hand_out(self, entries: tuple[Entry, ...], claims: tuple[Claim, ...]) -> None:
        made = {entry.event.value: entry.revision for entry in entries if _claimed(entry)}
        for claim in claims:
            self.desks[claim.worker].hands.append(Hand(claim, made.get(claim)))

    def _note(self, entries: tuple[Entry, ...]) -> None:
        """What became of each claim; a worker's report is about its own only."""
        for entry in entries:
            fate = FATES.get(entry.event.kind)
            for desk in self.desks.values() if entry.accepted and fate else ():
                for hand in desk.held():
                    if _concerns(entry, hand):
                        hand.fate = str(fate)

    def _settle(self, press: Press, refusal: Refusal | None) -> None:
        """What the worker itself learns from the answer to its report."""
        name, *given = press
        if name in ("finish", "fail") and refusal is not None:
            self.hand(*given).fate = f"refused, {refusal.code}"
        if name == "late":
            self.hand(*given).late = "accepted" if refusal is None else refusal.code


def _claimed(entry: Entry) -> bool:
    return entry.accepted and entry.event.kind == "node_claimed"


def _concerns(entry: Entry, hand: Hand) -> bool:
    event, claim = entry.event, hand.claim
    if event.kind == "run_cancelled":
        return True
    named = (event.value.node, event.value.attempt) == (claim.node, claim.attempt)
    return named and event.source in (f"worker:{claim.worker}", "scheduler")
