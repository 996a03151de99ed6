"""Grading. One exercise as the grader needs it: tasks, our notebook, our tests.

Points, ids, titles, expected outputs and order come from here only, never from
a submission. The version names all of it, so that a changed check is seen.

What is not here: reading a submission (see `course.saved`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course import built, catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault, Place
from runstate_lab.course.taking import Wanted, wanted_in

SANITIZE = Path("tests", "nbval_sanitize.cfg")
TEACHER = "teacher"


@dataclass(frozen=True)
class ReferenceCell:
    """One cell of our solved notebook; `task` is empty where none is meant."""

    number: int
    kind: str
    role: str
    task: str
    title: str
    cell_id: str
    source: str
    run: bool
    teacher: bool
    expected: str | None = None

    @property
    def name(self) -> str:
        """The cell's name in a traceback."""
        what = " ".join(filter(None, (self.role, self.task, self.title)))
        return f"<cell {self.number + 1}: {what}>"


@dataclass(frozen=True)
class GradedExercise:
    """An exercise with its checks, ready to grade against."""

    name: str
    title: str
    tasks: tuple[catalogue.Task, ...]
    cells: tuple[ReferenceCell, ...]
    wanted: tuple[Wanted, ...]
    notebook: Path
    hidden: Path | None
    sanitize: Path | None
    version: str
    held_back: int = 0

    @property
    def points(self) -> int:
        """The points of all tasks together."""
        return sum(task.points for task in self.tasks)

    @property
    def checks(self) -> tuple[tuple[catalogue.Task, ReferenceCell], ...]:
        """The visible checks with the task that each belongs to."""
        tasks = {task.id: task for task in self.tasks}
        rows = (cell for cell in self.cells if cell.role == "check" and cell.kind == "code")
        return tuple((tasks[row.task], row) for row in rows if row.task in tasks)

    def names(self, task: str) -> tuple[str, ...]:
        """The names that the task asks for; no check may use another one of the answer's."""
        return tuple(name for each in self.tasks if each.id == task for name in each.answers)


def worker_cells(
    exercise: GradedExercise, sources: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """What the worker runs: our given cells and the student's answers, in our order."""
    rows = []
    for cell in exercise.cells:
        if cell.role == "answer" and cell.task in sources:
            rows.append((sources[cell.task], cell.task))
        elif cell.role == "given" and not cell.teacher:
            rows.append((cell.source, f"given {cell.number + 1}"))
    return tuple(rows)


def course_root(course: Path | None = None) -> Path:
    """The checkout that holds catalogue and solutions; refuses one without.

    >>> course_root(Path("/dev"))
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: there are no solutions in /dev
    hint: grade from a checkout, or name one with --course DIR
    """
    root = course.absolute() if course else catalogue.find_root()
    if not (root / "solutions").is_dir():
        raise AskedWrongly(
            f"there are no solutions in {root}",
            hint="grade from a checkout, or name one with --course DIR",
        )
    return root


def load_exercise(root: Path, asked: str) -> GradedExercise:
    """The exercise of a number or a name, refused where a grade would be wrong."""
    row = catalogue.load(root).exercise(asked)
    notebook, hidden = root / row.solved, root / row.hidden
    if not notebook.is_file():
        raise CourseFault("was never built", place=Place(row.solved), hint="runstate-lab build")
    cells = reference_cells(json.loads(notebook.read_text(encoding="utf-8")))
    for cell in cells:
        # nbval runs a cell without an execution count and compares nothing.
        if cell.role == "check" and not cell.run:
            found = f"check cell {cell.number + 1} was never run"
            raise CourseFault(found, place=Place(row.solved), hint="runstate-lab build")
    stubs = _stubs(root, row.notebook)
    answers = [cell for cell in cells if cell.role == "answer"]
    sanitize = root / SANITIZE
    return GradedExercise(
        name=row.name,
        title=row.title,
        tasks=row.tasks,
        cells=cells,
        wanted=tuple(Wanted(each.task, each.cell_id, stubs.get(each.task, "")) for each in answers),
        notebook=notebook,
        hidden=hidden if hidden.is_file() else None,
        sanitize=sanitize if sanitize.is_file() else None,
        version=_version(row, notebook, hidden),
    )


def as_handed_out(row: catalogue.Exercise, notebook: Mapping[str, object]) -> GradedExercise:
    """The exercise as far as the notebook that students get tells it: no held-back check."""
    cells = reference_cells(notebook)
    return GradedExercise(
        name=row.name,
        title=row.title,
        tasks=row.tasks,
        cells=cells,
        wanted=wanted_in(notebook),
        notebook=row.notebook,
        hidden=None,
        sanitize=None,
        version="",
        held_back=_held_back(notebook),
    )


def reference_cells(notebook: Mapping[str, object]) -> tuple[ReferenceCell, ...]:
    """The cells of a notebook of ours with their roles; a `check` tag is a role too."""
    rows = []
    for number, cell in enumerate(notebook["cells"]):  # type: ignore[arg-type]
        metadata = cell.get("metadata", {})
        marks, tags = metadata.get("runstate", {}), metadata.get("tags", ())
        source = cell.get("source", "")
        rows.append(
            ReferenceCell(
                number=number,
                kind=cell["cell_type"],
                role="check" if "check" in tags else marks.get("role", ""),
                task=marks.get("task") or marks.get("id", ""),
                title=marks.get("check", ""),
                cell_id=cell.get("id", ""),
                source=source if isinstance(source, str) else "".join(source),
                run=cell.get("execution_count") is not None,
                teacher=TEACHER in tags,
                expected=marks.get("expected"),
            )
        )
    return tuple(rows)


def kit_version() -> str:
    """The installed kit's version, part of every exercise version."""
    try:
        return importlib.metadata.version("runstate-lab")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _held_back(notebook: Mapping[str, object]) -> int:
    try:
        number = notebook["metadata"]["runstate"]["held_back"]  # type: ignore[index]
    except (KeyError, TypeError):
        return 0
    return number if type(number) is int and number >= 0 else 0


def _stubs(root: Path, name: Path) -> dict[str, str]:
    # In a notebook that somebody has worked in stand answers, not stubs.
    if not (root / name).is_file() or name.as_posix() in built.changed(root):
        return {}
    cells = reference_cells(json.loads((root / name).read_text(encoding="utf-8")))
    return {cell.task: cell.source for cell in cells if cell.role == "answer"}


def _version(row: catalogue.Exercise, notebook: Path, hidden: Path) -> str:
    seen = hashlib.sha256(repr((kit_version(), row.title, row.tasks)).encode())
    for path in (notebook, hidden):
        seen.update(path.read_bytes() if path.is_file() else b"none")
    return seen.hexdigest()[:16]
