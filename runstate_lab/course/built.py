"""Which notebooks are as built: one table of digests that `runstate-lab build` writes.

With it a wheel, a bundle or a learner's folder can be made from a checkout in
which somebody has worked, and no changed notebook goes with it; nothing is run
to find out. The table is `built.sha256`, as `sha256sum` prints it. This module
imports the standard library only: the build of the wheel reads it as a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

FILE = "built.sha256"


def digest(content: bytes) -> str:
    """The SHA-256 of a file's content, whatever line ends git gave it.

    >>> digest(b"a\\r\\nb") == digest(b"a\\nb")
    True
    """
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def read(root: Path) -> dict[str, str]:
    """Digest by name; empty where there is no table.

    >>> read(Path("nowhere"))
    {}
    """
    path = root / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    parted = (line.partition("  ") for line in lines)
    return {name: sha256 for sha256, _, name in parted if name}


def as_text(table: Mapping[str, str]) -> str:
    """The table as it is written, in the order of the names.

    >>> as_text({"b": "22", "a": "11"})
    '11  a\\n22  b\\n'
    """
    return "".join(f"{table[name]}  {name}\n" for name in sorted(table))


def digests(root: Path, names: Iterable[Path]) -> dict[str, str]:
    """The digests of these files as they are now."""
    return {name.as_posix(): digest((root / name).read_bytes()) for name in names}


def is_as_built(root: Path, name: Path) -> bool:
    """Whether that notebook is what its master gave; no where the table does not know it."""
    path = root / name
    return path.is_file() and read(root).get(name.as_posix()) == digest(path.read_bytes())


def changed(root: Path) -> frozenset[str]:
    """The notebooks of the table that are not as built, or are gone.

    >>> changed(Path("/no/such/checkout"))
    frozenset()
    """
    return frozenset(name for name in read(root) if not is_as_built(root, Path(name)))


def faults(root: Path) -> Iterator[str]:
    """What must not be packed, one sentence each, with what to do."""
    table = read(root)
    if not table:
        yield f"{FILE} is not there, so nobody can say which notebooks are as built"
        yield "hint: runstate-lab build writes it"
    for name, wanted in table.items():
        path = root / name
        if not path.is_file():
            yield f"{name}: is not there"
            yield f"hint: git checkout -- {name}"
        elif digest(path.read_bytes()) != wanted:
            yield f"{name}: somebody has worked in it; it is not as built, and is not packed"
            yield f"hint: keep your copy elsewhere, then: git checkout -- {name}"
