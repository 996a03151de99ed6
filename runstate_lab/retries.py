"""Floor 5. The world of a late result: a tool that was given up answers after all.

What is not here: the driver that real runs use (see `driver`).
"""

from __future__ import annotations

from collections.abc import Generator

from runstate_lab.broken import NaiveStore, RepeatingStore
from runstate_lab.brokenledgers import BlindRetryStore, LateLedgerStore, SilenceIsFailureStore
from runstate_lab.laws import (
    Keyed,
    intent_before_effect,
    no_effect_twice,
    no_lost_update,
    no_result_for_a_closed_call,
)
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.nouns import changed
from runstate_lab.race import Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.variants import RIGHT, Variant, World

DEPLOY, ANNOUNCE = "c1", "c2"
TOOLS = {DEPLOY: "deploy", ANNOUNCE: "announce"}
EFFECTS = {DEPLOY: Keyed("deployed release 7", "deploy-7"), ANNOUNCE: "announced release 7"}
FACTS = {DEPLOY: "release=7", ANNOUNCE: "announced=7"}


def answering_late(call_id: str) -> Worker:
    """A tool of three steps: the effect, the result, and the result once more to be safe.

    >>> list(answering_late("c2")(StateStore(run_7_with_silent_tools())))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.CallRepeated: the call id was used before: asked a result of tool:announce for call c2, found that call answered and closed
    hint: give each attempt a call id of its own; an answered call is closed
    """

    def tool(store: StateStore) -> Generator[object, None, None]:
        yield EFFECTS[call_id]
        _record(store, call_id, call_id)
        yield
        _record(store, call_id, call_id)

    return tool


def retrying(call_id: str) -> Worker:
    """A runtime that has lost patience: look, commit "unknown", retry, effect, result.

    >>> list(retrying("c1")(StateStore(run_7_with_silent_tools())))[-1].key
    'deploy-7'
    """

    def runtime(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        if seen.call(call_id) is None:
            return
        yield
        seen = _lose(store, seen, call_id)
        yield
        again = changed(seen.call(call_id), call_id=f"{call_id}#2", attempt=2, retry_of=call_id)
        Runtime(store).accept_runtime(StateProposal("tool_dispatched", again, seen.revision))
        yield
        yield EFFECTS[call_id]
        _record(store, call_id, again.call_id)

    return runtime


def giving_up(call_id: str) -> Worker:
    """A runtime without a key: look, commit "unknown", fail the run.

    >>> store = StateStore(run_7_with_silent_tools())
    >>> list(giving_up("c2")(store)), store.load().stop_reason
    ([None, None], 'tool_error')
    """

    def runtime(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        if seen.call(call_id) is None:
            return
        yield
        seen = _lose(store, seen, call_id)
        yield
        Runtime(store).accept_runtime(StateProposal("run_failed", "tool_error", seen.revision))

    return runtime


def run_7_with_silent_tools() -> RunState:
    """Run-7 whose deployment (with a key) and announcement (without) are under way.

    >>> [(call.tool, call.key) for call in run_7_with_silent_tools().calls]
    [('deploy', 'deploy-7'), ('announce', None)]
    """
    runtime = Runtime(StateStore(RunState("run-7", goal="ship release 7")))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    deploy = ToolCall(DEPLOY, "deploy", (("release", "7"),), key="deploy-7")
    for revision, call in enumerate((deploy, ToolCall(ANNOUNCE, "announce")), start=1):
        runtime.accept_runtime(StateProposal("tool_dispatched", call, revision))
    return runtime.store.load()


def _lose(store: StateStore, seen: RunState, call_id: str) -> RunState:
    proposal = StateProposal("tool_outcome_unknown", call_id, seen.revision)
    return Runtime(store).accept_runtime(proposal)


def _record(store: StateStore, call_id: str, attempt: str) -> None:
    # A result does not depend on what others wrote; its call does.
    proposal = StateProposal("tool_result_recorded", FACTS[call_id], store.load().revision)
    Runtime(store).accept_tool_result(TOOLS[call_id], proposal, call_id=attempt)


def _retry(call_id: str) -> dict[str, Worker]:
    return {"A": answering_late(call_id), "B": retrying(call_id)}


def _give_up(call_id: str) -> dict[str, Worker]:
    return {"A": answering_late(call_id), "B": giving_up(call_id)}


LATE_RESULT = World(
    "late_result",
    "A tool is slow; the runtime loses patience, and the result comes after all, twice.",
    run_7_with_silent_tools,
    {"A": "the tool", "B": "the runtime"},
    {
        RIGHT: Variant(_retry(DEPLOY)),
        "no key, given up": Variant(_give_up(ANNOUNCE)),
        "no key, retried": Variant(_retry(ANNOUNCE)),
        "naive": Variant(_retry(DEPLOY), NaiveStore),
        "repeating": Variant(_retry(DEPLOY), RepeatingStore),
        "late ledger": Variant(_give_up(ANNOUNCE), LateLedgerStore),
        "blind retry": Variant(_retry(ANNOUNCE), BlindRetryStore),
        "silence is failure": Variant(_retry(ANNOUNCE), SilenceIsFailureStore),
    },
    (no_result_for_a_closed_call, no_effect_twice, intent_before_effect, no_lost_update),
)
