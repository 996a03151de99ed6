"""The store keeps what it says, and only for those it knows."""

from __future__ import annotations

import gc

import pytest

from runstate_lab.errors import ContextRejected, Malformed, RevisionConflict, WriterRejected
from runstate_lab.model import ExecutionContext, RunState, StateProposal
from runstate_lab.rules import SOURCE_TEXT, replay
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

START = StateProposal("run_started", "", 0)


def test_the_scenario_of_the_source_text_prints_its_two_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Completed at revision 3; the model's completion is refused for its authority."""
    store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    state = runtime.accept_runtime(StateProposal("run_completed", "", 2))
    print(state.status, state.revision, [str(fact) for fact in state.facts])
    with pytest.raises(PermissionError) as caught:
        runtime.accept_model_proposal(StateProposal("run_completed", "", state.revision))
    print(caught.value.builtin.__name__, caught.value.reason)

    assert (
        "completed 3 ['build=green']\nPermissionError event source/authority rejected\n"
        == capsys.readouterr().out
    )


def test_a_second_completion_is_refused_in_the_words_of_the_table() -> None:
    """The listing of the source text accepts it; this store does not."""
    store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(START)
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    runtime.accept_runtime(StateProposal("run_completed", "", 2))

    with pytest.raises(ValueError, match="run_completed is not legal from completed"):
        runtime.accept_runtime(StateProposal("run_completed", "", 3))


def test_the_same_result_is_accepted_once_under_the_source_text() -> None:
    """Same source and same value: the fact is there already."""
    runtime = Runtime(StateStore(RunState("run-7"), rules=SOURCE_TEXT))
    runtime.accept_runtime(START)
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))

    with pytest.raises(ValueError, match="same result was accepted before"):
        runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 2))


def test_the_source_text_says_its_own_words_for_a_wrong_status() -> None:
    """Both sentences of the listing are kept as reasons."""
    runtime = Runtime(StateStore(RunState("run-7"), rules=SOURCE_TEXT))
    with pytest.raises(ValueError) as early:
        runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 0))
    runtime.accept_runtime(START)
    with pytest.raises(ValueError) as again:
        runtime.accept_runtime(StateProposal("run_started", "", 1))

    assert "tool result requires running state" == early.value.reason
    assert "run cannot start from running" == again.value.reason


def test_a_context_whose_fields_were_forced_is_not_recognised() -> None:
    """A minted context that was bent to other words is nobody's."""
    store = StateStore(RunState("run-7"))
    bent = store.context("model:planner", "model")
    for name in ("source", "authority"):
        object.__setattr__(bent, name, "runtime")

    with pytest.raises(ContextRejected):
        store.apply(START, context=bent)


def test_a_typed_context_is_refused_even_beside_a_living_minted_one() -> None:
    """Equal is not the same."""
    store = StateStore(RunState("run-7"))
    minted = store.context("runtime", "runtime")

    with pytest.raises(ContextRejected):
        store.apply(START, context=ExecutionContext("runtime", "runtime"))
    assert 1 == store.apply(START, context=minted).revision


def test_minted_contexts_do_not_pile_up() -> None:
    """A context that nobody holds any more is forgotten."""
    store = StateStore(RunState("run-7"))
    for number in range(1000):
        store.context("tool:scan", "tool_executor", call_id=f"c{number}")
    gc.collect()

    assert 0 == len(store._minted)


@pytest.mark.parametrize("proposal", [None, "run_started", ("run_started", "", 0), object()])
def test_only_proposals_are_looked_at(proposal: object) -> None:
    """Something else is refused before anything is kept."""
    store = StateStore(RunState("run-7"))

    with pytest.raises(Malformed):
        store.apply(proposal, context=store.context("runtime", "runtime"))
    assert 0 == len(store.trace)


def test_a_subclass_of_a_proposal_cannot_add_authority() -> None:
    """Whatever else it carries, the context says who speaks."""

    class Forged(StateProposal):
        source = authority = "runtime"

    store = StateStore(RunState("run-7"))
    with pytest.raises(WriterRejected):
        Runtime(store).accept_model_proposal(Forged("run_started", "", 0))
    assert "model" == store.trace[0].event.authority


def test_the_trace_keeps_accepted_and_refused_in_order() -> None:
    """One entry per offer, with the revision that it made or met."""
    store = StateStore(RunState("run-7"))
    runtime = Runtime(store)
    with pytest.raises(RevisionConflict):
        runtime.accept_runtime(StateProposal("run_started", "", 3))
    runtime.accept_runtime(START)
    with pytest.raises(WriterRejected):
        runtime.accept_model_proposal(StateProposal("run_completed", "", 1))

    assert [
        (0, "revision_conflict"),
        (1, None),
        (1, "writer_rejected"),
    ] == [(entry.revision, entry.refusal and entry.refusal.code) for entry in store.trace]
    assert 2 == len(store.trace.refused)
    assert store.load() == replay(RunState("run-7"), store.trace.accepted)


def test_kept_refusals_hold_no_traceback() -> None:
    """A trace must not keep the callers' frames alive."""
    store = StateStore(RunState("run-7"))
    with pytest.raises(RevisionConflict):
        Runtime(store).accept_runtime(StateProposal("run_started", "", 3))

    assert store.trace.refused[0].__traceback__ is None


def test_a_trace_is_read_only() -> None:
    """No item can be set or deleted, and a slice is a copy."""
    store = StateStore(RunState("run-7"))
    Runtime(store).accept_runtime(START)
    with pytest.raises(TypeError):
        store.trace[0] = None
    with pytest.raises(TypeError):
        del store.trace[0]

    assert isinstance(store.trace[:], tuple)


def test_a_store_keeps_a_run_state_and_nothing_else() -> None:
    """A dict that looks like one is refused with what was found."""
    with pytest.raises(Malformed, match="found a dict"):
        StateStore({"run_id": "run-7"})
