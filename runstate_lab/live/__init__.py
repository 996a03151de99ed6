"""Machinery. The live widgets: press, and a real store answers.

    Board(world)    be the scheduler of real code: every order, faults, your own store
    RunView(store)  open a run: scrub, compare two steps, ask who wrote a field
    StateChart()    propose events, watch what the rules answer
    RealRace()      processes that really write to one file; no number is stored
    NodeBoard()     workers take the nodes of a graph; claims, leases, fencing
    ContextSlider() what a model gets to see, at every budget; what is left out
    ApprovalDesk()  rosa is asked; grant, deny, too late, as somebody else
    CrashLab()      kill run-7 at any moment, recover, let another go on

Every control of a widget `w` is also a plain call, and gives the sentence that
the widget says. `w.sentence()` says what is shown, `w.table()` holds it,
`w.picture()` is what a notebook keeps of it.

What is not here: pictures that do not move (see `show`), and when a widget is
sealed (see `course`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runstate_lab.live.boards.board import Board
    from runstate_lab.live.charts.statechart import StateChart
    from runstate_lab.live.contexts.slider import ContextSlider
    from runstate_lab.live.crashes.lab import CrashLab
    from runstate_lab.live.desks.desk import ApprovalDesk
    from runstate_lab.live.nodes.board import NodeBoard
    from runstate_lab.live.realrace import RealRace
    from runstate_lab.live.runs.view import RunView

LATER = {
    "boards.board": "Board",
    "crashes.lab": "CrashLab",
    "contexts.slider": "ContextSlider",
    "desks.desk": "ApprovalDesk",
    "nodes.board": "NodeBoard",
    "realrace": "RealRace",
    "runs.view": "RunView",
    "charts.statechart": "StateChart",
}
_HOME = {name: module for module, names in LATER.items() for name in names.split()}

__all__ = ["ApprovalDesk", "Board", "ContextSlider", "CrashLab", "NodeBoard", "RealRace", "RunView", "StateChart"]


def __getattr__(name: str) -> object:
    # Imported when asked for: no one waits for the widgets who shows none.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
