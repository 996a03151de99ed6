"""Grading. What an answer finds around it: a notebook's names, and one set of imports.

An answer may import Python's own modules and `runstate_lab`, with `check` as
with a grade. `display`, what else IPython lends a notebook, and the pictures
and widgets of runstate_lab are there and show nothing. Any other import is
refused by name.

What is not here: the walls (see `confine`) and the wire (see `worker`).
"""

from __future__ import annotations

import __future__
import builtins
import functools
import importlib.util
import operator
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

PARENT_DEATH_SIGNAL, KILL = 1, 9
# What is lent instead of imported: it would show, and needs libraries that are not there.
LENT = ("IPython", *(f"runstate_lab.{name}" for name in "show live course bench cli".split()))
FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
LEFT_BY_A_NOTEBOOK: dict[str, object] = {
    **dict.fromkeys(("_", "__", "___", "_i", "_ii", "_iii"), ""),
    "In": [""],
    "Out": {},
}


class ImportRefused(ModuleNotFoundError):
    """An import that a grade would not have either."""


class Shown:
    """Stands for `display`, `Markdown` and the like: it takes anything and shows nothing.

    >>> Shown("a table", metadata={}) is None
    False
    """

    def __init__(self, *shown: object, **how: object) -> None:
        pass

    def __call__(self, *shown: object, **how: object) -> Shown:
        return self

    def __getattr__(self, name: str) -> Shown:
        if name.startswith("_"):
            raise AttributeError(name)
        return self


class _Lent(ModuleType):
    """A module in which every public name shows nothing."""

    __path__: Sequence[str] = ()

    def __call__(self, *shown: object, **how: object) -> Shown:
        return self

    def __getattr__(self, name: str) -> Shown:
        if name.startswith("_"):
            raise AttributeError(name)
        return self


class Lender:
    """The first finder: lends the modules that would show something."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a lent module; None for any other.

        >>> Lender().find_spec("runstate_lab.live.boards").name, Lender().find_spec("json")
        ('runstate_lab.live.boards', None)
        """
        if any(name == lent or name.startswith(f"{lent}.") for lent in LENT):
            return importlib.util.spec_from_loader(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that stands for the real one."""
        return _Lent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: the module answers for itself."""


class Gate:
    """The last finder: refuses what Python does not have."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for a part of a module that is there; raises ImportRefused for a library.

        >>> Gate().find_spec("numpy")
        Traceback (most recent call last):
            ...
        runstate_lab.grading.surroundings.ImportRefused: No module named 'numpy' ...
        """
        head = name.partition(".")[0]
        if path is not None or head in sys.stdlib_module_names:
            return None
        raise ImportRefused(f"No module named {name!r} where answers run", name=name)


def prepare(module: ModuleType) -> None:
    """Puts both finders around Python's own, and what a notebook has where it has it."""
    sys.meta_path.insert(0, Lender())  # type: ignore[arg-type]
    sys.meta_path.append(Gate())  # type: ignore[arg-type]
    vars(builtins).update(display=Shown, get_ipython=Shown)
    vars(module).update(LEFT_BY_A_NOTEBOOK)


def die_with_parent() -> None:
    """Asks the kernel, where it is Linux's, to end this process with its parent."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, KILL, 0, 0, 0)
