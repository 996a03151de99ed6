"""Machinery. The arrows of a chart, and what each of them says.

One arrow for each pair of statuses; the kinds of events that make it are its
label. Where many kinds make one change, the drawing folds them and the text
twin still says each of them in full.

What is not here: which changes are legal (see the rules), and where an arrow
lies (see `places`, `nodeplaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from runstate_lab.show.parts import Arrow, Standing

Way = tuple[str, str]
Taken = Mapping[tuple[Way, str], list[int]]
LINES, IN_A_LINE = 2, 3


def ways(
    legal: Iterable[tuple[str, str, str]],
    *,
    statuses: Sequence[str],
    kinds: Sequence[str],
    taken: Taken,
) -> list[Arrow]:
    """One arrow for each pair of statuses, labelled with its kinds in order.

    `taken` has the numbers of the moves along a pair by a kind, or by "" where
    the kind is not known.

    >>> back = [("waiting", "running", f"approval_{end}") for end in ("granted", "denied", "expired")]
    >>> names = [kind for _, _, kind in back]
    >>> ways(back, statuses=["running", "waiting"], kinds=names, taken={})[0].drawn
    'approval_granted, _denied, _expired'
    """
    makers: dict[Way, list[str]] = {}
    for start, end, kind in sorted(legal, key=lambda one: kinds.index(one[2])):
        makers.setdefault((start, end), []).append(kind)
    pairs = sorted(makers, key=lambda pair: tuple(map(statuses.index, pair)))
    return [_way(pair, makers[pair], taken) for pair in pairs]


def labelled_once(arrows: list[Arrow], together: Callable[[Arrow], bool]) -> list[Arrow]:
    """Arrows with one label into one trunk show it once; a travelled one carries it."""
    shared = [one for one in arrows if together(one)]
    carriers: dict[Way, Arrow] = {}
    for arrow in sorted(shared, key=lambda one: one.standing is Standing.TAKEN):
        carriers[arrow.head, _unnumbered(arrow)] = arrow
    quiet = [one for one in shared if carriers[one.head, _unnumbered(one)] is not one]
    return [replace(one, quiet=one in quiet) for one in arrows]


def _way(pair: Way, kinds: Sequence[str], taken: Taken) -> Arrow:
    numbers = {kind: taken[pair, kind] for kind in kinds if taken.get((pair, kind))}
    unsure = taken.get((pair, ""), [])
    label = "\n".join(_numbered(numbers.get(kind, []), kind) for kind in kinds)
    drawn = _folded(kinds)
    if numbers and len(kinds) > LINES:
        drawn = _with_more([_numbered(numbers[kind], kind) for kind in numbers], len(kinds))
    if unsure:
        label = _numbered(unsure, "\nor ".join(kinds))
        drawn = f"{_numbered(unsure, kinds[0])}\nor {len(kinds) - 1} more"
    if len(kinds) <= LINES:
        drawn = ""
    standing = Standing.TAKEN if unsure or numbers else Standing.LEGAL
    return Arrow(
        tail=str(pair[0]), head=str(pair[1]), label=label, drawn=drawn, standing=standing
    )


def _folded(kinds: Sequence[str]) -> str:
    """One line for each first word; what follows it is said after its first kind."""
    stems: dict[str, list[str]] = {}
    for kind in kinds:
        stems.setdefault(kind.partition("_")[0], []).append(kind)
    lines = [_line(stem, found) for stem, found in stems.items()]
    shown = sum(len(found) for found in list(stems.values())[:LINES])
    return "\n".join(lines) if len(lines) <= LINES else _with_more(lines[:LINES], len(kinds), shown)


def _line(stem: str, kinds: Sequence[str]) -> str:
    rest = [kind.removeprefix(stem) for kind in kinds[1:IN_A_LINE]]
    more = [f"+{len(kinds) - IN_A_LINE} more"] if len(kinds) > IN_A_LINE else []
    return ", ".join([kinds[0], *rest, *more])


def _with_more(lines: Sequence[str], many: int, shown: int = 0) -> str:
    kept = lines[:LINES]
    left = many - (shown or len(kept))
    return "\n".join([*kept, *([f"+{left} more"] if left else [])])


def _numbered(numbers: Sequence[int], kind: str) -> str:
    shown = [*map(str, numbers[:2]), "…", str(numbers[-1])] if len(numbers) > 3 else map(str, numbers)
    return f"{', '.join(shown)}. {kind}" if numbers else kind


def _unnumbered(arrow: Arrow) -> str:
    return arrow.label.rpartition(". ")[2]
