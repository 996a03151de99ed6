"""Attacks on the wire: each one fails the case, for a stated reason, and forges nothing.

Every attack of attacks.toml carries a wrong answer. `held` is the case that an
honest answer passes; an attack that gets through it would be a forgery.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from runstate_lab.grading.faults import (
    HandleMisuse,
    OutOfMemory,
    ProtocolViolation,
    StudentDied,
    StudentError,
    StudentTimeout,
)
from runstate_lab.grading.proxy import Student
from runstate_lab.model import RunState, StateProposal
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

# The wire alone must hold; behind the walls every row must end in the same way.
LEVELS = ["none", pytest.param("confined", marks=pytest.mark.slow)]
MEMORY = 512 << 20
START = StateProposal("run_started", "", 0)
TAMPER = '''
import json, os, struct, sys, threading, time

def worker():
    """The worker's own object and the name of the request it is answering."""
    frame = sys._getframe()
    while "nonce" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals["nonce"]

def raw(body):
    os.write(worker()[0].outbox, body)

def say(message):
    text = message if type(message) is bytes else json.dumps(message, separators=(",", ":"))
    body = text if type(text) is bytes else text.encode()
    raw(struct.pack("<I", len(body)) + body)

def reply(tree):
    say(["ret", worker()[1], tree])
    time.sleep(9)
'''


def held(student: Student) -> None:
    """Five sums, as the task asks for: an honest `add` passes."""
    for number in range(5):
        expected = number + 3
        actual = student.add(number, 3)
        assert expected == actual
        assert student.equal(expected, actual)


def flooded(student: Student) -> None:
    """A case that lends a function, and compares afterwards."""
    student.flood(student.callback(lambda value: value))
    held(student)


def lent(student: Student) -> None:
    """A case that lends a function which the answer never calls properly."""
    assert 3 == student.apply(student.callback(lambda: 3))


def every_sum(student: Student) -> None:
    """A case written with all(map(...)), where an early end would look like success."""
    assert all(map(lambda number: number + 3 == student.add(number, 3), range(5)))


def broad(student: Student) -> None:
    """A case with too broad an expectation: any exception would do."""
    with pytest.raises((TypeError, Exception)):
        student.add(-1, 3)


def truthy(student: Student) -> None:
    """A case that asks for the truth of what came back, under too broad an expectation."""
    with pytest.raises(Exception):  # noqa: B017, PT011
        bool(student.add(-1, 3))


CASES = {case.__name__: case for case in (held, flooded, lent, every_sum, broad, truthy)}
ENDINGS = {
    "StudentError": StudentError,
    "AssertionError": AssertionError,
    "HandleMisuse": HandleMisuse,
    "StudentTimeout": StudentTimeout,
    "StudentDied": StudentDied,
    "OutOfMemory": OutOfMemory,
    "ProtocolViolation": ProtocolViolation,
}


@dataclass(frozen=True)
class Attack:
    """A cell, and how the case that an honest answer passes must end."""

    name: str
    ends: str
    cell: str
    reason: str = ""
    case: str = "held"
    tamper: bool = False
    behind: str = ""
    behind_reason: str = ""
    reaches: bool = False

    def expected(self, level: str) -> tuple[str, str]:
        """The ending and its reason; a few end in another way where a wall stops them."""
        if level == "confined" and self.behind:
            return self.behind, self.behind_reason
        return self.ends, self.reason


TABLE = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8"))
ATTACKS = tuple(Attack(**row) for row in TABLE["attack"])


def ending(one: Attack, level: str = "none") -> tuple[BaseException | None, str]:
    """What the case ended with, the closing of the worker included, and what was printed."""
    patience = 0.6 if one.expected(level)[0] == "StudentTimeout" else 20.0
    cells = [(TAMPER + one.cell if one.tamper else one.cell, "1.1")]
    student = Student(cells, level=level, call_timeout=patience, memory=MEMORY, callbacks=500)
    try:
        with student:
            CASES[one.case](student)
    except BaseException as error:  # any ending but None is a failed case
        return error, student.output
    return None, student.output


def test_an_honest_answer_passes() -> None:
    """The cases do not fail whatever is handed in."""
    honest = "def add(a, b): return a + b\ndef flood(f): return f(1)\ndef apply(f): return f()"
    cases = ("held", "flooded", "lent", "every_sum")
    endings = [ending(Attack("honest", "", honest, case=case))[0] for case in cases]

    assert [None] * 4 == endings



@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_an_attack_ends_as_a_failure_with_its_reason(one: Attack, level: str) -> None:
    """No attack passes the case, and each fails for the reason written beside it.

    What it aims at it reaches on an open worker, and never behind the walls.
    """
    error, printed = ending(one, level)
    ends, reason = one.expected(level)

    assert error is not None, "FORGED"
    assert isinstance(error, ENDINGS[ends]), repr(error)
    with pytest.raises(type(error), match=reason or None):
        raise error
    assert not (level == "confined" and "REACHED" in printed)
    assert not (level == "none" and one.reaches and "REACHED" not in printed)


def test_the_table_holds_every_kind_of_ending() -> None:
    """Exact counts: an attack that is lost from the table is missed here."""
    planned = Counter(one.ends for one in ATTACKS)
    expected = {
        "StudentError": 20,
        "AssertionError": 24,
        "HandleMisuse": 2,
        "StudentTimeout": 11,
        "StudentDied": 12,
        "OutOfMemory": 2,
        "ProtocolViolation": 22,
    }

    assert expected == planned
    assert len(ATTACKS) == len({one.name for one in ATTACKS})


def test_a_patched_library_is_patched_on_their_side_only() -> None:
    """The reference that we compare with runs here, where no answer reaches."""
    patch = """
from runstate_lab.model import RunState
from runstate_lab.store import StateStore
StateStore.apply = lambda self, proposal, *, context: RunState("run-7", revision=99)
"""
    store = StateStore(RunState("run-7"))
    with Student([(patch, "1.1")], level="none") as student:
        theirs = student.StateStore(RunState("run-7")).apply(START, context=None)
    ours = Runtime(store).accept_runtime(START)

    assert (99, 1) == (theirs.revision, ours.revision)
