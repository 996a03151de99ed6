"""Good stores hold every clause; each broken store fails exactly its own."""

from __future__ import annotations

import pytest

from runstate_lab.broken import BROKEN, AnyReasonStore
from runstate_lab.conformance import CLAUSES, audit
from runstate_lab.errors import Malformed
from runstate_lab.model import RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

FAILS = {
    "NaiveStore": {"a_stale_revision_is_refused", "no_acknowledged_fact_is_lost"},
    "LastWriteWinsStore": {
        "a_stale_revision_is_refused",
        "a_revision_from_the_future_is_refused",
    },
    "NoAuthorityStore": {
        "a_wrong_authority_is_refused",
        "a_wrong_source_is_refused",
        "a_stranger_learns_nothing",
    },
    "NoSourceStore": {"a_wrong_source_is_refused"},
    "OpenDoorStore": {
        "a_context_typed_by_hand_is_refused",
        "a_context_of_another_store_is_refused",
    },
    "TalkativeStore": {"a_stranger_learns_nothing"},
    "OffByOneStore": {
        "a_new_store_holds_the_state_it_was_given",
        "an_accepted_event_adds_one_revision",
        "a_state_handed_out_stays_as_it_was",
        "the_trace_explains_the_state",
    },
    "RestartableStore": {"a_terminal_run_never_restarts"},
    "TwiceCompletedStore": {"a_run_completes_once"},
    "AnyReasonStore": {"a_failed_run_names_its_reason"},
    "PendingBlindStore": {"no_completion_while_a_call_is_open"},
    "FreeTextStore": {"completion_needs_the_facts_of_the_goal", "only_facts_of_tools_count"},
    "HandwrittenFactStore": {"only_facts_of_tools_count"},
    "RepeatingStore": {"a_result_is_accepted_once"},
    "ForgivingStore": {"an_unknown_event_is_refused"},
    "ForgetfulStore": {"a_refusal_is_kept_with_its_code"},
    "SecretiveStore": {"the_trace_explains_the_state"},
    "UnsavedStore": {
        "an_accepted_event_adds_one_revision",
        "what_apply_returns_is_kept",
        "a_stale_revision_is_refused",
        "no_acknowledged_fact_is_lost",
        "a_wrong_authority_is_refused",
        "a_terminal_run_never_restarts",
        "a_run_completes_once",
        "completion_needs_the_facts_of_the_goal",
        "only_facts_of_tools_count",
        "no_completion_while_a_call_is_open",
        "a_result_is_accepted_once",
        "a_failed_run_names_its_reason",
        "a_refusal_is_kept_with_its_code",
        "the_trace_explains_the_state",
    },
    "JumpyStore": {"a_refusal_changes_nothing"},
    "LiveStateStore": {"a_state_handed_out_stays_as_it_was"},
}


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_the_right_store_holds(clause: object) -> None:
    """One clause, one promise of StateStore."""
    assert clause.shows(StateStore) is None


@pytest.mark.parametrize("store", BROKEN, ids=lambda store: store.__name__)
def test_a_broken_store_fails_exactly_what_it_is_known_for(store: type[StateStore]) -> None:
    """The handwritten set of clauses: none more, none fewer."""
    assert FAILS[store.__name__] == set(audit(store).failed)


def test_every_clause_is_failed_by_some_broken_store() -> None:
    """A clause that nothing can fail would prove nothing."""
    assert {clause.name for clause in CLAUSES} == set().union(*FAILS.values())


def test_every_broken_store_is_declared() -> None:
    """Twenty named faults, each with its own declaration."""
    assert 20 == len(BROKEN)
    assert {store.__name__ for store in BROKEN} == set(FAILS)


def test_every_clause_says_one_sentence() -> None:
    """What a report prints is a sentence of its own for each clause."""
    says = [clause.says for clause in CLAUSES]

    assert len(says) == len(set(says))
    assert all(one.endswith(".") and "\n" not in one for one in says)


def test_an_audit_survives_whatever_a_store_raises() -> None:
    """A store that cannot even be made fails all clauses, with the reason."""

    def broken(state: object) -> StateStore:
        raise ZeroDivisionError("no store today")

    report = audit(broken)

    assert len(CLAUSES) == len(report.failed)
    assert {"ZeroDivisionError: no store today"} == {one.found for one in report.verdicts}


def test_an_audit_of_nothing_is_refused() -> None:
    """No clause is not all clauses."""
    with pytest.raises(Malformed, match="one clause or more"):
        audit(StateStore, clauses=())


@pytest.mark.parametrize("clauses", [[], [CLAUSES[0]], "stores", 7, ("a_run_completes_once",)])
def test_clauses_are_a_tuple_of_clauses(clauses: object) -> None:
    """A name of a clause is not the clause."""
    with pytest.raises(Malformed, match="one clause or more"):
        audit(StateStore, clauses=clauses)


@pytest.mark.parametrize("make", [None, "StateStore", StateStore(RunState("run-7"))])
def test_what_is_audited_can_make_a_store(make: object) -> None:
    """A store that was made already is not a factory."""
    with pytest.raises(Malformed, match="a class or a factory"):
        audit(make)


class Mute(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (Mute(), "Mute"),
        (ValueError(""), "ValueError: "),
        (ValueError("one\ntwo"), "ValueError: one"),
    ],
)
def test_an_exit_or_a_mute_error_is_a_clause_that_did_not_hold(
    error: BaseException, found: str
) -> None:
    """From the factory and from a method."""

    def make(state: RunState) -> StateStore:
        raise error

    class Leaving(StateStore):
        def load(self) -> RunState:
            raise error

    assert {found} == {one.found for one in audit(make).verdicts}
    assert found == audit(Leaving, clauses=CLAUSES[:1]).verdicts[0].found


def test_an_interrupt_leaves_the_audit() -> None:
    """It is the reader's own wish, not the store's answer."""

    def make(state: RunState) -> StateStore:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(make)


ONE = StateStore(RunState("run-7", goal="ship release 7", success=("build=green",)))


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda state: None, "found None"),
        (lambda state: StateStore, "found the class StateStore, not one of its objects"),
        (lambda state: ONE, "found the same StateStore again"),
    ],
)
def test_a_factory_that_makes_no_new_store_is_told_so(make: object, found: str) -> None:
    """The report says what came, not what happened then."""
    report = audit(make)

    assert report.verdicts[-1].found.endswith(found)
    assert len(report.failed) >= len(CLAUSES) - 1


@pytest.mark.parametrize("reason", ["", "bad luck", "tool_error", "timeout"])
def test_a_store_that_asks_for_no_reason_keeps_the_one_it_is_given(reason: str) -> None:
    """Failed or cancelled, with whatever words came along, a good reason too."""
    for kind in ("run_failed", "run_cancelled"):
        runtime = Runtime(AnyReasonStore(RunState("run-7")))
        runtime.accept_runtime(StateProposal("run_started", "", 0))

        assert reason == runtime.accept_runtime(StateProposal(kind, reason, 1)).stop_reason
