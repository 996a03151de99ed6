"""Floor 4. The loop that saves once per batch: WRONG ON PURPOSE.

The source text's minimal loop takes a batch of ready nodes, runs it, reduces
every result and saves one checkpoint. Judging, claiming and reducing are the
kernel's own here; only the saving is late. A crash between the first effect
of a batch and its save forgets the claims and the results alike, so the next
worker does every effect of the batch again and cannot know that it repeats.

What is not here: anything to build on. `Executor` on a durable store commits
each claim before its effect and each result after it (see `scheduler`).
"""

from __future__ import annotations

from collections.abc import Callable

from runstate_lab.checkpoint import CheckpointStore
from runstate_lab.graph import ExecutableGraph
from runstate_lab.model import RunState
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.store import StateStore


class BatchingLoop:
    """Runs a graph in batches and saves a checkpoint after each of them.

    >>> from runstate_lab.graph import Node
    >>> from runstate_lab.model import RunStatus
    >>> def crash(values):
    ...     mails.append("sent")
    ...     raise KeyboardInterrupt
    >>> mails, checkpoints = [], CheckpointStore()
    >>> graph = ExecutableGraph([Node("announce", crash)], start=("announce",))
    >>> loop = BatchingLoop(graph, checkpoints, worker="w1", max_concurrency=2)
    >>> for attempt in ("the first", "after the crash"):
    ...     try:
    ...         state = loop.run_all(RunState("run-7", status=RunStatus.RUNNING))
    ...     except KeyboardInterrupt:
    ...         print(attempt, checkpoints.names, mails)
    the first () ['sent']
    after the crash () ['sent', 'sent']
    """

    def __init__(
        self,
        graph: ExecutableGraph,
        checkpoints: CheckpointStore,
        *,
        worker: str,
        max_concurrency: int,
        clock: Callable[[], int] = lambda: 0,
    ) -> None:
        self.graph = graph
        self.checkpoints = checkpoints
        self._worker = worker
        self._limit = max_concurrency
        self._clock = clock

    def run_all(self, begun: RunState) -> RunState:
        """The state once no node can be taken; goes on from the newest checkpoint.

        >>> from runstate_lab.model import RunStatus
        >>> loop = BatchingLoop(
        ...     ExecutableGraph([], start=()), CheckpointStore(), worker="w1", max_concurrency=2
        ... )
        >>> loop.run_all(RunState("run-7", status=RunStatus.RUNNING)).revision
        0
        """
        names = self.checkpoints.names
        store = StateStore(self.checkpoints.load(names[-1]) if names else begun)
        scheduler = Scheduler(self.graph, Runtime(store, clock=self._clock), self._worker)
        executor = Executor(scheduler, max_concurrency=self._limit)
        scheduler.plan()
        while batch := scheduler.take_ready(limit=self._limit):
            executor.run_batch(batch)
            # WRONG ON PURPOSE: until here only memory knows of the whole batch.
            self.checkpoints.save(store.load())
        return scheduler.judge()
