"""Exact counts of orders, and what each store does in them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from math import comb

import pytest

from runstate_lab.broken import LastWriteWinsStore, NaiveStore
from runstate_lab.errors import OrderRefused, TokenRefused
from runstate_lab.exploration import Exploration
from runstate_lab.laws import no_decision_on_old_facts, no_lost_update
from runstate_lab.model import RunState
from runstate_lab.orders import explore, explore_world, play
from runstate_lab.store import StateStore
from runstate_lab.tables import Act, Table
from runstate_lab.variants import World
from runstate_lab.worlds import WORLDS, run_7_at_revision_4, two_reporters

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
        pytest.param((9, 9), 48_620, marks=pytest.mark.slow),
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
    with pytest.raises(OrderRefused, match="none"):
        race.step("A")


@pytest.mark.parametrize("names", [(), ("",), ("AB",)])
def test_workers_are_named_by_one_letter(names: tuple[str, ...]) -> None:
    """A schedule is text with one letter a step, so a name is one letter."""
    with pytest.raises(OrderRefused, match="workers named by one capital letter each"):
        play("", {name: steps(1) for name in names}, store=idle_store())


ADD = {"A": Table((Act("add", lambda shared, own: (shared + 1, own)),))}
TOKEN = "two_writers/naive/AABBBA-286f-16f5-38"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: explore(None, store=idle_store), "capital letter each, found None"),
        (lambda: explore([], store=idle_store), r"capital letter each, found \[\], a list"),
        (lambda: explore({}, store=idle_store), r"capital letter each, found \[\]"),
        (lambda: explore([steps(1)], store=idle_store), "capital letter each, found .* a list"),
        (lambda: explore("AB", store=idle_store), "capital letter each, found 'AB', a str"),
        (lambda: explore(5, store=idle_store), "capital letter each, found 5, an int"),
        (lambda: explore({"A": 5}, store=idle_store), "worker A to be a func.* found 5, an int"),
        (lambda: explore({"A": steps(1), "B": ADD["A"]}, store=idle_store), "all code or all tab"),
        (lambda: explore({"A": steps(1)}, store=idle_store()), "store to be a factory"),
        (lambda: explore({"A": steps(1)}, store=None), "store to be a factory.* found None"),
        (lambda: explore(ADD, store=0), "store to be a factory.* found 0, an int"),
        (lambda: one_worker(faults=None), "faults as a text of their marks, found None"),
        (lambda: one_worker(faults=0), "faults as a text of their marks, found 0, an int"),
        (lambda: one_worker(faults=True), "faults as a text of their marks, found True, a bool"),
        (lambda: one_worker(faults="x"), "the faults 'x', found only"),
        (lambda: one_worker(most="x"), "most to be a whole number from 1, found 'x', a str"),
        (lambda: one_worker(most=-1), "most to be a whole number from 1, found -1, an int"),
        (lambda: one_worker(most=0), "most to be a whole number from 1, found 0, an int"),
        (lambda: one_worker(most=True), "most to be a whole number from 1, found True, a bool"),
        (lambda: explore(ADD, store=int, most=-1), "most to be a whole number from 1, found -1"),
        (lambda: explore(ADD, store=int, most="x"), "most to be a whole number from 1, found 'x'"),
        (lambda: one_worker(invariants=None), "invariants to be a tuple of functions, found None"),
        (lambda: one_worker(at_end=no_lost_update), "at_end to be a tuple of .*, found <func"),
        (lambda: one_worker(invariants=(5,)), r"invariants to be a tuple of .*, found \(5,\)"),
        (lambda: play("AB", [steps(1)], store=idle_store()), "capital letter each, .* a list"),
        (lambda: play("A", {"A": steps(1)}, store=5), "a store to play on, found 5, an int"),
        (lambda: play("A", {"A": steps(1)}, store=NaiveStore), "factory NaiveStore, found TypeE"),
        (lambda: explore_world(7), "the world 7, found two_writers"),
        (lambda: explore_world(None), "the world None, found two_writers"),
        (lambda: explore_world(["two_writers"]), "the world .'two_writers'., found two_writers"),
        (lambda: explore_world("two_writers", 7), "the variant 7 of two_writers, found compare"),
        (lambda: explore_world("two_writers", ["naive"]), "the variant .'naive'. of two_writers"),
        (lambda: explore_world("two_writers", store=5), "store to be a class, .* 5, an int"),
    ],
)
def test_a_wrong_argument_is_refused_in_words(wrong: Callable[[], object], words: str) -> None:
    """Never raw: what was asked, what was found, and a hint about workers and orders."""
    with pytest.raises(OrderRefused, match=words):
        wrong()


def one_worker(**asked: object) -> Exploration:
    """An exploration with an argument of the test's own."""
    return explore({"A": steps(1)}, store=idle_store, **asked)


@pytest.mark.parametrize(
    ("order", "workers", "store", "reason"),
    [
        (TOKEN, None, NaiveStore(run_7_at_revision_4()), "brings its own store: leave `store` out"),
        (TOKEN, None, 7, "brings its own store: leave `store` out"),
        ("AABBBA", None, idle_store, "workers are missing"),
        ("AABBBA", two_reporters(), None, "a store is missing"),
        (TOKEN, two_reporters(), None, "a store is missing"),
        ("AABBBA", None, None, "the order names no world"),
        ("two_writers/naive/AABBBA", None, None, "the end of the token is missing"),
        (TOKEN[:-1], None, None, "the end of the token is missing"),
        (TOKEN[:-3], None, None, "the end of the token is missing"),
        ("AABBBA-286f", None, None, "the end of the token is missing"),
        ("two_writers/naive/", None, None, "the end of the token is missing"),
        ("two_writers", None, None, "the order names no world"),
        ("what/is-this", None, None, "this is no token"),
    ],
)
def test_what_is_missing_has_its_own_reason(
    order: str, workers: object, store: object, reason: str
) -> None:
    """Nothing that was given is ignored, and nothing that is missing is guessed."""
    with pytest.raises(TokenRefused) as caught:
        play(order, workers, store=store)

    assert reason in caught.value.reason


def test_play_takes_the_factory_that_explore_takes() -> None:
    """A function or a class is called, for code and for tables; a store is used as it is."""

    def make() -> StateStore:
        return NaiveStore(run_7_at_revision_4())

    token = explore(two_reporters(), store=make, invariants=BOTH).tokens["no_lost_update"]
    added = explore(ADD, store=int, at_end=(not_one,)).tokens["not_one"]

    assert "AABBBA" == play(token, two_reporters(), store=make).schedule
    assert "AABBBA" == play(token, two_reporters(), store=make()).schedule
    assert 1 == play(added, ADD, store=int).shared == play(added, ADD, store=0).shared


def not_one(place: object) -> bool:
    """The shared value is not 1."""
    return place.shared != 1


def test_a_world_is_explored_as_it_is() -> None:
    """A world of the kit counts as its name does; one of your own has tokens without a home."""
    one = WORLDS["two_writers"]
    parts = {name: getattr(one, name) for name in World.__dataclass_fields__}
    found = explore_world(World(**{**parts, "name": "mine"}), "naive")

    assert explore_world("two_writers", "naive") == explore_world(one, "naive")
    assert "AABBBA" == found.tokens["no_lost_update"].partition("-")[0]
    assert explore_world("two_writers", "naive").broken == found.broken


RUNS = [0]


def tiring(last: int) -> dict[str, object]:
    """Two workers; from one run on, the first of them fails."""
    RUNS[0] = 0

    def worker(store: StateStore) -> Generator[None, None, None]:
        RUNS[0] += 1
        mine = RUNS[0]
        store.load()
        yield
        if mine > last:
            raise KeyError(mine)

    return {"A": worker, "B": steps(2)}


def never_b_last(race: object) -> bool:
    """A law that some orders break."""
    return race.schedule[3:4] != "B"


@pytest.mark.parametrize("last", range(1, 16))
def test_code_that_fails_on_a_later_run_is_never_raised(last: int) -> None:
    """It is told with the result, whichever run it is; then there is no count."""
    found = explore(tiring(last), store=idle_store, invariants=(never_b_last,))

    assert bool(found.failures) is (RUNS[0] > last)
    assert {"not the same twice", "raised"} >= {failure.kind for failure in found.failures}
    assert (found.schedules is None) is bool(found.failures)
    if found.failures:
        assert all(outcome.count is None for outcome in found.outcomes)
        assert {bool} == {type(count) for count in found.broken.values()}


def test_a_law_that_holds_when_it_is_asked_again_is_told() -> None:
    """A law with a memory: its order breaks nothing the second time."""
    asked: list[str] = []

    def once(race: object) -> bool:
        asked.append(race.schedule)
        return asked.count("AABB") != 1 or race.schedule != "AABB"

    crew = {"A": steps(2), "B": steps(2)}
    (failure,) = explore(crew, store=idle_store, at_end=(once,)).failures

    assert ("law", "once", "AABB") == (failure.kind, failure.who, failure.schedule)
    assert "it gave another answer to the same moves" == failure.words


def test_a_token_of_code_that_fails_now_is_out_of_date() -> None:
    """What the worker raises is told; letters alone are played as they are, and raise it."""
    sound, broken = [{"A": keyed(key), "B": steps(2)} for key in ("run-7", "run-8")]
    token = explore(sound, store=idle_store, at_end=(never_b_last,)).tokens["never_b_last"]

    with pytest.raises(TokenRefused, match="the token is out of date.*KeyError: 'run-8'"):
        play(token, broken, store=idle_store)
    with pytest.raises(KeyError):
        play("AABB", broken, store=idle_store)


def keyed(key: str) -> object:
    """A worker that looks something up under a key, which is there for run-7 only."""

    def worker(store: StateStore) -> Generator[object, None, None]:
        yield
        yield {"run-7": "said"}[key]

    return worker
