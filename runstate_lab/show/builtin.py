"""Machinery. The pictures whose drawings come with the package.

`python -m runstate_lab.show.builtin` draws them afresh into `cache/` and
removes what no built-in picture needs any more.

What is not here: where a drawing is looked up (see `engine`).
"""

from __future__ import annotations

import sys

from runstate_lab.model import NodeStatus, RunState, RunStatus
from runstate_lab.rules import RULES, SOURCE_TEXT
from runstate_lab.show import engine
from runstate_lab.show.chart import status_chart
from runstate_lab.show.nodechart import node_chart
from runstate_lab.show.picture import Picture
from runstate_lab.show.spacetime import Move, space_time

S10_END = RunState("run-7", status=RunStatus.COMPLETED, revision=3, stop_reason="goal_reached")
S10_PATH = ("queued", "running", "completed")
S10_REFUSED = ("run_completed", "writer_rejected", "model:planner")
CONFLICT = (
    Move("A", 1, "read", seen=4),
    Move("B", 2, "read", seen=4),
    Move("A", 3, "compute", value="tests=passed"),
    Move("B", 4, "compute", value="scan=clean"),
    Move("A", 5, "submit", seen=4, value="tests=passed", after=5),
    Move("B", 6, "submit", seen=4, value="scan=clean", after=5, code="revision_conflict"),
)


def builtin_pictures() -> tuple[Picture, ...]:
    """The charts of the rules tables with each status lit, and two famous runs.

    >>> len(builtin_pictures())
    39
    """
    charts = [
        status_chart(status, rules=rules, room=room)
        for rules in (RULES, SOURCE_TEXT)
        for room in (False, True)
        for status in (None, *RunStatus)
    ]
    charts += [node_chart(status) for status in (None, *NodeStatus)]
    scenario = status_chart(S10_END, rules=SOURCE_TEXT, history=S10_PATH, refused=S10_REFUSED)
    return (*charts, scenario, space_time(CONFLICT))


def main() -> int:
    """Draw every built-in picture into the cache; say how many there are."""
    drawings = {engine.file_name(one.dot()): one.dot() for one in builtin_pictures()}
    engine.CACHE.mkdir(exist_ok=True)
    for stale in engine.CACHE.glob("*.svg"):
        if stale.name not in drawings:
            stale.unlink()
    for name, source in drawings.items():
        (engine.CACHE / name).write_text(engine.drawn(source), encoding="utf-8", newline="\n")
    print(f"{len(drawings)} drawings in {engine.CACHE.name}/", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
