"""Floor 5. Every order of ordinary code, each on a fresh store.

Code cannot be copied in the middle of its work, so each branch is run again
from its start, and each complete order once more at its end. Move by move it
must show what it showed the first time: a difference is a failure of the code
under test, never a count. What shows it only now and then can still be missed,
and a step that had an end the first time is not stopped when it is made again.

What is not here: what is explored (see `question`), steps over plain values
(see `spaces`), and tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from runstate_lab.errors import OrderRefused, words_of
from runstate_lab.exploration import Exploration
from runstate_lab.laws import Law
from runstate_lab.question import LONGEST, MOST, Question
from runstate_lab.race import NeverYields, Race, moves
from runstate_lab.store import StateStore
from runstate_lab.tally import (
    Tally,
    frozen,
    observed,
    reading_order,
    shown,
    snapshot,
    told,
    unlike,
)
from runstate_lab.verdicts import Unfit, Unsteady, looked, verdict
from runstate_lab.watch import Endless, bounded

__all__ = ["MOST", "Question", "Search"]
PREFIXES = 20_000


@dataclass(frozen=True, slots=True)
class Branch:
    """A move that was open and not made yet, and what was seen before it.

    `broken` are the laws broken so far, `anew` those that broke just here.
    """

    before: tuple[str, ...] = ()
    move: str = ""
    broken: frozenset[str] = frozenset()
    anew: frozenset[str] = frozenset()
    seen: tuple[object, ...] = ()
    state: object = None


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
        self._fail = self._tally.fail
        self._stores: list[StateStore] = []
        self._races: list[Race] = []
        self._why = ""
        self._orders = 0

    def result(self) -> Exploration:
        """Everything found, once every order was run or the search had to stop."""
        waiting, asked, shortest = [Branch()], self._asked, True
        try:
            while waiting:
                if self._orders >= self._asked.most:
                    self._why = f"stopped after {self._asked.most} orders"
                    break
                waiting += self._descend(waiting.pop())
            if self._asked.reduced and self._tally.shortest and not self._tally.failures:
                shortest = self._shorten()
        except (Stopped, Unsteady) as fault:
            if isinstance(fault, Unsteady):
                self._fail("not the same twice", "the store", (), str(fault))
            for race in self._races:
                race.close()
        return told(
            self._tally, asked.laws, reduced=asked.reduced, why=self._why, shortest=shortest
        )

    def _descend(self, branch: Branch) -> list[Branch]:
        """Make the move and go on with the first open one to the end of the order."""
        race = self._again(branch)
        made, move, seen, broken = branch.before, branch.move, branch.seen, branch.broken
        others: list[list[Branch]] = []
        while self._moved(race, made, move):
            if move:
                made, seen = (*made, move), (*seen, observed(race))
            state, laws = self._state(race, made), self._asked.invariants
            now = None if state is None else self._judged(race, made, laws, broken)
            if now is None:
                self._orders += 1
                break
            broken, anew, choices = now, now - broken, self._choices(race, made)
            here = Branch(made, "", broken, anew, seen, state)
            if not choices:
                self._ended(race, here)
                break
            others.append([replace(here, move=other) for other in choices[:0:-1]])
            move = choices[0]
        race.close()
        return [branch for level in others for branch in level]

    def _again(self, branch: Branch) -> Race:
        """The race at a branch, run anew: it shows what it showed before, or is told."""
        race, made = self._fresh(), branch.before
        try:
            for number, move in enumerate(made):
                race.step(move, watched=False)
                now = observed(race)
                if now != branch.seen[number]:
                    self._differs(made[: number + 1], unlike(branch.seen[number], now))
            state = snapshot(race.store.load())
        except (Stopped, KeyboardInterrupt):
            raise
        except BaseException as fault:  # noqa: BLE001 - it went well the first time
            self._differs(made, f"it went well once, and then raised {words_of(fault)}")
        if branch.state not in (None, state):
            self._differs(made, "the state after these moves differs")
        if made:
            self._same_verdicts(race, branch, self._asked.invariants)
        return race

    def _same_verdicts(self, race: Race, branch: Branch, laws: Iterable[Law]) -> None:
        for law in laws:
            name = law.__name__
            if name not in branch.broken or name in branch.anew:
                again = self._judged(race, branch.before, (law,), frozenset(), kept=False)
                if again is not None and (name in again) != (name in branch.broken):
                    words = "it gave another answer to the same moves"
                    self._fail("law", name, branch.before, words)
                    self._tally.shortest.pop(name, None)
                    raise Stopped

    def _differs(self, made: tuple[str, ...], words: str) -> None:
        self._fail("not the same twice", "the code", made, words)
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
                    self._races[:] = [*self._races[-2:], Race(self._asked.workers, store)]
                    return self._races[-1]
            kind, words = "store shared", "it gave a store that was used before"
        except KeyboardInterrupt:
            raise
        except NeverYields as fault:
            kind, words = "never yields", words_of(fault)
        except Endless as fault:
            kind, words = "endless", str(fault)
        except BaseException as fault:  # noqa: BLE001 - a learner's code may raise anything
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
        except KeyboardInterrupt:
            raise
        except Endless as fault:
            self._fail("endless", who, after, str(fault))
            raise Stopped from None
        except BaseException as fault:  # noqa: BLE001 - a learner's code may raise anything
            hit_nothing = isinstance(fault, OrderRefused) and len(move) > 1
            if not hit_nothing or len(race.log) == len(made):
                self._orders += 1
                self._fail("raised", who, after, words_of(fault))
            return False
        if len(after) > LONGEST:
            words = f"more than {LONGEST} moves: it has no end, or is too long to be explored"
            self._fail("endless", who, after[:12], words)
            raise Stopped
        return True

    def _judged(
        self,
        race: Race,
        made: tuple[str, ...],
        laws: Iterable[Law],
        broken: frozenset[str],
        *,
        kept: bool = True,
    ) -> frozenset[str] | None:
        """The laws broken so far; None if a law cannot be asked."""
        for law in laws:
            name = law.__name__
            if name in broken:
                continue
            try:
                holds = verdict(law, race, reduced=self._asked.reduced)
            except Unfit as fault:
                self._fail("law", name, made, str(fault))
                return None
            if not holds:
                broken |= {name}
                if kept:
                    self._tally.breaks(name, made)
        return broken

    def _choices(self, race: Race, made: tuple[str, ...], *, reduced: bool = True) -> list[str]:
        plain = list(race.enabled)
        faulty = self._asked.faulty(race) if self._asked.faults else []
        if reduced and self._asked.reduced and len(plain + faulty) > 1:
            for name in filter(str.isupper, plain):
                if self._is_local(made, name):
                    return [name]
        return plain + faulty

    def _is_local(self, made: tuple[str, ...], name: str) -> bool:
        """Whether the worker's next step changes nothing that others or a law can see.

        Whoever holds something mutable of the store's can change it unseen.
        """
        race = self._fresh()
        try:
            for move in made:
                race.step(move, watched=False)
            before = snapshot(race.store.load())
            race.step(name)
            step, after = race.log[-1], snapshot(race.store.load())
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - it will be met again, and told
            return False
        finally:
            race.close()
        quiet = not step.touches and step.said is None and before == after
        ended = step.ended not in ("", "done") or (step.ended and self._asked.faults)
        return quiet and not ended and all(map(frozen, race.passed(name)))

    def _ended(self, race: Race, here: Branch) -> None:
        """Count the order, and run it once more."""
        self._orders += 1
        at_end = self._judged(race, here.before, self._asked.at_end, here.broken)
        if at_end is None:
            return
        tally, schedule = self._tally, "".join(here.before)
        key = (shown(looked(race)), at_end)
        tally.ends[key] += 1
        tally.examples[key] = min(tally.examples.get(key, schedule), schedule, key=reading_order)
        tally.broken.update(at_end)
        codes = {touch.code for step in race.log for touch in step.touches}
        tally.refused.update((codes | {one.code for one in race.refusals.values()}) - {""})
        again = self._again(here)
        anew = at_end - here.broken
        self._same_verdicts(
            again, Branch(here.before, "", at_end, anew, here.seen, here.state), self._asked.at_end
        )

    def _shorten(self) -> bool:
        """Whether the orders found are the shortest, once whole orders up to their length were tried."""
        shortest, left = self._tally.shortest, min(self._asked.most, PREFIXES)
        level: list[tuple[str, ...]] = [()]
        while level and any(len(moves(known)) >= len(level[0]) for known in shortest.values()):
            following: list[tuple[str, ...]] = []
            for made in level:
                left -= 1
                if left < 0:
                    return False
                race = self._fresh()
                if all(self._moved(race, made[:at], made[at]) for at in range(len(made))):
                    self._judged(race, made, self._asked.invariants, frozenset())
                    choices = self._choices(race, made, reduced=False)
                    if not choices:
                        self._judged(race, made, self._asked.at_end, frozenset())
                    following += [(*made, choice) for choice in choices]
                race.close()
            level = following
        return True

    def _state(self, race: Race, made: tuple[str, ...]) -> object:
        """What can be compared with the same moves made again; None if the store fails."""
        try:
            with bounded():
                return snapshot(race.store.load())
        except KeyboardInterrupt:
            raise
        except BaseException as fault:  # noqa: BLE001 - a learner's store
            self._fail("raised", "the store", made, words_of(fault))
            return None
