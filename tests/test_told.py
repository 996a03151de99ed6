"""Every value of a proposal, in a few words."""

from __future__ import annotations

import pytest

from runstate_lab.model import (
    VALUES,
    Answer,
    Approval,
    Callback,
    Claim,
    Decision,
    Lease,
    NodeReport,
    NodeState,
    Plan,
    ToolCall,
    Value,
)
from runstate_lab.show.told import told

CASES: tuple[tuple[Value, str], ...] = (
    ("goal_reached", "goal_reached"),
    (ToolCall("c1", "scan"), "scan as c1"),
    (ToolCall("c2", "scan", attempt=2, retry_of="c1"), "scan as c2, attempt 2"),
    (Decision("look"), "look"),
    (Decision("", (ToolCall("c1", "scan"), ToolCall("c2", "deploy"))), "wants scan as c1, deploy as c2"),
    (Decision("all green", final=True), "all green; done"),
    (Approval("a1", "deploy?", "rosa"), "a1 of rosa"),
    (Callback("k1", "ci"), "k1 of ci"),
    (Answer("a1", "run-7"), "to a1"),
    (Lease("w1", 2, 20), "reign 2 until tick 20"),
    (Plan((NodeState("build"), NodeState("tests"))), "build, tests"),
    (Claim("build", "w1", 1, 9), "build, attempt 1 until tick 9"),
    (NodeReport("build"), "build"),
    (NodeReport("build", 1, (("build", "green"),)), "build, attempt 1: build=green"),
    (NodeReport("build", 2, reason="no disk"), "build, attempt 2: no disk"),
)


@pytest.mark.parametrize(("value", "words"), CASES, ids=[words for _, words in CASES])
def test_a_value_is_told_in_words(value: Value, words: str) -> None:
    """No brackets, no class names: words for a table cell."""
    assert words == told(value)


def test_every_type_of_value_has_words_of_its_own() -> None:
    """No type of value is left to its repr."""
    assert set(VALUES) == {type(value) for value, _ in CASES}
