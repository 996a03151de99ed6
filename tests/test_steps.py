"""The steps of two writers: exact counts on every store, and an oracle written by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from runstate_lab.live import steps
from runstate_lab.live.stepgraph import step_graph

BOTH_CURRENT = ("AAABBB", "BBBAAA")
VERDICTS = {
    "naive": "1 of 2 results lost",
    "last-write-wins": "1 decided on old facts",
    "compare-and-swap": "1 conflict, none lost",
    "compare-and-swap + authority": "1 conflict, none lost",
}


def short(order: str, *, store: str, cast: str = "scanner") -> str:
    """The verdict on an order, as the browser gets it."""
    graph = step_graph(tuple(steps.STORES), tuple(steps.CASTS))
    return graph["states"][graph["nodes"][cast][store][order][1]]["short"]


def test_six_steps_of_two_writers_have_twenty_orders() -> None:
    """The orders are all different, and each keeps three steps of both."""
    orders = steps.every_order()

    assert 20 == len(orders) == len(set(orders))
    assert {"A": 3, "B": 3} == Counter(orders[7])


@pytest.mark.parametrize("store", steps.STORES)
def test_eighteen_of_twenty_orders_have_the_verdict_of_the_store(store: str) -> None:
    """Every store says its own word in the same eighteen orders, and none in two."""
    verdicts = {order: short(order, store=store) for order in steps.every_order()}

    assert BOTH_CURRENT == tuple(order for order in verdicts if verdicts[order] == "nothing lost")
    assert {VERDICTS[store]: 18, "nothing lost": 2} == Counter(verdicts.values())


def test_the_naive_store_loses_what_was_committed_first() -> None:
    """The first of two acknowledged facts is gone, without any refusal."""
    play = steps.run("ABABAB", store="naive", cast="scanner")

    assert ["scan=clean"] == list(map(str, play.state.facts))
    assert ["tests=green"] == play.lost()
    assert () == play.store.trace.refused


def test_a_conflict_is_an_answer_and_changes_nothing() -> None:
    """Compare-and-swap keeps the first commit and tells the second writer."""
    play = steps.run("ABABAB", store="compare-and-swap + authority", cast="scanner")

    assert ["tests=green"] == list(map(str, play.state.facts))
    assert ["revision_conflict"] == [refusal.code for refusal in play.store.trace.refused]
    assert 5 == play.state.revision


@pytest.mark.parametrize(
    ("store", "verdict", "status"),
    [
        ("compare-and-swap", "1 accepted from the wrong writer", "cancelled"),
        ("compare-and-swap + authority", "1 refused: not its writer", "running"),
    ],
)
def test_a_right_revision_in_the_wrong_hands_needs_an_authority_check(
    store: str, verdict: str, status: str
) -> None:
    """The model names the newest revision; only the second store turns it away."""
    play = steps.run("AAABBB", store=store, cast="model")

    assert verdict == short("AAABBB", store=store, cast="model")
    assert status == str(play.state.status)


def test_the_graph_holds_every_beginning_of_every_order() -> None:
    """The browser finds each of the 69 beginnings on each store, and asks for nothing more."""
    graph = step_graph(tuple(steps.STORES), ("scanner",))

    assert set(steps.STORES) == set(graph["nodes"]["scanner"])
    assert {69} == {len(nodes) for nodes in graph["nodes"]["scanner"].values()}


def test_each_press_is_one_column_with_one_actor() -> None:
    """An order draws as many columns as it has letters, by the actors it names."""
    play = steps.run("ABBA", store="naive", cast="scanner")

    assert [(1, "A", "reads"), (2, "B", "reads"), (3, "B", "computes"), (4, "A", "computes")] == [
        (column.number, column.actor, column.action) for column in play.columns
    ]
