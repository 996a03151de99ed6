"""Every widget answers a call that cannot be followed with `Askew`: asked, found, hint."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

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
from runstate_lab.model import RunState
from runstate_lab.store import StateStore


class Raising(StateStore):
    """A store that cannot be read."""

    def load(self) -> RunState:
        """Nothing."""
        raise OSError("disk gone")


class NoTrace(StateStore):
    """A store that keeps no trace."""

    trace = property(lambda self: 1 / 0)


class Unmade(StateStore):
    """A store that cannot be made."""

    def __init__(self, state: RunState) -> None:
        raise OSError("no room")


def store(kind: type[StateStore]) -> StateStore:
    return kind(RunState("run-7"))


CALLS: dict[str, Callable[[], object]] = {
    "mine=3": lambda: Board("two_writers", mine=3),
    "mine=nope": lambda: Board("two_writers", mine="nope"),
    "mine raises": lambda: Board("two_writers", mine=Unmade),
    "names=[]": lambda: Board(names=[]),
    "names={A: 3}": lambda: Board(names={"A": 3}),
    "invariants=(3,)": lambda: Board(invariants=(3,)),
    "invariants=3": lambda: Board(invariants=3),
    "workers=3": lambda: Board(workers=3),
    "compare=x": lambda: Board(compare="x"),
    "schedule=3": lambda: Board(schedule=3),
    "Board([])": lambda: Board([]),
    "Board(None)": lambda: Board(None),
    "choose([])": lambda: BOARD.choose([]),
    "explore([])": lambda: BOARD.explore([]),
    "shortest([])": lambda: BOARD.shortest([]),
    "play([])": lambda: BOARD.play([]),
    "nodes choose([])": lambda: NODES.choose([]),
    "nodes cancel({})": lambda: NODES.cancel({}),
    "nodes finish({})": lambda: NODES.finish("w1", {}),
    "nodes approve({})": lambda: NODES.approve({}),
    "nodes press([])": lambda: NODES.press([]),
    "nodes compare=3": lambda: NodeBoard(compare=3),
    "lens(3)": lambda: VIEW.lens(3),
    "provenance(3)": lambda: VIEW.provenance(3),
    "frames=[1]": lambda: RunView(frames=[1]),
    "frames=3": lambda: RunView(frames=3),
    "view of raising": lambda: RunView(store(Raising)),
    "view without trace": lambda: RunView(store(NoTrace)),
    "slider of raising": lambda: ContextSlider(store(Raising)),
    "slider without trace": lambda: ContextSlider(store(NoTrace)),
    "privacy=[]": lambda: ContextSlider().choose(privacy=[]),
    "keyed=x": lambda: CrashLab().choose(keyed="x"),
    "keyed=None": lambda: CrashLab(keyed=None),
    "loop=[]": lambda: CrashLab(loop=[]),
    "expect=x": lambda: StateChart(expect="x"),
    "rules=3": lambda: StateChart(rules=3),
    "beside(0)": lambda: ApprovalDesk().beside(0),
    "ApprovalDesk(3)": lambda: ApprovalDesk(3),
    "by nobody": lambda: ApprovalDesk().grant(by=""),
    "save(3)": lambda: CHART.save(3),
    "save(None)": lambda: CHART.save(None),
    "save(null)": lambda: CHART.save("\x00.svg"),
    "writers=-1": lambda: RealRace(writers=-1),
    "writers=x": lambda: RealRace(writers="x"),
    "each=1.5": lambda: RealRace(each=1.5),
    "limit=nan": lambda: RealRace(limit=float("nan")),
}
BOARD = Board(variants=("naive",))
NODES, CHART = NodeBoard(), StateChart()
VIEW = RunView(StateStore(RunState("run-7")))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_cannot_be_followed_says_why(name: str) -> None:
    """In words, with what to do; and nothing was done."""
    with pytest.raises(Askew) as askew:
        CALLS[name]()
    assert askew.value.asked and askew.value.found and askew.value.hint
    assert "working" not in NODES.text() and "cancelled" not in NODES.text()


@pytest.mark.parametrize("name", ["\x01", "\x9f", "\ud800", "\uffff", "ro\x00sa"])
def test_letters_that_no_file_can_hold_are_escaped(name: str, tmp_path: Path) -> None:
    """Pictures stay whole documents, and every kind of file can be written."""
    desk = ApprovalDesk()
    desk.grant(by=name)
    ElementTree.fromstring(desk.svg())
    desk._repr_mimebundle_()[0]["text/html"].encode()
    for ending in (".svg", ".csv", ".txt"):
        desk.save(tmp_path / f"desk{ending}")
        (tmp_path / f"desk{ending}").read_text("utf-8")


def test_an_answer_is_told_under_the_name_as_given() -> None:
    """A name that is not one of the known ones stands in quotes, letter by letter."""
    assert ApprovalDesk().grant(by="Rosa").startswith("“Rosa” grants: refused, answer_foreign")
    assert ApprovalDesk().grant(by="rosa").startswith("Rosa grants: accepted")


def test_a_file_of_the_learner_is_never_replaced(tmp_path: Path) -> None:
    """Neither one with the same first line, nor what a link points to; its own it does."""
    place, board = tmp_path / "mine.csv", Board(variants=("naive",))
    place.write_text("step,who,what,answer,revision\n1,me,my notes,,\n")
    with pytest.raises(Askew, match="a file there that no Board saved"):
        board.save(place)
    assert "my notes" in place.read_text()
    own = tmp_path / "own.csv"
    board.save(own)
    board.play("AB")
    board.save(own)
    own.write_text(own.read_text() + "my line\n")
    with pytest.raises(Askew, match="choose another name"):
        board.save(own)
    link = tmp_path / "link.svg"
    board.save(tmp_path / "real.svg")
    link.symlink_to(tmp_path / "real.svg")
    with pytest.raises(Askew, match="a link to another file"):
        board.save(link)
    assert link.is_symlink()


def test_a_sealed_widget_says_only_that_it_is_locked() -> None:
    """No score, no numbers, no order that was tried; they come back afterwards."""
    chart, race, board = StateChart("run_started"), RealRace(), Board(schedule="AAABBB")
    for widget in (chart, race, board):
        widget.seal("Predict first.")
    assert {chart.score(), chart.text()} == {"Status chart, locked: Predict first."}
    assert race.text() == "A real race, locked: Predict first."
    assert board.tried == []
    board.unseal()
    assert board.tried == ["AAABBB"]
