"""Machinery. One process of a real race: read the state, compute, submit.

As a program it is what `realrace` starts several times on one file:
`python -m runstate_lab.show.racer STORE FILE WRITER RESULTS HELD`. Before and
after each of its first HELD reads it says "here" and waits for a line, so that
all read before any of them writes. At the end it says one line of JSON: what
was acknowledged, and how often it was told of a conflict.

What is not here: who starts it, and who counts what is left (see `realrace`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import pbkdf2_hmac
from pathlib import Path

from runstate_lab.brokenfiles import NaiveFileStore
from runstate_lab.errors import RevisionConflict
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore

RUN = "run-7"
MEETS = 2
# Work of about a millisecond: without it the window between read and submit is too small to see.
ROUNDS = 2_000
# What each writer reports, in parts: its tool, and the word for a part that is done.
WRITERS = {
    "w1": ("run_tests", "tests", "green"),
    "w2": ("scan", "scan", "clean"),
    "w3": ("get_status", "build", "green"),
    "w4": ("deploy", "rollout", "done"),
    "w5": ("announce", "mail", "sent"),
}
Store = NaiveFileStore | SqliteStateStore
OPEN: dict[str, Callable[[Path], Store]] = {
    "naive": lambda path: NaiveFileStore(path, RunState(RUN)),
    "right": lambda path: SqliteStateStore.open(path, RUN, durable="normal"),
}


@dataclass(frozen=True)
class Told:
    """What one process was told by the store while it raced."""

    acknowledged: tuple[str, ...]
    conflicts: int
    retries: int


def ready(writers: int, each: int) -> RunState:
    """Run-7 with a call open for each result that will be reported.

    >>> [call.call_id for call in ready(2, 1).calls]
    ['w1-1', 'w2-1']
    """
    runtime = Runtime(StateStore(RunState(RUN, goal="ship release 7")))
    state = runtime.accept_runtime(StateProposal("run_started", "", 0))
    for writer in list(WRITERS)[:writers]:
        for number in range(1, each + 1):
            call = ToolCall(f"{writer}-{number}", WRITERS[writer][0])
            state = runtime.accept_runtime(StateProposal("tool_dispatched", call, state.revision))
    return state


def race(store: StateStore, writer: str, each: int, *, held: int, meet: Callable[[], None]) -> Told:
    """What the store told a writer that reported so many results, one by one.

    After a conflict the state is read again and the result computed anew.

    >>> told = race(StateStore(ready(2, 2)), "w2", 2, held=0, meet=lambda: None)
    >>> told.acknowledged, told.conflicts
    (('scan.1=clean', 'scan.2=clean'), 0)
    """
    tool, part, word = WRITERS[writer]
    runtime, acknowledged = Runtime(store), []
    offered = conflicts = 0
    for number in range(1, each + 1):
        pause = meet if number <= held else _go_on
        while len(acknowledged) < number:
            pause()
            seen = store.load()
            pause()
            pause, offered = _go_on, offered + 1
            proposal = _computed(f"{part}.{number}={word}", seen)
            try:
                runtime.accept_tool_result(tool, proposal, call_id=f"{writer}-{number}")
            except RevisionConflict:
                conflicts += 1
            else:
                acknowledged.append(proposal.value)
    return Told(tuple(acknowledged), conflicts, offered - each)


def main(name: str, path: str, writer: str, each: str, held: str) -> None:
    """Race, then say what was told; the words of the command line."""
    store = OPEN[name](Path(path))
    try:
        told = race(store, writer, int(each), held=int(held), meet=_meet)
    finally:
        store.close()
    print(json.dumps(asdict(told)), flush=True)


def _computed(result: str, seen: RunState) -> StateProposal:
    pbkdf2_hmac("sha256", result.encode(), seen.run_id.encode(), ROUNDS)
    return StateProposal("tool_result_recorded", result, seen.revision)


def _go_on() -> None:
    return None


def _meet() -> None:
    print("here", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
