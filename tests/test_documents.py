"""The tables in the documents are the code's."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstate_lab.rules import RULES
from runstate_lab.show.documents import PRINTED, TABLES, printed

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", PRINTED)
def test_a_document_is_printed_from_the_code(name: str) -> None:
    """Nobody edited a table by hand, and none is out of date."""
    text = (ROOT / name).read_text("utf-8")

    assert text == printed(text), "run: python -m runstate_lab.show.documents"


def test_every_table_is_printed_somewhere() -> None:
    """A table that no document shows would not be checked."""
    texts = "".join((ROOT / name).read_text("utf-8") for name in PRINTED)

    assert [] == [name for name in TABLES if f"<!-- printed: {name} -->" not in texts]


def test_the_rules_page_has_a_row_for_every_kind() -> None:
    """Thirty-four events, each once."""
    lines = (ROOT / "docs" / "rules.md").read_text("utf-8").splitlines()

    assert {1} == {sum(line.startswith(f"| `{kind}` |") for line in lines) for kind in RULES.kinds}
