"""A learner's folder: set up, reset and handed in without losing anything."""

from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from runstate_lab.course import built
from runstate_lab.course import folder as folders
from runstate_lab.course.catalogue import OWN_COPY, Catalogue, load
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.folder import (
    Delivery,
    State,
    digest,
    origin,
    reset,
    set_up,
    sources,
    states,
)
from runstate_lab.course.handing import doubt, submit


CATALOGUE = Path("catalogue.toml")
RECORD = Path(".runstate", "delivered.json")
TEXT = """\
[course]
title = "A course of one lesson"
[[lessons]]
number = "00"
name = "00_hello"
title = "Hello"
minutes = 10
breaks = []
"""
LESSON = Path("notebooks", "00_hello.ipynb")


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A kit with one lesson."""
    folder = tmp_path / "kit"
    (folder / "notebooks").mkdir(parents=True)
    (folder / CATALOGUE).write_text(TEXT, encoding="utf-8")
    (folder / LESSON).write_text("first", encoding="utf-8")
    return folder


@pytest.fixture
def mine(kit: Path, tmp_path: Path) -> Path:
    """A learner's folder that this kit has filled."""
    set_up(kit, tmp_path / "mine")
    return tmp_path / "mine"


def lesson(folder: Path, text: str | None = None) -> str:
    """What stands in the lesson there, after it was written where a text is given."""
    if text is not None:
        (folder / LESSON).write_text(text, encoding="utf-8")
    return (folder / LESSON).read_text(encoding="utf-8")


def test_a_first_set_up_copies_everything(kit: Path, tmp_path: Path) -> None:
    """Every file of the kit is there, and none is called kept."""

    assert Delivery(written=(CATALOGUE, LESSON)) == set_up(kit, tmp_path / "mine")
    assert "first" == lesson(tmp_path / "mine")


def test_a_second_set_up_does_nothing(kit: Path, mine: Path) -> None:
    """Nothing is written twice, not even the record."""
    before = (mine / RECORD).stat().st_mtime_ns

    assert Delivery() == set_up(kit, mine)
    assert before == (mine / RECORD).stat().st_mtime_ns


def test_a_newer_kit_replaces_what_the_learner_left_alone(kit: Path, mine: Path) -> None:
    """An unchanged lesson is brought up to date."""
    lesson(kit, "second")

    assert Delivery(written=(LESSON,)) == set_up(kit, mine)
    assert "second" == lesson(mine)


def test_what_the_learner_changed_is_never_overwritten(kit: Path, mine: Path) -> None:
    """Also not after several newer kits; it is said when a kit is newer, and only then."""
    lesson(mine, "mine")
    said = [set_up(kit, mine)]
    for text in ("second", "third"):
        lesson(kit, text)
        said.append(set_up(kit, mine))

    assert [Delivery(), Delivery(kept=(LESSON,)), Delivery(kept=(LESSON,))] == said
    assert "mine" == lesson(mine)


def test_what_the_learner_deleted_comes_back(kit: Path, mine: Path) -> None:
    """As the kit has it now."""
    shutil.rmtree(mine / "notebooks")

    assert Delivery(written=(LESSON,)) == set_up(kit, mine)
    assert "first" == lesson(mine)


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", '{"notebooks/00_hello.ipynb": 1}', "[" * 100_000, "\udcff"]
)
def test_a_broken_record_is_set_aside(broken: str, kit: Path, mine: Path) -> None:
    """What was in it is kept, and no changed file is lost for want of it."""
    (mine / RECORD).write_text(broken, encoding="utf-8", errors="surrogateescape")
    before = (mine / RECORD).read_bytes()
    lesson(mine, "mine")
    done = set_up(kit, mine)

    assert done.set_aside == mine / ".runstate" / "delivered-1.json"
    assert before == done.set_aside.read_bytes()
    assert ("mine", (), (LESSON,)) == (lesson(mine), done.written, done.kept)
    assert Delivery(kept=(LESSON,)) == set_up(kit, mine)


@pytest.mark.parametrize("name", [Path("notebooks"), LESSON, Path(".runstate"), RECORD])
def test_what_stands_in_the_way_is_told_and_stays(name: Path, kit: Path, tmp_path: Path) -> None:
    """A file for a folder, a folder for a file; once it is moved away the rest is made up."""
    folder = tmp_path / "mine"
    in_the_way = folder / name
    in_the_way.parent.mkdir(parents=True)
    if name.suffix:
        in_the_way.mkdir()
        (in_the_way / "note").write_text("mine", encoding="utf-8")
    else:
        in_the_way.write_text("mine", encoding="utf-8")
    if name != RECORD:
        with pytest.raises(OSError, match="notebooks|runstate"):
            set_up(kit, folder)
        in_the_way.rename(tmp_path / "moved away")
    set_up(kit, folder)

    assert "first" == lesson(folder)
    assert Delivery() == set_up(kit, folder)


def test_an_interrupted_set_up_leaves_whole_files_only(
    kit: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the middle: the old file stands, and the next try makes it up."""
    lesson(kit, "second")
    writes = Path.write_bytes

    def half(path: Path, content: bytes) -> int:
        writes(path, content[:3])
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match=re.escape(str(mine / LESSON))):
        set_up(kit, mine)
    monkeypatch.undo()

    assert "first" == lesson(mine)
    assert ["00_hello.ipynb"] == [path.name for path in (mine / "notebooks").iterdir()]
    assert Delivery(written=(LESSON,)) == set_up(kit, mine)


def test_two_set_ups_at_the_same_time_do_not_disturb_each_other(kit: Path, tmp_path: Path) -> None:
    """While one is in the middle of it the other does all; both end well."""
    folder, other = tmp_path / "mine", []
    stats = folders.states

    def interrupted(*given: Path) -> Any:
        found = stats(*given)
        if not other:
            other.append(None)
            set_up(kit, folder)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "states", interrupted)
        set_up(kit, folder)

    assert "first" == lesson(folder)
    assert Delivery() == set_up(kit, folder)


def test_a_kit_that_is_not_whole_is_told(kit: Path, tmp_path: Path) -> None:
    """The missing file, and what brings it back."""
    (kit / LESSON).unlink()
    with pytest.raises(AskedWrongly, match="is not whole: it has no notebooks/00_hello.ipynb"):
        set_up(kit, tmp_path / "mine")


def worked_in(course: Catalogue) -> Path:
    """A lesson of a checkout that somebody has changed since it was built."""
    path = course.lessons[0].notebook
    (course.root / path).write_text("worked in", encoding="utf-8")
    return path


def test_somebodys_work_in_a_checkout_comes_along_once(tiny: Catalogue, tmp_path: Path) -> None:
    """It is brought where nothing stands, and nothing is delivered over it later."""
    path = worked_in(tiny)
    fresh = tiny.root / tiny.lessons[1].notebook
    done = set_up(tiny.root, tmp_path / "mine")

    assert ((path,), 3) == (done.brought, len(done.written))
    assert "worked in" == (tmp_path / "mine" / path).read_text(encoding="utf-8")
    assert fresh.read_bytes() == (tmp_path / "mine" / tiny.lessons[1].notebook).read_bytes()
    assert State.CHANGED is states(tiny.root, tmp_path / "mine")[path]
    assert Delivery() == set_up(tiny.root, tmp_path / "mine")


def test_somebodys_work_in_a_checkout_takes_no_fresh_files_place(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """A course folder that is there keeps what was delivered, or what the learner made of it."""
    set_up(tiny.root, tmp_path / "mine")
    path = tiny.lessons[0].notebook
    before = (tmp_path / "mine" / path).read_bytes()
    worked_in(tiny)

    assert Delivery() == set_up(tiny.root, tmp_path / "mine")
    assert before == (tmp_path / "mine" / path).read_bytes()


def test_a_newer_lesson_that_was_worked_in_replaces_no_older_one(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """The checkout has a newer build, but only somebody's copy of it: the old one stays."""
    set_up(tiny.root, tmp_path / "mine")
    path = worked_in(tiny)
    before = (tmp_path / "mine" / path).read_bytes()
    table = {**built.read(tiny.root), path.as_posix(): "0" * 64}
    (tiny.root / built.FILE).write_text(built.as_text(table), encoding="utf-8")

    assert Delivery() == set_up(tiny.root, tmp_path / "mine")
    assert before == (tmp_path / "mine" / path).read_bytes()
    assert State.STALE is states(tiny.root, tmp_path / "mine")[path]


def test_a_reset_gives_the_fresh_one_also_after_work_in_the_checkout(tiny: Catalogue) -> None:
    """From the checkout around the course folder: as built, else built anew."""
    exercise = tiny.exercise("01")
    fresh = (tiny.root / exercise.notebook).read_bytes()
    set_up(tiny.root, tiny.root / OWN_COPY)
    mine = load(tiny.root / OWN_COPY)
    for changed in (mine.root, tiny.root):
        (changed / exercise.notebook).write_text("{}", encoding="utf-8")
        (mine.root / exercise.notebook).write_text("{}", encoding="utf-8")
        reset(mine, exercise)

        assert fresh == (mine.root / exercise.notebook).read_bytes()
    assert not (mine.root / "solutions").exists()


def test_solutions_are_found_in_the_checkout_around(tiny: Catalogue, tmp_path: Path) -> None:
    """Their root for the checkout and its course folder; None once that is carried away."""
    set_up(tiny.root, tiny.root / OWN_COPY)
    around = [sources(load(folder)) for folder in (tiny.root, tiny.root / OWN_COPY)]
    shutil.move(tiny.root / OWN_COPY, tmp_path / "away" / OWN_COPY)

    assert [tiny.root, tiny.root] == around
    assert None is sources(load(tmp_path / "away" / OWN_COPY))


@pytest.mark.parametrize("far", [False, True])
def test_nobody_works_in_a_checkout_itself(far: bool, tiny: Catalogue, tmp_path: Path) -> None:
    """The folder is beside its notebooks, or where you are when you are elsewhere."""
    folder = (tmp_path if far else tiny.root) / OWN_COPY

    assert (folder, tiny.root) == origin(tiny.root, tmp_path, far=far)


def test_a_course_folder_is_filled_from_where_it_came(tiny: Catalogue, tmp_path: Path) -> None:
    """From the checkout around it; a bundle, which nobody has filled, from nowhere."""
    mine, bundle = tiny.root / OWN_COPY, tmp_path / "bundle"
    set_up(tiny.root, mine)
    shutil.copytree(mine, bundle, ignore=shutil.ignore_patterns(".runstate"))
    known = origin(mine, tmp_path)
    shutil.rmtree(mine / ".runstate")

    assert (mine, tiny.root) == known == origin(mine, tmp_path)
    assert (bundle, None) == origin(bundle, tmp_path)


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
