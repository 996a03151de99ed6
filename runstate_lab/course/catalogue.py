"""The catalogue: the only place that says what is taught, in which order.

`catalogue.toml` stands at the root of a course. Files, points, hints and
minutes are looked up here and nowhere else; the notebooks hold none of them.

    [course]
    title = "..."
    [[lessons]]
    number = "04"
    name = "04_revision_conflicts"   file and folder names are made of it
    title = "Revision conflicts"
    minutes = 40
    breaks = ["M4", "M14"]
    [[exercises]]
    number = "04"
    name = "04_compare_and_swap"
    title = "Compare and swap"
    lesson = "04"
    [[exercises.tasks]]
    id = "04.1"
    title = "refuse a stale revision"
    points = 2
    answers = ["apply"]              names that the answer cell must define
    hints = ["where to look", "what to compare", "almost the line itself"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runstate_lab.course.faults import AskedWrongly, CourseFault, Place, raise_any

FILE = "catalogue.toml"
OWN_COPY = "runstate-course"
MINUTES_AT_MOST = 45
HINTS = 3
HEAD: Mapping[str, type] = {"number": str, "name": str, "title": str}
LESSON_KEYS: Mapping[str, type] = {**HEAD, "minutes": int, "breaks": list}
EXERCISE_KEYS: Mapping[str, type] = {**HEAD, "lesson": str, "tasks": list}
TASK_KEYS: Mapping[str, type] = {
    "id": str,
    "title": str,
    "points": int,
    "answers": list,
    "hints": list,
}
NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Task:
    """One numbered piece of work with its points and three hints."""

    id: str
    title: str
    points: int
    answers: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """One lesson; its paths are relative to the course folder."""

    name: str
    title: str
    minutes: int
    breaks: tuple[str, ...]

    @property
    def number(self) -> str:
        """The two digits that the name begins with."""
        return self.name[:2]

    @property
    def master(self) -> Path:
        """The hand-written source."""
        return Path("notebooks", "src", f"{self.name}.py")

    @property
    def notebook(self) -> Path:
        """The built notebook, with outputs."""
        return Path("notebooks", f"{self.name}.ipynb")


@dataclass(frozen=True)
class Exercise:
    """One exercise; its paths are relative to the course folder."""

    name: str
    title: str
    lesson: str
    tasks: tuple[Task, ...]

    @property
    def number(self) -> str:
        """The two digits that the name begins with."""
        return self.name[:2]

    @property
    def points(self) -> int:
        """The points of all tasks together."""
        return sum(task.points for task in self.tasks)

    @property
    def folder(self) -> Path:
        """What only the author's side holds."""
        return Path("solutions", self.name)

    @property
    def master(self) -> Path:
        """The hand-written source, solution included."""
        return self.folder / "master.py"

    @property
    def solved(self) -> Path:
        """The built and executed solution."""
        return self.folder / f"{self.name}.ipynb"

    @property
    def hidden(self) -> Path:
        """The held-back checks."""
        return self.folder / "test_hidden.py"

    @property
    def wrong(self) -> Path:
        """The folder of the named wrong answers."""
        return self.folder / "wrong"

    @property
    def notebook(self) -> Path:
        """The notebook that a student gets: stubs and visible checks."""
        return Path("exercises", self.name, f"{self.name}.ipynb")

    def task(self, id: str) -> Task:
        """The task of that number, such as "04.1"."""
        for task in self.tasks:
            if task.id == id:
                return task
        known = ", ".join(task.id for task in self.tasks)
        raise AskedWrongly(f"exercise {self.number} has no task {id!r}; it has {known}")


@dataclass(frozen=True)
class Catalogue:
    """A course folder and what its catalogue says."""

    root: Path
    title: str
    lessons: tuple[Lesson, ...]
    exercises: tuple[Exercise, ...]

    @property
    def has_solutions(self) -> bool:
        """Whether this is the author's checkout, not a student's folder."""
        return any((self.root / each.master).exists() for each in self.exercises)

    @property
    def rows(self) -> tuple[Lesson | Exercise, ...]:
        """Lessons and exercises, each with a master and a notebook."""
        return (*self.lessons, *self.exercises)

    def lesson(self, asked: str) -> Lesson:
        """The lesson of a number or a name."""
        return _find(self.lessons, asked, "lesson")

    def exercise(self, asked: str) -> Exercise:
        """The exercise of a number or a name; task numbers lead there too."""
        return _find(self.exercises, asked.partition(".")[0], "exercise")


def find_root(start: Path | None = None, *, or_the_kits: bool = True) -> Path:
    """The course folder: the nearest catalogue at or above `start`, else the kit's.

    A notebook runs in its own folder, so looking upwards finds its course; then
    comes the copy that `runstate-lab lab` made here. The last resort is the
    course inside the installed package, or the checkout.
    """
    here = (start or Path.cwd()).resolve()
    package = Path(__file__).resolve().parents[1]
    kits = (package / "_course", package.parent) if or_the_kits else ()
    for folder in (here, *here.parents, here / OWN_COPY, *kits):
        if (folder / FILE).is_file():
            return folder
    raise AskedWrongly(
        f"no {FILE} in {here} or above it",
        hint="go to the course folder, or name it with --course DIR",
    )


def load(root: Path) -> Catalogue:
    """The catalogue of a course folder; every fault found is told with its line."""
    path = root / FILE
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        raise AskedWrongly(
            f"{root} is no course folder: it has no {FILE}",
            hint="name the folder that runstate-lab lab made, or the unpacked bundle",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseFault(f"cannot be read: {error}", place=Place(path)) from None
    faults = list(_faults(table, path, text))
    raise_any(faults)
    return Catalogue(
        root=root,
        title=table["course"]["title"],
        lessons=tuple(_lesson(row) for row in table["lessons"]),
        exercises=tuple(_exercise(row) for row in table.get("exercises", ())),
    )


def stray_and_missing(catalogue: Catalogue) -> list[CourseFault]:
    """Files that the catalogue names and nobody wrote, and the other way round."""
    masters = {lesson.master for lesson in catalogue.lessons}
    notebooks = {lesson.notebook for lesson in catalogue.lessons}
    stubs = {exercise.notebook for exercise in catalogue.exercises}
    parts = {
        path
        for exercise in catalogue.exercises
        for path in (exercise.master, exercise.solved, exercise.hidden)
    }
    looked = (
        (masters, "notebooks/src/*.py"),
        (notebooks, "notebooks/*.ipynb"),
        (stubs, "exercises/**/*.ipynb"),
        (parts, "solutions/*/*.*"),
    )
    faults = []
    for named, pattern in looked:
        if named is parts and not catalogue.has_solutions:
            continue
        found = {
            path.relative_to(catalogue.root)
            for path in catalogue.root.glob(pattern)
            if ".ipynb_checkpoints" not in path.parts
        }
        if named is masters and not found:
            continue
        faults += [_misfit(path, f"is named in {FILE} but missing") for path in named - found]
        faults += [_misfit(path, f"is not named in {FILE}") for path in found - named]
    return sorted(faults, key=str)


def _misfit(path: Path, found: str) -> CourseFault:
    return CourseFault(found, place=Place(path), hint=f"add or remove it, or mend {FILE}")


def _find(rows: tuple[Any, ...], asked: str, noun: str) -> Any:
    for row in rows:
        if asked in (row.name, row.number):
            return row
    known = ", ".join(row.number for row in rows) or "none"
    raise AskedWrongly(f"there is no {noun} {asked!r}", hint=f"known: {known}")


def _lesson(row: Mapping[str, Any]) -> Lesson:
    return Lesson(row["name"], row["title"], row["minutes"], tuple(row["breaks"]))


def _exercise(row: Mapping[str, Any]) -> Exercise:
    tasks = tuple(
        Task(
            each["id"], each["title"], each["points"], tuple(each["answers"]), tuple(each["hints"])
        )
        for each in row["tasks"]
    )
    return Exercise(row["name"], row["title"], row["lesson"], tasks)


def _faults(table: Mapping[str, Any], path: Path, text: str) -> Iterator[CourseFault]:
    def fault(found: str, needle: str = "") -> CourseFault:
        return CourseFault(found, place=Place(path, _line_of(text, needle)))

    if not isinstance(table.get("course", {}).get("title"), str):
        yield fault("[course] has no title")
    lessons, exercises = table.get("lessons", []), table.get("exercises", [])
    if not lessons:
        yield fault("there is no [[lessons]]")
    for rows, keys, noun in (
        (lessons, LESSON_KEYS, "lesson"),
        (exercises, EXERCISE_KEYS, "exercise"),
    ):
        for row in rows:
            for found in _shape(row, keys, noun):
                yield fault(found, str(row.get("name", "")))
        names = [str(row.get("name", "")) for row in rows]
        for name in names:
            if not NAME.fullmatch(name):
                yield fault(f"{noun} name {name!r} is not like 04_plain_words", name)
        for row in rows:
            if not str(row.get("name", "")).startswith(f"{row.get('number')}_"):
                yield fault(
                    f"{noun} {row.get('name')!r} has the number {row.get('number')!r}",
                    str(row.get("name")),
                )
        for earlier, later in zip(names, names[1:], strict=False):
            if later[:2] <= earlier[:2]:
                yield fault(f"{noun} {later} stands after {earlier}: numbers must rise", later)
    for row in lessons:
        if isinstance(row.get("minutes"), int) and not 1 <= row["minutes"] <= MINUTES_AT_MOST:
            yield fault(
                f"{row['minutes']} minutes; 1 to {MINUTES_AT_MOST} are allowed", row["name"]
            )
    numbers = {str(row.get("name", ""))[:2] for row in lessons}
    for row in exercises:
        if row.get("lesson") not in numbers:
            yield fault(f"exercise of unknown lesson {row.get('lesson')!r}", str(row.get("name")))
        for found, needle in _task_faults(row):
            yield fault(found, needle)


def _task_faults(exercise: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = str(exercise.get("name", ""))
    tasks = exercise.get("tasks") or []
    if not tasks:
        yield f"exercise {name} has no tasks", name
    for place, task in enumerate(tasks, start=1):
        id, expected = str(task.get("id", "")), f"{name[:2]}.{place}"
        for found in _shape(task, TASK_KEYS, "task"):
            yield found, id or name
        if id != expected:
            yield f"task id {id!r} where {expected!r} was expected", id or name
        hints = task.get("hints", [])
        if len(hints) != HINTS or not all(isinstance(hint, str) and hint.strip() for hint in hints):
            yield f"task {id} needs {HINTS} hints that are not empty; it has {len(hints)}", id
        points = task.get("points", 1)
        if isinstance(points, int) and points < 1:
            yield f"task {id} gives {points} points; at least 1 is needed", id
        if not task.get("answers", ["?"]):
            yield f"task {id} names no answer", id


def _shape(row: Mapping[str, Any], keys: Mapping[str, type], noun: str) -> Iterator[str]:
    for key, type_ in keys.items():
        if key not in row:
            yield f"{noun} without {key!r}"
        elif not isinstance(row[key], type_) or isinstance(row[key], bool):
            yield f"{noun} {key} = {row[key]!r} is not {type_.__name__}"
    for key in row.keys() - keys.keys():
        yield f"{noun} has the unknown key {key!r}; known: {', '.join(keys)}"


def _line_of(text: str, needle: str) -> int:
    for number, line in enumerate(text.splitlines(), start=1):
        if needle and f'"{needle}"' in line:
            return number
    return 0
