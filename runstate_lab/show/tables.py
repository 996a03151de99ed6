"""Machinery. The tables of the lessons, each read from the book.

Who owns what, who writes which field, which event is legal where, what a
store remembers, and every refusal there is. All of them are pandas
DataFrames with a caption; `str(table)` or `table.text()` is the text twin.

What is not here: any fact of its own. A changed rule changes these tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from runstate_lab import errors
from runstate_lab.model import RunStatus
from runstate_lab.ownership import OWNERSHIP, field_owners, kinds_of
from runstate_lab.rules import RULES, Rule, Rules
from runstate_lab.show.spacetime import told

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame
    from runstate_lab.store import StateStore

NOBODY = "nobody: settled at the start"


def ownership_table(*, life: bool = False, rules: Rules = RULES) -> CaptionedFrame:
    """Who proposes, who finally writes, what is checked; `life`: from creation to end.

    >>> print(ownership_table().text().splitlines()[2])
    2. datum: tool result; proposer: tool executor; final writer: runtime/store; checked: call_id, idempotency key, execution status; events: tool_result_recorded
    """
    if life:
        columns = ("datum", "created by", "read by", "updated by", "closed by")
        return _table("The life of each datum", columns, (
            (row.datum, row.created_by, row.read_by, row.updated_by, row.closed_by)
            for row in OWNERSHIP
        ))
    columns = ("datum", "proposer", "final writer", "checked", "events")
    return _table("Who owns what", columns, (
        (row.datum, row.proposer, row.writer, ", ".join(row.checks),
         ", ".join(kinds_of(row.datum, rules)))
        for row in OWNERSHIP
    ))


def field_table(rules: Rules = RULES) -> CaptionedFrame:
    """For each field of the state: under which authority, by which events it changes.

    >>> print(field_table().text().splitlines()[1])
    1. field: run_id; authorities: nobody: settled at the start; events: none
    """
    columns = ("field", "authorities", "events")
    return _table(f"Who writes which field under {rules.name}", columns, (
        (owner.field, ", ".join(owner.authorities) or NOBODY, ", ".join(owner.kinds) or "none")
        for owner in field_owners(rules)
    ))


def matrix_table(rules: Rules = RULES) -> CaptionedFrame:
    """Every kind of event from every status: where it leads, or that it is refused.

    >>> from runstate_lab.rules import SOURCE_TEXT
    >>> print(matrix_table(SOURCE_TEXT).text().splitlines()[2])
    2. event: tool_result; queued: refused; running: stays; waiting: refused; completed: refused; failed: refused; cancelled: refused
    """
    return _table(f"What each event does under {rules.name}", ("event", *map(str, RunStatus)), (
        (rule.kind, *(_effect(status, rule) for status in RunStatus)) for rule in rules.rows
    ))


def trace_table(store: StateStore) -> CaptionedFrame:
    """What was offered to a store, in order, and what became of it.

    `revision` is the one that the entry made, or met when it was refused.

    >>> from runstate_lab import RunState, Runtime, StateProposal, StateStore
    >>> kept = StateStore(RunState("run-7"))
    >>> _ = Runtime(kept).accept_runtime(StateProposal("run_started", "", 0))
    >>> print(trace_table(kept).text().splitlines()[1])
    1. entry: 1; event: run_started; source: runtime; authority: runtime; expects revision: 0; outcome: accepted; revision: 1
    """
    columns = ("entry", "event", "value", "source", "authority", "expects revision",
               "outcome", "code", "revision")
    return _table("What was offered to the store", columns, (
        (number, entry.event.kind, told(entry.event.value), entry.event.source,
         entry.event.authority, entry.event.expected_revision,
         "refused" if entry.refusal else "accepted",
         entry.refusal.code if entry.refusal else "", entry.revision)
        for number, entry in enumerate(store.trace, 1)
    ))


def refusal_table() -> CaptionedFrame:
    """Every refusal of the book: its code, its builtin, and what to do now.

    >>> frame = refusal_table()
    >>> list(frame[frame["builtin"] == "PermissionError"]["code"])
    ['context_rejected', 'writer_rejected']
    """
    columns = ("code", "builtin", "reason", "what to do")
    return _table("Every refusal", columns, (
        (kind.code, kind.builtin.__name__, kind.reason, kind.hint) for kind in _refusals()
    ))


def _refusals() -> list[type[errors.Refusal]]:
    named = [one for one in vars(errors).values() if isinstance(one, type)]
    return [one for one in named if issubclass(one, errors.Refusal) and one is not errors.Refusal]


def _effect(status: RunStatus, rule: Rule) -> str:
    if status not in rule.come_from:
        return "refused"
    return "stays" if rule.to is None else f"to {rule.to}"


def _table(
    caption: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> CaptionedFrame:
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, columns, rows)
