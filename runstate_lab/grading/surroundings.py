"""Grading. What an answer finds around it: a notebook's names, and one set of imports.

An answer may import Python's own modules and `runstate_lab`, with `check` as
with a grade. `display` and what else IPython lends a notebook is there and
shows nothing. Any other import is refused by name.

What is not here: the walls (see `confine`) and the wire (see `worker`).
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

PARENT_DEATH_SIGNAL, KILL = 1, 9
NOTEBOOK = "IPython"


class ImportRefused(ModuleNotFoundError):
    """An import that a grade would not have either."""


class Shown:
    """Stands for `display`, `Markdown` and the like: it takes anything and shows nothing.

    >>> Shown("a table", metadata={}) is None
    False
    """

    def __init__(self, *shown: object, **how: object) -> None:
        pass

    def update(self, *shown: object, **how: object) -> None:
        """Nothing, as the handle of a display does when nobody looks."""


class _Lent(ModuleType):
    """A module of IPython in which every public name shows nothing."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return no_shell if name == "get_ipython" else Shown


class Gate:
    """The last finder: lends IPython's names, refuses what Python does not have."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of an empty IPython module; None for a part of a module that is there.

        >>> Gate().find_spec("numpy")
        Traceback (most recent call last):
            ...
        runstate_lab.grading.surroundings.ImportRefused: No module named 'numpy' ...
        """
        head = name.partition(".")[0]
        if head == NOTEBOOK:
            return importlib.util.spec_from_loader(name, self, is_package=True)  # type: ignore[arg-type]
        if path is not None or head in sys.stdlib_module_names:
            return None
        raise ImportRefused(f"No module named {name!r} where answers run", name=name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that stands for one of IPython's."""
        return _Lent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: the module answers for itself."""


def no_shell() -> None:
    """None: there is no notebook shell where answers run."""


def prepare(module: ModuleType) -> None:
    """Puts the gate behind Python's own finders, and `display` where notebooks have it."""
    sys.meta_path.append(Gate())  # type: ignore[arg-type]
    vars(builtins).setdefault("display", Shown)
    vars(builtins).setdefault("get_ipython", no_shell)


def die_with_parent() -> None:
    """Asks the kernel, where it is Linux's, to end this process with its parent."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, KILL, 0, 0, 0)
