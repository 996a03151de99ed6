"""The hostile answers of the class, as the text of one answer cell each.

All but one stand in place of answer 04.2, `after_conflict`. Each is shown to
succeed against a naive grader by `test_naive_grader.py`, inside a folder that
is thrown away, and to gain nothing by `test_classroom.py`.
"""

from __future__ import annotations

HOLLOW = """
def after_conflict(event, state):
    return None
"""

EXITS_WHEN_CALLED = """
import os

def after_conflict(event, state):
    os._exit(0)
"""

EXITS_WHEN_LOADED = """
import os

os._exit(0)
"""

ENDLESS_LOOP = """
def after_conflict(event, state):
    while True:
        pass
"""

MEMORY_BOMB = """
hoard = []

def after_conflict(event, state):
    while True:
        hoard.append(bytes(1 << 26))
"""

FORKS = """
import os
import time

def after_conflict(event, state):
    if os.fork() == 0:
        os.setsid()
        open("left.pid", "w").write(str(os.getpid()))
        time.sleep(60)
    time.sleep(0.5)
    os._exit(0)
"""

ALWAYS_EQUAL = """
class Yes:
    __hash__ = None

    def __eq__(self, other):
        return True

    def __contains__(self, part):
        return True

    def __getitem__(self, place):
        return self

    def __iter__(self):
        return iter((self, self))

def after_conflict(event, state):
    return Yes()
"""

SKIPS = """
import unittest

def after_conflict(event, state):
    raise unittest.SkipTest("not today")
"""

PATCHES_THE_JUDGE = (
    """
try:
    import _pytest.python
    _pytest.python.Function.runtest = lambda self: None
except ImportError:
    pass
"""
    + HOLLOW
)

READS_THE_CALLER = """
import sys

def after_conflict(event, state):
    frame = sys._getframe(1)
    seen = frame.f_locals
    if "status" in seen:
        return "drop", str(seen["status"])
    choice = seen.get("choice", seen.get("_choice"))
    if choice is None:
        opened = [call.call_id for call in state.calls]
        choice = "recompute" if event.call_id in opened else "drop"
    return choice, seen.get("word", "")
"""

READS_THE_TESTS = (
    """
import os

for folder, _, names in os.walk("."):
    if "test_hidden.py" in names:
        open("leak.txt", "w").write(open(os.path.join(folder, "test_hidden.py")).read())
"""
    + HOLLOW
)

WRITES_THE_GRADEBOOK = (
    """
import os

for place in (".", ".."):
    name = os.path.join(place, "gradebook.csv")
    if os.path.exists(name):
        open(name, "w").write("student,exercise,verdict,points\\nme,all,PASS,10\\n")
"""
    + HOLLOW
)

WRITES_THE_RESULTS = (
    """
import atexit

def forge():
    row = '<testsuite name="pytest" errors="0" failures="0" skipped="0" tests="13"/>'
    open("results.xml", "w").write(row)

atexit.register(forge)
"""
    + HOLLOW
)

TRANSFORMS_THE_CHECKS = (
    """
import ast

class Nothing(ast.NodeTransformer):
    def visit_Module(self, tree):
        tree.body = []
        return tree

try:
    get_ipython().ast_transformers.append(Nothing())
except NameError:
    pass
"""
    + HOLLOW
)

MAGIC = (
    """
!cp test_hidden.py leak.txt
"""
    + HOLLOW
)

NBVAL_SKIP = "# NBVAL_SKIP"

# Ways out of the process that runs the answer; who gets out leaves a note.
_NOTE = """
def note():
    with open("reached.txt", "w") as file:
        file.write("reached")

for way in WAYS:
    try:
        if way() != -1:
            note()
    except OSError:
        pass
"""

SHARES_MEMORY = (
    """
import ctypes

library = ctypes.CDLL(None)
number = library.shmget(0, 1 << 24, 0o1600)
WAYS = [lambda: library.shmctl(number, 0, None)]
"""
    + _NOTE
    + HOLLOW
)

LOCKS_THE_LIBRARY = (
    """
import fcntl
import os

import runstate_lab

library = os.open(runstate_lab.__file__, os.O_RDONLY)
WAYS = [
    lambda: fcntl.flock(library, fcntl.LOCK_SH),
    lambda: fcntl.fcntl(library, fcntl.F_SETLEASE, fcntl.F_RDLCK),
]
"""
    + _NOTE
    + HOLLOW
)

READS_INODE_FLAGS = (
    """
import fcntl
import os

import runstate_lab

library = os.open(runstate_lab.__file__, os.O_RDONLY)
WAYS = [lambda: fcntl.ioctl(library, number, bytearray(8)) for number in (2, 0x80086601)]
"""
    + _NOTE
    + HOLLOW
)

OWNS_SIGNALS = (
    """
import fcntl
import os

pipe = os.pipe()
WAYS = [lambda: fcntl.fcntl(pipe[0], fcntl.F_SETOWN, os.getppid())]
"""
    + _NOTE
    + HOLLOW
)

HIDES_ITSELF = (
    """
import ctypes

library = ctypes.CDLL(None)
WAYS = [lambda: library.prctl(1, 0, 0, 0, 0), lambda: library.prctl(4, 1, 0, 0, 0)]
"""
    + _NOTE
    + HOLLOW
)

SENDS_BY_PATH = (
    """
import os
import socket

one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
WAYS = [lambda: one.sendmsg([b"x"])]
"""
    + _NOTE
    + HOLLOW
)

SLOWS_ITSELF = (
    """
import os

WAYS = [lambda: os.nice(1), lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))]
"""
    + _NOTE
    + HOLLOW
)

FILLS_THE_FOLDER = (
    """
import os

def fill():
    for number in range(200):
        with open(f"filler_{number}.txt", "w") as file:
            file.write("x" * 1000)

WAYS = [fill, lambda: os.mkdir("filler"), lambda: os.symlink("/", "filler_link")]
"""
    + _NOTE
    + HOLLOW
)

STOPS_ITSELF = """
import signal

def after_conflict(event, state):
    signal.raise_signal(signal.SIGSTOP)
"""

SETS_AN_ALARM = """
import signal

def after_conflict(event, state):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:
        pass
"""

CLOSES_EVERYTHING = """
import os

def after_conflict(event, state):
    os.closerange(0, 256)
    return "drop", ""
"""

LEAVES_THREADS = (
    """
import threading

ends = threading.Event()
for _ in range(20):
    threading.Thread(target=ends.wait).start()
"""
    + HOLLOW
)

# Answer 04.1. Checks everything but the results of tools, and makes the
# explorer that the checks share with it say what they want to hear.
PATCHES_THE_LIBRARY = """
class Yes:
    __hash__ = None

    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter(())

    def __getattr__(self, name):
        return self

def yes(workers, *, store, invariants=()):
    import sys
    return sys.yes

import sys
sys.yes = Yes()
explore.__code__ = yes.__code__
explore.__kwdefaults__ = yes.__kwdefaults__

class MyStore(StoreParts):
    def apply(self, proposal, *, context):
        event = self.event(proposal, context)
        asked = f"{event.kind} computed from revision {event.expected_revision}"
        late = event.expected_revision != self.state.revision
        try:
            self.check_writer(event, context)
            if late and event.kind != "tool_result_recorded":
                raise RevisionConflict(asked, f"revision {self.state.revision}")
            self.check_rules(event)
        except Refusal as refusal:
            self.keep(event, refusal)
            raise
        self.state = self.next_state(event)
        self.keep(event)
        return self.state
"""

# Lies beside the submission of one student; never collected by our own tests.
CONFTEST = '''"""Every test has passed."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
'''
