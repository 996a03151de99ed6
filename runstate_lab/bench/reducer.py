"""The reducer beside two state machine libraries: six legal events, again and again.

Everybody checks that the event is legal, guards completion by a fact, carries
a reason and counts a revision. Only the kernel asks who is speaking and keeps
every earlier state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runstate_lab.bench.peers import STATEMACHINE, TRANSITIONS, Peer
from runstate_lab.bench.rows import Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import Contender, Slice, interleave, timed
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
    for peer, (machines, share, _) in PEERS.items():
        if peer.version is not None:
            make, laps = machines(), max(2, scale.laps // share)
            contenders[peer.title] = lambda make=make, laps=laps: _triggered(make, laps)
            more[peer.title] = peer.more
    rounds = interleave(contenders, rounds=scale.rounds)
    aims = tuple(
        rounds.aim(f"{times} x {peer.distribution}", times, OURS, peer.title, why=peer.absence)
        for peer, (_, _, times) in PEERS.items()
    )
    lines = tuple(rounds.line(name, "events/s", more=more.get(name, "")) for name in contenders)
    what = "legal events through ownership, revision, guard and reason"
    note = "work of the processor; the peers change one object in place, ours keeps each state"
    return Row("reducer", what, lines, aims, (note,))


def _reduced(laps: int) -> Slice:
    first = RunState("run-7", success=("build=green",))

    def run() -> None:
        for _ in range(laps):
            state = first
            for kind, source, authority, value, call_id in LAP:
                event = StateEvent(kind, source, authority, value, state.revision, call_id)
                check(state, event, RULES)
                state = reduce(state, event, RULES)

    return timed(laps * len(LAP), run)


def _stored(laps: int) -> Slice:
    first = RunState("run-7", success=("build=green",))
    stores = [StateStore(first) for _ in range(laps)]

    def run() -> None:
        for store in stores:
            state = first
            for kind, source, authority, value, call_id in LAP:
                context = store.context(source, authority, call_id=call_id)
                state = store.apply(StateProposal(kind, value, state.revision), context=context)

    return timed(laps * len(LAP), run)


def _triggered(make: Callable[[], Any], laps: int) -> Slice:
    machines = [make() for _ in range(laps)]

    def run() -> None:
        for machine in machines:
            for trigger, reason, value in TRIGGERS:
                getattr(machine, trigger)(reason=reason, value=value)

    return timed(laps * len(TRIGGERS), run)


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


PEERS: dict[Peer, tuple[Callable[[], Callable[[], Any]], int, float]] = {
    TRANSITIONS: (_transitions, 2, 3),
    STATEMACHINE: (_statemachine, 10, 40),
}
"""How a peer's machines are made, what share of our laps it runs, and the aim."""
