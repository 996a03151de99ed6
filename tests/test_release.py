"""Release: the same bundle each time, and a leaky one refused with file and line."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from runstate_lab.course.build import build
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault, Place
from runstate_lab.course.release import bundle_files, leaks, release, secret_lines, wheel_files

HIDDEN_LINE = 'assert student.greeting("a" * 100) == "Hello, " + "a" * 100 + ": release 7"'


def test_the_bundle_holds_lessons_exercises_catalogue_and_a_page(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """Nothing else is in it, above all no solution."""
    path = release(tiny, tmp_path / "out")

    assert [
        "runstate-lab-course/README.md",
        "runstate-lab-course/catalogue.toml",
        "runstate-lab-course/exercises/01_greeting/01_greeting.ipynb",
        "runstate-lab-course/notebooks/00_hello.ipynb",
        "runstate-lab-course/notebooks/01_builds.ipynb",
    ] == zipfile.ZipFile(path).namelist()


def test_two_releases_have_the_same_bytes(tiny: Catalogue, tmp_path: Path) -> None:
    """No time, no owner and no order of a disk is in the zip."""

    assert release(tiny, tmp_path / "a").read_bytes() == release(tiny, tmp_path / "b").read_bytes()


def test_the_students_page_names_every_lesson_and_exercise(tiny: Catalogue) -> None:
    """The page is made from the catalogue."""
    page = bundle_files(tiny)["README.md"].decode()

    assert "| 01 Builds | 10 |" in page
    assert "| 01 Greet the release manager | 3 | `runstate-lab check 01` |" in page


def test_secrets_are_long_lines_of_hidden_checks_and_solutions(tiny: Catalogue) -> None:
    """Imports, comments, texts and short lines are none."""

    assert {
        "def test_a_long_name_is_not_cut(student: Any) -> None:": 11,
        HIDDEN_LINE: 13,
        'words = f"Hello, {name}: release {release}"': 16,
        'raise ValueError("a name is needed, and it was empty")': 37,
    } == {line: place.line for line, place in secret_lines(tiny).items()}


@pytest.mark.parametrize(
    "line",
    [HIDDEN_LINE, 'words = f"Hello, {name}: release {release}"'],
    ids=["hidden check", "solution"],
)
def test_a_secret_in_a_given_cell_is_refused_with_file_and_line(
    line: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """The refusal names the leak's place and the secret's; nothing is written."""
    master = tiny.root / tiny.exercise("01").master
    text = master.read_text(encoding="utf-8")
    master.write_text(
        text.replace("release = 7", f"release = 7\nif not release:\n    {line}"), encoding="utf-8"
    )
    build(tiny, ["01_greeting"])
    with pytest.raises(CourseFault) as caught:
        release(tiny, tmp_path / "out")

    assert "exercises/01_greeting/01_greeting.ipynb:30: the bundle would show" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_line_that_a_lesson_shows_is_no_secret(tiny: Catalogue, tmp_path: Path) -> None:
    """What everybody has read cannot leak."""
    lesson = tiny.root / tiny.lesson("01").master
    lesson.write_text(
        lesson.read_text(encoding="utf-8")
        + '\n# %%\nname, release = "Ada", 7\nwords = f"Hello, {name}: release {release}"\nwords\n',
        encoding="utf-8",
    )
    build(tiny, ["01_builds"])

    assert 'words = f"Hello, {name}: release {release}"' not in secret_lines(tiny)
    assert release(tiny, tmp_path).exists()


def test_a_file_of_ours_must_not_be_in_the_wheel(tiny: Catalogue) -> None:
    """Whatever it holds, its name is enough."""
    names = [
        fault.found for fault in leaks({"runstate_lab/solutions/01/x.py": b""}, {}, inside="wheel")
    ]

    assert ["runstate_lab/solutions/01/x.py must not be in the wheel"] == names


def test_a_secret_is_found_in_an_output_too(tiny: Catalogue) -> None:
    """Quotes escaped once more, as JSON does, hide nothing."""
    content = b'{"text": "seen: ' + HIDDEN_LINE.replace('"', '\\"').encode() + b'"}'

    assert 1 == len(list(leaks({"a.ipynb": content}, secret_lines(tiny))))


def test_a_secret_in_chinese_is_found_however_json_writes_it() -> None:
    """As letters, and as escapes."""
    secret = 'assert student.greeting("构建") == "Hello, 构建: release 7"'
    secrets = {secret: Place(Path("test_hidden.py"), 3)}
    forms = [json.dumps(secret).encode(), json.dumps(secret, ensure_ascii=False).encode()]

    assert [1, 1] == [len(list(leaks({"a.ipynb": form}, secrets))) for form in forms]


def test_an_edited_exercise_is_not_released(tiny: Catalogue, tmp_path: Path) -> None:
    """What students get is what the masters say."""
    path = tiny.root / tiny.exercise("01").notebook
    path.write_text(
        path.read_text(encoding="utf-8").replace("release = 7", "release = 8"), encoding="utf-8"
    )
    with pytest.raises(CourseFault, match="is stale, or was edited by hand"):
        release(tiny, tmp_path)


def test_a_students_folder_cannot_release(tiny: Catalogue, tmp_path: Path) -> None:
    """Without solutions a leak could not be seen."""
    tiny.root.joinpath("solutions").rename(tmp_path / "elsewhere")
    with pytest.raises(AskedWrongly, match="holds no solutions"):
        release(tiny, tmp_path)


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "runstate-lab"
version = "7.0"
requires-python = ">=3.11"

[tool.hatch.build.targets.wheel]
include = ["catalogue.toml"]
"""


def test_the_wheel_lies_in_the_bundle_and_the_page_installs_it(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """No index is needed: the very wheel that was searched for secrets is there."""
    (tiny.root / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    bundle = zipfile.ZipFile(release(tiny, tmp_path / "out"))
    wheel = "runstate_lab-7.0-py3-none-any.whl"

    assert f"runstate-lab-course/{wheel}" in bundle.namelist()
    page = bundle.read("runstate-lab-course/README.md").decode()
    assert f"2. `pip install ./{wheel}` (Python 3.11 or newer; once)." in page
    inside = wheel_files(bundle.read(f"runstate-lab-course/{wheel}"))
    assert (tiny.root / "catalogue.toml").read_bytes() == inside["catalogue.toml"]


def test_without_a_wheel_the_page_promises_no_index(tiny: Catalogue) -> None:
    """No index has the package, so the page sends nobody there."""

    assert "pip install" not in bundle_files(tiny)["README.md"].decode()
