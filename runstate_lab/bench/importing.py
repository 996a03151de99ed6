"""How long `import` takes, over a bare start of Python: the median of fresh processes."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

from runstate_lab.bench.peers import LANGGRAPH, STATEMACHINE, TRANSITIONS
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Slice, interleave

MODULES = {TRANSITIONS: "transitions", STATEMACHINE: "statemachine", LANGGRAPH: "langgraph.graph"}
SLOWEST = 45
BARE, OURS = "pass", "import runstate_lab"


def measure(scale: Scale) -> Row:
    """Milliseconds for an import, the bare start of Python taken off round by round."""
    programs = {BARE: "", OURS: ""}
    programs |= {f"import {name}": peer.more for peer, name in MODULES.items() if peer.version}
    contenders = {program: lambda program=program: _run(program) for program in programs}
    slices = interleave(contenders, rounds=scale.rounds).slices
    spent = {
        program: 1000
        * median(
            one.seconds - bare.seconds
            for one, bare in zip(slices[program], slices[BARE], strict=True)
        )
        for program in programs
        if program != BARE
    }
    lines = tuple(Line(program, spent[program], "ms", programs[program]) for program in spent)
    aim = Aim(f"{SLOWEST} ms over bare Python", SLOWEST, spent[OURS], at_most=True)
    return Row("import", f"a fresh Python {sys.version.split()[0]}, warm files", lines, (aim,))


def _run(program: str) -> Slice:
    started = perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return Slice(1, perf_counter() - started)
