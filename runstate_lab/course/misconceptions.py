"""Fourteen wrong beliefs, in a learner's words, and the run that breaks each.

Every wrong option of a quiz names one of them, so that a wrong answer leads to
a cell and not to a red cross. What is not here: the questions (see
`questions`).
"""

from __future__ import annotations

from dataclasses import dataclass

from runstate_lab.course.faults import AskedWrongly


@dataclass(frozen=True)
class Misconception:
    """A wrong belief, the run that breaks it, and the lesson that runs it."""

    id: str
    belief: str
    broken_by: str
    lesson: str

    @property
    def sentence(self) -> str:
        """The belief and where it breaks, ready to be shown.

        >>> misconception("M4").sentence[:62]
        'M4, "the revision is a timestamp, and the later write wins": t'
        """
        return f'{self.id}, "{self.belief}": {self.broken_by} {self.where}'

    @property
    def where(self) -> str:
        """The lesson that breaks it, in words."""
        return f"Lesson {self.lesson} runs it." if self.lesson else "A later lesson runs it."


MISCONCEPTIONS = (
    Misconception(
        "M1",
        'the model said "done", so the run is completed',
        "a model that proposes completion at the right revision is refused for its authority.",
        "00",
    ),
    Misconception(
        "M2",
        "a right revision is enough to write",
        "the revision is right, the writer is not, and the store refuses.",
        "02",
    ),
    Misconception(
        "M3",
        "a proposal may carry its own authority",
        "a proposal has no field for it; the door writes it into the event.",
        "02",
    ),
    Misconception(
        "M4",
        "the revision is a timestamp, and the later write wins",
        "two writers start from revision 4; the first commit wins, the later one conflicts.",
        "04",
    ),
    Misconception(
        "M5",
        "on a conflict, send the same value again with the new number",
        "the blind retry brings the lost update back.",
        "04",
    ),
    Misconception(
        "M6",
        "a tool's result means that the run is completed",
        "the tool succeeds, another call is open, and completion is refused.",
        "01",
    ),
    Misconception(
        "M7",
        "the trace is the state",
        "folding a trace with its refused events gives another state than the snapshot.",
        "",
    ),
    Misconception(
        "M8",
        "what the model can see, it can change",
        "the model edits its copy, and the store does not notice.",
        "02",
    ),
    Misconception(
        "M9",
        "a proposal may be shown to the model before it is committed",
        "the next turn builds on a fact that never happened.",
        "01",
    ),
    Misconception(
        "M10",
        "the run may wait before the request is stored",
        "a crash between the two loses the approval; so they are one event.",
        "03",
    ),
    Misconception(
        "M11",
        "a finished run can be started again",
        "every arrow out of a terminal status is tried, and each is refused.",
        "03",
    ),
    Misconception(
        "M12",
        "a retry is a new run, and a turn is a step",
        "the counters of run, turn, step and attempt differ after one retry.",
        "",
    ),
    Misconception(
        "M13",
        "a timeout means that it failed",
        "the call timed out and had its effect: the outcome was unknown, not failed.",
        "",
    ),
    Misconception(
        "M14",
        "a test that passed a hundred times shows that there is no race",
        "the list of all orders holds the bad one that the test never met.",
        "04",
    ),
)

BY_ID = {one.id: one for one in MISCONCEPTIONS}


def misconception(id: str) -> Misconception:
    """The misconception with that id.

    >>> misconception("M15")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: no misconception 'M15'
    hint: known: M1 to M14
    """
    if id not in BY_ID:
        raise AskedWrongly(f"no misconception {id!r}", hint="known: M1 to M14")
    return BY_ID[id]
