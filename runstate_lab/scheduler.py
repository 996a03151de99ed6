"""Floor 4. Who may run which node now: readiness, claims, reports, fencing.

The scheduler judges nodes and claims them; the executor does the work and
commits each result by itself. A claim carries its attempt, so a worker that
was given up cannot overwrite the one after it. What is not here: the graph's
shape (see `graph`). Source text: node state transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from runstate_lab.errors import (
    AttemptFenced,
    IllegalTransition,
    KeyContested,
    Malformed,
    Refusal,
    RevisionConflict,
    words_of,
)
from runstate_lab.graph import ExecutableGraph, count
from runstate_lab.model import (
    Claim,
    NodeReport,
    NodeState,
    NodeStatus,
    RunState,
    StateProposal,
    Value,
)
from runstate_lab.nodewise import FAILING
from runstate_lab.runtime import Runtime
from runstate_lab.shapes import whole
from runstate_lab.tools import Check, a, able, door, fits, maybe, readable, shown


SCHEDULER: dict[str, Check] = {
    "graph": able("node", "values", "accept_writes"),
    "runtime": a(Runtime),
    "worker": door,
    "lease": count,
}


class Scheduler:
    """Judges which nodes are ready or blocked, and claims them for a worker.

    Several schedulers may look at one run: each claim is compare-and-swap, so
    a node goes to one of them. A node whose approver agreed is ready once
    more, for whoever claims it first; its attempt is the approved one.

    >>> from runstate_lab.graph import Node
    >>> from runstate_lab.store import StateStore
    >>> graph = ExecutableGraph([Node("build", lambda values: {})], start=("build",))
    >>> runtime = Runtime(StateStore(RunState("run-7")))
    >>> started = runtime.accept_runtime(StateProposal("run_started", "", 0))
    >>> first, second = Scheduler(graph, runtime, "w1"), Scheduler(graph, runtime, "w2")
    >>> planned = first.plan()
    >>> [claim.worker for claim in first.take_ready(limit=5)], second.take_ready(limit=5)
    (['w1'], ())
    """

    def __init__(
        self, graph: ExecutableGraph, runtime: Runtime, worker: str, *, lease: int = 10
    ) -> None:
        given = {"graph": graph, "runtime": runtime, "worker": worker, "lease": lease}
        fits("a scheduler's", SCHEDULER, given)
        self.graph = graph
        self.runtime = runtime
        self.worker = worker
        self._lease = lease

    def plan(self) -> RunState:
        """The state with the graph's nodes in it; a second time changes nothing.

        >>> from runstate_lab.store import StateStore
        >>> Scheduler(ExecutableGraph([], start=()), Runtime(StateStore(RunState("r"))), "w").plan().nodes
        ()
        """
        while True:
            state = self.runtime.store.load()
            if {node.name for node in state.nodes}.issuperset(self.graph.order):
                return state
            proposal = StateProposal("nodes_planned", self.graph.plan, state.revision)
            try:
                return self.runtime.accept_runtime(proposal)
            except RevisionConflict:
                # Another worker may just have planned the same graph.
                continue

    def judge(self) -> RunState:
        """The state once every node that can be ready, blocked or released is.

        >>> from runstate_lab.store import StateStore
        >>> graph = ExecutableGraph([], start=())
        >>> Scheduler(graph, Runtime(StateStore(RunState("r"))), "w").judge().revision
        0
        """
        while True:
            state = self.runtime.store.load()
            nodes = {node.name: node for node in state.nodes}
            verdicts = (self._verdict(nodes, one) for one in state.nodes)
            verdict = next(filter(None, verdicts), None)
            if verdict is None:
                return state
            try:
                self.runtime.accept_scheduler(StateProposal(*verdict, state.revision))
            except RevisionConflict:
                continue

    def take_ready(self, *, limit: int) -> tuple[Claim, ...]:
        """Claims on at most so many ready nodes, in the graph's order.

        >>> from runstate_lab.store import StateStore
        >>> graph = ExecutableGraph([], start=())
        >>> Scheduler(graph, Runtime(StateStore(RunState("r"))), "w").take_ready(limit=0)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a limit of nodes to take as a whole number from 1, found 0
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        count("a limit of nodes to take", limit)
        claims: list[Claim] = []
        state = self.judge()
        ready = _ready(state)
        for name in self.graph.order:
            if len(claims) < limit and name in ready:
                state = self._claim(ready[name], state, claims)
                ready = _ready(state)
        return tuple(claims)

    def now(self) -> int:
        """The tick that the runtime's clock shows, which must be one.

        >>> from runstate_lab.store import StateStore
        >>> runtime = Runtime(StateStore(RunState("r")), clock=lambda: 1.5)
        >>> Scheduler(ExecutableGraph([], start=()), runtime, "w").now()
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a tick of the clock, found 1.5
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        able("__call__")("the runtime's clock", self.runtime.clock)
        tick = self.runtime.clock()
        whole("a tick of the clock", tick)
        return tick

    def _claim(self, node: NodeState, state: RunState, claims: list[Claim]) -> RunState:
        until = self.now() + self._lease
        claim = Claim(node.name, self.worker, node.attempt + 1, until)
        try:
            proposal = StateProposal("node_claimed", claim, state.revision)
            state = self.runtime.accept_worker(self.worker, proposal)
            claims.append(claim)
            return state
        except (RevisionConflict, IllegalTransition):
            # Somebody else was quicker; what they left is looked at afresh.
            fresh = self.runtime.store.load()
            same = fresh.node(node.name)
            if same is not None and same.status is NodeStatus.READY:
                return self._claim(same, fresh, claims)
            return fresh

    def _verdict(self, nodes: Mapping[str, NodeState], node: NodeState) -> tuple[str, Value] | None:
        if node.may_begin:
            words = f"{node.approver} agreed"
            return "node_released", NodeReport(node.name, node.attempt, reason=words)
        if node.until is not None and self.now() >= node.until:
            return self._overdue(node)
        if node.status is not NodeStatus.PENDING:
            return None
        needs = [nodes[name] for name in node.needs if name in nodes]
        failed = [one for one in needs if one.status in FAILING]
        if failed:
            words = f"{failed[0].name} is {failed[0].status}"
            return "node_blocked", NodeReport(node.name, reason=words)
        done = [one for one in needs if one.status is NodeStatus.COMPLETED]
        if len(done) == len(node.needs):
            return "node_ready", NodeReport(node.name)
        return None

    def _overdue(self, node: NodeState) -> tuple[str, Value]:
        if node.status is NodeStatus.WAITING_APPROVAL:
            words = f"no answer of {node.approver} until tick {node.until}"
            return "node_cancelled", NodeReport(node.name, node.attempt, reason=words)
        words = f"the lease of {node.worker} ran out"
        if node.attempt < node.max_attempts:
            return "node_released", NodeReport(node.name, node.attempt, reason=words)
        words += ", no attempt is left"
        return "node_given_up", NodeReport(node.name, node.attempt, reason=words)


EXECUTOR: dict[str, Check] = {
    "scheduler": a(Scheduler),
    "max_concurrency": count,
    "arrival": able("__call__"),
    "patience": maybe(count),
}


class Executor:
    """Does the work of claimed nodes and commits every result by itself.

    It asks before the work of a node with an approver, and `patience` is how
    many ticks the question is open; without one it never expires.

    >>> from runstate_lab.graph import Node
    >>> from runstate_lab.store import StateStore
    >>> build = Node("build", lambda values: {"build": "green"}, writes=("build",))
    >>> graph = ExecutableGraph([build], start=("build",))
    >>> runtime = Runtime(StateStore(RunState("run-7")))
    >>> started = runtime.accept_runtime(StateProposal("run_started", "", 0))
    >>> executor = Executor(Scheduler(graph, runtime, "w1"), max_concurrency=2)
    >>> graph.values(executor.run_all())
    {'build': 'green'}
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        max_concurrency: int,
        arrival: Callable[[Sequence[Claim]], Sequence[Claim]] = tuple,
        patience: int | None = None,
    ) -> None:
        given = (scheduler, max_concurrency, arrival, patience)
        fits("an executor's", EXECUTOR, dict(zip(EXECUTOR, given, strict=True)))
        self.scheduler = scheduler
        self._limit = max_concurrency
        self._patience = patience
        # In what order results arrive is the world's choice; a test chooses.
        self._arrival = arrival

    def run_all(self) -> RunState:
        """The state once no node can be taken any more.

        Nodes may still wait for an approval; called again after the answer, it
        goes on with them.

        >>> from runstate_lab.store import StateStore
        >>> scheduler = Scheduler(ExecutableGraph([], start=()), Runtime(StateStore(RunState("r"))), "w")
        >>> Executor(scheduler, max_concurrency=1).run_all().nodes
        ()
        """
        self.scheduler.plan()
        while batch := self.scheduler.take_ready(limit=self._limit):
            self.run_batch(batch)
        return self.scheduler.judge()

    def run_batch(self, batch: Sequence[Claim]) -> tuple[Refusal | None, ...]:
        """For each claim, in the order of arrival, the refusal of its report or None.

        >>> from runstate_lab.store import StateStore
        >>> scheduler = Scheduler(ExecutableGraph([], start=()), Runtime(StateStore(RunState("r"))), "w")
        >>> Executor(scheduler, max_concurrency=1).run_batch(())
        ()
        """
        return tuple([self._carry_out(claim) for claim in _claims(self._arrival(_claims(batch)))])

    def _carry_out(self, claim: Claim) -> Refusal | None:
        state = self.scheduler.runtime.store.load()
        node = state.node(claim.node)
        if node is None or _claimed(node) != (claim.worker, claim.attempt, claim.until):
            # Somebody else may be at it: what is not held is not begun.
            asked = f"to work on attempt {claim.attempt} of {claim.node} by {claim.worker}"
            return AttemptFenced(asked, "no such node" if node is None else _told(node))
        if node.approver is not None and not node.approved:
            return self._commit(claim, ("node_asked", self._question(claim)))
        return self._commit(claim, self._work(claim, state, node))

    def _question(self, claim: Claim) -> NodeReport:
        until = None if self._patience is None else self.scheduler.now() + self._patience
        words = f"{claim.node}, attempt {claim.attempt}?"
        return NodeReport(claim.node, claim.attempt, reason=words, until=until)

    def _work(self, claim: Claim, state: RunState, node: NodeState) -> tuple[str, NodeReport]:
        graph = self.scheduler.graph
        try:
            done = graph.node(claim.node).work(graph.values(state))
            writes = graph.accept_writes(claim.node, done)
            return "node_finished", NodeReport(claim.node, claim.attempt, writes)
        except KeyContested as refusal:
            kind, words = "node_failed", f"{refusal.reason}: {refusal.asked}"
        except (Exception, SystemExit) as error:  # A node's work is somebody else's code.
            kind = "node_put_back" if claim.attempt < node.max_attempts else "node_failed"
            words = words_of(error)
        return kind, NodeReport(claim.node, claim.attempt, reason=readable(words))

    def _commit(self, claim: Claim, report: tuple[str, NodeReport]) -> Refusal | None:
        runtime = self.scheduler.runtime
        while True:
            proposal = StateProposal(*report, runtime.store.load().revision)
            try:
                runtime.accept_worker(claim.worker, proposal)
                return None
            except RevisionConflict:
                # A report does not depend on what others wrote; its fence does.
                continue
            except Refusal as refusal:
                return refusal.kept()


def _claims(batch: object) -> tuple[Claim, ...]:
    if isinstance(batch, str) or not isinstance(batch, Iterable):
        raise Malformed("a batch of claims", shown(batch))
    found = tuple(batch)
    for one in found:
        a(Claim)("each claim of a batch", one)
    return found


def _ready(state: RunState) -> dict[str, NodeState]:
    return {node.name: node for node in state.nodes if node.status is NodeStatus.READY}


def _claimed(node: NodeState) -> tuple[str | None, int, int | None]:
    return node.worker, node.attempt, node.until


def _told(node: NodeState) -> str:
    until = "" if node.until is None else f" until tick {node.until}"
    return f"attempt {node.attempt} by {node.worker}, {node.status}{until}"
