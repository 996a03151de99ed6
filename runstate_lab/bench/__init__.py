"""The bench: ratios, measured in one run, with peers and a raw control.

Performance is never a gate: an aim that is missed is printed as missed.
Contenders take turns (see `timing`), so that a busy machine hits all alike;
figures of different runs are not to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runstate_lab.bench import commits, contention, disk, importing, loops, reducer
from runstate_lab.bench.rows import Aim, Line, Row, as_json, as_text
from runstate_lab.bench.scale import FULL, QUICK, Scale

QUESTIONS: dict[str, Callable[[Scale], Row]] = {
    "reducer": reducer.measure,
    "commit": commits.measure,
    "contention": contention.measure,
    "disk": disk.measure,
    "loop": loops.measure,
    "durable-loop": loops.measure_durable,
    "import": importing.measure,
}


def measure(names: Sequence[str] = (), *, scale: Scale = FULL) -> Iterator[Row]:
    """The rows of the named questions, or of all, each as soon as it is measured."""
    for name, question in QUESTIONS.items():
        if not names or name in names:
            yield question(scale)


__all__ = ["Aim", "FULL", "Line", "QUESTIONS", "QUICK", "Row", "Scale", "as_json", "as_text", "measure"]
