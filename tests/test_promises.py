"""Right ledgers, desks, runtimes, drivers, schedulers and checkpoints hold; broken ones do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from runstate_lab.brokenledgers import BROKEN_DESKS, BROKEN_LEDGERS
from runstate_lab.brokenloops import (
    BROKEN_CHECKPOINTS,
    BROKEN_DRIVERS,
    BROKEN_RUNTIMES,
    BROKEN_SCHEDULERS,
)
from runstate_lab.checkpoint import FileCheckpointStore
from runstate_lab.conformance import audit
from runstate_lab.driver import Driver
from runstate_lab.model import RunState
from runstate_lab.promises import PROMISES
from runstate_lab.runtime import Runtime
from runstate_lab.scheduler import Scheduler
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore

RIGHT = {
    "ledgers": StateStore,
    "approvals": StateStore,
    "runtimes": Runtime,
    "drivers": Driver,
    "schedulers": Scheduler,
    "checkpoints": FileCheckpointStore,
}
BROKEN = {
    "ledgers": BROKEN_LEDGERS,
    "approvals": BROKEN_DESKS,
    "runtimes": BROKEN_RUNTIMES,
    "drivers": BROKEN_DRIVERS,
    "schedulers": BROKEN_SCHEDULERS,
    "checkpoints": BROKEN_CHECKPOINTS,
}
FAILS = {
    "PairedByNameStore": "a_result_is_bound_to_its_call_id",
    "RepeatingStore": "a_second_result_is_refused",
    "AnyToolStore": "a_result_of_another_tool_is_refused",
    "EagerLedgerStore": "a_proposed_call_has_no_result",
    "LateLedgerStore": "a_late_result_is_refused",
    "ForgivenUnknownStore": "an_unknown_outcome_forbids_completion",
    "SilenceIsFailureStore": "an_unknown_outcome_forbids_completion "
    "an_unknown_outcome_is_not_a_failure an_unknown_call_is_not_retried_blindly",
    "BlindRetryStore": "an_unknown_call_is_not_retried_blindly",
    "ErasedErrorStore": "the_first_error_stays",
    "OpenBooksStore": "an_ended_run_accounts_for_its_calls",
    "AnyApproverStore": "a_stranger_cannot_answer an_answer_about_another_run_is_refused",
    "MisboundDeskStore": "a_misbound_answer_is_refused",
    "StaleDeskStore": "a_stale_answer_is_refused",
    "TimelessDeskStore": "an_expired_answer_is_refused",
    "NervousDeskStore": "an_unrelated_commit_is_not_staleness",
    "AlwaysOpenDeskStore": "a_stranger_cannot_answer an_answer_about_another_run_is_refused "
    "a_misbound_answer_is_refused a_stale_answer_is_refused an_expired_answer_is_refused "
    "a_repeated_answer_is_refused resume_needs_waiting",
    "NoGateStore": "a_gated_call_needs_its_approval an_approval_opens_the_gate_once",
    "StickyGrantStore": "an_approval_opens_the_gate_once",
    "OneVoiceRuntime": "each_door_stamps_its_own_writer",
    "TrustingRuntime": "a_name_cannot_pose_as_a_source",
    "TimelessRuntime": "every_event_carries_tick_and_reign",
    "NamelessUserRuntime": "a_user_stays_the_source_of_a_wish",
    "EffectFirstDriver": "the_intent_is_committed_before_the_effect",
    "SilenceIsFailureDriver": "a_tools_silence_is_unknown",
    "AllOrNothingDriver": "a_failing_sibling_loses_nothing",
    "AmnesiacDriver": "an_unkeyed_call_is_never_repeated_after_a_death",
    "CredulousDriver": "words_complete_nothing",
    "UnleasedDriver": "a_run_has_one_driver",
    "HastyScheduler": "a_node_waits_for_its_needs a_node_is_taken_once "
    "a_failed_node_blocks_its_dependents",
    "GrabbingScheduler": "a_node_is_taken_once",
    "FencedByNameScheduler": "a_late_attempt_is_fenced",
    "CarefreeScheduler": "a_failed_node_blocks_its_dependents",
    "GreedyScheduler": "the_limit_is_kept",
    "FirstComeScheduler": "the_order_of_arrival_plays_no_part",
    "OverwritingCheckpoints": "a_name_means_one_state",
    "AnonymousCheckpoints": "a_restored_fact_names_its_checkpoint",
    "ForgetfulCheckpoints": "what_was_saved_is_loaded a_torn_checkpoint_is_refused",
    "LenientCheckpoints": "a_torn_checkpoint_is_refused",
}
CLAUSES = [(of, clause) for of, clauses in PROMISES.items() if of != "stores" for clause in clauses]
SUBJECTS = [(of, subject) for of, subjects in BROKEN.items() for subject in subjects]


@pytest.mark.parametrize(("of", "clause"), CLAUSES, ids=lambda one: getattr(one, "name", one))
def test_the_right_one_holds(of: str, clause: object) -> None:
    """One clause, one promise."""
    assert clause.shows(RIGHT[of]) is None


@pytest.mark.parametrize("of", ["stores", "ledgers", "approvals"])
def test_the_durable_store_makes_the_same_promises(of: str, tmp_path: Path) -> None:
    """Every clause of a store, of a ledger and of a desk, on files."""
    numbers = itertools.count()

    def make(state: RunState) -> StateStore:
        return SqliteStateStore(tmp_path / f"{next(numbers)}.sqlite", state, durable="normal")

    assert () == audit(make, clauses=PROMISES[of]).failed


@pytest.mark.parametrize(("of", "subject"), SUBJECTS, ids=lambda one: getattr(one, "__name__", one))
def test_a_broken_one_fails_exactly_what_it_is_known_for(
    of: str, subject: Callable[..., object]
) -> None:
    """The handwritten set of clauses: none more, none fewer."""
    assert set(FAILS[subject.__name__].split()) == set(audit(subject, clauses=PROMISES[of]).failed)


def test_every_clause_is_failed_by_something_broken() -> None:
    """A clause that nothing can fail would prove nothing."""
    failed = set(" ".join(FAILS.values()).split())

    assert {clause.name for _, clause in CLAUSES} == failed


def test_every_broken_subject_is_declared() -> None:
    """Thirty-eight faults beside those of the stores."""
    assert {subject.__name__ for _, subject in SUBJECTS} == set(FAILS)
    assert 38 == len(FAILS)
