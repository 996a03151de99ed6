"""Nonsense that is set on a widget is refused, in words; the widget keeps what it had."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import traitlets

from runstate_lab import RunState, Runtime, StateProposal, StateStore
from runstate_lab.live import (
    ApprovalDesk,
    Board,
    ContextSlider,
    CrashLab,
    NodeBoard,
    RealRace,
    RunView,
    StateChart,
)
from runstate_lab.live.faults import Askew
from runstate_lab.live.form import Form, Item, Reply
from runstate_lab.live.limits import LOCKED
from runstate_lab.live.live import Live


def a_run() -> StateStore:
    """Run-7, started and cancelled."""
    runtime = Runtime(StateStore(RunState("run-7")))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_user("ada", StateProposal("run_cancelled", "not today", 1))
    return runtime.store


def a_desk() -> ApprovalDesk:
    """A desk after one answer."""
    desk = ApprovalDesk()
    desk.grant(by="max")
    return desk


def a_node_board() -> NodeBoard:
    """A board on which w1 holds the build."""
    board = NodeBoard()
    board.take("w1")
    return board


MADE: dict[str, Live] = {
    "board": Board("two_writers", variants=("naive", "compare-and-swap"), schedule="AAB"),
    "chart": StateChart("run_started", "run_cancelled", expect=True),
    "crash": CrashLab(kill=3),
    "slider": ContextSlider(),
    "desk": a_desk(),
    "nodes": a_node_board(),
    "view": RunView(a_run()),
    "race": RealRace(each=3),
}
NONSENSE = [None, "nonsense", "", -1, -2, 10**30, 3.5, True, b"A", object(), [], [[]], ["nonsense"], [{}],
            [["AAB", 99, "naive"]], [["AAB", 1, "lunch"]], [[{}, {}, {}]], {}, {"a": 1}, {1, 2},
            ("AAB",), [-1], [10**30], [None], "A" * 5_000, "\x00\ud800"]  # fmt: skip
SETTABLE = [(name, trait) for name, made in MADE.items() for trait in made.limits if trait not in LOCKED]
OWN = [
    (name, trait.name)
    for name, made in MADE.items()
    for trait in made.traits(sync=True).values()
    if trait.this_class.__module__.startswith("runstate_lab") and trait.name not in made.limits
]


def seen(widget: Live) -> tuple[object, ...]:
    """All that can be looked at."""
    values = {name: repr(getattr(widget, name)) for name in widget.limits}
    return widget.sentence(), widget.picture(), values


def test_these_are_all_the_traits_of_all_the_widgets() -> None:
    """So that a new one is not forgotten here."""
    assert 8 == len(MADE)
    assert (36, 57) == (len(SETTABLE), len(OWN))


@pytest.mark.parametrize(("name", "trait"), SETTABLE)
def test_a_nonsense_value_is_refused_and_nothing_changes(name: str, trait: str) -> None:
    """The sentence names the trait, what was given, and what is possible."""
    widget = MADE[name]
    before, refused = seen(widget), 0
    for value in NONSENSE:
        now = getattr(widget, trait)
        try:
            setattr(widget, trait, value)
        except Askew as wrong:
            refused += 1
            assert isinstance(wrong, traitlets.TraitError)
            assert wrong.asked.startswith(f"{trait}=") and len(wrong.hint) > 5
            assert now == getattr(widget, trait)
        else:
            seen(widget)
            setattr(widget, trait, now)

    assert before == seen(widget)
    assert refused >= len(NONSENSE) - 6


@pytest.mark.parametrize(("name", "trait"), OWN)
def test_what_is_the_widgets_own_cannot_be_set(name: str, trait: str) -> None:
    """Also with a value of the right type; a call that does it is named."""
    widget = MADE[name]
    before = seen(widget)
    for value in (*NONSENSE, type(getattr(widget, trait))(), "x"):
        if type(value) is type(getattr(widget, trait)) and value == getattr(widget, trait):
            continue
        with pytest.raises(Askew, match="a value that only the widget itself sets") as wrong:
            setattr(widget, trait, value)
        assert wrong.value.hint.endswith(widget.call)

    assert before == seen(widget)


@pytest.mark.parametrize(
    ("name", "trait"), [*SETTABLE, *OWN, *((name, "sealed") for name in MADE)]
)
def test_a_nonsense_message_changes_nothing_and_breaks_nothing(name: str, trait: str) -> None:
    """The browser is told what stands."""
    widget = MADE[name]
    before, now = seen(widget), getattr(widget, trait)
    told: list[Any] = []
    widget.send_state = lambda key=None: told.append(key)
    try:
        for value in ["nonsense", -2, 10**30, None, [["x"]], {"a": 1}, [3.5]]:
            told.clear()
            widget.set_state({trait: value})
            if getattr(widget, trait) == now:
                assert told and trait in told[-1]
            else:
                seen(widget)
                setattr(widget, trait, now)
    finally:
        del widget.send_state

    assert before == seen(widget)
    assert "" == widget.fault


SENTENCES: list[tuple[Callable[[], Live], str, object, str]] = [
    (CrashLab, "loop", "lunch", "give one of 'intent first', 'effect first', 'once per batch'"),
    (CrashLab, "point", 14, "give a whole number from 0 to 13"),
    (CrashLab, "keyed", "yes", "give True or False"),
    (Board, "at", 1, "give a whole number from 0 to 0"),
    (Board, "schedule", "AAAA", "give an order that can be played, such as AB"),
    (Board, "shown", "mine", "give one of 'compare-and-swap', 'naive', 'last-write-wins', 'no authority'"),
    (StateChart, "tries", ["run_paused"], "give a list of kinds of events: run_started, "),
    (ContextSlider, "budget", 0, "give a whole number from 1 to "),
    (NodeBoard, "shown", "Fast", "give one of 'Scheduler'"),
    (ApprovalDesk, "at", 7, "give a whole number from 0 to 0"),
    (RealRace, "rows", [], "use the calls of the widget, such as race.start()"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "trait", "value", "hint"), SENTENCES)
def test_the_sentence_says_what_is_possible(
    make: Callable[[], Live], trait: str, value: object, hint: str
) -> None:
    """By its names and its numbers."""
    with pytest.raises(Askew) as wrong:
        setattr(make(), trait, value)

    assert wrong.value.hint.startswith(hint)


def test_a_value_is_looked_at_beside_the_others() -> None:
    """An order that is shorter than the step shown is refused alone, and taken together."""
    board = Board("two_writers", schedule="AAABBB")
    with pytest.raises(Askew, match="at=6 beside it"):
        board.schedule = "AA"
    board.set_state({"schedule": "AA", "at": 2})
    assert ("AA", 2) == (board.schedule, board.at)
    board.set_state({"schedule": "A", "at": 5})

    assert ("AA", 2) == (board.schedule, board.at)


@pytest.mark.parametrize("name", MADE)
def test_what_a_browser_holds_is_taken_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple comes back as a list: the widget must still know it as its own."""
    widget, refused = MADE[name], []
    monkeypatch.setattr(type(widget), "send_state", lambda self, key=None: refused.append(key))
    held = {trait: getattr(widget, trait) for trait in widget.limits if trait not in LOCKED}
    before = seen(widget)

    widget.set_state(json.loads(json.dumps(held)))

    assert [] == refused
    assert before == seen(widget)


def test_a_desk_is_reset_by_a_browser() -> None:
    """The first step comes back as it was sent, and stands."""
    desk = a_desk()

    desk.set_state(json.loads(json.dumps({"shown": desk.shown[:1], "at": 0})))

    assert (1, 0) == (len(desk.shown), desk.at)


def test_of_a_message_with_one_nonsense_value_nothing_is_taken() -> None:
    """Neither the right half nor the wrong one."""
    lab = CrashLab()
    lab.set_state({"point": 5, "phase": "lunch"})

    assert (0, "aimed") == (lab.point, lab.phase)


def test_a_browser_cannot_break_a_seal() -> None:
    """Only a prediction opens what is locked."""
    board = Board("two_writers")
    board.seal("Predict first.")
    board.set_state({"sealed": "", "schedule": "AAB"})

    assert ("Predict first.", "") == (board.sealed, board.schedule)
    with pytest.raises(Askew, match="the widget locked"):
        board.at = 0
        board.schedule = "A"


def test_a_form_is_answered_by_its_calls_only() -> None:
    """Its questions and replies are its own."""
    form = Form("F", (Item("1", "choice", "?", (("a", "b"),)),), lambda *given: Reply("ok"))
    for trait, value in (("replies", {"1": 3}), ("items", []), ("title", "x")):
        form.set_state({trait: value})
        with pytest.raises(Askew, match="only the widget itself sets"):
            setattr(form, trait, value)

    assert ("F", {}) == (form.title, form.replies)
