"""Random offers to a real store, judged by a ledger of words and numbers."""

from __future__ import annotations

from collections import Counter

import oracle
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from runstate_lab.errors import Refusal
from runstate_lab.model import Answer, Approval, Callback, RunState, StateProposal, ToolCall
from runstate_lab.store import StateStore

REACHED: Counter[str] = Counter()
KINDS = st.sampled_from(
    ["run_started", "tool_dispatched", "tool_result_recorded", "run_completed"]
    + ["approval_requested", "approval_granted", "run_failed"]
)
AUTHORITIES = st.sampled_from(["runtime", "tool_executor", "model", "approver"])
FACTS = st.sampled_from(["build=green", "build=red", "tests=green", "looks fine"])
REASONS = st.sampled_from(["timeout", "tool_error", "because"])


class Offers(RuleBasedStateMachine):
    """The store is the subject; the ledger is the judge."""

    def __init__(self) -> None:
        super().__init__()
        self.store = StateStore(RunState("run-7", success=("build=green",)))
        self.ledger = oracle.Ledger()
        self.offers = 0

    @initialize(early=st.sampled_from([False, False, False, True]))
    def begin(self, early: bool) -> None:
        """Most runs are started at once; a few meet other offers while queued."""
        if not early:
            self.offer("run_started")

    @rule()
    def start(self) -> None:
        """The honest first step, also when it is not the first."""
        self.offer("run_started")

    @rule()
    def dispatch_again(self) -> None:
        """A call id that may have been used."""
        self.offer("tool_dispatched", call="c0")

    @rule()
    def finish(self) -> None:
        """The honest way to the end, once the run has lived a little."""
        if self.offers > 6 and self.ledger.status == "running":
            self.dispatch()
            self.offer("run_completed")
            while self.ledger.open_calls:
                self.offer("tool_result_recorded", "build=green", call=self.ledger.open_calls[0])
                self.offer("run_completed")

    @rule()
    def dispatch(self) -> None:
        """A call with an id of its own."""
        self.offer("tool_dispatched", call=f"c{len(self.ledger.used_calls)}")

    @rule(fact=FACTS)
    def answer(self, fact: str) -> None:
        """The result of the oldest open call."""
        if self.ledger.open_calls:
            self.offer("tool_result_recorded", fact, call=self.ledger.open_calls[0])

    @rule(fact=FACTS)
    def answer_again(self, fact: str) -> None:
        """The result of a call that may be closed, or never dispatched."""
        self.offer("tool_result_recorded", fact, call="c0")

    @rule()
    def ask(self) -> None:
        """A request for approval."""
        self.offer("approval_requested", f"a{self.offers}")

    @rule(right=st.booleans())
    def grant(self, right: bool) -> None:
        """An answer to the open request, or to none."""
        self.offer("approval_granted", (self.ledger.open_request or "a") if right else "z")

    @rule()
    def grant_again(self) -> None:
        """An answer that was given before, if any was."""
        if self.ledger.answered:
            self.offer("approval_granted", self.ledger.answered[0])

    @rule()
    def complete(self) -> None:
        """The runtime proposes completion, early or not."""
        self.offer("run_completed")

    @rule(reason=REASONS)
    def fail(self, reason: str) -> None:
        """A failure, sometimes with a reason that is none."""
        if self.offers > 8:
            self.offer("run_failed", reason)

    @rule()
    def fail_for_no_reason(self) -> None:
        """A failure whose reason is none of the three."""
        self.offer("run_failed", "because")

    @rule(kind=KINDS, authority=AUTHORITIES, lag=st.integers(-2, 2))
    def anything(self, kind: str, authority: str, lag: int) -> None:
        """Any kind by anybody, from about now."""
        at = max(0, self.ledger.revision + lag)
        self.offer(kind, "timeout", call="c0", authority=authority, at=at)

    def offer(
        self,
        kind: str,
        value: str = "",
        *,
        call: str | None = None,
        authority: str | None = None,
        at: int | None = None,
    ) -> None:
        """Offer it to the store and hold the answer against the ledger's."""
        self.offers += 1
        owner, source = oracle.WRITERS[kind]
        who = authority or owner
        expected_revision = self.ledger.revision if at is None else at
        expected = self.ledger.verdict(kind, who, expected_revision, value, call)
        nouns = {
            "tool_dispatched": ToolCall(call or "c0", "get_status"),
            "approval_requested": Approval(value or "a", "deploy?", "rosa"),
            "callback_awaited": Callback(value or "k", "ci"),
            "approval_granted": Answer(value or "a", "run-7"),
        }
        proposal = StateProposal(kind, nouns.get(kind, value), expected_revision)
        context = self.store.context(source, who, call_id=call)
        try:
            self.store.apply(proposal, context=context)
            found = "ok"
        except Refusal as refusal:
            found = refusal.code
        if kind == "tool_result_recorded" and expected == "ok" and "=" not in value:
            expected = "malformed"
        REACHED[f"{kind} {expected}"] += 1
        assert expected == found, f"{kind} by {who} at {expected_revision}"
        if expected == "ok":
            self.ledger.accept(kind, value, call)

    @invariant()
    def state_and_ledger_agree(self) -> None:
        """Status, revision, facts and open calls are the ledger's."""
        state = self.store.load()
        assert self.ledger.status == state.status
        assert self.ledger.revision == state.revision
        assert self.ledger.facts == [str(fact) for fact in state.facts]
        assert self.ledger.open_calls == [call.call_id for call in state.calls]

    @invariant()
    def the_trace_counts_every_offer(self) -> None:
        """Accepted ones make the revision, refused ones are kept too."""
        assert self.offers == len(self.store.trace)
        assert self.ledger.revision == len(self.store.trace.accepted)


def test_random_offers_are_answered_as_the_ledger_says() -> None:
    """Two hundred runs, the same ones every time, each place of interest reached."""
    REACHED.clear()
    run_state_machine_as_test(
        Offers,
        settings=settings(
            max_examples=200, stateful_step_count=30, derandomize=True, deadline=None, database=None
        ),
    )
    places = (
        "run_completed ok",
        "run_completed still_pending",
        "run_completed success_not_met",
        "run_completed illegal_transition",
        "run_completed writer_rejected",
        "run_completed revision_conflict",
        "run_started illegal_transition",
        "run_failed ok",
        "run_failed reason_missing",
        "tool_result_recorded ok",
        "tool_result_recorded call_repeated",
        "tool_result_recorded call_unknown",
        "tool_result_recorded malformed",
        "tool_dispatched call_repeated",
        "approval_granted ok",
        "approval_granted request_unknown",
        "approval_granted illegal_transition",
        "approval_granted answer_repeated",
        "tool_result_recorded call_late",
    )

    assert [] == [place for place in places if not REACHED[place]], dict(REACHED)
