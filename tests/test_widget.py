"""The live widgets without a browser: the plain calls, the stored picture, the lock."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from runstate_lab import live
from runstate_lab.live.boards.board import Board
from runstate_lab.live.charts.moves import chart_graph, kinds
from runstate_lab.live.charts.statechart import StateChart
from runstate_lab.live.live import Askew, Live, Sealed, script
from runstate_lab.model import RunStatus
from runstate_lab.rules import RULES, SOURCE_TEXT, arrows

WIDGETS = [Board, StateChart]
RUNNING_AGAIN = (
    "approval_granted",
    "approval_denied",
    "approval_expired",
    "callback_received",
    "callback_expired",
)
LEADS = {
    ("queued", "run_started"): "running",
    ("running", "run_completed"): "completed",
    ("running", "run_failed"): "failed",
    ("waiting", "run_failed"): "failed",
    ("queued", "run_cancelled"): "cancelled",
    ("running", "run_cancelled"): "cancelled",
    ("waiting", "run_cancelled"): "cancelled",
    ("running", "approval_requested"): "waiting",
    ("running", "callback_awaited"): "waiting",
    **{("waiting", kind): "running" for kind in RUNNING_AGAIN},
}
KINDS = sorted({kind for _, kind in LEADS})
FACTS = ("tool_dispatched", "tool_result_recorded")
LEADS |= {("running", kind): "running" for kind in FACTS}
LEADS |= {("waiting", "tool_result_recorded"): "waiting"}
VIEW = "application/vnd.jupyter.widget-view+json"


def stored(widget: Live) -> dict[str, object]:
    """What a notebook keeps of a widget: all but the reference to the live view."""
    bundle, _ = widget._repr_mimebundle_()
    return {kind: value for kind, value in bundle.items() if kind != VIEW}


def drawing(widget: Live) -> ElementTree.Element:
    """The SVG document in the stored picture."""
    coded = widget.picture().partition("base64,")[2].partition('"')[0]
    return ElementTree.fromstring(base64.b64decode(coded))


@pytest.mark.parametrize("make", WIDGETS)
def test_what_a_notebook_keeps_repeats_to_the_byte(make: type[Live]) -> None:
    """Two fresh widgets keep the same picture and the same sentence."""
    assert stored(make()) == stored(make())
    assert {"text/plain", "text/html"} == set(stored(make()))
    assert repr(make()) == stored(make())["text/plain"]


def test_the_stored_picture_has_an_alt_text_and_the_marks() -> None:
    """The picture of a conflict shows the word, and its alt text says the state."""
    board = Board(variants=("compare-and-swap",), schedule="ABABAB")
    words = [node.text for node in drawing(board).iter() if node.tag.endswith("text")]

    assert "conflict" in words
    assert (
        'alt="Board of two_writers on compare-and-swap, order ABABAB. State: revision 5'
        in board.picture()
    )


@pytest.mark.parametrize("make", WIDGETS)
def test_a_sealed_widget_sends_nothing_that_could_be_read(make: type[Live]) -> None:
    """Neither the state for the browser nor the stored output holds a step."""
    widget = make()
    widget.seal("predict first")
    state = widget.get_state()
    sent = json.dumps({key: state[key] for key in state if key not in ("_esm", "_css", "layout")})

    assert {} == state["graph"]
    assert [] == [word for word in ("gone", "conflict", "refused", "accepted") if word in sent]
    assert "predict first" in str(stored(widget))


@pytest.mark.parametrize(
    "play", [lambda: _sealed(Board()).step("A"), lambda: _sealed(StateChart()).move("running")]
)
def test_a_sealed_widget_refuses_the_plain_calls(play: Callable[[], str]) -> None:
    """There is no way round the lock through Python."""
    with pytest.raises(Sealed, match="hint: predict first"):
        play()


def test_an_unsealed_widget_shows_the_prediction_beside_the_result() -> None:
    """The choice and its reason reach the browser together with the steps."""
    board = _sealed(Board())
    board.unseal(choice="both", why="each writes its own")

    assert {"choice": "both", "why": "each writes its own"} == board.prediction
    assert 20 == board.graph["orders"]["naive"]


def test_what_was_played_before_the_seal_comes_back() -> None:
    """A board that is shown with an order has it again when it opens."""
    board = _sealed(Board(schedule="AABBBA"))
    assert "" == board.schedule
    board.unseal()

    assert ("AABBBA", 6) == (board.schedule, board.at)


def test_the_exception_of_a_listener_is_shown_in_the_widget() -> None:
    """It goes to the fault line, and the widget goes on."""
    board = Board()
    board.listen(lambda widget: {}["missing"], "at")
    board.step("A")

    assert "KeyError: 'missing'" == board.fault
    assert 1 == board.at


@pytest.mark.parametrize("kind", [*KINDS, *FACTS])
@pytest.mark.parametrize("start", RunStatus)
def test_a_real_store_takes_every_arrow_and_refuses_every_other_pair(
    start: RunStatus, kind: str
) -> None:
    """From some place of each status the arrow is taken; no place takes what is no arrow."""
    graph = chart_graph(RULES)
    here = [place for place, known in graph["places"].items() if known["status"] == start]
    ends = {graph["places"].get(graph["answers"][place][kind]["to"], {}).get("status") for place in here}

    assert {LEADS.get((str(start), kind))} == ends - ({None} if len(ends) > 1 else set())
    assert {"illegal_transition"} >= {
        graph["answers"][place][kind].get("rule")
        for place in here
        if str(start) not in RULES.row(kind).come_from and RULES.row(kind).late is None
    }


def test_a_refused_attempt_is_drawn_with_its_rule() -> None:
    """The marks of the refused arrow are dotted and name the code."""
    answer = chart_graph(RULES)["answers"]["completed, build=green"]["run_started"]
    marks = chart_graph(RULES)["refused"][answer["marks"]]
    roles = [attributes["class"] for _, attributes, _ in marks]

    assert "rs-refused" == roles[0]
    assert "run_started: illegal_transition" == marks[-1][2]


def test_a_chart_walks_by_event_or_by_status() -> None:
    """Both wishes lead to the same place, and refusals do not move the revision."""
    chart = StateChart("run_started", "waiting", "completed", "running")

    assert ("running", 3) == (chart.status, chart.revision)
    assert ["run_started", "approval_requested", "run_completed", "approval_granted"] == chart.tries
    assert [
        "accepted, now running",
        "accepted, now waiting",
        "refused by illegal_transition",
        "accepted, now running",
    ] == list(chart.table()["answer"])


def test_eleven_kinds_have_arrows_and_two_bring_the_fact() -> None:
    """The 21 others change no status, and no button of the chart proposes them."""
    assert sorted([*{kind for _, kind in LEADS if kind not in FACTS}, *FACTS]) == sorted(kinds(RULES))
    assert 13 == len(StateChart().graph["kinds"])


def test_the_live_chart_folds_what_leads_back_to_running() -> None:
    """Five kinds take two lines of the drawing, and each has a button."""
    ways = StateChart().graph["arrows"]
    back = next(way for way in ways if (way["from"], way["to"]) == ("waiting", "running"))

    assert ["approval_granted, _denied, _expired", "callback_received, _expired"] == [
        words for tag, _, words in back["marks"] if tag == "text"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_of_one_row_can_be_played(kind: str) -> None:
    """A table may be cut down to any single row."""
    chart = StateChart(rules=RULES.only(kind))

    assert [kind] == chart.graph["kinds"]
    assert chart.move(kind).startswith(f"{kind} at queued: ")
    assert chart.sentence().startswith("Status chart of RULES, 1 of 34 rows: ")


def test_the_widgets_come_with_one_import() -> None:
    """One import is enough for a lesson; a name that is not there is told."""
    assert (Board, StateChart) == (live.Board, live.StateChart)
    with pytest.raises(AttributeError, match="has no attribute 'Stopwatch'"):
        getattr(live, "Stopwatch")  # noqa: B009


def test_a_chart_follows_the_table_it_is_given() -> None:
    """The source text's table has two kinds that change a status, and one that brings a fact."""
    chart = StateChart(rules=SOURCE_TEXT)

    assert ["run_started", "tool_result", "run_completed"] == chart.graph["kinds"]
    assert chart.move("completed").startswith("run_completed at queued: refused")


@pytest.mark.parametrize("make", WIDGETS)
def test_the_script_is_one_module_without_imports(make: type[Live]) -> None:
    """Nothing is fetched from anywhere, and render is exported once."""
    code = str(make._esm)

    assert 1 == code.count("export default")
    assert [] == [line for line in code.splitlines() if line.startswith("import")]
    assert [] == [
        word for word in ("http://127", "https://", "fetch(", "innerHTML") if word in code
    ]
    assert code.startswith(script("dom.js").partition("export")[0][:200])


def _sealed(widget: Live) -> Live:
    widget.seal("predict first")
    return widget
