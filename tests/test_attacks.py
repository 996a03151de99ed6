"""Attacks on the wire: each one fails the case, for a stated reason, and forges nothing.

Every attack carries a wrong answer. `held` is the case that an honest answer
passes; an attack that gets through it would be a forgery.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

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
    body = message if type(message) is bytes else json.dumps(message, separators=(",", ":")).encode()
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


def slow(student: Student) -> None:
    """A case that goes on for a moment after the last reply."""
    held(student)
    time.sleep(0.2)


def every_sum(student: Student) -> None:
    """A case written with all(map(...)), where an early end would look like success."""
    assert all(map(lambda number: number + 3 == student.add(number, 3), range(5)))


def broad(student: Student) -> None:
    """A case with too broad an expectation: any exception would do."""
    with pytest.raises((TypeError, Exception)):
        student.add(-1, 3)


@dataclass(frozen=True)
class Attack:
    """A cell, and how the case must end."""

    name: str
    cell: str
    ends: type[BaseException]
    reason: str
    case: Callable[[Student], None] = field(default=held)


def attack(
    name: str,
    ends: type[BaseException],
    reason: str,
    cell: str,
    case: Callable[[Student], None] = held,
) -> Attack:
    """One row of the table, the cell last."""
    return Attack(name, cell, ends, reason, case)


ATTACKS = (
    # ending or steering the run
    attack("exit at import", StudentDied, "exit status 0", "import os; os._exit(0)"),
    attack("exit in the call", StudentDied, "exit status 0", TAMPER + "def add(a, b): os._exit(0)"),
    attack("sys.exit in the call", StudentError, "SystemExit: 0", TAMPER + "def add(a, b): sys.exit(0)"),
    attack(
        "sys.exit in a thread",
        AssertionError,
        "",
        TAMPER
        + "def add(a, b):\n  t = threading.Thread(target=sys.exit); t.start(); t.join(); return 0",
    ),
    attack(
        "a signal to itself",
        StudentDied,
        "SIGKILL",
        "import os, signal\ndef add(a, b): signal.raise_signal(signal.SIGKILL)",
    ),
    attack(
        "a skip by name",
        StudentError,
        "Skipped: not today",
        "class Skipped(BaseException): pass\ndef add(a, b): raise Skipped('not today')",
    ),
    attack(
        "unittest's skip",
        StudentError,
        "SkipTest",
        "import unittest\ndef add(a, b): raise unittest.SkipTest('x')",
    ),
    attack("skip at import", StudentError, "is not defined", "import unittest\nraise unittest.SkipTest('x')"),
    attack(
        "an AssertionError",
        StudentError,
        "AssertionError",
        "def add(a, b): raise AssertionError('expected')",
    ),
    attack("KeyboardInterrupt", StudentError, "KeyboardInterrupt", "def add(a, b): raise KeyboardInterrupt"),
    attack("GeneratorExit", StudentError, "GeneratorExit", "def add(a, b): raise GeneratorExit"),
    attack(
        "StopIteration under all(map())",
        StudentError,
        "StopIteration",
        "def add(a, b): raise StopIteration",
        every_sum,
    ),
    attack("an endless loop", StudentTimeout, "no answer within", "def add(a, b):\n  while True: pass"),
    attack("an endless loop at import", StudentTimeout, "no answer within", "while True: pass"),
    attack(
        "a loop in __del__",
        StudentTimeout,
        "no answer within",
        "class D:\n  def __del__(self):\n    while True: pass\ndef add(a, b):\n  D(); return a + b",
    ),
    attack(
        "a loop in the text of an exception",
        StudentTimeout,
        "no answer within",
        "class X(Exception):\n  def __str__(self):\n    while True: pass\ndef add(a, b): raise X",
    ),
    attack(
        "death under a broad expectation",
        StudentDied,
        "exit status 0",
        TAMPER + "def add(a, b): os._exit(0)",
        broad,
    ),
    attack(
        "a loop under a broad expectation",
        StudentTimeout,
        "no answer within",
        "def add(a, b):\n  while True: pass",
        broad,
    ),
    attack("a memory bomb", OutOfMemory, "more memory", "def add(a, b): return '0' * (2 ** 40)"),
    attack(
        "a growing list",
        OutOfMemory,
        "more memory",
        "def add(a, b):\n  kept = []\n  while True: kept.append(bytearray(1 << 26))",
    ),
    # what the answer is
    attack(
        "equals everything",
        HandleMisuse,
        "asked a comparison",
        "class E:\n  def __eq__(self, other): return True\n  __hash__ = None\ndef add(a, b): return E()",
    ),
    attack(
        "an int that equals everything",
        HandleMisuse,
        "asked a comparison",
        "class I(int):\n  def __eq__(self, other): return True\ndef add(a, b): return I(0)",
    ),
    attack(
        "a lying __class__",
        HandleMisuse,
        "asked a comparison",
        "class L(list):\n  __class__ = property(lambda self: int)\n"
        "  def __eq__(self, other): return True\ndef add(a, b): return L()",
    ),
    attack("a float for an int", AssertionError, "", "def add(a, b): return float(a + b)"),
    attack(
        "a truthy object",
        HandleMisuse,
        "asked its truth",
        "def add(a, b): return object()",
        lambda student: pytest.raises(Exception, bool, student.add(-1, 3)),  # type: ignore[arg-type,return-value]
    ),
    attack(
        "100,000 nested lists",
        StudentError,
        "nested too deeply",
        "def add(a, b):\n  x = []\n  for _ in range(100_000): x = [x]\n  return x",
    ),
    attack(
        "a list that holds itself",
        StudentError,
        "nested too deeply",
        "def add(a, b):\n  x = []; x.append(x); return x",
    ),
    attack("a 100,000-bit integer", ProtocolViolation, "4096 bits", "def add(a, b): return 1 << 100_000"),
    attack("a reply of 4 MB", StudentError, "limit 1048576", "def add(a, b): return 'x' * (1 << 22)"),
    attack(
        "20,000 keys of one hash",
        ProtocolViolation,
        "too many equal hashes",
        TAMPER
        + "def add(a, b):\n  keys = [['i', format(n * ((1 << 61) - 1), 'x')] for n in range(1, 20_001)]\n"
        + "  reply(['s', *keys])",
    ),
    # the channel
    attack(
        "a closed channel",
        StudentDied,
        "closed the channel",
        TAMPER + "def add(a, b): os.close(worker()[0].outbox); time.sleep(9)",
    ),
    attack(
        "junk bytes",
        ProtocolViolation,
        "a frame of",
        TAMPER + "def add(a, b):\n  raw(bytes([255]) * 4096); return a + b",
    ),
    attack("junk JSON", ProtocolViolation, "not JSON", TAMPER + "def add(a, b):\n  say(b'{'); return a + b"),
    attack(
        "a bare NaN",
        ProtocolViolation,
        "JSON that is not on the list",
        TAMPER + "def add(a, b):\n  say(b'NaN'); return a + b",
    ),
    attack(
        "raw deep JSON",
        ProtocolViolation,
        "nested too deeply",
        TAMPER + "def add(a, b):\n  say(b'[' * 400_000); time.sleep(9)",
    ),
    attack(
        "a header of 4 GB",
        ProtocolViolation,
        "a frame of 4294967295 bytes",
        TAMPER + "def add(a, b):\n  raw(bytes([255]) * 4)\n  while True: raw(b'x' * 65536)",
    ),
    attack(
        "a frame byte by byte",
        StudentTimeout,
        "no answer within",
        TAMPER
        + "def add(a, b):\n  raw(struct.pack('<I', 1 << 19))\n  while True:\n    raw(b' '); time.sleep(.1)",
    ),
    attack(
        "an unknown tag",
        ProtocolViolation,
        "an unknown tag",
        TAMPER + "def add(a, b): reply(['Q', 1])",
    ),
    attack(
        "a class that is not on the list",
        ProtocolViolation,
        "not on the list",
        TAMPER + "def add(a, b): reply(['c', 'Popen', ['l', 'id']])",
    ),
    attack(
        "a handle with odd fields",
        ProtocolViolation,
        "an unknown tag",
        TAMPER + "def add(a, b): reply(['h', 'x', 'y', 'z'])",
    ),
    attack(
        "a context that was not lent",
        ProtocolViolation,
        "an unknown tag",
        TAMPER + "def add(a, b): reply(['g', 1])",
    ),
    attack(
        "150,000 empty lists",
        ProtocolViolation,
        "more than 100000 values",
        TAMPER + "def add(a, b): reply(['l', *[['l']] * 150_000])",
    ),
    attack(
        "a key twice",
        ProtocolViolation,
        "a key twice",
        TAMPER + "def add(a, b): reply(['d', 1, 1, 1, 2])",
    ),
    attack(
        "a reply to another request",
        ProtocolViolation,
        "another request",
        TAMPER + "def add(a, b):\n  say(['ret', '0' * 16, a + b]); time.sleep(9)",
    ),
    attack(
        "two replies to one request",
        ProtocolViolation,
        "unasked|another request",
        TAMPER + "def add(a, b):\n  say(['ret', worker()[1], a + b]); return a + b",
    ),
    attack(
        "replies sent ahead",
        ProtocolViolation,
        "unasked|another request",
        TAMPER
        + "def add(a, b):\n  for n in range(6): say(['ret', worker()[1], a + b + n])\n  time.sleep(9)",
    ),
    attack(
        "a hundred messages unasked",
        ProtocolViolation,
        "unasked|another request",
        TAMPER
        + "def add(a, b):\n  for n in range(100): say(['ret', worker()[1], a + b])\n  time.sleep(9)",
    ),
    attack(
        "a message after the last reply",
        ProtocolViolation,
        "unasked",
        TAMPER
        + "def add(a, b):\n  w = worker()[0]\n  def late():\n    time.sleep(.05)\n"
        + "    os.write(w.outbox, struct.pack('<I', 2) + b'{}')\n  if a == 4: threading.Thread(target=late).start()\n"
        + "  return a + b",
        slow,
    ),
    attack(
        "an exit after the last reply",
        StudentDied,
        "exit status 0",
        TAMPER
        + "def add(a, b):\n  if a == 4: threading.Timer(.05, os._exit, (0,)).start()\n  return a + b",
        slow,
    ),
    attack(
        "an exception that names SystemExit",
        StudentError,
        "SystemExit",
        TAMPER
        + "def add(a, b):\n  say(['exc', worker()[1], 'SystemExit', ['SystemExit'], '0', '', None])\n"
        + "  time.sleep(9)",
    ),
    attack(
        "a malformed exception",
        ProtocolViolation,
        "malformed exception",
        TAMPER + "def add(a, b):\n  say(['exc', worker()[1], 1, 2]); time.sleep(9)",
    ),
    attack(
        "a refusal of a false code",
        StudentError,
        "RevisionConflict",
        TAMPER
        + "def add(a, b):\n  claim = ['RevisionConflict', 'passed', 'a', 'b', 'c']\n"
        + "  say(['exc', worker()[1], 'RevisionConflict', [], '', '', claim]); time.sleep(9)",
    ),
    attack(
        "a callback that was not offered",
        ProtocolViolation,
        "not offered",
        TAMPER + "def add(a, b):\n  say(['call', 1, 1, '', ['l'], ['d']]); time.sleep(9)",
    ),
    attack(
        "a private method of what was lent",
        ProtocolViolation,
        "not offered",
        TAMPER + "def apply(f):\n  say(['call', 1, 1, '__class__', ['l'], ['d']]); time.sleep(9)",
        lent,
    ),
    attack(
        "malformed callback arguments",
        ProtocolViolation,
        "callback arguments",
        TAMPER + "def apply(f):\n  say(['call', 1, 1, '', 5, ['d', 1, 1]]); time.sleep(9)",
        lent,
    ),
    attack(
        "a flood of callbacks",
        ProtocolViolation,
        "too many callbacks",
        "def add(a, b): return 0\ndef flood(f):\n  while True: f(1)",
        flooded,
    ),
    attack(
        "callbacks whose answers are never read",
        ProtocolViolation,
        "too many callbacks|unasked",
        TAMPER
        + "def flood(f):\n  text = 'x' * 9_000\n"
        + "  while True: say(['call', 1, 1, '', ['l', text], ['d']])",
        flooded,
    ),
    attack(
        "printing without end",
        StudentDied,
        "printed more than 64 MB",
        TAMPER + "def add(a, b):\n  while True: os.write(1, b'x' * 65_536)",
    ),
    # changing the judge
    attack(
        "a patched codec in the worker",
        ProtocolViolation,
        "malformed message",
        "from runstate_lab.grading import codec\n"
        "codec.json.dumps = lambda *a, **k: 'true'\ndef add(a, b): return 0",
    ),
    attack(
        "a patched test runner",
        StudentError,
        "add is not defined",
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
        "def add(a, b): return 0",
    ),
    attack(
        "a patched report",
        StudentError,
        "add is not defined",
        "from _pytest.reports import TestReport\ndef add(a, b): return 0",
    ),
    attack(
        "an IPython transformer",
        StudentError,
        "add is not defined",
        "get_ipython().ast_transformers.append(None)\ndef add(a, b): return 0",
    ),
    attack(
        "the expected value from the caller's frames",
        AssertionError,
        "",
        "import sys\ndef add(a, b):\n  frame, found = sys._getframe(), 0\n  while frame:\n"
        "    found = frame.f_locals.get('expected', found); frame = frame.f_back\n  return found",
    ),
    attack(
        "the expected value from all objects",
        AssertionError,
        "",
        "import gc\ndef add(a, b):\n  for one in gc.get_objects():\n"
        "    if type(one) is dict and 'expected' in one: return one['expected']\n  return 0",
    ),
)


def ending(one: Attack, level: str = "none") -> BaseException | None:
    """What the case ended with, the closing of the worker included."""
    patience = 0.6 if one.ends is StudentTimeout else 6.0
    cells = [(one.cell, "1.1")]
    try:
        with Student(
            cells, level=level, call_timeout=patience, memory=MEMORY, callbacks=500
        ) as student:
            one.case(student)
    except BaseException as error:  # any ending but None is a failed case
        return error
    return None


def test_an_honest_answer_passes() -> None:
    """The cases do not fail whatever is handed in."""
    honest = "def add(a, b): return a + b\ndef flood(f): return f(1)\ndef apply(f): return f()"
    endings = [ending(Attack("honest", honest, BaseException, "", case)) for case in CASES]

    assert [None] * 5 == endings


CASES = (held, flooded, lent, slow, every_sum)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_an_attack_ends_as_a_failure_with_its_reason(one: Attack, level: str) -> None:
    """No attack passes the case, and each fails for the reason written beside it."""
    began = time.monotonic()
    error = ending(one, level)

    assert error is not None, "FORGED"
    assert isinstance(error, one.ends), repr(error)
    with pytest.raises(type(error), match=one.reason or None):
        raise error
    assert time.monotonic() - began < 8.0


def test_the_table_holds_every_kind_of_ending() -> None:
    """Exact counts: an attack that is lost from the table is missed here."""
    planned = Counter(one.ends.__name__ for one in ATTACKS)
    expected = {
        "StudentError": 16,
        "AssertionError": 4,
        "HandleMisuse": 4,
        "StudentTimeout": 6,
        "StudentDied": 7,
        "OutOfMemory": 2,
        "ProtocolViolation": 25,
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
