"""Before a dispatch three questions; after it three outcomes."""

from __future__ import annotations

import pytest

from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure, ToolRefused
from runstate_lab.model import ToolCall
from runstate_lab.tools import Tool, ToolRegistry, ToolSession


def pay(arguments: object) -> str:
    """A tool that pays."""
    return "paid=yes"


def registry(**options: object) -> ToolRegistry:
    """One tool that takes a sum and a permission."""
    tool = Tool("pay", pay, takes=("sum",), permission="money", gated_by="rosa", keyed=True)
    return ToolRegistry([tool, Tool("scan", lambda arguments: "scan=clean")], **options)


@pytest.mark.parametrize(
    ("call", "options", "reason"),
    [
        (ToolCall("c1", "format_disk"), {}, "not on the allow-list"),
        (ToolCall("c1", "scan"), {"allow": ["pay"]}, "not on the allow-list"),
        (ToolCall("c1", "pay"), {}, "the arguments do not fit the schema"),
        (
            ToolCall("c1", "pay", (("sum", "7"), ("to", "me"))),
            {},
            "the arguments do not fit the schema",
        ),
        (
            ToolCall("c1", "pay", (("sum", "7"), ("sum", "8"))),
            {},
            "the arguments do not fit the schema",
        ),
        (ToolCall("c1", "pay", (("sum", "7"),)), {}, "the permission is missing"),
    ],
)
def test_a_call_is_refused_before_it_is_made(
    call: ToolCall, options: dict[str, object], reason: str
) -> None:
    """Allow-list, schema, permission, in this order."""
    with pytest.raises(ToolRefused) as caught:
        registry(**options).admit(call)

    assert reason == caught.value.reason


def test_an_admitted_call_carries_gate_and_key() -> None:
    """The registry says what is gated and keyed; a proposal does not."""
    call = registry(permissions=["money"]).admit(ToolCall("c1", "pay", (("sum", "7"),)))

    assert call.gated
    assert registry().admit(ToolCall("c1", "scan", gated=True, key="mine")).gated is False


def test_an_allow_list_names_known_tools() -> None:
    """A typing error in it is told at once."""
    with pytest.raises(Malformed, match="scann"):
        registry(allow=["scann"])


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ToolFailure("no route"), "failed"),
        (OutcomeUnknown("no answer"), "unknown"),
        (TimeoutError("no answer"), "unknown"),
        (ZeroDivisionError("a bug"), "unknown"),
    ],
)
def test_an_outcome_is_never_an_exception(error: Exception, status: str) -> None:
    """Only a tool's own word makes a failure; everything else is unknown."""

    def act(arguments: object) -> str:
        raise error

    outcome = ToolSession(ToolRegistry([Tool("scan", act)])).execute(ToolCall("c1", "scan"))

    assert (status, "c1") == (outcome.status, outcome.call_id)


def test_middleware_wraps_from_the_outside_in() -> None:
    """The first one named sees the call first and the result last."""
    seen = []

    def layer(name: str) -> object:
        def wrap(call: ToolCall, act: object) -> object:
            def wrapped(arguments: object) -> str:
                seen.append(f"{name} in")
                result = act(arguments)
                seen.append(f"{name} out")
                return result

            return wrapped

        return wrap

    session = ToolSession(registry(), middleware=(layer("log"), layer("limit")))
    session.execute(ToolCall("c1", "scan"))

    assert ["log in", "limit in", "limit out", "log out"] == seen


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "a:b"},
        {"name": None},
        {"gated_by": ""},
        {"gated_by": "a:b"},
        {"takes": "sum"},
        {"act": None},
    ],
)
def test_a_tool_that_no_door_could_name_is_refused_when_it_is_made(
    fields: dict[str, object],
) -> None:
    """Later its effect would have happened, with nobody to write it down."""
    with pytest.raises(Malformed):
        Tool(**{"name": "scan", "act": pay, **fields})


def test_a_name_belongs_to_one_tool() -> None:
    """The second one of a name is not silently preferred."""
    with pytest.raises(Malformed):
        ToolRegistry([Tool("scan", pay), Tool("scan", pay)])


def test_an_exception_that_cannot_say_what_it_is_is_unknown_too() -> None:
    """Its class is told instead."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def act(arguments: object) -> str:
        raise Mute

    outcome = ToolSession(ToolRegistry([Tool("scan", act)])).execute(ToolCall("c1", "scan"))

    assert ("unknown", "Mute") == (outcome.status, outcome.words)
