"""A reduced search of ordinary code against the whole one, on workers nobody thought of."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstate_lab.broken import LastWriteWinsStore, NaiveStore
from runstate_lab.errors import RevisionConflict
from runstate_lab.exploration import Exploration
from runstate_lab.laws import (
    no_decision_on_old_facts,
    no_lost_update,
    one_approval_one_effect,
)
from runstate_lab.model import RunState, StateProposal
from runstate_lab.orders import explore
from runstate_lab.race import Race, Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.worlds import run_7_at_revision_4

LAWS = (no_lost_update, no_decision_on_old_facts, one_approval_one_effect)
REPORTS = {"A": ("get_status", "build=green"), "B": ("run_tests", "tests=green"), "C": ("scan", "scan=clean")}
STEPS = ((), ("think",), ("load",), ("load",), ("submit",), ("submit",), ("load", "submit"), ("look",), ("say",), ("say", "submit"), ("give up",))
STORES = (StateStore, NaiveStore, LastWriteWinsStore)


def worker(name: str, plan: tuple[tuple[str, ...], ...]) -> Worker:
    """A worker that does so in each step; what it knows decides what it says and submits."""
    tool, fact = REPORTS[name]
    call = f"c{'ABC'.index(name) + 1}"

    def work(store: StateStore) -> Generator[object, None, None]:
        known = 4
        for number, actions in enumerate(plan):
            said = None
            for action in actions:
                if action == "think":
                    known = max(known - 1, 4) if known % 3 else known
                elif action == "load":
                    known = store.load().revision
                elif action == "look":
                    known = 4 + len(store.trace)
                elif action == "say":
                    said = f"known: {known}"
                elif action == "give up" and known > 4:
                    return
                elif action == "submit":
                    proposal = StateProposal("tool_result_recorded", fact, known)
                    Runtime(store).accept_tool_result(tool, proposal, call_id=call)
            if number < len(plan) - 1 or said:
                yield said

    def at_least_one(store: StateStore) -> Generator[object, None, None]:
        yield from work(store)

    return at_least_one


@st.composite
def workers(draw: st.DrawFn) -> Mapping[str, Worker]:
    """Two workers of up to three steps, or three of up to two."""
    names, most = draw(st.sampled_from([("AB", 3), ("ABC", 2)]))
    plans = st.lists(st.sampled_from(STEPS), min_size=1, max_size=most).map(tuple)
    return {name: worker(name, draw(plans)) for name in names}


def told(found: Exploration) -> tuple[object, ...]:
    """All that a reduced search promises to say."""
    outcomes = {(outcome.state, outcome.broken) for outcome in found.outcomes}
    broken = {law: bool(count) for law, count in found.broken.items()}
    return outcomes, broken, set(found.refused), {failure.kind for failure in found.failures}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("others", [((), ("load",), ("submit",)), (("load",), ("think",), ("submit",))])
def test_a_load_is_no_step_to_be_folded(store: type[StateStore], others: tuple[tuple[str, ...], ...]) -> None:
    """What was seen decides what is refused: both ends are found, reduced or not."""
    racing = {"A": worker("A", (("load",), ("submit",))), "B": worker("B", others)}
    whole, reduced = (
        explore(racing, store=lambda: store(run_7_at_revision_4()), invariants=LAWS, reduced=each)
        for each in (False, True)
    )

    assert told(whole) == told(reduced)
    assert len(whole.outcomes) > 1


@settings(max_examples=40, deadline=None)
@given(workers(), st.sampled_from(STORES), st.sampled_from(["", "", "!", "_", "?"]))
def test_random_workers_reduced_say_the_same(
    racing: Mapping[str, Worker], store: type[StateStore], faults: str
) -> None:
    """Outcomes, broken laws and refusals are those of the whole search; its orders are fewer."""
    start = run_7_at_revision_4()
    whole, reduced = (
        explore(racing, store=lambda: store(start), invariants=LAWS, faults=faults, reduced=each)
        for each in (False, True)
    )

    assert told(whole) == told(reduced)
    assert whole.runs >= reduced.runs
    assert None is reduced.schedules


@pytest.mark.parametrize("count, orders", [(1, 1), (2, 1), (4, 1)])
def test_steps_that_touch_nothing_are_taken_in_one_order(count: int, orders: int) -> None:
    """Whoever thinks, thinks unseen: one order stands for all."""

    def thinker(store: StateStore) -> Generator[None, None, None]:
        for _ in range(count):
            yield

    found = explore({"A": thinker, "B": thinker}, store=lambda: StateStore(RunState("run-7")), reduced=True)

    assert orders == found.runs


class Notebook:
    """A store that hands out what it keeps."""

    def __init__(self) -> None:
        self.page = {"lines": 0}

    def load(self) -> dict[str, int]:
        """The page itself."""
        return self.page

    def write(self, lines: int) -> None:
        """So many lines."""
        self.page["lines"] = lines


def writing_later(store: Notebook) -> Generator[None, None, None]:
    """It keeps the page, and writes to it in a step without a touch."""
    page = store.load()
    seen = page["lines"]
    yield
    page["lines"] = seen + 1


def calling_later(store: Notebook) -> Generator[None, None, None]:
    """It keeps a method, and calls it a step later."""
    write, seen = store.write, store.load()["lines"]
    yield
    write(seen + 1)


@pytest.mark.parametrize("worker", [writing_later, calling_later])
def test_whoever_keeps_something_of_the_store_is_never_local(worker: Worker) -> None:
    """Both ends are found, reduced or not: an update is lost, or not."""
    whole, reduced = (
        explore({"A": worker, "B": worker}, store=Notebook, reduced=each) for each in (False, True)
    )

    assert {"{'lines': 1}", "{'lines': 2}"} == {one.state for one in whole.outcomes}
    assert told(whole) == told(reduced)


def declining(store: StateStore) -> Generator[None, None, None]:
    """It refuses by itself, and touches nothing."""
    yield
    raise RevisionConflict("to go on", "no reason")


def test_a_refusal_without_a_touch_is_no_local_step() -> None:
    """A law may look at who was refused first."""

    def a_before_b(race: Race) -> bool:
        return list(race.refusals) != ["B"]

    whole, reduced = (
        explore({"A": declining, "B": declining}, store=lambda: StateStore(RunState("run-7")), invariants=(a_before_b,), reduced=each)
        for each in (False, True)
    )

    assert 3 == whole.broken["a_before_b"]
    assert told(whole) == told(reduced)


@pytest.mark.parametrize("name", ["enabled", "log", "schedule"])
def test_a_law_of_a_reduced_search_cannot_look_at_the_order(name: str) -> None:
    """It differs between the orders that one stands for, also where the law hides the refusal."""

    def looking(race: Race) -> bool:
        try:
            return bool(getattr(race, name)) or True
        except Exception:  # noqa: BLE001 - a law that hides what it was told
            return True

    found = explore({"A": declining}, store=lambda: StateStore(RunState("run-7")), invariants=(looking,), reduced=True)

    assert [("law", "looking", f"a reduced search cannot ask about {name}; ask without reduced")] == [
        (one.kind, one.who, one.words) for one in found.failures
    ]


def thinking_first(store: StateStore) -> Generator[object, None, None]:
    """Two steps unseen, then a word, then another one."""
    yield
    yield
    yield "word"
    yield "word"


def test_the_shortest_order_of_a_reduced_search_is_the_shortest() -> None:
    """Orders that the reduced search never ran are tried up to that length."""

    def one_word(race: Race) -> bool:
        return len(race.said) < 2

    whole, reduced, bounded = (
        explore({"A": thinking_first, "B": thinking_first}, store=lambda: StateStore(RunState("run-7")), invariants=(one_word,), **more)
        for more in ({}, {"reduced": True}, {"reduced": True, "most": 3})
    )

    assert "AAAA" == whole.shortest["one_word"] == reduced.shortest["one_word"]
    assert (True, True, False) == tuple(one.surely_shortest for one in (whole, reduced, bounded))
    assert 6 == len(bounded.shortest["one_word"])
