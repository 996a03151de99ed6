"""Exact counts of orders, and what each store does in them."""

from __future__ import annotations

from collections.abc import Generator
from math import comb

import pytest

from runstate_lab.broken import LastWriteWinsStore, NaiveStore
from runstate_lab.errors import Malformed
from runstate_lab.exploration import Exploration
from runstate_lab.laws import no_decision_on_old_facts, no_lost_update
from runstate_lab.model import RunState
from runstate_lab.orders import explore, play
from runstate_lab.store import StateStore
from runstate_lab.worlds import run_7_at_revision_4, two_reporters

BOTH = (no_lost_update, no_decision_on_old_facts)


def steps(count: int) -> object:
    """A worker of that many steps that does nothing."""

    def worker(store: StateStore) -> Generator[None, None, None]:
        for _ in range(count - 1):
            yield

    return worker


def idle_store() -> StateStore:
    """A fresh store that nobody writes to."""
    return StateStore(RunState("run-7"))


@pytest.mark.parametrize(
    ("sizes", "schedules"),
    [
        ((1,), 1),
        ((2, 2), 6),
        ((3, 3), 20),
        ((1, 4), 5),
        ((6, 6), 924),
        ((2, 2, 2), 90),
        ((3, 3, 3), 1680),
    ],
)
def test_the_number_of_orders_is_exact(sizes: tuple[int, ...], schedules: int) -> None:
    """The multinomial of the workers' steps; three workers show a skipped branch."""
    workers = {name: steps(size) for name, size in zip("ABC", sizes, strict=False)}

    assert schedules == explore(workers, store=idle_store).schedules
    if len(sizes) == 2:
        assert schedules == comb(sum(sizes), sizes[0])


@pytest.mark.parametrize(
    ("store", "lost", "old", "conflicts"),
    [(NaiveStore, 18, 18, 0), (LastWriteWinsStore, 0, 18, 0), (StateStore, 0, 0, 18)],
)
def test_two_reporters_on_three_stores(
    store: type[StateStore], lost: int, old: int, conflicts: int
) -> None:
    """Lost in 18 of 20, decided on old facts in 18, or refused in the same 18."""
    found = explore(two_reporters(), store=lambda: store(run_7_at_revision_4()), invariants=BOTH)

    assert (20, lost, old) == (
        found.schedules,
        found.broken["no_lost_update"],
        found.broken["no_decision_on_old_facts"],
    )
    assert conflicts == found.refused.get("revision_conflict", 0)


def test_the_orders_that_lose_are_the_orders_that_conflict() -> None:
    """Schedule by schedule: what the naive store loses, compare-and-swap refuses."""
    agree = 0
    for schedule in every_schedule():
        naive = play(schedule, two_reporters(), store=NaiveStore(run_7_at_revision_4()))
        right = play(schedule, two_reporters(), store=StateStore(run_7_at_revision_4()))
        agree += no_lost_update(naive) == (not right.refusals)

    assert 20 == agree


def every_schedule() -> list[str]:
    """Every text of three A and three B, made without the kit."""
    from itertools import permutations

    return sorted(set(map("".join, permutations("AAABBB"))))


def test_a_token_shows_the_fault_when_it_is_played_again() -> None:
    """The schedule that is handed out breaks the invariant it stands for."""
    found = explored(NaiveStore)
    race = play(
        found.tokens["no_lost_update"], two_reporters(), store=NaiveStore(run_7_at_revision_4())
    )

    assert not no_lost_update(race)
    assert "AABBBA" == found.shortest["no_lost_update"] == race.schedule


def explored(store: type[StateStore]) -> Exploration:
    """Every order of the two reporters on one kind of store."""
    return explore(two_reporters(), store=lambda: store(run_7_at_revision_4()), invariants=BOTH)


def test_outcomes_are_grouped_by_final_state() -> None:
    """Their counts add up to the number of orders."""
    outcomes = explored(NaiveStore).outcomes

    assert 20 == sum(outcome.count for outcome in outcomes)
    assert [9, 9, 1, 1] == [outcome.count for outcome in outcomes]


def test_a_refused_worker_takes_no_further_step() -> None:
    """A refusal ends its worker; asking for another step says who is left."""
    race = play("AABBBA", two_reporters(), store=StateStore(run_7_at_revision_4()))

    assert ["A"] == list(race.refusals)
    with pytest.raises(Malformed, match="none"):
        race.step("A")


@pytest.mark.parametrize("names", [(), ("",), ("AB",)])
def test_workers_are_named_by_one_letter(names: tuple[str, ...]) -> None:
    """A schedule is text with one letter a step, so a name is one letter."""
    with pytest.raises(Malformed):
        play("", {name: steps(1) for name in names}, store=idle_store())
