"""Floor 5. Worlds of approvals: granted while somebody cancels, used twice, given too late.

What is not here: the desk that a person clicks on (see `live`).
"""

from __future__ import annotations

from collections.abc import Generator

from runstate_lab.broken import LastWriteWinsStore, NaiveStore, RestartableStore
from runstate_lab.brokenledgers import AlwaysOpenDeskStore, StaleDeskStore, StickyGrantStore
from runstate_lab.errors import RevisionConflict
from runstate_lab.laws import (
    intent_before_effect,
    no_stale_approval,
    no_terminal_return,
    nothing_begins_after_the_end,
    one_approval_one_effect,
)
from runstate_lab.model import (
    Answer,
    Approval,
    Decision,
    RunState,
    StateProposal,
    ToolCall,
)
from runstate_lab.nouns import changed
from runstate_lab.race import Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.variants import RIGHT, Variant, World

DEPLOYED = "deployed release 7"
PATIENCE = 9


def granting(store: StateStore) -> Generator[object, None, None]:
    """Rosa in two steps: look at the card, grant it as it was shown.

    >>> store = StateStore(run_7_asks_rosa())
    >>> list(granting(store)), store.load().grants[0][0]
    ([None], 'c1')
    """
    seen = store.load()
    if not seen.requests:
        return
    yield
    answer = Answer.to(seen.requests[0], seen.run_id)
    Runtime(store).accept_approval("rosa", StateProposal("approval_granted", answer, seen.revision))


def cancelling(store: StateStore) -> Generator[object, None, None]:
    """User ada in two steps: look at the run, cancel it.

    >>> store = StateStore(run_7_asks_rosa())
    >>> list(cancelling(store)), store.load().stop_reason
    ([None], 'not today')
    """
    seen = store.load()
    yield
    Runtime(store).accept_user("ada", StateProposal("run_cancelled", "not today", seen.revision))


def resuming(store: StateStore) -> Generator[object, None, None]:
    """A host that wakes the run up: look, commit the dispatch, deploy, record.

    It also tries to start a run that has ended, and leaves alone what has no grant.

    >>> list(resuming(StateStore(run_7_approved())))
    [None, None, 'deployed release 7']
    """
    seen, runtime = store.load(), Runtime(store)
    if seen.status.terminal:
        yield
        runtime.accept_runtime(StateProposal("run_started", "", seen.revision))
        return
    if not seen.grants:
        return
    yield
    _dispatch(runtime, seen.calls[0], seen)
    yield
    yield DEPLOYED
    _record(runtime, "c1")


def deploying_first(store: StateStore) -> Generator[object, None, None]:
    """A host that deploys on the grant it saw and commits after. WRONG ON PURPOSE.

    >>> list(deploying_first(StateStore(run_7_approved())))
    [None, 'deployed release 7']
    """
    seen = store.load()
    if not seen.grants or seen.status.terminal:
        return
    yield
    # WRONG ON PURPOSE: nothing says yet that the grant is used.
    yield DEPLOYED
    runtime = Runtime(store)
    _dispatch(runtime, seen.calls[0], seen)
    _record(runtime, "c1")


def insisting(call_id: str) -> Worker:
    """A host that answers a conflict with a call id of its own. WRONG ON PURPOSE.

    >>> list(insisting("c1-A")(StateStore(run_7_approved())))
    [None, None, 'deployed release 7']
    """

    def host(store: StateStore) -> Generator[object, None, None]:
        seen, runtime = store.load(), Runtime(store)
        if not seen.grants:
            return
        call = seen.calls[0]
        yield
        try:
            _dispatch(runtime, call, seen)
        except RevisionConflict:
            # WRONG ON PURPOSE: the conflict said that somebody else is at it.
            call = changed(call, call_id=call_id)
            _dispatch(runtime, call, store.load())
        yield
        yield DEPLOYED
        _record(runtime, call.call_id)

    return host


def clicking(store: StateStore) -> Generator[object, None, None]:
    """Rosa's page in two steps: show a card; on the click, answer what is asked then.

    The click carries what she saw: the digest and the revision of the card.

    >>> store = StateStore(run_7_asks_rosa())
    >>> list(clicking(store)), store.load().answered
    ([None], ('a1',))
    """
    seen = store.load()
    if not seen.requests:
        return
    shown = seen.requests[0]
    yield
    now = store.load()
    asked = now.requests[0] if now.requests else shown
    answer = Answer(asked.request_id, now.run_id, asked.call_id, shown.digest, shown.seen_revision)
    Runtime(store).accept_approval("rosa", StateProposal("approval_granted", answer, now.revision))


def asking_anew(store: StateStore) -> Generator[object, None, None]:
    """The runtime in three steps: the request expires, the model wants 8, rosa is asked.

    >>> store = StateStore(run_7_asks_rosa())
    >>> list(asking_anew(store)), store.load().requests[0].call_id
    ([None, None], 'c2')
    """
    runtime = Runtime(store, clock=lambda: PATIENCE)
    seen = runtime.accept_runtime(StateProposal("approval_expired", "a1", store.load().revision))
    yield
    seen = _wish(runtime, seen, ToolCall("c2", "deploy", (("release", "8"),)))
    yield
    _ask(runtime, seen, "a2")


def run_7_asks_rosa() -> RunState:
    """Run-7, which waits for rosa: may it deploy release 7?

    >>> state = run_7_asks_rosa()
    >>> print(state.status, state.revision, state.requests[0].question)
    waiting 4 deploy release 7?
    """
    runtime = Runtime(StateStore(RunState("run-7", goal="ship release 7")))
    seen = runtime.accept_runtime(StateProposal("run_started", "", 0))
    call = ToolCall("c1", "deploy", (("release", "7"),), gated=True)
    return _ask(runtime, _wish(runtime, seen, call), "a1", expires_at=PATIENCE)


def run_7_approved() -> RunState:
    """Run-7 after rosa's grant; nobody has deployed yet.

    >>> state = run_7_approved()
    >>> print(state.status, state.revision, state.calls[0].status)
    running 5 proposed
    """
    store = StateStore(run_7_asks_rosa())
    for _ in granting(store):
        pass
    return store.load()


def _wish(runtime: Runtime, seen: RunState, call: ToolCall) -> RunState:
    seen = runtime.accept_runtime(StateProposal("turn_started", "", seen.revision))
    wish = Decision("ship it", (call,))
    return runtime.accept_model_proposal(
        StateProposal("model_output_received", wish, seen.revision)
    )


def _ask(
    runtime: Runtime, seen: RunState, request_id: str, *, expires_at: int | None = None
) -> RunState:
    call = seen.calls[-1]
    question = f"{call.tool} release {call.arguments[0][1]}?"
    request = Approval(
        request_id, question, "rosa", call.call_id, call.digest, seen.revision, expires_at
    )
    return runtime.accept_runtime(StateProposal("approval_requested", request, seen.revision))


def _dispatch(runtime: Runtime, call: ToolCall, seen: RunState) -> None:
    runtime.accept_runtime(StateProposal("tool_dispatched", call, seen.revision))


def _record(runtime: Runtime, call_id: str) -> None:
    # A result does not depend on what others wrote; its call does.
    revision = runtime.store.load().revision
    proposal = StateProposal("tool_result_recorded", "release=7", revision)
    runtime.accept_tool_result("deploy", proposal, call_id=call_id)


APPROVE_OR_CANCEL = World(
    "approve_or_cancel",
    "Rosa grants the deployment while ada cancels the run; a host wakes it up.",
    run_7_asks_rosa,
    {"A": "rosa", "B": "user ada", "C": "the host"},
    {
        RIGHT: Variant({"A": granting, "B": cancelling, "C": resuming}),
        "naive": Variant({"A": granting, "B": cancelling, "C": resuming}, NaiveStore),
        "restartable": Variant({"A": granting, "B": cancelling, "C": resuming}, RestartableStore),
        "effect first": Variant({"A": granting, "B": cancelling, "C": deploying_first}),
    },
    (
        no_terminal_return,
        nothing_begins_after_the_end,
        one_approval_one_effect,
        intent_before_effect,
        no_stale_approval,
    ),
)

TWO_RESUMES = World(
    "two_resumes",
    "Rosa has granted one deployment, and two hosts wake the same run up.",
    run_7_approved,
    {"A": "the first host", "B": "the second host"},
    {
        RIGHT: Variant({"A": resuming, "B": resuming}),
        "naive": Variant({"A": resuming, "B": resuming}, NaiveStore),
        "last-write-wins": Variant({"A": resuming, "B": resuming}, LastWriteWinsStore),
        "effect first": Variant({"A": deploying_first, "B": deploying_first}),
        "insisting": Variant({"A": insisting("c1-A"), "B": insisting("c1-B")}),
        "insisting, sticky grant": Variant(
            {"A": insisting("c1-A"), "B": insisting("c1-B")}, StickyGrantStore
        ),
    },
    (one_approval_one_effect, intent_before_effect),
)

STALE_APPROVAL = World(
    "stale_approval",
    "Rosa looks at the card for release 7; meanwhile it expires, and release 8 is asked for.",
    run_7_asks_rosa,
    {"A": "rosa's page", "B": "the runtime"},
    {
        RIGHT: Variant({"A": clicking, "B": asking_anew}),
        "stale desk": Variant({"A": clicking, "B": asking_anew}, StaleDeskStore),
        "always open": Variant({"A": clicking, "B": asking_anew}, AlwaysOpenDeskStore),
    },
    (no_stale_approval, no_terminal_return),
)
