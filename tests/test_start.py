"""How our side starts: nothing that lies in the working folder is taken for a library."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
MARK = "import os\nopen(os.path.join({folder!r}, {name!r} + '.was-run'), 'w').close()\n"
# Each as a student's folder with __init__.py, and as a file.
LIBRARIES = (
    "jinja2", "click", "json", "pytest", "_pytest", "numpy", "rich", "nbformat", "pandas",
    "tomllib", "sqlite3", "re", "enum", "typing", "dataclasses", "subprocess", "ctypes",
    "__future__", "traceback", "tests", "conftest", "solutions", "sitecustomize",
)  # fmt: skip
# Python imports these before the first line of ours; the docstring says so.
BEFORE_US = {
    "runstate_lab", "importlib", "contextlib", "warnings", "collections", "keyword", "operator",
    "reprlib", "functools", "types",
}  # fmt: skip
STARTS = (
    (["--version"], True),
    (["--version"], False),
    (["doctor"], True),
    (["grade", "in", "--out", "out", "--isolation", "none"], False),
)


def plant(folder: Path, name: str, *, package: bool) -> None:
    """A module of this name that leaves a mark when it runs."""
    text = MARK.format(folder=str(folder), name=name)
    if package:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(text, encoding="utf-8")
    else:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def marks(folder: Path) -> list[str]:
    """The planted modules that ran."""
    return sorted(path.stem for path in folder.glob("*.was-run"))


def start(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command, started in this folder by a Python that knows the checkout by its path."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PYTHONPATH": str(CHECKOUT)} | more,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("verb", "package"), STARTS)
def test_nothing_in_the_working_folder_is_run(
    verb: list[str], package: bool, tmp_path: Path
) -> None:
    """A student who is called like a library runs no code in `python -m runstate_lab`."""
    (tmp_path / "in").mkdir()
    for name in LIBRARIES:
        plant(tmp_path, name, package=package)
    seen = start(tmp_path, sys.executable, "-m", "runstate_lab", *verb)

    assert [] == marks(tmp_path)
    assert (0, "") == (seen.returncode, "" if "Traceback" not in seen.stderr else seen.stderr)


def test_no_name_of_the_standard_library_or_of_an_installed_package_is_taken(
    tmp_path: Path,
) -> None:
    """Every name there is, at once; what Python takes before our first line is told apart."""
    names = {name for name in (*sys.stdlib_module_names, *packages_distributions())}
    for name in names - BEFORE_US:
        if name.isidentifier():
            plant(tmp_path, name, package=False)
    seen = start(tmp_path, sys.executable, "-m", "runstate_lab", "--version")

    assert ([], 0) == (marks(tmp_path), seen.returncode), seen.stderr


def test_what_python_takes_before_us_is_told() -> None:
    """Every name of that list stands in the docstring."""
    text = (CHECKOUT / "runstate_lab" / "__main__.py").read_text(encoding="utf-8")

    assert set() == {name for name in BEFORE_US if f"`{name}`" not in text}


def test_the_console_script_has_no_working_folder(tmp_path: Path) -> None:
    """`runstate-lab` takes not even a module that Python imports early."""
    script = Path(sys.executable).with_name("runstate-lab")
    for name in {*LIBRARIES, *BEFORE_US}:
        plant(tmp_path, name, package=False)
    seen = start(tmp_path, str(script), "--version")

    assert ([], 0) == (marks(tmp_path), seen.returncode), seen.stderr


def test_the_session_of_one_submission_starts_the_same_way(tmp_path: Path) -> None:
    """Each `python -m` of a module of ours drops the working folder too."""
    for name in LIBRARIES:
        plant(tmp_path, name, package=False)
    seen = start(tmp_path, sys.executable, "-m", "runstate_lab.grading.session")

    assert [] == marks(tmp_path)
    assert "IndexError" in seen.stderr  # it has no job, and came as far as to miss it


def test_a_checkout_is_still_found_from_inside(tmp_path: Path) -> None:
    """The folder that holds the package itself stays on the path."""
    program = [sys.executable, "-S", "-c", "import runstate_lab, sys; print(sys.path[0] == '')"]
    seen = start(CHECKOUT, sys.executable, "-m", "runstate_lab", "--version", PYTHONPATH="")
    plain = start(CHECKOUT, *program, PYTHONPATH="")

    assert 0 == seen.returncode, seen.stderr
    assert "True\n" == plain.stdout, plain.stderr


@pytest.mark.parametrize("package", [True, False], ids=["folder", "file"])
def test_a_program_of_somebody_else_keeps_its_working_folder(
    package: bool, tmp_path: Path
) -> None:
    """`python -m theirs`, which imports the book, finds its own modules afterwards."""
    plant(tmp_path, "theirs", package=package)
    path = tmp_path / ("theirs/__init__.py" if package else "theirs.py")
    path.write_text("import runstate_lab, beside\n", encoding="utf-8")
    if package:
        path.with_name("__main__.py").write_text("", encoding="utf-8")
    plant(tmp_path, "beside", package=False)
    seen = start(tmp_path, sys.executable, "-m", "theirs")

    assert (0, ["beside"]) == (seen.returncode, marks(tmp_path)), seen.stderr


@pytest.mark.parametrize("flags", [["-mrunstate_lab"], ["-Bm", "runstate_lab"]])
def test_every_spelling_of_the_flag_drops_the_working_folder(
    flags: list[str], tmp_path: Path
) -> None:
    """Written as one word, or behind another flag."""
    plant(tmp_path, "click", package=True)
    seen = start(tmp_path, sys.executable, *flags, "--version")

    assert ([], 0) == (marks(tmp_path), seen.returncode), seen.stderr


def test_safe_path_is_left_as_it_is(tmp_path: Path) -> None:
    """With -P there is no working folder to drop, and nothing else is dropped."""
    program = (
        "import sys; before = list(sys.path); sys.argv[0] = '-m'; sys.orig_argv.append('runstate_lab'); "
        "import runstate_lab; "
        "print(before == sys.path)"
    )
    seen = start(tmp_path, sys.executable, "-P", "-c", program)

    assert "True\n" == seen.stdout, seen.stderr
