"""Floor 1. The rows about runs, turns and drivers, and the naive first table.

Read a row as a sentence: kind, what it is about, authority, sources, from,
to, what it takes, what must hold, what it changes.
"""

from __future__ import annotations

from runstate_lab import changes, conditions
from runstate_lab.model import Decision, Lease
from runstate_lab.rows import (
    ANY_TEXT,
    CANCELLED,
    COMPLETED,
    FAILED,
    QUEUED,
    RUNNING,
    WAITING,
    Rule,
)

RUNTIME = ("runtime", ("runtime",))
ALIVE = (QUEUED, RUNNING, WAITING)
START = {"otherwise": "run cannot start from {status}"}
ENDED = ("calls", "requests", "nodes")

THE_NAIVE_FIRST_TABLE = (
    Rule("run_started", "run status", *RUNTIME, (QUEUED,), RUNNING, **START),
    Rule(
        "tool_result",
        "tool result",
        "tool_executor",
        ("tool:get_status",),
        (RUNNING,),
        conditions=(conditions.result_is_a_fact, conditions.result_is_new),
        change=changes.record_fact,
        writes=("facts",),
        otherwise="tool result requires running state",
    ),
    Rule(
        "run_completed",
        "run status",
        *RUNTIME,
        (RUNNING,),
        COMPLETED,
        conditions=(conditions.goal_is_met,),
        reasons=("goal_reached",),
    ),
)

RUN_ROWS = (
    Rule("run_started", "run status", *RUNTIME, (QUEUED,), RUNNING, **START),
    Rule(
        "turn_started",
        "run status",
        *RUNTIME,
        (RUNNING,),
        conditions=(conditions.turns_are_left,),
        change=changes.open_turn,
        writes=("turn", "calls", "settled"),
    ),
    Rule(
        "model_output_received",
        "candidate action",
        "model",
        ("model:*",),
        (RUNNING,),
        takes=Decision,
        conditions=(conditions.turn_is_open, conditions.proposals_are_new),
        change=changes.note_decision,
        writes=("turn", "calls"),
    ),
    Rule(
        "followup_required",
        "run status",
        *RUNTIME,
        (RUNNING,),
        change=changes.close_turn,
        writes=("turn",),
        reasons=ANY_TEXT,
    ),
    Rule(
        "run_completed",
        "run status",
        *RUNTIME,
        (RUNNING,),
        COMPLETED,
        conditions=(conditions.goal_is_met, conditions.nothing_is_pending),
        reasons=("goal_reached",),
    ),
    Rule(
        "run_failed",
        "run status",
        *RUNTIME,
        (RUNNING, WAITING),
        FAILED,
        conditions=(conditions.deadline_has_passed,),
        change=changes.fail_run,
        writes=(*ENDED, "first_error"),
        reasons=("tool_error", "timeout", "budget_exhausted"),
    ),
    Rule(
        "run_cancelled",
        "run status",
        "runtime",
        ("runtime", "user:*"),
        ALIVE,
        CANCELLED,
        change=changes.close_the_books,
        writes=ENDED,
        reasons=ANY_TEXT,
    ),
)

DRIVER_ROWS = (
    Rule(
        "driver_leased",
        "run status",
        "driver",
        ("driver:*",),
        ALIVE,
        takes=Lease,
        conditions=(conditions.lease_is_first_or_renewed,),
        change=changes.begin_reign,
        writes=("driver",),
    ),
    Rule(
        "driver_superseded",
        "run status",
        "driver",
        ("driver:*",),
        ALIVE,
        takes=Lease,
        conditions=(conditions.lease_ran_out,),
        change=changes.begin_reign,
        writes=("driver",),
    ),
)
