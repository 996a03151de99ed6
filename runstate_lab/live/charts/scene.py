"""Machinery. Run-7 as the status chart plays it: what each press proposes, and where it leads.

A press is one proposal to a real store that holds the true state: with its
facts, its open calls and its open requests. Ids and ticks are made as they
are needed, so that every press has a value with nothing wrong in it.

What is not here: how an answer is told and drawn (see `moves`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from runstate_lab.answers import request_has_expired
from runstate_lab.errors import Refusal
from runstate_lab.model import (
    Answer,
    Approval,
    Callback,
    Decision,
    ExecutionContext,
    Lease,
    RunState,
    StateProposal,
    ToolCall,
    Value,
)
from runstate_lab.rules import Rule, Rules
from runstate_lab.store import StateStore

GOAL, TOOL = "build=green", "get_status"
FACTS = ("tool_dispatched", "tool_result", "tool_result_recorded")
"""The kinds that change no status and bring the facts that a goal asks for."""

PATIENCE = 9
BEGIN = RunState("run-7", goal="ship release 7", success=(GOAL,))
NAMES = {
    "tool:*": f"tool:{TOOL}",
    "approver:*": "approver:rosa",
    "service:*": "service:ci",
    "model:*": "model:planner",
    "driver:*": "driver:w1",
}
SORTS: dict[str, type] = {"approval": Approval, "callback": Callback}


@dataclass(frozen=True, slots=True)
class Scene:
    """Where run-7 stands: its state, the clock, how many ids were given out.

    >>> scene = Scene()
    >>> scene.place, scene.holds
    ('queued', 'goal build=green, facts none, open nothing')
    """

    state: RunState = BEGIN
    tick: int = 0
    issued: int = 0

    @property
    def place(self) -> str:
        """All that decides how the store will answer; ids, ticks and revision do not."""
        facts = [str(fact) for fact in self.state.facts]
        calls = [f"{call.tool} {call.status}" for call in self.state.calls]
        asked = [type(request).__name__.lower() for request in self.state.requests]
        return ", ".join([str(self.state.status), *sorted({*facts}), *calls, *asked])

    @property
    def holds(self) -> str:
        """What the state holds beside its status, in words."""
        facts = ", ".join(dict.fromkeys(map(str, self.state.facts))) or "none"
        calls = [
            call.tool if call.status == "dispatched" else f"{call.tool} {call.status}"
            for call in self.state.calls
        ]
        asked = [request.answerer.partition(":")[2] for request in self.state.requests]
        still = ", ".join([*calls, *(f"a question to {one}" for one in asked)]) or "nothing"
        return f"goal {', '.join(self.state.success)}, facts {facts}, open {still}"

    def press(self, rule: Rule, store: StateStore) -> tuple[StateProposal, ExecutionContext]:
        """What a press of that kind hands to a store that holds this state."""
        asked = self._request(rule.kind)
        tick = self.tick
        if request_has_expired in rule.conditions:
            # Only what has run out may be expired; everything else comes in time.
            tick = asked.expires_at if asked is not None else self.tick + PATIENCE
        call_id = self._call_id() if rule.kind == "tool_result_recorded" else None
        source = NAMES.get(rule.sources[0], rule.sources[0])
        context = store.context(source, rule.authority, call_id=call_id, tick=tick)
        return StateProposal(rule.kind, self._value(rule), self.state.revision), context

    def after(self, kind: str, rules: Rules) -> Scene | Refusal:
        """The scene that an accepted press leads to, or the refusal of the store.

        >>> from runstate_lab.rules import RULES
        >>> Scene().after("run_started", RULES).after("run_completed", RULES)
        SuccessNotMet(success_not_met: success criterion is not met)
        """
        store = StateStore(self.state, rules=rules)
        proposal, context = self.press(rules.row(kind), store)
        try:
            state = store.apply(proposal, context=context)
        except Refusal as refusal:
            return refusal
        return Scene(state, context.tick, self.issued + 1)

    def _request(self, kind: str) -> Approval | Callback | None:
        """The open request that an event of that kind is about."""
        sort = SORTS.get(kind.partition("_")[0])
        return next((one for one in self.state.requests if type(one) is sort), None)

    def _call_id(self) -> str:
        """The open call, or one that nobody has dispatched yet."""
        open_calls = [call.call_id for call in self.state.calls if call.status.pending]
        return open_calls[0] if open_calls else f"c{self.issued + 1}"

    def _value(self, rule: Rule) -> Value:
        asked, fresh = self._request(rule.kind), str(self.issued + 1)
        if rule.takes is Answer:
            about = asked or Approval(f"a{fresh}", "deploy release 7?", "rosa")
            return Answer.to(about, self.state.run_id)
        made: dict[type, Value] = {
            ToolCall: ToolCall(self._call_id(), TOOL),
            Approval: Approval(
                f"a{fresh}", "deploy release 7?", "rosa", expires_at=self.tick + PATIENCE
            ),
            Callback: Callback(f"k{fresh}", "ci", expires_at=self.tick + PATIENCE),
            Decision: Decision("deploy release 7"),
            Lease: Lease("w1", epoch=1, until=self.tick + PATIENCE),
        }
        if rule.takes is not str:
            return made.get(rule.takes, "")
        if rule.kind in FACTS:
            return GOAL
        if rule.reasons:
            return rule.reasons[0].replace("*", "not today")
        return asked.request_id if asked is not None else f"a{fresh}"
