"""Run-7 as a crash meets it: five calls, an approval, a graph, and a fuse.

As a program it is the worker that kills itself:
`python killing.py STORE EFFECTS MOMENT`. What is not here: the judge of what
is left afterwards (see `accounts`).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from runstate_lab.control import ActiveRunControl
from runstate_lab.driver import Driver
from runstate_lab.errors import OutcomeUnknown, ToolFailure
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.model import (
    Budget,
    Decision,
    ExecutionContext,
    NodeStatus,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
    ToolCall,
)
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Executor, Scheduler
from runstate_lab.scripted import LogicalClock, ScriptedApprover, ScriptedModel
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore
from runstate_lab.tools import Act, Tool, ToolRegistry
from runstate_lab.trace import Diagnostic

LEASE = 10
BEGIN = RunState(
    "run-7",
    goal="ship release 7",
    success=("build=green", "tests=green", "deploy=done", "rollout=eu and us", "mail=sent"),
    budget=Budget(max_turns=4, max_attempts=4),
)
SCRIPT = (
    Decision("look and test", (ToolCall("c1", "get_status"), ToolCall("c2", "run_tests"))),
    Decision("deploy", (ToolCall("c3", "deploy", (("release", "7"),)),)),
    Decision("to both regions", (ToolCall("c4", "roll_out"),)),
    Decision("tell everybody", (ToolCall("c5", "announce"),), final=True),
)
ROSA = ScriptedApprover("rosa", {"deploy(release=7)?": "yes"})
RESULTS = {
    "get_status": "build=green",
    "run_tests": "tests=green",
    "deploy": "deploy=done",
    "announce": "mail=sent",
}
KEYED = ("get_status", "deploy", "roll_out")
Line = dict[str, str | bool | None]


class Crash(BaseException):
    """The process is gone; nothing in the book may catch it."""


class Fuse:
    """Counts the moments that matter and blows at one of them; 0 is never."""

    def __init__(
        self,
        at: int = 0,
        *,
        blow: Callable[[str], object] | None = None,
        matters: Callable[[str], bool] = bool,
    ) -> None:
        self.moments: list[str] = []
        self._at = at
        self.blow = blow or _crash
        self._matters = matters

    def moment(self, name: str) -> None:
        """One more moment, perhaps the last one."""
        if self._matters(name):
            self.moments.append(name)
            if len(self.moments) == self._at:
                self.blow(name)


class Fused:
    """A store that has a moment before and after each of its commits."""

    fuse: Fuse

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, if the process lives that long."""
        self.fuse.moment(f"before {proposal.kind}")
        after = super().apply(proposal, context=context)
        self.fuse.moment(f"after {proposal.kind}")
        return after

    def note(self, component: str, words: str, *, correlation: str) -> Diagnostic:
        """A diagnostic, if the process lives that long."""
        self.fuse.moment("before note")
        kept = super().note(component, words, correlation=correlation)
        self.fuse.moment("after note")
        return kept


class FusedMemory(Fused, StateStore):
    """In memory: the object outlives the crash as a disk would."""

    def __init__(self, fuse: Fuse, state: RunState = BEGIN) -> None:
        self.fuse = fuse
        super().__init__(state)


class FusedFile(Fused, SqliteStateStore):
    """In a file, with a moment inside each transaction and around the first one."""

    def __init__(self, path: Path, fuse: Fuse) -> None:
        self.fuse = fuse
        super().__init__(path, BEGIN, durable="normal")

    def _begin(self, state: RunState) -> None:
        self.fuse.moment("before run is created")
        super()._begin(state)
        self.fuse.moment("after run is created")

    def _commit(self, event: StateEvent, after: RunState) -> None:
        super()._commit(event, after)
        self.fuse.moment(f"inside {event.kind}")


class Effects:
    """What happened in the world outside the store, line by line."""

    def __init__(self) -> None:
        self._lines: list[Line] = []

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every request that reached the world, in order."""
        return tuple(self._lines)

    def append(self, line: Line) -> None:
        """One more line, at once and for good."""
        self._lines.append(line)


class EffectsFile(Effects):
    """The same in a file that is only appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every request that reached the world, whichever process sent it."""
        text = self._path.read_text("utf-8") if self._path.exists() else ""
        return tuple(json.loads(line) for line in text.splitlines())

    def append(self, line: Line) -> None:
        """One more line, in one write."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class World:
    """The tools' other side: changes things, and a repeated key changes nothing."""

    def __init__(self, effects: Effects, fuse: Fuse) -> None:
        self.effects = effects
        self._fuse = fuse
        self._call = ToolCall("none", "none")

    def witness(self, call: ToolCall, act: Act) -> Act:
        """Middleware that knows for which call the tool acts."""
        self._call = call
        return act

    def change(self, who: str, key: str | None) -> None:
        """One request to change the world, under a key or without."""
        self._fuse.moment(f"before effect {who}")
        done = {line["key"] for line in self.effects.lines if key is not None}
        self.effects.append({"by": who, "key": key, "changed": key not in done})
        self._fuse.moment(f"after effect {who}")

    def tools(self, roll_out: Act) -> ToolRegistry:
        """The five tools: three take a key, one needs Rosa."""
        acts = {name: self._act(name) for name in RESULTS} | {"roll_out": roll_out}
        return ToolRegistry(
            Tool(
                name,
                act,
                takes=("release",) if name == "deploy" else (),
                gated_by="rosa" if name == "deploy" else None,
                keyed=name in KEYED,
            )
            for name, act in acts.items()
        )

    def graph(self) -> ExecutableGraph:
        """Two regions and a look at both; only `eu` may be tried again."""
        return ExecutableGraph(
            (
                Node("eu", self._region("eu", "node eu"), writes=("eu",), max_attempts=3),
                Node("us", self._region("us", None), writes=("us",)),
                Node("look", _look, needs=("eu", "us"), writes=("regions",), max_attempts=3),
            ),
            start=("eu", "us"),
        )

    def _act(self, name: str) -> Act:
        def act(arguments: Mapping[str, str]) -> str:
            if name == "run_tests" and self._call.attempt == 1:
                raise ToolFailure("no runner is free")
            self.change(self._call.call_id, arguments.get("idempotency_key"))
            return RESULTS[name]

        return act

    def _region(self, name: str, key: str | None) -> Callable[[object], dict[str, str]]:
        def work(values: object) -> dict[str, str]:
            self.change(f"node {name}", key)
            return {name: name}

        return work


def ship(
    store: StateStore,
    world: World,
    *,
    worker: str,
    tick: int,
    driver_class: type[Driver] = Driver,
) -> RunState:
    """The run once it has ended, from wherever it is; Rosa answers when asked."""
    clock = LogicalClock(tick)

    def roll_out(arguments: Mapping[str, str]) -> str:
        graph = world.graph()
        scheduler = Scheduler(graph, driver.runtime, worker, lease=LEASE)
        state = Executor(scheduler, max_concurrency=2).run_all()
        if any(node.status is not NodeStatus.COMPLETED for node in state.nodes):
            raise OutcomeUnknown("a region was given up")
        return f"rollout={graph.values(state)['regions']}"

    driver = driver_class(
        store,
        worker,
        model=ScriptedModel(SCRIPT),
        tools=world.tools(roll_out),
        clock=clock,
        lease=LEASE,
        middleware=(world.witness,),
    )
    state = driver.run()
    while state.status is RunStatus.WAITING:
        kind, answer = ROSA.answer(state.requests[0], state.run_id)
        ActiveRunControl(Runtime(store, clock=clock)).answer("rosa", kind, answer)
        state = driver.run()
    return state


def main(path: str, effects: str, at: str) -> None:
    """The worker that kills itself at a moment, as nothing can catch."""
    fuse = Fuse(int(at), blow=lambda name: os.kill(os.getpid(), signal.SIGKILL))
    store = FusedFile(Path(path), fuse)
    ship(store, World(EffectsFile(Path(effects)), fuse), worker="w1", tick=0)


def _look(values: Mapping[str, str]) -> dict[str, str]:
    return {"regions": f"{values['eu']} and {values['us']}"}


def _crash(name: str) -> None:
    raise Crash(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
