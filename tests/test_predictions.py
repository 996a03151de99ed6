"""Predictions come first, with a reason; what they guard opens in the same output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import comm
import pytest
from comm import DummyComm

from runstate_lab.course import after, locked, predict, predictions, questiontable, reveal
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.progress import Progress, progress_of
from runstate_lab.live import ApprovalDesk, ContextSlider, CrashLab, NodeBoard, StateChart
from runstate_lab.live.boards.board import Board
from runstate_lab.live.live import Sealed

QUESTIONS = Path(__file__).parent / "questions"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A progress file of its own, and the questions of lesson 98."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(path))
    monkeypatch.setattr(questiontable, "FOLDER", QUESTIONS)
    yield path
    predictions._GUARDED.clear()


def test_a_guarded_widget_opens_when_the_prediction_is_made() -> None:
    """The very widget that was shown locked gets its steps, and the prediction."""
    box = predict("98.2")
    board = locked("98.2", Board)
    assert {} == board.graph

    box.answer("98.2", "a", "each tool writes its own")

    assert "A, the test tool, reads revision 4." == board.step("A")
    assert {"choice": "both", "why": "each tool writes its own"} == board.prediction


def test_a_prediction_needs_a_reason() -> None:
    """Without one it is not kept, and nothing opens."""
    board = locked("98.2", Board)

    with pytest.raises(AskedWrongly, match="no reason yet"):
        predict("98.2").answer("98.2", "a", "  ")

    assert {} == board.graph
    assert None is progress_of().entry("predictions", "98.2")


def test_the_fault_of_an_answer_is_shown_in_the_form() -> None:
    """What came from the browser without a reason is refused where the learner looks."""
    box = predict("98.2")
    box._heard(box, {"id": "98.2", "letters": "a", "why": ""}, [])

    assert box.fault.startswith("AskedWrongly: prediction 98.2 has no reason yet")


def test_a_kept_prediction_is_not_changed_afterwards() -> None:
    """The second answer shows the first one again."""
    box = predict("98.2")
    box.answer("98.2", "a", "each tool writes its own")

    assert "You said: both, because: each tool writes its own" == box.answer(
        "98.2", "b", "I knew it"
    )
    assert "both" == progress_of().entry("predictions", "98.2")["choice"]


def test_the_page_shows_the_prediction_beside_the_outcome() -> None:
    """The reply has both; before the prediction the outcome is nowhere in the form."""
    box = predict("98.2")
    before = json.dumps([box.items, box.replies, box._repr_mimebundle_()[0]["text/html"]])
    box.answer("98.2", "a", "each tool writes its own")

    assert "nobody was told" not in before
    assert ["What happens: One, and nobody was told."] == box.replies["98.2"]["more"]


def test_what_comes_after_is_worked_out_only_then() -> None:
    """The work is not done before the prediction, and shown in place after it."""
    done: list[str] = []
    shown = after("98.2", lambda: done.append("work") or "a <result>")
    assert [] == done

    predict("98.2").answer("98.2", "b", "the later one wins")

    assert ["work"] == done
    assert "a &lt;result&gt;" in shown.graph["html"]


def test_after_the_prediction_a_cell_gives_its_plain_value() -> None:
    """A cell that is run again has the value itself, as if nothing had guarded it."""
    predict("98.2").answer("98.2", "b", "the later one wins")

    assert 20 == after("98.2", lambda: 20)


def test_what_the_work_raises_is_shown_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    """Locked or open, an exception becomes words where the result would be."""
    shown = after("98.2", lambda: {}["missing"])
    reveal("98.2")
    again = after("98.2", lambda: {}["missing"])

    assert "<pre>KeyError: &#x27;missing&#x27;</pre>" == shown.graph["html"]
    assert (None, "KeyError: 'missing'\n") == (again, capsys.readouterr().out)


def test_revealing_opens_and_is_recorded_as_such() -> None:
    """The board opens without a prediction; the progress file says how."""
    board = locked("98.2", Board)
    reveal("98.2")

    assert "" == board.sealed
    assert progress_of().entry("predictions", "98.2")["revealed"] is True
    assert "This was opened without a prediction." == predict("98.2").replies["98.2"]["said"]


def test_a_prediction_outlives_the_kernel(file: Path) -> None:
    """A new kernel reads it from the file, and the board is open at once."""
    Progress(file).record(
        "predictions", "98.2", {"letter": "a", "choice": "both", "why": "so", "revealed": False}
    )
    board = locked("98.2", Board)

    assert "A, the test tool, reads revision 4." == board.step("A")


def test_the_locked_output_repeats_to_the_byte_and_says_what_to_do() -> None:
    """Two learners who predicted nothing store the same picture."""
    one, other = (locked("98.2", Board)._repr_mimebundle_()[0] for _ in range(2))

    assert one["text/html"] == other["text/html"]
    assert (
        'Board, locked: Answer prediction 98.2 above first, or call reveal("98.2").'
        == one["text/plain"]
    )


def test_only_what_can_be_locked_is_locked() -> None:
    """A plain value is sent to `after`."""
    with pytest.raises(AskedWrongly, match="cannot lock a int"):
        locked("98.2", lambda: 20)


def test_a_locked_board_cannot_be_played_from_python() -> None:
    """The plain call is refused with what to do."""
    with pytest.raises(Sealed, match='call reveal\\("98.2"\\)'):
        locked("98.2", Board).play("ABABAB")


def test_where_nothing_can_be_written_a_prediction_is_kept_for_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board opens, the form says that the file has nothing, and no fault is shown."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "file" / "progress.json"))
    board = locked("98.2", Board)
    box = predict("98.2")
    box._heard(box, {"id": "98.2", "letters": "a", "why": "each writes its own"}, [])

    assert ("", "") == (box.fault, board.sealed)
    assert box.replies["98.2"]["more"][-1].startswith("Kept for this session only: ")
    assert "You said: both" in predict("98.2").replies["98.2"]["said"]
    assert "Prediction 98.2 is open already." == reveal("98.2")


def test_a_reveal_that_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens all the same, for this session."""
    (tmp_path / "other").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "other" / "progress.json"))
    board = locked("98.2", Board)
    said = reveal("98.2")

    assert "" == board.sealed
    assert "Kept for this session only: " in said
    assert "recorded" not in said


def test_an_unknown_prediction_is_not_revealed() -> None:
    """The known ones are named, and nothing is recorded."""
    with pytest.raises(AskedWrongly, match="there is no prediction 'zz'\nhint: known: .*98.2"):
        reveal("zz")

    assert {} == progress_of().section("predictions")


MAKERS = {
    "board": lambda: Board("two_writers", variants=("naive",), schedule="ABABAB"),
    "chart": lambda: StateChart("run_started", "run_completed"),
    "crash": lambda: CrashLab(kill=6),
    "slider": ContextSlider,
    "desk": ApprovalDesk,
    "nodes": NodeBoard,
}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_on_its_way_to_the_browser_before_the_seal(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a locked widget the browser gets its code, its seal, and next to nothing else."""
    sent: list[dict[str, object]] = []

    class Recorder(DummyComm):
        def publish_msg(self, kind: str, data: object = None, *given: object, **named: object) -> None:
            sent.append({"kind": kind, **(data if isinstance(data, dict) else {})})
            super().publish_msg(kind, data, *given, **named)

    monkeypatch.setattr(comm, "create_comm", Recorder)

    widget = locked("98.2", MAKERS[name])
    states = [one["state"] for one in sent if "sealed" in one.get("state", {})]

    assert 1 == len(states), "told once, and sealed"
    assert ({}, True) == (states[0]["graph"], bool(states[0]["sealed"]))
    told = {key: value for key, value in states[0].items() if key not in ("_esm", "_css")}
    assert len(json.dumps(told)) < 5_000, "the start of a node board is 4,400"
    assert not widget.picture().count("gone")


def test_an_answer_given_in_another_notebook_opens_what_is_locked_here() -> None:
    """Two notebooks share one progress file; an answer that is kept already opens too."""
    box, board = predict("98.2"), locked("98.2", Board)
    progress_of().record(
        "predictions", "98.2", {"letter": "b", "choice": "one", "why": "elsewhere", "revealed": False}
    )

    box.answer("98.2", "a", "here, later")

    assert "A, the test tool, reads revision 4." == board.step("A")


@pytest.mark.parametrize(
    "kept",
    [{"letter": 1, "choice": "both", "why": "", "revealed": False}, ["a"], "a", 7,
     {"letter": "a", "choice": "both", "why": None, "revealed": False},
     {"letter": "a", "choice": "both", "why": "", "revealed": "no"}],
    ids=repr,
)  # fmt: skip
def test_a_prediction_that_cannot_be_read_is_asked_once_more(file: Path, kept: object) -> None:
    """What it guards stays locked, as where nothing was recorded, and it can be made."""
    document = {"version": 1, "entries": {"predictions": {"98.2": kept}}}
    file.write_text(json.dumps(document))
    box, board = predict("98.2"), locked("98.2", Board)

    assert {} == box.replies
    assert {} == board.graph
    box.answer("98.2", "a", "each tool writes its own")
    assert "" == board.sealed


def test_a_prediction_whose_question_has_changed_since_stays_made(file: Path) -> None:
    """It opens what it guards and says what was chosen; no choice of today is ticked."""
    made = {"letter": "a", "choice": "one of last year", "why": "so", "revealed": False}
    file.write_text(json.dumps({"version": 1, "entries": {"predictions": {"98.2": made}}}))
    reply = predict("98.2").replies["98.2"]

    assert ("You said: one of last year, because: so", "") == (reply["said"], reply["given"])
    assert "" == locked("98.2", Board).sealed
