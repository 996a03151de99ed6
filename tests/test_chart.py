"""The status chart against arrows written by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from stories import approved_run

from runstate_lab import (
    RULES,
    SOURCE_TEXT,
    RestartableStore,
    RunState,
    RunStatus,
    Runtime,
    StateProposal,
    StateStore,
)
from runstate_lab.show import Picture, Standing, chart, status_chart

SVG = "{http://www.w3.org/2000/svg}"
ARROWS = {
    "queued": {"running", "cancelled"},
    "running": {"waiting", "completed", "failed", "cancelled"},
    "waiting": {"running", "failed", "cancelled"},
}
STATUSES = ["queued", "running", "waiting", "completed", "failed", "cancelled"]


def groups(picture: Picture, name: str) -> list[ElementTree.Element]:
    """The groups of the drawing that carry a class name."""
    root = ElementTree.fromstring(picture.svg())
    return [one for one in root.iter(f"{SVG}g") if name in one.get("class", "").split()]


def words(group: ElementTree.Element) -> str:
    """All that one group says."""
    return " ".join(text.text or "" for text in group.iter(f"{SVG}text"))


def started() -> tuple[StateStore, Runtime]:
    """A run of the source text that was started."""
    store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    return store, runtime


def test_the_arrows_are_those_of_the_rules_and_no_others() -> None:
    """Nine arrows, as the source text has them."""
    found: dict[str, set[str]] = {}
    for arrow in status_chart().arrows:
        found.setdefault(arrow.tail, set()).add(arrow.head)

    assert ARROWS == found
    assert 9 == len(status_chart().arrows)


def test_a_smaller_table_has_fewer_arrows_and_still_six_statuses() -> None:
    """The chart of the source text has its two arrows."""
    picture = status_chart(rules=SOURCE_TEXT)

    assert [("queued", "running"), ("running", "completed")] == [
        (arrow.tail, arrow.head) for arrow in picture.arrows
    ]
    assert STATUSES == [node.name for node in picture.nodes]


def test_the_chart_of_a_store_shows_the_table_in_force() -> None:
    """A store that may restart has arrows out of its ends; their label stands once."""
    picture = chart(RestartableStore(RunState("run-7")))

    assert 12 == len(picture.arrows)
    shown = [words(one) for one in groups(picture, "rs_arrow") if "run_started" in words(one)]
    assert ["run_started", "run_started"] == shown


def test_a_changed_row_changes_the_chart() -> None:
    """The chart has no second table: a row that leads elsewhere is drawn so."""
    odd = RULES.but("run_completed", come_from=(RunStatus.QUEUED,))

    assert ("queued", "completed") in [
        (arrow.tail, arrow.head) for arrow in status_chart(rules=odd).arrows
    ]


@pytest.mark.parametrize("status", STATUSES)
def test_the_current_status_is_lit_by_border_weight_and_mark(status: str) -> None:
    """One node is lit; its border is thicker, its words bold, and a mark stands there."""
    lit = groups(status_chart(status), "rs_lit")

    assert [f"● {status}"] == [words(one) for one in lit]
    outline, text = lit[0].find(f"{SVG}path"), lit[0].find(f"{SVG}text")
    assert outline is not None and text is not None
    assert "2.6" == outline.get("stroke-width")
    assert "bold" == text.get("font-weight")


def test_without_a_state_nothing_is_lit() -> None:
    """The bare chart shows the machine alone."""
    assert [] == groups(status_chart(), "rs_lit")


def test_a_state_shows_its_revision() -> None:
    """The lit box names the revision of the state that was given."""
    state = RunState("run-7", status=RunStatus.WAITING, revision=12)

    assert "● waiting revision 12" == words(groups(status_chart(state), "rs_lit")[0])


def test_each_label_of_a_trunk_is_shown_once() -> None:
    """Three arrows lead to cancelled, and the drawing says run_cancelled once."""
    shown = [words(one) for one in groups(status_chart(), "rs_arrow")]

    assert 1 == sum("run_cancelled" in one for one in shown)
    assert 3 == status_chart().text().count("run_cancelled")


@pytest.mark.parametrize("start", STATUSES)
@pytest.mark.parametrize("kind", RULES.kinds)
def test_a_refused_attempt_is_dotted_and_names_the_code(start: str, kind: str) -> None:
    """From each status each event can be drawn as turned away."""
    picture = status_chart(start, refused=(kind, "illegal_transition", "user:ana"))
    refused = groups(picture, "rs_refused")

    assert [f"× {kind} by user:ana: illegal_transition"] == [words(one) for one in refused]
    line = refused[0].find(f"{SVG}path")
    assert line is not None
    assert "0.1,5" == line.get("stroke-dasharray")
    assert start == picture.arrows[-1].tail


def test_only_the_refused_arrow_is_dotted() -> None:
    """No legal arrow looks like a refused one, colours aside."""
    legal = groups(status_chart("queued", refused=("run_completed", "illegal_transition")), "rs_legal")

    assert [None] * 9 == [one.find(f"{SVG}path").get("stroke-dasharray") for one in legal]


def test_an_unknown_event_is_drawn_as_going_nowhere() -> None:
    """A kind without a row has no aim, so its arrow returns to its status."""
    arrow = status_chart("running", refused=("run_blessed", "unknown_event")).arrows[-1]

    assert ("running", "running") == (arrow.tail, arrow.head)


def test_a_path_is_numbered_in_the_order_travelled() -> None:
    """Each travelled arrow carries the number of the move."""
    history = ("queued", "running", "completed")
    taken = [one for one in status_chart(history=history).arrows if one.standing is Standing.TAKEN]

    assert ["1. run_started", "2. run_completed"] == [arrow.label for arrow in taken]


def test_statuses_alone_do_not_say_which_event_it_was() -> None:
    """Two events lead from running to waiting; the label leaves it open."""
    arrow = next(
        one for one in status_chart(history=("queued", "running", "waiting")).arrows
        if one.head == "waiting"
    )

    assert "2. approval_requested\nor callback_awaited" == arrow.label


def test_five_kinds_lead_back_to_running_and_two_lines_say_so() -> None:
    """The drawing folds them, the twin names each."""
    picture = status_chart()
    back = "approval_granted, approval_denied, approval_expired, callback_received, callback_expired"

    assert "approval_granted, _denied, _expired callback_received, _expired" in [
        words(one) for one in groups(picture, "rs_arrow")
    ]
    assert f"- waiting to running: {back}" in picture.text().splitlines()


def test_a_folded_label_lies_between_its_arrow_and_the_trunk_below() -> None:
    """It is wider than the gap between the boxes, so it stands clear of both."""
    picture = status_chart()
    back = next(one for one in picture.arrows if (one.tail, one.head) == ("waiting", "running"))
    assert back.label_at is not None
    bottoms = {node.name: node.at[1] + node.size[1] / 2 for node in picture.nodes if node.at and node.size}
    trunk = next(one for one in picture.arrows if one.head == "cancelled").route[-1][1]

    assert bottoms["running"] < back.label_at[1] - 13
    assert back.label_at[1] + 13 < trunk


def test_an_approval_is_a_path_through_waiting() -> None:
    """The kind that was taken is numbered in full, the four others are counted."""
    taken = [words(one) for one in groups(chart(approved_run()), "rs_taken")]

    assert [
        "1. run_started", "2. approval_requested callback_awaited", "3. approval_granted +4 more",
        "4. run_completed",
    ] == sorted(taken)


def test_a_kind_that_moves_no_status_is_no_arrow() -> None:
    """A table of such rows alone gives a chart without arrows."""
    quiet = RULES.only("turn_started", "tool_dispatched", "node_ready", "driver_leased")

    assert () == status_chart(rules=quiet).arrows


def test_a_travelled_arrow_carries_the_label_of_its_trunk() -> None:
    """The drawing shows the numbered label, and not the plain one beside it."""
    picture = status_chart(history=("queued", "running", "failed"))
    shown = [words(one) for one in groups(picture, "rs_arrow") if "run_failed" in words(one)]

    assert ["2. run_failed"] == shown


def test_travelled_arrows_are_drawn_over_legal_ones() -> None:
    """A shared trunk shows the arrow that was travelled."""
    root = ElementTree.fromstring(status_chart(history=("queued", "running", "failed")).svg())
    layers = [one.get("class", "") for one in root.iter(f"{SVG}g")]
    legal = [place for place, name in enumerate(layers) if "rs_legal" in name]
    taken = [place for place, name in enumerate(layers) if "rs_taken" in name]

    assert max(legal) < min(taken)


def test_a_store_is_drawn_with_its_path_and_its_last_refusal() -> None:
    """The scenario of the source text: completed, and the model turned away."""
    store, runtime = started()
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    runtime.accept_runtime(StateProposal("run_completed", "", 2))
    with pytest.raises(PermissionError):
        runtime.accept_model_proposal(StateProposal("run_completed", "", 3))

    assert [
        "queued to running: 1. run_started (taken)",
        "running to completed: 2. run_completed (taken)",
        "completed to completed: run_completed, proposed by model:planner, refused by writer_rejected",
    ] == [arrow.sentence for arrow in chart(store).arrows]


def test_a_refusal_starts_where_the_run_stood() -> None:
    """A refusal made before the run moved on starts from the earlier status."""
    store, runtime = started()
    with pytest.raises(ValueError, match="success criterion"):
        runtime.accept_runtime(StateProposal("run_completed", "", 1))
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    runtime.accept_runtime(StateProposal("run_completed", "", 2))
    refused = chart(store).arrows[-1]

    assert ("running", "completed") == (refused.tail, refused.head)
    assert "success_not_met" == refused.rule


def test_room_for_a_refusal_keeps_two_charts_in_line() -> None:
    """With room kept, a chart has the size of one with a refused arrow."""
    refused = status_chart("running", refused=("run_started", "illegal_transition"))

    assert refused.size == status_chart("running", room=True).size
    assert [node.at for node in refused.nodes] == [
        node.at for node in status_chart("queued", room=True).nodes
    ]


def test_a_run_that_was_running_from_the_start_is_cancelled_from_running() -> None:
    """A trace that begins in the middle of a run is not read as one from queued."""
    store = StateStore(RunState("run-7", status=RunStatus.RUNNING, revision=4))
    Runtime(store).accept_user("ana", StateProposal("run_cancelled", "not today", 4))
    taken = [one for one in chart(store).arrows if one.standing is Standing.TAKEN]

    assert [("running", "cancelled")] == [(arrow.tail, arrow.head) for arrow in taken]


def test_a_change_against_the_rules_is_drawn_and_says_so() -> None:
    """A store that lets a completed run start again cannot hide it."""
    store = RestartableStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    runtime.accept_runtime(StateProposal("run_completed", "", 2))
    runtime.accept_runtime(StateProposal("run_started", "", 3))
    picture = chart(store, rules=SOURCE_TEXT)

    assert "completed to running: 3. run_started, against the rules (taken)" in picture.text()
    assert ["3. run_started, against the rules"] == [
        words(one) for one in groups(picture, "rs_taken") if "against" in words(one)
    ]


@pytest.mark.parametrize("refused", ["run_started", ("run_started",), 7])
def test_a_refusal_that_names_no_code_is_turned_down(refused: object) -> None:
    """The message says which two forms a refused arrow may have."""
    with pytest.raises(ValueError, match="hint: give \\(kind, code\\), or an entry"):
        status_chart("running", refused=refused)
