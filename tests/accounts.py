"""What must hold after a crash, judged from the events and the effects alone.

The ledger here is made of plain dicts and knows event kinds as words; it
imports neither the rules nor the reducer. Each complaint is a sentence; no
complaint means that the books are in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from runstate_lab.checkpoint import Recovery, recover
from runstate_lab.model import RunState, StateEvent
from runstate_lab.rules import replay
from runstate_lab.store import StateStore

Line = dict[str, str | bool | None]
STATUS = {
    "run_started": "running",
    "approval_requested": "waiting",
    "approval_granted": "running",
    "run_completed": "completed",
    "run_failed": "failed",
    "run_cancelled": "cancelled",
}
NODE = {
    "node_ready": "ready",
    "node_claimed": "running",
    "node_finished": "completed",
    "node_released": "ready",
    "node_given_up": "failed",
    "node_blocked": "blocked",
}
ENDED = ("completed", "failed", "cancelled")
TOLD = {
    "proposed": "not executed",
    "not_executed": "not executed",
    "failed": "failed",
    "dispatched": "outcome unknown",
    "unknown": "outcome unknown",
}


class Ledger:
    """The accepted events, told again in plain words."""

    def __init__(self, events: Iterable[StateEvent], *, status: str = "queued") -> None:
        self.status = status
        self.calls: dict[str, str] = {}
        self.keys: dict[str, str | None] = {}
        self.ever: dict[str, str] = {}
        self.facts: list[str] = []
        self.nodes: dict[str, str] = {}
        self.attempts: Counter[str] = Counter()
        self.first_error: str | None = None
        self.complaints: list[str] = []
        for event in events:
            self._tell(event)

    def _tell(self, event: StateEvent) -> None:
        if self.status in ENDED:
            self.complaints.append(f"{event.kind} after the run was {self.status}")
        self.status = STATUS.get(event.kind, self.status)
        if event.kind in NODE:
            self.nodes[event.value.node] = NODE[event.kind]
            if event.kind == "node_claimed":
                self.attempts[event.value.node] += 1
        elif event.kind == "nodes_planned":
            self.nodes |= {node.name: "pending" for node in event.value.nodes}
        else:
            self._tell_of_calls(event)
        if event.kind == "run_failed":
            self._err("run-7", event.value)
        if self.status in ENDED:
            self._close()

    def _tell_of_calls(self, event: StateEvent) -> None:
        if event.kind == "turn_started":
            left = ("failed", "not_executed")
            self.calls = {one: was for one, was in self.calls.items() if was not in left}
        elif event.kind == "model_output_received":
            for call in event.value.calls:
                self._mark(call.call_id, "proposed")
        elif event.kind == "tool_dispatched":
            self.calls.pop(event.value.retry_of, None)
            self.keys[event.value.call_id] = event.value.key
            self._mark(event.value.call_id, "dispatched")
        elif event.kind == "tool_result_recorded":
            self.facts.append(event.value)
            self._mark(event.call_id, "succeeded")
            del self.calls[event.call_id]
        elif event.kind == "tool_failed":
            self._err(event.call_id, event.value)
            self._mark(event.call_id, "failed")
        elif event.kind == "tool_outcome_unknown":
            self._err(event.value, "outcome unknown")
            self._mark(event.value, "unknown")

    def _mark(self, call_id: str, status: str) -> None:
        self.calls[call_id] = self.ever[call_id] = status

    def _err(self, call_id: str, words: str) -> None:
        self.first_error = self.first_error or f"{call_id}: {words}"

    def _close(self) -> None:
        ends = {"proposed": "not_executed", "dispatched": "unknown"}
        for call_id, status in self.calls.items():
            self._mark(call_id, ends.get(status, status))
        for name, status in self.nodes.items():
            if status not in ENDED:
                self.nodes[name] = "cancelled"


def complaints(store: StateStore, lines: Iterable[Line]) -> list[str]:
    """Everything that is wrong with a store and the effects made under it."""
    state, lines = store.load(), tuple(lines)
    events = store.trace.accepted
    ledger = Ledger(events, status=str(store.base.status))
    found = [*ledger.complaints, *about_state(ledger, state), *about_effects(ledger, lines)]
    found += repeated(lines) + about_recovery(ledger, recover(state))
    if replay(store.base, events) != state:
        found.append("the accepted events do not fold to the snapshot")
    return found


def about_state(ledger: Ledger, state: RunState) -> list[str]:
    """Where the committed state and the ledger differ."""
    error = state.first_error
    seen = {
        "status": str(state.status),
        "calls": {call.call_id: str(call.status) for call in state.calls},
        "facts": [str(fact) for fact in state.facts],
        "nodes": {node.name: str(node.status) for node in state.nodes},
        "attempts": Counter({node.name: node.attempt for node in state.nodes if node.attempt}),
        "first_error": None if error is None else f"{error.name}: {error.words}",
    }
    return [
        f"{name}: the ledger says {getattr(ledger, name)}, the state {value}"
        for name, value in seen.items()
        if getattr(ledger, name) != value
    ]


def about_recovery(ledger: Ledger, recovery: Recovery) -> list[str]:
    """Where the recovery does not tell the truth about an open call."""
    told = {call.call_id: (call.answer, call.repeatable) for call in recovery.calls}
    right = {
        call_id: (TOLD[status], TOLD[status] != "outcome unknown" or bool(ledger.keys[call_id]))
        for call_id, status in ledger.calls.items()
    }
    return [] if told == right else [f"recovery tells {told}, right is {right}"]


def about_effects(ledger: Ledger, lines: Iterable[Line]) -> list[str]:
    """Effects that the books deny, and results that no effect stands behind."""
    found, done = [], Counter(str(line["by"]) for line in lines)
    for who, count in done.items():
        name = who.removeprefix("node ")
        if name != who:
            if count > ledger.attempts[name] or ledger.nodes.get(name) == "pending":
                found.append(f"{who} acted {count} times in {ledger.attempts[name]} attempts")
        elif ledger.ever.get(who) not in ("dispatched", "succeeded", "unknown"):
            found.append(f"{who} had an effect and is {ledger.ever.get(who)}")
        elif count > 1:
            found.append(f"{who} acted {count} times under one call id")
    for name, status in ledger.nodes.items():
        if status == "completed" and name != "look" and not done[f"node {name}"]:
            found.append(f"node {name} is completed without its effect")
    for call_id, status in ledger.ever.items():
        if status == "succeeded" and call_id.partition("#")[0] != "c4" and not done[call_id]:
            found.append(f"{call_id} has a result without its effect")
    return found


def repeated(lines: Iterable[Line]) -> list[str]:
    """Whatever changed the world more than once, by key or by the first call's name."""
    changes = Counter(
        str(line["key"] or str(line["by"]).partition("#")[0]) for line in lines if line["changed"]
    )
    return [
        f"{name} changed the world {count} times" for name, count in changes.items() if count > 1
    ]
