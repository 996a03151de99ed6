"""What a row of the bench says: contenders, aims, and words; and how it prints.

An aim that was missed is printed as missed. What is not here: measuring.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One contender: its name and version, its median, what it does more, lowest and highest."""

    contender: str
    figure: float
    unit: str
    more: str = ""
    spread: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Aim:
    """What was hoped for, and what was found; None where it was not measured."""

    words: str
    wanted: float
    found: float | None
    at_most: bool = False
    why: str = ""
    spread: tuple[float, ...] = ()

    @property
    def verdict(self) -> str:
        """met, missed, or not measured."""
        if self.found is None:
            return "not measured"
        held = self.found <= self.wanted if self.at_most else self.found >= self.wanted
        return "met" if held else "missed"


@dataclass(frozen=True, slots=True)
class Row:
    """One question of the bench with everything that was found about it."""

    name: str
    what: str
    lines: tuple[Line, ...]
    aims: tuple[Aim, ...]
    notes: tuple[str, ...] = ()


def as_json(row: Row) -> dict[str, object]:
    """The row for a program to read, verdicts included."""
    found = asdict(row)
    found["aims"] = [{**asdict(aim), "verdict": aim.verdict} for aim in row.aims]
    return found


def as_text(row: Row) -> str:
    """The row for a person to read: one line a contender, one line an aim."""
    width = max((len(line.contender) for line in row.lines), default=0)
    lines = [f"{row.name}: {row.what}"]
    for line in row.lines:
        lines.append(f"  {line.contender:{width}}  {_figure(line.figure):>11} {line.unit}{_spread(line)}")
    for line in row.lines:
        if line.more:
            lines.append(f"  {line.contender} does more: {line.more}")
    for aim in row.aims:
        found = aim.why if aim.found is None else f"found {_figure(aim.found)}{_spread(aim)}"
        lines.append(f"  aim {aim.words}: {aim.verdict}, {found}")
    return "\n".join([*lines, *(f"  note: {note}" for note in row.notes)])


def _spread(measured: Line | Aim) -> str:
    low, high = map(_figure, measured.spread or (0, 0))
    return "" if low == high else f" ({low} to {high})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
