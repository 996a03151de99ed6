"""Machinery. What a store gave for a proposal, where it is no state.

What is not here: how the failure is told (see `boardwords`).
"""

from __future__ import annotations

from collections.abc import Sequence

from runstate_lab.line import Touch

STORE = "the store"
NOT_ANSWERED = f"{STORE}'s apply gave "


class NoState(Exception):
    """A store that took a proposal and gave no state for it."""


def check_answers(touches: Sequence[Touch], passed: Sequence[object]) -> None:
    """None when each accepted proposal of a step was answered with a state.

    >>> check_answers((Touch("load", 4), Touch("apply", 5)), ())
    """
    for touch in touches:
        if touch.verb == "apply" and touch.proposal and not touch.code and touch.revision is None:
            raise NoState(f"{NOT_ANSWERED}{_gave(touch, passed)}")


def _gave(touch: Touch, passed: Sequence[object]) -> str:
    here = [place for place, one in enumerate(passed) if one is touch.proposal]
    later = passed[here[-1] + 1 :] if here else ()
    given = [one for one in later if one is not touch.context]
    return f"{given[0]!r:.60}, not a state" if given else "no state"
