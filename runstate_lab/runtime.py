"""Floor 4. The doors: the trusted entry that says who is speaking.

Nobody else obtains a context. A model's text reaches the store with the
source and authority of the model's own door, whatever the text claims.

What is not here: the run loop. Source text: only the Runtime can apply.
"""

from __future__ import annotations

from collections.abc import Callable

from runstate_lab.errors import Malformed
from runstate_lab.model import ExecutionContext, Lease, NodeReport, RunState, StateProposal
from runstate_lab.store import StateStore


class Runtime:
    """Nine doors to one store, each with an authority of its own.

    `clock` gives the logical tick and `epoch` is the reign of the driver that
    the runtime acts for; both are stamped on every event.

    >>> store = StateStore(RunState("run-7", success=("build=green",)))
    >>> runtime = Runtime(store)
    >>> print(runtime.accept_runtime(StateProposal("run_started", "", 0)).status)
    running
    >>> runtime.accept_model_proposal(StateProposal("run_completed", "", 1))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_completed as model:planner with authority model, found a row for runtime with authority runtime
    hint: hand the proposal to the door whose authority the rules table names
    """

    def __init__(
        self,
        store: StateStore,
        *,
        clock: Callable[[], int] = lambda: 0,
        epoch: int | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.epoch = epoch
        # The store forgets a context that nobody holds; who spoke will speak again.
        self._spoken: dict[str, ExecutionContext] = {}

    def accept_runtime(self, proposal: StateProposal) -> RunState:
        """The next state after a proposal of the runtime itself.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_runtime(StateProposal("run_completed", "", 0))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.IllegalTransition: run_completed is not legal from queued: asked run_completed, which starts from running, found status queued
        hint: look at the status chart; a terminal status has no arrows out
        """
        return self._through("runtime", "runtime", proposal)

    def accept_tool_result(
        self, tool: str, proposal: StateProposal, *, call_id: str | None = None
    ) -> RunState:
        """The next state after a tool's result, bound to the call it answers.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> started = runtime.accept_runtime(StateProposal("run_started", "", 0))
        >>> result = StateProposal("tool_result_recorded", "build=green", 1)
        >>> runtime.accept_tool_result("get_status", result)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.CallUnknown: no such call was dispatched: asked a result of tool:get_status for call None, found the open calls []
        hint: dispatch the call first and give its call id with the result
        """
        return self._through(_named("tool", tool), "tool_executor", proposal, call_id=call_id)

    def accept_model_proposal(self, proposal: StateProposal, *, model: str = "planner") -> RunState:
        """The next state after a model spoke; its output is all it may write.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_model_proposal(StateProposal("run_started", "", 0)).status
        Traceback (most recent call last):
            ...
        runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_started as model:planner with authority model, found a row for runtime with authority runtime
        hint: hand the proposal to the door whose authority the rules table names
        """
        return self._through(_named("model", model), "model", proposal)

    def accept_approval(self, approver: str, proposal: StateProposal) -> RunState:
        """The next state after an approver's answer to an open request.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_approval("", StateProposal("approval_granted", "a1", 0))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a name for the door approver, found ''
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        return self._through(_named("approver", approver), "approver", proposal)

    def accept_callback(self, service: str, proposal: StateProposal) -> RunState:
        """The next state after a message that an outside service had promised.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_callback("ci", StateProposal("callback_received", "k1", 0))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.IllegalTransition: callback_received is not legal from queued: asked callback_received, which starts from waiting, found status queued
        hint: look at the status chart; a terminal status has no arrows out
        """
        return self._through(_named("service", service), "service", proposal)

    def accept_user(self, user: str, proposal: StateProposal) -> RunState:
        """The next state after a user's wish, which the runtime writes for them.

        A user may propose to cancel; the source stays the user's.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> stopped = runtime.accept_user("ada", StateProposal("run_cancelled", "not today", 0))
        >>> print(stopped.status, stopped.stop_reason, runtime.store.trace[0].event.source)
        cancelled not today user:ada
        """
        return self._through(_named("user", user), "runtime", proposal)

    def accept_driver(self, holder: str, proposal: StateProposal) -> RunState:
        """The next state after somebody asked to drive this run.

        >>> runtime = Runtime(StateStore(RunState("run-7")), clock=lambda: 3)
        >>> runtime.accept_driver("w1", StateProposal("driver_leased", Lease("w1", 1, 3), 0))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.LeaseHeld: no such lease can be had: asked reign 1 for w1 at tick 3, found driver:w1, until tick 3
        hint: wait until the lease runs out, or ask its holder to stop
        """
        return self._through(_named("driver", holder), "driver", proposal)

    def accept_scheduler(self, proposal: StateProposal) -> RunState:
        """The next state after the scheduler judged a node.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_scheduler(StateProposal("node_ready", NodeReport("build"), 0)).nodes
        Traceback (most recent call last):
            ...
        runstate_lab.errors.IllegalTransition: node_ready is not legal from queued: asked node_ready, which starts from running or waiting, found status queued
        hint: look at the status chart; a terminal status has no arrows out
        """
        return self._through("scheduler", "scheduler", proposal)

    def accept_worker(self, worker: str, proposal: StateProposal) -> RunState:
        """The next state after a worker's claim on a node or its report.

        >>> runtime = Runtime(StateStore(RunState("run-7")))
        >>> runtime.accept_worker("w:1", StateProposal("node_finished", NodeReport("build"), 0))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a name for the door worker, found 'w:1'
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        return self._through(_named("worker", worker), "worker", proposal)

    def _through(
        self,
        source: str,
        authority: str,
        proposal: StateProposal,
        *,
        call_id: str | None = None,
    ) -> RunState:
        context = self.store.context(
            source, authority, call_id=call_id, tick=self.clock(), epoch=self.epoch
        )
        self._spoken[source] = context
        return self.store.apply(proposal, context=context)


def _named(role: str, name: str) -> str:
    # A name with a colon in it could pose as another source.
    if type(name) is not str or not name or ":" in name:
        raise Malformed(f"a name for the door {role}", repr(name))
    return f"{role}:{name}"
