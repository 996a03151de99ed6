"""What a run spent, level by level: turns, steps, attempts, nodes.

Read from the accepted events of a trace. A retry is an attempt, and neither
a step nor a turn nor a run. What is not here: the events (see `tables`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runstate_lab.model import StateEvent
from runstate_lab.store import StateStore

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame

COLUMNS = ("turn", "decisions", "tool steps", "attempts of calls", "nodes", "attempts of nodes")


def level_table(store: StateStore) -> CaptionedFrame:
    """For each turn of a run, and for the whole run, what was counted at which level.

    >>> from runstate_lab import RunState, Runtime, StateProposal, StateStore
    >>> kept = StateStore(RunState("run-7"))
    >>> _ = Runtime(kept).accept_runtime(StateProposal("run_started", "", 0))
    >>> _ = Runtime(kept).accept_runtime(StateProposal("turn_started", "open", 1))
    >>> print(level_table(kept).text().splitlines()[-1])
    2. turn: run-7; decisions: 0; tool steps: 0; attempts of calls: 0; nodes: 0; attempts of nodes: 0
    """
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    turns: list[list[StateEvent]] = []
    for event in store.trace.accepted:
        if event.kind == "turn_started":
            turns.append([])
        if turns:
            turns[-1].append(event)
    rows = [(str(number), *_counted(events)) for number, events in enumerate(turns, 1)]
    everything = [event for events in turns for event in events]
    rows.append((store.load().run_id, *_counted(everything)))
    return captioned("What was counted at which level", COLUMNS, rows)


def _counted(events: list[StateEvent]) -> tuple[int, ...]:
    calls = [event.value for event in events if event.kind == "tool_dispatched"]
    claims = [event.value for event in events if event.kind == "node_claimed"]
    return (
        sum(event.kind == "model_output_received" for event in events),
        sum(call.retry_of is None for call in calls),
        len(calls),
        len({claim.node for claim in claims}),
        len(claims),
    )
