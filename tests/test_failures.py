"""Mistakes of a learner's code: each is told as a failure with its schedule, never as a count."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from functools import partial

import pytest

from runstate_lab.broken import LiveStateStore
from runstate_lab.errors import Malformed, OrderRefused, Refusal
from runstate_lab.exploration import Exploration
from runstate_lab.laws import no_lost_update, nothing_left_open
from runstate_lab.model import RunState, RunStatus, StateProposal
from runstate_lab.orders import explore
from runstate_lab.race import Race, Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.writers import run_7_at_revision_4, two_reporters

Steps = Generator[object, None, None]


def fresh() -> StateStore:
    """A store at the start of run-7."""
    return StateStore(RunState("run-7"))


def starting(store: StateStore) -> Steps:
    """Look, start the run: two steps."""
    seen = store.load().revision
    yield
    Runtime(store).accept_runtime(StateProposal("run_started", "", seen))


def idling(store: StateStore) -> Steps:
    """Two steps that do nothing."""
    yield


def failures(found: Exploration) -> list[tuple[str, str, str, str]]:
    """Kind, who, schedule and words of each failure; there is no count beside them."""
    assert found.schedules is None
    assert not found.holds
    assert all(type(count) is bool for count in found.broken.values())
    assert all(outcome.count is None for outcome in found.outcomes)
    return [(one.kind, one.who, one.schedule, one.words) for one in found.failures]


def told(worker: Worker, other: Worker = starting) -> list[tuple[str, str, str, str]]:
    """The failures of a worker A beside another one, B."""
    return failures(explore({"A": worker, "B": other}, store=fresh))


def test_an_exception_in_some_orders_only() -> None:
    """Where B has started the run before A looks; the shortest way there is given."""

    def naive(store: StateStore) -> Steps:
        yield
        if store.load().status is RunStatus.RUNNING:
            raise KeyError("facts")

    found = explore({"A": naive, "B": starting}, store=fresh)

    assert [("raised", "worker A", "BBAA", "KeyError: 'facts'")] == failures(found)
    assert 3 == found.runs
    assert repr(found) == (
        "no count, because of failures:\nworker A after BBAA: raised: KeyError: 'facts'"
    )


def test_each_worker_fails_for_itself() -> None:
    """One failure for each kind and worker."""

    def failing(store: StateStore) -> Steps:
        yield
        raise ZeroDivisionError

    assert [
        ("raised", "worker A", "AA", "ZeroDivisionError: "),
        ("raised", "worker B", "BB", "ZeroDivisionError: "),
    ] == told(failing, failing)


def test_sys_exit_does_not_end_the_kernel() -> None:
    """It is an exception of the worker's like any other."""

    def leaving(store: StateStore) -> Steps:
        yield
        raise SystemExit(3)

    assert [("raised", "worker A", "AA", "SystemExit: 3")] == told(leaving)


def test_an_endless_loop_without_a_yield() -> None:
    """It is stopped after so many lines, the same everywhere."""

    def spinning(store: StateStore) -> Steps:
        yield
        while True:
            pass

    assert [("endless", "worker A", "AA", "more than 500000 instructions in one step")] == told(spinning)


def test_a_blind_retry_that_is_endless_in_some_orders_only() -> None:
    """`except Refusal: pass` around a proposal from an old page; the loop never looks again."""

    def retrying(store: StateStore) -> Steps:
        seen = store.load().revision
        yield
        while True:
            try:
                return Runtime(store).accept_runtime(StateProposal("run_started", "", seen))
            except Refusal:
                pass

    [(kind, who, schedule, words)] = told(retrying)

    assert ("endless", "worker A", "ABBA") == (kind, who, schedule)
    assert "more than 500000 instructions in one step" == words


def test_an_endless_row_of_yields() -> None:
    """No order is that long by honest work."""

    def waiting(store: StateStore) -> Steps:
        while store.load().status is not RunStatus.COMPLETED:
            yield

    assert [("endless", "worker A", "A" * 12, "more than 200 moves, and no end")] == told(waiting)


def test_a_worker_that_waits_for_another_can_be_kept_waiting() -> None:
    """There is an order in which B never moves: A spins for ever."""

    def waiting(store: StateStore) -> Steps:
        while store.load().status is RunStatus.QUEUED:
            yield

    assert [("endless", "worker A", "A" * 12, "more than 200 moves, and no end")] == told(waiting)


def test_an_ordinary_function_never_yields() -> None:
    """Forgetting the `yield` is told before anything is run."""

    def at_once(store: StateStore) -> RunState:
        return store.load()

    [(kind, who, schedule, said)] = told(at_once)

    assert ("never yields", "a worker", "") == (kind, who, schedule)
    assert "worker A to be code with `yield` in it" in said


def test_an_ordinary_function_that_fails() -> None:
    """It fails before any move."""
    assert [("raised", "a worker", "", "TypeError: object of type 'StateStore' has no len()")] == told(
        len
    )


def test_a_worker_may_raise_a_refusal_of_its_own() -> None:
    """It ends like one that a store refused: that is no failure."""

    def declining(store: StateStore) -> Steps:
        yield
        raise Malformed("a deployment", "a red build")

    found = explore({"A": declining, "B": idling}, store=fresh)

    assert (6, {"malformed": 6}, ()) == (found.schedules, found.refused, found.failures)


def test_one_store_for_all_orders() -> None:
    """A factory that gives the same store again would count what others left."""
    store = fresh()

    assert [
        ("store shared", "the store's factory", "", "it gave a store that was used before")
    ] == failures(explore({"A": starting, "B": starting}, store=lambda: store))


def test_a_few_stores_in_turn() -> None:
    """Three stores dealt out in a ring are found at the fourth order."""
    ring = itertools.cycle([fresh(), fresh(), fresh()])

    assert ["store shared"] == [
        one[0] for one in failures(explore({"A": idling, "B": idling}, store=lambda: next(ring)))
    ]


@pytest.mark.parametrize(
    ("factory", "who", "words"),
    [
        (lambda: 1 / 0, "the store's factory", "ZeroDivisionError: division by zero"),
        (lambda: None, "the store", "AttributeError: 'NoneType' object has no attribute 'load'"),
        (partial(RunState, ""), "the store's factory", None),
    ],
)
def test_a_factory_that_fails(factory: Callable[[], StateStore], who: str, words: str) -> None:
    """Whatever it raises, it is not the workers' fault."""
    [(kind, blamed, schedule, said)] = failures(explore({"A": idling}, store=factory))

    assert ("raised", who, "") == (kind, blamed, schedule)
    assert words is None or words == said


def test_an_endless_factory() -> None:
    """It is stopped as a step is."""

    def endless() -> StateStore:
        while True:
            pass

    assert [("endless", "the store's factory", "")] == [
        one[:3] for one in failures(explore({"A": idling}, store=endless))
    ]


class Forgetting(StateStore):
    """A learner's store that cannot load what it applied."""

    def load(self) -> RunState:
        """The state, as long as nothing was written."""
        if self._state.revision:
            raise NotImplementedError("exercise 04.1")
        return super().load()


def test_a_store_that_fails_after_a_move() -> None:
    """The store is blamed, with the order after which nothing could be loaded."""

    def writing(store: StateStore) -> Steps:
        yield
        Runtime(store).accept_runtime(StateProposal("run_started", "", 0))

    found = explore({"A": writing}, store=lambda: Forgetting(RunState("run-7")))

    assert [("raised", "the store", "AA", "NotImplementedError: exercise 04.1")] == failures(found)


def test_a_counter_outside_is_not_the_same_twice() -> None:
    """The replays of a branch do not reach the same place."""
    count = itertools.count()

    def counting(store: StateStore) -> Steps:
        yield
        yield next(count)
        yield

    found = told(counting)

    assert [("not the same twice", "the code")] == [one[:2] for one in found]


def test_a_counter_in_the_last_step_is_found_too() -> None:
    """No branch is run again after it, so each outcome is run once more."""
    count = itertools.count()

    def counting(store: StateStore) -> Steps:
        yield
        if next(count) % 2:
            Runtime(store).accept_runtime(StateProposal("run_started", "", 0))

    assert [("not the same twice", "the code", "AA", "the same moves ended elsewhere")] == failures(
        explore({"A": counting}, store=fresh)
    )


def test_an_exception_that_comes_on_replays_only() -> None:
    """It is not the worker's mistake in that order: it is that orders cannot be repeated."""
    seen: list[str] = []

    def once(store: StateStore) -> Steps:
        seen.append("begun")
        yield
        if len(seen) > 2:
            raise OSError("the file is there already")
        yield

    assert "not the same twice" in [one[0] for one in told(once, idling)]


def law_that_forgets(race: Race) -> None:
    """It looks and says nothing."""
    race.store.load()


def law_that_fails(race: Race) -> bool:
    """It reads what is not there yet."""
    return race.log[1].move == "A"


def law_that_exits(race: Race) -> bool:
    """It leaves."""
    raise SystemExit


def law_that_spins(race: Race) -> bool:
    """It never comes back."""
    while True:
        pass


def law_that_counts(race: Race) -> int:
    """It gives something that only looks like an answer."""
    return len(race.log)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (law_that_forgets, "gave None, neither True nor False"),
        (law_that_fails, "IndexError: list index out of range"),
        (law_that_exits, "SystemExit: "),
        (law_that_counts, "gave 0, neither True nor False"),
    ],
)
def test_a_law_that_gives_no_answer(law: Callable[[Race], object], words: str) -> None:
    """It is asked after no move first, so that is where it fails."""
    found = explore({"A": idling}, store=fresh, invariants=(law,))

    assert [("law", law.__name__, "", words)] == failures(found)


def test_an_endless_law() -> None:
    """It is stopped as a step is."""
    [(kind, who, schedule, words)] = failures(
        explore({"A": idling}, store=fresh, invariants=(law_that_spins,))
    )

    assert ("law", "law_that_spins", "") == (kind, who, schedule)
    assert "more than 500000 instructions in one step" in words


def test_a_law_for_the_end_that_gives_no_answer() -> None:
    """It is asked after the last move only."""
    found = explore({"A": idling}, store=fresh, at_end=(law_that_forgets,))

    assert [("law", "law_that_forgets", "AA", "gave None, neither True nor False")] == failures(
        found
    )


def nameless() -> list[tuple[object, ...]]:
    """Laws whose name would not tell them apart."""
    return [
        (lambda race: True,),
        (no_lost_update, no_lost_update),
        (partial(no_lost_update),),
    ]


@pytest.mark.parametrize("laws", nameless())
def test_a_law_has_a_name_of_its_own(laws: tuple[object, ...]) -> None:
    """What was broken is reported by name."""
    with pytest.raises(OrderRefused, match="laws with a name of their own"):
        explore({"A": idling}, store=fresh, invariants=laws)


def test_a_law_is_asked_once() -> None:
    """The same one after every move and at the end is one name too many."""
    with pytest.raises(OrderRefused, match="laws with a name of their own"):
        explore(
            {"A": idling}, store=fresh, invariants=(nothing_left_open,), at_end=(nothing_left_open,)
        )


@pytest.mark.parametrize("faults", ["x", "!x", "A", "*"])
def test_a_mark_that_is_none_is_refused(faults: str) -> None:
    """The refusal lists the marks."""
    with pytest.raises(OrderRefused, match=r"only ! _ ~ \+ \?"):
        explore({"A": idling}, store=fresh, faults=faults)


@pytest.mark.parametrize("workers", [{}, {"a": idling}, {"AB": idling}, {1: idling}])
def test_a_worker_without_a_letter_is_refused(workers: dict[str, Worker]) -> None:
    """It is a question that was asked wrongly, not a failure of the worker."""
    with pytest.raises(OrderRefused, match="workers named by one capital letter each"):
        explore(workers, store=fresh)


class Page:
    """A learner's state: a plain object that is changed in place."""

    def __init__(self) -> None:
        self.revision = 0
        self.facts: list[str] = []


class Notebook:
    """A learner's store of such a page."""

    def __init__(self, state: object) -> None:
        self.page = state

    def load(self) -> object:
        """The page itself."""
        return self.page


def noting(fact: str) -> Worker:
    """Look how much is there, write one fact and that length: a lost update is seen."""

    def worker(store: Notebook) -> Steps:
        seen = len(store.page.facts)
        yield
        store.page.facts.append(fact)
        store.page.revision = seen + 1

    return worker


def test_a_state_without_a_value_of_its_own() -> None:
    """A plain object is compared and counted by what is in it at that moment."""
    found = explore(
        {"A": noting("build=green"), "B": noting("tests=green")}, store=lambda: Notebook(Page())
    )

    assert (6, ()) == (found.schedules, found.failures)
    assert [
        "Page {'revision': 1, 'facts': ['build=green', 'tests=green']}",
        "Page {'revision': 1, 'facts': ['tests=green', 'build=green']}",
        "Page {'revision': 2, 'facts': ['build=green', 'tests=green']}",
        "Page {'revision': 2, 'facts': ['tests=green', 'build=green']}",
    ] == sorted(str(one.state) for one in found.outcomes)
    assert [2, 2, 1, 1] == [one.count for one in found.outcomes]


def test_a_state_that_has_no_hash() -> None:
    """A dict is counted by its text."""

    def writing(store: Notebook) -> Steps:
        yield
        store.page["writer"] = "A"

    found = explore({"A": writing, "B": idling}, store=lambda: Notebook({"writer": "nobody"}))

    assert [("{'writer': 'A'}", 6)] == [(one.state, one.count) for one in found.outcomes]


def test_a_store_that_changes_its_state_in_place() -> None:
    """Earlier looks are not changed behind the search's back."""
    found = explore(two_reporters(), store=lambda: LiveStateStore(run_7_at_revision_4()))

    assert (20, ()) == (found.schedules, found.failures)
    assert [6, 6, 4, 4] == sorted((one.count for one in found.outcomes), reverse=True)


@pytest.mark.parametrize(
    ("most", "schedules", "runs", "stopped"),
    [
        (19, None, 19, "stopped after 19 orders"),
        (20, 20, 20, ""),
        (21, 20, 20, ""),
        (2, None, 2, "stopped after 2 orders"),
    ],
)
def test_a_bound_on_the_orders(most: int, schedules: int | None, runs: int, stopped: str) -> None:
    """Twenty orders are counted where twenty are allowed, and not where one is missing."""
    found = explore(two_reporters(), store=lambda: StateStore(run_7_at_revision_4()), most=most)

    assert (schedules, runs, stopped) == (found.schedules, found.runs, found.stopped)
    assert found.holds is (not stopped)


def test_a_search_that_was_stopped_gives_no_counts() -> None:
    """It says what it saw, and why it does not say more."""
    found = explore(
        two_reporters(),
        store=lambda: StateStore(run_7_at_revision_4()),
        invariants=(no_lost_update,),
        most=5,
    )

    assert repr(found) == (
        "no order breaks no_lost_update, some report revision_conflict (stopped after 5 orders)"
    )
    assert [None] * len(found.outcomes) == [one.count for one in found.outcomes]


def test_no_token_is_given_where_orders_cannot_be_repeated() -> None:
    """A token that plays something else another time would be a lie."""
    count = itertools.count()

    def broken_at_once(race: Race) -> bool:
        """It never holds."""
        return False

    def counting(store: StateStore) -> Steps:
        yield next(count)

    found = explore({"A": counting, "B": idling}, store=fresh, invariants=(broken_at_once,))

    assert "not the same twice" == found.failures[0].kind
    assert {} == found.tokens
