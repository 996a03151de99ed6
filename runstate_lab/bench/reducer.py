"""The reducer beside two state machine libraries: six legal events, again and again.

Everybody checks that the event is legal, guards completion by a fact, carries
a reason and counts a revision. Only the kernel asks who is speaking and keeps
every earlier state.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from runstate_lab.bench.peers import STATEMACHINE, TRANSITIONS
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Contender, Slice, interleave
from runstate_lab.model import (
    Answer,
    Callback,
    RunState,
    StateEvent,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.rules import RULES, check, reduce
from runstate_lab.store import StateStore

OURS = "runstate-lab: check and reduce"
STORE = "runstate-lab: StateStore.apply, with its trace"
ASKED = Callback("k1", "ci")
LAP: tuple[tuple[str, str, str, Value, str | None], ...] = (
    ("run_started", "runtime", "runtime", "", None),
    ("tool_dispatched", "runtime", "runtime", ToolCall("c1", "get_status"), None),
    ("tool_result_recorded", "tool:get_status", "tool_executor", "build=green", "c1"),
    ("callback_awaited", "runtime", "runtime", ASKED, None),
    ("callback_received", "service:ci", "service", Answer.to(ASKED, "run-7"), None),
    ("run_completed", "runtime", "runtime", "", None),
)
TRIGGERS = (
    ("start", None, None),
    ("dispatch", None, None),
    ("record", None, "build=green"),
    ("wait", "external_callback", None),
    ("resume", None, None),
    ("complete", "goal_reached", None),
)


def measure(scale: Scale) -> Row:
    """Events a second of the reducer, of the store, and of the peers that are here."""
    contenders: dict[str, Contender] = {
        OURS: lambda: _reduced(scale.laps),
        STORE: lambda: _stored(scale.laps),
    }
    more = {}
    for peer, machines in ((TRANSITIONS, _transitions), (STATEMACHINE, _statemachine)):
        if peer.version is not None:
            make = machines()
            contenders[peer.title] = lambda make=make: _triggered(make, max(2, scale.laps // 10))
            more[peer.title] = peer.more
    rounds = interleave(contenders, rounds=scale.rounds)
    aims = []
    for peer, times in ((TRANSITIONS, 3), (STATEMACHINE, 40)):
        found = None if peer.version is None else rounds.ratio(OURS, peer.title)
        aims.append(Aim(f"{times} x {peer.distribution}", times, found, why=peer.absence))
    lines = tuple(
        Line(name, rounds.rate(name), "events/s", more.get(name, "")) for name in contenders
    )
    what = "legal events through ownership, revision, guard and reason"
    return Row("reducer", what, lines, tuple(aims))


def _reduced(laps: int) -> Slice:
    first = RunState("run-7", success=("build=green",))
    started = perf_counter()
    for _ in range(laps):
        state = first
        for kind, source, authority, value, call_id in LAP:
            event = StateEvent(kind, source, authority, value, state.revision, call_id)
            check(state, event, RULES)
            state = reduce(state, event, RULES)
    return Slice(laps * len(LAP), perf_counter() - started)


def _stored(laps: int) -> Slice:
    first = RunState("run-7", success=("build=green",))
    stores = [StateStore(first) for _ in range(laps)]
    started = perf_counter()
    for store in stores:
        state = first
        for kind, source, authority, value, call_id in LAP:
            context = store.context(source, authority, call_id=call_id)
            state = store.apply(StateProposal(kind, value, state.revision), context=context)
    return Slice(laps * len(LAP), perf_counter() - started)


def _triggered(make: Callable[[], Any], laps: int) -> Slice:
    machines = [make() for _ in range(laps)]
    started = perf_counter()
    for machine in machines:
        for trigger, reason, value in TRIGGERS:
            getattr(machine, trigger)(reason=reason, value=value)
    return Slice(laps * len(TRIGGERS), perf_counter() - started)


class _Run:
    """What both libraries move: facts, a reason and a revision, changed in place."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.reason: str | None = None
        self.revision = 0
        super().__init__()

    def waits_for_something(self, reason: str | None = None, value: str | None = None) -> bool:
        return reason in ("pending_approval", "external_callback")

    def goal_is_met(self, reason: str | None = None, value: str | None = None) -> bool:
        return reason == "goal_reached" and "build=green" in self.facts

    def note(self, reason: str | None = None, value: str | None = None) -> None:
        if value is not None:
            self.facts.append(value)
        self.reason = reason
        self.revision += 1


def _transitions() -> Callable[[], Any]:
    from transitions import Machine

    states = ["queued", "running", "waiting", "completed", "failed", "cancelled"]
    arrows = [
        ("start", "queued", "running", None),
        ("dispatch", "running", "running", None),
        ("record", "running", "running", None),
        ("wait", "running", "waiting", "waits_for_something"),
        ("resume", "waiting", "running", None),
        ("complete", "running", "completed", "goal_is_met"),
        ("fail", "running", "failed", None),
        ("cancel", "running", "cancelled", None),
    ]
    rows = [
        {"trigger": trigger, "source": start, "dest": to, "conditions": guard, "after": "note"}
        for trigger, start, to, guard in arrows
    ]
    shared = Machine(model=None, states=states, transitions=rows, initial="queued", auto_transitions=False)

    def make() -> Any:
        shared.models.clear()
        run = _Run()
        shared.add_model(run)
        return run

    return make


def _statemachine() -> Callable[[], Any]:
    from statemachine import State, StateMachine

    class Machine(_Run, StateMachine):
        queued, running, waiting = State(initial=True), State(), State()
        completed, failed, cancelled = State(final=True), State(final=True), State(final=True)
        start = queued.to(running, on="note")
        dispatch = running.to.itself(on="note")
        record = running.to.itself(on="note")
        wait = running.to(waiting, cond="waits_for_something", on="note")
        resume = waiting.to(running, on="note")
        complete = running.to(completed, cond="goal_is_met", on="note")
        fail = running.to(failed, on="note")
        cancel = running.to(cancelled, on="note")

    return Machine
