"""Tables of acts: every count against plain enumeration, and every verdict of a reduced search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstate_lab.broken import NaiveStore
from runstate_lab.errors import OrderRefused, TokenRefused
from runstate_lab.exploration import Exploration, Failure
from runstate_lab.model import RunState
from runstate_lab.orders import explore, play
from runstate_lab.store import StateStore
from runstate_lab.tables import (
    END,
    Act,
    Place,
    Table,
    Writer,
    no_lost_update,
    register_writers,
    replay,
    symmetric,
)

Tables = Mapping[str, Table]


def counted(place: Place) -> bool:
    """As `no_lost_update`, under a name of its own."""
    return place.shared == sum(writer.rounds for writer in place.owns)


def below_two(place: Place) -> bool:
    """Looks at the shared value only."""
    return not (place.shared == 2 and not place.done)


def not_one_at_the_end(place: Place) -> bool:
    """Looks at the shared value, once all are done."""
    return not place.done or place.shared != 1


def changes(schedule: str) -> int:
    """How often another worker takes over."""
    return sum(one != other for one, other in zip(schedule, schedule[1:], strict=False))


def order_of(schedule: str) -> tuple[int, int, str]:
    """Fewest moves, then fewest changes of hands, then the alphabet."""
    return len(schedule), changes(schedule), schedule


def made(table: Table, row: int, shared: Any, own: Any) -> tuple[Any, Any, int] | None:
    """One act, made without the kit."""
    act = table.acts[row]
    if act.when is not None and not act.when(shared, own):
        return None
    after = act.do("not to be seen" if act.local else shared, own)
    names = [each.name for each in table.acts]
    following = row + 1 if len(after) == 2 else len(names) if after[2] == END else names.index(after[2])
    return shared if act.local else after[0], after[1], following


def every_order(
    tables: Tables, start: Any, laws: tuple[Callable[[Place], bool], ...] = ()
) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Each order, its final shared value, and for each broken law the moves that broke it."""

    def go(
        schedule: str, shared: Any, workers: dict[str, tuple[int, Any]], broken: dict[str, str]
    ) -> Iterator[tuple[str, Any, dict[str, str]]]:
        done = all(row == len(tables[name].acts) for name, (row, _) in workers.items())
        place = Place(shared, tuple(own for _, own in workers.values()), done)
        now = {law.__name__: schedule for law in laws if not law(place)}
        broken = {**now, **broken}
        if done:
            yield schedule, shared, broken
        for name, (row, own) in workers.items():
            after = made(tables[name], row, shared, own) if row < len(tables[name].acts) else None
            if after is not None:
                yield from go(schedule + name, after[0], {**workers, name: (after[2], after[1])}, broken)

    yield from go("", start, {name: (0, table.own) for name, table in tables.items()}, {})


def number_of_orders(tables: Tables, start: Any) -> int:
    """How many orders there are, from the end backwards; the kit goes forwards."""
    rows = list(tables.values())

    @lru_cache(maxsize=None)
    def ahead(shared: Any, workers: tuple[tuple[int, Any], ...]) -> int:
        if all(row == len(table.acts) for table, (row, _) in zip(rows, workers, strict=True)):
            return 1
        total = 0
        for number, (row, own) in enumerate(workers):
            after = made(rows[number], row, shared, own) if row < len(rows[number].acts) else None
            if after is not None:
                moved = (after[2], after[1])
                total += ahead(after[0], (*workers[:number], moved, *workers[number + 1 :]))
        return total

    return ahead(start, tuple((0, table.own) for table in rows))


def keep(shared: Any, own: Any) -> tuple[Any, Any]:
    """An act that changes nothing."""
    return shared, own


def lane_users(count: int) -> dict[str, Table]:
    """Deployers who take turns in one lane: wait until it is free, work, leave."""
    acts = (
        Act("enter", lambda lane, own: (lane + 1, own), when=lambda lane, own: lane % 2 == 0),
        Act("work", lambda _, own: (_, own + 1), local=True),
        Act("leave", lambda lane, own: (lane + 1, own)),
    )
    return {name: Table(acts, 0) for name in "ABC"[:count]}


def deploy_and_announce() -> dict[str, Table]:
    """Two workers of different tables: the announcement waits for the deployment."""
    deploy = (Act("test", keep), Act("deploy", lambda shared, own: (1, own)))
    announce = (
        Act("write", lambda _, own: (_, "release 7 is out"), local=True),
        Act("announce", lambda shared, own: (2, own), when=lambda shared, own: shared == 1),
        Act("rest", lambda _, own: (_, None), local=True),
    )
    return {"A": Table(deploy), "B": Table(announce)}


def adders() -> dict[str, Table]:
    """Three workers of one table without a local act, and a fourth that resets."""
    add = (Act("read", lambda shared, own: (shared, shared)), Act("add", lambda _, own: (own + 1, 0)))
    reset = (Act("reset", lambda shared, own: (0, own)),)
    return {"A": Table(add, 0), "B": Table(reset), "C": Table(add, 0), "D": Table(add, 0)}


SMALL: dict[str, Tables] = {
    "one writer": register_writers(1, 3),
    "two writers": register_writers(2, 1),
    "two writers, two rounds": register_writers(2, 2),
    "two writers, swap": register_writers(2, 1, mode="swap"),
    "two writers, two rounds, swap": register_writers(2, 2, mode="swap"),
    "three writers": register_writers(3, 1),
    "three writers, swap": register_writers(3, 1, mode="swap"),
    "two in a lane": lane_users(2),
    "three in a lane": lane_users(3),
    "deploy and announce": deploy_and_announce(),
    "adders": adders(),
}
LARGER = {
    f"{writers} x {rounds} {mode}": register_writers(writers, rounds, mode=mode)
    for writers in (1, 2, 3)
    for rounds in (1, 2, 3)
    for mode in ("blind", "swap")
}
LAWS = (below_two, not_one_at_the_end)


def outcomes(found: Exploration) -> set[tuple[object, tuple[str, ...]]]:
    """What the orders end in, without counts."""
    return {(outcome.state, outcome.broken) for outcome in found.outcomes}


def verdicts(found: Exploration) -> tuple[object, ...]:
    """All that a reduced search promises to say."""
    broken = {name: bool(count) for name, count in found.broken.items()}
    kinds = {failure.kind for failure in found.failures}
    moves = {law: order_of(schedule)[:2] for law, schedule in found.shortest.items()}
    return broken, outcomes(found), kinds, moves


@pytest.mark.parametrize("writers, rounds, count", [(2, 1, 20), (2, 2, 924), (2, 3, 48_620), (3, 1, 1_680)])
def test_the_number_of_orders_is_exact(writers: int, rounds: int, count: int) -> None:
    """The multinomials of the acts; two writers lose an update in all but a few."""
    found = explore(register_writers(writers, rounds), store=lambda: 0, invariants=(no_lost_update,))

    assert count == found.schedules
    assert 18 == found.broken["no_lost_update"] or (writers, rounds) != (2, 1)


@pytest.mark.parametrize("name", SMALL)
def test_counts_are_those_of_plain_enumeration(name: str) -> None:
    """Orders, orders that break a law at some point, outcomes: one by one, by hand."""
    orders = list(every_order(SMALL[name], 0, LAWS))
    found = explore(SMALL[name], store=lambda: 0, invariants=LAWS)
    ends = Counter((shared, tuple(law.__name__ for law in LAWS if law.__name__ in broken)) for _, shared, broken in orders)

    assert len(orders) == found.schedules
    assert {law.__name__: sum(law.__name__ in broken for _, _, broken in orders) for law in LAWS} == found.broken
    assert ends == {(outcome.state, outcome.broken): outcome.count for outcome in found.outcomes}
    assert [count / len(orders) for _, count in ends.most_common()] == [one.share for one in found.outcomes]


@pytest.mark.parametrize("name", SMALL)
def test_the_shortest_is_the_shortest(name: str) -> None:
    """No prefix of any order breaks the law in fewer moves, or with fewer changes of hands."""
    firsts: dict[str, set[str]] = {}
    for _, _, broken in every_order(SMALL[name], 0, LAWS):
        for law, schedule in broken.items():
            firsts.setdefault(law, set()).add(schedule)
    found = explore(SMALL[name], store=lambda: 0, invariants=LAWS)

    assert {law: min(each, key=order_of) for law, each in firsts.items()} == found.shortest


@pytest.mark.parametrize("name", SMALL)
def test_an_outcome_has_an_order_that_ends_in_it(name: str) -> None:
    """The schedule beside an outcome leads there, reduced or not."""
    for reduced in (False, True):
        for outcome in explore(SMALL[name], store=lambda: 0, invariants=LAWS, reduced=reduced).outcomes:
            place = replay(outcome.schedule, SMALL[name], 0)

            assert (outcome.state, True) == (place.shared, place.done)


@pytest.mark.parametrize(
    "name, laws",
    [
        (name, laws)
        for name, tables in {**SMALL, **LARGER}.items()
        for laws in (LAWS, (), (counted,))
        if laws != (counted,) or isinstance(tables["A"].own, Writer)
    ],
)
def test_a_reduced_search_says_the_same(name: str, laws: tuple[Any, ...]) -> None:
    """Verdicts, outcomes, failures and lengths of schedules, in every world of small size."""
    tables = {**SMALL, **LARGER}[name]
    at_end = (no_lost_update,) if isinstance(tables["A"].own, Writer) else ()
    whole = explore(tables, store=lambda: 0, invariants=laws, at_end=at_end)
    reduced = explore(tables, store=lambda: 0, invariants=laws, at_end=at_end, reduced=True)

    assert verdicts(whole) == verdicts(reduced)
    assert whole.states >= reduced.states


def test_a_reduced_search_counts_only_where_the_count_is_the_same() -> None:
    """Alike workers without local acts are counted; local acts are not."""
    whole = explore(adders(), store=lambda: 0, invariants=LAWS)
    reduced = explore(adders(), store=lambda: 0, invariants=LAWS, reduced=True)

    assert whole.states > reduced.states
    assert (whole.schedules, whole.broken) == (reduced.schedules, reduced.broken)
    assert [(one.state, one.count) for one in whole.outcomes] == [(one.state, one.count) for one in reduced.outcomes]
    assert None is explore(register_writers(2, 1), store=lambda: 0, reduced=True).schedules


def test_a_law_that_looks_at_who_is_who_is_asked_everywhere() -> None:
    """The search is run whole: a law about A is not a law about B."""

    def b_is_not_alone(place: Place) -> bool:
        return place.owns != (Writer(0, 0), Writer(0, 1))

    def a_was_second(place: Place) -> bool:
        return place.owns[0] is not None

    blind = register_writers(2, 1)
    found = explore(blind, store=lambda: 0, invariants=(b_is_not_alone,), reduced=True)
    racing = dict.fromkeys("AB", Table((Act("run", lambda shared, own: (1, shared or None)),)))
    ended = explore(racing, store=lambda: 0, at_end=(a_was_second,), reduced=True)

    whole = "(run whole: {} tells workers of one table apart, or looks at their own values)".format

    assert repr(found).endswith(whole("b_is_not_alone"))
    assert repr(ended).endswith(whole("a_was_second"))
    assert (False, 20, "BBB") == (found.reduced, found.schedules, found.shortest["b_is_not_alone"])
    assert (False, 1, "AB") == (ended.reduced, ended.broken["a_was_second"], ended.shortest["a_was_second"])


@pytest.mark.parametrize("name", [name for name, tables in {**SMALL, **LARGER}.items() if isinstance(tables["A"].own, Writer)])
def test_a_symmetric_invariant_reduces_the_search(name: str) -> None:
    """The kit's own law says the same whoever is who, so fewer places are met, and counted."""
    tables = {**SMALL, **LARGER}[name]
    whole = explore(tables, store=lambda: 0, invariants=(no_lost_update, below_two))
    reduced = explore(tables, store=lambda: 0, invariants=(no_lost_update, below_two), reduced=True)

    assert (True, "") == (reduced.reduced, reduced.note)
    assert reduced.states < whole.states or 1 == len(tables)
    assert verdicts(whole) == verdicts(reduced)
    assert (whole.schedules, whole.broken) == (reduced.schedules, reduced.broken)


def test_a_law_that_is_wrongly_declared_symmetric_is_asked_everywhere() -> None:
    """It tells A from B where their places are changed: the search is run whole, and says so."""

    @symmetric
    def a_is_not_first(place: Place) -> bool:
        return place.owns[0].rounds <= place.owns[1].rounds

    found = explore(register_writers(2, 1), store=lambda: 0, invariants=(a_is_not_first,), reduced=True)

    assert (False, 20, "AAA") == (found.reduced, found.schedules, found.shortest["a_is_not_first"])
    assert "run whole: a_is_not_first tells" in found.note


def test_a_symmetric_law_is_asked_between_local_acts() -> None:
    """What a worker only thinks is seen by the law, though nobody else can see it."""

    @symmetric
    def nobody_thinks_of_one(place: Place) -> bool:
        return Writer(1, 0) not in place.owns

    found = [explore(register_writers(2, 1), store=lambda: 0, invariants=(nobody_thinks_of_one,), reduced=reduced) for reduced in (False, True)]

    assert [("AA", 20), ("AA", 20)] == [(each.shortest["nobody_thinks_of_one"], each.broken["nobody_thinks_of_one"]) for each in found]


@pytest.mark.parametrize(
    "rounds, mode, states",
    [
        (3, "blind", 30_902),
        (4, "swap", 39_733),
        pytest.param(4, "blind", 191_687, marks=pytest.mark.slow),
    ],
)
def test_spaces_that_nobody_could_enumerate_are_counted(rounds: int, mode: str, states: int) -> None:
    """Three writers: as many places as other tools find, and every order of theirs."""
    tables = register_writers(3, rounds, mode=mode)
    found = explore(tables, store=lambda: 0, at_end=(no_lost_update,))

    assert states == found.states
    assert number_of_orders(tables, 0) == found.schedules > 10**11
    assert (mode == "swap") == found.holds
    assert sum(outcome.count for outcome in found.outcomes) == found.schedules


@pytest.mark.slow
def test_four_writers_of_three_rounds() -> None:
    """651,088 places, or 4,449 that stand for them; the verdict is the same."""
    tables = register_writers(4, 3, mode="swap")
    whole = explore(tables, store=lambda: 0, at_end=(no_lost_update,))
    reduced = explore(tables, store=lambda: 0, at_end=(no_lost_update,), reduced=True)

    assert (651_088, 4_449) == (whole.states, reduced.states)
    assert verdicts(whole) == verdicts(reduced)
    assert whole.holds and reduced.holds


def reporters(blind: bool) -> dict[str, Table]:
    """The two reporters of run-7 as tables: read the state, compute, submit the result."""

    def submit(fact: str) -> Callable[[Any, Any], tuple[Any, ...]]:
        def do(facts: Any, seen: Any) -> tuple[Any, ...]:
            return ((*seen, fact) if blind or facts == seen else facts), None, END

        return do

    def table(fact: str) -> Table:
        return Table((Act("read", lambda facts, own: (facts, facts)), Act("compute", keep), Act("submit", submit(fact))))

    return {"A": table("tests=green"), "B": table("scan=clean")}


@pytest.mark.parametrize("store", [NaiveStore, StateStore])
def test_tables_and_ordinary_code_agree(store: type[StateStore]) -> None:
    """The same two reporters, written both ways: orders, outcomes and the shortest loss."""
    from runstate_lab.laws import no_lost_update as nothing_lost
    from runstate_lab.worlds import run_7_at_revision_4, two_reporters

    def both_are_in(place: Place) -> bool:
        return not place.done or len(place.shared) == 2

    code = explore(two_reporters(), store=lambda: store(run_7_at_revision_4()), invariants=(nothing_lost,))
    table = explore(reporters(store is NaiveStore), store=lambda: (), invariants=(both_are_in,))
    facts = {tuple(map(str, outcome.state.facts)): outcome.count for outcome in code.outcomes}

    assert code.schedules == table.schedules == 20
    assert facts == {outcome.state: outcome.count for outcome in table.outcomes}
    if store is NaiveStore:
        assert code.broken["no_lost_update"] == table.broken["both_are_in"] == 18
        assert code.shortest["no_lost_update"] == table.shortest["both_are_in"] == "AABBBA"


def only(found: Exploration) -> Failure:
    """The one failure, with no count beside it."""
    (failure,) = found.failures
    assert found.schedules is None
    assert not found.holds
    return failure


def alone(act: Act, *more: Act, own: object = None) -> dict[str, Table]:
    """One worker, after one that has nothing to do with it."""
    return {"A": Table((Act("look", keep),)), "B": Table((act, *more), own)}


@pytest.mark.parametrize("reduced", [False, True])
def test_a_worker_that_can_go_round_for_ever_is_endless(reduced: bool) -> None:
    """Waiting by trying again has orders without end; the moves given lead back."""
    acts = (
        Act("try", lambda lane, own: (lane, own, "try") if lane else (1, own)),
        Act("leave", lambda lane, own: (0, own)),
    )
    tables = {"A": Table(acts), "B": Table(acts)}
    failure = only(explore(tables, store=lambda: 0, reduced=reduced))

    assert ("endless", "worker B", "AB") == (failure.kind, failure.who, failure.schedule)
    assert replay("A", tables, 0) == replay("AB", tables, 0)
    assert "the moves B lead back" in failure.words


@pytest.mark.parametrize("reduced", [False, True])
def test_workers_that_keep_each_other_busy_are_endless(reduced: bool) -> None:
    """Two who undo each other's work go round together."""

    def flip(to: int) -> Act:
        return Act("flip", lambda shared, own: (to, own, "flip"), when=lambda shared, own: shared != to)

    tables = {"A": Table((flip(1),)), "B": Table((flip(0),))}
    failure = only(explore(tables, store=lambda: 0, reduced=reduced))

    assert ("endless", "workers A, B", "AB") == (failure.kind, failure.who, failure.schedule)


@pytest.mark.parametrize("reduced", [False, True])
def test_alike_workers_in_a_ring_come_back_as_themselves(reduced: bool) -> None:
    """A round after which A stands where B stood is gone again, until all are back."""
    acts = (
        Act("take", lambda shared, own: (shared + 1, own), when=lambda shared, own: shared < 1),
        Act("give", lambda shared, own: (shared - 1, own, "take")),
    )
    failure = only(explore({"A": Table(acts), "B": Table(acts)}, store=lambda: 0, reduced=reduced))
    around = failure.words.split()[2]
    before = failure.schedule.removesuffix(around)
    tables = {"A": Table(acts), "B": Table(acts)}

    assert replay(before, tables, 0) == replay(failure.schedule, tables, 0)


def test_local_acts_in_a_ring_are_endless_in_a_reduced_search_too() -> None:
    """A run of local acts has an end, or is told."""
    ring = alone(Act("think", lambda _, own: (_, 1 - own)), Act("doubt", lambda _, own: (_, own, "think"), local=True), own=0)
    pure = {"A": Table((Act("think", lambda _, own: (_, 1 - own, "think"), local=True),), 0)}

    assert ["endless", "endless"] == [only(explore(ring, store=lambda: 0, reduced=each)).kind for each in (False, True)]
    assert ["endless", "endless"] == [only(explore(pure, store=lambda: 0, reduced=each)).kind for each in (False, True)]


@pytest.mark.parametrize("reduced", [False, True])
def test_workers_that_wait_for_each_other_are_stuck(reduced: bool) -> None:
    """The shortest way into it, and who stands where."""

    def take(item: str) -> Act:
        return Act(f"take the {item}", lambda held, own: (held | {item}, own), when=lambda held, own: item not in held)

    plan = Act("plan", lambda _, own: (_, "planned"), local=True)
    give = Act("give back", lambda held, own: (frozenset(), own))
    tables = {
        "A": Table((take("build"), plan, take("lane"), give)),
        "B": Table((take("lane"), take("build"), give)),
    }
    failure = only(explore(tables, store=lambda: frozenset(), reduced=reduced))

    assert ("stuck", "workers A, B") == (failure.kind, failure.who)
    assert "AAB" == "".join(sorted(failure.schedule))
    assert "nobody can move: A at take the lane, B at take the build" == failure.words
    for letter in "AB":
        with pytest.raises(OrderRefused, match="blocked"):
            replay(failure.schedule + letter, tables, frozenset())


class Box:
    """A value that equals nothing but itself."""


CALLS: list[int] = []


def growing(shared: int, own: object) -> tuple[object, ...]:
    """Remembers how often it was asked."""
    CALLS.append(shared)
    return len(CALLS), own


def spin(shared: int, own: object) -> tuple[object, ...]:
    """Never comes back."""
    while True:
        shared += 1


def leave(shared: int, own: object) -> tuple[object, ...]:
    """Ends the program, or tries to."""
    raise SystemExit(shared)


WRONG = [
    (Act("list", lambda shared, own: (shared, [1])), "raised", "a list, which can change"),
    (Act("nested", lambda shared, own: ((1, {}), own)), "raised", "a dict, which can change"),
    (Act("box", lambda shared, own: (Box(), own)), "not the same twice", "for the same values"),
    (Act("one box", lambda shared, own, box=Box(): (box, own)), "raised", "equals nothing but itself"),
    (Act("memory", growing), "not the same twice", "gave (1, None), then (2, None)"),
    (Act("bare", lambda shared, own: shared), "raised", "gave 0, where a tuple of shared and own was asked"),
    (Act("long", lambda shared, own: (1, 2, 3, 4)), "raised", "where a tuple of shared and own"),
    (Act("nowhere", lambda shared, own: (shared, own, "nowhere else")), "raised", "goes on with 'nowhere else', which is no act"),
    (Act("crash", lambda shared, own: (1 // shared, own)), "raised", "ZeroDivisionError"),
    (Act("exit", leave), "raised", "SystemExit"),
    (Act("spin", spin), "endless", "more than "),
    (Act("maybe", keep, when=lambda shared, own: 1), "raised", "gave 1, neither True nor False"),
    (Act("peep", lambda shared, own: (shared, shared + 1), local=True), "raised", "Unseen"),
    (Act("compare", lambda shared, own: (shared, shared == 0), local=True), "raised", "sees none"),
    (Act("write", lambda shared, own: (7, own), local=True), "raised", "a tuple of what it was given"),
]


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("act, kind, words", WRONG, ids=[act.name for act, _, _ in WRONG])
def test_an_act_that_is_wrong_is_told_with_its_schedule(act: Act, kind: str, words: str, reduced: bool) -> None:
    """The kind, the worker and its act, the shortest way to it, and no count."""
    CALLS.clear()
    failure = only(explore(alone(act), store=lambda: 0, reduced=reduced))

    assert (kind, "worker B", "B") == (failure.kind, failure.who, failure.schedule)
    assert f"the act {act.name}: " in failure.words
    assert words in failure.words


def test_what_the_shared_list_was_is_never_changed() -> None:
    """A start that can change is refused before anybody touches it."""
    shared: list[int] = []
    act = Act("add", lambda seen, own: (seen.append(1), own))

    assert "a list, which can change" in only(explore(alone(act), store=lambda: shared)).words
    assert "worker B" == only(explore(alone(act, own=[]), store=lambda: 0)).who
    assert [] == shared


def test_a_factory_that_fails_or_changes_its_mind_is_told() -> None:
    """Nothing is explored, and the failure says whose it is."""
    starts = iter(range(9))
    broken = only(explore(register_writers(2, 1), store=lambda: 1 // 0))
    fickle = only(explore(register_writers(2, 1), store=lambda: next(starts)))

    assert ("raised", "the store's factory") == (broken.kind, broken.who)
    assert "not the same twice" == fickle.kind


@pytest.mark.parametrize("reduced", [False, True])
def test_a_law_that_is_false_at_the_start_only_is_told(reduced: bool) -> None:
    """Every order breaks it, the shortest of them before any move."""

    def positive(place: Place) -> bool:
        return place.shared > 0

    add = (Act("add", lambda shared, own: (shared + 1, own)),)
    for crew, count in (("A", 1), ("AB", 2)):
        tables = dict.fromkeys(crew, Table(add))
        found = explore(tables, store=lambda: 0, invariants=(positive,), reduced=reduced)

        assert (count, {"positive": count}, {"positive": ""}) == (found.schedules, found.broken, found.shortest)
        assert 0 == play(found.tokens["positive"], tables, store=0).shared


ALIKE = [(1, True), (0, False), (1, 1.0), (0.0, -0.0), ((1, 2), (True, 2)), (frozenset({1}), frozenset({True}))]


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("one, other", [*ALIKE, *((other, one) for one, other in ALIKE)], ids=repr)
def test_values_that_are_only_equal_are_two_places(one: object, other: object, reduced: bool) -> None:
    """1 and True compare equal and are not the same: neither hides the other, shared or own."""

    def nobody_says_other(place: Place) -> bool:
        return repr(place.shared) != repr(other)

    say = {name: Table((Act("say", lambda _, own: (own, None)),), own) for name, own in zip("ABC", (one, other, one), strict=True)}
    found = explore(say, store=lambda: None, invariants=(nobody_says_other,), reduced=reduced)
    turn = Table((Act("turn", lambda shared, own: (shared, one)), Act("again", lambda shared, own: (shared, other)), Act("say", lambda _, own: (own, None))))
    turned = explore({"A": turn}, store=lambda: None, invariants=(nobody_says_other,), reduced=reduced)

    assert {repr(one): 4, repr(other): 2} == {repr(each.state): sum(end.count for end in found.outcomes if repr(end.state) == repr(each.state)) for each in found.outcomes}
    assert ("B", 6) == (found.shortest["nobody_says_other"], found.broken["nobody_says_other"])
    assert {"nobody_says_other": 1} == turned.broken


def test_an_act_that_gives_now_one_and_now_true_is_not_the_same_twice() -> None:
    """They compare equal, and are not the same."""
    given: list[object] = []

    def say(shared: object, own: object) -> tuple[object, object]:
        given.append(shared)
        return (1 if len(given) % 2 else True), own

    assert "not the same twice" == only(explore({"A": Table((Act("say", say),))}, store=lambda: 0)).kind


@pytest.mark.parametrize("reduced", [False, True])
def test_a_law_that_gives_no_verdict_is_a_failure(reduced: bool) -> None:
    """A law that raises late, and one that gives a number at the end."""

    def divides(place: Place) -> bool:
        return 1 // (2 - place.shared) > -9

    def number(place: Place) -> bool:
        return place.shared  # type: ignore[no-any-return]

    found = explore(register_writers(1, 2), store=lambda: 0, invariants=(divides,), at_end=(number,), reduced=reduced)

    assert None is found.schedules
    assert {("law", "divides", "AAAAAA"), ("law", "number", "AAAAAA")} == {
        (each.kind, each.who, each.schedule) for each in found.failures
    }


def test_a_space_without_bounds_is_stopped() -> None:
    """Verdicts of what was met, and no count."""
    count = {"A": Table((Act("count", lambda shared, own: (shared + 1, own, "count")),))}
    found = explore(count, store=lambda: 0, invariants=(below_two,), most=50)

    assert ("stopped after 50 places", None, 50) == (found.stopped, found.schedules, found.states)
    assert {"below_two": "AA"} == found.shortest
    assert not found.holds


def test_a_token_is_played_again_on_tables() -> None:
    """It ends where it ended; elsewhere, or on other acts, it is refused."""
    tables = register_writers(2, 1)
    token = explore(tables, store=lambda: 0, at_end=(no_lost_update,)).tokens["no_lost_update"]

    assert token.startswith("AABBBA-")
    assert not no_lost_update(play(token, tables, store=0))
    with pytest.raises(TokenRefused, match="another place"):
        play(token, tables, store=1)
    with pytest.raises(TokenRefused, match="out of date"):
        play(token, register_writers(2, 1, mode="swap"), store=0)
    with pytest.raises(OrderRefused, match="worker A done"):
        play("AAAA", tables, store=0)
    with pytest.raises(OrderRefused, match="no faults"):
        play("A!", tables, store=0)
    with pytest.raises(OrderRefused, match="the act crash: raised: ZeroDivisionError"):
        play("B", alone(Act("crash", lambda shared, own: (1 // shared, own))), store=0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: explore(register_writers(2, 1), store=lambda: 0, faults="!"),
        lambda: explore({**register_writers(1, 1), "B": len}, store=lambda: 0),
        lambda: explore({"AB": register_writers(1, 1)["A"]}, store=lambda: 0),
        lambda: explore(register_writers(1, 1), store=lambda: 0, invariants=(lambda place: True,)),
        lambda: register_writers(0, 1),
        lambda: register_writers(27, 1),
        lambda: register_writers(1, 0),
        lambda: register_writers(1, 1, mode="lock"),
        lambda: Act("", keep),
        lambda: Act(END, keep),
        lambda: Act("look", 7),  # type: ignore[arg-type]
        lambda: Act("look", keep, when=7),  # type: ignore[arg-type]
        lambda: Act("look", keep, when=keep, local=True),
        lambda: Table(()),
        lambda: Table([Act("look", keep)]),  # type: ignore[arg-type]
        lambda: Table((Act("look", keep), Act("look", keep))),
        lambda: Table(("look",)),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_refused(wrong: Callable[[], object]) -> None:
    """At once, and by a refusal that says what was asked."""
    with pytest.raises(OrderRefused, match="asked "):
        wrong()


VALUES = range(3)
EFFECT = st.fixed_dictionaries({(shared, own): st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)) for shared in VALUES for own in VALUES})


@st.composite
def acts(draw: st.DrawFn, number: int, rows: int, *, loops: bool) -> Act:
    """A random act: what it does, whether it waits, and where it goes on."""
    effect = draw(EFFECT)
    targets = [*(f"act {row}" for row in range(0 if loops else number + 1, rows)), END]
    goto = draw(st.none() | st.sampled_from(targets))
    more = () if goto is None else (goto,)
    if draw(st.booleans()):
        return Act(f"act {number}", lambda _, own: (_, effect[0, own][1], *more), local=True)
    open_at = draw(st.none() | st.sets(st.sampled_from(VALUES), min_size=1))
    when = None if open_at is None else lambda shared, own: shared in open_at
    return Act(f"act {number}", lambda shared, own: (*effect[shared, own], *more), when=when)


@st.composite
def random_tables(draw: st.DrawFn, *, loops: bool) -> dict[str, Table]:
    """Two or three workers, some of them with the same table."""
    kinds = []
    for _ in range(draw(st.integers(1, 2))):
        rows = draw(st.integers(1, 3))
        kinds.append(Table(tuple(draw(acts(row, rows, loops=loops)) for row in range(rows)), draw(st.sampled_from(VALUES))))
    return {name: draw(st.sampled_from(kinds)) for name in "ABC"[: draw(st.integers(2, 3))]}


@settings(max_examples=150, deadline=None)
@given(random_tables(loops=False))
def test_random_tables_are_counted_as_by_hand(tables: Tables) -> None:
    """Whatever they do, whoever waits: orders, breaches, outcomes, shortest schedules."""
    orders = list(every_order(tables, 0, LAWS))
    found = explore(tables, store=lambda: 0, invariants=LAWS)
    if found.failures:
        assert {"stuck"} == {failure.kind for failure in found.failures}
        assert {shared for _, shared, _ in orders} == {outcome.state for outcome in found.outcomes}
        return
    firsts = {law.__name__: [broken[law.__name__] for *_, broken in orders if law.__name__ in broken] for law in LAWS}

    assert len(orders) == found.schedules
    assert {law: len(each) for law, each in firsts.items()} == found.broken
    assert {law: min(each, key=order_of) for law, each in firsts.items() if each} == found.shortest
    assert Counter(shared for _, shared, _ in orders) == sum(
        (Counter({outcome.state: outcome.count}) for outcome in found.outcomes), Counter()
    )


@settings(max_examples=300, deadline=None)
@given(random_tables(loops=True))
def test_random_tables_reduced_say_the_same(tables: Tables) -> None:
    """Also where they go round, or get stuck; a count, where given, is the count."""
    whole = explore(tables, store=lambda: 0, invariants=LAWS)
    reduced = explore(tables, store=lambda: 0, invariants=LAWS, reduced=True)

    assert verdicts(whole) == verdicts(reduced)
    if reduced.schedules is not None:
        assert (whole.schedules, whole.broken) == (reduced.schedules, reduced.broken)
    for failure in (*whole.failures, *reduced.failures):
        replay(failure.schedule, tables, 0)


def test_an_unknown_store_is_still_code() -> None:
    """Tables change nothing for workers that are ordinary code."""

    def two(store: StateStore) -> Iterator[None]:
        yield

    assert 6 == explore({"A": two, "B": two}, store=lambda: StateStore(RunState("run-7"))).schedules
