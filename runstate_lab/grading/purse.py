"""Grading. The time that all answers of one submission have together.

Several processes of ours start workers for one submission, one after the
other; each notes what its workers were charged in a folder that they share.

What is not here: what one worker is charged (see `meter`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runstate_lab.grading.faults import BudgetSpent


@dataclass(frozen=True)
class Purse:
    """So many charged seconds, and the folder in which they are counted."""

    folder: str
    seconds: float

    def left(self) -> float:
        """What is left; raises BudgetSpent where that is nothing.

        >>> Purse("/no/such/folder", 60.0).left()
        60.0
        >>> Purse("/no/such/folder", 0.0).left()
        Traceback (most recent call last):
            ...
        runstate_lab.grading.faults.BudgetSpent: all answers together took 0 s
        """
        spent = sum(float(note.read_text()) for note in Path(self.folder).glob("*.charged"))
        if spent >= self.seconds:
            raise BudgetSpent(f"all answers together took {self.seconds:g} s")
        return self.seconds - spent

    def note(self, worker: int, seconds: float) -> None:
        """Keeps what the worker of this process number was charged until now."""
        folder = Path(self.folder)
        folder.mkdir(exist_ok=True)
        (folder / f"{worker}.charged").write_text(repr(seconds))
