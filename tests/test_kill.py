"""SIGKILL at every moment of a real worker process, and what the next one finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import killing
import pytest
from accounts import complaints
from killing import EffectsFile, Fuse, FusedFile, World, ship

import runstate_lab
from runstate_lab.checkpoint import recover
from runstate_lab.errors import StoreUnreadable
from runstate_lab.model import RunState
from runstate_lab.sqlite import SqliteStateStore

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
HERE = Path(killing.__file__)
ROOT = Path(runstate_lab.__file__).parent.parent


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The moments of a run that nobody kills; a worker process has just as many."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    fuse = Fuse()
    store = FusedFile(here / "run", fuse)
    state = ship(store, World(EffectsFile(here / "effects"), fuse), worker="w1", tick=0)
    store.close()

    assert 0 == worker(there, len(fuse.moments) + 1)
    assert (state, []) == take_over(there, tick=100)
    return fuse.moments


def worker(folder: Path, at: int) -> int:
    """How a worker process ends that kills itself at a moment."""
    # Without site-packages: the book needs none, and starts faster.
    command = [sys.executable, "-S", str(HERE), folder / "run", folder / "effects", str(at)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, timeout=60, check=False).returncode


def take_over(folder: Path, *, tick: int) -> tuple[RunState, list[str]]:
    """The end of the run in this process, and every complaint on the way."""
    effects = EffectsFile(folder / "effects")
    store = FusedFile(folder / "run", Fuse())
    try:
        found = complaints(store, effects.lines)
        state = ship(store, World(effects, Fuse()), worker=f"w{tick}", tick=tick)
        return state, found + complaints(store, effects.lines)
    finally:
        store.close()


def what_is_told(folder: Path) -> list[str]:
    """What a recovery tells, in a process that reads the file for the first time."""
    try:
        store = SqliteStateStore.open(folder / "run", "run-7")
    except StoreUnreadable as error:
        return [error.found]
    told = [f"{call.call_id} {call.answer}" for call in recover(store.load()).calls]
    store.close()
    return told


def test_a_kill_after_a_keyed_effect_is_made_good(moments: list[str], tmp_path: Path) -> None:
    """The deploy happened and nobody knows; its key makes the second request harmless."""
    assert -signal.SIGKILL == worker(tmp_path, 1 + moments.index("after effect c3"))
    assert ["c3 outcome unknown"] == what_is_told(tmp_path)

    state, found = take_over(tmp_path, tick=100)

    assert [] == found
    assert ("completed", "goal_reached") == (state.status, state.stop_reason)
    deploys = EffectsFile(tmp_path / "effects").lines[2:4]
    assert [("c3", True), ("c3#2", False)] == [(one["by"], one["changed"]) for one in deploys]
    assert 1 == len({one["key"] for one in deploys})


def test_a_kill_around_an_unkeyed_effect_stops_the_run(moments: list[str], tmp_path: Path) -> None:
    """The mail may be out, or not: the run fails rather than send it again."""
    sent = []
    for moment in ("before effect c5", "after effect c5"):
        folder = tmp_path / moment
        folder.mkdir()
        assert -signal.SIGKILL == worker(folder, 1 + moments.index(moment))
        assert ["c5 outcome unknown"] == what_is_told(folder)

        state, found = take_over(folder, tick=100)

        assert [] == found
        assert ("failed", "tool_error") == (state.status, state.stop_reason)
        assert [("c5", "unknown")] == [(call.call_id, call.status) for call in state.calls]
        sent.append([line["by"] for line in EffectsFile(folder / "effects").lines].count("c5"))

    assert [0, 1] == sent


@pytest.mark.slow
def test_a_kill_at_every_moment_ends_in_order(moments: list[str], tmp_path: Path) -> None:
    """138 dead workers; no effect lost silently, none repeated without a key."""
    reached: Counter[str] = Counter()
    told: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for at, moment in enumerate(moments, start=1):
        folder = tmp_path / str(at)
        folder.mkdir()
        assert -signal.SIGKILL == worker(folder, at), moment
        reached[moment.split()[0]] += 1
        told.update(what_is_told(folder))

        state, found = take_over(folder, tick=100)
        assert [] == found, moment
        ends[f"{state.status}: {state.stop_reason}"] += 1
        assert (state, []) == take_over(folder, tick=200), moment
        lines = EffectsFile(folder / "effects").lines
        asked.update(str(line["by"]) for line in lines if not line["changed"])

    assert {"before": 50, "inside": 38, "after": 50} == reached
    assert {"completed: goal_reached": 115, "failed: tool_error": 23} == ends
    # Five moments around each effect; the graph runs under c4.
    assert {
        "no such run": 1,
        "c1 not executed": 3,
        "c1 outcome unknown": 5,
        "c2 not executed": 11,
        "c2 outcome unknown": 3,
        "c2 failed": 3,
        "c2#2 outcome unknown": 5,
        "c3 not executed": 11,
        "c3 outcome unknown": 5,
        "c4 not executed": 3,
        "c4 outcome unknown": 37,
        "c5 not executed": 3,
        "c5 outcome unknown": 5,
    } == told
    assert {"c1#2": 3, "c3#2": 3, "node eu": 3} == asked
