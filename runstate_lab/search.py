"""Floor 5. Every order of ordinary code, each on a fresh store.

Code cannot be copied in the middle of its work, so each branch is run again
from its start. What was seen the first time must be seen again: a difference
is a failure of the code under test, never a count.

What is not here: steps over plain values (see `spaces`), and tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runstate_lab.errors import Malformed, words_of
from runstate_lab.exploration import Exploration, Failure, Outcome
from runstate_lab.laws import Law
from runstate_lab.line import FAULTS
from runstate_lab.race import CRASH, Race, Worker, moves
from runstate_lab.store import StateStore
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
        names = [law.__name__ for law in self.laws]
        if "<lambda>" in names or len(names) != len(set(names)):
            raise Malformed("laws with a name of their own (use def)", str(names))
        if set(self.faults) - set(FAULTS):
            raise Malformed(f"the faults {self.faults!r}", f"only {' '.join(FAULTS)}")

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


@dataclass
class Tally:
    """What the orders that were run so far have shown."""

    ends: Counter[tuple[object, frozenset[str]]] = field(default_factory=Counter)
    examples: dict[tuple[object, frozenset[str]], str] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    shortest: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)


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
                waiting += self._descend(waiting.pop())
                if self._tally.ends.total() > self._asked.most:
                    self._why = f"stopped after {self._asked.most} orders"
                    break
        except Stopped:
            pass
        return _told(self._asked, self._tally, self._why)

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
            if not choices:
                self._ended(race, made, broken)
                break
            seen = self._seen(race)
            others.append([Branch(made, other, broken, seen) for other in choices[:0:-1]])
            move = choices[0]
        return [branch for level in others for branch in level]

    def _again(self, before: tuple[str, ...], seen: object) -> Race:
        race = self._fresh()
        try:
            for move in before:
                race.step(move, watched=False)
            same = not before or self._seen(race) == seen
        except Exception:  # noqa: BLE001 - it went well the first time
            same = False
        if not same:
            self._fail("not the same twice", "the code", before, "the same moves ended elsewhere")
            raise Stopped
        return race

    def _fresh(self) -> Race:
        """A race on a fresh store; whatever is wrong with either is told, and ends the search."""
        kind, who = "raised", "the store's factory"
        try:
            store = self._asked.store()
            if any(store is other for other in self._stores):
                kind, words = "store shared", "it gave a store that was used before"
            else:
                self._stores[:] = [*self._stores[:1], store]
                who = "a worker"
                with bounded():
                    return Race(self._asked.workers, store)
        except Malformed as fault:
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
        except Malformed as fault:
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
                verdict = law(race)
            except Exception as fault:  # noqa: BLE001 - a learner's law may raise anything
                verdict = words_of(fault)
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
        except (Exception, Endless):  # noqa: BLE001 - it will be met again, and told
            return False
        step = race.log[-1]
        quiet = not step.touches and step.said is None
        return quiet and not (step.ended and self._asked.faults)

    def _ended(self, race: Race, made: tuple[str, ...], broken: frozenset[str]) -> None:
        at_end = self._judged(race, made, self._asked.at_end, broken)
        if at_end is None:
            return
        tally, schedule = self._tally, "".join(made)
        key = (_kept(race.store.load()), at_end)
        tally.ends[key] += 1
        tally.examples[key] = min(
            tally.examples.get(key, schedule), schedule, key=reading_order
        )
        tally.broken.update(at_end)
        tally.refused.update({refusal.code for refusal in race.refusals.values()})

    def _seen(self, race: Race) -> object:
        codes = tuple((name, refusal.code) for name, refusal in race.refusals.items())
        return race.store.load(), race.enabled, codes, race.said

    def _fail(self, kind: str, who: str, made: Sequence[str], words: str) -> None:
        schedule = "".join(made)
        known = self._tally.failures.get((kind, who))
        if known is None or reading_order(schedule) < reading_order(known.schedule):
            self._tally.failures[kind, who] = Failure(kind, who, schedule, words)


def reading_order(schedule: str) -> tuple[int, int, str]:
    """How easy a schedule is to read: few moves first, then few changes of hands.

    >>> sorted(("ABAB", "AABB", "AB"), key=reading_order)
    ['AB', 'AABB', 'ABAB']
    """
    made = moves(schedule)
    hands = [move[0].upper() for move in made]
    return len(made), sum(map(str.__ne__, hands, hands[1:])), schedule


def _kept(state: object) -> object:
    try:
        hash(state)
    except TypeError:
        return repr(state)
    return state


def _told(asked: Question, tally: Tally, why: str) -> Exploration:
    runs = tally.ends.total()
    exact = not (asked.reduced or tally.failures or why)
    outcomes = tuple(
        Outcome(
            state,
            count if exact else None,
            count / runs if exact else None,
            tuple(law.__name__ for law in asked.laws if law.__name__ in broken),
            tally.examples[state, broken],
        )
        for (state, broken), count in tally.ends.most_common()
    )
    known: Callable[[int], int] = int if exact else bool
    return Exploration(
        runs if exact else None,
        runs,
        outcomes,
        {law.__name__: known(tally.broken[law.__name__]) for law in asked.laws},
        {code: known(count) for code, count in tally.refused.items()},
        tally.shortest,
        failures=tuple(tally.failures.values()),
        reduced=asked.reduced,
        stopped=why,
    )
