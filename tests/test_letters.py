"""Any letter may stand in a name, an actor, a fact: every picture stays a whole document."""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from runstate_lab import Fact, NodeState, RunState, RunStatus, StateProposal, ToolCall
from runstate_lab.course.predictions import Later
from runstate_lab.errors import Refusal
from runstate_lab.graph import ExecutableGraph, Node
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
from runstate_lab.live.form import Form, Item, Reply
from runstate_lab.live.live import Live, locked_picture
from runstate_lab.live.marks import still, text
from runstate_lab.rules import RULES
from runstate_lab.runtime import Runtime
from runstate_lab.show import (
    Arrow,
    Lane,
    Move,
    Picture,
    Standing,
    Step,
    chart,
    level_table,
    node_chart,
    space_time,
    status_chart,
    trace_table,
)
from runstate_lab.show import Node as Box
from runstate_lab.show.letters import SIGN, escaped, legal
from runstate_lab.store import StateStore

NAMED = ["\x1b[31m", "\x00", "\x01", "\x08", "\x0b", "\x0c", "\x1f", "\x7f", "\x85", "\x9f",
         "\ud800", "\udfff", "\udc80", "\ufffe", "\uffff", "a\rb", "\t", "\\", "\\N", "<b>&amp;</b>",
         "]]>", '"', "'", "\U0001f600", "运行", "\u202e", "\n\n"]  # fmt: skip
ANY = some.text(some.characters(codec=None), max_size=12) | some.sampled_from(NAMED)
BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def a_run(word: str) -> StateStore:
    """A run in which a word stands wherever a text is taken."""
    call = ToolCall("c1", "scan", (("release", word),))
    said = word or "x"
    facts = (Fact("build", said, source=f"tool:{word}", authority="tool_executor", call_id="c1"),)
    page = RunState("run-7", goal=word, success=(f"build={said}",), facts=facts, calls=(call,))
    runtime = Runtime(StateStore(page))
    for kind, value, at in (
        ("run_started", "", 0), ("run_cancelled", word, 1), ("run_cancelled", f"{word}!", 1),
    ):  # fmt: skip
        try:
            runtime.accept_runtime(StateProposal(kind, value, at))
        except Refusal:
            continue
    return runtime.store


def nodes(word: str) -> RunState:
    """A run with nodes that are named by the word."""
    names = (f"{word}1", f"{word}2")
    made = tuple(NodeState(name, reason=word, worker=word) for name in names)
    return RunState("run-7", status=RunStatus.RUNNING, nodes=made)


def drawn(word: str) -> Iterator[Picture]:
    """Every public function that gives a picture, with the word wherever it takes one."""
    store = a_run(word)
    yield chart(store)
    yield status_chart("running", refused=(word, f"r{word}", word))
    yield node_chart(nodes(word))
    yield node_chart(nodes(word), node=f"{word}1")
    yield space_time(store.trace)
    yield space_time([
        Move(f"A{word}", 1, "read", seen=4),
        Move(f"A{word}", 2, "compute", value=word),
        Move(f"A{word}", 3, "submit", seen=4, value=word, code=f"c{word}"),
    ])  # fmt: skip
    ends = (Box(name=f"{word}1", label=word, note=word, lit=True), Box(name=f"{word}2"))
    go = {"tail": f"{word}1", "head": f"{word}2", "label": word}
    refused = Arrow(**go, standing=Standing.REFUSED, rule=f"r{word}", by=word)
    yield Picture(title=word, nodes=ends, arrows=(Arrow(**go), refused), summary=word)
    step = Step(number=1, sentence=word, cells=(("what", word),), y=60)
    lanes = (Lane(name=f"{word}1", label=word, note=word, x=90),)
    yield Picture(title=word, nodes=(), lanes=lanes, steps=(step,), size=(300, 120))


def documents(html: str) -> list[ElementTree.Element]:
    """The pictures in some HTML, read as XML."""
    coded = re.findall(r'base64,([^"]+)"', html)
    return [ElementTree.fromstring(base64.b64decode(one)) for one in coded]


def checked(bundle: dict[str, Any]) -> None:
    """Nothing unseen in what a notebook would keep, and every picture is a document."""
    shown = {kind: words for kind, words in bundle.items() if isinstance(words, str)}
    json.dumps(shown, ensure_ascii=False).encode()

    assert [] == [kind for kind, words in shown.items() if BAD.search(words)]
    documents(shown.get("text/html", ""))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY)
def test_every_picture_is_a_document_whatever_stands_in_it(word: str) -> None:
    """Light and inline, in a notebook and as a file."""
    for picture in drawn(word):
        ElementTree.fromstring(picture.svg())
        ElementTree.fromstring(picture.svg(theme="inline"))
        checked(picture._repr_mimebundle_())


@pytest.mark.parametrize("word", NAMED, ids=ascii)
def test_the_letters_known_to_break_pictures_do_not(word: str) -> None:
    """Each of them, in every picture and table of the kit."""
    for picture in drawn(word):
        ElementTree.fromstring(picture.svg())
        checked(picture._repr_mimebundle_())
    for table in (trace_table(a_run(word)), level_table(a_run(word))):
        checked({"text/html": table._repr_html_(), "text/plain": repr(table)})


def test_what_cannot_be_shown_is_seen_to_be_there() -> None:
    """One sign for each letter, in the drawing, its name and its words."""
    picture = Picture(title="T", nodes=(Box(name="bu\x1bild\ufffe"),), summary="a\x01b")
    root = ElementTree.fromstring(picture.svg())
    words = [node.text for node in root.iter() if node.tag.endswith("}text")]

    assert [f"bu{SIGN}ild{SIGN}"] == words
    assert f"a{SIGN}b" == root.get("aria-label")


@given(some.text(some.characters(codec=None)))
def test_only_what_xml_forbids_is_replaced(word: str) -> None:
    """Everything else stays, letter by letter; HTML is escaped besides."""
    assert [SIGN if BAD.match(letter) else letter for letter in word] == list(legal(word))
    assert [] == BAD.findall(escaped(word))
    ElementTree.fromstring(f"<p>{escaped(word)}</p>")


def widgets(word: str) -> dict[str, Callable[[], Live]]:
    """Every widget, with the word wherever it takes one."""
    # Graphs and schedulers refuse a NUL themselves.
    name = word.replace("\0", "") or "x"
    graph = ExecutableGraph([Node(name, dict, approver=name)], start=(name,))
    item = Item("98.1", "choice", word, ((word, "b"),), code=word)
    reply = Reply(word, more=(word,))

    def desk() -> ApprovalDesk:
        made = ApprovalDesk()
        made.grant(by=f"m{word}")
        return made

    def later() -> Later:
        made = Later(lambda: print(word))
        made.unseal(choice=word, why=word)
        return made

    return {
        "board": lambda: Board(names={"A": f"t{word}"}, schedule="AAB"),
        "desk": desk,
        "nodes": lambda: NodeBoard(graph, workers=(f"w{name}", "w2")),
        "view": lambda: RunView(a_run(word)),
        "slider": lambda: ContextSlider(a_run(word)),
        "chart": lambda: StateChart("run_started", rules=RULES),
        "crash": lambda: CrashLab(kill=3),
        "race": lambda: RealRace(each=3),
        "form": lambda: Form(word, (item,), lambda *given: reply, replies={"98.1": reply}),
        "later": later,
    }


@pytest.mark.parametrize("word", ["\x1b", "\x01", "\ufffe", "\uffff", "\x9f", "\x00"], ids=ascii)
@pytest.mark.parametrize("name", widgets("x"))
def test_every_widget_stays_whole_whatever_stands_in_it(
    name: str, word: str, tmp_path: Path
) -> None:
    """Its stored picture is a document, and every file that it can be saved as is read again."""
    widget = widgets(word)[name]()
    checked(widget._repr_mimebundle_()[0])
    json.dumps(widget.get_state(), ensure_ascii=False).encode()
    if name not in ("form", "later"):
        ElementTree.fromstring(widget.svg())
        for ending in (".svg", ".txt"):
            widget.save(tmp_path / f"kept{ending}")
            (tmp_path / f"kept{ending}").read_text("utf-8")


def test_half_a_letter_can_be_sent_to_the_browser() -> None:
    """A lone surrogate fits into no message, so it is replaced on the way."""
    board = Board(names={"A": "t\ud800"}, schedule="AAB")

    assert "t\ufffd" in json.dumps(board.get_state(), ensure_ascii=False)
    checked(board._repr_mimebundle_()[0])


def test_marks_and_locks_take_any_letter() -> None:
    """A mark shows the sign, live and stored; a lock does too."""
    assert f"a{SIGN}" == text(0, 0, "a\x1b", "label")[2]
    checked({"text/html": still([("g", (text(0, 0, "\ud800", "label"),))], (10, 10), "\x00")})
    checked({"text/html": locked_picture("\x1b")})
