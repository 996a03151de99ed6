"""One of several processes that write to one run: `python -m runstate_lab.bench.writer`.

It says "ready", waits for a line, writes until its time is up, and prints as
JSON how many of its writes were acknowledged. A conflict is a reason to load
again, never to write blindly.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

from runstate_lab.errors import RevisionConflict
from runstate_lab.model import StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore


def write(path: str, seconds: float, name: str) -> dict[str, float]:
    """How many writes were acknowledged, how many met a conflict, the slowest in seconds."""
    store = SqliteStateStore.open(path, "run-7", durable="full")
    runtime = Runtime(store)
    print("ready", flush=True)
    sys.stdin.readline()
    acknowledged = conflicts = 0
    slowest = 0.0
    before, end = perf_counter(), perf_counter() + seconds
    while before < end:
        revision = store.load().revision
        try:
            runtime.accept_runtime(StateProposal("followup_required", name, revision))
        except RevisionConflict:
            conflicts += 1
            continue
        acknowledged += 1
        now = perf_counter()
        slowest, before = max(slowest, now - before), now
    store.close()
    return {"acknowledged": acknowledged, "conflicts": conflicts, "slowest": slowest}


if __name__ == "__main__":
    print(json.dumps(write(sys.argv[1], float(sys.argv[2]), sys.argv[3])), flush=True)
