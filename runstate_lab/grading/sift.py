"""Grading. Whether an answer parses, asked in a process that may die of it.

A few lines of text can exhaust a parser, so student text is parsed in a child
with limits, which imports nothing but the standard library and runs nothing.
Run as a program this module is that child; imported, it is the asking side.

What is not here: where the text comes from (see `course.saved`), and running it
(see `worker`).
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

MAGIC = re.compile(r"\s*[%!?]|.*\?\s*$|[\w\s,]+=\s*[%!]")
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MOST_BOUND = 1000
SECONDS = 10
WALL_SECONDS = 600.0
MEMORY = 1024 * 1024 * 1024


@dataclass(frozen=True)
class Sifted:
    """One answer after parsing: the source to run, or the flaw it has."""

    source: str = ""
    flaw: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    bound: tuple[str, ...] = field(default=(), compare=False)


def sift(parts: Mapping[str, tuple[str, ...]]) -> dict[str, Sifted]:
    """Each answer's source, or its flaw; parts that fit together are joined.

    Raises StudentStarved where the machine was too busy to parse them.

    >>> found = sift({"04.1": ("x = 1",), "04.2": ("%time x",)})
    >>> found["04.1"].source, found["04.2"].flaw, found["04.2"].detail
    ('x = 1', 'magic', 'line 1')
    """
    if not parts:
        return {}
    together = _ask(parts)
    if together is not None:
        return together
    alone = {key: _ask({key: value}) for key, value in parts.items()}
    return {key: (row or {}).get(key, Sifted(flaw="too-deep")) for key, row in alone.items()}


def _ask(parts: Mapping[str, tuple[str, ...]]) -> dict[str, Sifted] | None:
    command = [sys.executable, "-I", "-S", "-B", __file__]
    try:
        child = subprocess.run(
            command,
            input=json.dumps({key: list(value) for key, value in parts.items()}).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=WALL_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        from runstate_lab.grading.faults import StudentStarved  # the child cannot import it

        # Its processor time is limited: so long a wait is the machine's.
        raise StudentStarved("an answer could not be parsed in time") from None
    except subprocess.CalledProcessError:
        return None
    rows = json.loads(child.stdout)
    return {
        key: Sifted(
            row["source"], row["flaw"], row["detail"], tuple(row["notes"]), tuple(row["bound"])
        )
        for key, row in rows.items()
    }


def examine(parts: list[str]) -> dict[str, object]:
    """What the child says about one answer.

    >>> examine(["def apply(:"])["flaw"]
    'syntax'
    >>> examine(["def apply():", "    return 1"])["notes"]
    ['several cells are marked as this answer: joined in order']
    """
    source = "\n".join(parts)
    if "\0" in source:
        return _row(flaw="nul")
    try:
        source.encode()
    except UnicodeEncodeError:
        return _row(flaw="surrogate")
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(source, "answer", "exec", flags)
    except SyntaxError as error:
        flaw = "magic" if MAGIC.match(error.text or "") else "syntax"
        if flaw == "syntax" and len(parts) > 1:
            return _row(flaw="ambiguous")
        said = "" if flaw == "magic" else f", {str(error.msg)[:80]}"
        return _row(flaw=flaw, detail=f"line {error.lineno or 0}{said}")
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return _row(flaw="too-deep")
    joined = ["several cells are marked as this answer: joined in order"] if len(parts) > 1 else []
    return {**_row(source=source), "notes": joined, "bound": [*bound_names(tree)][:MOST_BOUND]}


def bound_names(tree: ast.Module) -> tuple[str, ...]:
    """The names that a cell gives a meaning to, where all cells see it.

    >>> bound_names(ast.parse("import os.path as p; (x, y) = z; f = lambda: (inner := 2)"))
    ('f', 'p', 'x', 'y')
    """
    names: set[str] = set()
    left: list[ast.AST] = [*tree.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        if not isinstance(node, SCOPES):
            left += ast.iter_child_nodes(node)
    return tuple(sorted(names))


def _row(*, source: str = "", flaw: str = "", detail: str = "") -> dict[str, object]:
    return {"source": source, "flaw": flaw, "detail": detail, "notes": [], "bound": []}


def main() -> None:
    """Reads the answers as JSON from stdin, writes the findings to stdout."""
    try:
        import resource
    except ImportError:
        resource = None  # type: ignore[assignment]
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    parts = json.load(sys.stdin)
    json.dump({key: examine(value) for key, value in parts.items()}, sys.stdout)


if __name__ == "__main__":
    main()
