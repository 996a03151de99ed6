"""The space-time view: one arrow for each entry, one sentence for each step."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from stories import approved_run, graph_run

from runstate_lab import (
    CallStatus,
    RunState,
    RunStatus,
    Runtime,
    StateProposal,
    StateStore,
    ToolCall,
)
from runstate_lab.show import Move, Picture, Standing, palette, space_time
from runstate_lab.show.dot import width, written
from runstate_lab.show.spacetime import as_move

SVG = "{http://www.w3.org/2000/svg}"
CONFLICT = (
    Move("A", 1, "read", seen=4),
    Move("B", 2, "read", seen=4),
    Move("A", 3, "compute", value="tests=passed"),
    Move("B", 4, "compute", value="scan=clean"),
    Move("A", 5, "submit", seen=4, value="tests=passed", after=5),
    Move("B", 6, "submit", seen=4, value="scan=clean", after=5, code="revision_conflict"),
)


def groups(picture: Picture, name: str) -> list[ElementTree.Element]:
    """The groups of the drawing that carry a class name."""
    root = ElementTree.fromstring(picture.svg())
    return [one for one in root.iter(f"{SVG}g") if name in one.get("class", "").split()]


def words(group: ElementTree.Element) -> str:
    """All that one group says."""
    return " ".join(text.text or "" for text in group.iter(f"{SVG}text"))


def two_writers() -> StateStore:
    """A run at revision 4 with two tools at work; the second one comes late."""
    sent = CallStatus.DISPATCHED
    calls = (ToolCall("c1", "run_tests", status=sent), ToolCall("c2", "scan", status=sent))
    store = StateStore(RunState("run-7", status=RunStatus.RUNNING, calls=calls, revision=4))
    runtime = Runtime(store)
    first = StateProposal("tool_result_recorded", "tests=passed", 4)
    late = StateProposal("tool_result_recorded", "scan=clean", 4)
    runtime.accept_tool_result("run_tests", first, call_id="c1")
    with pytest.raises(RuntimeError, match="revision conflict"):
        runtime.accept_tool_result("scan", late, call_id="c2")
    with pytest.raises(PermissionError):
        runtime.accept_model_proposal(StateProposal("run_completed", "", 5))
    return store


def test_there_is_one_arrow_for_each_entry_of_the_trace() -> None:
    """Three entries, three arrows in the model and in the drawing."""
    store = two_writers()
    picture = space_time(store.trace)

    assert len(store.trace) == len(picture.arrows) == len(groups(picture, "rs_arrow"))


def test_there_is_one_line_of_text_for_each_entry() -> None:
    """The twin tells the whole trace, with revisions and codes."""
    assert [
        "Space-time view.",
        "Lanes: tool:run_tests, tool:scan, store (revision 4), model:planner.",
        "1. tool:run_tests proposes tool_result_recorded tests=passed, expects revision 4:"
        " committed as revision 5.",
        "2. tool:scan proposes tool_result_recorded scan=clean, expects revision 4:"
        " refused by revision_conflict, the store stays at revision 5.",
        "3. model:planner proposes run_completed, expects revision 5:"
        " refused by writer_rejected, the store stays at revision 5.",
    ] == space_time(two_writers().trace).text().splitlines()


def test_a_refused_proposal_is_dashed_and_names_its_code() -> None:
    """Only the refused arrow is dashed, and its code stands at it."""
    picture = space_time(CONFLICT)
    dashes = {
        words(one): one.find(f"{SVG}path").get("stroke-dasharray")
        for one in groups(picture, "rs_arrow")
    }

    assert {
        "reads revision 4": None,
        "tests=passed, expects revision 4": None,
        "scan=clean, expects revision 4 × revision_conflict": "7,4",
    } == dashes


def test_a_commit_is_a_circle_with_the_new_revision() -> None:
    """One commit, one circle, and no circle for what was refused."""
    assert ["5"] == [words(one) for one in groups(space_time(CONFLICT), "rs_commit")]


def test_reads_come_from_the_store_and_proposals_go_to_it() -> None:
    """The direction of an arrow is the direction of what is known."""
    ends = [(arrow.tail, arrow.head) for arrow in space_time(CONFLICT).arrows]

    assert [
        ("store, step 1", "A, step 1"),
        ("store, step 2", "B, step 2"),
        ("A, step 5", "store, step 5"),
        ("B, step 6", "store, step 6"),
    ] == ends


def test_a_computation_is_no_arrow() -> None:
    """Nobody hears of a computation; it is a mark on its own lane."""
    assert 4 == len(space_time(CONFLICT).arrows)
    assert 6 == len(space_time(CONFLICT).steps)


def test_rows_may_be_mappings_or_plain_values() -> None:
    """Three ways of writing a move give one picture."""
    mappings = [vars(move) for move in CONFLICT]
    values = [tuple(vars(move).values()) for move in CONFLICT]

    assert space_time(CONFLICT) == space_time(mappings) == space_time(values)


def test_a_silent_loss_is_said() -> None:
    """An accepted move with a remark shows it, in words."""
    lost = (*CONFLICT[:5], Move("B", 6, "submit", 4, "scan=clean", "lost update", 5))
    picture = space_time(lost)

    assert "committed as revision 5, lost update." in picture.text()
    assert "! lost update" in words(groups(picture, "rs_arrow")[-1])
    assert Standing.TAKEN is picture.arrows[-1].standing


def test_lanes_stand_in_the_order_asked_for() -> None:
    """The lanes, the store included, follow the order that is given."""
    picture = space_time(CONFLICT, lanes=["B", "A", "store"])

    assert ["B", "A", "store"] == [lane.name for lane in picture.lanes]
    assert sorted(lane.x for lane in picture.lanes) == [lane.x for lane in picture.lanes]


def test_a_lane_without_moves_may_stand_there() -> None:
    """An actor who did nothing can still be shown."""
    picture = space_time(CONFLICT[:1], lanes=["A", "store", "B"])

    assert ["A", "store", "B"] == [lane.name for lane in picture.lanes]


def test_an_actor_without_a_lane_is_told() -> None:
    """Leaving out an actor who moved is a mistake, not a filter."""
    with pytest.raises(ValueError, match="found moves of B\nhint: name every actor"):
        space_time(CONFLICT, lanes=["A"])


def test_later_steps_are_lower() -> None:
    """Time runs downwards."""
    heights = [step.y for step in space_time(CONFLICT).steps]

    assert sorted(set(heights)) == heights


def test_values_of_other_types_are_told_in_words() -> None:
    """A dispatched call is named by its tool and its call id."""
    store = StateStore(RunState("run-7", status=RunStatus.RUNNING))
    Runtime(store).accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "run_tests"), 0))

    assert "tool_dispatched run_tests as c1" == as_move(store.trace[0], 1).value


def test_nothing_offered_gives_the_store_alone() -> None:
    """An empty trace is a picture too."""
    picture = space_time(StateStore(RunState("run-7")).trace)

    assert "Space-time view.\nLanes: store." == picture.text()
    assert picture.svg().startswith("<svg")
    assert 0 == len(picture.table())


def test_a_long_value_is_shortened_in_the_drawing_only() -> None:
    """The drawing ends it with dots, the twin says all of it."""
    value = "note=" + "very " * 30 + "long"
    picture = space_time([Move("A", 1, "submit", 0, value, after=1)])

    assert "…" in words(groups(picture, "rs_arrow")[0])
    assert value in picture.text()


def test_each_source_of_a_trace_has_a_lane() -> None:
    """Driver, runtime, model, both approvers and the tool stand around the store."""
    assert [
        "driver:w1", "runtime", "model:planner", "store", "approver:mallory", "approver:rosa",
        "tool:deploy",
    ] == [lane.name for lane in space_time(approved_run().trace).lanes]


def test_many_lanes_leave_room_for_words_beside_the_store() -> None:
    """Outer lanes stand close together, and every label lies in one of the two wide gaps."""
    picture = space_time(graph_run().trace)
    places = [lane.x for lane in picture.lanes]
    gaps = [round(right - left) for left, right in zip(places, places[1:], strict=False)]
    near, store, far = places[2:5]

    assert [92, 92, 192, 192, 92] == gaps
    for arrow in picture.arrows:
        assert arrow.label_at is not None
        half = width(written(arrow), palette.SMALL, bold=True) / 2
        assert near < arrow.label_at[0] - half, arrow.label
        assert arrow.label_at[0] + half < far, arrow.label
        assert not arrow.label_at[0] - half < store < arrow.label_at[0] + half, arrow.label


def test_the_head_of_a_narrow_lane_has_two_lines() -> None:
    """Role and name stand under each other where one line is too long."""
    heads = {lane.name: lane.label for lane in space_time(approved_run().trace).lanes}

    assert "model:\nplanner" == heads["model:planner"]
    assert "tool:deploy" == heads["tool:deploy"]


def test_a_late_report_is_refused_in_its_own_lane() -> None:
    """The first worker's report comes after the second one's claim."""
    picture = space_time(graph_run().trace)
    refused = [arrow for arrow in picture.arrows if arrow.standing is Standing.REFUSED]

    assert [("worker:w1", "attempt_fenced")] == [(arrow.by, arrow.rule) for arrow in refused]
