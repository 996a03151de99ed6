"""Machinery. What the presses of a node board are called, answered and hindered by.

A press that makes no sense now has a reason in words; the same reason stands
beside the control that is off and in the refusal of the plain call.

What is not here: what a press does (see `nodeworld`).
"""

from __future__ import annotations

from dataclasses import dataclass

from runstate_lab.live.nodes.world import USER, Desk, Hand, Outcome, Press, World
from runstate_lab.model import Claim, NodeState, NodeStatus
from runstate_lab.trace import Entry

GOOD, BAD, CALM = "good", "bad", "calm"
JUDGED = {
    "node_ready": "{node} is ready",
    "node_blocked": "{node} is blocked because {reason}",
    "node_released": "{node} goes back because {reason}",
    "node_given_up": "{node} is given up because {reason}",
    "node_cancelled": "{node} is cancelled because {reason}",
}
REPORTED = {
    "node_finished": "accepted",
    "node_failed": "accepted, {node} has failed",
    "node_put_back": "accepted, {node} is put back",
    "node_asked": "not begun, {approver} is asked first",
    "node_approved": "accepted, {node} may begin with a new claim",
    "node_denied": "accepted, {node} has failed",
    "node_cancelled": "accepted",
    "run_cancelled": "accepted, nothing more is accepted from now on",
}


@dataclass(frozen=True)
class Told:
    """What a press is called, what it was answered in a word, and the whole sentence."""

    what: str
    answer: str
    said: str
    mood: str = CALM


def told(world: World, outcome: Outcome) -> Told:
    """The outcome of a press in words; the world is the one after it.

    >>> from runstate_lab.live.nodes.world import release_graph
    >>> from runstate_lab.scheduler import Scheduler
    >>> world = World(release_graph(), Scheduler, ("w1", "w2"), lease=5)
    >>> told(world, world.press(("take", "w1", 2))).said
    'w1 looks: build is ready. It takes build, attempt 1 of 2, until tick 5.'
    """
    name, *given = outcome.press
    what = called(outcome.press)
    match name:
        case "take":
            return _taken(world, outcome, what)
        case "die":
            return Told(what, "", f"{what}. The store is not told{_leases(world, *given)}.")
        case "revive":
            return Told(what, "", f"{what} under its old name, with empty hands.")
        case "tick":
            return Told(what, "", f"{_upper(what)}, to tick {world.clock()}.{_overdue(world)}")
        case "release":
            return _released(outcome, what)
    return _reported(world, outcome, what)


def called(press: Press) -> str:
    """What a press is called.

    >>> called(("late", "w1", "tests", 1))
    'the late result of w1 for tests, attempt 1'
    """
    match press:
        case ("take", worker, limit):
            return f"{worker} takes at most {limit}"
        case ("finish", worker, node, attempt):
            return f"{worker} finishes {node}, attempt {attempt}"
        case ("fail", worker, node, attempt):
            return f"{worker} fails at {node}, attempt {attempt}"
        case ("late", worker, node, attempt):
            return f"the late result of {worker} for {node}, attempt {attempt}"
        case ("die", worker):
            return f"{worker} dies"
        case ("revive", worker):
            return f"{worker} comes back"
        case ("tick", ticks):
            return f"the clock goes on by {ticks}"
        case ("approve", approver, node):
            return f"{approver} approves {node}"
        case ("deny", approver, node):
            return f"{approver} denies {node}"
        case ("cancel", node):
            return f"{USER} cancels {node or 'the run'}"
    return "the scheduler looks"


def hindrance(world: World, press: Press) -> str:
    """Why the press makes no sense now, or nothing.

    >>> from runstate_lab.live.nodes.world import release_graph
    >>> from runstate_lab.scheduler import Scheduler
    >>> world = World(release_graph(), Scheduler, ("w1", "w2"), lease=5)
    >>> hindrance(world, ("finish", "w2", "build", 1))
    'w2 holds nothing'
    """
    name, *given = press
    ended = f"the run is {world.state.status}" if world.state.status.terminal else ""
    match name:
        case "take" | "finish" | "fail" | "die":
            dead = "" if world.desks[given[0]].alive else f"{given[0]} is dead"
            return dead or (ended if name == "take" else _unheld(world, name, *given))
        case "revive":
            return f"{given[0]} is alive" if world.desks[given[0]].alive else ""
        case "late":
            return _not_old(world.desks[given[0]], *given)
        case "approve" | "deny":
            return _unasked(world, *given)
        case "cancel":
            node = world.state.node(given[0]) if given[0] else None
            shut = f"{node.name} is {node.status}" if node and node.status.terminal else ""
            return ended or shut
        case "release":
            return ended
    return ""


def answer_of(claim: Claim, nodes: dict[str, NodeState]) -> str:
    """A claim in words.

    >>> answer_of(Claim("tests", "w1", 1, 5), {"tests": NodeState("tests", max_attempts=3)})
    'tests, attempt 1 of 3, until tick 5'
    """
    most = nodes[claim.node].max_attempts
    return f"{claim.node}, attempt {claim.attempt} of {most}, until tick {claim.until}"


def _taken(world: World, outcome: Outcome, what: str) -> Told:
    worker = outcome.press[1]
    judged = [words for entry in outcome.entries if (words := _judged(entry))]
    looks = f"{worker} looks: {'; '.join(judged)}. " if judged else f"{worker} looks. "
    if outcome.refusal is not None:
        code, found = outcome.refusal.code, outcome.refusal.found
        return Told(what, f"refused: {code}", f"{looks}Refused, {code}; found {found}.", BAD)
    if not outcome.claims:
        return Told(what, "nothing", f"{looks}It takes nothing, because no node is ready.")
    nodes = {node.name: node for node in world.state.nodes}
    taken = "; ".join(answer_of(claim, nodes) for claim in outcome.claims)
    unheld = [
        claim.node
        for claim in outcome.claims
        if world.hand(worker, claim.node, claim.attempt).version is None
    ]
    names = ", ".join(claim.node for claim in outcome.claims)
    if unheld:
        wrong = f" No store accepted the claim on {', '.join(unheld)}."
        return Told(what, f"{names} (unaccepted)", f"{looks}It takes {taken}.{wrong}", BAD)
    return Told(what, names, f"{looks}It takes {taken}.", GOOD)


def _released(outcome: Outcome, what: str) -> Told:
    judged = [words for entry in outcome.entries if (words := _judged(entry))]
    if outcome.refusal is not None:
        found = f"refused, {outcome.refusal.code}; found {outcome.refusal.found}"
        return Told(what, f"refused: {outcome.refusal.code}", f"{_upper(what)}: {found}.", BAD)
    if not judged:
        return Told(what, "nothing", f"{_upper(what)}: nothing has run out, nothing changes.")
    return Told(what, "; ".join(judged), f"{_upper(what)}: {'; '.join(judged)}.", GOOD)


def _reported(world: World, outcome: Outcome, what: str) -> Told:
    if outcome.refusal is not None:
        code, found = outcome.refusal.code, outcome.refusal.found
        said = f"{_upper(what)}: refused, {code}; found {found}. Nothing changed."
        return Told(what, f"refused: {code}", said, BAD)
    entry = outcome.entries[-1]
    value = entry.event.value
    node = world.state.node(getattr(value, "node", ""))
    words = REPORTED[entry.event.kind].format(
        node=node and node.name, approver=node and node.approver
    )
    more = "" if node is None or entry.event.kind != "node_put_back" else _attempts(node)
    said = f"{_upper(what)}: {words}{more}, at revision {entry.revision}."
    if outcome.press[0] == "late":
        since = "" if value.attempt == outcome.press[3] else f", passed for attempt {value.attempt}"
        said = f"{_upper(what)}: {words}{since}, at revision {entry.revision}. Nobody noticed."
        return Told(what, f"accepted{since}", said, BAD)
    return Told(what, words, said, CALM if entry.event.kind == "node_asked" else GOOD)


def _judged(entry: Entry) -> str:
    report = entry.event.value
    if not entry.accepted or entry.event.kind not in JUDGED:
        return ""
    return JUDGED[entry.event.kind].format(node=report.node, reason=report.reason)


def _attempts(node: NodeState) -> str:
    left = node.max_attempts - node.attempt
    return f", {left} more {'attempt' if left == 1 else 'attempts'} may follow"


def _leases(world: World, worker: str) -> str:
    held = [
        f"{hand.claim.node} until tick {hand.claim.until}" for hand in world.desks[worker].held()
    ]
    return f"; its lease holds {', '.join(held)}" if held else ", and there is nothing to tell"


def _overdue(world: World) -> str:
    late = [
        node
        for node in world.state.nodes
        if node.status is NodeStatus.RUNNING and node.until and node.until <= world.clock()
    ]
    if not late:
        return ""
    if len(late) == 1:
        lease = f"The lease of {late[0].worker} on {late[0].name} has"
    else:
        lease = f"The leases on {', '.join(f'{one.name} ({one.worker})' for one in late)} have"
    return f" {lease} run out; nobody has looked yet."


def _unheld(world: World, press: str, worker: str, node: str = "", attempt: int = 0) -> str:
    held = [hand.claim for hand in world.desks[worker].held()]
    if press == "die" or any((one.node, one.attempt) == (node, attempt) for one in held):
        return ""
    if not held:
        return f"{worker} holds nothing"
    return f"{worker} holds {', '.join(one.node for one in held)}, not {node}"


def _not_old(desk: Desk, worker: str, node: str, attempt: int) -> str:
    old = desk.old()
    if not old:
        return f"{worker} has no old attempt"
    if any((hand.claim.node, hand.claim.attempt) == (node, attempt) for hand in old):
        return ""
    return f"the old attempts of {worker} are {', '.join(map(old_words, old))}"


def old_words(hand: Hand) -> str:
    """An old attempt in words."""
    return f"{hand.claim.node} {hand.claim.attempt}"


def _unasked(world: World, approver: str, name: str) -> str:
    waiting = [one for one in world.state.nodes if one.status is NodeStatus.WAITING_APPROVAL]
    if name in [one.name for one in waiting]:
        return ""
    return f"nothing waits for {approver}"


def _upper(words: str) -> str:
    return f"The {words[4:]}" if words.startswith("the ") else words
