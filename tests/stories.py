"""Two whole runs for pictures and tables: one asks a human, one works through nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from runstate_lab.errors import AnswerForeign, AttemptFenced
from runstate_lab.model import (
    Answer,
    Approval,
    Claim,
    Decision,
    Lease,
    NodeReport,
    NodeState,
    Plan,
    RunState,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore


@dataclass
class Stage:
    """A store, its runtime, and the tick that its clock shows."""

    store: StateStore
    tick: int = 0
    runtime: Runtime = field(init=False)

    def __post_init__(self) -> None:
        self.runtime = Runtime(self.store, clock=lambda: self.tick)

    def offer(self, kind: str, value: Value = "") -> StateProposal:
        """A proposal made from the newest state."""
        return StateProposal(kind, value, self.store.load().revision)


def approved_run() -> StateStore:
    """Driver w1 drives run-7; Mallory's answer is refused, Rosa's is not; release 7 is deployed."""
    stage = Stage(StateStore(RunState("run-7", success=("deployed=7",))))
    runtime, offer = stage.runtime, stage.offer
    call = ToolCall("c1", "deploy", (("release", "7"),), gated=True)
    runtime.accept_driver("w1", offer("driver_leased", Lease("w1", 1, 10)))
    runtime.epoch = 1
    runtime.accept_runtime(offer("run_started"))
    runtime.accept_runtime(offer("turn_started"))
    runtime.accept_model_proposal(offer("model_output_received", Decision("ship it", (call,))))
    asked = Approval("a1", "deploy release 7?", "rosa", "c1", call.digest, 4, expires_at=9)
    runtime.accept_runtime(offer("approval_requested", asked))
    stage.tick = 3
    answer = Answer.to(asked, "run-7")
    with pytest.raises(AnswerForeign):
        runtime.accept_approval("mallory", offer("approval_granted", answer))
    runtime.accept_approval("rosa", offer("approval_granted", answer))
    runtime.accept_runtime(offer("tool_dispatched", call))
    runtime.accept_tool_result("deploy", offer("tool_result_recorded", "deployed=7"), call_id="c1")
    runtime.accept_runtime(offer("run_completed"))
    return stage.store


def graph_run() -> StateStore:
    """Worker w1 is too slow with the build and is fenced; w2 builds, asks Rosa and deploys."""
    stage = Stage(StateStore(RunState("run-7")))
    runtime, offer = stage.runtime, stage.offer
    nodes = (NodeState("build", max_attempts=2), NodeState("deploy", ("build",), approver="rosa"))
    built = (("build", "green"),)
    runtime.accept_runtime(offer("run_started"))
    runtime.accept_runtime(offer("nodes_planned", Plan(nodes)))
    runtime.accept_scheduler(offer("node_ready", NodeReport("build")))
    runtime.accept_worker("w1", offer("node_claimed", Claim("build", "w1", 1, 5)))
    stage.tick = 5
    runtime.accept_scheduler(offer("node_released", NodeReport("build", 1)))
    runtime.accept_worker("w2", offer("node_claimed", Claim("build", "w2", 2, 15)))
    with pytest.raises(AttemptFenced):
        runtime.accept_worker("w1", offer("node_finished", NodeReport("build", 1, built)))
    runtime.accept_worker("w2", offer("node_finished", NodeReport("build", 2, built)))
    runtime.accept_scheduler(offer("node_ready", NodeReport("deploy")))
    runtime.accept_worker("w2", offer("node_claimed", Claim("deploy", "w2", 1, 15)))
    runtime.accept_worker("w2", offer("node_asked", NodeReport("deploy", 1)))
    runtime.accept_approval("rosa", offer("node_approved", NodeReport("deploy", 1)))
    return stage.store
