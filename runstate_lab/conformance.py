"""Floor 3. The store's promises as named clauses, and an audit of any store.

A clause is one promise and one short run that would show it broken. Every
good store holds them all; every store of `broken` fails exactly those that
it is known for. Audit your own with `audit(MyStore)`.

What is not here: pictures of the report, and grading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runstate_lab.errors import Refusal, RevisionConflict
from runstate_lab.model import (
    Callback,
    ExecutionContext,
    Fact,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.rules import replay
from runstate_lab.store import StateStore

Factory = Callable[[RunState], StateStore]
WRITERS = {"runtime": "runtime", "tool:get_status": "tool_executor", "model:planner": "model"}


@dataclass(frozen=True, slots=True)
class Clause:
    """One promise: its name, what it says, and the run that shows it.

    `shows` gives None when the promise held, else what was found.

    >>> CLAUSES[0].name
    'a_new_store_holds_the_state_it_was_given'
    """

    name: str
    says: str
    shows: Callable[[Factory], str | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one clause held, and what was found where it did not."""

    clause: str
    held: bool
    found: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts of one audit, in the order of the clauses.

    >>> print(audit(StateStore))
    all 23 clauses held
    """

    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the clauses that did not hold."""
        return tuple(verdict.clause for verdict in self.verdicts if not verdict.held)

    def __str__(self) -> str:
        if not self.failed:
            return f"all {len(self.verdicts)} clauses held"
        lines = [f"{len(self.failed)} of {len(self.verdicts)} clauses did not hold"]
        lines += [f"  {one.clause}: {one.found}" for one in self.verdicts if not one.held]
        return "\n".join(lines)


def audit(store: Factory) -> Report:
    """What a store's class, or any factory of stores, promises and keeps.

    >>> class Deaf(StateStore):
    ...     def _keep(self, entry):
    ...         return super()._keep(entry) if entry.accepted else None
    >>> print(audit(Deaf))
    1 of 23 clauses did not hold
      a_refusal_is_kept_with_its_code: no refusal in the trace
    """
    return Report(tuple(_verdict(clause, store) for clause in CLAUSES))


def _verdict(clause: Clause, store: Factory) -> Verdict:
    try:
        found = clause.shows(store)
    except Exception as error:  # A learner's store may raise anything; the audit says what.
        found = f"{type(error).__name__}: {error}".splitlines()[0]
    return Verdict(clause.name, found is None, found or "")


def _new_store(make: Factory) -> str | None:
    """A new store holds the state it was given."""
    return _unless(make(_run_7()).load() == _run_7(), "another state")


def _one_revision(make: Factory) -> str | None:
    """An accepted event adds exactly one revision."""
    store = make(_run_7())
    seen = [_offer(store, "run_started").revision, _dispatch(store, "c1").revision]
    return _unless(seen == [1, 2], f"revisions {seen}")


def _what_is_returned_is_kept(make: Factory) -> str | None:
    """What apply returns is what load returns."""
    store = make(_run_7())
    after = _offer(store, "run_started")
    return _unless(store.load() == after, f"revision {store.load().revision} kept")


def _stale(make: Factory) -> str | None:
    """A stale revision is refused as a revision conflict."""
    store = _running(make)
    _dispatch(store, "c1")
    return _refused(store, "revision_conflict", "tool_dispatched", ToolCall("c2", "scan"), at=1)


def _future(make: Factory) -> str | None:
    """A revision from the future is refused as a revision conflict."""
    store = _running(make)
    return _refused(store, "revision_conflict", "tool_dispatched", ToolCall("c1", "scan"), at=9)


def _nothing_lost(make: Factory) -> str | None:
    """No acknowledged fact is lost when two results carry one revision."""
    store = _running(make)
    _dispatch(store, "c1")
    _dispatch(store, "c2")
    acknowledged = 0
    for call_id, value in (("c1", "build=green"), ("c2", "tests=green")):
        try:
            _offer(store, "tool_result_recorded", value, "tool:get_status", at=3, call_id=call_id)
            acknowledged += 1
        except RevisionConflict:
            continue
    held = len(store.load().facts)
    return _unless(held == acknowledged, f"{acknowledged} facts acknowledged, {held} in the state")


def _wrong_authority(make: Factory) -> str | None:
    """The right revision with the wrong authority is refused."""
    store = _with_result(make)
    context = store.context("runtime", "model")
    proposal = StateProposal("run_completed", "", store.load().revision)
    return _refused_with(store, "writer_rejected", proposal, context)


def _wrong_source(make: Factory) -> str | None:
    """The right authority with the wrong source is refused."""
    store = _running(make)
    context = store.context("tool:get_status", "runtime")
    return _refused_with(
        store, "writer_rejected", StateProposal("run_cancelled", "stop", 1), context
    )


def _typed_context(make: Factory) -> str | None:
    """A context typed by hand opens nothing."""
    store = make(_run_7())
    typed = ExecutionContext("runtime", "runtime")
    return _refused_with(store, "context_rejected", StateProposal("run_started", "", 0), typed)


def _foreign_context(make: Factory) -> str | None:
    """A context of another store opens nothing."""
    store, other = make(_run_7()), make(_run_7())
    foreign = other.context("runtime", "runtime")
    return _refused_with(store, "context_rejected", StateProposal("run_started", "", 0), foreign)


def _unknown(make: Factory) -> str | None:
    """An unknown event is refused."""
    return _refused(make(_run_7()), "unknown_event", "run_paused")


def _terminal_stays(make: Factory) -> str | None:
    """A terminal run never starts again."""
    store = make(_run_7())
    _offer(store, "run_cancelled", "not today")
    return _refused(store, "illegal_transition", "run_started")


def _completed_once(make: Factory) -> str | None:
    """A run completes only once."""
    store = _with_result(make)
    _offer(store, "run_completed")
    return _refused(store, "illegal_transition", "run_completed")


def _goal(make: Factory) -> str | None:
    """No completion without the facts of the goal."""
    return _refused(_running(make), "success_not_met", "run_completed", "the build is green, done")


def _facts_of_tools(make: Factory) -> str | None:
    """Only facts from tools count for the goal."""
    typed = Fact("build", "green", source="model:planner", authority="model")
    store = make(RunState("run-7", success=("build=green",), facts=(typed,)))
    _offer(store, "run_started")
    return _refused(store, "success_not_met", "run_completed")


def _open_call(make: Factory) -> str | None:
    """No completion while a call is open."""
    store = _with_result(make)
    _dispatch(store, "c2")
    return _refused(store, "still_pending", "run_completed")


def _result_once(make: Factory) -> str | None:
    """The result of one call is accepted once."""
    store = _with_result(make)
    source = "tool:get_status"
    return _refused(
        store, "call_repeated", "tool_result_recorded", "build=red", source, call_id="c1"
    )


def _reason(make: Factory) -> str | None:
    """A failed run names one of the reasons for failing."""
    return _refused(_running(make), "reason_missing", "run_failed", "because")


def _refusal_changes_nothing(make: Factory) -> str | None:
    """A refusal leaves the state as it was."""
    store = _running(make)
    before = (store.load().status, store.load().revision)
    _refused(store, "illegal_transition", "run_started")
    after = (store.load().status, store.load().revision)
    return _unless(before == after, f"{before[0]} {before[1]} became {after[0]} {after[1]}")


def _refusal_is_kept(make: Factory) -> str | None:
    """A refusal is kept in the trace, with its code and the revision it met."""
    store = _running(make)
    _refused(store, "illegal_transition", "run_started")
    if not store.trace.refused:
        return "no refusal in the trace"
    last = store.trace[-1]
    return _unless(
        last.refusal is not None and last.refusal.code == "illegal_transition", f"{last}"
    )


def _silent_to_strangers(make: Factory) -> str | None:
    """A stranger with a wrong revision is refused as a stranger."""
    return _refused(
        _running(make), "writer_rejected", "run_completed", source="model:planner", at=7
    )


def _old_states_stay(make: Factory) -> str | None:
    """A state that was handed out does not change afterwards."""
    store = make(_run_7())
    before = store.load()
    _offer(store, "run_started")
    return _unless(before.revision == 0, f"the old state now says revision {before.revision}")


def _trace_explains(make: Factory) -> str | None:
    """Folding the accepted events gives the state."""
    store = _with_result(make)
    folded = replay(_run_7(), store.trace.accepted)
    return _unless(
        folded == store.load(), f"revision {folded.revision} instead of {store.load().revision}"
    )


CLAUSES = tuple(
    Clause(name, (shows.__doc__ or "").strip(), shows)
    for name, shows in {
        "a_new_store_holds_the_state_it_was_given": _new_store,
        "an_accepted_event_adds_one_revision": _one_revision,
        "what_apply_returns_is_kept": _what_is_returned_is_kept,
        "a_stale_revision_is_refused": _stale,
        "a_revision_from_the_future_is_refused": _future,
        "no_acknowledged_fact_is_lost": _nothing_lost,
        "a_wrong_authority_is_refused": _wrong_authority,
        "a_wrong_source_is_refused": _wrong_source,
        "a_context_typed_by_hand_is_refused": _typed_context,
        "a_context_of_another_store_is_refused": _foreign_context,
        "an_unknown_event_is_refused": _unknown,
        "a_terminal_run_never_restarts": _terminal_stays,
        "a_run_completes_once": _completed_once,
        "completion_needs_the_facts_of_the_goal": _goal,
        "only_facts_of_tools_count": _facts_of_tools,
        "no_completion_while_a_call_is_open": _open_call,
        "a_result_is_accepted_once": _result_once,
        "a_failed_run_names_its_reason": _reason,
        "a_refusal_changes_nothing": _refusal_changes_nothing,
        "a_refusal_is_kept_with_its_code": _refusal_is_kept,
        "a_stranger_learns_nothing": _silent_to_strangers,
        "a_state_handed_out_stays_as_it_was": _old_states_stay,
        "the_trace_explains_the_state": _trace_explains,
    }.items()
)


def _run_7() -> RunState:
    # A new value each time: a store that changes states in place must not
    # spoil the next clause.
    return RunState("run-7", goal="ship release 7", success=("build=green",))


def _running(make: Factory) -> StateStore:
    store = make(_run_7())
    _offer(store, "run_started")
    return store


def _with_result(make: Factory) -> StateStore:
    store = _running(make)
    _dispatch(store, "c1")
    _offer(store, "tool_result_recorded", "build=green", "tool:get_status", call_id="c1")
    return store


def _dispatch(store: StateStore, call_id: str) -> RunState:
    return _offer(store, "tool_dispatched", ToolCall(call_id, "get_status"))


def _offer(
    store: StateStore,
    kind: str,
    value: str | ToolCall | Callback = "",
    source: str = "runtime",
    *,
    at: int | None = None,
    call_id: str | None = None,
) -> RunState:
    expected = store.load().revision if at is None else at
    context = store.context(source, WRITERS[source], call_id=call_id)
    return store.apply(StateProposal(kind, value, expected), context=context)


def _refused(
    store: StateStore,
    code: str,
    kind: str,
    value: str | ToolCall = "",
    source: str = "runtime",
    *,
    at: int | None = None,
    call_id: str | None = None,
) -> str | None:
    try:
        _offer(store, kind, value, source, at=at, call_id=call_id)
    except Refusal as refusal:
        return _unless(refusal.code == code, f"refused as {refusal.code}, not {code}")
    return f"{kind} accepted"


def _refused_with(
    store: StateStore, code: str, proposal: StateProposal, context: ExecutionContext
) -> str | None:
    try:
        store.apply(proposal, context=context)
    except Refusal as refusal:
        return _unless(refusal.code == code, f"refused as {refusal.code}, not {code}")
    return f"{proposal.kind} accepted"


def _unless(held: bool, found: str) -> str | None:
    return None if held else found
