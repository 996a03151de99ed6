"""The context slider without a browser: every budget as the builder builds it, nothing twice."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from runstate_lab.context import Context, ContextBuilder
from runstate_lab.live import ContextSlider
from runstate_lab.live.contexts.run import PRIVATE_KEYS, busy_run
from runstate_lab.live.contexts.views import enough, stops
from runstate_lab.live.faults import Askew, Sealed
from runstate_lab.model import Fact, RunState, RunStatus
from runstate_lab.store import StateStore

SVG = "{http://www.w3.org/2000/svg}"
VIEW = "application/vnd.jupyter.widget-view+json"
TWO_FACTS = RunState(
    "run-7",
    goal="ship",
    status=RunStatus.RUNNING,
    facts=(Fact("build", "green"), Fact("tests", "red")),
)


def stored(slider: ContextSlider) -> dict[str, object]:
    """What a notebook keeps of a slider."""
    bundle, _ = slider._repr_mimebundle_()
    return {kind: value for kind, value in bundle.items() if kind != VIEW}


def drawing(slider: ContextSlider) -> ElementTree.Element:
    """The SVG document in the stored picture."""
    coded = slider.picture().partition("base64,")[2].partition('"')[0]
    return ElementTree.fromstring(base64.b64decode(coded))


@pytest.mark.parametrize("privacy", ["open", "private"])
def test_every_budget_shows_what_the_builder_builds(privacy: str) -> None:
    """All 849 budgets and a few beyond, letter for letter, with all that is left out."""
    state = busy_run().load()
    slider = ContextSlider(privacy=privacy)
    for budget in range(1, slider.most + 1):
        slider.spend(budget)
        builder = ContextBuilder(budget=budget, private_keys=PRIVATE_KEYS)
        built = builder.build(state, privacy=privacy)

        assert built.text == slider.context(), budget
        assert tuple(map(str, built.left_out)) == slider.left_out(), budget


def test_two_facts_by_hand() -> None:
    """Where each line comes in: run 11, goal 11, status 16, then the newest fact first."""
    slider = ContextSlider(TWO_FACTS)
    said = []
    for budget in (38, 53, 54, 71, 72):
        slider.spend(budget)
        said.append((budget, slider.context().splitlines()[3:], slider.left_out()))

    assert 72 == slider.most
    assert [
        (38, [], ("the oldest 2 of 2 facts: budget",)),
        (53, [], ("the oldest 2 of 2 facts: budget",)),
        (54, ["fact: tests=red"], ("the oldest 1 of 2 facts: budget",)),
        (71, ["fact: tests=red"], ("the oldest 1 of 2 facts: budget",)),
        (72, ["fact: build=green", "fact: tests=red"], ()),
    ] == said


def test_the_table_names_every_line_and_why_it_is_out() -> None:
    """Sizes count the line's end; the last column is the builder's reason."""
    slider = ContextSlider(TWO_FACTS, budget=60)

    assert [
        ["run: run-7", "11", "in", ""],
        ["goal: ship", "11", "in", ""],
        ["status: running", "16", "in", ""],
        ["fact: build=green", "18", "out", "budget"],
        ["fact: tests=red", "16", "in", ""],
    ] == slider.table().values.tolist()


def test_private_facts_are_named_but_not_told() -> None:
    """In the private mode a phone number is neither in the context nor in the table."""
    slider = ContextSlider()
    slider.spend(slider.most)
    slider.choose(privacy="private")
    shown = json.dumps([slider.table().values.tolist(), slider.text(), slider.picture()])

    assert ("fact oncall_phone: privacy", "fact customer_mail: privacy") == slider.left_out()
    assert "+41" not in shown
    assert "harbour" not in shown


def test_a_secret_is_shown_as_struck_out() -> None:
    """The token is nowhere, not even in what is sent to the browser."""
    slider = ContextSlider()
    slider.spend(slider.most)
    rows = {row[0]: row[3] for row in slider.table().values.tolist()}

    assert "a secret is struck out" == rows["fact: registry_token=[redacted]"]
    assert "ghp_" not in json.dumps(slider.graph)
    assert "hunter2" not in json.dumps(slider.graph)


def test_a_long_goal_is_shown_in_part() -> None:
    """The line of the goal ends in an ellipsis, the table says in part and why."""
    slider = ContextSlider(budget=200)
    row = next(row for row in slider.table().values.tolist() if row[0].startswith("goal"))

    assert "…" == row[0][-1]
    assert ["in part", "budget"] == row[2:]
    assert "goal (156 characters): budget" in slider.left_out()


def test_the_steps_stop_where_a_line_comes_or_goes() -> None:
    """Wider adds the next line, narrower takes it out again, and both have an end."""
    slider = ContextSlider(budget=400)
    said = [slider.wider(), slider.wider(), slider.narrower(), slider.narrower()]

    assert [447, 485, 447, 395] == [int(words.split()[1][:-1]) for words in said]
    slider.spend(slider.most)
    assert "Budget 849: 23 of 23 lines, 849 characters; left out: nothing." == slider.wider()
    slider.spend(1)
    assert slider.said() == slider.narrower()


def test_halving_finds_every_change() -> None:
    """Against a look at every single budget."""
    state = busy_run().load()

    def build(budget: int) -> Context:
        return ContextBuilder(budget=budget).build(state)

    most = enough(build)
    every = [build(budget) for budget in range(1, most + 1)]
    slow = [1] + [at + 1 for at in range(1, most) if every[at] != every[at - 1]]

    assert 849 == most
    assert slow == stops(build, most)


def test_halving_builds_far_fewer_contexts_than_there_are_budgets() -> None:
    """A run of short lines and a large budget: a few builds for each change."""
    state = RunState("run-7", facts=tuple(Fact(f"f{place}", "x" * 900) for place in range(9)))
    built = []

    def build(budget: int) -> Context:
        built.append(budget)
        return ContextBuilder(budget=budget).build(state)

    most = enough(build)
    places = stops(build, most)

    assert most > 8_000
    assert len(built) < 25 * len(places)


def test_a_huge_goal_is_looked_at_in_steps() -> None:
    """What is sent stays small; what is shown at a step is exactly what is built there."""
    state = RunState("run-7", goal="ship " * 4_000)
    slider = ContextSlider(state)
    slider.spend(5_000)
    at = max(stop for stop in slider.graph["shown"]["0"]["open"]["stops"] if stop <= 5_000)

    assert slider.graph["step"] > 1
    assert len(json.dumps(slider.graph)) < 1_000_000
    assert ContextBuilder(budget=at).build(state).text == slider.context()


def test_two_revisions_are_compared_line_by_line() -> None:
    """A line of the older state is not there in the newest, and the other way round."""
    slider = ContextSlider(at=20, budget=500)
    rows = {row[0]: row[1:] for row in slider.compared().values.tolist()}

    assert ["not there", "in"] == rows["status: running"]
    assert ["in", "not there"] == rows["status: waiting"]
    assert ["in", "in"] == rows["run: run-7"]
    assert "at revision 20. Budget 500:" in (slider.choose(at=20), slider.sentence())[1]


def test_the_state_of_a_revision_is_the_one_that_was_committed() -> None:
    """The events up to there are folded again, nothing else."""
    store = busy_run()
    slider = ContextSlider(store, at=(0, 3), budget=2_000)
    slider.choose(at=0)

    assert "status: queued" in slider.context()
    slider.choose(at=3)
    assert "status: running" in slider.context()
    assert 42 == store.load().revision


def test_a_fact_that_was_reported_twice_is_two_lines() -> None:
    """Only the newer one fits; the table says which one is out."""
    twice = RunState("run-7", facts=(Fact("build", "green"), Fact("build", "green")))
    slider = ContextSlider(twice)
    slider.spend(slider.most - 1)

    assert [["out", "budget"], ["in", ""]] == [
        row[2:] for row in slider.table().values.tolist() if row[0] == "fact: build=green"
    ]
    assert 5 == len(set(map(tuple, slider.compared().values.tolist())))


def test_back_and_forward_give_the_same_bytes_and_build_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All contexts were built before; the slider only looks them up."""
    slider = ContextSlider(budget=500)
    before = stored(slider)
    monkeypatch.setattr("runstate_lab.context.ContextBuilder.build", None)
    slider.wider()
    between = stored(slider)
    slider.spend(500)

    assert before == stored(slider) != between
    slider.reset()
    assert stored(slider) != before


def test_the_text_twin_holds_what_the_picture_shows() -> None:
    """Every word of the picture is in the text; the bar is as wide as the lines are long."""
    slider = ContextSlider(TWO_FACTS, budget=60)
    root = drawing(slider)
    words = [one.text for one in root.iter(f"{SVG}text")]
    bars = [one for one in root.iter(f"{SVG}rect") if "rs-ctx-" in one.get("class", "")]

    assert [
        "Budget 60: 4 of 5 lines, 54 characters; left out: the oldest 1 of 2 facts: budget.",
        "run: run-7",
        "goal: ship",
        "status: running",
        "fact: tests=red",
        "left out: the oldest 1 of 2 facts: budget",
        "spent: run and status 27, goal 11, facts 16; free 6",
    ] == slider.text().splitlines()
    assert {"run: run-7", "fact: tests=red", "budget 60", "everything takes 72"} < set(words)
    assert [818.0] + [round(size * 818 / 72, 1) for size in (27, 11, 16)] == [
        float(one.get("width", 0)) for one in bars
    ]


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda slider: slider.spend(0), "budgets from 1"),
        (lambda slider: slider.spend(True), "budgets from 1"),
        (lambda slider: slider.spend("300"), "budgets from 1"),
        (lambda slider: slider.choose(privacy="secret"), "no such choice"),
        (lambda slider: slider.choose(at=7), "no such choice"),
        (lambda slider: ContextSlider("run-7"), "found a str"),
        (lambda slider: ContextSlider(at=99), "found 42 accepted events"),
        (lambda slider: ContextSlider(at=-1), "accepted events"),
        (lambda slider: ContextSlider(at="3"), "accepted events"),
        (lambda slider: ContextSlider(TWO_FACTS, at=0), "one state, no store"),
        (lambda slider: ContextSlider(private_keys="phone"), "private keys"),
    ],
)
def test_a_call_that_cannot_be_followed_says_what_there_is(
    ask: Callable[[ContextSlider], object], found: str
) -> None:
    """The message names what was found and ends with one thing to do; the slider stays."""
    slider = ContextSlider()
    before = stored(slider)
    with pytest.raises(Askew, match=found) as refused:
        ask(slider)

    assert "\nhint: " in str(refused.value)
    assert before == stored(slider)


def test_an_empty_run_has_a_context_too() -> None:
    """No goal, no fact: three lines, and the slider has an end."""
    slider = ContextSlider(StateStore(RunState("run-7")))
    slider.spend(10_000)

    assert "run: run-7\ngoal: \nstatus: queued" == slider.context()
    assert slider.most == slider.budget


def test_a_sealed_slider_gives_nothing_away() -> None:
    """Neither the words nor the budget; unsealed it stands where it stood."""
    slider = ContextSlider(budget=300)
    before = stored(slider)
    slider.seal("Predict 09.p1 first.")

    assert {} == slider.graph
    assert "Locked. Predict 09.p1 first." in slider.picture()
    with pytest.raises(Sealed):
        slider.wider()
    slider.unseal()
    assert before == stored(slider)
