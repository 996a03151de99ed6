"""One order of some workers: moves, faults of the line, mail, the log, refused moves."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from runstate_lab.errors import OrderRefused, OutcomeUnknown, Refusal
from runstate_lab.line import FAULTS, Line, Touch
from runstate_lab.model import RunState, RunStatus, StateProposal, ToolCall
from runstate_lab.race import NeverYields, Race, Worker, moves
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

RUNNING = RunState("run-7", status=RunStatus.RUNNING)
Steps = Generator[object, None, None]


def dispatching(call_id: str) -> Worker:
    """Look, dispatch a call, say so: three steps."""

    def worker(store: StateStore) -> Steps:
        seen = store.load()
        yield
        proposal = StateProposal("tool_dispatched", ToolCall(call_id, "deploy"), seen.revision)
        Runtime(store).accept_runtime(proposal)
        yield f"dispatched {call_id}"

    return worker


def persisting(store: StateStore) -> Steps:
    """Dispatch c1, and look whether it is there when no answer came; says what it heard."""
    seen = store.load()
    yield
    try:
        proposal = StateProposal("tool_dispatched", ToolCall("c1", "deploy"), seen.revision)
        Runtime(store).accept_runtime(proposal)
        yield "heard"
    except OutcomeUnknown as silence:
        yield str(silence)
    yield f"{len(store.load().calls)} calls"


def raced(schedule: str, *workers: Worker) -> Race:
    """The race of some workers on run-7 after these moves."""
    race = Race(dict(zip("ABC", workers, strict=False)), StateStore(RUNNING))
    for move in moves(schedule):
        race.step(move)
    return race


def calls(race: Race) -> list[str]:
    """The ids of the calls in the state."""
    return [call.call_id for call in race.store.load().calls]


def test_n_yields_make_n_plus_one_steps() -> None:
    """After the last step nothing is open."""
    race = raced("AAA", dispatching("c1"))

    assert () == race.enabled
    assert ["", "", "done"] == [step.ended for step in race.log]


def test_what_a_worker_yields_has_happened_in_the_world() -> None:
    """In the order of the moves; None says nothing, other empty values do."""

    def talking(store: StateStore) -> Steps:
        yield
        yield ""
        yield 0

    race = raced("AABAABBB", talking, talking)

    assert ("", 0, "", 0) == race.said


def test_the_log_says_who_touched_what() -> None:
    """One step a move: its number, its worker, the touches, what was said, how it ended."""
    race = raced("ABAB", dispatching("c1"), dispatching("c2"))
    first, _, third, fourth = race.log

    assert (1, "A", "A", (Touch("load", 0),), None, "") == first
    assert (3, "A", "A", "dispatched c1", "") == (*third[:3], third.said, third.ended)
    assert [("apply", 1, "tool_dispatched", "runtime", "")] == [
        (one.verb, one.revision, one.proposal.kind, one.context.source, one.code)
        for one in third.touches
    ]
    assert "revision_conflict" == fourth.ended == fourth.touches[0].code
    assert fourth.touches[0].revision is None
    assert "ABAB" == race.schedule


def test_other_touches_are_written_down_by_name() -> None:
    """Reading an attribute, setting one, calling a method; a context alone touches nothing."""

    def touching(store: StateStore) -> Steps:
        store.context("runtime", "runtime")
        yield
        len(store.trace)
        store.mine = 5
        store.note("runtime", "went on", correlation="c1")
        yield

    race = raced("AA", touching)

    assert () == race.log[0].touches
    assert ["trace", "mine", "note"] == [touch.verb for touch in race.log[1].touches]
    assert 5 == race.store.mine


def test_a_refusal_ends_its_worker_and_is_kept() -> None:
    """The other worker goes on."""
    race = raced("ABAB", dispatching("c1"), dispatching("c2"))

    assert {"B": "revision_conflict"} == {name: one.code for name, one in race.refusals.items()}
    assert [] == race.unanswered
    assert ("A",) == race.enabled
    assert ["c1"] == calls(race)


def test_a_refusal_that_the_worker_handles_ends_nothing() -> None:
    """It is its own affair; the line has seen it."""

    def stubborn(store: StateStore) -> Steps:
        for _ in range(2):
            try:
                Runtime(store).accept_runtime(StateProposal("run_started", "", 0))
            except Refusal:
                yield "refused"

    race = raced("AAA", stubborn)

    assert ({}, ("refused", "refused")) == (race.refusals, race.said)
    assert ["illegal_transition"] == [touch.code for touch in race.log[1].touches]


def test_any_other_exception_is_raised() -> None:
    """The race is not the place to hide a mistake of the worker's."""

    def mistaken(store: StateStore) -> Steps:
        yield
        raise KeyError("revision")

    with pytest.raises(KeyError):
        raced("AA", mistaken)


# move with its mark: what the worker heard, the calls after it, its mail, its touch.
LINE = {
    "A": ("heard", ["c1"], 0, "apply"),
    "A_": ("no answer to tool_dispatched", [], 0, "send"),
    "A~": ("no answer to tool_dispatched", [], 1, "send"),
    "A+": ("heard", ["c1"], 1, "apply"),
    "A?": ("no answer to tool_dispatched", ["c1"], 0, "apply"),
}


@pytest.mark.parametrize("move", LINE)
def test_the_faults_of_the_line(move: str) -> None:
    """Lost, late, twice, and arrived without an answer."""
    heard, there, mail, verb = LINE[move]
    race = raced(f"A{move}", persisting)

    assert (heard,) == race.said
    assert there == calls(race)
    assert ["a"] * mail == [one for one in race.enabled if one.islower()]
    assert [verb] == [touch.verb for touch in race.log[1].touches]


def test_every_mark_has_a_test() -> None:
    """A crash has tests of its own."""
    assert set(FAULTS) == {move[1:] for move in LINE} - {""} | {"!"}


def test_late_mail_arrives_when_it_is_delivered() -> None:
    """The store answers; nobody hears it; the log names whose mail it was."""
    race = raced("AA~a", persisting)
    delivered = race.log[2]

    assert ["c1"] == calls(race)
    assert ("a", "A", "delivered") == (delivered.move, delivered.worker, delivered.ended)
    assert ["apply"] == [touch.verb for touch in delivered.touches]
    assert ("A",) == race.enabled


def test_mail_that_is_refused_ends_nobody() -> None:
    """The second copy meets another revision; it is in the trace and in the log only."""
    race = raced("AA+a", persisting)

    assert {} == race.refusals
    assert "revision_conflict" == race.log[2].touches[0].code
    assert ["revision_conflict"] == [one.code for one in race.store.trace.refused]
    assert ["c1"] == calls(race)


def test_mail_outlives_its_worker() -> None:
    """A worker that is done or crashed cannot call it back."""
    done, crashed = raced("AA~AA", persisting), raced("AA~A!", persisting)

    assert ("a",) == done.enabled
    assert ("A", "a") == crashed.enabled
    done.step("a")
    crashed.step("a")

    assert ["c1"] == calls(done) == calls(crashed)


def test_mail_is_delivered_in_the_order_in_which_it_was_sent() -> None:
    """First in, first out, for each worker by itself."""

    def sending(store: StateStore) -> Steps:
        for name in ("c1", "c2"):
            try:
                proposal = StateProposal("tool_dispatched", ToolCall(name, "deploy"), 0)
                Runtime(store).accept_runtime(proposal)
            except OutcomeUnknown:
                yield

    race = raced("A~A~a", sending)

    assert ["c1"] == calls(race)
    race.step("a")

    assert ["tool_dispatched c1", "tool_dispatched c2"] == [
        f"{entry.event.kind} {entry.event.value.call_id}" for entry in race.store.trace
    ]


def test_a_fault_meets_the_first_proposal_of_its_step_only() -> None:
    """The second one of the same step arrives."""

    def hasty(store: StateStore) -> Steps:
        yield
        for name in ("c1", "c2"):
            try:
                proposal = StateProposal("tool_dispatched", ToolCall(name, "deploy"), 0)
                Runtime(store).accept_runtime(proposal)
            except OutcomeUnknown:
                pass

    assert ["c2"] == calls(raced("AA_", hasty))


def test_an_answer_that_never_came_ends_a_worker_that_does_not_expect_it() -> None:
    """It is no refusal: nobody knows whether it happened."""
    race = raced("AA?", dispatching("c1"))

    assert ["A"] == race.unanswered
    assert ({}, "no answer", ["c1"]) == (race.refusals, race.log[1].ended, calls(race))
    assert () == race.enabled


def test_a_lost_answer_hides_a_refusal_too() -> None:
    """The worker hears nothing, the trace has it."""
    race = raced("ABAB?", dispatching("c1"), dispatching("c2"))

    assert (["B"], {}) == (race.unanswered, race.refusals)
    assert ["revision_conflict"] == [one.code for one in race.store.trace.refused]


def test_a_crashed_worker_starts_again_from_its_beginning() -> None:
    """What it said and wrote stays; what it knew is gone, and no clean-up is done."""
    cleaned: list[str] = []

    def careful(store: StateStore) -> Steps:
        try:
            yield f"{len(store.load().calls)} calls seen"
            Runtime(store).accept_runtime(
                StateProposal("tool_dispatched", ToolCall("c1", "deploy"), 0)
            )
            yield
        finally:
            cleaned.append("cleaned")

    race = raced("AAA!A", careful)

    assert ("0 calls seen", "1 calls seen") == race.said
    assert ["", "", "crashed", ""] == [step.ended for step in race.log]
    assert [] == cleaned
    assert () == race.log[2].touches


def test_a_crash_before_the_first_step_changes_nothing() -> None:
    """It is a legal move all the same."""
    race = raced("A!AAA", dispatching("c1"))

    assert ["c1"] == calls(race)
    assert "A!AAA" == race.schedule


def looking(store: StateStore) -> Steps:
    """Two steps that send nothing."""
    store.load()
    yield


@pytest.mark.parametrize(
    ("schedule", "move", "words"),
    [
        ("", "C", "these moves open: A, B"),
        ("", "a", "these moves open: A, B"),
        ("", "AB", "these moves open: A, B"),
        ("", "A5", "these moves open: A, B"),
        ("", "", "these moves open: A, B"),
        ("", "!", "these moves open: A, B"),
        ("", None, "these moves open: A, B"),
        ("AA", "A", "these moves open: B"),
        ("AA", "A!", "these moves open: B"),
        ("AABB", "A", "these moves open: none"),
        ("", "A_", "a step of A that sends no proposal"),
        ("", "A~", "a step of A that sends no proposal"),
    ],
)
def test_a_move_that_is_not_open_is_refused(schedule: str, move: object, words: str) -> None:
    """The refusal says which moves are, or that the mark hits nothing."""
    race = raced(schedule, looking, looking)

    with pytest.raises(OrderRefused) as caught:
        race.step(move)

    assert words == caught.value.found


def test_a_mark_that_hit_nothing_does_not_wait_for_the_next_step() -> None:
    """The fault was ordered for that step, not for the worker."""
    race = raced("", dispatching("c1"))
    with pytest.raises(OrderRefused):
        race.step("A_")
    race.step("A")

    assert ["c1"] == calls(race)


@pytest.mark.parametrize(
    ("workers", "found"),
    [
        ({}, "[]"),
        ({"": looking}, "['']"),
        ({"a": looking}, "['a']"),
        ({"AB": looking}, "['AB']"),
        ({"É": looking}, "['É']"),
        ({1: looking}, "[1]"),
        ([looking], "a list"),
        (looking, "a function"),
    ],
)
def test_workers_are_named_by_one_capital_letter(workers: object, found: str) -> None:
    """Small letters are mail, digits and longer names would not read as a schedule."""
    with pytest.raises(OrderRefused) as caught:
        Race(workers, StateStore(RUNNING))

    assert found == caught.value.found


def test_an_ordinary_function_is_no_worker() -> None:
    """It would do all its work before the first move."""

    def at_once(store: StateStore) -> RunState:
        return store.load()

    with pytest.raises(NeverYields, match="a function that gave a RunState"):
        Race({"A": at_once}, StateStore(RUNNING))


@pytest.mark.parametrize(
    ("schedule", "found"),
    [
        ("", ()),
        ("AB", ("A", "B")),
        ("A!B_a", ("A!", "B_", "a")),
        ("A?A~A+", ("A?", "A~", "A+")),
    ],
)
def test_a_schedule_is_text(schedule: str, found: tuple[str, ...]) -> None:
    """A mark belongs to the capital letter before it."""
    assert found == moves(schedule)


@pytest.mark.parametrize("schedule", ["A1", "a!", "!A", "A!!", "A B", "É"])
def test_other_text_is_no_schedule(schedule: str) -> None:
    """Mail has no marks, a move has one mark at most."""
    with pytest.raises(OrderRefused, match="which is no move"):
        moves(schedule)


def test_a_worker_sees_its_store_and_nothing_else() -> None:
    """Attributes, methods and errors are the store's own; a method is a touch when it is called."""
    store = StateStore(RUNNING)
    line = Line(store)
    kept = line.seen.load

    assert store.rules is line.seen.rules
    assert isinstance(line.seen, StateStore)
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = line.seen.no_such_thing
    assert ["rules", "no_such_thing"] == [touch.verb for touch in line.taken()]
    assert RUNNING == kept()
    assert [Touch("load", 0)] == list(line.taken())
    assert () == line.taken()


class Shelf:
    """A store with the words of the line for its own, and words of its own for load and apply."""

    order, ordered, taken, mail, touches, fault, store, seen, passed = range(9)

    def deliver(self, what: str) -> str:
        """A delivery of the store's own."""
        return f"{what} delivered"

    def load(self, key: str, *, default: int = 0) -> int:
        """One value by its key."""
        return default + len(key)

    def apply(self, kind: str, value: int) -> Refusal | int:
        """A refusal is given, not raised."""
        return value if value > 0 else OrderRefused(kind, "nothing")

    def __len__(self) -> int:
        return 3

    def __getitem__(self, key: str) -> str:
        return key * 2

    def __iter__(self) -> Iterator[str]:
        return iter("abc")

    def __call__(self, *words: str) -> int:
        return len(words)

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *error: object) -> bool:
        return error[0] is KeyError


def test_no_word_of_the_line_hides_one_of_the_store() -> None:
    """Its own names, its own signatures, and what Python asks of its class."""
    line = Line(Shelf())
    seen = line.seen
    with seen as entered:
        raise KeyError
    names = ["order", "ordered", "taken", "mail", "touches", "fault", "store", "seen", "passed"]

    assert list(range(9)) == [getattr(seen, name) for name in names]
    assert ("c1 delivered", 7) == (seen.deliver("c1"), seen.load("a1", default=5))
    assert (3, "xx", ["a", "b", "c"], 2) == (len(seen), seen["x"], list(seen), seen("go", "on"))
    assert entered is seen
    assert (5, "order_refused") == (seen.apply("add", 5), seen.apply("add", value=0).code)
    assert ["", "order_refused"] == [touch.code for touch in line.taken() if touch.verb == "apply"]


def test_a_fault_meets_an_apply_of_the_stores_own() -> None:
    """Whatever is handed over is handed over later."""
    line = Line(Shelf())
    line.order("~")
    with pytest.raises(OutcomeUnknown):
        line.seen.apply("add", value=5)
    line.deliver()

    assert ["send", "apply"] == [touch.verb for touch in line.taken()]


def test_what_was_accepted_is_seen_from_the_lines() -> None:
    """Proposals that were answered, and mail that arrived; not what was refused or is on its way."""
    race = raced("ABAB", dispatching("c1"), dispatching("c2"))
    late = raced("AA~", persisting)

    assert ["c1"] == [event.value.call_id for event in race.accepted]
    assert ["A"] == [name for name, _ in race.acknowledged]
    assert () == late.accepted
    late.step("a")
    assert [("tool_dispatched", "runtime", 0)] == [
        (event.kind, event.authority, event.expected_revision) for event in late.accepted
    ]


def test_a_refusal_with_an_init_of_its_own_is_kept() -> None:
    """It cannot be made anew, so the race keeps the one that was raised."""

    class Closed(Refusal):
        """A learner's refusal."""

        code = "closed"

        def __init__(self) -> None:
            super().__init__("to deploy", "a closed door")

    def declining(store: StateStore) -> Steps:
        yield
        raise Closed

    assert "closed" == raced("AA", declining).refusals["A"].code
