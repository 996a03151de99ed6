"""The catalogue: what it says, and what it may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault

TINY = Path(__file__).parent / "courses" / "tiny"
WRONG = {
    "unknown key": ('title = "Hello"', 'title = "Hello"\ncolour = "red"', "unknown key 'colour'"),
    "missing key": ("minutes = 5\n", "", "lesson without 'minutes'"),
    "wrong type": ("minutes = 5", 'minutes = "5"', "is not int"),
    "too long": ("minutes = 10", "minutes = 46", "catalogue.toml:13: 46 minutes; 1 to 45"),
    "falling numbers": (
        'number = "00"\nname = "00_hello"',
        'number = "02"\nname = "02_hello"',
        "numbers must rise",
    ),
    "number and name": ('number = "00"', 'number = "05"', "'00_hello' has the number '05'"),
    "bad name": ('"00_hello"', '"00 hello"', "is not like"),
    "unknown lesson": ('lesson = "01"', 'lesson = "09"', "exercise of unknown lesson '09'"),
    "two hints": ('"Join two texts.", ', "", "catalogue.toml:25: task 01.1 needs 3 hints"),
    "blank hint": ('"Join two texts."', '" "', "needs 3 hints that are not empty"),
    "task number": ('id = "01.2"', 'id = "01.3"', "task id '01.3' where '01.2' was expected"),
    "no points": ("points = 1", "points = 0", "gives 0 points"),
    "no answer": ('answers = ["checked"]', "answers = []", "names no answer"),
    "not TOML": ("[course]", "[course", "cannot be read"),
}


def written(folder: Path, text: str) -> Path:
    """A folder with that catalogue."""
    (folder / catalogue.FILE).write_text(text, encoding="utf-8")
    return folder


def test_lessons_and_exercises_come_in_order_with_their_paths() -> None:
    """The tables of the file, frozen, with the paths made of the names."""
    course = catalogue.load(TINY)

    assert ("00_hello", "01_builds") == tuple(lesson.name for lesson in course.lessons)
    assert Path("notebooks", "src", "01_builds.py") == course.lesson("01").master
    assert Path("exercises", "01_greeting", "01_greeting.ipynb") == course.exercise("01").notebook
    assert 3 == course.exercise("01.2").points
    assert ("checked",) == course.exercise("01_greeting").task("01.2").answers


@pytest.mark.parametrize(("old", "new", "words"), WRONG.values(), ids=WRONG)
def test_a_faulty_catalogue_is_refused_in_words(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    """The fault names what was found, and the line where one can be named."""
    text = (TINY / catalogue.FILE).read_text(encoding="utf-8")
    assert old in text

    with pytest.raises(CourseFault) as caught:
        catalogue.load(written(tmp_path, text.replace(old, new, 1)))
    assert words in str(caught.value)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """An author mends a file once, not once for each fault."""
    text = (TINY / catalogue.FILE).read_text(encoding="utf-8")
    text = text.replace("points = 1", "points = 0").replace("minutes = 5", "minutes = 50")

    with pytest.raises(CourseFault) as caught:
        catalogue.load(written(tmp_path, text))
    assert "gives 0 points" in str(caught.value)
    assert "50 minutes" in str(caught.value)


def test_an_unknown_number_names_the_known_ones() -> None:
    """The refusal says what could have been asked."""
    with pytest.raises(AskedWrongly, match="known: 01$"):
        catalogue.load(TINY).exercise("07")


def test_a_folder_without_catalogue_is_no_course(tmp_path: Path) -> None:
    """The refusal names the folder and the file that it lacks."""
    with pytest.raises(AskedWrongly, match="is no course folder: it has no catalogue.toml"):
        catalogue.load(tmp_path)


def test_the_course_is_found_from_inside_it(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook's folder leads to its course."""
    monkeypatch.chdir(tiny.root / "notebooks")

    assert tiny.root == catalogue.find_root()


def test_a_complete_course_has_no_misfits(tiny: Catalogue) -> None:
    """Every file is named and every named file is there."""

    assert [] == catalogue.stray_and_missing(tiny)


def test_a_stray_and_a_missing_file_are_told(tiny: Catalogue) -> None:
    """A notebook that nobody named, and one that nobody built."""
    (tiny.root / "notebooks" / "00_hello.ipynb").rename(tiny.root / "notebooks" / "05_hello.ipynb")
    found = [str(fault).partition("\n")[0] for fault in catalogue.stray_and_missing(tiny)]

    assert [
        "notebooks/00_hello.ipynb: is named in catalogue.toml but missing",
        "notebooks/05_hello.ipynb: is not named in catalogue.toml",
    ] == found


def test_the_kits_own_catalogue_fits_its_files() -> None:
    """Nothing of the real course is stray or missing."""
    course = catalogue.load(Path(__file__).resolve().parents[1])

    assert [] == catalogue.stray_and_missing(course)
