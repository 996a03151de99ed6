"""How much the bench does: enough for a median, or just enough for a test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts for one slice of each row, and how many rounds."""

    rounds: int
    laps: int
    commits: int
    seconds: float
    steps: tuple[int, int]
    peer_steps: tuple[int, int]
    turns: tuple[int, int]
    durable_turns: int
    writers: tuple[int, int]


FULL = Scale(
    rounds=7,
    laps=2_000,
    commits=400,
    seconds=0.7,
    steps=(1_000, 10_000),
    peer_steps=(250, 1_000),
    turns=(100, 1_000),
    durable_turns=60,
    writers=(4, 3),
)
QUICK = Scale(
    rounds=1,
    laps=3,
    commits=6,
    seconds=0.05,
    steps=(8, 16),
    peer_steps=(4, 8),
    turns=(3, 6),
    durable_turns=3,
    writers=(2, 2),
)
