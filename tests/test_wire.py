"""What a test can do with `student`, with a student who means no harm."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable, Iterator

import pytest

from runstate_lab.errors import ContextRejected, Refusal, RevisionConflict
from runstate_lab.grading.channel import Channel
from runstate_lab.grading.faults import (
    HandleMisuse,
    NameMissing,
    StudentError,
    StudentTimeout,
    TooMuch,
    WorkerGone,
)
from runstate_lab.grading.handle import Handle
from runstate_lab.grading.kinds import kind_of, kind_of_name
from runstate_lab.grading.proxy import Student, WorkerUnavailable
from runstate_lab.model import ExecutionContext, RunState, RunStatus, StateProposal
from runstate_lab.rules import RULES
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

GIVEN = """
from runstate_lab import *
from runstate_lab.model import *
from runstate_lab.errors import *
from runstate_lab.rules import RULES, arrows
from runstate_lab.store import StateStore
"""
ANSWER = '''
print("the answer is loaded")
LIMIT = 3

def add(a, b): return a + b
def echo(value): return value
def fields(context): return context.source, context.call_id, context.tick, context.epoch
def apply(function, value): return function(value)
def exit_arrows(): return frozenset(arrow for arrow in arrows() if arrow[0] == "waiting")
def steps():
    yield "read"
    yield "compute"
def boom(value): raise ValueError(f"bad {value}")
def refuse(): raise RevisionConflict("to write at revision 4", "revision 5")
def stop(value): raise StopIteration(value)
def hang():
    while True: pass
def chatter(): print("x" * 100_000)
def ask(): return input()
def is_rules(rules): return rules is RULES
class OwnError(KeyError): pass
def own_error(): raise OwnError("build")
class RevisionConflictToo(RevisionConflict): pass
def own_refusal(): raise RevisionConflictToo("to write", "revision 5")
class Store(StateStore): pass
def careful(store, kind):
    """Reads, offers, and on a conflict reads again, once."""
    context = store.context("runtime", "runtime")
    state = store.load()
    yield "read"
    try:
        yield store.apply(StateProposal(kind, "", state.revision), context=context)
    except RevisionConflict as conflict:
        yield conflict
'''
CELLS = [(GIVEN, "given"), (ANSWER, "04.1")]
START = StateProposal("run_started", "", 0)
LEVEL = "none"  # what is tested here holds behind any walls; see test_confinement


@pytest.fixture(scope="module")
def shared() -> Iterator[Student]:
    """One worker for the cases that leave it alive."""
    with Student(CELLS, level=LEVEL, call_timeout=20.0) as student:
        yield student


@pytest.fixture
def student() -> Iterator[Student]:
    """A worker of the case's own."""
    worker = Student(CELLS, level=LEVEL, call_timeout=20.0)
    yield worker
    worker.close()


def test_a_call_gives_plain_data(shared: Student) -> None:
    """Functions, constants and frozen values of the student arrive by value."""
    assert 5 == shared.add(2, 3)
    assert 3 == shared.LIMIT
    assert {"running", "failed", "cancelled"} == {to for _, to, _ in shared.exit_arrows()}
    assert RunStatus.FAILED is shared.echo(RunStatus.FAILED)


def test_strict_equality_is_offered(shared: Student) -> None:
    """A test can ask for the type as well: 5.0 is not 5."""
    assert shared.equal(5, shared.add(2, 3))
    assert not shared.equal(5, shared.add(2.0, 3))


def test_a_rules_table_arrives_as_the_table(shared: Student) -> None:
    """The worker's own RULES stands for ours, by name."""
    assert shared.is_rules(RULES) is True


def test_an_exception_is_the_builtin_of_that_name(shared: Student) -> None:
    """pytest.raises works with the builtin; the student's words are kept."""
    with pytest.raises(ValueError, match="bad 7") as caught:
        shared.boom(7)

    assert "ValueError" == caught.value.type_name
    assert "<cell 04.1>" in caught.value.trace


def test_an_exception_of_the_students_own_keeps_its_base(shared: Student) -> None:
    """A subclass of KeyError is a KeyError, and its name is a plain text."""
    with pytest.raises(KeyError) as caught:
        shared.own_error()

    assert ("OwnError", StudentError) == (caught.value.type_name, type(caught.value).__mro__[1])


def test_a_refusal_is_the_books_refusal(shared: Student) -> None:
    """The book's class, code and words, and equal to the book's own value."""
    with pytest.raises(RevisionConflict) as caught:
        shared.refuse()

    expected = RevisionConflict("to write at revision 4", "revision 5")
    assert ("revision_conflict", "revision 5") == (caught.value.code, caught.value.found)
    assert expected == caught.value
    assert caught.value == expected
    assert expected == caught.value.kept()


def test_an_exception_never_steers_the_test(shared: Student) -> None:
    """StopIteration under all(map(...)) does not end the loop as if it held."""
    with pytest.raises(StudentError, match="StopIteration"):
        all(map(shared.stop, [1, 2]))


def test_a_missing_name_is_said(shared: Student) -> None:
    """The test fails with the name, as an ordinary exception."""
    with pytest.raises(NameMissing, match="compare_and_swap is not defined"):
        shared.compare_and_swap(1)


def test_a_generator_is_taken_item_by_item(shared: Student) -> None:
    """`take` goes on where it stopped, and an end is an empty list."""
    steps = shared.steps()

    assert ["read"] == shared.take(steps, 1)
    assert ["compute"] == shared.take(steps, 5)
    assert [] == shared.take(steps, 5)


def test_a_students_store_recognises_its_own_contexts(shared: Student) -> None:
    """A context goes out and comes back as the same object; a typed one opens nothing."""
    store = shared.Store(RunState("run-7"))
    minted = store.context("runtime", "runtime")
    with pytest.raises(ContextRejected):
        store.apply(START, context=ExecutionContext("runtime", "runtime"))
    state = store.apply(START, context=minted)

    assert RunState("run-7", status=RunStatus.RUNNING, revision=1) == state
    assert ["context_rejected"] == [refusal.code for refusal in store.trace.refused]
    assert ("runtime", None) == (minted.source, minted.call_id)


def test_our_doors_work_on_a_students_store(shared: Student) -> None:
    """The book's Runtime runs on our side, the student's store on the other."""
    runtime = Runtime(shared.Store(RunState("run-7")))

    assert RunStatus.RUNNING is runtime.accept_runtime(START).status
    with pytest.raises(RevisionConflict):
        runtime.accept_runtime(START)


def test_a_students_code_works_on_our_store(shared: Student) -> None:
    """Our store keeps the truth; the student catches our refusal as the book's."""
    store = StateStore(RunState("run-7"))
    worker = shared.careful(shared.export(store, "load", "context", "apply"), "run_started")
    read = shared.take(worker, 1)
    Runtime(store).accept_runtime(START)
    written = shared.take(worker, 1)

    assert ["read"] == read
    assert [RevisionConflict("run_started at revision 0", "revision 1")] == written
    assert 2 == len(store.trace)


def test_our_context_comes_back_as_itself(shared: Student) -> None:
    """A context of ours crosses twice and is the same object again."""
    store = StateStore(RunState("run-7"))
    context = store.context("tool:scan", "tool_executor", call_id="c3", tick=5, epoch=2)

    assert context is shared.echo(context)
    assert ("tool:scan", "c3", 5, 2) == shared.fields(context)
    assert [context, context] == shared.echo([context, context])


def test_a_callback_may_call_the_student_again(shared: Student) -> None:
    """Calls nest: theirs, ours, theirs."""
    assert 5 == shared.apply(shared.callback(lambda value: shared.add(value, 1)), 4)


def test_what_ours_raises_reaches_the_caller(shared: Student) -> None:
    """An exception of a callback comes back through the student's code."""

    def late(value: int) -> int:
        raise LookupError(f"nothing for {value}")

    with pytest.raises(LookupError, match="nothing for 4"):
        shared.apply(shared.callback(late), 4)


def test_our_own_mistakes_are_not_the_students(shared: Student) -> None:
    """An object that was not lent is refused before anything is sent."""
    with pytest.raises(TypeError, match="student.export"):
        shared.echo(StateStore(RunState("run-7")))


REFUSED: tuple[Callable[[Handle], object], ...] = (
    lambda handle: handle == handle,
    lambda handle: handle != 1,
    lambda handle: 1 == handle,
    lambda handle: handle < 3,
    lambda handle: handle in [1],
    lambda handle: 1 in handle,
    bool,
    hash,
    len,
    str,
    int,
    float,
    bytes,
    iter,
    next,
    reversed,
    list,
    sorted,
    sum,
    abs,
    round,
    operator.index,
    operator.neg,
    lambda handle: handle + 1,
    lambda handle: 1 - handle,
    lambda handle: handle[0],
    lambda handle: f"{handle}",
    lambda handle: setattr(handle, "status", "completed"),
    lambda handle: delattr(handle, "status"),
    lambda handle: handle.__dict__,
    lambda handle: handle.__len__(),
    lambda handle: isinstance(1, handle),
    lambda handle: handle.__enter__(),
    copy.copy,
    copy.deepcopy,
)


@pytest.mark.parametrize("use", REFUSED)
def test_a_handle_refuses_what_a_value_does(
    shared: Student, use: Callable[[Handle], object]
) -> None:
    """No operation of a handle is ever answered, not even by a TypeError."""
    with pytest.raises(HandleMisuse):
        use(shared.Store(RunState("run-7")))


def test_a_handle_says_what_it_is(shared: Student) -> None:
    """`repr` names the kind and the class, so that a report can be read."""
    assert "<student's class 'type'>" == repr(shared.Store)
    assert "<student's generator 'generator'>" == repr(shared.steps())


def test_printed_text_is_kept_apart(student: Student) -> None:
    """Prints never reach the channel; the first 64 kB are kept, the rest is counted."""
    student.chatter()
    student.close()

    assert student.output.startswith("the answer is loaded\nxxx")
    assert re.search(r"\n\.\.\. \d+ bytes more were printed$", student.output)


def test_there_is_nothing_to_type_in(student: Student) -> None:
    """input() finds the end of its file at once."""
    with pytest.raises(StudentError, match="EOFError"):
        student.ask()


def test_a_call_has_its_time(student: Student) -> None:
    """A call that never ends is ended, and every later call says so."""
    student.meter.call = 0.3
    with pytest.raises(StudentTimeout, match="no answer within 0.3 s"):
        student.hang()
    with pytest.raises(StudentTimeout):
        student.add(1, 2)

    assert isinstance(student.close(), StudentTimeout)


def test_an_interrupted_call_ends_the_worker(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late answer is never taken for the answer to the next question."""

    def interrupted(seconds: float) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(student._channel, "receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        student.add(1, 2)
    with pytest.raises(StudentTimeout, match="interrupted"):
        student.add(1, 2)


def test_all_calls_together_have_their_time() -> None:
    """The total counts the waiting for the student, not our own work."""
    student = Student(CELLS, level=LEVEL, total=2.0, call_timeout=20.0)

    assert 3 == student.add(1, 2)
    with pytest.raises(StudentTimeout):
        student.hang()
    assert isinstance(student.close(), StudentTimeout)


def test_a_swallowed_death_is_raised_at_the_end() -> None:
    """A test that catches everything does not hide a dead worker."""
    with pytest.raises(StudentTimeout), Student(CELLS, level=LEVEL, call_timeout=0.3) as student:
        try:
            student.hang()
        except BaseException as error:
            assert isinstance(error, WorkerGone)


def test_a_broad_expectation_does_not_take_a_death_for_its_exception(student: Student) -> None:
    """pytest.raises(Exception) lets a time-out through."""
    student.meter.call = 0.3
    with pytest.raises(WorkerGone), pytest.raises(Exception):  # noqa: B017, PT011
        student.hang()


def test_a_cell_that_fails_costs_only_its_own_names() -> None:
    """The other cells are loaded; the failure is kept under the cell's id."""
    cells = [("def first(): return 1", "04.1"), ("def second(:", "04.2"), ("third = 1 / 0", "04.3")]
    with Student(cells, level=LEVEL) as student:
        assert 1 == student.first()
        assert ["04.2", "04.3"] == list(student.failures)
        assert "SyntaxError" == student.failures["04.2"].type_name
        assert isinstance(student.failures["04.3"], ZeroDivisionError)
        with pytest.raises(NameMissing):
            student.second()


def test_a_value_beyond_the_limit_is_the_students_failure(student: Student) -> None:
    """Too large a reply has a kind of its own; the worker lives on."""
    with pytest.raises(StudentError, match="limit 1048576") as found:
        student.echo("x" * 1_040_000 + "\u00e9" * 2_000)

    assert ("too-much", "") == kind_of(found.value)
    assert "too-much" == kind_of_name(type(found.value).__name__, str(found.value))
    assert not isinstance(found.value, ValueError)

    assert 3 == student.add(1, 2)


def test_a_handle_belongs_to_its_worker(student: Student, shared: Student) -> None:
    """A number of one worker means nothing in another."""
    with pytest.raises(TypeError, match="a handle of this student"):
        student.echo(shared.Store)


def test_handles_that_are_dropped_are_forgotten(student: Student) -> None:
    """The worker keeps what we still hold, and nothing else."""
    kept = student.Store(RunState("run-7"))
    for _ in range(200):
        student.Store(RunState("run-8"))

    assert "run-7" == kept.load().run_id
    student.add(1, 2)
    assert 2 == handles_held(student)


def handles_held(student: Student) -> int:
    """How many objects the worker keeps for us: counted by the worker itself."""
    source = """
import sys
def held():
    frame = sys._getframe()
    while "nonce" not in frame.f_locals: frame = frame.f_back
    return len(frame.f_locals["self"].handles)
"""
    student._load([(source, "count")])
    return int(student.held())


def test_unknown_levels_are_refused() -> None:
    """A typing mistake never means `no walls`."""
    with pytest.raises(ValueError, match="'confind'"):
        Student(level="confind")


def test_a_worker_that_cannot_start_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without walls to build, the level is refused and no student code runs."""
    monkeypatch.setattr("runstate_lab.grading.channel.FLAGS", ("-c", "raise SystemExit(3)"))

    with pytest.raises(WorkerUnavailable, match="exit status 3"):
        Student([("print('never')", "04.1")], level="confined")


def test_a_reading_thread_that_fails_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told at once, the worker is ended, and nothing waits for an answer."""

    def broken(self: Channel, stream: object) -> bytes:
        raise ValueError("ours")

    monkeypatch.setattr(Channel, "_frame", broken)
    with pytest.raises(WorkerUnavailable, match="the reading thread failed: ValueError"):
        Student(CELLS, level=LEVEL)


def test_threads_that_wait_for_each_other_are_not_starved() -> None:
    """A crowd that wakes at one instant does not hide that the answer sleeps."""
    crowd = (
        "import threading, time\n"
        "def wake():\n"
        "    while True: time.sleep(0.05 - time.time() % 0.05)\n"
        "for _ in range(100): threading.Thread(target=wake, daemon=True).start()\n"
        "def sleep(): time.sleep(1000)\n"
    )
    with pytest.raises(StudentTimeout, match="it waits|of computing"):
        with Student([(crowd, "1")], level=LEVEL, call_timeout=1.0) as student:
            student.sleep()


def test_what_our_side_reads_for_long_is_charged(student: Student) -> None:
    """A large value is not free because another process decodes it."""
    before = student.meter.charged
    student.meter.read(2.5)

    assert 2.4 < student.meter.charged - before < 3.0


def test_an_exception_that_cannot_be_written_down_is_told_as_one(student: Student) -> None:
    """A metaclass or an attribute that raises does not end the worker."""
    cells = (
        "class Odd(type):\n    __name__ = property(lambda self: 1 / 0)\n"
        "class Bad(Exception, metaclass=Odd): pass\n"
        "def bad(): raise Bad\n"
        "def right(): return 4\n"
    )
    with Student([(cells, "1")], level=LEVEL) as other:
        with pytest.raises(StudentError, match="an exception that cannot be written down"):
            other.bad()

        assert 4 == other.right()


def test_a_subclass_of_a_refusal_is_that_refusal() -> None:
    """A student's own class counts as the nearest of the book's, raised or kept."""
    cells = (
        "from runstate_lab import RevisionConflict, StateStore, RunState\n"
        "class Stale(RevisionConflict):\n"
        "    def __init__(self): super().__init__('a', 'revision 5')\n"
        "def stale(): raise Stale()\n"
        "def kept(): return Stale()\n"
    )
    with Student([(cells, "1")], level=LEVEL) as student:
        with pytest.raises(RevisionConflict) as caught:
            student.stale()

        assert "revision 5" == caught.value.found
        assert RevisionConflict("a", "revision 5") == student.kept()


def test_a_future_import_holds_for_the_cells_that_follow() -> None:
    """As in a notebook: annotations are not looked up."""
    cells = [
        ("from __future__ import annotations", "given"),
        ("class MyStore:\n    def copy(self) -> MyStore: return 4", "1"),
    ]
    with Student(cells, level=LEVEL) as student:
        assert {} == student.failures


def test_what_would_show_something_is_lent_and_shows_nothing() -> None:
    """Widgets, pictures and what a notebook leaves behind are names like others."""
    cell = (
        "from runstate_lab.live import Board\nfrom runstate_lab.show.chart import chart\n"
        "import runstate_lab.course\nboard = Board('two_writers')\nboard.step('A')\n"
        "get_ipython().run_line_magic('time', '1')\n_, Out, In[-1]\n"
        "runstate_lab.course.predict('x')\ndef right(): return 4\n"
    )
    with Student([(cell, "1")], level=LEVEL) as student:
        assert {} == student.failures
        assert 4 == student.right()


@pytest.mark.parametrize(
    "value",
    ["1 << 5000", "{float('nan') for _ in range(9)}", "'\\ud800'", "NESTED"],
    ids=["wide", "nan", "surrogate", "colliding"],
)
def test_a_value_that_nobody_reads_is_too_much_and_no_tampering(value: str) -> None:
    """The worker lives on, and the sentence accuses nobody."""
    nested = (
        "PRIME = 2 ** 61 - 1\n"
        "ATOMS = [5 + PRIME * k for k in range(8)]\n"
        "def but_one(items): return [frozenset(items) - {one} for one in items]\n"
        "NESTED = frozenset(but_one(but_one(ATOMS)))\n"
    )
    with Student([(f"{nested}def give(): return {value}", "1")], level=LEVEL) as student:
        with pytest.raises(TooMuch):
            student.give()
        with pytest.raises(TooMuch):
            student.give()
