"""Refusals: codes, builtins, hints, and that they are values."""

from __future__ import annotations

import copy
import pickle

import pytest

from runstate_lab import errors
from runstate_lab.errors import Refusal

CODES = {
    "Malformed": ("malformed", ValueError),
    "UnknownEvent": ("unknown_event", ValueError),
    "ContextRejected": ("context_rejected", PermissionError),
    "WriterRejected": ("writer_rejected", PermissionError),
    "RevisionConflict": ("revision_conflict", RuntimeError),
    "IllegalTransition": ("illegal_transition", ValueError),
    "ReasonMissing": ("reason_missing", ValueError),
    "SuccessNotMet": ("success_not_met", ValueError),
    "StillPending": ("still_pending", ValueError),
    "CallUnknown": ("call_unknown", ValueError),
    "CallForeign": ("call_foreign", ValueError),
    "CallRepeated": ("call_repeated", ValueError),
    "ResultRepeated": ("result_repeated", ValueError),
    "RequestRepeated": ("request_repeated", ValueError),
    "RequestUnknown": ("request_unknown", ValueError),
    "DriverFenced": ("driver_fenced", PermissionError),
    "LeaseHeld": ("lease_held", RuntimeError),
    "BudgetSpent": ("budget_spent", RuntimeError),
    "CallLate": ("call_late", ValueError),
    "CallNotApproved": ("call_not_approved", PermissionError),
    "RetryUnsafe": ("retry_unsafe", ValueError),
    "AnswerForeign": ("answer_foreign", PermissionError),
    "AnswerMisbound": ("answer_misbound", ValueError),
    "AnswerStale": ("answer_stale", ValueError),
    "AnswerExpired": ("answer_expired", ValueError),
    "AnswerRepeated": ("answer_repeated", ValueError),
    "NodeUnknown": ("node_unknown", ValueError),
    "NeedsUnmet": ("needs_unmet", ValueError),
    "AttemptFenced": ("attempt_fenced", RuntimeError),
    "GraphRefused": ("graph_refused", ValueError),
    "KeyContested": ("key_contested", ValueError),
    "ToolRefused": ("tool_refused", PermissionError),
    "StoreUnreadable": ("store_unreadable", RuntimeError),
    "TokenRefused": ("token_refused", ValueError),
    "OrderRefused": ("order_refused", ValueError),
}
KINDS = [getattr(errors, name) for name in CODES]


def test_every_refusal_is_in_the_handwritten_list() -> None:
    """The module holds exactly the refusals that are listed here."""
    found = {one.__name__ for one in Refusal.__subclasses__() if one.__module__ == errors.__name__}

    assert set(CODES) == found


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_has_its_code_builtin_and_hint(kind: type[Refusal]) -> None:
    """Code and builtin are the written ones; the hint is one thing to do."""
    refusal = kind("to do one thing", "another")
    code, builtin = CODES[kind.__name__]

    assert (code, builtin, True) == (refusal.code, refusal.builtin, refusal.definite)
    assert isinstance(refusal, builtin)
    assert "hint: " + refusal.hint in str(refusal)
    assert "asked to do one thing, found another" in str(refusal)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_is_drawn_in_the_tree_of_the_docstring(kind: type[Refusal]) -> None:
    """The tree in the docstring names class, code and builtin on one line."""
    line = next(row for row in errors.__doc__.splitlines() if f"─ {kind.__name__} " in row)

    assert [kind.code, kind.builtin.__name__] == line.split()[-2:]


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_is_a_value(kind: type[Refusal]) -> None:
    """A refusal equals its copies, and a copy carries no traceback."""
    refusal = kind("to do one thing", "another", reason="words of its own")
    try:
        raise refusal
    except kind as raised:
        twins = [raised.kept(), copy.copy(raised), pickle.loads(pickle.dumps(raised))]

    assert [refusal] * 3 == twins
    assert len({refusal, *twins}) == 1
    assert twins[0].__traceback__ is None
    assert refusal != kind("to do one thing", "another")


def test_a_permission_refusal_does_not_pose_as_an_os_error() -> None:
    """OSError would read two arguments as errno and strerror; these do not."""
    refusal = errors.WriterRejected("to write", "a stranger")

    assert (None, None) == (refusal.errno, refusal.strerror)
