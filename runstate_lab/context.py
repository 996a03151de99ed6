"""Floor 3. What a model gets to see: a view of committed state, within a budget.

A context is text. It can be read, shortened and thrown away; nothing that
happens to it reaches the state. What is not here: any way to write.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from runstate_lab.errors import Malformed
from runstate_lab.model import RunState
from runstate_lab.nouns import filled, whole
from runstate_lab.tools import LONGEST, NAMES, each, readable, shown
from runstate_lab.trace import redact

CUT = "budget"
# Every character at which Python, or a reader, would begin a new line.
BREAKS = {ord(one): repr(one)[1:-1] for one in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"}


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

    The budget counts characters, and no context is longer: a goal that would
    take more than half of it is cut, a fact is shown whole or not at all, and
    `left_out` says what is missing and why. Facts whose key is private are left
    out in the privacy mode "private".

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
        whole("a budget of characters", budget, least=1)
        each(filled, of=NAMES)("private keys", private_keys)
        self._budget = budget
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
            raise Malformed("a privacy mode open or private", shown(privacy))
        lines, cut = self._control(state)
        room = self._budget - sum([len(line) + 1 for line in lines])
        hidden = self._private if privacy == "private" else frozenset()
        facts, left_out = _facts(state, room, hidden, most=self._budget // 2)
        return Context((*lines, *facts), (*cut, *left_out))

    def _control(self, state: RunState) -> tuple[list[str], list[LeftOut]]:
        lines: dict[int, str] = {}
        left_out: list[LeftOut] = []
        room = self._budget
        entries = _entries(state)
        # What the run owes an answer about is not cut for a long goal.
        for place in sorted(entries, key=lambda place: entries[place][0]):
            _, what, words = entries[place]
            line = _line(what[: self._budget], words[: self._budget])
            most = min(self._budget // 2, room - 1)
            if len(line) > most or len(what) + len(words) > self._budget:
                left_out.append(LeftOut(f"{readable(what, longest=80)} ({len(words)} characters)", CUT))
                line = line[: most - 1] + "…" if most > len(what) + 2 else ""
            if line:
                lines[place] = line
                room -= len(line) + 1
        return [lines[place] for place in sorted(lines)], left_out


def _entries(state: RunState) -> dict[int, tuple[int, str, str]]:
    # In the order of reading: how soon it is given room, what it is, its words.
    rows = [(0, "run", state.run_id), (2, "goal", state.goal), (0, "status", str(state.status))]
    rows += [(1, f"call {one.call_id}", f"{one.tool} {one.status}") for one in state.calls]
    rows += [(1, f"request {one.request_id}", "open") for one in state.requests]
    if state.first_error is not None:
        rows.append((3, "first error", str(state.first_error)))
    return dict(enumerate(rows))


def _facts(
    state: RunState, room: int, hidden: frozenset[str], *, most: int
) -> tuple[list[str], list[LeftOut]]:
    shown: list[str] = []
    left_out: list[LeftOut] = []
    too_long: set[str] = set()
    for place in range(len(state.facts) - 1, -1, -1):
        fact = state.facts[place]
        if fact.key in hidden:
            left_out.append(LeftOut(f"fact {fact.key}", "privacy"))
            continue
        # Half a fact would be another one, and an older one of its key a wrong one.
        if fact.key in too_long or len(fact.key) + len(fact.value) >= most:
            too_long.add(fact.key)
            key = readable(fact.key, longest=80)
            left_out.append(LeftOut(f"fact {key} ({len(fact.value)} characters)", CUT))
            continue
        line = _line("fact", fact.key, fact.value)
        room -= len(line) + 1
        if room < 0:
            left_out.append(LeftOut(f"the oldest {place + 1} of {len(state.facts)} facts", CUT))
            break
        shown.append(line)
    return shown[::-1], left_out[::-1]


# Facts never change, and most of them are shown again in the next turn.
@lru_cache(maxsize=4_096)
def _line(what: str, *words: str) -> str:
    # A value with a line break in it must not pose as a line of its own.
    return readable(redact(f"{what}: {'='.join(words)}"), longest=LONGEST).translate(BREAKS)
