"""Floor 5. All the worlds that the kit brings, by name.

What is not here: exploring them (see `orders`).
"""

from __future__ import annotations

from runstate_lab.claims import CRASH_BETWEEN, STALLED_WORKER, TWO_SCHEDULERS
from runstate_lab.desks import APPROVE_OR_CANCEL, STALE_APPROVAL, TWO_RESUMES
from runstate_lab.retries import LATE_RESULT
from runstate_lab.variants import MakeStore, Variant, World
from runstate_lab.writers import (
    EARLY_COMPLETION,
    NO_ANSWER,
    STRANGER,
    THREE_WRITERS,
    TWO_WRITERS,
    reporting,
    run_7_at_revision_4,
    two_reporters,
)

WORLDS = {
    world.name: world
    for world in (
        TWO_WRITERS,
        THREE_WRITERS,
        STRANGER,
        EARLY_COMPLETION,
        NO_ANSWER,
        TWO_SCHEDULERS,
        STALLED_WORKER,
        CRASH_BETWEEN,
        APPROVE_OR_CANCEL,
        TWO_RESUMES,
        STALE_APPROVAL,
        LATE_RESULT,
    )
}

__all__ = [
    "MakeStore",
    "Variant",
    "WORLDS",
    "World",
    "reporting",
    "run_7_at_revision_4",
    "two_reporters",
]
