"""The status chart that asks first: expectations, their score, and what is not shown before."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from runstate_lab.live.charts.statechart import StateChart
from runstate_lab.errors import Refusal
from runstate_lab.live.charts.moves import chart_graph
from runstate_lab.live.live import Askew, Sealed
from runstate_lab.model import (
    Answer,
    Approval,
    Callback,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.rules import RULES, SOURCE_TEXT, Rules, arrows
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

KINDS = sorted({kind for _, _, kind in arrows(RULES)})
GREEN = ("run_started", "tool_dispatched", "tool_result_recorded")
CALLED = ("run_started", "callback_awaited")
ROADS = {
    "queued": (),
    "running": GREEN,
    "waiting": ("run_started", "approval_requested"),
    "completed": (*GREEN, "run_completed"),
    "failed": ("run_started", "run_failed"),
    "cancelled": ("run_cancelled",),
}
TODAY = RULES.only("run_started", "tool_dispatched", "approval_requested", "run_completed", "run_failed")
FRESH = {"rs-names": 1, "rs-node": 5, "rs-node rs-lit": 1}
ASKED = "approval_requested is proposed at running. Which status do you expect, or is it refused?"


def asking(*moves: str) -> StateChart:
    """A chart that asks first, after some moves that were not asked about."""
    return StateChart(*moves, expect=True)


def drawn(chart: StateChart) -> dict[str, int]:
    """How many groups of each class the stored picture has."""
    coded = chart.picture().partition("base64,")[2].partition('"')[0]
    root = ElementTree.fromstring(base64.b64decode(coded))
    groups = [node.get("class", "") for node in root.iter() if node.tag.endswith("}g")]
    return {group: groups.count(group) for group in groups}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", RunStatus)
def test_each_status_is_the_right_expectation_exactly_once(start: RunStatus, kind: str) -> None:
    """Of six statuses and a refusal, what the rules say counts and nothing else."""
    legal = {end for begin, end, made in arrows(RULES) if (begin, made) == (start, kind)}
    right = {str(end) for end in legal} or {"refused", str(start)}
    held = set()
    for guess in (*RunStatus, "refused"):
        chart = asking(*(CALLED if (start, kind[:8]) == ("waiting", "callback") else ROADS[start]))
        chart.expect(guess)
        chart.move(kind)
        if chart.score() == "1 of 1 as expected.":
            held.add(str(guess))

    assert right == held


def test_the_event_may_come_first_or_the_expectation() -> None:
    """Both orders end in the same chart and the same words."""
    one, two = asking("run_started"), asking("run_started")
    asked = one.move("approval_requested")
    answered = one.expect("waiting")
    hoped = two.expect("waiting")

    assert ASKED == asked
    assert "You expect waiting. Propose an event." == hoped
    assert answered == two.move("approval_requested")
    assert "approval_requested at running: you expected waiting; it is waiting." == answered
    assert one.svg() == two.svg()


def test_a_refusal_is_told_with_its_rule() -> None:
    """What was expected and what refused it stand in one sentence."""
    chart = asking("run_started", "waiting")
    chart.move("run_completed")

    assert (
        "run_completed at waiting: you expected completed; it was refused by illegal_transition; "
        "run_completed is not legal from waiting." == chart.expect("completed")
    )


def test_the_score_runs_with_the_attempts_shown() -> None:
    """Three of five as expected; one step earlier it was three of four."""
    chart = asking()
    for guess, kind in (
        ("running", "run_started"),
        ("refused", "run_started"),
        ("completed", "approval_requested"),
        ("waiting", "run_completed"),
        ("failed", "approval_granted"),
    ):
        chart.expect(guess)
        chart.move(kind)

    assert "3 of 5 as expected." == chart.score()
    assert chart.sentence().endswith("3 of 5 as expected.")
    assert ["running", "refused", "completed", "waiting", "failed"] == list(
        chart.table()["expected"]
    )
    assert ["yes", "yes", "no", "yes", "no"] == list(chart.table()["as expected"])
    chart.back()
    assert "3 of 4 as expected." == chart.score()


def test_nothing_of_the_answer_is_drawn_before_the_expectation() -> None:
    """Proposed, not expected: no arrow leaves the status, and no refusal is drawn."""
    for kind in ("approval_requested", "approval_granted"):
        chart = asking("run_started")
        before = drawn(chart)
        chart.move(kind)

        assert {**FRESH, "rs-way rs-taken": 1} == before == drawn(chart)
        assert [1, "running"] == [len(chart.table()), chart.status]


def test_what_was_found_is_drawn() -> None:
    """The arrow that was taken, the refused one, and a frame round the expected status."""
    chart = asking(*GREEN)
    chart.move("run_completed")
    chart.expect("failed")
    assert {**FRESH, "rs-way rs-taken": 2, "rs-hopes": 1} == drawn(chart)
    chart.move("run_started")
    chart.expect("running")

    assert 1 == drawn(chart)["rs-attempt"]
    assert "run_started: illegal_transition" in chart.svg()


def test_an_arrow_has_its_name_when_all_its_events_were_found() -> None:
    """Two kinds lead from running to waiting; one found does not name the other."""
    chart = asking("run_started", "approval_requested", "approval_granted")
    assert "callback_awaited" not in chart.svg()
    chart.expect("waiting")
    chart.move("callback_awaited")

    assert "callback_awaited" in chart.svg()


def test_arrows_that_share_an_end_share_its_name() -> None:
    """Cancelled from queued and from running: the name stands there once."""
    for road in (("run_cancelled",), ("run_started", "run_cancelled")):
        assert 1 == asking(*road).svg().count(">run_cancelled<")


def test_back_and_forward_leave_the_question_and_give_the_same_bytes() -> None:
    """A question that was not answered is dropped; the attempts stay."""
    chart = asking("run_started")
    chart.expect("waiting")
    chart.move("approval_requested")
    before = (chart.svg(), chart.csv())
    chart.move("run_failed")
    chart.back()
    chart.forward()

    assert before == (chart.svg(), chart.csv())
    assert ("", "") == (chart.proposed, chart.expected)


def test_another_way_after_going_back_drops_the_later_expectations() -> None:
    """Expectations stay beside their attempts."""
    chart = asking()
    for guess, kind in (("running", "run_started"), ("waiting", "run_failed")):
        chart.expect(guess)
        chart.move(kind)
    chart.back()
    chart.expect("cancelled")
    chart.move("run_cancelled")

    assert (["run_started", "run_cancelled"], ["running", "cancelled"]) == (
        chart.tries,
        chart.expectations,
    )
    assert "2 of 2 as expected." == chart.score()


def test_start_again_forgets_questions_and_score() -> None:
    """As fresh as a new chart that asks first."""
    chart = asking()
    chart.expect("running")
    chart.move("run_started")
    chart.move("run_failed")

    assert "The run is queued. Propose an event." == chart.reset()
    assert "Nothing was expected yet." == chart.score()
    assert asking().svg() == chart.svg()


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda: StateChart().expect("running"), "a chart that answers at once"),
        (lambda: asking().expect("paused"), "neither a status nor a refusal"),
        (lambda: asking().move("running"), "no such event"),
        (lambda: asking().move("run_paused"), "no such event"),
    ],
)
def test_a_call_that_makes_no_sense_says_what_there_is(ask: Callable[[], str], found: str) -> None:
    """The message names what was found and ends with one thing to do."""
    with pytest.raises(Askew, match=found) as refused:
        ask()

    assert "\nhint: " in str(refused.value)


def test_a_locked_chart_takes_no_expectation_and_opens_where_it_was() -> None:
    """The expectations made before come back with the attempts."""
    chart = asking()
    chart.expect("running")
    chart.move("run_started")
    chart.seal("predict first")
    with pytest.raises(Sealed):
        chart.expect("waiting")
    chart.unseal()

    assert "1 of 1 as expected." == chart.score()
    assert "running" == chart.status


class Twin:
    """A store of its own, to which the same is proposed as the chart is said to propose."""

    def __init__(self, rules: Rules) -> None:
        self.clock, self.made, self.call = 0, 0, "never"
        page = RunState("run-7", success=("build=green",))
        self.runtime = Runtime(StateStore(page, rules=rules), clock=lambda: self.clock)

    def offer(self, kind: str) -> str:
        """The status after the proposal, or the code of its refusal."""
        self.made += 1
        store, tick = self.runtime.store, self.clock
        asked = store.load().requests[0] if store.load().requests else Approval("x", "?", "rosa")
        if kind.endswith("_expired"):
            self.clock = asked.expires_at or tick + 9
        try:
            return str(self._offered(kind, asked).status)
        except Refusal as refusal:
            self.clock = tick
            return refusal.code

    def _offered(self, kind: str, asked: Approval | Callback) -> RunState:
        runtime, page = self.runtime, self.runtime.store.load()
        name, open_call = f"n{self.made}", page.calls[0].call_id if page.calls else ""
        fits = type(asked) is (Callback if kind.startswith("callback") else Approval)
        answer = Answer(asked.request_id if fits else "never", "run-7")
        until = self.clock + 9
        values = {
            "run_failed": "tool_error", "run_cancelled": "not today",
            "tool_dispatched": ToolCall(open_call or name, "get_status"),
            "tool_result": "build=green", "tool_result_recorded": "build=green",
            "approval_requested": Approval(name, "deploy?", "rosa", expires_at=until),
            "callback_awaited": Callback(name, "ci", expires_at=until),
            "approval_granted": answer, "approval_denied": answer, "callback_received": answer,
            "approval_expired": answer.request_id, "callback_expired": answer.request_id,
        }  # fmt: skip
        proposal = StateProposal(kind, values.get(kind, ""), page.revision)
        if kind.startswith("tool_result"):
            call_id = open_call or "never"
            return runtime.accept_tool_result("get_status", proposal, call_id=call_id)
        if kind in ("approval_granted", "approval_denied"):
            return runtime.accept_approval("rosa", proposal)
        if kind == "callback_received":
            return runtime.accept_callback("ci", proposal)
        return runtime.accept_runtime(proposal)


@settings(max_examples=150, deadline=None)
@given(some.sampled_from((RULES, TODAY, SOURCE_TEXT)), some.lists(some.integers(0, 12), max_size=24))
def test_the_chart_says_what_a_store_says(rules: Rules, presses: list[int]) -> None:
    """Along any way of presses each answer is that of a store that was offered the same."""
    chart, twin = StateChart(rules=rules), Twin(rules)
    told, answered = [], []
    for press in presses:
        kind = chart.kinds[press % len(chart.kinds)]
        said = chart.move(kind)
        told.append(chart.status if ": accepted, " in said else said.partition("refused by ")[2].partition(";")[0])
        answered.append(twin.offer(kind))

    assert answered == told
    page = twin.runtime.store.load()
    facts = ", ".join(dict.fromkeys(map(str, page.facts))) or "none"
    assert (str(page.status), page.revision) == (chart.status, chart.revision)
    assert f"facts {facts}, open" in chart.holds


def test_a_run_without_its_fact_is_not_completed() -> None:
    """Started, then proposed for completion: the goal is not met, and the chart says so."""
    chart = StateChart("run_started")

    assert (
        "run_completed at running: refused by success_not_met; success criterion is not met."
        == chart.move("run_completed")
    )
    assert "running is current at revision 1; goal build=green, facts none, open nothing." in (
        chart.sentence()
    )


def test_an_open_call_holds_completion_back() -> None:
    """The fact is there, and another call is out: still pending."""
    chart = StateChart(*GREEN, "tool_dispatched")

    assert "goal build=green, facts build=green, open get_status" == chart.holds
    assert "refused by still_pending" in chart.move("run_completed")


def test_an_answer_finds_only_the_question_that_is_open() -> None:
    """Rosa's yes does not end the wait for the callback of ci."""
    chart = StateChart("run_started", "callback_awaited")

    assert "refused by request_unknown" in chart.move("approval_granted")
    assert "accepted, now running" in chart.move("callback_received")


def test_a_chart_is_small() -> None:
    """Twenty-two places, so that a lesson's widgets stay below 500 kilobytes together."""
    graph = chart_graph(RULES)

    assert 22 == len(graph["places"]) == len(graph["answers"])
    assert 130_000 > len(json.dumps(graph))
