"""Secrets are struck out before a note is kept, in the forms that they have."""

from __future__ import annotations

import pytest

from runstate_lab.model import RunState
from runstate_lab.store import StateStore
from runstate_lab.trace import redact


@pytest.mark.parametrize(
    "words",
    [
        "api_key=hunter2",
        "API-KEY: hunter2",
        'called with {"password": "hunter2"}',
        "called with {'password': 'hunter2 and more'}",
        "access_token=hunter2",
        "AWS_SECRET_ACCESS_KEY=hunter2",
        "client_secret=hunter2,",
        "pwd=hunter2",
        "passwd: hunter2",
        "https://ada:hunter2@example.test/x",
        "Authorization: Bearer hunter2",
        "authorization=Basic hunter2",
        "sent bearer hunter2 along",
        "found sk-hunter2",
        "found ghp_hunter2",
        'API_KEY="two words hunter2"',
    ],
)
def test_a_secret_is_struck_out(words: str) -> None:
    """Whatever stands around it."""
    assert "hunter2" not in redact(words)
    assert "[redacted]" in redact(words)


@pytest.mark.parametrize(
    "words",
    ["the token of our appreciation", "tests=green", "secretary: rosa", "risk-free", "https://a/b"],
)
def test_other_words_stay(words: str) -> None:
    """What is no secret is not struck out."""
    assert words == redact(words)


def test_diagnostics_are_ordered_and_change_nothing() -> None:
    """Numbered in the order of the trace; the state does not move."""
    store = StateStore(RunState("run-7"))
    for number in range(3):
        store.note("tool:scan", f"note {number}", correlation="c1")

    assert [0, 1, 2] == [note.order for note in store.trace.diagnostics]
    assert RunState("run-7") == store.load()
