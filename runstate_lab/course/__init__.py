"""The course around the book: what is taught in which order, built and checked.

Machinery: it imports the book and `show`, never the other way round. Reading
order: `faults`, `catalogue`, `marks`, `kernels`, `build`, `progress`, `reasons`, `opening`,
`mistaken`, `saved`, `taking`, `names`, `checks`, `wrong`, `release`, `verify`, `folder`. The
learner's own words come from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from runstate_lab.course.checks import check

WORDS = {
    "predict": "predictions",
    "reveal": "predictions",
    "locked": "predictions",
    "after": "predictions",
    "quiz": "quizzes",
    "order": "quizzes",
    "fill": "quizzes",
    "answer": "quizzes",
}

__all__ = ["check", *WORDS]


def __getattr__(name: str) -> Any:
    # The words bring the widgets with them; a command line or a grading worker needs neither.
    if name not in WORDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WORDS[name]}"), name)
