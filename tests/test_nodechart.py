"""The node chart against arrows written by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from stories import graph_run

from runstate_lab.model import NodeState, NodeStatus, RunState
from runstate_lab.rules import RULES, SOURCE_TEXT
from runstate_lab.show import Picture, Standing, node_chart

SVG = "{http://www.w3.org/2000/svg}"
STATUSES = [
    "pending",
    "ready",
    "running",
    "waiting_approval",
    "blocked",
    "completed",
    "failed",
    "cancelled",
]
ARROWS = """\
pending to ready: node_ready
pending to blocked: node_blocked
pending to cancelled: node_cancelled
ready to running: node_claimed
ready to cancelled: node_cancelled
running to ready: node_put_back, node_released
running to waiting_approval: node_asked
running to completed: node_finished
running to failed: node_failed, node_given_up
running to cancelled: node_cancelled
waiting_approval to running: node_approved
waiting_approval to failed: node_denied
waiting_approval to cancelled: node_cancelled
blocked to cancelled: node_cancelled"""


def shown(picture: Picture, name: str) -> list[str]:
    """What the groups of the drawing with a class name say, in order."""
    root = ElementTree.fromstring(picture.svg())
    found = [one for one in root.iter(f"{SVG}g") if name in one.get("class", "").split()]
    return [" ".join(text.text or "" for text in one.iter(f"{SVG}text")) for one in found]


def node(name: str, status: NodeStatus) -> NodeState:
    """A node of that name in that status."""
    return NodeState(name, status=status)


def test_the_arrows_are_those_of_the_rules_and_no_others() -> None:
    """Fourteen arrows among eight statuses."""
    picture = node_chart()

    assert ARROWS.splitlines() == [arrow.sentence for arrow in picture.arrows]
    assert STATUSES == [one.name for one in picture.nodes]


def test_every_arrow_of_the_kernel_has_a_place() -> None:
    """No arrow is drawn as a straight line across the page."""
    assert [] == [arrow.sentence for arrow in node_chart().arrows if not arrow.route]


def test_five_arrows_into_cancelled_show_their_label_once() -> None:
    """The drawing says node_cancelled once, the twin five times."""
    assert 1 == shown(node_chart(), "rs_arrow").count("node_cancelled")
    assert 5 == node_chart().text().count("node_cancelled")


def test_a_cut_table_has_fewer_arrows_and_still_eight_statuses() -> None:
    """Two rows give two arrows; the title says that rows are missing."""
    picture = node_chart(rules=RULES.only("node_ready", "node_claimed", "run_started"))

    assert ["pending to ready: node_ready", "ready to running: node_claimed"] == [
        arrow.sentence for arrow in picture.arrows
    ]
    assert 8 == len(shown(picture, "rs_node"))
    assert "Node chart of RULES, 3 of 34 rows" == picture.title


def test_a_table_without_nodes_has_no_arrows() -> None:
    """The source text knows no nodes."""
    assert () == node_chart(rules=SOURCE_TEXT).arrows


def test_a_changed_row_changes_the_chart() -> None:
    """An arrow that nobody foresaw is drawn all the same."""
    odd = RULES.but("node_finished", nodes=(NodeStatus.FAILED,))

    assert "failed to completed: node_finished" in node_chart(rules=odd).text()
    assert "node_finished" in shown(node_chart(rules=odd), "rs_arrow")


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_lit(status: str) -> None:
    """A word lights one box and names no node."""
    assert [f"● {status}"] == shown(node_chart(status), "rs_lit")
    assert f"Node chart of RULES: {status} is current." == node_chart(status).sentence


def test_every_status_in_which_a_node_stands_is_lit_and_names_it() -> None:
    """Several nodes may stand in several statuses at once."""
    state = RunState("run-7", nodes=(node("build", NodeStatus.COMPLETED), node("deploy", NodeStatus.READY)))
    picture = node_chart(state)

    assert ["● ready deploy", "● completed build"] == shown(picture, "rs_lit")
    assert "Node chart of RULES: deploy ready; build completed." == picture.sentence


def test_many_names_are_counted_in_the_drawing_and_told_in_the_twin() -> None:
    """A box has room for a few words; nothing is lost for a reader of the text."""
    names = ("build", "tests", "security scan", "announcement")
    picture = node_chart([node(name, NodeStatus.COMPLETED) for name in names])

    assert ["● completed 4 nodes"] == shown(picture, "rs_lit")
    assert "completed (current, build, tests, security scan, announcement)" in picture.text()


def test_a_trace_numbers_the_moves_of_one_node() -> None:
    """The build was claimed twice; the refused report is no move."""
    store = graph_run()
    picture = node_chart(store.load(), node="build", history=store.trace)

    assert [
        "1. node_ready",
        "2, 4. node_claimed",
        "node_put_back\n3. node_released",
        "5. node_finished",
    ] == [arrow.label for arrow in picture.arrows if arrow.standing is Standing.TAKEN]


def test_a_trace_numbers_the_moves_of_all_nodes() -> None:
    """Nine accepted moves of two nodes, numbered through."""
    store = graph_run()
    taken = [
        arrow.label
        for arrow in node_chart(store.load(), history=store.trace).arrows
        if arrow.standing is Standing.TAKEN
    ]

    assert [
        "1, 6. node_ready",
        "2, 4, 7. node_claimed",
        "node_put_back\n3. node_released",
        "8. node_asked",
        "5. node_finished",
        "9. node_approved",
    ] == taken


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: node_chart("finished"), "asked the status 'finished', found only pending, ready"),
        (lambda: node_chart([NodeState("build")], node="tests"), "asked the node 'tests', found only build"),
        (lambda: node_chart(RunState("run-7"), node="tests"), "asked the node 'tests', found only none"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told(ask: object, words: str) -> None:
    """The message names what there is and ends with a hint."""
    with pytest.raises(ValueError, match=words) as refused:
        ask()

    assert "\nhint: " in str(refused.value)
