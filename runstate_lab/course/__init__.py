"""The course around the book: what is taught in which order, built and checked.

Machinery: it imports the book and `show`, never the other way round. Reading
order: `faults`, `catalogue`, `marks`, `kernels`, `build`, `progress`, `reasons`, `opening`,
`mistaken`, `saved`, `taking`, `names`, `wrong`, `release`, `verify`, `folder`, `handing`. The
learner's own words come from here; `check` is the grader's, which nothing else here knows.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

WORDS = {
    "predict": "course.predictions",
    "reveal": "course.predictions",
    "locked": "course.predictions",
    "after": "course.predictions",
    "quiz": "course.quizzes",
    "order": "course.quizzes",
    "fill": "course.quizzes",
    "answer": "course.quizzes",
    "check": "grading.checks",
}

__all__ = [*WORDS]


def __getattr__(name: str) -> Any:
    # The words bring the widgets with them; a command line or a grading worker needs neither.
    if name not in WORDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"runstate_lab.{WORDS[name]}"), name)
