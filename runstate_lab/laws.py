"""Floor 5. Laws: what must hold, whatever the order.

A law is a plain function with a name; it looks at a race and says yes or no.
An invariant holds after every move; a law that is asked `at_end` holds when
nobody has a move left. A store that is wrong on purpose can forget in its
state what its trace still holds, so most laws compare the two.

What is not here: who breaks them (see `worlds`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from runstate_lab.model import Answer, Approval, RunState, RunStatus, StateEvent
from runstate_lab.race import Race
from runstate_lab.store import StateStore

Law = Callable[[Race], bool]

RESULTS = ("tool_result", "tool_result_recorded")
ENDS = {
    "run_completed": RunStatus.COMPLETED,
    "run_failed": RunStatus.FAILED,
    "run_cancelled": RunStatus.CANCELLED,
}


def no_lost_update(race: Race) -> bool:
    """Every fact that the store acknowledged is in the state.

    >>> no_lost_update(idle())
    True
    """
    values = {str(fact) for fact in race.store.load().facts}
    return all(event.value in values for event in _accepted(race) if event.kind in RESULTS)


def no_decision_on_old_facts(race: Race) -> bool:
    """No accepted event was decided on an older state than the one it met.

    >>> no_decision_on_old_facts(idle())
    True
    """
    revisions = [event.expected_revision for event in _accepted(race)]
    first = revisions[0] if revisions else 0
    return revisions == list(range(first, first + len(revisions)))


def no_double_claim(race: Race) -> bool:
    """No attempt of a node was given to two workers.

    >>> no_double_claim(idle())
    True
    """
    claims = [event.value for event in _accepted(race) if event.kind == "node_claimed"]
    attempts = [(claim.node, claim.attempt) for claim in claims]
    return len(attempts) == len(set(attempts))


def nothing_pending_at_completion(race: Race) -> bool:
    """A completed run has no open call and no open request.

    >>> nothing_pending_at_completion(idle())
    True
    """
    state = race.store.load()
    return state.status is not RunStatus.COMPLETED or not (state.calls or state.requests)


def no_terminal_return(race: Race) -> bool:
    """A run that has ended once stays as it ended.

    >>> no_terminal_return(idle())
    True
    """
    ends = [ENDS[event.kind] for event in _accepted(race) if event.kind in ENDS]
    return not ends or race.store.load().status is ends[0]


def one_approval_one_effect(race: Race) -> bool:
    """Nothing that was said to the world was said twice.

    >>> one_approval_one_effect(idle())
    True
    """
    return len(race.said) == len(set(race.said))


def no_stale_approval(race: Race) -> bool:
    """Every accepted grant was about its request as it was shown last.

    >>> no_stale_approval(idle())
    True
    """
    shown: dict[str, tuple[object, ...]] = {}
    for event in _accepted(race):
        about = event.value
        if event.kind == "approval_requested":
            shown[about.request_id] = _bound(about)
        elif event.kind == "approval_granted" and isinstance(about, Answer):
            if shown.get(about.request_id, _bound(about)) != _bound(about):
                return False
    return True


def idle() -> Race:
    """A race of one worker in which nothing has happened yet.

    >>> idle().enabled
    ('A',)
    """

    def rest(store: StateStore) -> Generator[None, None, None]:
        yield

    return Race({"A": rest}, StateStore(RunState("run-7")))


def _accepted(race: Race) -> Iterator[StateEvent]:
    return (entry.event for entry in race.store.trace if entry.accepted)


def _bound(about: Approval | Answer) -> tuple[object, ...]:
    return about.call_id, about.digest, about.seen_revision
