"""Floor 5. Laws: what must hold, whatever the order.

A law is a plain function with a name; it looks at a race and says yes or no.
An invariant holds after every move; a law that is asked `at_end` holds when
nobody has a move left. What a store acknowledged is taken from the workers'
lines (`Race.accepted`), never from its own trace: a store that answers without
keeping would keep no trace of that either.

What is not here: who breaks them (see `worlds`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from runstate_lab.model import (
    Answer,
    Approval,
    Callback,
    CallStatus,
    RunState,
    RunStatus,
)
from runstate_lab.race import Race
from runstate_lab.rules import RULES
from runstate_lab.store import StateStore

Law = Callable[[Race], bool]

RESULTS = ("tool_result", "tool_result_recorded")
SETTLED = ("tool_result_recorded", "tool_failed")
BEGUN = ("tool_dispatched", "node_claimed")
REPORTED = ("node_finished", "node_failed", "node_put_back", "node_asked")
ANSWERED = ("approval_granted", "approval_denied", "approval_expired")
ENDS = {
    "run_completed": RunStatus.COMPLETED,
    "run_failed": RunStatus.FAILED,
    "run_cancelled": RunStatus.CANCELLED,
}
UNDER_WAY = (CallStatus.DISPATCHED, CallStatus.UNKNOWN)


class Keyed(NamedTuple):
    """Said to the world with an idempotency key: twice is as good as once.

    >>> Keyed("deployed release 7", "deploy-7").key
    'deploy-7'
    """

    words: str
    key: str


def no_lost_update(race: Race) -> bool:
    """Every fact that the store acknowledged is in the state.

    >>> no_lost_update(idle())
    True
    """
    values = {str(fact) for fact in race.store.load().facts}
    return all(event.value in values for event in race.accepted if event.kind in RESULTS)


def no_decision_on_old_facts(race: Race) -> bool:
    """No accepted event was decided on an older state than the one it met.

    >>> no_decision_on_old_facts(idle())
    True
    """
    revisions = [event.expected_revision for event in race.accepted]
    first = race.start.revision
    return revisions == list(range(first, first + len(revisions)))


def no_double_claim(race: Race) -> bool:
    """No attempt of a node was given to two workers.

    >>> no_double_claim(idle())
    True
    """
    claims = [event.value for event in race.accepted if event.kind == "node_claimed"]
    attempts = [(claim.node, claim.attempt) for claim in claims]
    return len(attempts) == len(set(attempts))


def nothing_pending_at_completion(race: Race) -> bool:
    """A completed run has no open call, request or node.

    >>> nothing_pending_at_completion(idle())
    True
    """
    state = race.store.load()
    if state.status is not RunStatus.COMPLETED:
        return True
    return not state.pending and all(node.status.terminal for node in state.nodes)


def no_terminal_return(race: Race) -> bool:
    """A run that has ended once stays as it ended.

    >>> no_terminal_return(idle())
    True
    """
    ends = [race.start.status] if race.start.status.terminal else []
    ends += [ENDS[event.kind] for event in race.accepted if event.kind in ENDS]
    return not ends or race.store.load().status is ends[0]


def nothing_begins_after_the_end(race: Race) -> bool:
    """No call and no node was begun in a run that had ended.

    >>> nothing_begins_after_the_end(idle())
    True
    """
    ended = race.start.status.terminal
    for event in race.accepted:
        ended = ended or event.kind in ENDS
        if ended and event.kind in BEGUN:
            return False
    return True


def one_approval_one_effect(race: Race) -> bool:
    """No more was said to the world than approvals were granted.

    >>> one_approval_one_effect(idle())
    True
    """
    granted = [event.value for event in race.accepted if event.kind == "approval_granted"]
    requests = {getattr(answer, "request_id", answer) for answer in granted}
    return len(race.said) <= len(race.start.grants) + len(requests)


def no_stale_approval(race: Race) -> bool:
    """Every accepted grant was about an open request, as it was shown.

    >>> no_stale_approval(idle())
    True
    """
    shown = {request.request_id: _bound(request) for request in race.start.requests}
    for event in race.accepted:
        about = event.value
        if event.kind == "approval_requested":
            shown[about.request_id] = _bound(about)
        elif event.kind in ANSWERED:
            bound = shown.pop(getattr(about, "request_id", about), None)
            if event.kind == "approval_granted" and bound != _bound(about):
                return False
    return True


def no_effect_twice(race: Race) -> bool:
    """Nothing was said to the world twice without an idempotency key.

    >>> no_effect_twice(idle())
    True
    """
    said = [words for words in race.said if not isinstance(words, Keyed)]
    return all(said.count(words) == 1 for words in said)


def intent_before_effect(race: Race) -> bool:
    """No more was said to the world than the store knows to have begun.

    >>> intent_before_effect(idle())
    True
    """
    before = [call for call in race.start.calls if call.status in UNDER_WAY]
    begun = [event for event in race.accepted if event.kind in BEGUN]
    return len(race.said) <= len(before) + len(begun)


def no_result_for_a_closed_call(race: Race) -> bool:
    """Every accepted result answers a call that was open when it came.

    >>> no_result_for_a_closed_call(idle())
    True
    """
    opened = {call.call_id for call in race.start.calls if call.status in UNDER_WAY}
    for event in race.accepted:
        if event.kind == "tool_dispatched":
            opened = (opened | {event.value.call_id}) - {event.value.retry_of}
        elif event.kind in ENDS:
            opened = set()
        elif event.kind in SETTLED:
            if event.call_id not in opened:
                return False
            opened = opened - {event.call_id}
    return True


def only_the_holder_reports(race: Race) -> bool:
    """Every accepted report on a node came from the one who claimed it last.

    Who it came from is seen from the line, not from the name in the report.

    >>> only_the_holder_reports(idle())
    True
    """
    holders: dict[str, str] = {}
    for worker, event in race.acknowledged:
        if event.kind == "node_claimed":
            holders[event.value.node] = worker
        elif event.kind in REPORTED and holders.get(event.value.node, worker) != worker:
            return False
    return True


def no_event_of_a_stranger(race: Race) -> bool:
    """Every accepted event came from a writer that the rules name for its kind.

    >>> no_event_of_a_stranger(idle())
    True
    """
    rows = [(event, RULES.row(event.kind)) for event in race.accepted]
    return all(
        event.authority == row.authority and row.admits(event.source) for event, row in rows
    )


def nothing_left_open(race: Race) -> bool:
    """No call and no request is open; a law for the end.

    >>> nothing_left_open(idle())
    True
    """
    return not race.store.load().pending


def idle() -> Race:
    """A race of one worker in which nothing has happened yet.

    >>> idle().enabled
    ('A',)
    """

    def rest(store: StateStore) -> Generator[None, None, None]:
        yield

    return Race({"A": rest}, StateStore(RunState("run-7")))


def _bound(about: Approval | Callback | Answer) -> tuple[object, ...]:
    return about.call_id, about.digest, about.seen_revision
