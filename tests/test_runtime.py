"""The doors: each one speaks with its own authority, whatever it carries."""

from __future__ import annotations

import pytest

from runstate_lab.errors import AnswerForeign, Malformed, WriterRejected
from runstate_lab.model import Answer, Approval, Callback, RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore


def running() -> Runtime:
    """A runtime whose run-7 was started."""
    runtime = Runtime(StateStore(RunState("run-7", success=("build=green",))))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    return runtime


def test_each_door_stamps_its_source_and_authority() -> None:
    """Nine doors, nine stamps; the call id travels with the tool's."""
    runtime = running()
    offer = StateProposal("run_paused", "", 1)
    doors = [
        lambda: runtime.accept_runtime(offer),
        lambda: runtime.accept_tool_result("scan", offer, call_id="c3"),
        lambda: runtime.accept_model_proposal(offer, model="critic"),
        lambda: runtime.accept_approval("rosa", offer),
        lambda: runtime.accept_callback("ci", offer),
        lambda: runtime.accept_user("ada", offer),
        lambda: runtime.accept_driver("w1", offer),
        lambda: runtime.accept_scheduler(offer),
        lambda: runtime.accept_worker("w2", offer),
    ]
    for door in doors:
        with pytest.raises(ValueError):
            door()
    stamps = [
        (entry.event.source, entry.event.authority, entry.event.call_id)
        for entry in runtime.store.trace[1:]
    ]

    assert [
        ("runtime", "runtime", None),
        ("tool:scan", "tool_executor", "c3"),
        ("model:critic", "model", None),
        ("approver:rosa", "approver", None),
        ("service:ci", "service", None),
        ("user:ada", "runtime", None),
        ("driver:w1", "driver", None),
        ("scheduler", "scheduler", None),
        ("worker:w2", "worker", None),
    ] == stamps


@pytest.mark.parametrize("name", ["", "a:b", ":", None, 7])
def test_a_name_cannot_pose_as_another_source(name: object) -> None:
    """A colon in a name would make a second source of it."""
    with pytest.raises(Malformed):
        running().accept_tool_result(name, StateProposal("tool_result_recorded", "a=b", 1))


def test_an_approval_is_answered_by_the_one_who_was_asked() -> None:
    """Another approver is refused; the right one lets the run go on."""
    runtime = running()
    request = Approval("a1", "deploy release 7?", "rosa")
    waiting = runtime.accept_runtime(StateProposal("approval_requested", request, 1))
    with pytest.raises(AnswerForeign):
        runtime.accept_approval("mallory", StateProposal("approval_granted", Answer("a1", "run-7"), 2))
    resumed = runtime.accept_approval("rosa", StateProposal("approval_granted", Answer("a1", "run-7"), 2))

    assert ("waiting", "pending_approval") == (waiting.status, waiting.waiting_for)
    assert ("running", None, ()) == (resumed.status, resumed.waiting_for, resumed.requests)


def test_a_callback_is_answered_by_its_service() -> None:
    """Resuming without waiting is refused, and so is a foreign service."""
    runtime = running()
    with pytest.raises(ValueError, match="callback_received is not legal from running"):
        runtime.accept_callback("ci", StateProposal("callback_received", Answer("k1", "run-7"), 1))
    runtime.accept_runtime(StateProposal("callback_awaited", Callback("k1", "ci"), 1))
    with pytest.raises(AnswerForeign):
        runtime.accept_callback("mail", StateProposal("callback_received", Answer("k1", "run-7"), 2))

    assert (
        "running"
        == runtime.accept_callback("ci", StateProposal("callback_received", Answer("k1", "run-7"), 2)).status
    )


def test_a_user_cancels_and_completes_nothing() -> None:
    """A wish to complete is refused; a wish to cancel is written for them."""
    runtime = running()
    with pytest.raises(WriterRejected):
        runtime.accept_user("ada", StateProposal("run_completed", "", 1))
    stopped = runtime.accept_user("ada", StateProposal("run_cancelled", "wrong release", 1))

    assert ("cancelled", "wrong release") == (stopped.status, stopped.stop_reason)


def test_every_event_carries_the_tick_and_the_reign() -> None:
    """Stamped by the runtime, not claimed by a proposal."""
    runtime = Runtime(StateStore(RunState("run-7")), clock=lambda: 7, epoch=3)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    event = runtime.store.trace[0].event

    assert (7, 3) == (event.tick, event.epoch)


def test_a_whole_run_goes_through_the_doors() -> None:
    """Started, dispatched, recorded, approved, completed: revision 6."""
    runtime = running()
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "get_status"), 1))
    runtime.accept_tool_result(
        "get_status", StateProposal("tool_result_recorded", "build=green", 2), call_id="c1"
    )
    request = Approval("a1", "deploy release 7?", "rosa")
    runtime.accept_runtime(StateProposal("approval_requested", request, 3))
    runtime.accept_approval("rosa", StateProposal("approval_granted", Answer("a1", "run-7"), 4))
    state = runtime.accept_runtime(StateProposal("run_completed", "", 5))

    assert ("completed", 6, 1, "goal_reached") == (
        state.status,
        state.revision,
        state.step,
        state.stop_reason,
    )
