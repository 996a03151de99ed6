"""Machinery. A run as frames: the state before and after each entry of a trace.

Frame 0 is the state with which the trace begins. A refused entry is a frame
that changes nothing. The frames of a store that folds its events are made by
folding them again; a store that is wrong on purpose hands in frames of its own.

What is not here: what a frame looks like (see `runview`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from runstate_lab.errors import words_of
from runstate_lab.live.faults import Askew
from runstate_lab.live.runs.diffs import Change, diff
from runstate_lab.model import RunState
from runstate_lab.rules import reduce
from runstate_lab.show.told import told
from runstate_lab.store import StateStore
from runstate_lab.trace import Entry


@dataclass(frozen=True)
class Frame:
    """One step of a run: its number, the entry if one was offered, the states around it.

    A step without an entry is a reading or a computing; `actor` says whose and
    `does` what. `remark` is what must be said besides.

    >>> Frame(1, None, RunState("run-7"), RunState("run-7"), actor="A", does="reads revision 0").said
    'Step 1. A reads revision 0.'
    """

    number: int
    entry: Entry | None
    before: RunState
    after: RunState
    actor: str = ""
    does: str = ""
    remark: str = ""

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What this step changed."""
        return () if self.before is self.after else diff(self.before, self.after)

    @property
    def idle(self) -> bool:
        """Whether nothing but the revision moved."""
        return all(change.field == "revision" for change in self.changes)

    @property
    def code(self) -> str:
        """The code with which the store turned the entry away, if it did."""
        return self.entry.refusal.code if self.entry and self.entry.refusal else ""

    @property
    def refused(self) -> bool:
        """Whether the store turned the entry away."""
        return bool(self.code)

    @property
    def source(self) -> str:
        """Who acted; nobody did in frame 0."""
        return self.actor or (self.entry.event.source if self.entry is not None else "")

    @property
    def said(self) -> str:
        """The step in one sentence."""
        if self.number == 0:
            return f"The start: {self.after.status} at revision {self.after.revision}."
        more = f" {self.remark}" if self.remark else ""
        if self.entry is None:
            return f"Step {self.number}. {self.source} {self.does}.".replace("  ", " ") + more
        event, refusal = self.entry.event, self.entry.refusal
        offer = f"{event.kind} {told(event.value)}".strip()
        about = f", about call {event.call_id}" if event.call_id else ""
        answer = (
            f"accepted, revision {self.entry.revision}."
            if refusal is None
            else f"refused, {refusal.code}; the store stays at revision {self.entry.revision}."
        )
        made = f"made from revision {event.expected_revision}"
        return f"Step {self.number}. {self.source} offers {offer}{about}, {made}: {answer}{more}"


def frames_of(store: StateStore) -> tuple[Frame, ...]:
    """The frames of a run that a store keeps, finished or not.

    >>> from runstate_lab import Runtime, StateProposal
    >>> store = StateStore(RunState("run-7"))
    >>> _ = Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
    >>> [str(change) for change in frames_of(store)[1].changes]
    ['status: queued → running', 'revision: 0 → 1']
    >>> frames_of("run.sqlite")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked the frames of a run, found a str
    hint: give a StateStore, or SqliteStateStore.open(path, run_id)
    """
    if not isinstance(store, StateStore):
        hint = "give a StateStore, or SqliteStateStore.open(path, run_id)"
        raise Askew("the frames of a run", f"a {type(store).__name__}", hint)
    # The trace first: whatever a running store takes meanwhile is left for the next look.
    entries, state, newest = _read(store)
    frames = [Frame(0, None, state, state)]
    for number, entry in enumerate(entries, start=1):
        after = state if entry.refusal else reduce(state, entry.event, store.rules)
        if not entry.refusal and after.revision != entry.revision:
            raise _no_fold(f"revision {after.revision} for entry {number}, not {entry.revision}")
        frames.append(Frame(number, entry, state, after))
        state = after
    if newest.revision == state.revision and newest != state:
        raise _no_fold("another state at the same revision")
    return tuple(frames)


def beginning(frames: Sequence[Frame]) -> str:
    """A sentence where a trace does not begin at revision 0; else nothing.

    >>> beginning([Frame(0, None, RunState("run-7"), RunState("run-7"))])
    ''
    """
    revision = frames[0].after.revision
    if not revision:
        return ""
    return (
        f"The trace begins at revision {revision}: it was pruned, or the run was made from "
        "a state. What came before is not in it."
    )


def _read(store: StateStore) -> tuple[tuple[Entry, ...], RunState, RunState]:
    """The trace, the state it begins with, and the newest one, as the store gives them."""
    asked, hint = "the frames of a run", "mend the store's load() and trace, then look again"
    try:
        entries, begun, newest = tuple(store.trace), store.base, store.load()
    except Exception as fault:  # a learner's own store may raise anything
        found = f"the store failed: {words_of(fault)}"
        raise Askew(asked, found, hint) from fault
    for state in (begun, newest):
        if not isinstance(state, RunState):
            raise Askew(asked, f"the store gave {state!r:.60}, not a state", hint)
    return entries, begun, newest


def _no_fold(found: str) -> Askew:
    asked = "the frames of a store whose state is the fold of its trace"
    return Askew(asked, found, "hand in the frames yourself: RunView(frames=...)")
