"""The worlds to explore: exact counts, the shortest bad order, tokens; beside a search by hand."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache

import pytest
from bruteforce import Walked, walked

from runstate_lab.errors import Malformed, OrderRefused, OutcomeUnknown, RevisionConflict, TokenRefused
from runstate_lab.exploration import Exploration
from runstate_lab.laws import no_effect_twice, no_lost_update
from runstate_lab.model import RunState, RunStatus, StateProposal, ToolCall
from runstate_lab.orders import explore, explore_world, play
from runstate_lab.race import Race, Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.tokens import Token
from runstate_lab.variants import RIGHT
from runstate_lab.worlds import WORLDS

LOST, OLD = "no_lost_update", "no_decision_on_old_facts"
PENDING, CLOSED, OPEN = (
    "nothing_pending_at_completion",
    "no_result_for_a_closed_call",
    "nothing_left_open",
)
DOUBLE, TWICE, INTENT = "no_double_claim", "no_effect_twice", "intent_before_effect"
HOLDER, RETURN, AFTER = (
    "only_the_holder_reports",
    "no_terminal_return",
    "nothing_begins_after_the_end",
)
ONE, STALE = "one_approval_one_effect", "no_stale_approval"
STRANGE = "no_event_of_a_stranger"
CONFLICT, ILLEGAL, REPEATED = "revision_conflict", "illegal_transition", "call_repeated"

# world, variant: orders; law: orders that break it and the shortest one; code: orders with it.
Row = tuple[int, dict[str, tuple[int, str]], dict[str, int]]
EXPECTED: dict[str, dict[str, Row]] = {
    "two_writers": {
        "compare-and-swap": (20, {}, {CONFLICT: 18}),
        "naive": (20, {LOST: (18, "AABBBA"), OLD: (18, "AABBBA")}, {}),
        "last-write-wins": (20, {OLD: (18, "AABBBA")}, {}),
        "no authority": (20, {}, {CONFLICT: 18}),
    },
    "three_writers": {
        "compare-and-swap": (90, {}, {CONFLICT: 84}),
        "naive": (90, {LOST: (84, "ABBA"), OLD: (84, "ABBA")}, {}),
        "last-write-wins": (90, {OLD: (84, "ABBA")}, {}),
    },
    "stranger": {
        "compare-and-swap": (6, {}, {"writer_rejected": 6}),
        "no authority": (6, {STRANGE: (4, "BB")}, {CONFLICT: 4, "call_late": 1}),
    },
    "early_completion": {
        "compare-and-swap": (6, {}, {CONFLICT: 2, "still_pending": 3}),
        "pending blind": (6, {PENDING: (3, "BB")}, {CONFLICT: 4, "call_late": 1}),
    },
    "no_answer": {
        "compare-and-swap": (23, {}, {CONFLICT: 15}),
        "sent blindly": (54, {}, {CONFLICT: 24, REPEATED: 46}),
        "sent blindly, repeating": (54, {CLOSED: (46, "AA?AA")}, {CONFLICT: 32}),
        "sent once": (4, {OPEN: (1, "AA_")}, {}),
    },
    "two_schedulers": {
        "compare-and-swap": (18, {}, {CONFLICT: 12}),
        "naive": (
            46,
            {DOUBLE: (40, "ABBA"), TWICE: (40, "ABBBAA")},
            {"attempt_fenced": 20, ILLEGAL: 16},
        ),
        "last-write-wins": (18, {}, {ILLEGAL: 12}),
        "grabbing": (
            42,
            {TWICE: (30, "AAABBB"), INTENT: (30, "AAABBB")},
            {ILLEGAL: 20, "attempt_fenced": 10, CONFLICT: 12},
        ),
        "build first": (20, {TWICE: (18, "AABB"), INTENT: (20, "AA")}, {CONFLICT: 18}),
    },
    "stalled_worker": {
        "compare-and-swap": (8, {}, {ILLEGAL: 5, "attempt_fenced": 1, CONFLICT: 2}),
        "fenced by name": (8, {HOLDER: (1, "ABBA")}, {ILLEGAL: 6, CONFLICT: 2}),
    },
    "crash_between": {
        "compare-and-swap": (7, {}, {}),
        "repeats what runs": (7, {TWICE: (2, "AAA!AA"), INTENT: (2, "AAA!AA")}, {}),
        "effect first": (5, {TWICE: (2, "AA!A"), INTENT: (5, "A")}, {}),
        "once per batch": (3, {TWICE: (2, "AA!A"), INTENT: (3, "A")}, {}),
    },
    "approve_or_cancel": {
        "compare-and-swap": (50, {}, {ILLEGAL: 10, CONFLICT: 38, "call_late": 3}),
        "naive": (50, {RETURN: (14, "ABBA"), AFTER: (4, "AACBBC")}, {ILLEGAL: 12, "call_late": 11}),
        "restartable": (50, {RETURN: (10, "BBCC")}, {CONFLICT: 38, "call_late": 3}),
        "effect first": (40, {INTENT: (17, "AACC")}, {CONFLICT: 32}),
    },
    "two_resumes": {
        "compare-and-swap": (18, {}, {CONFLICT: 12}),
        "naive": (46, {ONE: (40, "ABBBAA")}, {REPEATED: 36}),
        "last-write-wins": (18, {}, {REPEATED: 12}),
        "effect first": (20, {ONE: (18, "AABB"), INTENT: (20, "AA")}, {CONFLICT: 18}),
        "insisting": (18, {}, {CONFLICT: 12, "call_not_approved": 12}),
        "insisting, sticky grant": (46, {ONE: (40, "ABBBAA")}, {CONFLICT: 40}),
    },
    "stale_approval": {
        "compare-and-swap": (7, {}, {ILLEGAL: 1, "answer_repeated": 2, "answer_stale": 1}),
        "stale desk": (7, {STALE: (1, "ABBBA")}, {ILLEGAL: 1, "answer_repeated": 2}),
        "always open": (7, {STALE: (3, "ABA")}, {ILLEGAL: 1, CONFLICT: 2}),
    },
    "late_result": {
        "compare-and-swap": (27, {}, {REPEATED: 27, CONFLICT: 10}),
        "no key, given up": (16, {}, {REPEATED: 12, CONFLICT: 10, "call_late": 4}),
        "no key, retried": (16, {}, {REPEATED: 16, CONFLICT: 10, "retry_unsafe": 4}),
        "naive": (39, {CLOSED: (2, "BAABA"), LOST: (22, "BAAB")}, {REPEATED: 37}),
        "repeating": (27, {CLOSED: (12, "AAA")}, {CONFLICT: 10, REPEATED: 15}),
        "late ledger": (16, {CLOSED: (4, "BBBAA")}, {REPEATED: 16, CONFLICT: 10}),
        "blind retry": (27, {TWICE: (15, "ABBBB")}, {REPEATED: 27, CONFLICT: 10}),
        "silence is failure": (24, {TWICE: (18, "ABBBB")}, {REPEATED: 24, CONFLICT: 4}),
    },
}

EVERY = [(world, variant) for world, rows in EXPECTED.items() for variant in rows]
each = pytest.mark.parametrize(("world", "variant"), EVERY, ids=["/".join(one) for one in EVERY])


@cache
def explored(world: str, variant: str) -> Exploration:
    """What the kit finds."""
    return explore_world(world, variant)


@cache
def by_hand(world: str, variant: str) -> Walked:
    """What a walk through all orders finds."""
    one = WORLDS[world]
    workers = one.variant(variant).workers
    return walked(workers, lambda: one.fresh(variant), one.invariants, one.at_end, one.faults)


def tokens() -> list[tuple[str, str, str, str]]:
    """Every token of every world: world, variant, law, token."""
    return [
        (world, variant, law, token)
        for world, variant in EVERY
        for law, token in explored(world, variant).tokens.items()
    ]


def test_the_table_names_every_world_and_variant() -> None:
    """What is not in the table is not tested."""
    there = {name: list(world.variants) for name, world in WORLDS.items()}

    assert there == {name: list(rows) for name, rows in EXPECTED.items()}


@each
def test_counts_are_exact(world: str, variant: str) -> None:
    """Orders, broken laws with their shortest order, refused codes: as written by hand."""
    found = explored(world, variant)
    broken = {law: (count, found.shortest[law]) for law, count in found.broken.items() if count}

    assert EXPECTED[world][variant] == (found.schedules, broken, dict(found.refused))
    assert found.runs == found.schedules
    assert sorted(found.shortest) == sorted(broken) == sorted(found.tokens)


@each
def test_a_walk_by_hand_finds_the_same(world: str, variant: str) -> None:
    """Another search, which shares nothing but the race, counts the same."""
    found, hand = explored(world, variant), by_hand(world, variant)

    assert hand.orders == found.schedules
    assert hand.broken == {law: count for law, count in found.broken.items() if count}
    assert hand.refused == found.refused
    assert hand.ends == {(one.state, frozenset(one.broken)) for one in found.outcomes}


@each
def test_no_shorter_order_breaks_the_law(world: str, variant: str) -> None:
    """Every prefix of every order was tried: the shortest that breaks it is the one given."""
    found, hand = explored(world, variant), by_hand(world, variant)

    assert set(hand.breaking) == set(found.shortest)
    for law, schedule in found.shortest.items():
        first = min(hand.breaking[law], key=lambda made: (len(made), hands(made), "".join(made)))

        assert "".join(first) == schedule


def hands(made: tuple[str, ...]) -> int:
    """How often the next move is another worker's."""
    names = [move[0].upper() for move in made]
    return sum(one != other for one, other in zip(names, names[1:], strict=False))


@pytest.mark.parametrize(
    ("world", "variant", "law", "moves"),
    [
        ("two_writers", "naive", LOST, 6),
        ("two_schedulers", "naive", DOUBLE, 4),
        ("stale_approval", "stale desk", STALE, 5),
        ("two_resumes", "naive", ONE, 6),
    ],
)
def test_the_four_faults_of_the_lessons_need_so_many_moves(
    world: str, variant: str, law: str, moves: int
) -> None:
    """Played one by one, no text of fewer letters breaks the law; one of so many does."""
    one = WORLDS[world]
    found, judge = set(), next(law_ for law_ in one.invariants if law_.__name__ == law)
    texts = [""]
    for length in range(moves + 1):
        played = [(text, played_if_it_can_be(world, variant, text)) for text in texts]
        found |= {length for _, race in played if race is not None and not judge(race)}
        texts = [text + name for text, race in played if race is not None for name in one.actors]

    assert {moves} == found


def played_if_it_can_be(world: str, variant: str, schedule: str) -> Race | None:
    """The race after an order; None where one of its moves is not open."""
    one = WORLDS[world]
    try:
        return play(schedule, one.variant(variant).workers, store=one.fresh(variant))
    except OrderRefused:
        return None


@each
def test_a_reduced_search_gives_the_same_verdicts_and_outcomes(world: str, variant: str) -> None:
    """Which laws break, which codes are met, which states are reached; counts it does not give."""
    full, reduced = explored(world, variant), explore_world(world, variant, reduced=True)

    assert reduced.schedules is None
    assert reduced.runs <= full.runs
    assert {law: bool(count) for law, count in full.broken.items()} == reduced.broken
    assert set(full.refused) == set(reduced.refused)
    assert ends(full) == ends(reduced)
    assert full.holds is reduced.holds


def ends(found: Exploration) -> set[tuple[object, tuple[str, ...]]]:
    """The final states with the laws that were broken on the way."""
    return {(one.state, one.broken) for one in found.outcomes}


@each
def test_outcomes_add_up(world: str, variant: str) -> None:
    """Each order ends in one outcome; each example ends where it says."""
    found, one = explored(world, variant), WORLDS[world]

    assert found.schedules == sum(outcome.count for outcome in found.outcomes)
    for outcome in found.outcomes:
        race = play(outcome.schedule, one.variant(variant).workers, store=one.fresh(variant))

        assert outcome.state == race.store.load()
        assert () == race.enabled


@pytest.mark.parametrize("world", WORLDS)
def test_the_right_variant_is_named_first_and_holds(world: str) -> None:
    """Without a name the right variant is explored, and no law breaks in it."""
    assert RIGHT == next(iter(WORLDS[world].variants))
    assert explore_world(world).holds
    assert explore_world(world).outcomes == explored(world, RIGHT).outcomes


def test_every_world_has_a_variant_that_breaks_a_law() -> None:
    """A world in which nothing can go wrong shows nothing."""
    broken = {world for world, variant in EVERY if not explored(world, variant).holds}

    assert set(WORLDS) == broken


def test_every_law_is_broken_somewhere_but_never_in_a_right_variant() -> None:
    """A law that nobody can break would prove nothing."""
    laws = {law.__name__ for one in WORLDS.values() for law in one.invariants + one.at_end}
    broken = {law for world, variant in EVERY for law in explored(world, variant).shortest}
    never = {law for world in WORLDS for law in explored(world, RIGHT).shortest}

    assert laws == broken
    assert set() == never
    assert 14 == len(laws)


@pytest.mark.parametrize("world", WORLDS)
def test_actors_are_the_workers_of_every_variant(world: str) -> None:
    """A letter means the same one in all variants of a world."""
    one = WORLDS[world]

    assert {tuple(one.actors)} == {tuple(variant.workers) for variant in one.variants.values()}


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_starts_anew_each_time(world: str) -> None:
    """Two starts are equal, and no store is handed out twice."""
    one = WORLDS[world]

    assert one.start() == one.start()
    assert one.fresh() is not one.fresh()
    assert type(one.fresh()) is StateStore


def test_a_world_takes_a_store_of_your_own() -> None:
    """Explored on a learner's class, its tokens name no world and need the class again."""

    class Mine(StateStore):
        """It forgets to refuse an old page."""

        def _check(self, event: object) -> None:
            self._state = RunState("run-7", revision=self._state.revision, calls=self._state.calls)

    found = explore_world("two_writers", store=Mine)
    token = found.tokens[LOST]
    one = WORLDS["two_writers"]
    race = play(token, one.variant().workers, store=Mine(one.start()))

    assert (20, 20) == (found.schedules, found.broken[LOST])
    assert found.shortest[LOST] == race.schedule
    with pytest.raises(TokenRefused, match="the order names no world"):
        play(token)
    with pytest.raises(TokenRefused, match="the token belongs to another place"):
        play(token, one.variant().workers, store=one.fresh())


def test_every_token_plays_again_to_the_same_end() -> None:
    """Without workers or a store, to the order and the state it was made from."""
    for world, variant, law, token in tokens():
        one = WORLDS[world]
        judge = next(rule for rule in one.invariants + one.at_end if rule.__name__ == law)
        race = play(token)
        again = play(race.schedule, one.variant(variant).workers, store=one.fresh(variant))

        assert explored(world, variant).shortest[law] == race.schedule
        assert not judge(race)
        assert (race.store.load(), race.said) == (again.store.load(), again.said)

    assert 39 == len(tokens())


def test_a_token_with_one_letter_changed_is_refused() -> None:
    """At every place, whatever is typed there instead."""
    reasons = set()
    for *_, token in tokens():
        for place, letter in enumerate(token):
            for other in set("ABab0f-/!") - {letter}:
                with pytest.raises(TokenRefused) as caught:
                    play(token[:place] + other + token[place + 1 :])
                reasons.add(caught.value.reason)

    assert {"this is no token", "the token does not add up"} <= reasons


GOOD = "two_writers", "naive"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"world": "two_authors"}, "the token's world is not of this kit"),
        ({"store": "hopeful"}, "the token's world is not of this kit"),
        ({"store": "last-write-wins"}, "the token belongs to another place"),
        ({"world": "three_writers"}, "the token belongs to another place"),
        ({"place": "0000"}, "the token belongs to another place"),
        ({"end": "0000"}, "the token is out of date"),
        ({"schedule": "AABBAB"}, "the token is out of date"),
        ({"schedule": "AAAAA"}, "the token is out of date"),
        ({"schedule": "A_"}, "the token is out of date"),
    ],
)
def test_a_foreign_or_old_token_is_refused(changes: dict[str, str], reason: str) -> None:
    """Made by hand so that it adds up: the reason says what is wrong with it."""
    good = Token.read(explored(*GOOD).tokens[LOST])
    parts = {name: getattr(good, name) for name in ("schedule", "world", "store", "place", "end")}

    with pytest.raises(TokenRefused) as caught:
        play(str(Token(**parts | changes)))

    assert reason == caught.value.reason


@pytest.mark.parametrize("text", ["", "hello-world", "AABBBA-5d0e-91c2", "5", None, 7])
def test_what_is_no_token_is_refused(text: object) -> None:
    """An empty text is an order of no moves, so it lacks a world; the rest is no token."""
    with pytest.raises((TokenRefused, Malformed)):
        play(text)


@pytest.mark.parametrize(
    ("name", "variant", "words"),
    [("two_authors", "", "the world 'two_authors'"), ("two_writers", "x", "the variant 'x'")],
)
def test_a_world_or_variant_that_is_not_there_is_refused(
    name: str, variant: str, words: str
) -> None:
    """The refusal lists what there is."""
    with pytest.raises(OrderRefused, match=words):
        explore_world(name, variant)


def sending(call_id: str) -> Worker:
    """Compute, look, dispatch a call, and look again whether it is there when nothing was heard."""

    def worker(store: StateStore) -> Generator[object, None, None]:
        yield
        while (seen := store.load()).call(call_id) is None:
            yield
            try:
                proposal = StateProposal(
                    "tool_dispatched", ToolCall(call_id, "deploy"), seen.revision
                )
                Runtime(store).accept_runtime(proposal)
                yield f"dispatched {call_id}"
                return
            except (OutcomeUnknown, RevisionConflict):
                yield

    return worker


def glancing(store: StateStore) -> Generator[object, None, None]:
    """Compute, then look and cancel the run at once."""
    yield
    proposal = StateProposal("run_cancelled", "no", store.load().revision)
    Runtime(store).accept_runtime(proposal)


@pytest.mark.parametrize(
    ("workers", "faults", "orders"),
    [
        ("A", "", 1),
        ("A", "!", 4),
        ("A", "!!", 11),
        ("A", "~", 5),
        ("A", "!~", 33),
        ("A", "!!~", 135),
        ("A", "_~+?", 45),
        ("AB", "!", 177),
        ("AB", "~", 183),
    ],
)
def test_faults_are_counted_as_by_hand(workers: str, faults: str, orders: int) -> None:
    """Each mark at most once in an order, a crash only where something was begun."""
    laws = (no_effect_twice, no_lost_update)
    crew = {name: {"A": sending("c1"), "B": glancing}[name] for name in workers}
    start = RunState("run-7", status=RunStatus.RUNNING)
    hand = walked(crew, lambda: StateStore(start), laws, faults=faults)
    found = explore(crew, store=lambda: StateStore(start), invariants=laws, faults=faults)
    reduced = explore(
        crew, store=lambda: StateStore(start), invariants=laws, faults=faults, reduced=True
    )

    assert orders == hand.orders == found.schedules
    assert hand.broken == {law: count for law, count in found.broken.items() if count}
    assert hand.refused == found.refused
    assert hand.ends == {(one.state, frozenset(one.broken)) for one in found.outcomes}
    assert ends(found) == ends(reduced)
    assert {law: bool(count) for law, count in found.broken.items()} == reduced.broken
    assert set(found.refused) == set(reduced.refused)
    assert reduced.runs < found.runs or workers == "A"


def talking(words: str) -> Worker:
    """Compute, then say something to the world; the store is never touched."""

    def worker(store: StateStore) -> Generator[object, None, None]:
        yield
        yield words

    return worker


def build_is_said_first(race: Race) -> bool:
    """Nothing is said before the build."""
    return race.said[:1] in ((), ("built",))


def test_a_reduced_search_keeps_the_order_of_what_is_said() -> None:
    """A step that says something is seen by the world, though it touches no store."""
    crew = {"A": talking("built"), "B": talking("deployed")}
    full, reduced = (
        explore(crew, store=idle_store, invariants=(build_is_said_first,), reduced=reduced)
        for reduced in (False, True)
    )

    assert (20, 10) == (full.schedules, full.broken["build_is_said_first"])
    assert {"build_is_said_first": True} == reduced.broken
    assert 2 == reduced.runs


def test_a_reduced_search_crashes_a_worker_before_its_last_step_too() -> None:
    """That step does nothing, but after it the worker can crash no more."""
    for reduced in (False, True):
        found = explore(
            {"A": talking("deployed")},
            store=idle_store,
            invariants=(no_effect_twice,),
            faults="!",
            reduced=reduced,
        )

        assert {"no_effect_twice": "AAA!AA"} == found.shortest


def idle_store() -> StateStore:
    """A fresh store that nobody writes to."""
    return StateStore(RunState("run-7"))
