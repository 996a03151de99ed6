"""Floor 5. Every order of ordinary code, each on a fresh store.

Code cannot be copied in the middle of its work, so each branch is run again
from its start. What was seen the first time must be seen again: a difference
is a failure of the code under test, never a count.

What is not here: steps over plain values (see `spaces`), and tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from runstate_lab.errors import OrderRefused, words_of
from runstate_lab.exploration import Exploration, Failure
from runstate_lab.laws import Law
from runstate_lab.line import FAULTS
from runstate_lab.race import CRASH, NeverYields, Race, Worker, check_names, moves
from runstate_lab.store import StateStore
from runstate_lab.tally import Tally, reading_order, snapshot, told
from runstate_lab.watch import Endless, bounded

LONGEST = 200
MOST = 200_000


@dataclass(frozen=True, slots=True)
class Question:
    """What is explored: workers, a factory of stores, laws, faults and bounds."""

    workers: Mapping[str, Worker]
    store: Callable[[], StateStore]
    invariants: tuple[Law, ...] = ()
    at_end: tuple[Law, ...] = ()
    faults: str = ""
    reduced: bool = False
    most: int = MOST

    def __post_init__(self) -> None:
        check_names(self.workers)
        names = [getattr(law, "__name__", "") for law in self.laws]
        if {"", "<lambda>"} & set(names) or len(names) != len(set(names)):
            raise OrderRefused("laws with a name of their own (use def)", str(names))
        if set(self.faults) - set(FAULTS):
            raise OrderRefused(f"the faults {self.faults!r}", f"only {' '.join(FAULTS)}")

    @property
    def laws(self) -> tuple[Law, ...]:
        """All laws, those of every move first."""
        return self.invariants + self.at_end


@dataclass(frozen=True, slots=True)
class Branch:
    """A move that was open and not made yet, and what was seen before it."""

    before: tuple[str, ...] = ()
    move: str = ""
    broken: frozenset[str] = frozenset()
    seen: object = None


class Stopped(Exception):
    """The search cannot go on; why is told in its result."""


class Search:
    """One exploration at work; `result` gives what it found.

    >>> from runstate_lab.model import RunState
    >>> def two(store):
    ...     yield
    >>> question = Question({"A": two, "B": two}, lambda: StateStore(RunState("run-7")))
    >>> Search(question).result().schedules
    6
    """

    def __init__(self, asked: Question) -> None:
        self._asked = asked
        self._tally = Tally()
        self._stores: list[StateStore] = []
        self._why = ""

    def result(self) -> Exploration:
        """Everything found, once every order was run or the search had to stop."""
        waiting = [Branch()]
        try:
            while waiting:
                if self._tally.ends.total() >= self._asked.most:
                    self._why = f"stopped after {self._asked.most} orders"
                    break
                waiting += self._descend(waiting.pop())
            self._once_more()
        except Stopped:
            pass
        return told(self._tally, self._asked.laws, reduced=self._asked.reduced, why=self._why)

    def _descend(self, branch: Branch) -> list[Branch]:
        """Make the move and go on with the first open one to the end of the order."""
        race = self._again(branch.before, branch.seen)
        made, move, broken = branch.before, branch.move, branch.broken
        others: list[list[Branch]] = []
        while self._moved(race, made, move):
            made = (*made, move) if move else made
            laws = self._asked.invariants
            now_broken = self._judged(race, made, laws, broken)
            if now_broken is None:
                break
            broken, choices = now_broken, self._choices(race, made)
            seen = self._seen(race, made)
            if seen is None:
                break
            if not choices:
                self._ended(race, made, broken)
                break
            others.append([Branch(made, other, broken, seen) for other in choices[:0:-1]])
            move = choices[0]
        return [branch for level in others for branch in level]

    def _once_more(self) -> None:
        """One order to each outcome is run again: code may differ where no branch was."""
        for (state, _), schedule in self._tally.examples.items():
            race = self._again(moves(schedule))
            if snapshot(race.store.load()) != state:
                self._differs(moves(schedule))

    def _again(self, before: tuple[str, ...], seen: object = None) -> Race:
        race = self._fresh()
        try:
            for move in before:
                race.step(move, watched=False)
        except (Exception, SystemExit):  # noqa: BLE001 - it went well the first time
            self._differs(before)
        if seen is not None and self._seen(race, before) != seen:
            self._differs(before)
        return race

    def _differs(self, made: tuple[str, ...]) -> None:
        self._fail("not the same twice", "the code", made, "the same moves ended elsewhere")
        raise Stopped

    def _fresh(self) -> Race:
        """A race on a fresh store; whatever is wrong with either is told, and ends the search."""
        kind, who = "raised", "the store's factory"
        try:
            with bounded():
                store = self._asked.store()
                if not any(store is other for other in self._stores):
                    self._stores[:] = [*self._stores[:1], store]
                    who = "the store"
                    store.load()
                    who = "a worker"
                    return Race(self._asked.workers, store)
            kind, words = "store shared", "it gave a store that was used before"
        except NeverYields as fault:
            kind, words = "never yields", words_of(fault)
        except Endless as fault:
            kind, words = "endless", str(fault)
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's code may raise anything
            words = words_of(fault)
        self._fail(kind, who, (), words)
        raise Stopped

    def _moved(self, race: Race, made: tuple[str, ...], move: str) -> bool:
        """Whether the move was made; a failure is kept, a fault that hit nothing is not."""
        if not move:
            return True
        who, after = f"worker {move[0].upper()}", (*made, move)
        try:
            race.step(move)
        except Endless as fault:
            self._fail("endless", who, after, str(fault))
            raise Stopped from None
        except OrderRefused as fault:
            if len(move) == 1 or len(race.log) == len(made):
                self._fail("raised", who, after, words_of(fault))
            return False
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's code may raise anything
            self._fail("raised", who, after, words_of(fault))
            return False
        if len(after) > LONGEST:
            self._fail("endless", who, after[:12], f"more than {LONGEST} moves, and no end")
            raise Stopped
        return True

    def _judged(
        self, race: Race, made: tuple[str, ...], laws: Iterable[Law], broken: frozenset[str]
    ) -> frozenset[str] | None:
        """The laws broken so far; None if a law cannot be asked."""
        for law in laws:
            name = law.__name__
            if name in broken:
                continue
            try:
                with bounded():
                    verdict = law(race)
            except (Exception, SystemExit, Endless) as fault:  # noqa: BLE001 - a learner's law
                self._fail("law", name, made, words_of(fault))
                return None
            if verdict is not True and verdict is not False:
                self._fail("law", name, made, f"gave {verdict!r}, neither True nor False")
                return None
            if not verdict:
                broken |= {name}
                best = self._tally.shortest.get(name)
                schedule = "".join(made)
                self._tally.shortest[name] = min(best or schedule, schedule, key=reading_order)
        return broken

    def _choices(self, race: Race, made: tuple[str, ...]) -> list[str]:
        plain = list(race.enabled)
        faulty = self._faulty(race, made, plain) if self._asked.faults else []
        if self._asked.reduced and len(plain + faulty) > 1:
            for name in filter(str.isupper, plain):
                if self._is_local(made, name):
                    return [name]
        return plain + faulty

    def _faulty(self, race: Race, made: tuple[str, ...], plain: list[str]) -> list[str]:
        """The open moves with a fault; a crash before the first step changes nothing."""
        left = Counter(self._asked.faults) - Counter("".join(move[1:] for move in made))
        begun: set[str] = set()
        for step in race.log:
            if step.ended != "delivered":
                (begun.discard if step.ended == "crashed" else begun.add)(step.worker)
        return [
            name + mark
            for name in plain
            if name.isupper()
            for mark in left
            if mark != CRASH or name in begun
        ]

    def _is_local(self, made: tuple[str, ...], name: str) -> bool:
        """Whether the worker's next step touches nothing that others can see."""
        race = self._fresh()
        try:
            for move in made:
                race.step(move, watched=False)
            race.step(name)
        except (Exception, SystemExit, Endless):  # noqa: BLE001 - it will be met again, and told
            return False
        step = race.log[-1]
        quiet = not step.touches and step.said is None
        return quiet and not (step.ended and self._asked.faults)

    def _ended(self, race: Race, made: tuple[str, ...], broken: frozenset[str]) -> None:
        at_end = self._judged(race, made, self._asked.at_end, broken)
        if at_end is None:
            return
        tally, schedule = self._tally, "".join(made)
        key = (snapshot(race.store.load()), at_end)
        tally.ends[key] += 1
        tally.examples[key] = min(tally.examples.get(key, schedule), schedule, key=reading_order)
        tally.broken.update(at_end)
        tally.refused.update({refusal.code for refusal in race.refusals.values()})

    def _seen(self, race: Race, made: tuple[str, ...]) -> object:
        """What can be compared with the same moves made again; None if the store fails."""
        codes = tuple((name, refusal.code) for name, refusal in race.refusals.items())
        try:
            with bounded():
                state = snapshot(race.store.load())
        except (Exception, SystemExit, Endless) as fault:  # noqa: BLE001 - a learner's store
            self._fail("raised", "the store", made, words_of(fault))
            return None
        return state, race.enabled, codes, race.said

    def _fail(self, kind: str, who: str, made: Sequence[str], words: str) -> None:
        schedule = "".join(made)
        known = self._tally.failures.get((kind, who))
        if known is None or reading_order(schedule) < reading_order(known.schedule):
            self._tally.failures[kind, who] = Failure(kind, who, schedule, words)
