"""Who owns what, against a copy written by hand."""

from __future__ import annotations

from dataclasses import fields

import oracle
from ready import legal_status, ready

from runstate_lab.model import RunState
from runstate_lab.ownership import OWNERSHIP, field_owners, kinds_of
from runstate_lab.rules import RULES


def test_the_five_rows_read_as_in_the_source_text() -> None:
    """Datum, proposer, final writer and checks, row for row."""
    found = {row.datum: (row.proposer, row.writer, row.checks) for row in OWNERSHIP}

    assert oracle.OWNERSHIP == found


def test_every_kind_of_event_is_about_one_of_the_five_data() -> None:
    """No row of the rules names a datum without an owner."""
    listed = [kind for row in OWNERSHIP for kind in kinds_of(row.datum)]

    assert sorted(RULES.kinds) == sorted(listed)


def test_every_field_of_the_state_has_its_writers() -> None:
    """All fields are walked; each has the authorities that are written down."""
    found = {owner.field: " ".join(owner.authorities) for owner in field_owners()}

    assert oracle.FIELDS == found
    assert [field.name for field in fields(RunState)] == list(found)


def test_every_row_names_the_fields_that_its_change_returns() -> None:
    """`writes` is derived knowledge for readers, so it must not drift."""
    for row in RULES.rows:
        if row.change is not None:
            changed = row.change(*ready(row.kind, legal_status(row.kind)))
            assert set(changed) <= set(row.writes), row.kind
