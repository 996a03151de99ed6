"""Grading. The walls in force, measured, and refused where they are too weak."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Walls:
    sentence: str
    measured: dict[str, str]


def measured_walls(level: str, secret: Path) -> Walls:
    return Walls(level, {})
