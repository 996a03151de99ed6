"""What is packed: the notebooks as built, and nothing that somebody did beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runstate_lab.course import built, catalogue
from runstate_lab.course.build import build
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import CourseFault
from runstate_lab.course.release import release

ROOT = Path(__file__).resolve().parents[1]
SOLVED = Path("exercises", "04_compare_and_swap", "04_compare_and_swap.ipynb")
LESSON = Path("notebooks", "01_facts_not_intents.ipynb")
# Everything that packing could take along, and little enough to be copied for each test.
PARTS = ("hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".gitignore", "catalogue.toml")
FOLDERS = ("runstate_lab", "notebooks", "exercises", "solutions", "docs", "binder")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, without history, in which a test may work."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in (*PARTS, built.FILE):
        shutil.copy(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def packed(checkout: Path, target: str) -> subprocess.CompletedProcess[str]:
    """What hatchling says when it packs."""
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", "dist"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SOURCE_DATE_EPOCH": "315532800"},
    )


def names(archive: Path) -> list[str]:
    """The names in a wheel or in an sdist."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).namelist()
    with tarfile.open(archive) as opened:
        return [name.partition("/")[2] for name in opened.getnames()]


def solve(checkout: Path) -> str:
    """The name of an exercise that somebody has solved."""
    shutil.copy(
        checkout / "solutions" / "04_compare_and_swap" / "04_compare_and_swap.ipynb",
        checkout / SOLVED,
    )
    return SOLVED.as_posix()


def run(checkout: Path) -> str:
    """The name of a lesson in which outputs of somebody's own stand."""
    path = checkout / LESSON
    path.write_text(path.read_text("utf-8").replace("revision", "re-vision", 1), "utf-8")
    return LESSON.as_posix()


def lose(checkout: Path) -> str:
    """The name of a lesson that somebody has deleted."""
    (checkout / LESSON).unlink()
    return LESSON.as_posix()


@pytest.mark.parametrize("target", ["wheel", "sdist"])
@pytest.mark.parametrize("work", [solve, run, lose])
def test_a_notebook_in_which_somebody_has_worked_is_not_packed(
    work: Callable[[Path], str], target: str, checkout: Path
) -> None:
    """The refusal names the file and what to do, without a traceback; nothing is written."""
    name = work(checkout)
    seen = packed(checkout, target)

    assert 1 == seen.returncode
    assert [name] == [line.partition(": ")[0] for line in seen.stderr.splitlines()[::2]]
    assert seen.stderr.splitlines()[1].endswith(f"git checkout -- {name}")
    assert "Traceback" not in seen.stderr
    assert not (checkout / "dist").exists() or [] == list((checkout / "dist").iterdir())


def stray_files(checkout: Path) -> None:
    """What people leave in a checkout."""
    for name in (
        "notebooks/Untitled.ipynb",
        "exercises/04_compare_and_swap/mine.ipynb",
        "runstate-course/notebooks/00_start_here.ipynb",
        "hand_in/ada/04_compare_and_swap.ipynb",
        "graded/gradebook.csv",
        ".runstate/progress.json",
    ):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("{}", encoding="utf-8")


def test_a_wheel_holds_the_notebooks_of_the_table_and_no_others(checkout: Path) -> None:
    """Not a copy, not a course folder, not a hand-in; and each with the bytes of its build."""
    stray_files(checkout)
    seen = packed(checkout, "wheel")
    (wheel,) = (checkout / "dist").glob("*.whl")
    inside = [name for name in names(wheel) if not name.endswith((".py", ".svg", ".js", ".css"))]
    course = [name.partition("_course/")[2] for name in inside if "_course/" in name]

    assert 0 == seen.returncode, seen.stderr
    assert sorted([*built.read(checkout), "catalogue.toml"]) == sorted(course)
    assert [] == [name for name in inside if "ipynb" in name and "_course/" not in name]
    for name in built.read(checkout):
        packed_bytes = zipfile.ZipFile(wheel).read(f"runstate_lab/_course/{name}")
        assert (ROOT / name).read_bytes() == packed_bytes


def test_an_sdist_holds_what_a_wheel_is_made_of_and_nobodys_work(checkout: Path) -> None:
    """A wheel can be built from it; solutions and stray files are not in it."""
    stray_files(checkout)
    seen = packed(checkout, "sdist")
    (archive,) = (checkout / "dist").glob("*.tar.gz")
    inside = names(archive)
    notebooks = [name for name in inside if name.endswith(".ipynb")]

    assert 0 == seen.returncode, seen.stderr
    assert sorted(built.read(checkout)) == sorted(notebooks)
    assert [] == [name for name in inside if name.startswith(("solutions", "hand_in", "graded"))]
    with tarfile.open(archive) as opened:
        # Pythons before 3.11.4 know no filters, and pass over the attribute.
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(checkout / "again")
    (again,) = (checkout / "again").iterdir()
    assert 0 == packed(again, "wheel").returncode


def test_an_editable_install_is_never_refused(checkout: Path) -> None:
    """`make lab` packs nothing, so somebody's work in the checkout is no obstacle to it."""
    solve(checkout)
    made = subprocess.run(
        [sys.executable, "-c", "import hatchling.build as b; print(b.build_editable('.'))"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == made.returncode, made.stderr
    assert [] == [name for name in names(checkout / made.stdout.split()[-1]) if "_course" in name]


def test_windows_line_ends_are_no_work_of_anybody(checkout: Path) -> None:
    """Git may have written them; the table still holds."""
    path = checkout / LESSON
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert [] == list(built.faults(checkout))


def test_the_committed_table_is_that_of_the_committed_notebooks() -> None:
    """Every notebook that students get, and no other."""
    course = catalogue.load(ROOT)

    assert built.digests(ROOT, [each.notebook for each in course.rows]) == built.read(ROOT)
    assert built.as_text(built.read(ROOT)) == (ROOT / built.FILE).read_text(encoding="utf-8")


def test_a_checkout_without_a_table_is_not_packed(tmp_path: Path) -> None:
    """Nobody could say what is as built."""

    assert "hint: runstate-lab build writes it" == list(built.faults(tmp_path))[1]


def test_a_build_writes_the_table(tiny: Catalogue) -> None:
    """Of what was built and what stays; a row of a notebook that is no more goes away."""
    table = built.read(tiny.root)
    (tiny.root / built.FILE).write_text("00  gone.ipynb\n" + built.as_text(table), "utf-8")
    lesson = tiny.lessons[0]
    master = tiny.root / lesson.master
    master.write_text(master.read_text("utf-8").replace("Hello", "Good morning"), "utf-8")
    build(tiny, [lesson.name])
    after = built.read(tiny.root)
    changed = {name for name in table if table[name] != after[name]}

    assert ({lesson.notebook.as_posix()}, list(table)) == (changed, list(after))
    assert [] == list(built.faults(tiny.root))


def test_a_stale_table_is_refused_by_the_check(tiny: Catalogue) -> None:
    """`build --check` compares it too."""
    path = tiny.root / built.FILE
    path.write_text(path.read_text("utf-8").replace("  notebooks/00", "0  notebooks/00"), "utf-8")
    with pytest.raises(CourseFault, match="is stale") as caught:
        build(tiny, ["00"], check=True)

    assert f"{built.FILE}: is stale\nhint: runstate-lab build" == str(caught.value)


def test_a_bundle_holds_no_lesson_in_which_somebody_has_worked(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """The refusal names it; nothing is written."""
    path = tiny.root / tiny.lessons[0].notebook
    path.write_text(path.read_text("utf-8").replace("Hello", "Hullo"), "utf-8")
    with pytest.raises(CourseFault) as caught:
        release(tiny, tmp_path / "out")

    assert str(caught.value).startswith(
        f"{tiny.lessons[0].notebook}: is not as built: somebody has worked in it\nhint: "
    )
    assert not (tmp_path / "out").exists()
