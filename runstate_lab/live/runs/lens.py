"""Machinery. The ownership lens: who proposed a field, who wrote it, and where that stands.

The answer is read from the frames of the run, never from what a rule would
have allowed: of a store that is wrong on purpose it tells what really happened.

What is not here: who may write which field (see `ownership`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runstate_lab.live.faults import Askew
from runstate_lab.live.runs.diffs import FIELDS, names, several, short
from runstate_lab.live.runs.replays import Frame
from runstate_lab.model import TUPLES, Decision, Fact, RunState, ToolCall

SINCE = "so since the start; no entry of this trace wrote it"


@dataclass(frozen=True)
class Provenance:
    """Where the value of a field, or of one element in it, comes from.

    `step` is None where nothing wrote it since the start; `trace_entry` counts
    the entries of the trace, `checkpoint` is what a fact says of itself.
    """

    name: str
    value: str
    step: int | None = None
    proposer: str = ""
    proposed_at: int | None = None
    source: str = ""
    authority: str = ""
    kind: str = ""
    call_id: str = ""
    revision: int = 0
    trace_entry: int | None = None
    checkpoint: str = ""

    @property
    def sentence(self) -> str:
        """The whole answer in one or two sentences."""
        stands = f"{self.name} is {self.value}"
        if self.step is None:
            own = ""
            if self.source:
                call = f", call {self.call_id}" if self.call_id else ""
                own = (
                    f" It says of itself: source {self.source}, authority {self.authority}"
                    f"{call}, revision {self.revision}."
                )
            return f"{stands}: {SINCE}.{own}"
        if self.trace_entry is None:
            return f"{stands}: changed at step {self.step} by no entry of the trace."
        earlier = f" at step {self.proposed_at}" if self.proposed_at is not None else ""
        call = f" about call {self.call_id}" if self.call_id else ""
        return (
            f"{stands}. Proposed by {self.proposer}{earlier}; written with source {self.source}, "
            f"authority {self.authority}, by {self.kind}{call}: revision {self.revision}, "
            f"trace entry {self.trace_entry}."
        )


def provenance(frames: Sequence[Frame], at: int, field: str) -> Provenance:
    """Who wrote a field, or `field/element` such as facts/build, as it stands after a step.

    >>> start = RunState("run-7", goal="ship release 7")
    >>> provenance([Frame(0, None, start, start)], 0, "goal").sentence
    'goal is ship release 7: so since the start; no entry of this trace wrote it.'
    >>> provenance([Frame(0, None, start, start)], 0, "mood")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked who wrote mood, found no such field
    hint: name one of run_id, ...
    """
    name, _, element = field.partition("/")
    state = frames[at].after
    value = _value(state, name, element)
    shown = several(value) if name in TUPLES and not element else short(value)
    what = f"{name} {element}".strip()
    for frame in reversed(frames[1 : at + 1]):
        if any(one.field == name and element in ("", one.element) for one in frame.changes):
            return _written(frames, frame, Provenance(what, shown), value)
    if isinstance(value, Fact) and value.source:
        return Provenance(
            what,
            shown,
            source=value.source,
            authority=value.authority,
            call_id=value.call_id or "",
            revision=value.revision,
            checkpoint=value.checkpoint or "",
        )
    return Provenance(what, shown)


def wishes(frames: Sequence[Frame]) -> Mapping[str, tuple[int, str]]:
    """For each call that a model asked for: at which step, and which model.

    >>> wishes([Frame(0, None, RunState("run-7"), RunState("run-7"))])
    {}
    """
    found: dict[str, tuple[int, str]] = {}
    for frame in frames:
        if (
            frame.entry is None
            or frame.refused
            or not isinstance(frame.entry.event.value, Decision)
        ):
            continue
        for call in frame.entry.event.value.calls:
            found.setdefault(call.call_id, (frame.number, frame.source))
    return found


def places(state: RunState) -> tuple[str, ...]:
    """Everything in a state that the lens can be put on: fields, and what stands in them.

    >>> places(RunState("run-7", facts=(Fact("build", "green"),)))[7:9]
    ('facts', 'facts/build')
    """
    found = []
    for name in FIELDS:
        found.append(name)
        if name in TUPLES:
            found += [f"{name}/{element}" for element in names(getattr(state, name))]
    return tuple(found)


def _value(state: RunState, name: str, element: str) -> object:
    if name not in FIELDS:
        raise Askew(f"who wrote {name}", "no such field", f"name one of {', '.join(FIELDS)}")
    value = getattr(state, name)
    if not element:
        return value
    inside = names(value) if name in TUPLES else ()
    if element not in inside:
        hint = f"name one of {', '.join(inside)}" if inside else f"ask for {name} itself"
        raise Askew(f"who wrote {name}/{element}", "nothing of that name in this state", hint)
    return value[inside.index(element)]


def _written(frames: Sequence[Frame], frame: Frame, known: Provenance, value: object) -> Provenance:
    if frame.entry is None:
        return replace(known, step=frame.number)
    event = frame.entry.event
    proposed_at, proposer = None, event.source
    if isinstance(value, ToolCall):
        wish = wishes(frames[: frame.number]).get(value.call_id)
        proposed_at, proposer = wish if wish else (None, event.source)
    return replace(
        known,
        step=frame.number,
        proposer=proposer,
        proposed_at=proposed_at,
        source=event.source,
        authority=event.authority,
        kind=event.kind,
        call_id=event.call_id or "",
        revision=frame.after.revision,
        trace_entry=sum(one.entry is not None for one in frames[1 : frame.number + 1]),
        checkpoint=(value.checkpoint or "") if isinstance(value, Fact) else "",
    )
