"""Floor 5. One law asked about one race: yes, no, or what is wrong with the law.

A law may look at everything and change nothing, and it gives the same answer
to the same moves. In a reduced search, where one order stands for others, it
may not look at what differs between these.

What is not here: when laws are asked (see `search`).
"""

from __future__ import annotations

from typing import Any

from runstate_lab.errors import words_of
from runstate_lab.laws import Law
from runstate_lab.race import Race
from runstate_lab.tally import snapshot
from runstate_lab.watch import bounded

SEEN = ("store", "start", "said", "refusals", "unanswered", "acknowledged", "accepted")
"""What is the same in all orders that one order of a reduced search stands for."""


class Unfit(Exception):
    """A law that cannot be asked; the words say why."""


class Unsteady(Exception):
    """A store whose state changes while nobody writes to it."""


class Veiled:
    """A race as a law of a reduced search sees it.

    >>> from runstate_lab.laws import idle
    >>> veiled = Veiled(idle())
    >>> veiled.said, veiled.hidden
    ((), '')
    >>> veiled.enabled
    Traceback (most recent call last):
        ...
    runstate_lab.verdicts.Unfit: a reduced search cannot ask about enabled; ask without reduced
    """

    def __init__(self, race: Race) -> None:
        self.hidden = ""
        self._race = race

    def __getattr__(self, name: str) -> Any:
        if name in SEEN:
            return getattr(self._race, name)
        self.hidden = name
        raise Unfit(f"a reduced search cannot ask about {name}; ask without reduced")


def looked(race: Race) -> Any:
    """What the store loads, where it has loaded before.

    >>> from runstate_lab.laws import idle
    >>> looked(idle()).revision
    0
    """
    try:
        return race.store.load()
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 - a learner's store may raise anything
        raise Unsteady(f"it could be loaded once, and then raised {words_of(fault)}") from None


def verdict(law: Law, race: Race, *, reduced: bool = False) -> bool:
    """Whether the law holds in the race.

    >>> from runstate_lab.laws import idle, no_lost_update
    >>> verdict(no_lost_update, idle())
    True
    >>> verdict(len, idle())
    Traceback (most recent call last):
        ...
    runstate_lab.verdicts.Unfit: TypeError: object of type 'Race' has no len()
    """
    seen: Any = Veiled(race) if reduced else race
    before = snapshot(looked(race))
    try:
        with bounded() as watch:
            answer = law(seen)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 - a learner's law may raise anything
        answer = None
        words = str(fault) if isinstance(fault, Unfit) else words_of(fault)
    else:
        words = f"gave {answer!r}, neither True nor False"
    if reduced and seen.hidden:
        raise Unfit(f"a reduced search cannot ask about {seen.hidden}; ask without reduced")
    if watch.fired and words.startswith("gave"):
        raise Unfit("it goes on without an end, and catches what would stop it")
    if answer is not True and answer is not False:
        raise Unfit(words)
    _unchanged(race, before)
    return answer


def _unchanged(race: Race, before: object) -> None:
    after = snapshot(looked(race))
    if after != before:
        if snapshot(looked(race)) != after:
            raise Unsteady("each load() gives another state, though nobody writes")
        raise Unfit("it changes the store: a law only looks")
