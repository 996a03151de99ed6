"""Tokens: one text in every process, whatever order a set has in it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from runstate_lab.snapshots import canonical
from runstate_lab.tokens import digits

SET_IN_A_STATE = """
from runstate_lab import Act, StateStore, RunState, Table, explore, play

class Desk:
    def __init__(self):
        self.seen, self.notes, self.revision = set(), {"open": {"build", "tests", "scan"}}, 0
    def load(self):
        return self

def worker(name):
    def work(store):
        yield
        store.load().seen.update({name, "checked by " + name})
        yield frozenset({name, "said"})
    return work

def never_both(race):
    return len(race.store.load().seen) < 4

def not_everything(place):
    return len(place.shared) < 4

code = explore({"A": worker("build"), "B": worker("scan")}, store=Desk, invariants=(never_both,))
add = lambda name: Table((Act("add", lambda held, own: (held | {name, name + "!"}, frozenset({name, "own"}))),), frozenset({name}))
table = explore({"A": add("build"), "B": add("scan")}, store=frozenset, at_end=(not_everything,))
print(code.tokens["never_both"], table.tokens["not_everything"])
play(code.tokens["never_both"], {"A": worker("build"), "B": worker("scan")}, store=Desk())
play(table.tokens["not_everything"], {"A": add("build"), "B": add("scan")}, store=frozenset())
"""


def printed(program: str, seed: str) -> str:
    """What a program prints in a process of its own, with its own order of sets."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_token_is_the_same_in_every_process() -> None:
    """Sets of text have another order in each; the token stands for what they hold."""
    texts = {printed(SET_IN_A_STATE, seed) for seed in "123"}

    assert 1 == len(texts)
    assert 2 == len(texts.pop().split())


class Held:
    """A plain object."""

    def __init__(self, **parts: object) -> None:
        self.__dict__.update(parts)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (Held(a=1, b={2}), Held(b={2}, a=1), True),
        (Held(a=1), Held(a=2), False),
        (1, True, False),
        (1, 1.0, False),
        ((1, 2), [1, 2], False),
        (set(), {}, False),
        ({1}, frozenset({1}), False),
        ([1, 2], [2, 1], False),
        (ValueError("x"), ValueError("y"), False),
        (Held(a=ValueError("x")), Held(a=ValueError("x")), True),
    ],
    ids=repr,
)
def test_digits_stand_for_what_a_value_holds(one: object, other: object, same: bool) -> None:
    """Neither where it lies nor in which order it was made."""
    assert same is (digits(one) == digits(other))


def test_a_value_that_holds_itself_has_a_text() -> None:
    """A ring is written once round."""
    ring = Held(name="ring")
    ring.around = [ring]

    assert "Held(around=[...], name='ring')" == canonical(ring)
