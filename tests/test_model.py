"""The nouns refuse what is not a value."""

from __future__ import annotations

import dataclasses

import pytest

from runstate_lab.errors import Malformed
from runstate_lab.model import (
    Approval,
    Callback,
    ExecutionContext,
    Fact,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
    ToolCall,
)

NOUNS = (Approval, Callback, ExecutionContext, Fact, RunState, StateEvent, StateProposal, ToolCall)


class SlyText(str):
    """Text that claims to be equal to anything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize("noun", NOUNS)
def test_every_noun_is_frozen(noun: type) -> None:
    """No field can be set afterwards and none can be added."""
    made = object.__new__(noun)
    for name in (dataclasses.fields(noun)[0].name, "brand_new"):
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            setattr(made, name, "x")


def test_a_proposal_carries_three_fields() -> None:
    """Kind, value and expected revision: nothing that could claim authority."""
    names = [field.name for field in dataclasses.fields(StateProposal)]

    assert ["kind", "value", "expected_revision"] == names


@pytest.mark.parametrize("revision", [True, 1.0, "1", None, -1])
def test_a_revision_is_a_whole_number(revision: object) -> None:
    """True is not 1 and 1.0 is not 1."""
    with pytest.raises(Malformed):
        StateProposal("run_started", "", revision)


@pytest.mark.parametrize("value", [None, 3, ["a"], {"a": 1}, SlyText("build=green"), b"x", Fact])
def test_a_value_is_text_or_a_frozen_noun(value: object) -> None:
    """Anything that could change, or answer for itself, is refused."""
    with pytest.raises(Malformed):
        StateProposal("tool_result", value, 1)


@pytest.mark.parametrize("text", ["", "=", "=green", "build=", "build", "looks fine"])
def test_a_fact_reads_key_and_value(text: str) -> None:
    """Text that is not key=value is no fact."""
    with pytest.raises(Malformed):
        Fact.parse(text)


def test_a_fact_keeps_what_follows_the_first_equals_sign() -> None:
    """A value may hold an equals sign; a key may not."""
    assert ("query", "a=b") == (Fact.parse("query=a=b").key, Fact.parse("query=a=b").value)
    with pytest.raises(Malformed):
        Fact("a=b", "c")


@pytest.mark.parametrize("success", ["build=green", ["build=green"], ("green",), (1,)])
def test_success_is_a_tuple_of_facts(success: object) -> None:
    """One text is not a tuple, a list can change, a bare word is no fact."""
    with pytest.raises(Malformed):
        RunState("run-7", success=success)


@pytest.mark.parametrize("status", ["running", "RUNNING", None, 1])
def test_a_status_is_a_run_status(status: object) -> None:
    """A look-alike text is refused."""
    with pytest.raises(Malformed):
        RunState("run-7", status=status)


@pytest.mark.parametrize(
    "arguments", [[("a", "b")], {"a": "b"}, (("a",),), (("a", 1),), (("", "x"),)]
)
def test_arguments_are_pairs_of_text(arguments: object) -> None:
    """Arguments are compared later, so they must not be able to change."""
    with pytest.raises(Malformed):
        ToolCall("c1", "deploy", arguments)


def test_the_newest_fact_of_a_key_decides() -> None:
    """The last one in the tuple is the newest."""
    facts = (Fact("build", "green"), Fact("tests", "red"), Fact("build", "red"))
    state = RunState("run-7", facts=facts)

    assert ("red", None) == (state.fact("build").value, state.fact("deploy"))


def test_three_statuses_are_terminal() -> None:
    """Completed, failed and cancelled, and no other."""
    terminal = [status.value for status in RunStatus if status.terminal]

    assert ["completed", "failed", "cancelled"] == terminal
