"""Mistakes of a learner's code: each is told as a failure with its schedule, never as a count."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import warnings
from collections.abc import Callable, Generator
from functools import partial

import pytest

from runstate_lab.broken import LiveStateStore
from runstate_lab.errors import Malformed, OrderRefused, Refusal, RevisionConflict
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

    assert [("endless", "worker A", "A" * 12, "more than 200 moves: it has no end, or is too long to be explored")] == told(waiting)


def test_a_worker_that_waits_for_another_can_be_kept_waiting() -> None:
    """There is an order in which B never moves: A spins for ever."""

    def waiting(store: StateStore) -> Steps:
        while store.load().status is RunStatus.QUEUED:
            yield

    assert [("endless", "worker A", "A" * 12, "more than 200 moves: it has no end, or is too long to be explored")] == told(waiting)


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

    words = "what the last of them touched: first (), then (('apply', 1, ''),)"

    assert [("not the same twice", "the code", "AA", words)] == failures(
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
        "Page(facts=['build=green', 'tests=green'], revision=1)",
        "Page(facts=['build=green', 'tests=green'], revision=2)",
        "Page(facts=['tests=green', 'build=green'], revision=1)",
        "Page(facts=['tests=green', 'build=green'], revision=2)",
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
        "none of 5 orders run broke no_lost_update, some report revision_conflict (stopped after 5 orders)"
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


def test_a_counter_that_two_workers_share_is_found() -> None:
    """Every move is held against the first time, also those behind the last branch."""
    count = [0]

    def adding(store: StateStore) -> Steps:
        yield
        count[0] += 1
        store.load()

    def judging(store: StateStore) -> Steps:
        yield
        if count[0] % 2:
            raise RevisionConflict("to go on", "an odd number")

    [(kind, who, _, words)] = told(adding, judging)

    assert ("not the same twice", "the code") == (kind, who)
    assert "how the last of them ended: first 'revision_conflict', then 'done'" == words


class Card:
    """A plain object: two of them that hold the same are not equal."""

    def __init__(self, words: str) -> None:
        self.words = words


class Slotted:
    """The same with slots."""

    __slots__ = ("words",)

    def __init__(self, words: str) -> None:
        self.words = words


@pytest.mark.parametrize("kind", [Card, Slotted, lambda words: [words], lambda words: float("nan")])
def test_what_holds_the_same_is_the_same(kind: Callable[[str], object]) -> None:
    """Objects without a value of their own are compared by what they hold."""

    def telling(store: StateStore) -> Steps:
        yield kind("deployed")
        yield kind("announced")

    found = explore({"A": telling, "B": telling}, store=fresh)

    assert (20, ()) == (found.schedules, found.failures)


def test_a_list_that_a_worker_goes_on_writing_to() -> None:
    """What was said is taken down when it is said."""

    def telling(store: StateStore) -> Steps:
        said: list[str] = []
        for words in ("deployed", "announced"):
            said.append(words)
            yield said

    assert 20 == explore({"A": telling, "B": telling}, store=fresh).schedules


def test_the_order_in_which_a_dict_was_filled_is_no_state() -> None:
    """Nor is the history of a set, wherever it is."""

    def writing(name: str) -> Worker:
        def worker(store: Notebook) -> Steps:
            yield
            store.page[name] = {"who": {name, "8", "16"}}

        return worker

    found = explore({"A": writing("A"), "B": writing("B")}, store=lambda: Notebook({}))

    assert [6] == [one.count for one in found.outcomes]
    assert "{'A': {'who': {'16', '8', 'A'}}, 'B': {'who': {'16', '8', 'B'}}}" == found.outcomes[0].state


def test_a_law_that_changes_the_store_is_blamed() -> None:
    """Not the worker, nor the order."""

    def law_that_writes(race: Race) -> bool:
        if len(race.log) == 1:
            context = race.store.context("runtime", "runtime")
            race.store.apply(StateProposal("run_started", "", 0), context=context)
        return True

    found = explore({"A": idling}, store=fresh, invariants=(law_that_writes,))

    assert [("law", "law_that_writes", "A", "it changes the store: a law only looks")] == failures(found)


def test_a_law_that_remembers_is_blamed() -> None:
    """It is asked again where the moves are made again."""
    seen: list[int] = []

    def law_that_remembers(race: Race) -> bool:
        seen.append(len(race.log))
        return max(seen) < 4 or len(race.log) > 1

    found = explore({"A": idling, "B": idling}, store=fresh, invariants=(law_that_remembers,))

    assert [("law", "law_that_remembers", "it gave another answer to the same moves")] == [
        (kind, who, words) for kind, who, _, words in failures(found)
    ]


def test_a_store_whose_load_counts_is_blamed() -> None:
    """No law changed it."""

    class Counting(StateStore):
        """Each look makes a revision."""

        def load(self) -> RunState:
            """The state, one revision on."""
            self._state = RunState("run-7", revision=self._state.revision + 1)
            return self._state

    found = explore({"A": idling}, store=lambda: Counting(RunState("run-7")), invariants=(no_lost_update,))

    assert [("not the same twice", "the store")] == [one[:2] for one in failures(found)]


def test_a_loop_that_catches_its_stop_is_told() -> None:
    """A bare `except` swallows the stop, not the fact that it came."""

    def stubborn(store: StateStore) -> Steps:
        yield
        try:
            while True:
                pass
        except:  # noqa: E722 - this is what it is about
            pass

    words = "it goes on without an end, and catches what would stop it"

    assert [("endless", "worker A", "AA", words)] == told(stubborn)


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, type("Mine", (BaseException,), {})])
def test_what_is_no_exception_is_a_failure_too(error: type[BaseException]) -> None:
    """Whatever a worker raises is its own fault; only Ctrl-C is not."""

    def leaving(store: StateStore) -> Steps:
        yield
        raise error

    [(kind, who, schedule, words)] = told(leaving)

    assert ("raised", "worker A", "AA") == (kind, who, schedule)
    assert error.__name__ in words


def test_orders_that_fail_are_bounded_too() -> None:
    """A search in which every order fails ends all the same."""
    begun: list[int] = []

    def failing(store: StateStore) -> Steps:
        begun.append(1)
        yield
        yield
        raise KeyError

    crew = dict.fromkeys("ABC", failing)
    found = explore(crew, store=fresh, most=10)

    assert ("stopped after 10 orders", 0) == (found.stopped, found.runs)
    assert len(begun) < 100


@pytest.mark.parametrize("error", [KeyError, None])
def test_a_yield_in_finally_is_no_noise(monkeypatch: pytest.MonkeyPatch, error: type[Exception] | None) -> None:
    """Workers that are left behind are closed, whatever they say to it."""
    noise: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", noise.append)

    def clinging(store: StateStore) -> Steps:
        try:
            yield
            yield
        finally:
            yield

    def failing(store: StateStore) -> Steps:
        yield
        if error:
            raise error
        while True:
            pass

    assert {"raised" if error else "endless"} == {one[0] for one in told(clinging, failing)}
    gc.collect()
    assert [] == noise


def test_an_async_worker_never_yields() -> None:
    """It is told as that, and nothing is left waiting."""

    async def waiting(store: StateStore) -> None:
        store.load()

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        [(kind, *_, words)] = told(waiting)
        gc.collect()

    assert "never yields" == kind
    assert "a function that gave a coroutine" in words
    assert [] == [str(one.message) for one in warned if one.category is RuntimeWarning]


def test_a_refusal_that_was_handled_is_counted() -> None:
    """So is one that mail met, which nobody heard."""

    def retrying(store: StateStore) -> Steps:
        seen = store.load().revision
        yield
        try:
            Runtime(store).accept_runtime(StateProposal("run_started", "", seen))
        except Refusal:
            pass

    both = explore({"A": retrying, "B": retrying}, store=fresh)

    assert {"revision_conflict": 4, "illegal_transition": 2} == both.refused
    assert {"revision_conflict": 1} == explore({"A": retrying}, store=fresh, faults="+").refused


def test_a_search_without_a_law_that_was_stopped() -> None:
    """It says both in that order."""
    found = explore({"A": idling, "B": idling}, store=fresh, most=2)

    assert "stopped after 2 orders; no law was asked for" == repr(found)


@pytest.mark.parametrize("last", range(1, 30))
def test_a_store_that_loads_so_often_only(last: int) -> None:
    """Whenever it gives up, the store is blamed and nothing is raised."""
    loads = itertools.count()

    class Tired(StateStore):
        """It counts the looks of all orders."""

        def load(self) -> RunState:
            """The state, so many times."""
            if next(loads) >= last:
                raise OSError("worn out")
            return super().load()

    found = explore({"A": idling}, store=lambda: Tired(RunState("run-7")), invariants=(nothing_left_open,))

    if next(loads) > last:
        assert found.failures
        assert {one.kind for one in found.failures} <= {"raised", "not the same twice", "law"}
