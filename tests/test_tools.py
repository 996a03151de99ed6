"""Before a dispatch three questions; after it three outcomes."""

from __future__ import annotations

import pytest

from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure, ToolRefused
from runstate_lab.model import ToolCall
from runstate_lab.tools import LONGEST, Tool, ToolRegistry, ToolSession


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


def failing(*, before: Exception | None = None, after: Exception | None = None) -> object:
    """Middleware that raises before it calls the tool, or after the tool answered."""

    def wrap(call: ToolCall, act: object) -> object:
        def wrapped(arguments: object) -> str:
            if before is not None:
                raise before
            answer = act(arguments)
            if after is not None:
                raise after
            return answer

        return wrapped

    return wrap


class Mute(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError


def unwrapping(call: ToolCall, act: object) -> object:
    """Middleware that raises while it wraps."""
    raise OSError("no log")


@pytest.mark.parametrize(
    ("middleware", "status", "words"),
    [
        (failing(before=OSError("no log")), "failed", "the tool was not reached: OSError: no log"),
        (failing(before=Mute()), "failed", "the tool was not reached: Mute"),
        (failing(before=ToolFailure("too many")), "failed", "too many"),
        (failing(before=OutcomeUnknown("no answer")), "unknown", "no answer"),
        (unwrapping, "failed", "the tool was not reached: OSError: no log"),
        (failing(after=OSError("no log")), "unknown", "the tool answered, then OSError: no log"),
        (failing(after=Mute()), "unknown", "the tool answered, then Mute"),
        (failing(after=ToolFailure("full")), "unknown", "the tool answered, then full"),
        (lambda call, act: None, "failed", None),
    ],
)
def test_middleware_that_raises_tells_whether_the_tool_was_reached(
    middleware: object, status: str, words: str | None
) -> None:
    """Before the tool it is a failure; after it nobody can tell."""
    session = ToolSession(registry(), middleware=(middleware,))
    outcome = session.execute(ToolCall("c1", "scan"))

    assert status == outcome.status
    assert words in (None, outcome.words)


def test_a_retry_inside_middleware_may_hide_an_effect() -> None:
    """The first try may have acted, so the failure of the second one is no failure."""
    script = iter([OutcomeUnknown("no answer"), ToolFailure("no route")])

    def act(arguments: object) -> str:
        raise next(script)

    def twice(call: ToolCall, inner: object) -> object:
        def wrapped(arguments: object) -> str:
            try:
                return inner(arguments)
            except OutcomeUnknown:
                return inner(arguments)

        return wrapped

    session = ToolSession(ToolRegistry([Tool("scan", act)]), middleware=(twice,))

    assert "unknown" == session.execute(ToolCall("c1", "scan")).status


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("build=\ud800", "half a character (a lone surrogate) at place 6"),
        ("build=\0", "a NUL character at place 6"),
        ("build=" + "x" * LONGEST, f"{LONGEST + 6} characters, more than {LONGEST}"),
        (None, "a NoneType, not text"),
        (7, "a int, not text"),
        (b"build=green", "a bytes, not text"),
    ],
)
def test_an_answer_that_no_store_could_keep_is_an_unknown_outcome(
    answer: object, found: str
) -> None:
    """The tool may have had its effect; the words say why nobody can read it."""
    outcome = ToolSession(ToolRegistry([Tool("scan", lambda arguments: answer)])).execute(
        ToolCall("c1", "scan")
    )

    assert ("unknown", f"an answer that nobody can keep: {found}") == (
        outcome.status,
        outcome.words,
    )


def test_the_longest_answer_is_kept() -> None:
    """One character fewer than too long."""
    answer = "build=" + "x" * (LONGEST - 6)
    session = ToolSession(ToolRegistry([Tool("scan", lambda arguments: answer)]))

    assert "succeeded" == session.execute(ToolCall("c1", "scan")).status


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ToolFailure("no \ud800 route\0"), "no \\ud800 route\\0"),
        (ToolFailure("   "), "the tool said no more"),
        (ToolFailure("x" * 5_000), "x" * 999 + "…"),
        (OSError("\udfff"), "OSError: \\udfff"),
    ],
)
def test_the_words_of_an_outcome_can_always_be_kept(error: Exception, words: str) -> None:
    """Escaped where they must be, cut where they are endless, never empty."""

    def act(arguments: object) -> str:
        raise error

    outcome = ToolSession(ToolRegistry([Tool("scan", act)])).execute(ToolCall("c1", "scan"))

    assert words == outcome.words


def test_a_tool_that_is_gone_was_not_reached() -> None:
    """A session never raises, also where another registry admitted the call."""
    outcome = ToolSession(ToolRegistry([])).execute(ToolCall("c1", "scan"))

    assert ("failed", True) == (outcome.status, "not on the allow-list" in outcome.words)


@pytest.mark.parametrize(
    ("build", "asked"),
    [
        (lambda: Tool("scan", pay, takes=("sum", "sum")), "each once"),
        (lambda: Tool("scan", pay, takes=("",)), "one of a tool's takes"),
        (lambda: Tool("scan", pay, takes=["sum"]), "a tool's takes"),
        (lambda: Tool("scan", pay, permission=""), "a tool's permission"),
        (lambda: Tool("scan", pay, permission=7), "a tool's permission"),
        (lambda: Tool("scan", pay, keyed="yes"), "a tool's keyed"),
        (lambda: Tool("scan\ud800", pay), "a tool's name"),
        (lambda: Tool("scan", pay, takes=("idempotency_key",), keyed=True), "idempotency_key"),
        (lambda: ToolRegistry(None), "tools with a name each"),
        (lambda: ToolRegistry("scan"), "tools with a name each"),
        (lambda: ToolRegistry([pay]), "tools with a name each"),
        (lambda: ToolRegistry([], allow="scan"), "a registry's allow-list"),
        (lambda: ToolRegistry([], allow=[7]), "a registry's allow-list"),
        (lambda: registry(permissions="money"), "a registry's permissions"),
        (lambda: registry(permissions=None), "a registry's permissions"),
        (lambda: registry().admit("pay"), "a call to admit"),
        (lambda: registry().tool(["pay"]), "a tool's name"),
        (lambda: ToolSession(None), "a session's registry"),
        (lambda: ToolSession(registry(), middleware=pay), "a session's middleware"),
        (lambda: ToolSession(registry(), middleware=(None,)), "a session's middleware"),
        (lambda: ToolSession(registry()).execute("pay"), "a call to execute"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_told_at_once(build: object, asked: str) -> None:
    """What was asked, what was found, and a hint."""
    with pytest.raises(Malformed) as caught:
        build()

    assert asked in caught.value.asked
    assert "\nhint: " in str(caught.value)
