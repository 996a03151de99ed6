"""Differences between states: patched onto the older one they give the newer one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from stories import approved_run, graph_run

from runstate_lab.live.faults import Askew
from runstate_lab.live.runs.diffs import Change, diff, names, patch
from runstate_lab.live.runs.replays import frames_of
from runstate_lab.model import (
    CallStatus,
    Fact,
    Lease,
    NodeState,
    RunState,
    RunStatus,
    ToolCall,
)
from runstate_lab.store import StateStore

FEW = some.sampled_from(["build", "tests", "scan"])
FACTS = some.lists(some.builds(Fact, FEW, some.sampled_from(["green", "red"])), max_size=5)
CALLS = some.lists(
    some.builds(ToolCall, FEW, some.just("deploy"), status=some.sampled_from(CallStatus)),
    max_size=4,
)
STATES = some.builds(
    RunState,
    some.just("run-7"),
    status=some.sampled_from(RunStatus),
    step=some.integers(0, 2),
    facts=FACTS.map(tuple),
    calls=CALLS.map(tuple),
    settled=some.lists(FEW, max_size=4).map(tuple),
    grants=some.lists(some.tuples(FEW, FEW), max_size=3).map(tuple),
    driver=some.none() | some.just(Lease("w1", 1, 9)),
)
GREEN, RED = Fact("build", "green"), Fact("build", "red")
CALL = ToolCall("c1", "deploy")


@pytest.mark.parametrize("store", [approved_run(), graph_run()], ids=["approved", "graph"])
def test_each_frame_is_patched_onto_the_one_before(store: StateStore) -> None:
    """Replaying the changes of every frame gives every state of the run."""
    for frame in frames_of(store):
        assert frame.after == patch(frame.before, frame.changes)
        assert frame.before == patch(frame.after, diff(frame.after, frame.before))


@given(STATES, STATES)
def test_any_two_states_can_be_compared_and_patched(before: RunState, after: RunState) -> None:
    """Whatever was added, removed, changed, moved or doubled, the patch is exact."""

    assert after == patch(before, diff(before, after))
    assert () == diff(after, replace(after))


@given(STATES, STATES)
def test_only_what_differs_is_listed(before: RunState, after: RunState) -> None:
    """A field is named exactly if it differs."""
    told = {change.field for change in diff(before, after)}

    assert {name for name in vars(before) if getattr(before, name) != getattr(after, name)} == told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            {"status": RunStatus.QUEUED},
            {"status": RunStatus.RUNNING},
            ["status: queued → running"],
        ),
        ({}, {"facts": (GREEN,)}, ["facts build: added build=green"]),
        (
            {"facts": (RED,)},
            {"facts": (RED, GREEN)},
            ["facts build#2: added build=green"],
        ),
        (
            {"facts": (RED, GREEN)},
            {"facts": (RED,)},
            ["facts build#2: removed build=green"],
        ),
        (
            {"calls": (CALL,)},
            {"calls": (replace(CALL, status=CallStatus.DISPATCHED),)},
            ["calls c1: status proposed → dispatched"],
        ),
        ({"calls": (CALL,)}, {}, ["calls c1: removed deploy() proposed"]),
        (
            {},
            {"driver": Lease("w1", 1, 9)},
            ["driver: none → w1, reign 1 until tick 9"],
        ),
        (
            {"nodes": (NodeState("build"), NodeState("deploy"))},
            {
                "nodes": (
                    NodeState("build", worker="w1", attempt=1),
                    NodeState("deploy"),
                )
            },
            ["nodes build: attempt 0 → 1; worker none → w1"],
        ),
        (
            {"settled": ("c1", "c2")},
            {"settled": ("c2", "c3")},
            ["settled c1: removed c1", "settled c3: added c3"],
        ),
    ],
)
def test_a_difference_in_words(
    before: dict[str, object], after: dict[str, object], told: list[str]
) -> None:
    """Old and new are both named, and of an element only the parts that changed."""
    start = RunState("run-7")

    assert told == [str(one) for one in diff(replace(start, **before), replace(start, **after))]


@pytest.mark.parametrize(
    ("work", "found"),
    [
        (lambda: diff(RunState("run-7"), "run-8"), "found a str"),
        (
            lambda: patch(RunState("run-7"), [Change("mood", "set", 1, 2)]),
            "no such field",
        ),
        (lambda: patch(RunState("run-7"), [Change("step", "set", 1, 2)]), "found 0"),
        (
            lambda: patch(
                RunState("run-7"),
                diff(RunState("run-7", facts=(RED,)), RunState("run-7")),
            ),
            "none",
        ),
        (
            lambda: patch(RunState("run-7"), [Change("facts", "changed", RED, GREEN, "build")]),
            "none",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(work: object, found: str) -> None:
    """Changes are about one state, and say so when they meet another."""
    with pytest.raises(Askew, match=found):
        work()  # type: ignore[operator]


def test_the_elements_of_a_tuple_have_names_of_their_own() -> None:
    """Equal names are counted, so that each element can be pointed at."""

    assert ("build", "build#2", "c1", "c1#2") == names((RED, GREEN, CALL, "c1"))
