"""What hatchling asks when it packs: the notebooks of the table, as built, and no others."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = {"wheel": "runstate_lab/_course/", "sdist": ""}


class Packing(BuildHookInterface):
    """Packs the course; a notebook in which somebody has worked is refused."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to pack; an editable install packs nothing, so it is never refused."""
        if version == "editable":
            return
        root = Path(self.root)
        built = _built(root)
        if faults := list(built.faults(root)):
            self.app.abort("\n".join(faults))
        names = [*built.read(root), *(["catalogue.toml"] if self.target_name == "wheel" else [])]
        inside = INSIDE[self.target_name]
        build_data["force_include"].update({str(root / name): inside + name for name in names})


def _built(root: Path) -> ModuleType:
    """The kit's own module, as a file: the kit is not installed where it is packed."""
    spec = importlib.util.spec_from_file_location("built", root / "runstate_lab/course/built.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
