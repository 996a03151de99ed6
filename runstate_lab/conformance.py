"""Floor 3. The store's promises as named clauses, and an audit of any store.

A clause is one promise and one short run that would show it broken. Every
good store holds them all; every store of `broken` fails exactly those that
it is known for. Audit your own with `audit(MyStore)`.

What is not here: pictures of the report, and grading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runstate_lab.errors import Malformed, Refusal, RevisionConflict, words_of
from runstate_lab.model import (
    Value,
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
AUTHORITIES = {"tool": "tool_executor"}


@dataclass(frozen=True, slots=True)
class Clause:
    """One promise: its name, what it says, and the run that shows it.

    `shows` gives None when the promise held, else what was found.

    >>> CLAUSES[0].name
    'a_new_store_holds_the_state_it_was_given'
    """

    name: str
    says: str
    shows: Callable[..., str | None]


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


def audit(make: Callable[..., object], *, clauses: tuple[Clause, ...] | None = None) -> Report:
    """What a class, or any factory, promises and keeps.

    Without `clauses` it is held to the promises of a store; see `promises`
    for those of ledgers, approvals, runtimes, drivers, schedulers and
    checkpoint stores. Whatever a class raises is a clause that did not hold,
    SystemExit too; KeyboardInterrupt is yours and leaves.

    >>> class Deaf(StateStore):
    ...     def _keep(self, entry):
    ...         return super()._keep(entry) if entry.accepted else None
    >>> print(audit(Deaf))
    1 of 23 clauses did not hold
      a_refusal_is_kept_with_its_code: no refusal in the trace
    """
    asked = CLAUSES if clauses is None else clauses
    if type(asked) is not tuple or not asked or any(type(one) is not Clause for one in asked):
        found = "none" if asked == () else f"a {type(asked).__name__} without clauses"
        raise Malformed("an audit of one clause or more, as a tuple", found)
    if not callable(make):
        raise Malformed("a class or a factory to audit", f"a {type(make).__name__}")
    anew = _anew(make)
    return Report(tuple(_verdict(clause, anew) for clause in asked))


def _anew(make: Callable[..., object]) -> Callable[..., object]:
    # The factory, held to what every clause relies on: a subject, and each time another one.
    made: list[object] = []

    def anew(*given: object, **options: object) -> object:
        one = make(*given, **options)
        if one is None or isinstance(one, type):
            found = "None" if one is None else f"the class {one.__name__}, not one of its objects"
            raise Malformed("the factory for a subject to audit", found)
        if any(before is one for before in made):
            raise Malformed("the factory for a new subject", f"the same {type(one).__name__} again")
        made.append(one)
        return one

    return anew


def _verdict(clause: Clause, make: Callable[..., object]) -> Verdict:
    try:
        found = clause.shows(make)
    except (Exception, SystemExit) as error:  # A learner's store may raise anything.
        found = (words_of(error).splitlines() or [type(error).__name__])[0]
    return Verdict(clause.name, found is None, found or "")


def _new_store(make: Factory) -> str | None:
    """A new store holds the state it was given."""
    return unless(make(_run_7()).load() == _run_7(), "another state")


def _one_revision(make: Factory) -> str | None:
    """An accepted event adds exactly one revision."""
    store = make(_run_7())
    seen = [offer(store, "run_started").revision, _dispatch(store, "c1").revision]
    return unless(seen == [1, 2], f"revisions {seen}")


def _what_is_returned_is_kept(make: Factory) -> str | None:
    """What apply returns is what load returns."""
    store = make(_run_7())
    after = offer(store, "run_started")
    return unless(store.load() == after, f"revision {store.load().revision} kept")


def _stale(make: Factory) -> str | None:
    """A stale revision is refused as a revision conflict."""
    store = running(make)
    _dispatch(store, "c1")
    return refused(store, "revision_conflict", "tool_dispatched", ToolCall("c2", "scan"), at=1)


def _future(make: Factory) -> str | None:
    """A revision from the future is refused as a revision conflict."""
    store = running(make)
    return refused(store, "revision_conflict", "tool_dispatched", ToolCall("c1", "scan"), at=9)


def _nothing_lost(make: Factory) -> str | None:
    """No acknowledged fact is lost when two results carry one revision."""
    store = running(make)
    _dispatch(store, "c1")
    _dispatch(store, "c2")
    acknowledged = 0
    for call_id, value in (("c1", "build=green"), ("c2", "tests=green")):
        try:
            offer(store, "tool_result_recorded", value, "tool:get_status", at=3, call_id=call_id)
            acknowledged += 1
        except RevisionConflict:
            continue
    held = len(store.load().facts)
    return unless(held == acknowledged, f"{acknowledged} facts acknowledged, {held} in the state")


def _wrong_authority(make: Factory) -> str | None:
    """The right revision with the wrong authority is refused."""
    store = _with_result(make)
    context = store.context("runtime", "model")
    proposal = StateProposal("run_completed", "", store.load().revision)
    return _refused_with(store, "writer_rejected", proposal, context)


def _wrong_source(make: Factory) -> str | None:
    """The right authority with the wrong source is refused."""
    store = running(make)
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
    return refused(make(_run_7()), "unknown_event", "run_paused")


def _terminal_stays(make: Factory) -> str | None:
    """A terminal run never starts again."""
    store = make(_run_7())
    offer(store, "run_cancelled", "not today")
    return refused(store, "illegal_transition", "run_started")


def _completed_once(make: Factory) -> str | None:
    """A run completes only once."""
    store = _with_result(make)
    offer(store, "run_completed")
    return refused(store, "illegal_transition", "run_completed")


def _goal(make: Factory) -> str | None:
    """No completion without the facts of the goal."""
    return refused(running(make), "success_not_met", "run_completed", "the build is green, done")


def _facts_of_tools(make: Factory) -> str | None:
    """Only facts from tools count for the goal."""
    typed = Fact("build", "green", source="model:planner", authority="model")
    store = make(RunState("run-7", success=("build=green",), facts=(typed,)))
    offer(store, "run_started")
    return refused(store, "success_not_met", "run_completed")


def _open_call(make: Factory) -> str | None:
    """No completion while a call is open."""
    store = _with_result(make)
    _dispatch(store, "c2")
    return refused(store, "still_pending", "run_completed")


def _result_once(make: Factory) -> str | None:
    """The result of one call is accepted once."""
    store = _with_result(make)
    source = "tool:get_status"
    return refused(
        store, "call_repeated", "tool_result_recorded", "build=red", source, call_id="c1"
    )


def _reason(make: Factory) -> str | None:
    """A failed run names one of the reasons for failing."""
    return refused(running(make), "reason_missing", "run_failed", "because")


def _refusal_changes_nothing(make: Factory) -> str | None:
    """A refusal leaves the state as it was."""
    store = running(make)
    before = (store.load().status, store.load().revision)
    refused(store, "illegal_transition", "run_started")
    after = (store.load().status, store.load().revision)
    return unless(before == after, f"{before[0]} {before[1]} became {after[0]} {after[1]}")


def _refusal_is_kept(make: Factory) -> str | None:
    """A refusal is kept in the trace, with its code and the revision it met."""
    store = running(make)
    refused(store, "illegal_transition", "run_started")
    if not store.trace.refused:
        return "no refusal in the trace"
    last = store.trace[-1]
    return unless(last.refusal is not None and last.refusal.code == "illegal_transition", f"{last}")


def _silent_to_strangers(make: Factory) -> str | None:
    """A stranger with a wrong revision is refused as a stranger."""
    return refused(running(make), "writer_rejected", "run_completed", source="model:planner", at=7)


def _old_states_stay(make: Factory) -> str | None:
    """A state that was handed out does not change afterwards."""
    store = make(_run_7())
    before = store.load()
    offer(store, "run_started")
    return unless(before.revision == 0, f"the old state now says revision {before.revision}")


def _trace_explains(make: Factory) -> str | None:
    """Folding the accepted events gives the state."""
    store = _with_result(make)
    folded = replay(_run_7(), store.trace.accepted)
    return unless(
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


def running(make: Factory, state: RunState | None = None) -> StateStore:
    """A fresh store whose run was started.

    >>> print(running(StateStore).load().status)
    running
    """
    store = make(state or _run_7())
    offer(store, "run_started")
    return store


def _with_result(make: Factory) -> StateStore:
    store = running(make)
    _dispatch(store, "c1")
    offer(store, "tool_result_recorded", "build=green", "tool:get_status", call_id="c1")
    return store


def _dispatch(store: StateStore, call_id: str) -> RunState:
    return offer(store, "tool_dispatched", ToolCall(call_id, "get_status"))


def offer(
    store: StateStore,
    kind: str,
    value: Value = "",
    source: str = "runtime",
    *,
    at: int | None = None,
    call_id: str | None = None,
) -> RunState:
    """What a store makes of a proposal that comes through its source's own door.

    >>> offer(StateStore(RunState("run-7")), "run_started").revision
    1
    """
    role = source.partition(":")[0]
    expected = store.load().revision if at is None else at
    context = store.context(source, AUTHORITIES.get(role, role), call_id=call_id)
    return store.apply(StateProposal(kind, value, expected), context=context)


def refused(
    store: StateStore,
    code: str,
    kind: str,
    value: Value = "",
    source: str = "runtime",
    *,
    at: int | None = None,
    call_id: str | None = None,
) -> str | None:
    """None when the proposal is refused with that code, else what happened.

    >>> refused(StateStore(RunState("run-7")), "unknown_event", "run_started")
    'run_started accepted'
    """
    found = named(lambda: offer(store, kind, value, source, at=at, call_id=call_id), code)
    return f"{kind} {found}" if found else None


def named(attempt: Callable[[], object], code: str) -> str | None:
    """None when an attempt is refused with that code, else what happened.

    >>> named(lambda: offer(StateStore(RunState("run-7")), "run_paused"), "malformed")
    'refused as unknown_event, not malformed'
    """
    try:
        attempt()
    except Refusal as refusal:
        return unless(refusal.code == code, f"refused as {refusal.code}, not {code}")
    return "accepted"


def unless(held: bool, found: str) -> str | None:
    """None when a promise held, else what was found.

    >>> unless(False, "two facts"), unless(True, "two facts")
    ('two facts', None)
    """
    return None if held else found


def _refused_with(
    store: StateStore, code: str, proposal: StateProposal, context: ExecutionContext
) -> str | None:
    return named(lambda: store.apply(proposal, context=context), code)
