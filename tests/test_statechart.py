"""The status chart that asks first: expectations, their score, and what is not shown before."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from runstate_lab.live.charts.statechart import StateChart
from runstate_lab.live.live import Askew, Sealed
from runstate_lab.model import RunStatus
from runstate_lab.rules import RULES, arrows

KINDS = sorted({kind for _, _, kind in arrows(RULES)})
ROADS = {
    "queued": (),
    "running": ("run_started",),
    "waiting": ("run_started", "approval_requested"),
    "completed": ("run_started", "run_completed"),
    "failed": ("run_started", "run_failed"),
    "cancelled": ("run_cancelled",),
}
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
        chart = asking(*ROADS[start])
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
    chart = asking("run_started")
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
