"""Questions are judged in the kernel; a wrong answer names a belief or a fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runstate_lab.course import answer, fill, order, questiontable, quiz
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.misconceptions import MISCONCEPTIONS
from runstate_lab.course.progress import progress_of
from runstate_lab.live.faults import Askew
from runstate_lab.live.form import Form

QUESTIONS = Path(__file__).parent / "questions"


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress file of its own, and the questions of lesson 98."""
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(questiontable, "FOLDER", QUESTIONS)


def letters_of(id: str, *slips: str) -> str:
    """The letters of the slips as they are shown."""
    shown = questiontable.order_of(id).shown
    return "".join(questiontable.LETTERS[shown.index(slip)] for slip in slips)


@pytest.mark.usefixtures("lesson")
def test_a_wrong_answer_names_the_belief_and_the_lesson_that_breaks_it() -> None:
    """M4 is said in the learner's words, with the run and the place."""
    said = answer("98.1.1", "a")

    assert said.startswith('Not yet. M4, "the revision is a timestamp, and the later write wins":')
    assert said.endswith("Lesson 04 runs it.")


@pytest.mark.usefixtures("lesson")
def test_a_right_answer_says_why() -> None:
    """The reason is said after the answer, never before."""
    form = quiz("98.1")
    before = json.dumps([form.items, form.picture()])

    assert "told" not in before and "right" not in before
    assert "Right. The first commit moves the revision; the second is told." == form.answer(
        "98.1.1", "b"
    )


@pytest.mark.usefixtures("lesson")
def test_each_try_is_kept_with_the_beliefs_it_showed() -> None:
    """Two tries, one belief, right in the end."""
    answer("98.1.1", "a")
    answer("98.1.1", "b")

    chosen = [questiontable.task_of("98.1.1").choices[1].text]
    kept = {"given": "b", "chosen": chosen, "right": True, "tries": 2, "beliefs": ["M4"]}
    assert kept == progress_of().entry("answers", "98.1.1")


@pytest.mark.usefixtures("lesson")
def test_a_wrong_blank_leads_to_a_named_fault() -> None:
    """Each wrong blank is named; all right ones make a right answer."""
    form = fill("98.3")

    assert "Not yet." == form.answer("98.3", "ba")
    assert [
        "Blank 1: This compares words with numbers.",
        "Blank 2: This is LastWriteWinsStore after the first event.",
    ] == form.replies["98.3"]["more"]
    assert "Right. Compare, then swap." == form.answer("98.3", "ab")


@pytest.mark.usefixtures("lesson")
@pytest.mark.parametrize(
    ("slips", "said"),
    [
        (("read again", "compute anew", "submit"), "Right. Then the decision rests on new facts."),
        (
            ("read again", "submit", "compute anew"),
            "Not yet. The first 1 are in place; `submit` comes too early.",
        ),
        (("read again", "submit"), "Not yet. 1 of the steps that belong here is left out."),
        (
            ("read again", "wait a second"),
            "Not yet. `wait a second` does not belong here: time heals nothing here.",
        ),
    ],
)
def test_an_order_is_judged_by_its_first_fault(slips: tuple[str, ...], said: str) -> None:
    """A slip that does not belong, a missing one, or the first in the wrong place."""
    order("98.4")

    assert said == answer("98.4", letters_of("98.4", *slips))


@pytest.mark.usefixtures("lesson")
def test_an_order_is_shown_shuffled_and_the_same_for_everybody() -> None:
    """It does not start in the right order, and two learners see one."""
    asked = questiontable.order_of("98.4")

    assert asked.shown == questiontable.order_of("98.4").shown != (*asked.steps, "wait a second")
    assert {*asked.steps, "wait a second"} == set(asked.shown)


@pytest.mark.usefixtures("lesson")
def test_an_answer_that_fits_no_choice_is_turned_away() -> None:
    """A letter too far, a letter too many, an unknown id: each says what there is."""
    with pytest.raises(ValueError, match="found a to b"):
        answer("98.1.1", "c")
    with pytest.raises(ValueError, match="found 2 to choose"):
        answer("98.3", "a")
    with pytest.raises(AskedWrongly, match=r"no question 98\.1\.7"):
        answer("98.1.7", "a")
    with pytest.raises(AskedWrongly, match="slip twice"):
        answer("98.4", "aa")


@pytest.mark.usefixtures("lesson")
def test_the_tables_used_here_are_in_order() -> None:
    """The check of the tables finds nothing to say about lesson 98."""
    assert [] == list(map(str, questiontable.check_all()))


def test_the_check_finds_what_is_wrong_with_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two right choices, an unknown belief, an id of another lesson: each is named."""
    faulty = (QUESTIONS / "98.toml").read_text().replace('wrong = "M4"', 'wrong = "M40"')
    faulty = faulty.replace('id = "98.3"', 'id = "97.3"')
    (tmp_path / "98.toml").write_text(
        faulty.replace('"self.revision", right', '"self.revision", fault = "", right')
    )
    monkeypatch.setattr(questiontable, "FOLDER", tmp_path)
    (tmp_path / "97.toml").write_text(
        '[[fill]]\nid = "97.3"\ntext = ""\ncode = "<1>"\nblanks = [[{ text = "a", fault = "f" }]]\n'
    )
    found = [fault.found for fault in questiontable.check_all()]

    assert "97.3, blank 1: there must be one right choice" in found
    assert "98.1.1: 'the later one' names no misconception" in found
    assert "97.3 is not of lesson 98" in found


def test_the_tables_of_the_lessons_are_in_order() -> None:
    """Every wrong choice names a belief, every wrong blank a fault."""
    assert [] == list(map(str, questiontable.check_all()))


def test_the_fourteen_beliefs_are_the_fourteen() -> None:
    """M1 to M14, in order, each with a run that breaks it."""
    assert [f"M{number}" for number in range(1, 15)] == [one.id for one in MISCONCEPTIONS]
    assert {""} != {one.broken_by for one in MISCONCEPTIONS}


FRESH = """
import json, sys
from pathlib import Path
from runstate_lab.course import fill, order, questiontable, quiz
questiontable.FOLDER = Path(sys.argv[1])
forms = quiz("98.1"), fill("98.3"), order("98.4")
print(json.dumps([form.replies for form in forms]))
"""


def reopened(tmp_path: Path) -> dict[str, dict[str, object]]:
    """What the forms show in a fresh process that reads the same progress file."""
    ran = subprocess.run(
        [sys.executable, "-c", FRESH, str(QUESTIONS)],
        env={**os.environ, "RUNSTATE_PROGRESS": str(tmp_path / "progress.json")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {id: reply for replies in json.loads(ran.stdout) for id, reply in replies.items()}


@pytest.mark.usefixtures("lesson")
def test_answers_come_back_in_a_fresh_process(tmp_path: Path) -> None:
    """A quiz, a fill and an order: as given, with their sentence and the number of tries."""
    right = letters_of("98.4", "read again", "compute anew", "submit")
    answer("98.1.1", "b")
    answer("98.3", "aa")
    answer("98.3", "ba")
    answer("98.4", right[::-1])
    answer("98.4", right)
    shown = reopened(tmp_path)

    assert {"98.1.1", "98.3", "98.4"} == set(shown)
    assert ("b", "good", "Right. The first commit moves the revision; the second is told.") == (
        shown["98.1.1"]["given"], shown["98.1.1"]["mood"], shown["98.1.1"]["said"]
    )  # fmt: skip
    assert ["You answered this before: 1 try."] == shown["98.1.1"]["more"]
    assert ("ba", "wrong", "Not yet.") == (
        shown["98.3"]["given"], shown["98.3"]["mood"], shown["98.3"]["said"]
    )  # fmt: skip
    assert [
        "Blank 1: This compares words with numbers.",
        "Blank 2: This is LastWriteWinsStore after the first event.",
        "You answered this before: 2 tries.",
    ] == shown["98.3"]["more"]
    assert (right, "good", False) == (
        shown["98.4"]["given"], shown["98.4"]["mood"], shown["98.4"]["closed"]
    )  # fmt: skip


@pytest.mark.usefixtures("lesson")
def test_the_tries_go_on_counting_after_a_restart() -> None:
    """One before, one behind: two."""
    quiz("98.1").answer("98.1.1", "a")
    form = quiz("98.1")
    form.answer("98.1.1", "b")

    assert 2 == progress_of().entry("answers", "98.1.1")["tries"]
    assert ["You answered this before: 2 tries."] == quiz("98.1").replies["98.1.1"]["more"]


@pytest.mark.usefixtures("lesson")
def test_a_form_can_be_begun_again() -> None:
    """By one call, for one question or for all; nothing of the answer is left."""
    form = order("98.4")
    form.answer("98.4", "a")

    assert "Begin again." == form.again()
    assert ({}, None) == (form.replies, progress_of().entry("answers", "98.4"))
    assert {} == order("98.4").replies
    with pytest.raises(Askew, match="no such question"):
        form.again("98.9")


ODD = {
    "an older kit": {"given": "b", "right": True, "tries": 2, "beliefs": ["M4"]},
    "the words changed": {"given": "b", "chosen": ["an option of last year"], "tries": 1},
    "the option is gone": {"given": "z", "chosen": ["z"], "tries": 1},
    "too many letters": {"given": "ab", "chosen": ["a", "b"], "tries": 1},
}
# The whole file is set aside for these, and said once.
MISSHAPEN = {
    "no text": {"given": 3, "chosen": [], "tries": 1},
    "a list": ["b"],
    "a text": "b",
    "a number": 7,
    "tries of words": {"given": "b", "chosen": ["x"], "tries": "two"},
    "nested": {"given": {"a": []}, "chosen": {"b": 1}, "tries": [1]},
}


@pytest.mark.usefixtures("lesson")
@pytest.mark.parametrize("kept", ODD.values(), ids=ODD)
@pytest.mark.parametrize(("make", "id"), [(quiz, "98.1.1"), (fill, "98.3"), (order, "98.4")])
def test_an_odd_entry_is_shown_unanswered_with_one_sentence(
    make: Callable[[str], Form], id: str, kept: object, tmp_path: Path
) -> None:
    """And it can be answered: the entry is then whole again."""
    document = {"version": 1, "entries": {"answers": {id: kept}}}
    (tmp_path / "progress.json").write_text(json.dumps(document))
    name = id.removesuffix(".1") if make is quiz else id
    reply = make(name).replies[id]

    assert ("", "open", []) == (reply["given"], reply["mood"], reply["more"])
    assert "does not fit this question any more" in reply["said"]
    make(name).answer(id, {"98.1.1": "b", "98.3": "ab", "98.4": "a"}[id])
    assert reply["said"] != make(name).replies[id]["said"]


@pytest.mark.usefixtures("lesson")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kept", MISSHAPEN.values(), ids=MISSHAPEN)
@pytest.mark.parametrize(("make", "id"), [(quiz, "98.1.1"), (fill, "98.3"), (order, "98.4")])
def test_an_entry_of_another_shape_is_shown_unanswered_and_can_be_answered(
    make: Callable[[str], Form], id: str, kept: object, tmp_path: Path
) -> None:
    """As where nothing was recorded."""
    document = {"version": 1, "entries": {"answers": {id: kept}}}
    (tmp_path / "progress.json").write_text(json.dumps(document))
    name = id.removesuffix(".1") if make is quiz else id

    assert {} == make(name).replies
    make(name).answer(id, {"98.1.1": "b", "98.3": "ab", "98.4": "a"}[id])
    assert [id] == list(make(name).replies)


@pytest.mark.usefixtures("lesson")
def test_the_stored_picture_of_a_form_does_not_know_of_answers() -> None:
    """What a notebook keeps is the same to the byte, answered or not."""
    before = quiz("98.1").picture()
    quiz("98.1").answer("98.1.1", "b")

    assert before == quiz("98.1").picture()
