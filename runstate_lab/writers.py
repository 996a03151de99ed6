"""Floor 5. Worlds of several writers on one run: tools that report, a run that completes.

What is not here: exploring them (see `orders`).
"""

from __future__ import annotations

from collections.abc import Generator

from runstate_lab.broken import (
    LastWriteWinsStore,
    NaiveStore,
    NoAuthorityStore,
    PendingBlindStore,
    RepeatingStore,
)
from runstate_lab.errors import OutcomeUnknown
from runstate_lab.laws import (
    no_decision_on_old_facts,
    no_event_of_a_stranger,
    no_lost_update,
    no_result_for_a_closed_call,
    no_terminal_return,
    nothing_left_open,
    nothing_pending_at_completion,
)
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.race import Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.variants import RIGHT, Variant, World

RECORDED = "tool_result_recorded"


def reporting(tool: str, result: str, call_id: str, *, steps: int = 3) -> Worker:
    """A worker of some steps: read the state, compute, submit the result.

    >>> work = reporting("run_tests", "tests=green", "c2")(StateStore(run_7_at_revision_4()))
    >>> len(list(work))
    2
    """

    def worker(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        for _ in range(steps - 2):
            yield
        proposal = StateProposal(RECORDED, result, seen.revision)
        yield
        Runtime(store).accept_tool_result(tool, proposal, call_id=call_id)

    return worker


def two_reporters() -> dict[str, Worker]:
    """Two tools of run-7 that finish at the same moment: tests (A) and scan (B).

    >>> list(two_reporters())
    ['A', 'B']
    """
    return {
        "A": reporting("run_tests", "tests=green", "c2"),
        "B": reporting("scan", "scan=clean", "c3"),
    }


def three_reporters() -> dict[str, Worker]:
    """Three tools of run-7, of two steps each: build (A), tests (B) and scan (C).

    >>> len(list(three_reporters()["A"](StateStore(run_7_at_revision_4()))))
    1
    """
    return {
        "A": reporting("get_status", "build=green", "c1", steps=2),
        "B": reporting("run_tests", "tests=green", "c2", steps=2),
        "C": reporting("scan", "scan=clean", "c3", steps=2),
    }


def completing(store: StateStore) -> Generator[object, None, None]:
    """The runtime in two steps: read the state, complete the run.

    >>> list(completing(StateStore(run_7_but_for_its_scan())))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StillPending: something is still pending: asked to complete run-7, found open: ['c3']
    hint: wait for each open call and request, or fail or cancel the run
    """
    seen = store.load()
    yield
    Runtime(store).accept_runtime(StateProposal("run_completed", "", seen.revision))


def reporting_until_heard(store: StateStore) -> Generator[object, None, None]:
    """The scanner, which looks again whether its result is missing when no answer came.

    >>> len(list(reporting_until_heard(StateStore(run_7_but_for_its_scan()))))
    1
    """
    while (seen := store.load()).call("c3") is not None:
        yield
        try:
            _report_scan(store, seen)
        except OutcomeUnknown:
            yield


def reporting_blindly(store: StateStore) -> Generator[object, None, None]:
    """The scanner, which sends its result again when no answer came. WRONG ON PURPOSE.

    >>> len(list(reporting_blindly(StateStore(run_7_but_for_its_scan()))))
    1
    """
    while True:
        seen = store.load()
        yield
        try:
            return _report_scan(store, seen)
        except OutcomeUnknown:
            # WRONG ON PURPOSE: no answer is taken for no effect.
            yield


def reporting_once(store: StateStore) -> Generator[object, None, None]:
    """The scanner, which takes no answer for a good one. WRONG ON PURPOSE.

    >>> len(list(reporting_once(StateStore(run_7_but_for_its_scan()))))
    1
    """
    seen = store.load()
    yield
    # WRONG ON PURPOSE: a lost message is never sent again.
    _report_scan(store, seen)


def model_cancelling(store: StateStore) -> Generator[object, None, None]:
    """The model in two steps: read the state, ask for the run to be cancelled.

    >>> list(model_cancelling(StateStore(run_7_at_revision_4())))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.WriterRejected: event source/authority rejected: asked run_cancelled as model:planner with authority model, found a row for runtime or user:* with authority runtime
    hint: hand the proposal to the door whose authority the rules table names
    """
    seen = store.load()
    yield
    proposal = StateProposal("run_cancelled", "the tests take too long", seen.revision)
    Runtime(store).accept_model_proposal(proposal)


def run_7_at_revision_4() -> RunState:
    """Run-7 after three dispatches: its build, its tests and its scan are running.

    >>> state = run_7_at_revision_4()
    >>> print(state.revision, state.facts, [call.tool for call in state.calls])
    4 () ['get_status', 'run_tests', 'scan']
    """
    success = ("build=green", "tests=green", "scan=clean")
    return _dispatched(RunState("run-7", goal="ship release 7", success=success))


def run_7_but_for_its_scan() -> RunState:
    """Run-7 with build and tests green, which is all its goal asks; its scan still runs.

    >>> state = run_7_but_for_its_scan()
    >>> print(state.revision, *state.facts, state.pending)
    6 build=green tests=green ('c3',)
    """
    success = ("build=green", "tests=green")
    start = _dispatched(RunState("run-7", goal="ship release 7", success=success))
    runtime = Runtime(StateStore(start))
    for tool, result, call_id in (
        ("get_status", "build=green", "c1"),
        ("run_tests", "tests=green", "c2"),
    ):
        proposal = StateProposal(RECORDED, result, runtime.store.load().revision)
        runtime.accept_tool_result(tool, proposal, call_id=call_id)
    return runtime.store.load()


def _dispatched(state: RunState) -> RunState:
    runtime = Runtime(StateStore(state))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    for revision, tool in enumerate(("get_status", "run_tests", "scan"), start=1):
        call = ToolCall(f"c{revision}", tool)
        runtime.accept_runtime(StateProposal("tool_dispatched", call, revision))
    return runtime.store.load()


def _report_scan(store: StateStore, seen: RunState) -> None:
    proposal = StateProposal(RECORDED, "scan=clean", seen.revision)
    Runtime(store).accept_tool_result("scan", proposal, call_id="c3")


TWO_WRITERS = World(
    "two_writers",
    "The tests and the scan of run-7 finish at the same moment; each has a result to add.",
    run_7_at_revision_4,
    {"A": "the test tool", "B": "the scanner"},
    {
        RIGHT: Variant(two_reporters()),
        "naive": Variant(two_reporters(), NaiveStore),
        "last-write-wins": Variant(two_reporters(), LastWriteWinsStore),
        "no authority": Variant(two_reporters(), NoAuthorityStore),
    },
    (no_lost_update, no_decision_on_old_facts),
)

THREE_WRITERS = World(
    "three_writers",
    "Build, tests and scan of run-7 finish at the same moment; each has a result to add.",
    run_7_at_revision_4,
    {"A": "the build server", "B": "the test tool", "C": "the scanner"},
    {
        RIGHT: Variant(three_reporters()),
        "naive": Variant(three_reporters(), NaiveStore),
        "last-write-wins": Variant(three_reporters(), LastWriteWinsStore),
    },
    (no_lost_update, no_decision_on_old_facts),
)

TESTS = reporting("run_tests", "tests=green", "c2", steps=2)

STRANGER = World(
    "stranger",
    "The tests of run-7 are done; the model, who may only propose, would rather cancel the run.",
    run_7_at_revision_4,
    {"A": "the test tool", "B": "the model"},
    {
        RIGHT: Variant({"A": TESTS, "B": model_cancelling}),
        "no authority": Variant({"A": TESTS, "B": model_cancelling}, NoAuthorityStore),
    },
    (no_event_of_a_stranger, no_decision_on_old_facts),
)

EARLY_COMPLETION = World(
    "early_completion",
    "All that the goal of run-7 asks for is there, and the scan still runs.",
    run_7_but_for_its_scan,
    {"A": "the scanner", "B": "the runtime"},
    {
        RIGHT: Variant({"A": reporting("scan", "scan=clean", "c3", steps=2), "B": completing}),
        "pending blind": Variant(
            {"A": reporting("scan", "scan=clean", "c3", steps=2), "B": completing},
            PendingBlindStore,
        ),
    },
    (nothing_pending_at_completion, no_terminal_return, no_decision_on_old_facts),
)

NO_ANSWER = World(
    "no_answer",
    "The scan of run-7 is done; on the way to the store a message may be lost or late.",
    run_7_but_for_its_scan,
    {"A": "the scanner"},
    {
        RIGHT: Variant({"A": reporting_until_heard}),
        "sent blindly": Variant({"A": reporting_blindly}),
        "sent blindly, repeating": Variant({"A": reporting_blindly}, RepeatingStore),
        "sent once": Variant({"A": reporting_once}),
    },
    (no_result_for_a_closed_call, no_lost_update),
    at_end=(nothing_left_open,),
    faults="_~?",
)
