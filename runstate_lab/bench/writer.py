"""One of several processes that write to one run: `python -m runstate_lab.bench.writer`.

It says "ready", waits for a line, writes until its time is up, and prints as
JSON when each of its writes was acknowledged. A conflict is a reason to load
again, never to write blindly.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from time import monotonic

from runstate_lab.bench.fairness import Report
from runstate_lab.errors import RevisionConflict
from runstate_lab.model import StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore


def write(path: str, seconds: float, name: str) -> Report:
    """When the writer began and ended, and when each of its writes was acknowledged."""
    store = SqliteStateStore.open(path, "run-7", durable="full")
    runtime = Runtime(store)
    print("ready", flush=True)
    sys.stdin.readline()
    acknowledged: list[float] = []
    conflicts = 0
    began = now = monotonic()
    while now < began + seconds:
        revision = store.load().revision
        try:
            runtime.accept_runtime(StateProposal("followup_required", name, revision))
        except RevisionConflict:
            conflicts += 1
            now = monotonic()
            continue
        now = monotonic()
        acknowledged.append(now)
    store.close()
    return Report(began, now, tuple(acknowledged), conflicts)


if __name__ == "__main__":
    print(json.dumps(asdict(write(sys.argv[1], float(sys.argv[2]), sys.argv[3]))), flush=True)
