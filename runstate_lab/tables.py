"""Floor 5. A worker as a table of acts over plain values, for large spaces.

    act       takes it from the shared value and the worker's own
    read      (5, Writer(0, 2))    to  (5, Writer(5, 2))
    think     Writer(5, 2)         to  Writer(6, 2), and nobody else can see it
    commit    (5, Writer(6, 2))    to  (6, Writer(0, 3)), and again from `read`

A table can be copied in the middle of its work, so each place that can be
reached is met once, however many orders lead to it.

What is not here: searching them (see `spaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from string import ascii_uppercase
from typing import Any, NamedTuple

from runstate_lab.errors import OrderRefused, words_of
from runstate_lab.race import moves
from runstate_lab.snapshots import canonical
from runstate_lab.watch import Endless, bounded

END = "end"
"""The name that an act gives as the next one when the worker is done."""


@dataclass(frozen=True, slots=True)
class Act:
    """One row of a table: what a worker does in one move.

    `do` takes the shared value and the worker's own, and gives both, and the
    name of the next act where that is not the next row. While `when` says no,
    the worker is blocked. A `local` act is shown no shared value: whatever it
    is given in its place, it hands back.

    >>> Act("think", lambda shared, own: (shared, own + 1), when=bool, local=True)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the local act 'think', found a `when`, where it can wait for nobody
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """

    name: str
    do: Callable[[Any, Any], tuple[Any, ...]]
    when: Callable[[Any, Any], bool] | None = field(default=None, kw_only=True)
    local: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name in ("", END):
            raise OrderRefused("an act with a name of its own", repr(self.name))
        if not callable(self.do) or not (self.when is None or callable(self.when)):
            raise OrderRefused(f"the act {self.name!r} to be functions", f"{self.do!r}, {self.when!r}")
        if self.local and self.when is not None:
            found = "a `when`, where it can wait for nobody"
            raise OrderRefused(f"the local act {self.name!r}", found)


@dataclass(frozen=True, slots=True)
class Table:
    """A worker: its acts from the first to the last, and its own value at the start."""

    acts: tuple[Act, ...]
    own: Any = None

    def __post_init__(self) -> None:
        acts = self.acts if isinstance(self.acts, tuple) else ()
        names = [act.name for act in acts if isinstance(act, Act)]
        if not acts or len(names) < len(acts) or len(names) > len(set(names)):
            raise OrderRefused("a table: a tuple of acts with different names", repr(self.acts))

    def row(self, name: str) -> int:
        """The number of the act of that name; one more than the last for the end."""
        names = [act.name for act in self.acts]
        return [*names, END].index(name)


@dataclass(frozen=True, slots=True)
class Place:
    """What a law looks at: the shared value, each worker's own, whether all are done."""

    shared: Any
    owns: tuple[Any, ...]
    done: bool


class Fault(Exception):
    """Something that is wrong with an act; it becomes a failure of the exploration."""

    def __init__(self, kind: str, act: str, words: str) -> None:
        super().__init__(kind, act, words)
        self.kind, self.act, self.words = kind, act, words


class Unseen:
    """What a local act gets instead of the shared value: it can only hand it back."""

    def _refuse(self, *others: object) -> Any:
        raise OrderRefused("the shared value", "a local act, which sees none")

    __eq__ = __bool__ = __len__ = __iter__ = __lt__ = __getitem__ = _refuse
    __hash__ = None  # type: ignore[assignment]


UNSEEN = Unseen()


def take(table: Table, row: int, shared: object, own: object) -> tuple[Any, Any, int] | None:
    """The shared value, the own one and the row after an act; None while it is blocked.

    An act is asked twice, so that one that remembers or rolls dice is found.

    >>> table = Table((Act("add", lambda shared, own: (shared + 1, own)),))
    >>> take(table, 0, 4, None)
    (5, None, 1)
    >>> take(Table((Act("add", lambda shared, own: shared + 1),)), 0, 4, None)
    Traceback (most recent call last):
        ...
    runstate_lab.tables.Fault: ('raised', 'add', 'gave 5, where a tuple of shared and own was asked')
    """
    act = table.acts[row]
    given = UNSEEN if act.local else shared
    try:
        with bounded():
            if act.when is not None and not _open(act, act.when(shared, own)):
                return None
            taken, again = act.do(given, own), act.do(given, own)
        shape = isinstance(taken, tuple) and len(taken) in (2, 3)
        if not shape or (act.local and taken[0] is not UNSEEN):
            asked = "what it was given, and own" if act.local else "shared and own"
            raise Fault("raised", act.name, f"gave {taken!r}, where a tuple of {asked} was asked")
        if act.local:
            taken, again = (shared, *taken[1:]), (shared, *again[1:])
        if taken != again or canonical(taken[:2]) != canonical(again[:2]):
            words = f"gave {taken!r}, then {again!r}, for the same values"
            raise Fault("not the same twice", act.name, words)
        unfit = unplain(taken[:2])
        if unfit:
            raise Fault("raised", act.name, f"gave {taken!r}: {unfit}; hint: a tuple cannot change")
        return taken[0], taken[1], _next_row(table, row, taken)
    except Fault:
        raise
    except Endless as fault:
        raise Fault("endless", act.name, str(fault)) from None
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's act may raise anything
        raise Fault("raised", act.name, words_of(fault)) from fault


def _open(act: Act, answer: object) -> bool:
    if answer is not True and answer is not False:
        raise Fault("raised", act.name, f"its `when` gave {answer!r}, neither True nor False")
    return answer


def _next_row(table: Table, row: int, taken: tuple[Any, ...]) -> int:
    if len(taken) == 2:
        return row + 1
    try:
        return table.row(taken[2])
    except ValueError:
        act = table.acts[row].name
        raise Fault("raised", act, f"goes on with {taken[2]!r}, which is no act") from None


def unplain(value: object) -> str:
    """Why a value cannot be part of a place; empty if it can.

    >>> unplain((1, "a", frozenset({2})))
    ''
    >>> unplain((1, ["a"])), unplain(object())
    ('a list, which can change', 'an object, which equals nothing but itself')
    """
    if value is None:
        return ""
    if isinstance(value, tuple | frozenset):
        return next(filter(None, map(unplain, value)), "")
    if is_dataclass(value) and not isinstance(value, type):
        parts = (getattr(value, part.name) for part in fields(value))
        within = next(filter(None, map(unplain, parts)), "")
        if within:
            return within
    kind = type(value).__name__
    named = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    try:
        hash(value)
    except TypeError:
        return f"{named}, which can change"
    if type(value).__hash__ is object.__hash__:
        return f"{named}, which equals nothing but itself"
    return ""


def replay(schedule: str, tables: Mapping[str, Table], shared: object) -> Place:
    """The place after a schedule.

    >>> replay("AABBBA", register_writers(2, 1), 0).shared
    1
    >>> replay("AAAA", register_writers(2, 1), 0)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked the move 'A' after 'AAA', found worker A done
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    workers = {name: (0, table.own) for name, table in tables.items()}
    made = ""
    for move in moves(schedule):
        asked = f"the move {move!r} after {made or 'no move'!r}"
        if move not in tables:
            raise OrderRefused(asked, f"the tables {', '.join(tables)}, and no faults")
        table, (row, own) = tables[move], workers[move]
        if row == len(table.acts):
            raise OrderRefused(asked, f"worker {move} done")
        try:
            taken = take(table, row, shared, own)
        except Fault as fault:
            raise OrderRefused(asked, f"the act {fault.act}: {fault.kind}: {fault.words}") from fault
        if taken is None:
            raise OrderRefused(asked, f"worker {move} blocked at the act {table.acts[row].name}")
        shared, workers[move] = taken[0], (taken[2], taken[1])
        made += move
    done = all(row == len(tables[name].acts) for name, (row, _) in workers.items())
    return Place(shared, tuple(own for _, own in workers.values()), done)


class Writer(NamedTuple):
    """A writer's own value: its copy of the register, and the rounds it has done."""

    copy: int = 0
    rounds: int = 0


def register_writers(writers: int, rounds: int, *, mode: str = "blind") -> dict[str, Table]:
    """Writers who add one to a register so many times each: read, think, commit.

    A "blind" commit writes the copy, whatever happened since it was read; a
    "swap" compares first, and reads again when the register has moved on.

    >>> [act.name for act in register_writers(2, 1)["B"].acts]
    ['read', 'think', 'commit']
    >>> register_writers(2, 1, mode="hopeful")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.OrderRefused: this cannot be played or explored: asked writers that commit 'hopeful', found blind, swap
    hint: name workers A, B, C; write them with `yield`; give laws as functions; make open moves
    """
    if mode not in ("blind", "swap"):
        raise OrderRefused(f"writers that commit {mode!r}", "blind, swap")
    if not 1 <= writers <= len(ascii_uppercase) or rounds < 1:
        raise OrderRefused("1 to 26 writers of 1 round or more", f"{writers} of {rounds}")

    def commit(register: int, writer: Writer) -> tuple[int, Writer, str]:
        if mode == "swap" and register != writer.copy - 1:
            return register, writer._replace(copy=0), "read"
        done = writer.rounds + 1
        return writer.copy, Writer(0, done), END if done == rounds else "read"

    acts = (
        Act("read", lambda register, writer: (register, writer._replace(copy=register))),
        Act("think", lambda _, writer: (_, writer._replace(copy=writer.copy + 1)), local=True),
        Act("commit", commit),
    )
    return dict.fromkeys(ascii_uppercase[:writers], Table(acts, Writer()))


def symmetric(law: Callable[[Place], bool]) -> Callable[[Place], bool]:
    """The law, declared to say the same whichever of two alike workers is which.

    An invariant that asks for `owns` keeps a search from being reduced, unless
    it says so. It is asked about each place once more with all alike workers
    moved on by one: where it says something else, the search is run whole.

    >>> symmetric(lambda place: len(set(place.owns)) > 1).symmetric
    True
    """
    law.symmetric = True  # type: ignore[attr-defined]
    return law


@symmetric
def no_lost_update(place: Place) -> bool:
    """The register counts every round that a writer was told is done.

    >>> no_lost_update(replay("AAABBB", register_writers(2, 1), 0))
    True
    >>> no_lost_update(replay("AABBBA", register_writers(2, 1), 0))
    False
    """
    return place.shared == sum(writer.rounds for writer in place.owns)
