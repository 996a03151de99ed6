"""The tables of the lessons against copies written by hand."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pandas
import pytest
from stories import approved_run, graph_run

from runstate_lab import RULES, SOURCE_TEXT, RunState, Runtime, StateProposal, StateStore
from runstate_lab.show import (
    field_table,
    matrix_table,
    node_matrix_table,
    ownership_table,
    refusal_table,
    trace_table,
)
from runstate_lab.show.frames import CaptionedFrame, captioned

OWNERS = """\
candidate action | model | runtime | schema, allow-list, permission
tool result | tool executor | runtime/store | call_id, idempotency key, execution status
run status | runtime | store | legal transition, stop reason
approval decision | user or approval service | runtime | identity, expiry, checkpoint version
diagnostic event | any component | trace | order, redaction, correlation id"""

MATRIX = """\
                       queued    running   waiting   completed failed    cancelled
run_started            run       -         -         -         -         -
turn_started           -         stays     -         -         -         -
model_output_received  -         stays     -         -         -         -
followup_required      -         stays     -         -         -         -
run_completed          -         complete  -         -         -         -
run_failed             -         fail      fail      -         -         -
run_cancelled          cancel    cancel    cancel    -         -         -
tool_dispatched        -         stays     -         -         -         -
tool_declined          -         stays     -         -         -         -
tool_result_recorded   -         stays     stays     -         -         -
tool_failed            -         stays     stays     -         -         -
tool_outcome_unknown   -         stays     stays     -         -         -
approval_requested     -         wait      -         -         -         -
approval_granted       -         -         run       -         -         -
approval_denied        -         -         run       -         -         -
approval_expired       -         -         run       -         -         -
callback_awaited       -         wait      -         -         -         -
callback_received      -         -         run       -         -         -
callback_expired       -         -         run       -         -         -
driver_leased          stays     stays     stays     -         -         -
driver_superseded      stays     stays     stays     -         -         -
nodes_planned          -         stays     -         -         -         -
node_ready             -         stays     stays     -         -         -
node_blocked           -         stays     stays     -         -         -
node_claimed           -         stays     stays     -         -         -
node_finished          -         stays     stays     -         -         -
node_failed            -         stays     stays     -         -         -
node_asked             -         stays     stays     -         -         -
node_approved          -         stays     stays     -         -         -
node_denied            -         stays     stays     -         -         -
node_put_back          -         stays     stays     -         -         -
node_released          -         stays     stays     -         -         -
node_given_up          -         stays     stays     -         -         -
node_cancelled         -         stays     stays     -         -         -"""

NODE_MATRIX = """\
               pending  ready    running  waiting_approval  blocked  completed  failed  cancelled
node_ready     ready    -        -        -                 -        -          -       -
node_blocked   block    -        -        -                 -        -          -       -
node_claimed   -        run      -        -                 -        -          -       -
node_finished  -        -        complete -                 -        -          -       -
node_failed    -        -        fail     -                 -        -          -       -
node_asked     -        -        ask      -                 -        -          -       -
node_approved  -        -        -        run               -        -          -       -
node_denied    -        -        -        fail              -        -          -       -
node_put_back  -        -        ready    -                 -        -          -       -
node_released  -        -        ready    -                 -        -          -       -
node_given_up  -        -        fail     -                 -        -          -       -
node_cancelled cancel   cancel   cancel   cancel            cancel   -          -       -"""
SPOKEN = {
    "-": "refused", "stays": "stays", "run": "to running", "wait": "to waiting",
    "complete": "to completed", "fail": "to failed", "cancel": "to cancelled",
    "ready": "to ready", "block": "to blocked", "ask": "to waiting_approval",
}


def refused_store() -> StateStore:
    """A started run, and a model that was turned away."""
    store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    with pytest.raises(PermissionError):
        runtime.accept_model_proposal(StateProposal("run_completed", "<done & dusted>", 1))
    return store


TABLES: dict[str, Callable[[], CaptionedFrame]] = {
    "ownership": ownership_table,
    "life": lambda: ownership_table(life=True),
    "field": field_table,
    "matrix": matrix_table,
    "node matrix": node_matrix_table,
    "trace of a graph": lambda: trace_table(graph_run()),
    "trace": lambda: trace_table(refused_store()),
    "refusal": refusal_table,
}
every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())


def test_the_owners_are_those_of_the_source_text() -> None:
    """Five data, each with its proposer, its final writer and its checks."""
    rows = [line.split(" | ") for line in OWNERS.splitlines()]

    assert rows == ownership_table().iloc[:, :4].values.tolist()


def test_the_life_of_each_datum_leaves_no_cell_empty() -> None:
    """Who may create, read, update and close is said for all five."""
    table = ownership_table(life=True)

    assert (5, 5) == table.shape
    assert [] == [cell for row in table.values.tolist() for cell in row if not cell]


def test_every_field_of_the_state_has_a_row() -> None:
    """The table walks all fields of RunState."""
    assert [one.name for one in dataclasses.fields(RunState)] == list(field_table()["field"])


def test_only_tools_write_facts() -> None:
    """The facts change under the tool executor's authority alone."""
    table = field_table()

    assert [["facts", "tool_executor", "tool_result_recorded"]] == (
        table[table["field"] == "facts"].values.tolist()
    )


@pytest.mark.parametrize(
    ("written", "make", "size"),
    [(MATRIX, matrix_table, (34, 7)), (NODE_MATRIX, node_matrix_table, (12, 9))],
    ids=["statuses of a run", "statuses of a node"],
)
def test_the_matrix_is_the_one_written_by_hand(
    written: str, make: Callable[[], CaptionedFrame], size: tuple[int, int]
) -> None:
    """34 kinds of events and six statuses; twelve of them and the eight of a node."""
    head, *lines = (line.split() for line in written.splitlines())
    expected = [[kind, *(SPOKEN[word] for word in words)] for kind, *words in lines]

    assert ["event", *head] == list(make().columns)
    assert expected == make().values.tolist()
    assert size == make().shape


def test_in_a_matrix_what_is_legal_is_bold() -> None:
    """The eye finds six answers among twelve refusals."""
    html = matrix_table(RULES.only("run_started", "run_failed", "run_cancelled"))._repr_html_()

    assert 6 == html.count("<b>")
    assert 0 == html.count("<b>refused")


def test_a_cut_table_gives_cut_tables_whose_captions_say_so() -> None:
    """Two rows of 34, and the fields that they write."""
    cut = RULES.only("run_started", "node_ready")

    assert ["run_started", "node_ready"] == list(matrix_table(cut)["event"])
    assert ["node_ready"] == list(node_matrix_table(cut)["event"])
    assert "Who writes which field under RULES, 2 of 34 rows" == field_table(cut).caption
    assert 0 == len(node_matrix_table(SOURCE_TEXT))


def test_the_trace_shows_refusals_beside_acceptances() -> None:
    """A refused entry has its code and the revision that it did not move."""
    table = trace_table(refused_store())

    assert ["accepted", "refused"] == list(table["outcome"])
    assert ["", "writer_rejected"] == list(table["code"])
    assert [1, 1] == list(table["revision"])


def test_a_trace_without_ticks_has_no_column_for_them() -> None:
    """Tick and epoch are shown where some entry has one."""
    extra = {"tick", "epoch"}

    assert set() == extra & set(trace_table(refused_store()).columns)
    assert {"tick"} == extra & set(trace_table(graph_run()).columns)
    assert extra == extra & set(trace_table(approved_run()).columns)


def test_a_trace_tells_every_value_in_words() -> None:
    """Calls, approvals and leases are words, never a repr."""
    values = list(trace_table(approved_run())["value"])

    assert [
        "reign 1 until tick 10", "", "", "ship it; wants deploy as c1", "a1 of rosa",
        "to a1", "to a1", "deploy as c1", "deployed=7", "",
    ] == values


def test_the_revision_moves_with_every_kind() -> None:
    """What 34 kinds write is said in one phrase."""
    table = field_table()

    assert "all 34 kinds" == table[table["field"] == "revision"]["events"].iloc[0]


def test_every_code_is_listed_once() -> None:
    """The table of refusals has as many codes as rows."""
    codes = list(refusal_table()["code"])

    assert len(set(codes)) == len(codes)
    assert {"revision_conflict", "writer_rejected", "illegal_transition"} <= set(codes)
    assert "refused" not in codes


@every_table
def test_a_table_is_a_data_frame(make: Callable[[], CaptionedFrame]) -> None:
    """What a lesson shows can be filtered, sorted and joined."""
    assert isinstance(make(), pandas.DataFrame)


@every_table
def test_a_table_names_its_headers_and_has_a_caption(make: Callable[[], CaptionedFrame]) -> None:
    """Each column and each row has a header cell with a scope."""
    table = make()
    root = ElementTree.fromstring(table._repr_html_())
    heads = [head.get("scope") for head in root.iter("th")]

    assert table.caption == root.findtext("caption")
    assert len(table.columns) == heads.count("col")
    assert len(table) == heads.count("row")


@every_table
def test_the_text_twin_holds_every_cell(make: Callable[[], CaptionedFrame]) -> None:
    """All words of the HTML are in the text, and none of them hangs on a colour."""
    table = make()
    root = ElementTree.fromstring(table._repr_html_())

    assert [] == [words for words in root.itertext() if words.strip() not in table.text()]
    assert "color" not in table._repr_html_()


@every_table
def test_a_table_repeats_its_bytes(make: Callable[[], CaptionedFrame]) -> None:
    """HTML and text are the same each time, with no address and no random id."""
    assert make()._repr_html_() == make()._repr_html_()
    assert make().text() == repr(make())
    assert " id=" not in make()._repr_html_() and "0x" not in repr(make())


def test_cells_are_escaped() -> None:
    """A value cannot open a tag."""
    html = captioned("A & <b>", ("<i>",), [("<script>",)])._repr_html_()

    assert "&lt;script&gt;" in html and "<script>" not in html
    assert "A &amp; &lt;b&gt;" in html and "&lt;i&gt;" in html


def test_a_filtered_table_keeps_its_caption() -> None:
    """Filtering gives a table of the same kind."""
    table = refusal_table()
    kept = table[table["builtin"] == "RuntimeError"]

    assert "Every refusal" == kept.caption
    assert 5 == len(kept)
    assert kept.text().startswith("Every refusal.\n1. code: revision_conflict")


def test_another_rules_table_gives_another_matrix() -> None:
    """The matrix is read from the rules that are given."""
    assert len(SOURCE_TEXT.kinds) == len(matrix_table(SOURCE_TEXT))
    assert len(RULES.kinds) == len(matrix_table())


def test_pandas_and_widgets_are_imported_only_where_they_are_shown() -> None:
    """Importing the pictures loads neither pandas nor anywidget."""
    program = "import sys, runstate_lab.show; print(bool({'pandas', 'anywidget'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False\n" == done.stdout
