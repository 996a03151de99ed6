"""How long `import` takes, over a bare start of Python: the median of fresh processes.

Counted is the time that the processor worked for the process, which is what
a wait would be on an idle machine and does not grow on a busy one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from statistics import median

from runstate_lab.bench.peers import LANGGRAPH, STATEMACHINE, TRANSITIONS
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Slice, interleave, spread

MODULES = {TRANSITIONS: "transitions", STATEMACHINE: "statemachine", LANGGRAPH: "langgraph.graph"}
SLOWEST = 45
BARE, OURS = "pass", "import runstate_lab"


def measure(scale: Scale) -> Row:
    """Milliseconds of work for an import, the bare start of Python taken off round by round."""
    peers = {f"import {name}": peer for peer, name in MODULES.items() if peer.version}
    contenders = {
        program: lambda program=program: _run(program) for program in (BARE, OURS, *peers)
    }
    slices = interleave(contenders, rounds=scale.rounds).slices
    spent = {program: _over(slices[program], slices[BARE]) for program in (OURS, *peers)}
    lines = [Line(OURS, median(spent[OURS]), "ms", spread=spread(spent[OURS]))]
    for program, peer in peers.items():
        found, title = spent[program], f"{program} ({peer.title})"
        lines.append(Line(title, median(found), "ms", peer.more, spread(found)))
    found = spent[OURS]
    aim = Aim(
        f"{SLOWEST} ms over bare Python", SLOWEST, median(found), at_most=True, spread=spread(found)
    )
    return Row("import", "work in a fresh Python, warm files", tuple(lines), (aim,))


def _over(slices: Sequence[Slice], bare: Sequence[Slice]) -> list[float]:
    return [1000 * (one.seconds - other.seconds) for one, other in zip(slices, bare, strict=True)]


def _run(program: str) -> Slice:
    from resource import RUSAGE_CHILDREN, getrusage  # Unix only, like the other rows' lock file.

    # Compiled files are kept, as they are for everybody who imports a second time.
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, env=kept)
    after = getrusage(RUSAGE_CHILDREN)
    return Slice(1, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
