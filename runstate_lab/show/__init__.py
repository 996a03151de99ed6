"""Machinery. Pictures and tables of runs; every one has a text twin.

For lesson authors, one line each (make it the last line of a cell):

    status_chart()                              the six statuses and their arrows
    status_chart("running")                     the same, one status lit
    status_chart(state, history=store.trace)    with the path that was travelled
    status_chart("completed", refused=("run_started", "illegal_transition"))
    chart(store)                                state, path and last refusal at once
    chart(store, rules=RULES)                   what the store did against these rules
    node_chart(state)                           the eight statuses of a node, and who stands where
    node_chart(state, node="deploy", history=store.trace)     the path of one node
    space_time(store.trace)                     who proposed what, and what became of it
    space_time([Move("A", 1, "read", seen=4), Move("A", 2, "submit", value="tests=passed",
                seen=4, after=5)])              the same from plain rows
    ownership_table()  field_table()  refusal_table()  trace_table(store)
    matrix_table()  node_matrix_table()         which event is legal where
    level_table(store)                          turns, steps and attempts, each at its level
    race_table()  real_race("naive")            processes that really write to one file at once

A picture `p` gives `p.svg()`, `p.text()` (read it aloud), `p.table()` (pandas);
`p.svg(theme="inline")` follows the colours of the page around it. A table is a
pandas DataFrame with a caption; `str(table)` is its text twin.

Every chart and table takes `rules=`, also a cut table such as
`RULES.only("run_started", "run_completed")`.

What is not here: pictures that move (see `live`), and the rules themselves: every arrow is derived from
`runstate_lab.rules`. After a change of the rules or of a picture,
`python -m runstate_lab.show.builtin` draws the cached pictures again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runstate_lab.show.chart import chart, status_chart
from runstate_lab.show.engine import EngineMissing
from runstate_lab.show.levels import level_table
from runstate_lab.show.nodechart import node_chart
from runstate_lab.show.parts import Arrow, Form, Lane, Node, Standing, Step
from runstate_lab.show.picture import Picture
from runstate_lab.show.spacetime import Move, space_time
from runstate_lab.show.tables import (
    field_table,
    matrix_table,
    node_matrix_table,
    ownership_table,
    refusal_table,
    trace_table,
)

if TYPE_CHECKING:
    from runstate_lab.show.realrace import race_table, real_race

__all__ = [
    "status_chart",
    "chart",
    "node_chart",
    "level_table",
    "space_time",
    "Move",
    "ownership_table",
    "field_table",
    "matrix_table",
    "node_matrix_table",
    "trace_table",
    "refusal_table",
    "race_table",
    "real_race",
    "Picture",
    "Node",
    "Arrow",
    "Lane",
    "Step",
    "Form",
    "Standing",
    "EngineMissing",
]



def __getattr__(name: str) -> object:
    # Imported when asked for: it starts programs, and one of them is in this package.
    if name not in ("race_table", "real_race"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runstate_lab.show import realrace

    return getattr(realrace, name)
