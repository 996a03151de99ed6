"""Machinery. One attempt on the status chart: expected, answered, told.

What is not here: how it is answered (see `moves`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt: what was proposed where, what was expected, what came of it."""

    kind: str
    before: str
    status: str
    revision: int
    answer: dict[str, Any]
    expected: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the store took it."""
        return bool(self.answer["to"])

    @property
    def way(self) -> tuple[str, str]:
        """The statuses before and after."""
        return (self.before, self.status)

    @property
    def as_expected(self) -> bool:
        """Whether the expectation held; a refused run stays where it is."""
        return self.expected == self.status or (self.expected == REFUSED and not self.accepted)

    @property
    def verdict(self) -> str:
        """Whether it went as expected; empty where nothing was."""
        if not self.expected:
            return ""
        return "yes" if self.as_expected else "no"

    @property
    def said(self) -> str:
        """What the store answered, after what was expected."""
        if not self.expected:
            return str(self.answer["said"])
        found = f"it is {self.status}" if self.accepted else f"it was {self._refused}"
        hoped = f"you expected {named(self.expected)}; {found}"
        return f"{self.kind} at {self.before}: {hoped}{self.answer['why']}."

    @property
    def cells(self) -> tuple[str, ...]:
        """The answer and the revision, as the table has them."""
        stays = "still" if self.status == self.before else "now"
        answer = f"accepted, {stays} {self.status}" if self.accepted else self._refused
        return (answer, str(self.revision))

    @property
    def _refused(self) -> str:
        return f"refused by {self.answer.get('rule')}"


def named(expected: str) -> str:
    """What is expected, in words.

    >>> named("refused"), named("waiting")
    ('a refusal', 'waiting')
    """
    return "a refusal" if expected == REFUSED else expected
