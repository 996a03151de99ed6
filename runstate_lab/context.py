"""Floor 3. What a model gets to see: a view of committed state, within a budget.

A context is text. It can be read, shortened and thrown away; nothing that
happens to it reaches the state. What is not here: any way to write.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from runstate_lab.errors import Malformed
from runstate_lab.model import RunState
from runstate_lab.trace import redact


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that the context does not show, and why.

    >>> print(LeftOut("fact tests=green", "budget"))
    fact tests=green: budget
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class Context:
    """The lines a model reads, and what was left out of them.

    >>> Context(("goal: ship",), ()).text
    'goal: ship'
    """

    lines: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


class ContextBuilder:
    """Builds contexts from committed states, newest facts first, within a budget.

    The budget counts characters. Facts whose key is private are left out in
    the privacy mode "private".

    >>> from runstate_lab.model import Fact
    >>> state = RunState("run-7", goal="ship", facts=(Fact("build", "green"), Fact("tests", "red")))
    >>> tight = ContextBuilder(budget=60).build(state)
    >>> tight.lines[-1], [str(one) for one in tight.left_out]
    ('fact: tests=red', ['the oldest 1 of 2 facts: budget'])
    >>> state.facts == state.facts and ContextBuilder(budget=0)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a budget of characters, found 0
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    def __init__(self, *, budget: int = 2_000, private_keys: tuple[str, ...] = ()) -> None:
        if type(budget) is not int or budget < 1:
            raise Malformed("a budget of characters", repr(budget))
        self._budget = budget
        if isinstance(private_keys, str):
            raise Malformed("private keys as a tuple", repr(private_keys))
        self._private = frozenset(private_keys)

    def build(self, state: RunState, *, privacy: str = "open") -> Context:
        """What a model may read of a committed state.

        >>> from runstate_lab.model import Fact
        >>> state = RunState("run-7", facts=(Fact("salary", "9000"),))
        >>> shy = ContextBuilder(private_keys=("salary",)).build(state, privacy="private")
        >>> [str(one) for one in shy.left_out]
        ['fact salary: privacy']
        """
        if not isinstance(state, RunState):
            raise Malformed("a committed RunState", f"a {type(state).__name__}")
        if privacy not in ("open", "private"):
            raise Malformed("a privacy mode open or private", repr(privacy))
        lines = _control(state)
        room = self._budget - sum([len(line) + 1 for line in lines])
        hidden = self._private if privacy == "private" else ()
        shown: list[str] = []
        left_out: list[LeftOut] = []
        for place in range(len(state.facts) - 1, -1, -1):
            fact = state.facts[place]
            if fact.key in hidden:
                left_out.append(LeftOut(f"fact {fact.key}", "privacy"))
                continue
            line = _line("fact", fact.key, fact.value)
            room -= len(line) + 1
            if room < 0:
                oldest = f"the oldest {place + 1} of {len(state.facts)} facts"
                left_out.append(LeftOut(oldest, "budget"))
                break
            shown.append(line)
        return Context((*lines, *reversed(shown)), tuple(reversed(left_out)))


def _control(state: RunState) -> list[str]:
    lines = [_line("run", state.run_id), _line("goal", state.goal), f"status: {state.status}"]
    lines += [_line(f"call {call.call_id}", f"{call.tool} {call.status}") for call in state.calls]
    lines += [_line(f"request {request.request_id}", "open") for request in state.requests]
    if state.first_error is not None:
        lines.append(_line("first error", str(state.first_error)))
    return lines


# Facts never change, and most of them are shown again in the next turn.
@lru_cache(maxsize=4_096)
def _line(what: str, *words: str) -> str:
    # A value with a line break in it must not pose as a line of its own.
    return redact(f"{what}: {'='.join(words)}").replace("\n", "\\n").replace("\r", "\\r")
