"""The course around the book: what is taught in which order, built and checked.

Machinery: it imports the book and `show`, never the other way round. Reading
order: `faults`, `catalogue`, `marks`, `kernels`, `build`, `progress`, `checks`,
`wrong`, `release`, `verify`, `folder`. The learner's own words come from here.
"""

from __future__ import annotations

from runstate_lab.course.checks import check

__all__ = ["check"]
