"""Each law by itself: a race that breaks it, and one beside it that does not."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from runstate_lab.broken import (
    LastWriteWinsStore,
    LiveStateStore,
    NaiveStore,
    RestartableStore,
    SoftenedStore,
)
from runstate_lab.brokenledgers import AlwaysOpenDeskStore, LateLedgerStore
from runstate_lab.errors import Refusal
from runstate_lab.laws import (
    Keyed,
    Law,
    intent_before_effect,
    no_decision_on_old_facts,
    no_double_claim,
    no_effect_twice,
    no_lost_update,
    no_result_for_a_closed_call,
    no_stale_approval,
    no_terminal_return,
    nothing_begins_after_the_end,
    nothing_left_open,
    nothing_pending_at_completion,
    one_approval_one_effect,
    only_the_holder_reports,
)
from runstate_lab.model import (
    Answer,
    Approval,
    CallStatus,
    ExecutionContext,
    NodeState,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.orders import explore, play
from runstate_lab.race import Race
from runstate_lab.rules import RULES, SOURCE_TEXT, reduce
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.worlds import WORLDS, run_7_at_revision_4, two_reporters

RUNNING = RunState("run-7", status=RunStatus.RUNNING)
ASKED = Approval("a1", "deploy release 7?", "rosa")
WAITING = RunState("run-7", status=RunStatus.WAITING, requests=(ASKED,))
GRANTED = RunState("run-7", status=RunStatus.RUNNING, grants=(("c1", "0f3a"),))
Say = object
Do = Callable[[Runtime], RunState]


def after(*acts: Do | Say, on: StateStore) -> Race:
    """A race in which one worker did and said all that, act by act; refusals are passed over."""

    def worker(store: StateStore) -> Generator[object, None, None]:
        runtime = Runtime(store)
        for act in acts:
            if callable(act):
                try:
                    act(runtime)
                except Refusal:
                    pass
                yield
            else:
                yield act

    race = Race({"A": worker}, on)
    for _ in acts:
        race.step("A")
    return race


def runtime(kind: str, value: object = "", at: int | None = None) -> Do:
    """A proposal of the runtime, at the newest revision or at the one given."""
    return lambda doors: doors.accept_runtime(StateProposal(kind, value, revision(doors, at)))


def result(call_id: str, words: str = "build=green", *, failed: bool = False) -> Do:
    """What the tool get_status reports about a call."""
    kind = "tool_failed" if failed else "tool_result_recorded"
    return lambda doors: doors.accept_tool_result(
        "get_status", StateProposal(kind, words, revision(doors)), call_id=call_id
    )


def granted(request: Approval = ASKED) -> Do:
    """Rosa's grant of a request as it was shown."""
    answer = Answer.to(request, "run-7")
    return lambda doors: doors.accept_approval(
        "rosa", StateProposal("approval_granted", answer, revision(doors))
    )


def revision(doors: Runtime, at: int | None = None) -> int:
    """The newest revision, or the one given."""
    return doors.store.load().revision if at is None else at


def dispatched(call_id: str, **more: object) -> Do:
    """The dispatch of a call of get_status."""
    return runtime("tool_dispatched", ToolCall(call_id, "get_status", **more))


ALL = [
    no_lost_update,
    no_decision_on_old_facts,
    no_double_claim,
    nothing_pending_at_completion,
    no_terminal_return,
    nothing_begins_after_the_end,
    one_approval_one_effect,
    no_stale_approval,
    no_effect_twice,
    intent_before_effect,
    no_result_for_a_closed_call,
    only_the_holder_reports,
    nothing_left_open,
]


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.__name__)
def test_a_race_in_which_nothing_happened_breaks_no_law(law: Law) -> None:
    """A law is asked after every move, also before anything was written."""
    assert law(after(on=StateStore(RunState("run-7")))) is True


def test_a_fact_of_the_source_text_can_be_lost_too() -> None:
    """The naive first table has a kind of its own for results."""

    def told(words: str) -> Do:
        return lambda doors: doors.accept_tool_result(
            "get_status", StateProposal("tool_result", words, 0)
        )

    both = told("build=green"), told("tests=green")

    for count, holds in ((1, True), (2, False)):
        store = NaiveStore(RUNNING, rules=SOURCE_TEXT)

        assert holds is no_lost_update(after(*both[:count], on=store))


@pytest.mark.parametrize(("at", "holds"), [(0, True), (99, False)])
def test_the_very_first_event_can_be_decided_on_old_facts(at: int, holds: bool) -> None:
    """What it was decided on is compared with where the race began."""
    race = after(runtime("run_started", at=at), on=LastWriteWinsStore(RunState("run-7")))

    assert holds is no_decision_on_old_facts(race)


def test_a_state_that_is_changed_in_place_is_no_old_fact() -> None:
    """The race keeps its start, whatever the store does to it."""
    race = after(runtime("run_started"), on=LiveStateStore(RunState("run-7")))

    assert (0, 1) == (race.start.revision, race.store.load().revision)
    assert no_decision_on_old_facts(race)


def test_a_second_attempt_is_not_a_double_claim() -> None:
    """A node that was released may be claimed again, under the next number."""
    one = WORLDS["stalled_worker"]
    race = play("ABBB", one.variant().workers, store=one.fresh())

    assert 2 == race.store.load().nodes[0].attempt
    assert no_double_claim(race)
    assert only_the_holder_reports(race)


ENDED = RunStatus.COMPLETED


@pytest.mark.parametrize(
    ("state", "holds"),
    [
        (RunState("run-7", status=ENDED), True),
        (RunState("run-7", status=ENDED, calls=(ToolCall("c1", "deploy"),)), False),
        (
            RunState(
                "run-7", status=ENDED, calls=(ToolCall("c1", "deploy", status=CallStatus.FAILED),)
            ),
            True,
        ),
        (RunState("run-7", status=ENDED, requests=(ASKED,)), False),
        (RunState("run-7", status=ENDED, nodes=(NodeState("build"),)), False),
        (RunState("run-7", status=RunStatus.CANCELLED, calls=(ToolCall("c1", "x"),)), True),
        (WAITING, True),
    ],
)
def test_what_is_pending_at_completion(state: RunState, holds: bool) -> None:
    """A call, a request, a node; a failed call is not pending, a cancelled run is not complete."""
    assert holds is nothing_pending_at_completion(after(on=StateStore(state)))


@pytest.mark.parametrize(
    ("start", "acts", "holds"),
    [
        (RUNNING, [runtime("run_cancelled", "no"), runtime("run_started")], False),
        (RUNNING, [runtime("run_cancelled", "no")], True),
        (RunState("run-7", status=RunStatus.FAILED), [runtime("run_started")], False),
        (RunState("run-7", status=RunStatus.FAILED), [], True),
    ],
)
def test_a_terminal_run_that_starts_again(start: RunState, acts: list[Do], holds: bool) -> None:
    """Whether it ended in this race or before it."""
    assert holds is no_terminal_return(after(*acts, on=RestartableStore(start)))


def test_a_call_that_begins_after_the_end() -> None:
    """A store that lets ended runs start again lets calls begin in them."""
    acts = [runtime("run_cancelled", "no"), runtime("run_started"), dispatched("c1")]

    assert nothing_begins_after_the_end(after(*acts[:2], on=RestartableStore(RUNNING)))
    assert not nothing_begins_after_the_end(after(*acts, on=RestartableStore(RUNNING)))


@pytest.mark.parametrize(
    ("start", "acts", "holds"),
    [
        (GRANTED, ["deployed"], True),
        (GRANTED, ["deployed", "deployed"], False),
        (RUNNING, ["deployed"], False),
        (WAITING, ["deployed", granted()], False),
        (WAITING, [granted(), "deployed"], True),
        (WAITING, [granted(), granted(), "deployed", "deployed again"], False),
    ],
)
def test_effects_are_counted_against_approvals(
    start: RunState, acts: list[Do | Say], holds: bool
) -> None:
    """A request that was granted twice is one approval; an approval later does not heal."""
    verdicts = [
        one_approval_one_effect(after(*acts[:count], on=AlwaysOpenDeskStore(start)))
        for count in range(len(acts) + 1)
    ]

    assert holds is all(verdicts)


@pytest.mark.parametrize(
    ("acts", "holds"),
    [
        ([granted()], True),
        ([granted(Approval("a1", "deploy release 7?", "rosa", seen_revision=3))], False),
        ([granted(), granted()], False),
        ([granted(Approval("a9", "?", "rosa"))], False),
        ([granted(), runtime("approval_requested", Approval("a2", "?", "rosa"))], True),
    ],
)
def test_a_grant_is_compared_with_the_card(acts: list[Do], holds: bool) -> None:
    """Another revision than it showed, a second click, and a card that never was."""
    assert holds is no_stale_approval(after(*acts, on=AlwaysOpenDeskStore(WAITING)))


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (["deployed"], True),
        (["deployed", "announced"], True),
        (["deployed", "deployed"], False),
        ([["deployed"], ["deployed"]], False),
        ([Keyed("deployed", "k"), Keyed("deployed", "k")], True),
        ([Keyed("deployed", "k"), "deployed"], True),
    ],
)
def test_what_was_said_twice(said: list[object], holds: bool) -> None:
    """With an idempotency key, twice is as good as once."""
    assert holds is no_effect_twice(after(*said, on=StateStore(RUNNING)))


def test_an_effect_needs_something_begun() -> None:
    """A call that was under way at the start counts; one that is only proposed does not."""
    for status, holds in ((CallStatus.DISPATCHED, True), (CallStatus.PROPOSED, False)):
        start = RunState(
            "run-7", status=RunStatus.RUNNING, calls=(ToolCall("c1", "x", status=status),)
        )

        assert holds is intent_before_effect(after("deployed", on=StateStore(start)))

    assert intent_before_effect(after(dispatched("c1"), "deployed", on=StateStore(RUNNING)))


def test_a_failed_call_is_closed_and_a_retry_is_open() -> None:
    """The result of the retry is taken; the late one of the attempt before is not."""
    acts = [
        dispatched("c1"),
        result("c1", "no route", failed=True),
        dispatched("c1#2", attempt=2, retry_of="c1"),
        result("c1#2"),
    ]
    race = after(*acts, on=StateStore(RUNNING))

    assert ["build=green"] == [str(fact) for fact in race.store.load().facts]
    assert no_result_for_a_closed_call(race)


class AnyCallStore(SoftenedStore):
    """WRONG ON PURPOSE: takes a result for whatever call it names."""

    softened = {"tool_result_recorded": {"conditions": ()}}


def test_a_retry_closes_the_attempt_before_it() -> None:
    """A late result of the first attempt answers nothing any more."""
    acts = [
        dispatched("c1"),
        result("c1", "no route", failed=True),
        dispatched("c1#2", attempt=2, retry_of="c1"),
        result("c1"),
    ]
    unknown = [dispatched("c1", key="k"), runtime("tool_outcome_unknown", "c1")]
    keyed = [*unknown, dispatched("c1#2", attempt=2, retry_of="c1", key="k"), result("c1")]

    for late in (acts, keyed):
        assert no_result_for_a_closed_call(after(*late[:3], on=AnyCallStore(RUNNING)))
        assert not no_result_for_a_closed_call(after(*late, on=AnyCallStore(RUNNING)))


def test_a_result_after_the_end_answers_no_open_call() -> None:
    """The end of a run closes its calls, also where the store takes the result."""
    acts = [dispatched("c1"), runtime("run_cancelled", "no"), result("c1")]

    assert no_result_for_a_closed_call(after(*acts, on=StateStore(RUNNING)))
    assert not no_result_for_a_closed_call(after(*acts, on=LateLedgerStore(RUNNING)))


def test_who_reports_is_seen_from_the_line() -> None:
    """Both workers are called w1; the letter tells them apart."""
    one = WORLDS["stalled_worker"]
    variant = one.variant("fenced by name")
    race = play("ABBA", variant.workers, store=one.fresh("fenced by name"))

    assert {"worker:w1"} == {
        event.source for event in race.store.trace.accepted if event.authority == "worker"
    }
    assert not only_the_holder_reports(race)


def test_what_is_open_at_the_end() -> None:
    """A call without a result, a request without an answer."""
    assert not nothing_left_open(after(dispatched("c1"), on=StateStore(RUNNING)))
    assert nothing_left_open(after(dispatched("c1"), result("c1"), on=StateStore(RUNNING)))
    assert not nothing_left_open(after(on=StateStore(WAITING)))


class Forgetful(StateStore):
    """A learner's store: it computes from an old page, and keeps no trace of it."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._old = {state.revision: state}

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The page that the proposal was made from, and the proposal."""
        self._state = reduce(self._old[proposal.expected_revision], self._event(proposal, context), RULES)
        self._old[self._state.revision] = self._state
        return self._state


class Yes:
    """A store that answers and keeps nothing; it is no StateStore at all."""

    trace = ()

    def __init__(self, state: RunState) -> None:
        self.state = state

    def load(self) -> RunState:
        """The first state, for ever."""
        return self.state

    def context(self, source: str, authority: str, **more: object) -> ExecutionContext:
        """Whatever was asked for."""
        return ExecutionContext(source, authority, **more)

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """Yes."""
        return self.state


@pytest.mark.parametrize(("store", "lost"), [(Forgetful, 18), (Yes, 20)])
def test_a_store_without_a_trace_gets_no_clean_bill(store: Callable[[RunState], object], lost: int) -> None:
    """What was acknowledged is known from the workers' lines."""
    found = explore(
        two_reporters(),
        store=lambda: store(run_7_at_revision_4()),
        invariants=(no_lost_update, no_decision_on_old_facts),
    )

    assert {"no_lost_update": lost, "no_decision_on_old_facts": 20 if store is Yes else 18} == found.broken
