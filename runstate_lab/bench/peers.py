"""The peers: whether they are here, in which version, and what they do more."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True, slots=True)
class Peer:
    """A distribution that the bench compares with, where it is installed."""

    distribution: str
    more: str
    how: str = "pip install 'runstate-lab[bench]'"

    @property
    def version(self) -> str | None:
        """The installed version, or None."""
        return installed(self.distribution)

    @property
    def title(self) -> str:
        """Name and version as a row prints them."""
        return f"{self.distribution} {self.version}"

    @property
    def absence(self) -> str:
        """Why there is no figure, and what to do for one."""
        return f"{self.distribution} is not installed; hint: {self.how}"


TRANSITIONS = Peer(
    "transitions",
    "callbacks before and after each step, nested and parallel states, asyncio, diagrams",
)
STATEMACHINE = Peer(
    "python-statemachine",
    "callbacks with injected arguments, compound and parallel states, asyncio, SCXML, diagrams",
)
LANGGRAPH = Peer(
    "langgraph",
    "parallel branches, streaming, interrupts, time travel, any Python value as state",
)
SQLITE_SAVER = Peer(
    "langgraph-checkpoint-sqlite",
    "a full copy of the state at every step, readable without a fold; any Python value",
)
MINICHECK = Peer("minicheck", "goals, fairness, k-induction, models in files, reports")
MUSIL = Peer(
    "musil",
    "deadlock, liveness, temporal logic, probabilities",
    "pip install musil, on Python 3.12 or newer",
)
PEERS = (TRANSITIONS, STATEMACHINE, LANGGRAPH, SQLITE_SAVER, MINICHECK, MUSIL)


def installed(distribution: str) -> str | None:
    """The version of a distribution, or None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def offline() -> None:
    """Keep the peers from sending anything anywhere while they are measured."""
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        os.environ[name] = "false"
