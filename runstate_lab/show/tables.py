"""Machinery. The tables of the lessons, each read from the book.

Who owns what, who writes which field, which event is legal where, what a
store remembers, and every refusal there is. All of them are pandas
DataFrames with a caption; `str(table)` or `table.text()` is the text twin.

What is not here: any fact of its own. A changed rule changes these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from runstate_lab import errors
from runstate_lab.model import NodeStatus, RunStatus
from runstate_lab.ownership import OWNERSHIP, field_owners, kinds_of
from runstate_lab.rules import RULES, Rules
from runstate_lab.show.told import told
from runstate_lab.trace import Entry

if TYPE_CHECKING:
    from runstate_lab.show.frames import CaptionedFrame
    from runstate_lab.store import StateStore

NOBODY = "nobody: settled at the start"
REFUSED = "refused"
SOMETIMES: tuple[tuple[str, Callable[[Entry], object]], ...] = (
    ("tick", lambda entry: entry.event.tick),
    ("epoch", lambda entry: entry.event.epoch),
)


def ownership_table(*, life: bool = False, rules: Rules = RULES) -> CaptionedFrame:
    """Who proposes, who finally writes, what is checked; `life`: from creation to end.

    >>> print(ownership_table().text().splitlines()[2])
    2. datum: tool result; proposer: tool executor; final writer: runtime/store; checked: call_id, idempotency key, execution status; events: tool_result_recorded, tool_failed, tool_outcome_unknown
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
        (owner.field, ", ".join(owner.authorities) or NOBODY, _events(owner.kinds, rules))
        for owner in field_owners(rules)
    ))


def matrix_table(rules: Rules = RULES) -> CaptionedFrame:
    """Every kind of event from every status: where it leads, or that it is refused.

    >>> from runstate_lab.rules import SOURCE_TEXT
    >>> print(matrix_table(SOURCE_TEXT).text().splitlines()[2])
    2. event: tool_result; queued: refused; running: stays; waiting: refused; completed: refused; failed: refused; cancelled: refused
    """
    return _table(f"What each event does under {rules.name}", ("event", *map(str, RunStatus)), (
        (rule.kind, *(_effect(status, rule.come_from, rule.to) for status in RunStatus))
        for rule in rules.rows
    ), usual=REFUSED)


def node_matrix_table(rules: Rules = RULES) -> CaptionedFrame:
    """Every kind of event about a node, from every status of the node.

    >>> print(node_matrix_table(RULES.only("node_ready")).text())
    What each event does to its node under RULES, 1 of 34 rows.
    1. event: node_ready; pending: to ready; ready: refused; running: refused; waiting_approval: refused; blocked: refused; completed: refused; failed: refused; cancelled: refused
    """
    caption = f"What each event does to its node under {rules.name}"
    return _table(caption, ("event", *map(str, NodeStatus)), (
        (rule.kind, *(_effect(status, rule.nodes, rule.node_to) for status in NodeStatus))
        for rule in rules.rows
        if rule.nodes
    ), usual=REFUSED)


def trace_table(store: StateStore) -> CaptionedFrame:
    """What was offered to a store, in order, and what became of it.

    `revision` is the one that the entry made, or met when it was refused.
    Tick and epoch have columns where some entry has one.

    >>> from runstate_lab import RunState, Runtime, StateProposal, StateStore
    >>> kept = StateStore(RunState("run-7"))
    >>> _ = Runtime(kept).accept_runtime(StateProposal("run_started", "", 0))
    >>> print(trace_table(kept).text().splitlines()[1])
    1. entry: 1; event: run_started; source: runtime; authority: runtime; expects revision: 0; outcome: accepted; revision: 1
    """
    entries = tuple(store.trace)
    used = [(name, of) for name, of in SOMETIMES if any(map(of, entries))]
    columns = ("entry", "event", "value", "source", "authority", *(name for name, _ in used),
               "expects revision", "outcome", "code", "revision")
    return _table("What was offered to the store", columns, (
        (number, entry.event.kind, told(entry.event.value), entry.event.source,
         entry.event.authority, *(of(entry) for _, of in used), entry.event.expected_revision,
         REFUSED if entry.refusal else "accepted",
         entry.refusal.code if entry.refusal else "", entry.revision)
        for number, entry in enumerate(entries, 1)
    ))


def refusal_table() -> CaptionedFrame:
    """Every refusal of the book: its code, its builtin, and what to do now.

    >>> frame = refusal_table()
    >>> list(frame[frame["builtin"] == "RuntimeError"]["code"])[:2]
    ['revision_conflict', 'lease_held']
    """
    columns = ("code", "builtin", "reason", "what to do")
    return _table("Every refusal", columns, (
        (kind.code, kind.builtin.__name__, kind.reason, kind.hint) for kind in _refusals()
    ))


def _refusals() -> list[type[errors.Refusal]]:
    named = [one for one in vars(errors).values() if isinstance(one, type)]
    return [one for one in named if issubclass(one, errors.Refusal) and one is not errors.Refusal]


def _events(kinds: Sequence[str], rules: Rules) -> str:
    if len(rules.kinds) > 1 and tuple(kinds) == rules.kinds:
        return f"all {len(kinds)} kinds"
    return ", ".join(kinds) or "none"


def _effect(status: str, come_from: Sequence[str], to: str | None) -> str:
    if status not in come_from:
        return REFUSED
    return "stays" if to is None else f"to {to}"


def _table(
    caption: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]], *, usual: str = ""
) -> CaptionedFrame:
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, columns, rows, usual=usual)
