"""Floor 4. Who may run which node now: readiness, claims, reports, fencing.

The scheduler judges nodes and claims them; the executor does the work and
commits each result by itself. A claim carries its attempt, so a worker that
was given up cannot overwrite the one after it. What is not here: the graph's
shape (see `graph`). Source text: node state transition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runstate_lab.errors import (
    IllegalTransition,
    KeyContested,
    Malformed,
    Refusal,
    RevisionConflict,
)
from runstate_lab.graph import ExecutableGraph
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


class Scheduler:
    """Judges which nodes are ready or blocked, and claims them for a worker.

    Several schedulers may look at one run: each claim is compare-and-swap, so
    a node goes to one of them.

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
        state = self.runtime.store.load()
        if all(state.node(name) is not None for name in self.graph.order):
            return state
        proposal = StateProposal("nodes_planned", self.graph.plan, state.revision)
        return self.runtime.accept_runtime(proposal)

    def judge(self) -> RunState:
        """The state once every node that can be ready, blocked or released is.

        >>> from runstate_lab.store import StateStore
        >>> graph = ExecutableGraph([], start=())
        >>> Scheduler(graph, Runtime(StateStore(RunState("r"))), "w").judge().revision
        0
        """
        while True:
            state = self.runtime.store.load()
            verdict = next(filter(None, (self._verdict(state, one) for one in state.nodes)), None)
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
        runstate_lab.errors.Malformed: malformed value: asked a limit of nodes to take, found 0
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if type(limit) is not int or limit < 1:
            raise Malformed("a limit of nodes to take", repr(limit))
        claims: list[Claim] = []
        state = self.judge()
        for name in self.graph.order:
            node = state.node(name)
            if len(claims) < limit and node is not None and node.status is NodeStatus.READY:
                state = self._claim(node, state, claims)
        return tuple(claims)

    def _claim(self, node: NodeState, state: RunState, claims: list[Claim]) -> RunState:
        until = self.runtime.clock() + self._lease
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

    def _verdict(self, state: RunState, node: NodeState) -> tuple[str, Value] | None:
        tick = self.runtime.clock()
        if node.status is NodeStatus.RUNNING and node.until is not None and tick >= node.until:
            if node.attempt < node.max_attempts:
                words = f"the lease of {node.worker} ran out"
                return "node_released", NodeReport(node.name, node.attempt, reason=words)
            words = f"the lease of {node.worker} ran out, no attempt is left"
            return "node_given_up", NodeReport(node.name, node.attempt, reason=words)
        if node.status is not NodeStatus.PENDING:
            return None
        needs = [one for one in state.nodes if one.name in node.needs]
        failed = [one for one in needs if one.status in FAILING]
        if failed:
            words = f"{failed[0].name} is {failed[0].status}"
            return "node_blocked", NodeReport(node.name, reason=words)
        if all(one.status is NodeStatus.COMPLETED for one in needs):
            return "node_ready", NodeReport(node.name)
        return None


class Executor:
    """Does the work of claimed nodes and commits every result by itself.

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
    ) -> None:
        self.scheduler = scheduler
        self._limit = max_concurrency
        # In what order results arrive is the world's choice; a test chooses.
        self._arrival = arrival

    def run_all(self) -> RunState:
        """The state once no node can be taken any more.

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
        return tuple(self._commit(claim, self._work(claim)) for claim in self._arrival(batch))

    def _work(self, claim: Claim) -> tuple[str, NodeReport]:
        graph = self.scheduler.graph
        node = graph.node(claim.node)
        state = self.scheduler.runtime.store.load()
        try:
            writes = graph.accept_writes(claim.node, node.work(graph.values(state)))
        except KeyContested as refusal:
            words = f"{refusal.reason}: {refusal.asked}"
            return "node_failed", NodeReport(claim.node, claim.attempt, reason=words)
        except Exception as error:  # A node's work is somebody else's code.
            words = f"{type(error).__name__}: {error}"
            kind = "node_put_back" if claim.attempt < node.max_attempts else "node_failed"
            return kind, NodeReport(claim.node, claim.attempt, reason=words)
        return "node_finished", NodeReport(claim.node, claim.attempt, writes)

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
