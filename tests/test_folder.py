"""A learner's folder: set up, reset and handed in without losing anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.folder import digest, doubt, reset, set_up, submit


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A kit with one lesson."""
    folder = tmp_path / "kit"
    (folder / "notebooks").mkdir(parents=True)
    (folder / "notebooks" / "00.ipynb").write_text("first", encoding="utf-8")
    return folder


LESSON = Path("notebooks", "00.ipynb")


def test_a_first_set_up_copies_everything(kit: Path, tmp_path: Path) -> None:
    """Every file of the kit is there, and none is called kept."""

    assert ((LESSON,), ()) == set_up(kit, tmp_path / "mine")
    assert "first" == (tmp_path / "mine" / LESSON).read_text(encoding="utf-8")


def test_a_second_set_up_does_nothing(kit: Path, tmp_path: Path) -> None:
    """Nothing is written twice."""
    set_up(kit, tmp_path / "mine")

    assert ((), ()) == set_up(kit, tmp_path / "mine")


def test_a_newer_kit_replaces_what_the_learner_left_alone(kit: Path, tmp_path: Path) -> None:
    """An unchanged lesson is brought up to date."""
    set_up(kit, tmp_path / "mine")
    (kit / LESSON).write_text("second", encoding="utf-8")

    assert ((LESSON,), ()) == set_up(kit, tmp_path / "mine")
    assert "second" == (tmp_path / "mine" / LESSON).read_text(encoding="utf-8")


def test_what_the_learner_changed_is_never_overwritten(kit: Path, tmp_path: Path) -> None:
    """Also not after several newer kits."""
    set_up(kit, tmp_path / "mine")
    (tmp_path / "mine" / LESSON).write_text("mine", encoding="utf-8")
    for text in ("second", "third"):
        (kit / LESSON).write_text(text, encoding="utf-8")

        assert ((), (LESSON,)) == set_up(kit, tmp_path / "mine")
    assert "mine" == (tmp_path / "mine" / LESSON).read_text(encoding="utf-8")


def test_a_reset_keeps_the_old_notebook(tiny: Catalogue) -> None:
    """The fresh one is in place, the old one under a name of its own, twice."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    fresh = path.read_bytes()
    for number, text in enumerate(("{}", "[]"), start=1):
        path.write_text(text, encoding="utf-8")
        kept = reset(tiny, exercise)

        assert tiny.root / ".runstate" / "kept" / f"01_greeting-{number}.ipynb" == kept
        assert text == kept.read_text(encoding="utf-8")
        assert fresh == path.read_bytes()


def test_a_reset_of_an_untouched_notebook_keeps_nothing(tiny: Catalogue) -> None:
    """There is nothing of the learner's in it."""

    assert None is reset(tiny, tiny.exercise("01"))


def test_a_hand_in_is_the_saved_file_with_a_receipt(tiny: Catalogue, tmp_path: Path) -> None:
    """The copy has the digest of the receipt, which the learner keeps too."""
    exercise = tiny.exercise("01")
    receipt = submit(tiny, exercise, student="ada", to=tmp_path / "box")
    copy = tmp_path / "box" / "ada" / "01_greeting.ipynb"

    assert digest(tiny.root / exercise.notebook) == digest(copy) == receipt.sha256
    kept = tiny.root / ".runstate" / "receipts" / "01_greeting.json"
    assert receipt.sha256 == json.loads(kept.read_text(encoding="utf-8"))["sha256"]
    assert ["01_greeting.ipynb"] == [path.name for path in copy.parent.iterdir()]


@pytest.mark.parametrize("name", ["", " ", "..", "../eve", "a/b", ".hidden"])
def test_a_name_that_leaves_the_folder_is_refused(
    name: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Nobody hands in as somebody else's folder."""
    with pytest.raises(AskedWrongly, match="cannot be the name of a folder"):
        submit(tiny, tiny.exercise("01"), student=name, to=tmp_path)


def test_a_broken_notebook_is_not_handed_in(tiny: Catalogue, tmp_path: Path) -> None:
    """The student hears it now, not from the grader."""
    (tiny.root / tiny.exercise("01").notebook).write_text("{", encoding="utf-8")
    with pytest.raises(AskedWrongly, match="its JSON ends too early"):
        submit(tiny, tiny.exercise("01"), student="ada", to=tmp_path / "box")

    assert not (tmp_path / "box").exists()


def test_another_hand_in_is_set_aside_not_overwritten(tiny: Catalogue, tmp_path: Path) -> None:
    """Both copies are there, and the receipt says where the earlier one went."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    first = path.read_bytes()
    submit(tiny, exercise, student="ada", to=tmp_path / "box")
    again = submit(tiny, exercise, student="ada", to=tmp_path / "box")
    path.write_bytes((tiny.root / exercise.solved).read_bytes())
    changed = submit(tiny, exercise, student="ada", to=tmp_path / "box")
    aside = tmp_path / "box" / "ada" / "01_greeting-1.ipynb"

    assert ("", str(aside)) == (again.set_aside, changed.set_aside)
    assert first == aside.read_bytes()
    assert path.read_bytes() == (tmp_path / "box" / "ada" / "01_greeting.ipynb").read_bytes()
    kept = tiny.root / ".runstate" / "receipts" / "01_greeting.json"
    assert str(aside) == json.loads(kept.read_text(encoding="utf-8"))["set_aside"]


def test_where_no_receipt_can_be_kept_nothing_is_handed_in(tiny: Catalogue, tmp_path: Path) -> None:
    """What fails, fails before the copy is in its place."""
    (tiny.root / ".runstate").mkdir(exist_ok=True)
    (tiny.root / ".runstate" / "receipts").write_text("in the way", encoding="utf-8")
    with pytest.raises(FileExistsError):
        submit(tiny, tiny.exercise("01"), student="ada", to=tmp_path / "box")

    assert not (tmp_path / "box").exists()


def test_where_no_copy_can_be_made_no_receipt_is_left(tiny: Catalogue, tmp_path: Path) -> None:
    """A receipt without its copy would be a lie."""
    (tmp_path / "box").write_text("in the way", encoding="utf-8")
    with pytest.raises(OSError, match="box"):
        submit(tiny, tiny.exercise("01"), student="ada", to=tmp_path / "box")

    assert [] == list((tiny.root / ".runstate" / "receipts").iterdir())


def test_stubs_and_empty_notebooks_are_doubted(tiny: Catalogue) -> None:
    """Only a changed answer raises no doubt."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    untouched = doubt(tiny, exercise)
    path.write_bytes((tiny.root / exercise.solved).read_bytes())
    solved = doubt(tiny, exercise)
    path.write_text('{"cells": [], "nbformat": 4}', encoding="utf-8")

    assert f"{exercise.notebook} holds only the stubs: no answer was changed" == untouched
    assert "" == solved
    assert f"{exercise.notebook} holds no answers" == doubt(tiny, exercise)


@pytest.mark.parametrize("whole", [False, True], ids=["notebook", "its folder"])
def test_a_reset_sets_aside_whatever_stands_in_the_way(whole: bool, tiny: Catalogue) -> None:
    """A folder in the notebook's place, and a file in its folder's place, are kept."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    fresh = path.read_bytes()
    path.unlink()
    if whole:
        shutil.rmtree(path.parent)
        path.parent.write_text("mine", encoding="utf-8")
    else:
        path.mkdir()
        (path / "note").write_text("mine", encoding="utf-8")
    kept = reset(tiny, exercise)

    assert fresh == path.read_bytes()
    assert kept is not None
    assert "mine" == (kept if whole else kept / "note").read_text(encoding="utf-8")


def test_stubs_are_known_where_no_fresh_copy_is_at_hand(tiny: Catalogue) -> None:
    """An unpacked bundle has neither the kit's copy nor the masters."""
    shutil.rmtree(tiny.root / "solutions")
    exercise = tiny.exercise("01")

    assert f"{exercise.notebook} holds only the stubs: no answer was changed" == doubt(
        tiny, exercise
    )
