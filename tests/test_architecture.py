"""The house as ARCHITECTURE.md draws it, held against the code."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "runstate_lab"
FLOOR = re.compile(r"^\| (\d) \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
MAY_IMPORT = {
    "show": {"show"},
    "live": {"show", "live"},
    "course": {"show", "live", "course"},
    "grading": {"course", "grading"},
    "bench": {"bench"},
    "cli": {"show", "live", "course", "grading", "bench", "cli"},
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_course" not in path.parts)
BOOK = [path for path in MODULES if path.parent == PACKAGE and not path.name.startswith("__")]
CODE_LINES = 350
FUNCTION_LINES = 40
COMMENTS_PER_100 = 10


def floors() -> dict[str, tuple[int, int]]:
    """Floor and place of each module, as the document says."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return {
        name: (int(floor), place)
        for floor, names in FLOOR.findall(text)
        for place, name in enumerate(re.findall(r"\w+", names))
    }


def name_of(path: Path) -> str:
    """A module's path below the package, for the test's name."""
    return path.relative_to(PACKAGE).as_posix()


def imports(path: Path) -> Iterator[str]:
    """The dotted names that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def docstring_lines(tree: ast.Module) -> set[int]:
    """The lines that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    lines.update(range(first.lineno, (first.end_lineno or 0) + 1))
    return lines


def comment_lines(text: str) -> list[int]:
    """The lines that hold a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.start[0] for token in tokens if token.type == tokenize.COMMENT]


def code_lines(text: str) -> int:
    """Lines of code: not blank, no docstring, no comment alone."""
    docs = docstring_lines(ast.parse(text))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in docs
        for number, line in enumerate(text.splitlines(), start=1)
    )


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Public functions, classes and methods, not those nested in functions."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                        yield inner


def test_every_module_of_the_book_stands_on_one_floor() -> None:
    """The document names exactly the modules that there are."""

    assert sorted(floors()) == sorted(path.stem for path in BOOK)


@pytest.mark.parametrize("path", BOOK, ids=name_of)
def test_the_book_imports_the_standard_library_and_lower_floors(path: Path) -> None:
    """Every import is of the standard library or of something that stands before."""
    places = floors()
    wrong = []
    for name in imports(path):
        head, _, rest = name.partition(".")
        module = rest.partition(".")[0]
        if head == "runstate_lab":
            if module and (module not in places or places[module] >= places[path.stem]):
                wrong.append(name)
        elif head not in sys.stdlib_module_names:
            wrong.append(name)

    assert [] == wrong


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent != PACKAGE], ids=name_of)
def test_the_machinery_imports_only_what_stands_below_it(path: Path) -> None:
    """A sub-package imports the book and the sub-packages that the document lists."""
    package = path.relative_to(PACKAGE).parts[0]
    asked = {
        name.split(".")[1]
        for name in imports(path)
        if name.startswith("runstate_lab.") and name.split(".")[1] in MAY_IMPORT
    }

    assert set() == asked - MAY_IMPORT[package]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_in_the_readers_head(path: Path) -> None:
    """A module has at most 350 lines of code and opens with a docstring."""
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert code_lines(text) <= CODE_LINES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_function_is_one_idea(path: Path) -> None:
    """A function has at most 40 lines, its docstring not counted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = docstring_lines(tree)
    long = {
        node.name: length
        for node in functions(tree)
        if (length := len(set(range(node.lineno, (node.end_lineno or 0) + 1)) - docs))
        > FUNCTION_LINES
    }

    assert {} == long


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_comments_are_few(path: Path) -> None:
    """Fewer than ten of a hundred lines hold a comment."""
    text = path.read_text(encoding="utf-8")

    assert len(comment_lines(text)) * 100 < COMMENTS_PER_100 * max(len(text.splitlines()), 20)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_say_what_you_get(path: Path) -> None:
    """Every public class, function and method has a docstring; its first line fits."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [node.name for node in public(tree) if not ast.get_docstring(node)]
    wide = [
        node.name
        for node in public(tree)
        if len((ast.get_docstring(node) or "").partition("\n")[0]) > 88
    ]

    assert [] == silent
    assert [] == wide


@pytest.mark.parametrize("path", BOOK, ids=name_of)
def test_public_functions_of_the_book_have_a_doctest(path: Path) -> None:
    """Every public function at the top of a book module shows itself at work."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    mute = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and ">>>" not in (ast.get_docstring(node) or "")
    ]

    assert [] == mute


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_imported_by_star_or_raised_bare(path: Path) -> None:
    """No star import, no metaclass, no bare Exception raised."""
    wrong = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            wrong.append((node.lineno, "star import"))
        if isinstance(node, ast.ClassDef) and any(
            word.arg == "metaclass" for word in node.keywords
        ):
            wrong.append((node.lineno, "metaclass"))
        if isinstance(node, ast.Raise):
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(called, ast.Name) and called.id in ("Exception", "BaseException"):
                wrong.append((node.lineno, "bare exception"))

    assert [] == wrong


def test_the_book_opens_with_python_alone() -> None:
    """`import runstate_lab` works where nothing else is installed."""
    blocked = (
        "IPython pandas anywidget ipywidgets nbformat nbclient jupytext click rich graphviz pytest"
    )
    program = (
        "import sys\n"
        f"for name in {blocked.split()!r}: sys.modules[name] = None\n"
        "import runstate_lab\n"
        "print(runstate_lab.StateStore.__name__)\n"
        "print([name for name in sys.modules if name.startswith('runstate_lab.show')])\n"
    )
    seen = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert "StateStore\n[]\n" == seen.stdout, seen.stderr


def test_what_a_run_in_memory_does_not_need_is_loaded_when_it_is_named() -> None:
    """No database, no temporary files and nothing wrong on purpose at first; all names are there."""
    program = (
        "import sys, runstate_lab\n"
        "late = ['sqlite3', 'tempfile', 'hashlib', *('runstate_lab.' + name for name in runstate_lab.LATER)]\n"
        "print([name for name in late if name in sys.modules])\n"
        "from runstate_lab import *\n"
        "print(SqliteStateStore.__name__, BROKEN is runstate_lab.BROKEN, settle is runstate_lab.settle)\n"
    )
    seen = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert "[]\nSqliteStateStore True True\n" == seen.stdout, seen.stderr


def test_the_book_keeps_no_clock_and_rolls_no_dice() -> None:
    """No module of the book imports time, randomness, threads or processes."""
    forbidden = {
        "time",
        "datetime",
        "random",
        "secrets",
        "uuid",
        "threading",
        "asyncio",
        "subprocess",
    }
    asked = {(path.name, name) for path in BOOK for name in imports(path) if name in forbidden}

    assert set() == asked
