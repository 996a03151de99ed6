"""A learner's own files: set up and begun anew; never lost.

The installed kit holds a course; a learner works in a copy of it. A file that
the learner has changed is never overwritten, and a reset keeps the old one.

What is not here: handing in (see `handing`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from runstate_lab.course import built
from runstate_lab.course.catalogue import FILE, OWN_COPY, Catalogue, Exercise, load
from runstate_lab.course.faults import AskedWrongly, CourseFault

KIT = Path(__file__).resolve().parents[1] / "_course"
CHECKOUT = KIT.parents[1]
DELIVERED = Path(".runstate", "delivered.json")
KEPT = Path(".runstate", "kept")
PROGRESS = Path(".runstate", "progress.json")


class State(StrEnum):
    """How a file of a learner's folder stands to the kit's."""

    MISSING = "missing"
    FRESH = "as delivered"
    STALE = "older than the kit's"
    CHANGED = "changed by you"
    BEHIND = "changed by you, and newer in the kit"


@dataclass(frozen=True)
class Delivery:
    """What a set-up did: files written, brought with somebody's changes, or left alone."""

    written: tuple[Path, ...] = ()
    brought: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    set_aside: Path | None = None


def origin(root: Path, here: Path, *, far: bool = False) -> tuple[Path, Path | None]:
    """The folder to work in, and the kit or checkout that fills it.

    Nobody works in a kit or a checkout itself. A course of another kind, such as
    an unpacked bundle, is worked in as it is, and nothing fills it. `far` says
    that the root is neither around nor beside you: the running kit stands there.
    """
    if root == KIT or has_masters(root):
        return (here if root == KIT or far else root) / OWN_COPY, root
    around = (root.parent,) if root.name == OWN_COPY else ()
    for source in (*around, KIT, CHECKOUT):
        if (source / FILE).is_file() and (source == KIT or has_masters(source)):
            return root, source if is_ours(root, source) else None
    return root, None


def has_masters(root: Path) -> bool:
    """Whether this is a checkout, in which notebooks are built."""
    return any((root / each.master).exists() for each in load(root).rows)


def is_ours(folder: Path, source: Path) -> bool:
    """Whether the course may be put there: it was before, or nothing is to be seen there."""
    if (folder / DELIVERED).exists():
        return True
    with contextlib.suppress(CourseFault):
        return load(folder).title == load(source).title
    return not folder.is_dir() or all(path.name.startswith(".") for path in folder.iterdir())


def own_folder(root: Path) -> Path:
    """Where a learner works: in a checkout the folder that `lab` made, else the root itself."""
    mine = root / OWN_COPY
    return mine if (mine / FILE).is_file() and has_masters(root) else root


def sources(course: Catalogue) -> Path | None:
    """The root that holds the course's solutions: its own, or the checkout that it came from.

    >>> sources(Catalogue(Path("bundle"), "A course without exercises", (), ())) is None
    True
    """
    around = (course.root.parent,) if course.root.name == OWN_COPY else ()
    for root in (course.root, *around, CHECKOUT):
        if any((root / exercise.master).exists() for exercise in course.exercises):
            return root
    return None


def states(kit: Path, folder: Path) -> dict[Path, State]:
    """How each file of a learner's folder stands to the kit that fills it."""
    delivered = _read_record(folder / DELIVERED) or {}
    return {
        name: _state(folder / name, wanted, delivered.get(name.as_posix()))
        for name, wanted in _digests(kit).items()
    }


def set_up(kit: Path, folder: Path) -> Delivery:
    """Fill a learner's folder, or bring it up to date; what the learner changed stays.

    A notebook of a checkout that is not as built is somebody's work: it comes
    along where there is no file yet, and never takes the place of another.
    """
    made: dict[str, list[Path]] = {"written": [], "brought": [], "kept": []}
    with _record(folder) as (delivered, set_aside):
        first, wanted = not delivered, _digests(kit)
        for name, state in states(kit, folder).items():
            if state is State.BEHIND:
                made["kept"].append(name)
            elif state in (State.MISSING, State.STALE):
                content = _content(kit, name)
                fresh = built.digest(content) == wanted[name]
                if not fresh and state is State.STALE:
                    continue
                _put(folder / name, content)
                made["written" if fresh else "brought"].append(name)
            if state not in (State.BEHIND, State.CHANGED):
                delivered[name.as_posix()] = wanted[name]
        if first and (kit / PROGRESS).is_file() and not (folder / PROGRESS).exists():
            _put(folder / PROGRESS, (kit / PROGRESS).read_bytes())
    return Delivery(**{key: tuple(names) for key, names in made.items()}, set_aside=set_aside)


def reset(catalogue: Catalogue, exercise: Exercise) -> Path | None:
    """Where the old notebook is kept; None where there was none to keep."""
    new = fresh(catalogue, exercise)
    path = catalogue.root / exercise.notebook
    in_the_way = path.parent if path.parent.exists() and not path.parent.is_dir() else path
    kept = None
    if in_the_way.is_dir() or (in_the_way.exists() and in_the_way.read_bytes() != new):
        folder = catalogue.root / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        kept = free(folder / f"{exercise.name}.ipynb")
        if in_the_way is path and path.is_file():
            shutil.copyfile(path, kept)
        else:
            in_the_way.rename(kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, new)
    return kept


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace(path: Path, content: bytes) -> None:
    """The file with that content, whole or not at all."""
    with drafted(path, content):
        pass


@contextlib.contextmanager
def drafted(path: Path, content: bytes) -> Iterator[None]:
    """The content lies beside its place, and comes there when the block is left."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            draft.write_bytes(content)
        except OSError as error:
            error.filename = str(path)
            raise
        yield
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def free(path: Path) -> Path:
    """The first of name-1, name-2, ... that nothing stands under."""
    return next(
        candidate
        for number in range(1, 10_000)
        if not os.path.lexists(candidate := path.with_name(f"{path.stem}-{number}{path.suffix}"))
    )


def fresh(catalogue: Catalogue, exercise: Exercise) -> bytes:
    """The notebook as delivered; where it was changed in the checkout, built anew."""
    source = sources(catalogue)
    for root in (KIT, *([source] if source else [])):
        path = root / exercise.notebook
        if path.is_file() and (root == KIT or built.is_as_built(root, exercise.notebook)):
            return path.read_bytes()
    if source:
        # Late: what executes notebooks takes seconds to import, and no other verb here needs it.
        from runstate_lab.course.build import render, targets

        course = load(source)
        (target,) = (each for each in targets(course, [exercise.name]) if each.exercise)
        return render(course, target)[exercise.notebook].encode()
    raise AskedWrongly(
        f"neither {KIT} nor {catalogue.root / FILE} leads to a fresh copy",
        hint="unpack the student bundle anew, in another folder",
    )


def _digests(kit: Path) -> dict[Path, str]:
    """The digest that each file of the course has when nobody has worked in it."""
    course, table = load(kit), built.read(kit)
    names = [Path(FILE), *(each.notebook for each in course.rows)]
    return {name: table.get(name.as_posix()) or built.digest(_content(kit, name)) for name in names}


def _content(kit: Path, name: Path) -> bytes:
    try:
        return (kit / name).read_bytes()
    except FileNotFoundError:
        hint = f"git checkout -- {name}, or runstate-lab build; an installed kit: install it anew"
        raise AskedWrongly(f"{kit} is not whole: it has no {name}", hint=hint) from None


def _state(path: Path, wanted: str, delivered: str | None) -> State:
    if not os.path.lexists(path):
        return State.MISSING
    now = built.digest(path.read_bytes())
    if now in (wanted, delivered):
        return State.FRESH if now == wanted else State.STALE
    return State.CHANGED if wanted == delivered else State.BEHIND


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, content)


def _read_record(path: Path) -> dict[str, str] | None:
    """Digest by name; None where what stands there is no such record."""
    if not os.path.lexists(path):
        return {}
    try:
        table = None if path.is_dir() else json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    sound = isinstance(table, dict) and all(isinstance(each, str) for each in table.values())
    return table if sound else None


@contextlib.contextmanager
def _record(folder: Path) -> Iterator[tuple[dict[str, str], Path | None]]:
    """What was delivered, to be added to; a broken record is set aside first."""
    path, aside = folder / DELIVERED, None
    delivered = _read_record(path)
    if delivered is None:
        delivered, aside = {}, path.rename(free(path))
    before = dict(delivered)
    try:
        yield delivered, aside
    finally:
        if delivered != before:
            _put(path, json.dumps(delivered, indent=1, sort_keys=True).encode())
