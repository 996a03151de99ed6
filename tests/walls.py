"""What the tests of the walls share: a worker program of ours that is wrong in one line."""

from __future__ import annotations

from pathlib import Path

from runstate_lab.grading.channel import WORKER

CHECKOUT = Path(__file__).resolve().parents[1]


def rewritten(tmp_path: Path, patch: str) -> Path:
    """The worker's program, with a line that runs before it."""
    source = f"""
import runpy, sys
sys.path.insert(0, {str(CHECKOUT)!r})
{patch}
sys.path.remove({str(CHECKOUT)!r})
runpy.run_path({str(WORKER)!r}, run_name="__main__")
"""
    path = tmp_path / "worker.py"
    path.write_text(source, encoding="utf-8")
    return path


def holed(*numbers: int) -> str:
    """The line that lets these system calls through the filter, whatever their arguments."""
    return (
        "from runstate_lab.grading import calls\n"
        "kept = calls.guards\n"
        f"calls.guards = lambda *a: tuple(g for g in kept(*a) if g.number not in {numbers})\n"
        f"calls.ALLOWED['a hole'] = dict(enumerate({numbers}))"
    )
