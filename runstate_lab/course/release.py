"""The student bundle, and the refusal of a leaky one.

A bundle is a zip of one folder: catalogue, lessons, exercises, the wheel and a
page for students. No line of a held-back check or of a solution may stand in it; a line of fewer than 30 characters, an import, a comment or a text is no secret,
nor is one that a lesson or the library itself shows.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runstate_lab.course import built
from runstate_lab.course.build import render, targets
from runstate_lab.course.catalogue import FILE, Catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault, Place, raise_any
from runstate_lab.course.marks import read_master

LENGTH = 30
HARMLESS = ("import ", "from ", "#", '"', "'")
NEVER = ("solutions/", "test_hidden.py", "wrong/")
BUNDLE = "runstate-lab-course.zip"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
PAGE = """\
# {title}

1. Unpack this folder anywhere and open a terminal in it.
2. {install} (Python 3.11 or newer; once).
3. `runstate-lab lab` opens the first lesson in JupyterLab.

| lesson | minutes |
|---|---|
{lessons}

| exercise | points | see at once what holds |
|---|---|---|
{exercises}

Stuck? `runstate-lab hint 04.1` gives one hint after the other. Begin anew? `runstate-lab reset 04`
keeps a copy of your notebook. Done? `runstate-lab submit 04 --to FOLDER` copies it with a receipt.
"""

Secrets = Mapping[str, Place]


def release(catalogue: Catalogue, out: Path) -> Path:
    """The path of the bundle that was written; nothing is written where it leaks."""
    _require_solutions(catalogue)
    raise_any([*_stale(catalogue), *_worked_in(catalogue)])
    files = examine(catalogue)
    out.mkdir(parents=True, exist_ok=True)
    path = out / BUNDLE
    path.write_bytes(zipped({f"{path.stem}/{name}": files[name] for name in files}))
    return path


def examine(catalogue: Catalogue) -> dict[str, bytes]:
    """The bundle's files, after bundle and wheel were searched for secrets."""
    _require_solutions(catalogue)
    files, secrets = bundle_files(catalogue), secret_lines(catalogue)
    faults = list(leaks(files, secrets))
    if (catalogue.root / "pyproject.toml").exists():
        wheel, content = built_wheel(catalogue.root)
        faults += leaks(wheel_files(content), secrets, inside="wheel")
        files |= {wheel: content, "README.md": student_page(catalogue, wheel=wheel).encode()}
    raise_any(faults)
    return dict(sorted(files.items()))


def bundle_files(catalogue: Catalogue) -> dict[str, bytes]:
    """What a student gets, by name, in the order of the names."""
    paths = [Path(FILE)]
    paths += [lesson.notebook for lesson in catalogue.lessons]
    paths += [exercise.notebook for exercise in catalogue.exercises]
    missing = [path for path in paths if not (catalogue.root / path).exists()]
    raise_any(
        [
            CourseFault("is not there", place=Place(path), hint="runstate-lab build")
            for path in missing
        ]
    )
    files = {path.as_posix(): (catalogue.root / path).read_bytes() for path in paths}
    files["README.md"] = student_page(catalogue).encode()
    return dict(sorted(files.items()))


def student_page(catalogue: Catalogue, *, wheel: str = "") -> str:
    """The page that a student reads first; the wheel lies beside it."""
    install = f"`pip install ./{wheel}`" if wheel else "Install runstate-lab as you were told"
    lessons = [f"| {each.number} {each.title} | {each.minutes} |" for each in catalogue.lessons]
    exercises = [
        f"| {each.number} {each.title} | {each.points} | `runstate-lab check {each.number}` |"
        for each in catalogue.exercises
    ]
    return PAGE.format(
        title=catalogue.title,
        install=install,
        lessons="\n".join(lessons),
        exercises="\n".join(exercises),
    )


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The zip of these files: the same bytes for the same files.

    >>> zipped({"a": b"1"}) == zipped({"a": b"1"})
    True
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def secret_lines(catalogue: Catalogue) -> Secrets:
    """Each line that must not get out, and where it stands."""
    shown = _shown(catalogue)
    secrets: dict[str, Place] = {}
    for exercise in catalogue.exercises:
        hidden = catalogue.root / exercise.hidden
        if hidden.exists():
            for number, line in enumerate(hidden.read_text(encoding="utf-8").splitlines(), start=1):
                secrets.setdefault(line.strip(), Place(exercise.hidden, number))
        master = catalogue.root / exercise.master
        for cell in read_master(master.read_text(encoding="utf-8"), exercise.master):
            for line in cell.solution_lines:
                number = cell.line + 1 + cell.source.split("\n").index(line)
                secrets.setdefault(line.strip(), Place(exercise.master, number))
    return {
        line: place
        for line, place in secrets.items()
        if len(line) >= LENGTH and not line.startswith(HARMLESS) and line not in shown
    }


def leaks(
    files: Mapping[str, bytes], secrets: Secrets, *, inside: str = "bundle"
) -> Iterator[CourseFault]:
    """Every secret line that stands in one of the files, and every file of ours."""
    for name, content in files.items():
        if any(part in name for part in NEVER):
            yield CourseFault(f"{name} must not be in the {inside}")
        lines = content.decode("utf-8", errors="replace").splitlines()
        text = "\n".join(lines)
        for secret, origin in secrets.items():
            # A notebook is JSON: its strings hold the line with quotes escaped.
            for form in {
                secret,
                json.dumps(secret)[1:-1],
                json.dumps(secret, ensure_ascii=False)[1:-1],
            }:
                if form in text:
                    number = next(n for n, line in enumerate(lines, start=1) if form in line)
                    yield CourseFault(
                        f"the {inside} would show {origin}: {secret}",
                        place=Place(Path(name), number),
                        hint="take the line out of what students get, or show it in a lesson",
                    )
                    break


def built_wheel(root: Path) -> tuple[str, bytes]:
    """Name and bytes of the wheel, built from this checkout."""
    with tempfile.TemporaryDirectory(prefix="runstate-wheel-") as folder:
        made = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise CourseFault(f"the wheel cannot be built:\n{made.stdout}{made.stderr}")
        (path,) = Path(folder).glob("*.whl")
        return path.name, path.read_bytes()


def wheel_files(wheel: bytes) -> dict[str, bytes]:
    """The files inside a wheel."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _require_solutions(catalogue: Catalogue) -> None:
    if not catalogue.has_solutions:
        raise AskedWrongly(
            f"{catalogue.root} holds no solutions, so a leak could not be seen",
            hint="release from the author's checkout",
        )


def _stale(catalogue: Catalogue) -> list[CourseFault]:
    """Exercises that differ from their masters; lessons hold no secret."""
    return [
        CourseFault(
            "is stale, or was edited by hand",
            place=Place(path),
            hint=f"runstate-lab build {target.name}",
        )
        for target in targets(catalogue)
        if target.exercise
        for path, text in render(catalogue, target).items()
        if (catalogue.root / path).exists()
        and (catalogue.root / path).read_text(encoding="utf-8") != text
    ]


def _worked_in(catalogue: Catalogue) -> list[CourseFault]:
    """Lessons in which somebody has worked since they were built."""
    return [
        CourseFault(
            "is not as built: somebody has worked in it",
            place=Place(lesson.notebook),
            hint=f"git checkout -- {lesson.notebook}, or runstate-lab build {lesson.name}",
        )
        for lesson in catalogue.lessons
        if not built.is_as_built(catalogue.root, lesson.notebook)
    ]


def _shown(catalogue: Catalogue) -> frozenset[str]:
    """The lines that lessons and the library show to everybody."""
    package = Path(__file__).resolve().parents[1]
    lessons: Iterable[Path] = (catalogue.root / lesson.master for lesson in catalogue.lessons)
    sources = [*lessons, *package.rglob("*.py")]
    return frozenset(
        line.strip()
        for path in sources
        if path.exists()
        for line in path.read_text(encoding="utf-8").splitlines()
    )
