"""Grading. The reader of submissions is the reader of the course, under its old names.

`check`, `submit` and `grade` read with the same functions, so that they say the
same about the same bytes.

What is not here: the reader (see `course.saved`, `course.opening`) and which
cells are answers (see `course.taking`).
"""

from __future__ import annotations

from runstate_lab.course.opening import read_bytes
from runstate_lab.course.reasons import LARGEST as SIZE_LIMIT
from runstate_lab.course.reasons import Unreadable
from runstate_lab.course.saved import Cell, digest, parse
from runstate_lab.course.taking import Answer, Wanted, likeness, other_exercise, same_text, take

__all__ = [
    "SIZE_LIMIT",
    "Answer",
    "Cell",
    "Unreadable",
    "Wanted",
    "digest",
    "likeness",
    "other_exercise",
    "parse",
    "read_bytes",
    "same_text",
    "take",
]
