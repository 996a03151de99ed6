"""Every illegal pair is refused by a real store, and kept; T1 is told in a table."""

from __future__ import annotations

import oracle
import pytest
from ready import legal_status, ready

from runstate_lab.errors import Refusal
from runstate_lab.model import RunState, StateEvent, StateProposal
from runstate_lab.store import StateStore

ILLEGAL = [pair for pair, to in oracle.event_matrix().items() if to is None]
ILLEGAL_NODES = [pair for pair, to in oracle.node_matrix().items() if to is None]


def offer(state: RunState, event: StateEvent) -> tuple[StateStore, Refusal | None]:
    """The store after the event came through a context that it minted, and the refusal."""
    store = StateStore(state)
    context = store.context(
        event.source,
        event.authority,
        call_id=event.call_id,
        tick=event.tick,
        epoch=event.epoch,
    )
    proposal = StateProposal(event.kind, event.value, event.expected_revision)
    try:
        store.apply(proposal, context=context)
    except Refusal as refusal:
        return store, refusal
    return store, None


def test_the_illegal_pairs_are_counted() -> None:
    """204 pairs of event and run status, 96 of event and node status."""
    assert (204, 96) == (len(oracle.event_matrix()), len(oracle.node_matrix()))
    assert (148, 80) == (len(ILLEGAL), len(ILLEGAL_NODES))


@pytest.mark.parametrize(("kind", "status"), ILLEGAL)
def test_an_illegal_event_is_refused_and_recorded(kind: str, status: str) -> None:
    """The store raises it, keeps it, and stays as it was."""
    state, event = ready(kind, status)
    store, refusal = offer(state, event)

    assert refusal is not None
    assert (refusal,) == store.trace.refused
    assert state == store.load()


@pytest.mark.parametrize(("kind", "node"), ILLEGAL_NODES)
def test_an_illegal_node_event_is_refused_and_recorded(kind: str, node: str) -> None:
    """The same for the status of a node, while its run is alive."""
    state, event = ready(kind, legal_status(kind), node)
    store, refusal = offer(state, event)

    assert "illegal_transition" == (refusal and refusal.code)
    assert (refusal,) == store.trace.refused
    assert state == store.load()
