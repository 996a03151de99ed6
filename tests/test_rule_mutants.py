"""Each row, writer, arrow and condition of the table removed in turn: none survives."""

from __future__ import annotations

import pytest
from cases import CASES, complaints, mutants

from runstate_lab.rules import RULES, Rules

MUTANTS = mutants()


def test_the_right_table_draws_no_complaint() -> None:
    """Else a dead mutant would prove nothing."""
    assert [] == complaints(RULES)


def test_the_mutants_are_as_many_as_the_table_is_long() -> None:
    """Thirty-four rows, with three mutations of each writer, and the rest counted."""
    rows = len(RULES.rows)
    conditions = sum(len(row.conditions) for row in RULES.rows)
    arrows = sum(len(row.come_from) for row in RULES.rows)

    nodes = sum(len(row.nodes) for row in RULES.rows)

    assert (34, 47, 56, 16, 78) == (rows, conditions, arrows, nodes, len(CASES))
    assert 4 * rows + conditions + arrows + nodes + 4 == len(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed(name: str) -> None:
    """Something written by hand contradicts it."""
    assert complaints(MUTANTS[name]) != []


def test_a_mutant_differs_from_the_table() -> None:
    """A mutation that changes nothing would be killed by nothing, or by luck."""
    assert all(isinstance(table, Rules) and table.rows != RULES.rows for table in MUTANTS.values())
