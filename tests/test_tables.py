"""The tables of the lessons against copies written by hand."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pandas
import pytest

from runstate_lab import RULES, SOURCE_TEXT, RunState, Runtime, StateProposal, StateStore
from runstate_lab.show import (
    field_table,
    matrix_table,
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
                       queued  running  waiting  completed  failed  cancelled
run_started            run     -        -        -          -       -
tool_dispatched        -       stays    -        -          -       -
tool_result_recorded   -       stays    stays    -          -       -
approval_requested     -       wait     -        -          -       -
approval_granted       -       -        run      -          -       -
callback_awaited       -       wait     -        -          -       -
callback_received      -       -        run      -          -       -
run_completed          -       complete -        -          -       -
run_failed             -       fail     fail     -          -       -
run_cancelled          cancel  cancel   cancel   -          -       -"""
SPOKEN = {
    "-": "refused", "stays": "stays", "run": "to running", "wait": "to waiting",
    "complete": "to completed", "fail": "to failed", "cancel": "to cancelled",
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


def test_the_matrix_is_the_one_written_by_hand() -> None:
    """Ten kinds of events, six statuses, sixty answers."""
    head, *lines = (line.split() for line in MATRIX.splitlines())
    expected = [[kind, *(SPOKEN[word] for word in words)] for kind, *words in lines]

    assert ["event", *head] == list(matrix_table().columns)
    assert expected == matrix_table().values.tolist()


def test_the_trace_shows_refusals_beside_acceptances() -> None:
    """A refused entry has its code and the revision that it did not move."""
    table = trace_table(refused_store())

    assert ["accepted", "refused"] == list(table["outcome"])
    assert ["", "writer_rejected"] == list(table["code"])
    assert [1, 1] == list(table["revision"])


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
    assert 1 == len(kept)
    assert kept.text().startswith("Every refusal.\n1. code: revision_conflict")


def test_another_rules_table_gives_another_matrix() -> None:
    """The matrix is read from the rules that are given."""
    assert len(SOURCE_TEXT.kinds) == len(matrix_table(SOURCE_TEXT))
    assert len(RULES.kinds) == len(matrix_table())


def test_pandas_is_imported_only_where_a_table_is_shown() -> None:
    """Importing the pictures does not load pandas."""
    program = "import sys, runstate_lab.show; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False\n" == done.stdout
