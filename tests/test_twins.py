"""What a picture says, its text twin says too; and where no widget can be shown, a line says what to call."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runstate_lab.laws import Keyed
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
from runstate_lab.live.boards import words
from runstate_lab.live.boards.graph import Ground
from runstate_lab.live.boards.worlds import cast_of
from runstate_lab.live.faults import Askew
from runstate_lab.live.form import Form, Item, Reply
from runstate_lab.live.live import Live
from runstate_lab.model import RunState
from runstate_lab.store import StateStore
from runstate_lab.worlds import WORLDS

WITH_KEYS = {"late_result"}
GONE = "tests=green is gone, and nobody was told"


def test_the_table_of_a_losing_order_says_what_is_gone() -> None:
    """In its last row, beside an answer that complains of nothing."""
    board = Board("two_writers", variants=("naive",), schedule="ABABAB")
    last = board.table().iloc[-1]

    assert ("accepted at revision 5", GONE) == (last["answer"], last["remark"])
    assert str(board.table()).endswith(f"remark: {GONE}")
    assert GONE in board.text()


def test_the_table_says_who_believes_in_an_old_state() -> None:
    """Where the thick line of a writer breaks into dashes, and only there."""
    board = Board("two_writers", variants=("compare-and-swap",), schedule="ABABAB")
    remarks = list(board.table()["remark"])

    assert ["", "", "", "", "B still believes in revision 4", ""] == remarks
    assert "rs-old" in board.svg()


@pytest.mark.parametrize("world", WORLDS)
def test_a_remark_of_the_picture_stands_in_the_table(world: str) -> None:
    """At every step of every variant: what is gone or broken is in both."""
    ground = Ground(cast_of(world))
    moments = [moment for plays in ground.plays.values() for moment in plays.moments.values()]
    missed = [
        moment.key
        for moment in moments
        if moment.step is not None
        and not moment.failure
        and not all(one in words.row(moment, ground.cast)[-1] for one in words.remarks(moment))
    ]

    assert [] == missed
    assert len(moments) > 5


@pytest.mark.parametrize("world", WORLDS)
def test_as_many_effects_are_told_as_there_were(world: str) -> None:
    """A deed that was asked for again under its key is told as that, not as a second deed."""
    ground = Ground(cast_of(world))
    again = 0
    for name, plays in ground.plays.items():
        for key, moment in plays.moments.items():
            if not moment.over or moment.failure:
                continue
            path = ground.path(name, key)
            said = [one.step.said for one in path[1:] if one.step.said is not None]
            done = len({one.key for one in said if isinstance(one, Keyed)})
            done += sum(not isinstance(one, Keyed) for one in said)
            told = [words.row(one, ground.cast)[1] for one in path[1:]]
            again += sum("nothing more happened" in one for one in told)

            assert done == sum(" to the world" in one for one in told), (name, key)
    assert (world in WITH_KEYS) == (again > 0)


def test_a_deed_under_its_key_is_told_in_the_brief_words() -> None:
    """The right store of late_result: the runtime asks again, and nothing more happens."""
    board = Board("late_result", schedule="ABBBAB")

    assert (
        "B, the runtime, asked again with key deploy-7: nothing more happened." == board.text()
    )
    assert "asks again" in board.svg() and "nothing more" in board.svg()


def test_what_is_open_in_the_chart_is_a_list_too() -> None:
    """As its buttons say it; a chart that asks first says nothing."""
    chart = StateChart("run_started", "tool_dispatched")

    assert ["run_failed", "run_cancelled", "tool_result_recorded", "approval_requested", "callback_awaited"] == [
        kind for kind, taken, _ in chart.moves() if taken
    ]
    with pytest.raises(Askew, match="a chart that asks first"):
        StateChart(expect=True).moves()


def test_the_slider_says_what_everything_takes() -> None:
    """The end of its bar is in the words of its table."""
    slider = ContextSlider()

    assert str(slider.table()).startswith(f"Lines; everything takes {slider.most}.")
    assert f"everything takes {slider.most}" in slider.svg()


WIDGETS: dict[str, tuple[Callable[[], Live], str]] = {
    "board": (Board, 'board.step("A")'),
    "chart": (StateChart, 'chart.move("run_started")'),
    "crash": (CrashLab, "lab.kill(7)"),
    "slider": (ContextSlider, "slider.spend(300)"),
    "desk": (ApprovalDesk, "desk.grant()"),
    "nodes": (NodeBoard, 'board.take("w1")'),
    "view": (lambda: RunView(StateStore(RunState("run-7"))), "view.go(0)"),
    "race": (lambda: RealRace(each=3), "race.start()"),
}


@pytest.mark.parametrize("name", WIDGETS)
def test_a_still_picture_says_what_to_call(name: str) -> None:
    """The line stands in the HTML that is shown without the widget, and the call can be made."""
    make, call = WIDGETS[name]
    widget = make()
    bundle = widget._repr_mimebundle_()[0]
    line = bundle["text/html"].removeprefix(widget.picture())

    assert call.replace('"', "&quot;") in line and "No buttons here" in line
    assert "No buttons" not in bundle["text/plain"]
    if name != "race":
        variable = call.partition(".")[0]
        assert eval(call, {variable: widget})


def test_a_locked_picture_says_what_to_do() -> None:
    """It has no call: the prediction comes first, then the cell is run again."""
    board = Board()
    board.seal("Predict 04.lost first.")

    assert "once it is predicted, run this cell again" in board._repr_mimebundle_()[0]["text/html"]


def test_a_form_says_the_call_that_answers_it() -> None:
    """A plain one its own; the course gives one that needs no name."""
    item = Item("1", "choice", "?", (("a", "b"),))
    form = Form("F", (item,), lambda *given: Reply("ok"), call='answer("1", "a")')

    assert "<code>answer(&quot;1&quot;, &quot;a&quot;)</code>" in form._repr_mimebundle_()[0]["text/html"]
