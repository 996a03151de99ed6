"""Machinery. One play of a board: an order taken move by move, each moment kept.

A play runs on a fresh store and fresh workers, once; going back and forward
over its moments runs nothing. What a learner's code does wrong (an exception,
a step without an end, a store that cannot be made) ends the play with words.

What is not here: how a moment is told (see `boardwords`) and drawn (see
`boardmarks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runstate_lab.errors import OrderRefused, Refusal, words_of
from runstate_lab.laws import Keyed, Law
from runstate_lab.live.boards.answers import NOT_ANSWERED, STORE, NoState, check_answers
from runstate_lab.model import RunState
from runstate_lab.orders import end_of
from runstate_lab.race import CRASH, Race, Step, Worker, moves
from runstate_lab.store import StateStore
from runstate_lab.tokens import Token, place_of
from runstate_lab.trace import Entry
from runstate_lab.watch import Endless, bounded

SKIPPED, FAILED = "skipped", "failed"
AGAIN = "the same moves ended elsewhere when they were made again"


@dataclass(frozen=True)
class Setting:
    """What one variant of a board is played with: workers, a factory of stores, laws."""

    name: str
    workers: Mapping[str, Worker]
    make: Callable[[], StateStore]
    invariants: tuple[Law, ...] = ()
    at_end: tuple[Law, ...] = ()
    faults: str = ""
    world: str = ""

    @property
    def laws(self) -> tuple[Law, ...]:
        """All laws, those of every move first."""
        return self.invariants + self.at_end


@dataclass(frozen=True)
class Moment:
    """Where a play stands after a move: what the move did, and what is open now.

    `key` is the order so far; `believes` holds for each worker the state that it
    has read and not answered for; `again` says that the world was asked under a key
    that it knew; `failure` says what is wrong with the code.
    """

    key: str = ""
    step: Step | None = None
    before: Any = None
    after: Any = None
    entries: tuple[Entry, ...] = ()
    enabled: tuple[str, ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    again: bool = False
    believed: Mapping[str, Any] = field(default_factory=dict)
    believes: Mapping[str, Any] = field(default_factory=dict)
    mailed: tuple[str, ...] = ()
    mail: tuple[str, ...] = ()
    begun: frozenset[str] = frozenset()
    token: str = ""
    failure: str = ""

    @property
    def over(self) -> bool:
        """Whether no move is left."""
        return not self.enabled

    @property
    def of_store(self) -> bool:
        """Whether the failure is the store's own, not that of a worker."""
        return self.failure.startswith(STORE)

    @property
    def proposes(self) -> bool:
        """Whether the step sent a proposal to the store."""
        touches = self.step.touches if self.step else ()
        return self.failure.startswith(NOT_ANSWERED) or any(touch.proposal for touch in touches)


class Play:
    """One race at work, and the moment that it has reached.

    >>> from runstate_lab.live.boards.worlds import settings_of
    >>> play = Play(settings_of("two_writers", ("naive",))[0])
    >>> [play.advance(move).after.revision for move in "AABBBA"]
    [4, 4, 4, 4, 5, 5]
    >>> play.now.broken
    ('no_lost_update', 'no_decision_on_old_facts')
    """

    def __init__(self, setting: Setting, known: Moment | None = None) -> None:
        self.setting = setting
        self._place, self._seen = "", 0
        self._race, failure = safely(self._begun)
        self.now = Moment(failure=failure and f"it cannot begin: {failure}")
        if failure:
            return
        if known is not None:
            self._hurry(known)
        else:
            begun = self._looked(Moment())
            self.now = replace(begun, before=begun.after)

    def advance(self, move: str) -> Moment:
        """The moment after one more move; what the code does wrong is in it."""
        known = {one.key for one in self._race.said if isinstance(one, Keyed)}
        step, failure = safely(lambda: self._stepped(move))
        here = still(replace(self.now, key=self.now.key + move))
        if isinstance(step, OrderRefused):
            raise step
        if step is None:
            failed = Step(0, move, move[0].upper(), (), None, FAILED)
            failure = failure.removeprefix(f"{NoState.__name__}: ")
            held = {name: seen for name, seen in here.believes.items() if name != failed.worker}
            self.now = replace(
                here, step=failed, failure=failure, enabled=(), believes=held, token=here.key
            )
        else:
            again = getattr(step.said, "key", None) in known
            self.now = self._looked(replace(here, step=step, again=again))
        return self.now

    def _hurry(self, known: Moment) -> None:
        """Go to a moment that another play of this setting has reached."""
        try:
            for move in moves(known.key):
                self._race.step(move, watched=False)
            now = self._race.store.load()
            same = self._race.enabled == known.enabled
            same &= now == known.after or not isinstance(now, RunState)
        except Exception:  # noqa: BLE001 - it went well the first time
            same = False
        self._seen = safely(lambda: len(self._race.store.trace))[0] or 0
        self.now = known if same else replace(known, failure=AGAIN, enabled=())

    def _begun(self) -> Race:
        with bounded():
            store = self.setting.make()
            self._place = place_of(self.setting.workers, store)
            return Race(self.setting.workers, store)

    def _stepped(self, move: str) -> Step | OrderRefused:
        try:
            self._race.step(move)
        except OrderRefused as wrong:
            if move[1:] in ("", CRASH):
                raise
            return wrong
        step = self._race.log[-1]
        check_answers(step.touches, self._race.passed(step.worker))
        return step

    def _looked(self, made: Moment) -> Moment:
        """The moment with what can be seen in the race now."""
        race = self._race
        after, failure = safely(race.store.load)
        failure = failure and f"{STORE} cannot be loaded: {failure}"
        if after is None and not failure:
            failure = f"{STORE}'s load gave None, not a state"
        trace, _ = safely(lambda: tuple(race.store.trace))
        entries = (trace or ())[self._seen :]
        self._seen += len(entries)
        looked = replace(
            made,
            after=after,
            entries=entries if made.step else (),
            enabled=() if failure else race.enabled,
            refusals=dict(race.refusals),
            failure=failure,
            mail=tuple(move.upper() for move in race.enabled if move.islower()),
        )
        followed = _followed(looked)
        # A law asked of a store that is broken would be about nothing.
        return replace(followed, token=followed.key) if failure else self._judged(followed)

    def _judged(self, made: Moment) -> Moment:
        laws = self.setting.laws if made.over else self.setting.invariants
        fresh, unasked = [], []
        for law in laws:
            name = law.__name__
            if name in made.broken:
                continue
            verdict, words = safely(lambda law=law: law(self._race))
            if words or not isinstance(verdict, bool):
                unasked.append(f"{name} cannot be asked: {words or f'it gave {verdict!r}'}")
            elif not verdict:
                fresh.append(name)
        end, _ = safely(lambda: end_of(self._race))
        world = self.setting.world
        variant = self.setting.name if world else ""
        token = Token(made.key, world, variant, self._place, end) if end else made.key
        return replace(
            made,
            broken=(*made.broken, *fresh),
            fresh=tuple(fresh),
            unasked=tuple(unasked),
            token=str(token),
        )


class Plays:
    """All moments of one setting that were reached so far, each played once.

    >>> from runstate_lab.live.boards.worlds import settings_of
    >>> plays = Plays(settings_of("two_writers", ("naive",))[0])
    >>> plays.every(100), len(plays.moments)
    (True, 69)
    >>> [moment.step.ended for moment in plays.path("AAAA")]
    ['', '', 'done', 'skipped']
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.moments: dict[str, Moment] = {"": Play(setting).now}

    def every(self, most: int) -> bool:
        """Whether all plain orders have at most so many beginnings; then they are all played."""
        waiting = [""]
        while waiting:
            play = self._at(waiting.pop())
            while not play.now.over:
                first, *others = play.now.enabled
                waiting += [play.now.key + move for move in others[::-1]]
                self._keep(play.advance(first))
                if len(self.moments) > most:
                    return False
        return True

    def moment(self, key: str) -> Moment:
        """The moment after an order that can be played here."""
        if key not in self.moments:
            play = self._at(key)
            self.moments.setdefault(play.now.key, play.now)
        return self.moments[key]

    def path(self, schedule: str) -> tuple[Moment, ...]:
        """The moments of an order; a move that is not open here is skipped, and says so."""
        here, shown = self.moments[""], []
        for move in moves(schedule):
            after = self.after(here, move)
            if after is None:
                step = Step(0, move, move[0].upper(), (), None, SKIPPED)
                shown.append(replace(still(here), step=step))
            else:
                here = after
                shown.append(here)
        return tuple(shown)

    def after(self, here: Moment, move: str) -> Moment | None:
        """The moment after one more move, or None where the move is not open."""
        if move[0] not in here.enabled:
            return None
        try:
            return self.moment(here.key + move)
        except OrderRefused:
            return None

    def _at(self, key: str) -> Play:
        known = list(moves(key))
        while "".join(known) not in self.moments:
            known.pop()
        play = Play(self.setting, self.moments["".join(known)])
        for move in moves(key)[len(known) :]:
            if move[0] not in play.now.enabled:
                raise OrderRefused(f"the move {move!r}", "a move that is not open")
            self._keep(play.advance(move))
        return play

    def _keep(self, moment: Moment) -> None:
        self.moments[moment.key] = moment


def safely(work: Callable[[], Any]) -> tuple[Any, str]:
    """What the work gives, and what went wrong in words.

    >>> safely(lambda: 1 / 0)
    (None, 'ZeroDivisionError: division by zero')
    """
    try:
        with bounded():
            return work(), ""
    except Endless as endless:
        return None, f"it seems to have no end: {endless}"
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a learner's code may raise anything
        return None, words_of(fault)


def _followed(made: Moment) -> Moment:
    """The moment with what each worker believes, and how each has ended."""
    step = made.step
    if step is None:
        return made
    believes, ends, begun = dict(made.believes), dict(made.ends), set(made.begun)
    seen = made.before
    for touch in step.touches:
        if touch.verb == "load":
            believes[step.worker] = seen
        elif touch.proposal is not None and step.move[0].isupper():
            believes.pop(step.worker, None)
            seen = made.after
    own = step.ended != "delivered"
    if step.ended and own:
        believes.pop(step.worker, None)
    if step.ended == "crashed":
        begun.discard(step.worker)
    elif own:
        begun.add(step.worker)
        ends |= {step.worker: step.ended} if step.ended else {}
    return replace(made, believes=believes, ends=ends, begun=frozenset(begun))


def still(here: Moment) -> Moment:
    """The same moment once more, with nothing done."""
    return replace(
        here,
        before=here.after,
        entries=(),
        fresh=(),
        unasked=(),
        again=False,
        believed=here.believes,
        mailed=here.mail,
    )
