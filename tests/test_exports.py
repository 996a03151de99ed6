"""What a widget is saved as: picture, table and words; what is refused, what is kept."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from runstate_lab.live.boards.board import Board
from runstate_lab.live.charts.statechart import StateChart
from runstate_lab.live.exports import standalone
from runstate_lab.live.form import Form, Item, Reply
from runstate_lab.live.live import Askew, Live, Sealed
from runstate_lab.live.realrace import RealRace

SVG = "{http://www.w3.org/2000/svg}"
MAKERS: dict[str, Callable[[], Live]] = {
    "board": lambda: Board(variants=("naive",), schedule="ABABAB"),
    "chart": lambda: StateChart("run_started", "waiting", "completed"),
    "expecting": lambda: StateChart("run_started", expect=True),
    "empty": lambda: Board(),
    "race": lambda: RealRace(),
}
every_widget = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def form() -> Form:
    """A widget without a drawing and without a table."""
    item = Item("98.3", "choice", "Which way?", (("left", "right"),))
    return Form("A question", (item,), lambda *given: Reply("noted"))


@every_widget
def test_the_picture_is_one_named_document_on_an_opaque_ground(make: Callable[[], Live]) -> None:
    """It has a title and the same alt text, a size, and covers its ground first."""
    root = ElementTree.fromstring(make().svg())
    title, ground = root[0], root[1]

    assert (f"{SVG}svg", f"{SVG}title", f"{SVG}rect") == (root.tag, title.tag, ground.tag)
    assert title.text == root.get("aria-label")
    assert title.text
    assert ("100%", "100%", "#ffffff") == tuple(map(ground.get, ("width", "height", "fill")))
    assert float(root.get("width", 0)) > 500


@every_widget
def test_what_is_saved_twice_is_the_same_to_the_byte(make: Callable[[], Live]) -> None:
    """Two fresh widgets give the same picture and the same table."""
    assert (make().svg(), make().csv()) == (make().svg(), make().csv())


def test_the_saved_picture_holds_every_word_of_the_shown_one() -> None:
    """The words of a lost update are there, and nothing asks for another file."""
    text = Board(variants=("naive",), schedule="ABABAB").svg()
    root = ElementTree.fromstring(text)
    words = [node.text for node in root.iter(f"{SVG}text")]

    assert (1, 2) == (words.count("is gone"), words.count("accepted"))
    assert [] == [word for word in ("href", "@import", "url(", "<script") if word in text]


def test_pictures_are_stacked_where_there_are_several() -> None:
    """Two drawings become one document that is as wide as the wider one."""
    one, two = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="20" role="img"/>'
        for wide in (40, 90)
    )
    root = ElementTree.fromstring(standalone([one, two], "Two", mark="Pair"))

    assert ("90", "52") == (root.get("width"), root.get("height"))
    assert ["0", "32"] == [node.get("y") for node in root.findall(f"{SVG}svg")]
    assert [None, None] == [node.get("role") for node in root.findall(f"{SVG}svg")]


def test_the_table_is_read_back_by_any_reader() -> None:
    """Heads first, a comma in a cell is quoted, one line a row."""
    rows = list(csv.reader(io.StringIO(Board(variants=("naive",), schedule="ABABAB").csv())))

    assert ["step", "who", "what", "answer", "revision", "remark"] == rows[0]
    assert ["5", "A test tool", "submits tests=green, made from 4", "accepted at revision 5", "5", "B still believes in revision 4"] == rows[5]
    assert 7 == len(rows)


def test_an_empty_table_has_its_heads() -> None:
    """Nothing was played: one line."""
    assert "step,who,what,answer,revision,remark\n" == Board().csv()


@pytest.mark.parametrize(
    ("name", "what"), [("a.svg", "picture"), ("a.csv", "table"), ("a.TXT", "words")]
)
def test_a_file_is_saved_by_its_ending_and_replaced_by_its_like(
    name: str, what: str, tmp_path: Path
) -> None:
    """The second save replaces the first; nothing else is left in the folder."""
    place = tmp_path / name
    board = Board(variants=("naive",), schedule="AB")
    said = board.save(place)
    board.play("ABABAB")
    board.save(str(place))

    assert f"Saved the {what} as {place}." == said
    assert "gone" in place.read_text("utf-8") or what == "table"
    assert [name] == [one.name for one in tmp_path.iterdir()]


def test_the_words_are_the_sentence_and_every_row() -> None:
    """What a screen reader reads: the kind, the sentence, what is said, the rows."""
    chart = StateChart("run_started", "completed")

    assert [
        "StateChart, in words.",
        chart.sentence(),
        "Trace.",
        "1. step: 1; event: run_started; at status: queued; answer: accepted, now running; "
        "revision: 1",
        "2. step: 2; event: run_completed; at status: running; answer: refused by "
        "success_not_met; revision: 1",
    ] == chart._words().splitlines()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("board.svg", "a file there that no Board saved"),
        ("board.csv", "a file there that no Board saved"),
        ("board.txt", "a file there that no Board saved"),
        ("board.png", "the ending '.png'"),
        ("board", "the ending ''"),
        ("folder.svg", "a folder"),
        ("nowhere/board.svg", "no such file or directory"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_what_is_there_stays(
    name: str, found: str, tmp_path: Path
) -> None:
    """A foreign file keeps its bytes; the message names what is there and what to do."""
    (tmp_path / "folder.svg").mkdir()
    place = tmp_path / name
    foreign = place.suffix != ".png" and place.suffix and place.parent == tmp_path
    if foreign and not place.exists():
        place.write_text("mine\n")
    before = sorted(one.name for one in tmp_path.rglob("*"))
    with pytest.raises(Askew, match=found) as refused:
        Board().save(place)

    assert "\nhint: " in str(refused.value)
    assert before == sorted(one.name for one in tmp_path.rglob("*"))
    assert not place.is_file() or "mine\n" == place.read_text()


def test_the_picture_of_another_widget_is_another_kind(tmp_path: Path) -> None:
    """A board does not replace a chart, although both are SVG."""
    place = tmp_path / "picture.svg"
    StateChart().save(place)
    with pytest.raises(Askew, match="no Board saved"):
        Board().save(place)

    assert 'data-widget="StateChart"' in place.read_text("utf-8")


def test_a_widget_without_a_drawing_or_a_table_says_so(tmp_path: Path) -> None:
    """A form is words alone, and those are saved."""
    with pytest.raises(Askew, match="no drawing"):
        form().svg()
    with pytest.raises(Askew, match="no table"):
        form().csv()
    form().save(tmp_path / "form.txt")

    assert "Form, in words.\nA question: Which way?\n" == (tmp_path / "form.txt").read_text("utf-8")


@pytest.mark.parametrize("ending", ["svg", "csv", "txt"])
@every_widget
def test_a_locked_widget_gives_nothing_away(
    make: Callable[[], Live], ending: str, tmp_path: Path
) -> None:
    """Neither a call nor a file gets round the lock."""
    widget = make()
    widget.seal("predict first")
    with pytest.raises(Sealed, match="found the widget locked\nhint: predict first"):
        widget.save(tmp_path / f"a.{ending}")

    assert [] == list(tmp_path.iterdir())
    if ending != "txt":
        with pytest.raises(Sealed):
            getattr(widget, ending)()


class Loose(Live):
    """A widget whose table does not ask whether it is locked."""

    def sentence(self) -> str:
        """Nothing to say."""
        return "loose"

    def table(self) -> object:
        """A table that should not get out."""
        return Board(variants=("naive",), schedule="A").table()


def test_the_lock_holds_where_a_table_forgets_to_ask() -> None:
    """Saving asks for itself."""
    widget = Loose()
    widget.sealed = "predict first"
    with pytest.raises(Sealed):
        widget.csv()


def test_a_disk_that_fails_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written whole or not at all."""
    place = tmp_path / "board.csv"
    board = Board(variants=("naive",), schedule="A")
    board.save(place)
    before = place.read_bytes()

    def fail(*given: object) -> None:
        raise OSError(28, "No space left on device")

    board.play("AB")
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(Askew, match="found no space left on device"):
        board.save(place)

    assert (before, ["board.csv"]) == (
        place.read_bytes(),
        [one.name for one in tmp_path.iterdir()],
    )
