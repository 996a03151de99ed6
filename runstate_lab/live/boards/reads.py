"""Machinery. What somebody types into a board: moves, orders, tokens; and a play as frames.

A token is refused with its reason: mistyped, from another place, out of date.

What is not here: playing them (see `boardplays`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from runstate_lab.errors import OrderRefused, TokenRefused
from runstate_lab.live.boards import words
from runstate_lab.live.boards.plays import Moment, Plays
from runstate_lab.live.boards.worlds import Cast
from runstate_lab.live.faults import Askew
from runstate_lab.live.runs.replays import Frame
from runstate_lab.model import RunState
from runstate_lab.race import MOVE, moves
from runstate_lab.tokens import Token

HOW = "give an order such as AABABB or the beginning of one, or a token"


def fault_in(plays: Plays, here: Moment, move: str) -> str:
    """Why a move cannot be made at a moment; empty if it can.

    >>> from runstate_lab.live.boards.worlds import settings_of
    >>> plays = Plays(settings_of("two_writers")[0])
    >>> fault_in(plays, plays.moments[""], "A~"), fault_in(plays, plays.moments[""], "A")
    ('the next step of A sends no proposal', '')
    """
    if not isinstance(move, str) or not MOVE.fullmatch(move):
        return "no move: a worker's letter, one with a fault mark, or a small letter for mail"
    if move[0].upper() not in plays.setting.workers:
        return f"no worker {move[0].upper()}; there are {', '.join(plays.setting.workers)}"
    if len(move) == 1:
        return words.off(here, move)
    return words.off_with_fault(here, move, plays.after(here, move[0]))


def order_of(
    text: str, plays: Mapping[str, Plays], shown: str, title: str
) -> tuple[str, str]:
    """The variant and the order that a text means: letters, or a token."""
    if not isinstance(text, str):
        raise Askew("an order", f"a {type(text).__name__}", HOW)
    if {"-", "/"} & set(text):
        return _of_token(text.strip(), plays, shown, title)
    order = re.sub(r"[\s,]", "", text)
    order = order.upper() if order.islower() else order
    return shown, _check(order, plays[shown])


def reached(plays: Plays, order: str) -> bool:
    """Whether every move of an order is open where it comes, up to a failure of the code.

    >>> from runstate_lab.live.boards.worlds import settings_of
    >>> plays = Plays(settings_of("two_writers")[0])
    >>> reached(plays, "AAB"), reached(plays, "AAAA"), reached(plays, "XY")
    (True, False, False)
    """
    try:
        _check(order, plays)
    except Askew:
        return False
    return True


def frames_along(path: Sequence[Moment], cast: Cast) -> tuple[Frame, ...]:
    """The moments of a play as the frames of a run view, a frame for each entry."""
    start = path[0].after
    for moment in path:
        if not isinstance(moment.after, RunState):
            hint = "load() has to give a RunState"
            raise Askew("a run view", f"a state that is a {type(moment.after).__name__}", hint)
    frames = [Frame(0, None, start, start)]
    for moment in path[1:]:
        said = words.sentence(moment, cast).removeprefix(cast.who(moment.step.worker)).strip()
        remark = "; ".join(words.remarks(moment))
        entries = moment.entries or (None,)
        for place, entry in enumerate(entries):
            newest = place == len(entries) - 1
            frames.append(
                Frame(
                    len(frames),
                    entry,
                    moment.before,
                    moment.after if newest else moment.before,
                    actor="" if entry else moment.step.worker,
                    does="" if entry else said.rstrip("."),
                    remark=f"{remark}." if remark and newest else "",
                )
            )
    return tuple(frames)


def _check(order: str, plays: Plays) -> str:
    """The order, up to the step at which the code fails."""
    try:
        asked = moves(order)
    except OrderRefused as wrong:
        raise Askew(f"the order {order!r}", wrong.found, HOW) from wrong
    here = plays.moments[""]
    for move in asked:
        if here.failure:
            break
        why = fault_in(plays, here, move)
        if why:
            raise Askew(f"the order {order!r}", f"{why} after {here.key or 'no move'}", HOW)
        here = plays.after(here, move)
    return here.key


def _of_token(
    text: str, plays: Mapping[str, Plays], shown: str, title: str
) -> tuple[str, str]:
    try:
        token = Token.read(text)
    except TokenRefused as refused:
        raise _refused(text, f"{refused.found}: {refused.reason}", refused.hint) from refused
    name = _home(token, plays, shown)
    if name is None:
        made = f"{token.world}, {token.store}" if token.world else "other workers or another store"
        there = f"a board of {title} on {', '.join(plays)}"
        why = "the token belongs to another place"
        raise _refused(text, f"{there}; it was made with {made}: {why}", "play it where it was made")
    reached = plays[name].moment(_check(token.schedule, plays[name]))
    if reached.failure:
        found = f"{words.failed(reached)} after {reached.key}: the token is out of date"
        raise _refused(text, found, "the code has changed since; explore again")
    if Token.read(reached.token).end != token.end:
        found = "another end than it was made with: the token is out of date"
        raise _refused(text, found, "the code has changed since; explore again")
    return name, token.schedule


def _home(token: Token, plays: Mapping[str, Plays], shown: str) -> str | None:
    """The variant that a token was made with, the one shown first."""
    names = sorted(plays, key=lambda name: name != shown)
    for name in names:
        begun = plays[name].moments[""].token
        if "-" not in begun or Token.read(begun).place != token.place:
            continue
        setting = plays[name].setting
        if not token.world or (token.world, token.store) == (setting.world, name):
            return name
    return None


def _refused(text: str, found: str, hint: str) -> Askew:
    return Askew(f"the token {text!r:.90}", found, hint)
