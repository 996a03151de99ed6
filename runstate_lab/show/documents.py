"""Tables of the documents, printed from the code.

A document marks the place with `<!-- printed: NAME -->` and `<!-- end -->`;
what stands between is written by `python -m runstate_lab.show.documents` and
held to the code by a test. What is not here: pictures, and any fact.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from runstate_lab.errors import Refusal
from runstate_lab.ownership import OWNERSHIP, field_owners, kinds_of
from runstate_lab.rows import Rule
from runstate_lab.rules import RULES

MARK = re.compile(r"(<!-- printed: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
PRINTED = ("ARCHITECTURE.md", "docs/rules.md")


def ownership() -> str:
    """The five data of a run: who proposes, who writes, what is checked.

    >>> ownership().splitlines()[3].split("|")[1].strip()
    'tool result'
    """
    head = ("datum", "proposed by", "written by", "checked", "events")
    return _table(
        head,
        (
            (row.datum, row.proposer, row.writer, ", ".join(row.checks), _code(kinds_of(row.datum)))
            for row in OWNERSHIP
        ),
    )


def fields() -> str:
    """Every field of a run's state, and who may change it.

    >>> "`success` | nobody" in fields()
    True
    """
    head = ("field", "changed by the authority of", "events")
    return _table(
        head,
        (
            (f"`{one.field}`", ", ".join(one.authorities) or "nobody", str(len(one.kinds) or "—"))
            for one in field_owners()
        ),
    )


def refusals() -> str:
    """Every refusal: code, class, builtin, and what to do.

    >>> "`revision_conflict` | `RevisionConflict` | `RuntimeError`" in refusals()
    True
    """
    kinds = [one for one in Refusal.__subclasses__() if one.__module__ == Refusal.__module__]
    head = ("code", "class", "is a", "what to do")
    return _table(
        head,
        ((f"`{k.code}`", f"`{k.__name__}`", f"`{k.builtin.__name__}`", k.hint) for k in kinds),
    )


def rules() -> str:
    """Every row of the rules table.

    >>> rules().count("\\n")
    36
    """
    head = ("event", "authority", "sources", "run from", "run to", "node", "must hold")
    return _table(head, (_row(rule) for rule in RULES.rows))


TABLES: dict[str, Callable[[], str]] = {
    "ownership": ownership,
    "fields": fields,
    "refusals": refusals,
    "rules": rules,
}


def printed(text: str) -> str:
    """A document with every marked table printed anew.

    >>> printed("<!-- printed: mood -->\\n<!-- end -->")
    Traceback (most recent call last):
        ...
    KeyError: "no table 'mood' to print; there are ownership, fields, refusals, rules"
    """

    def table(found: re.Match[str]) -> str:
        if found[2] not in TABLES:
            raise KeyError(f"no table {found[2]!r} to print; there are {', '.join(TABLES)}")
        return found[1] + TABLES[found[2]]() + found[3]

    return MARK.sub(table, text)


def main(root: Path) -> None:
    """Print the tables of all documents below a folder."""
    for name in PRINTED:
        path = root / name
        path.write_text(printed(path.read_text("utf-8")), "utf-8")


def _row(rule: Rule) -> tuple[str, ...]:
    node = ", ".join(rule.nodes) + (f" → {rule.node_to}" if rule.node_to else "")
    holds = [(one.__doc__ or "").strip().splitlines()[0].rstrip(".") for one in rule.conditions]
    if rule.reasons:
        holds.append("reason: " + " or ".join(rule.reasons).replace("*", "any words"))
    return (
        f"`{rule.kind}`",
        rule.authority,
        _code(rule.sources),
        ", ".join(rule.come_from),
        str(rule.to or "stays"),
        node or "—",
        "; ".join(holds) or "—",
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "—"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
