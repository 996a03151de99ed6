"""Machinery. The approval desk as plain values: controls, and a step for each press.

Each press is made on every desk of a comparison, on a fresh run each; what
they answered stands side by side. A step holds all that is shown after it, so
that moving back and forward needs neither a store nor the kernel.

What is not here: the doors that are pressed (see `deskworld`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from runstate_lab.live.desks.marks import TICKS, Dot, Timeline, marks, size
from runstate_lab.live.desks.world import Card, Factory, Press, Reply, World

Plain = dict[str, object]
MOST_PRESSES = 20
MOST_CARDS = 4
HEADS = ("press", "tick", "what", "answer", "revision")
CARD_HEADS = ("card", "question", "seen at", "open", "ended")
END_HEADS = ("desk", "status", "revision", "deployed")
GROUPS = {
    "Rosa answers": ("grant", "deny"),
    "Answers that should not count": ("max", "call", "old", "again"),
    "Something else happens first": ("result", "arguments", "cancel"),
    "Time and the runtime": ("tick", "expire", "deploy", "ask"),
}


@dataclass(frozen=True, slots=True)
class Control:
    """A button: what it says, the press it makes, its letter on the keyboard."""

    label: str
    press: Press
    key: str = ""


CONTROLS = {
    "grant": Control("Grant", Press("grant"), "G"),
    "deny": Control("Deny", Press("deny"), "D"),
    "max": Control("Grant as max", Press("grant", by="max")),
    "call": Control("Grant call c2 instead", Press("grant", call="c2")),
    "old": Control("Grant with the old card", Press("grant", card="old")),
    "again": Control("Send the last answer again", Press("again")),
    "result": Control("Scan answers late", Press("result")),
    "arguments": Control("Back to the checkpoint: release 8", Press("arguments")),
    "cancel": Control("Ada cancels the run", Press("cancel")),
    "tick": Control("One tick", Press("tick"), "T"),
    "expire": Control("Let it expire", Press("expire"), "E"),
    "deploy": Control("Deploy", Press("deploy")),
    "ask": Control("Ask again", Press("ask")),
}


@dataclass
class Play:
    """The presses so far on each desk; the first desk is the right one."""

    worlds: dict[str, World]
    dots: list[Dot] = field(default_factory=list)
    revisions: dict[int, int] = field(default_factory=dict)

    @property
    def right(self) -> World:
        """The desk whose card is shown."""
        return next(iter(self.worlds.values()))


def steps(desks: dict[str, Factory], presses: Sequence[Press]) -> list[Plain]:
    """What is shown before the first press and after each one, really pressed.

    >>> from runstate_lab.store import StateStore
    >>> shown = steps({"the right desk": StateStore}, [Press("deny")])
    >>> shown[1]["state"]["status"], shown[1]["card"]["stamp"]
    ('running', 'denied at tick 0')
    """
    play = Play({name: World(make) for name, make in desks.items()})
    shown = [_step(play, None, ())]
    for press in presses:
        replies = [world.press(press) for world in play.worlds.values()]
        play.dots.append(Dot(len(play.dots) + 1, play.right.clock(), replies[0].accepted))
        shown.append(_step(play, press, replies))
    return shown


def _step(play: Play, press: Press | None, replies: Sequence[Reply]) -> Plain:
    world = play.right
    play.revisions[world.clock()] = world.state.revision
    line = Timeline(tuple(world.cards), tuple(play.dots), dict(play.revisions), world.clock())
    old = world.cards[-2] if len(world.cards) > 1 else None
    return {
        "press": asdict(press) if press else {},
        "said": _said(play, press, replies),
        "row": _row(play, press, replies),
        "differs": len({(reply.accepted, reply.code) for reply in replies}) > 1,
        "card": _card(world.cards[-1], world.clock()),
        "old": _card(old, world.clock()) if old else {},
        "state": _state(world),
        "ends": [[name, *_end(one)] for name, one in play.worlds.items()],
        "cards": [_line(card) for card in world.cards],
        "offs": _offs(play),
        "size": list(size(line)),
        "marks": marks(line),
    }


def _said(play: Play, press: Press | None, replies: Sequence[Reply]) -> str:
    if press is None:
        card = play.right.card
        asked = card.question.rstrip("?")
        return f"Run-7 waits: rosa is shown {asked} and may answer until tick {card.expires_at}."
    said = f"{press.words[0].upper()}{press.words[1:]}: {replies[0].words}"
    if replies[0].accepted is False:
        said += "; nothing changed"
    for name, reply in zip(list(play.worlds)[1:], replies[1:], strict=True):
        if (reply.accepted, reply.code) != (replies[0].accepted, replies[0].code):
            said += f". {name}: {reply.words}"
    return said + "."


def _row(play: Play, press: Press | None, replies: Sequence[Reply]) -> list[str]:
    if press is None:
        return []
    first, *others = replies
    shown = [_short(first), str(first.revision)]
    shown += [_short(other, first) for other in others]
    return [str(len(play.dots)), str(play.right.clock()), press.words, *shown]


def _short(reply: Reply, right: Reply | None = None) -> str:
    words = {True: "accepted", False: f"refused: {reply.code}", None: "-"}[reply.accepted]
    same = right is None or (reply.accepted, reply.code) == (right.accepted, right.code)
    return words if same else f"{words} (differs)"


def _card(card: Card, tick: int) -> Plain:
    request = card.request
    until = request.expires_at or 0
    left = until - tick
    stamp = f"open, {left} tick{'' if left == 1 else 's'} left"
    if left <= 0:
        stamp = f"open, but it ran out at tick {until}"
    if card.ended:
        stamp = f"{card.ended} at tick {card.at}"
    return {
        "title": request.request_id,
        "question": request.question,
        "stamp": stamp,
        "open": not card.ended,
        "rows": [
            ["call", str(request.call_id)],
            ["arguments", request.question.partition("(")[2].rstrip("?)")],
            ["digest", str(request.digest)],
            ["seen at", f"revision {request.seen_revision}"],
            ["open until", f"tick {until}"],
            ["asked of", request.approver],
        ],
    }


def _line(card: Card) -> list[str]:
    request = card.request
    ended = f"{card.ended} at tick {card.at}" if card.ended else "open"
    seen = f"revision {request.seen_revision}"
    span = f"tick {card.since} until {request.expires_at}"
    return [request.request_id, request.question, seen, span, ended]


def _state(world: World) -> Plain:
    state = world.state
    return {
        "status": str(state.status),
        "revision": state.revision,
        "tick": world.clock(),
        "deployed": _deployed(world),
    }


def _end(world: World) -> tuple[str, str, str]:
    state = world.state
    return str(state.status), str(state.revision), _deployed(world)


def _deployed(world: World) -> str:
    counts = [f"release {name}: {many}" for name, many in sorted(world.deployed.items())]
    return ", ".join(counts) or "nothing yet"


def _offs(play: Play) -> dict[str, str]:
    worlds = play.worlds.values()
    ended = all(world.state.status.terminal for world in worlds)
    waits = any(world.state.requests for world in worlds)
    right = play.right
    scan = right.state.call("c2")
    reasons = {
        "old": "there is no older card yet" if len(right.cards) < 2 else "",
        "again": "" if right.last else "nothing was answered yet",
        "result": "scan has answered" if scan is None else "",
        "arguments": "" if waits else "nobody waits any more",
        "cancel": "the run has ended" if ended else "",
        "deploy": "the run has ended" if ended else "",
        "ask": "the run has ended" if ended else "",
        "tick": "the axis ends here" if right.clock() == TICKS - 1 else "",
    }
    if right.taken_back:
        reasons["arguments"] = "the run went back once already"
    if len(right.cards) == MOST_CARDS:
        reasons["ask"] = f"{MOST_CARDS} cards are enough: go back, or start again"
    if len(play.dots) == MOST_PRESSES:
        full = f"{MOST_PRESSES} presses are enough: go back, or start again"
        reasons = dict.fromkeys(CONTROLS, full)
    return {name: reason for name, reason in reasons.items() if reason}


def opening() -> Plain:
    """What the browser gets once: the controls, their groups and the heads of the tables."""
    return {
        "heads": list(HEADS),
        "end_heads": list(END_HEADS),
        "card_heads": list(CARD_HEADS),
        "groups": [[title, list(names)] for title, names in GROUPS.items()],
        "controls": {name: {"label": one.label, "key": one.key} for name, one in CONTROLS.items()},
    }
