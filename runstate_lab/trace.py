"""Floor 2. What was offered to a store, in order; and the diagnostics beside it.

The trace explains a state and can be folded again; nothing reads it to go
on. Diagnostics are ordered, redacted before they are kept, and never change
a state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from runstate_lab.errors import Refusal
from runstate_lab.model import StateEvent

# A name that ends like a secret's, and its value; or a value that looks like one.
SECRETS = re.compile(
    r"""(?ix) ( (?<![\w-]) [\w-]* (?: api[_-]?key | access[_-]?key | token | secret | passw(?:or)?d | pwd
                          | authorization ) ["']? \s* [:=] \s* )
              (?: "[^"]*" | '[^']*' | (?: (?: bearer | basic ) \s+ )? [^\s,;}]+ )
            | \b ( bearer \s+ | (?<=://)[^\s/:@]+: ) [^\s@]+ (?= @ | \s | $ )
            | \b () (?: sk- | ghp_ | xox[abp]- ) \w [\w-]*
    """
)
# Every secret holds one of these words, and most notes hold none.
HINTS = "key token secret passw pwd author bearer :// sk- ghp_ xox".split()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the trace: the event, the revision it met or made, the refusal.

    >>> entry = Entry(StateEvent("run_started", "runtime", "runtime", "", 0), 1)
    >>> entry.accepted
    True
    """

    event: StateEvent
    revision: int
    refusal: Refusal | None = None

    @property
    def accepted(self) -> bool:
        """Whether the event was applied."""
        return self.refusal is None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A note of some component: where in the order, about what, in which words.

    `correlation` is the id that ties notes to a call, a turn or a node.

    >>> Diagnostic(3, "tool:scan", "took 4 ticks", "c3").correlation
    'c3'
    """

    order: int
    component: str
    words: str
    correlation: str


class Trace(Sequence[Entry]):
    """Everything that was offered to a store, in order; read-only.

    >>> Trace([], []).append("run_completed")
    Traceback (most recent call last):
        ...
    AttributeError: 'Trace' object has no attribute 'append'
    """

    def __init__(self, entries: Sequence[Entry], notes: Sequence[Diagnostic] = ()) -> None:
        self._entries = entries
        self._notes = notes

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        found = self._entries[index]
        return tuple(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __repr__(self) -> str:
        return f"Trace: {len(self)} entries, {len(self.refused)} refused"

    @property
    def accepted(self) -> tuple[StateEvent, ...]:
        """The events that were applied, in order; what a replay folds."""
        return tuple(entry.event for entry in self._entries if entry.refusal is None)

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The refusals, in order; each one was also raised to its caller."""
        return tuple(entry.refusal for entry in self._entries if entry.refusal is not None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The notes of the components, in order."""
        return tuple(self._notes)


def redact(words: str) -> str:
    """The same words with the values of secrets struck out.

    >>> redact("retrying with api_key=sk-123 after token: abc")
    'retrying with api_key=[redacted] after token: [redacted]'
    >>> redact("the token of our appreciation")
    'the token of our appreciation'
    """
    folded = words.casefold()
    if not any(hint in folded for hint in HINTS):
        return words
    return SECRETS.sub(lambda found: f"{found[1] or found[2] or ''}[redacted]", words)
