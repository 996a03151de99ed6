"""Every picture, held to the same promises: complete, readable, repeatable."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from stories import approved_run, graph_run

from runstate_lab import RULES, SOURCE_TEXT, RunState, Runtime, StateProposal, StateStore
from runstate_lab.model import NodeState
from runstate_lab.show import (
    Arrow,
    Move,
    Node,
    Picture,
    Standing,
    chart,
    engine,
    node_chart,
    space_time,
    status_chart,
)
from runstate_lab.show.dot import width

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = (f"{SVG}path", f"{SVG}polygon", f"{SVG}ellipse")
GROUND = "#ffffff"
MARKS = "●×!…"
COUNTED = re.compile(r"^(?:\+|or )\d+ more$|^\d+ nodes$")
PAGES = {"light": "#ffffff", "dark": "#111111", "dark panel": "#212121"}
HOSTILE = "<script>alert('x')</script> & \"q\" \\N <b>\nsecond line &lt;"


def refused_store() -> StateStore:
    """The scenario of the source text: a completed run and one refusal."""
    store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
    runtime.accept_runtime(StateProposal("run_completed", "", 2))
    with pytest.raises(PermissionError):
        runtime.accept_model_proposal(StateProposal("run_completed", "", 3))
    return store


def hostile() -> Picture:
    """A picture that Graphviz lays out itself, with labels that try to break out."""
    tail, head = Node(name=HOSTILE, lit=True, note="R&D"), Node(name="运行中状态")
    there = Arrow(tail=tail.name, head=head.name, label=HOSTILE, standing=Standing.TAKEN)
    back = Arrow(tail=head.name, head=tail.name, label="请求审批", standing=Standing.REFUSED,
                 rule="illegal_transition")
    return Picture(title="Hostile & <b>", nodes=(tail, head), arrows=(there, back))


def moves() -> tuple[Move, ...]:
    """Reads, a computation, an accepted, a losing and a refused submission."""
    return (
        Move("测试工具", 1, "read", seen=4),
        Move("<script>", 2, "compute", value="a & \"b\""),
        Move("测试工具", 3, "submit", seen=4, value="测试=全部通过了", after=5),
        Move("<script>", 4, "submit", seen=4, value="scan=clean", after=5, outcome="lost update"),
        Move("C", 5, "submit", seen=4, value="a\nvalue " + "very " * 20 + "long", after=5,
             code="revision_conflict"),
    )


PICTURES = {
    "chart": status_chart(),
    "chart refused": status_chart(
        "completed", refused=("run_started", "illegal_transition", "model:planner"),
        history=("queued", "running", "waiting", "running", "completed"),
    ),
    "chart cancelled": status_chart("cancelled", refused=("run_cancelled", "illegal_transition")),
    "chart of store": chart(refused_store()),
    "trace": space_time(refused_store().trace),
    "moves": space_time(moves()),
    "cut chart": status_chart("running", rules=RULES.only("run_started", "run_cancelled")),
    "chart of an approval": chart(approved_run()),
    "trace of an approval": space_time(approved_run().trace),
    "trace of a graph": space_time(graph_run().trace),
    "node chart": node_chart(graph_run().load(), history=graph_run().trace),
    "node chart of many": node_chart([NodeState(f"node-{place}") for place in range(9)]),
    "hostile": hostile(),
}
every_picture = pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())


def parsed(picture: Picture, *, theme: str = "light") -> ElementTree.Element:
    """The SVG of a picture as XML."""
    return ElementTree.fromstring(picture.svg(theme=theme))


def texts(root: ElementTree.Element) -> list[str]:
    """Every text that the SVG shows."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def text_and_ground(root: ElementTree.Element) -> list[tuple[str, str, str]]:
    """For each text its words, its fill, and the fill it stands on ("" is the page)."""
    found = []
    for group in root.iter(f"{SVG}g"):
        node = "node" in group.get("class", "").split()
        fills = [part.get("fill", "none") for part in group if part.tag in SHAPES] if node else []
        opaque = [fill for fill in fills if fill != "none"]
        for text in group.findall(f"{SVG}text"):
            found.append((text.text or "", text.get("fill", "#000000"), opaque[0] if opaque else ""))
    return found


@every_picture
def test_the_text_twin_says_everything_that_the_drawing_shows(picture: Picture) -> None:
    """Each word in the SVG is in the twin, a shortened one as the beginning of one.

    Where the drawing counts, the twin names.
    """
    twin = " ".join(picture.text().split())
    for shown in (COUNTED.sub("", text) for text in texts(parsed(picture))):
        for word in shown.strip(MARKS + " ").split():

            assert word.strip(",:") in twin, word


@every_picture
def test_there_are_words_in_every_picture(picture: Picture) -> None:
    """The test above looks at something: each picture shows texts."""
    assert len(texts(parsed(picture))) >= 4


@every_picture
def test_every_arrow_is_drawn_once(picture: Picture) -> None:
    """The SVG has as many arrows as the model."""
    groups = [group.get("class", "").split() for group in parsed(picture).iter(f"{SVG}g")]

    assert len(picture.arrows) == sum("rs_arrow" in names for names in groups)


@every_picture
def test_text_has_contrast_on_its_light_ground(picture: Picture) -> None:
    """Each text has a contrast of at least 4.5 to the fill below it."""
    for words, fill, ground in text_and_ground(parsed(picture)):

        assert contrast(fill, ground or GROUND) >= 4.5, words


@every_picture
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_inline_text_has_contrast_on_any_page(picture: Picture, page: str) -> None:
    """Inline text takes the page's own colour, or stands on an opaque fill."""
    for words, fill, ground in text_and_ground(parsed(picture, theme="inline")):
        if fill == "currentColor":

            assert ground == "", words
        else:

            assert contrast(fill, ground or page) >= 4.5, words


@every_picture
def test_the_light_picture_has_an_opaque_ground_and_the_inline_one_has_none(
    picture: Picture,
) -> None:
    """An <img> cannot follow the theme, so it brings its own ground along."""
    assert [GROUND] == [rect.get("fill") for rect in parsed(picture).iter(f"{SVG}rect")]
    assert [] == list(parsed(picture, theme="inline").iter(f"{SVG}rect"))


@every_picture
def test_no_text_is_clipped(picture: Picture) -> None:
    """Each text lies within the drawing, by the widths that the layout used."""
    root = parsed(picture)
    left, top, wide, high = map(float, root.get("viewBox", "").split())
    group = root.find(f"{SVG}g")
    assert group is not None
    moved = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", group.get("transform", ""))
    assert moved is not None
    across, down = map(float, moved.groups())
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", "0"))
        whole = width(text.text or "", size, bold=text.get("font-weight") == "bold")
        x = float(text.get("x", "0")) + across
        start = x - whole / 2 if text.get("text-anchor") == "middle" else x
        y = float(text.get("y", "0")) + down

        assert left <= start and start + whole <= left + wide, text.text
        assert top <= y - 0.8 * size and y <= top + high, text.text


@every_picture
def test_words_fit_into_their_boxes(picture: Picture) -> None:
    """Each box is at least as wide as its words, a Chinese letter being one em."""
    for group in parsed(picture).iter(f"{SVG}g"):
        if "rs_box" not in group.get("class", "").split():
            continue
        outline = group.find(f"{SVG}path")
        assert outline is not None
        across = [float(x) for x in re.findall(r"(-?[\d.]+),", outline.get("d", ""))]
        for text in group.findall(f"{SVG}text"):
            size = float(text.get("font-size", "0"))
            needed = width(text.text or "", size, bold=text.get("font-weight") == "bold")

            assert max(across) - min(across) >= needed, text.text


@every_picture
def test_the_bytes_repeat(picture: Picture) -> None:
    """An equal picture, drawn afresh, gives the same bytes."""
    first = picture.svg()
    engine.drawn.cache_clear()

    assert first == picture.svg()


def test_the_bytes_do_not_depend_on_the_hash_seed() -> None:
    """Two processes with different hash seeds write the same DOT source."""
    program = "from runstate_lab.show import status_chart; print(status_chart('running').dot())"
    found = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }

    assert {status_chart("running").dot() + "\n"} == found


@every_picture
def test_a_notebook_keeps_an_image_with_an_alt_text_and_one_sentence(picture: Picture) -> None:
    """The bundle has no bare SVG, no memory address, and the whole drawing."""
    bundle = picture._repr_mimebundle_()

    assert {"text/html", "text/plain"} == set(bundle)
    assert repr(picture) == bundle["text/plain"]
    assert "0x" not in repr(picture) and "\n" not in repr(picture)
    image = ElementTree.fromstring(bundle["text/html"].replace('">', '"/>'))
    assert "img" == image.tag
    assert repr(picture) == image.get("alt")
    coded = image.get("src", "").removeprefix("data:image/svg+xml;base64,")
    assert picture.svg() == base64.b64decode(coded).decode()


@every_picture
def test_the_drawing_is_named_for_a_screen_reader(picture: Picture) -> None:
    """The SVG is one image with the picture's sentence as its name."""
    root = parsed(picture, theme="inline")

    assert "img" == root.get("role")
    assert picture.sentence == root.get("aria-label")


def test_hostile_labels_are_shown_and_never_read_as_markup() -> None:
    """Tags, quotes, entities and escapes arrive letter by letter."""
    root = parsed(hostile())
    shown = texts(root)

    assert "<script>alert('x')</script> & \"q\" \\N <b>" in shown
    assert "second line &lt;" in shown
    assert [] == [part.tag for part in root.iter() if "script" in part.tag]


def test_control_characters_cannot_break_the_drawing() -> None:
    """A letter that XML cannot write is shown as a replacement."""
    picture = Picture(title="Control", nodes=(Node(name="bell \x07\x00 rings"),))

    assert ["bell \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} rings"] == texts(parsed(picture))


def test_two_inline_pictures_share_no_id() -> None:
    """Ids start with the prefix that was asked for."""
    one, other = status_chart().svg(theme="inline", prefix="left"), status_chart().svg(theme="inline")
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, other)]

    assert set() == ids[0] & ids[1]
    assert "left_node_running" in ids[0] and "rs_node_running" in ids[1]


def test_the_table_has_one_row_an_arrow() -> None:
    """A chart's table names ends, event, standing and rule of each arrow."""
    picture = PICTURES["chart of store"]
    table = picture.table()

    assert ["from", "to", "event", "standing", "rule"] == list(table.columns)
    assert ["taken", "taken", "refused"] == list(table["standing"])
    assert "writer_rejected" == table["rule"].iloc[-1]


def test_the_table_of_moves_has_one_row_a_step() -> None:
    """A view over time gives its moves with revisions and codes."""
    table = PICTURES["moves"].table()

    assert [1, 2, 3, 4, 5] == list(table["step"])
    assert "revision_conflict" == table["code"].iloc[-1]


def test_without_an_engine_the_twin_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture that cannot be drawn says so and shows its text instead."""
    picture = Picture(title="Not cached", nodes=(Node(name="only here <b>"),))
    engine.drawn.cache_clear()
    monkeypatch.setattr(engine, "find_program", lambda: None)
    shown = picture._repr_mimebundle_()["text/html"]

    assert shown.startswith("<pre>Not cached.")
    assert "only here &lt;b&gt;" in shown and "hint: pip install graphviz-pure" in shown
