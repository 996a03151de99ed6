"""Masters in, notebooks out: one way, the same bytes each time.

A lesson's master becomes an executed notebook. An exercise's master becomes
two: the solved one, executed, and the student's, with stubs and no outputs.
How a cell is marked is in `marks`, how it runs in `kernels`.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from runstate_lab.course import built, kernels
from runstate_lab.course.catalogue import Catalogue, Exercise
from runstate_lab.course.faults import AskedWrongly, CourseFault, Place, raise_any
from runstate_lab.course.marks import Cell, read_master
from runstate_lab.course.taking import cell_id_of

EMPTY: Mapping[int, str] = {}


@dataclass(frozen=True)
class Target:
    """One master, and what is built from it."""

    name: str
    master: Path
    notebooks: tuple[Path, ...]
    exercise: Exercise | None = None


def targets(catalogue: Catalogue, names: Iterable[str] = ()) -> tuple[Target, ...]:
    """What is to be built, in the catalogue's order; no names means all.

    A number means the lesson and the exercise of that number.
    """
    wanted = set(names)
    lessons = (Target(each.name, each.master, (each.notebook,)) for each in catalogue.lessons)
    exercises = (
        Target(each.name, each.master, (each.solved, each.notebook), each)
        for each in catalogue.exercises
    )
    every = (*lessons, *exercises)
    unknown = wanted - {key for target in every for key in (target.name, target.name[:2])}
    if unknown:
        known = ", ".join(dict.fromkeys(target.name for target in every))
        raise AskedWrongly(f"nothing is called {min(unknown)!r}", hint=f"known: {known}")
    return tuple(
        target for target in every if not wanted or {target.name, target.name[:2]} & wanted
    )


def compose(
    cells: tuple[Cell, ...], target: Target, *, kind: str, expected: Mapping[int, str] = EMPTY
) -> NotebookNode:
    """The notebook before it runs: fixed cell ids, roles, stubs where they belong.

    `expected` holds what each check cell printed, by its line in the master.
    """
    nodes = []
    for place, cell in enumerate(cells, start=1):
        if kind == "exercise" and "teacher" in cell.tags:
            continue
        source = cell.source
        if cell.role == "answer" and target.exercise:
            title = target.exercise.task(cell.task).title
            source = cell.stub(title) if kind == "exercise" else cell.solved
        metadata = _metadata(cell, expected.get(cell.line))
        make = nbformat.v4.new_markdown_cell if cell.role == "text" else nbformat.v4.new_code_cell
        nodes.append(make(source, id=_cell_id(cell, place), metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=nodes)
    notebook.metadata["runstate"] = {"kind": kind, "name": target.name}
    return notebook


def held_back_checks(catalogue: Catalogue, exercise: Exercise) -> int:
    """How many held-back checks there are; the student is told the number only."""
    path = catalogue.root / exercise.hidden
    if not path.exists():
        return 0
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sum(node.name.startswith("test_") for node in functions)


def render(catalogue: Catalogue, target: Target) -> dict[Path, str]:
    """The text of each notebook of a target; nothing is written."""
    path = catalogue.root / target.master
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise AskedWrongly("there is no such master", place=Place(target.master)) from None
    cells = read_master(text, target.master)
    raise_any(_task_faults(cells, target))
    ready = compose(cells, target, kind="solution" if target.exercise else "lesson")
    folder = (catalogue.root / target.notebooks[0]).parent
    folder.mkdir(parents=True, exist_ok=True)
    kernels.execute(ready, folder=folder, place=target.master)
    kernels.settle(ready, target.master)
    texts = {target.notebooks[0]: kernels.text_of(ready)}
    if target.exercise:
        printed = zip(cells, ready.cells, strict=True)
        expected = {cell.line: _printed(node) for cell, node in printed if cell.role == "check"}
        stubs = compose(cells, target, kind="exercise", expected=expected)
        stubs.metadata["runstate"]["held_back"] = held_back_checks(catalogue, target.exercise)
        kernels.settle(stubs, target.master)
        texts[target.notebooks[1]] = kernels.text_of(stubs)
    return texts


def build(
    catalogue: Catalogue,
    names: Iterable[str] = (),
    *,
    check: bool = False,
    jobs: int = 2,
    done: Callable[[Target], None] = lambda target: None,
) -> tuple[Target, ...]:
    """The notebooks that were written; with `check`, those compared and found equal.

    A fault in one notebook does not keep the others from being built.
    """
    chosen = targets(catalogue, names)
    faults: list[CourseFault] = []

    def one(target: Target) -> None:
        try:
            for path, text in render(catalogue, target).items():
                put = _compare if check else _write
                put(catalogue.root, path, text, target)
        except CourseFault as fault:
            faults.append(fault)
        done(target)

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        list(pool.map(one, chosen))
    for fault in _table(catalogue, chosen, check=check):
        faults.append(fault)
    raise_any(sorted(faults, key=str))
    return chosen


def _table(catalogue: Catalogue, chosen: Iterable[Target], *, check: bool) -> Iterator[CourseFault]:
    """Write which notebooks are as built; with `check`, tell where the table says otherwise."""
    root, before = catalogue.root, built.read(catalogue.root)
    handed_out = [each.notebook for each in catalogue.rows]
    names = [path for each in chosen for path in each.notebooks if path in handed_out]
    now = built.digests(root, (name for name in names if (root / name).is_file()))
    known = {name.as_posix() for name in handed_out}
    after = {name: digest for name, digest in {**before, **now}.items() if name in known}
    if check and after != before:
        yield CourseFault("is stale", place=Place(Path(built.FILE)), hint="runstate-lab build")
    elif not check:
        (root / built.FILE).write_text(built.as_text(after), encoding="utf-8", newline="\n")


def _compare(root: Path, path: Path, text: str, target: Target) -> None:
    file = root / path
    there = file.read_text(encoding="utf-8") if file.exists() else None
    if there != text:
        found = "was never built" if there is None else "is stale, or was edited by hand"
        raise CourseFault(
            found,
            place=Place(path, _first_difference(there or "", text)),
            hint=f"edit {target.master}, then run: runstate-lab build {target.name}",
        )


def _write(root: Path, path: Path, text: str, target: Target) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, file)


def _first_difference(there: str, text: str) -> int:
    pairs = zip(there.splitlines(), text.splitlines(), strict=False)
    for number, (left, right) in enumerate(pairs, start=1):
        if left != right:
            return number
    return min(there.count("\n"), text.count("\n")) if there else 0


def _task_faults(cells: tuple[Cell, ...], target: Target) -> list[CourseFault]:
    """Tasks of the catalogue and answer cells of the master must be the same."""
    answers = {cell.task: cell for cell in cells if cell.role == "answer"}
    checked = {cell.task for cell in cells if cell.role == "check"}
    if not target.exercise:
        places = [Place(target.master, cell.line) for cell in answers.values()]
        return [CourseFault("a lesson has no answer cells", place=place) for place in places]
    ids = [task.id for task in target.exercise.tasks]
    faults = [
        CourseFault(f"task {id} has no {what}", place=Place(target.master))
        for what, found in (("answer cell", set(answers)), ("visible check", checked))
        for id in ids
        if id not in found
    ]
    faults += [
        CourseFault(
            f"answer {id} is no task of the catalogue", place=Place(target.master, cell.line)
        )
        for id, cell in answers.items()
        if id not in ids
    ]
    return faults


def _cell_id(cell: Cell, place: int) -> str:
    """Answers keep their id when cells are added before them; the rest count."""
    if cell.role == "answer":
        return cell_id_of(cell.task)
    return f"cell-{place:02}"


def _printed(node: NotebookNode) -> str:
    return "".join(output.text for output in node.outputs if output.get("name") == "stdout")


def _metadata(cell: Cell, expected: str | None) -> dict[str, object]:
    role: dict[str, str] = {"role": cell.role}
    if cell.task:
        role["task"] = cell.task
    if cell.role == "answer":
        role["id"] = cell.task
    if cell.check:
        role["check"] = cell.check
    if expected is not None:
        role["expected"] = expected
    metadata: dict[str, object] = {"runstate": role}
    if cell.tags:
        metadata["tags"] = list(cell.tags)
    return metadata
