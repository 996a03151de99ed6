"""What the arrows of a chart say: in full in the twin, folded in the drawing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from runstate_lab.show import Arrow, Standing
from runstate_lab.show.ways import ways

BACK = (
    "approval_granted",
    "approval_denied",
    "approval_expired",
    "callback_received",
    "callback_expired",
)


def one_way(kinds: Sequence[str], **numbers: list[int]) -> Arrow:
    """The arrow that these kinds make, with the numbers of the moves along it."""
    taken = {(("a", "b"), kind.removeprefix("any")): moves for kind, moves in numbers.items()}
    legal = {("a", "b", kind) for kind in kinds}
    return ways(legal, statuses=("a", "b"), kinds=kinds, taken=taken)[0]


@pytest.mark.parametrize(
    ("kinds", "drawn"),
    [
        (BACK[:1], ""),
        (BACK[:2], ""),
        (BACK[:3], "approval_granted, _denied, _expired"),
        (BACK, "approval_granted, _denied, _expired\ncallback_received, _expired"),
        ((*BACK, "run_resumed"),
         "approval_granted, _denied, _expired\ncallback_received, _expired\n+1 more"),
        (("x_a", "x_b", "x_c", "x_d", "x_e"), "x_a, _b, _c, +2 more"),
    ],
)  # fmt: skip
def test_many_kinds_are_folded_by_their_first_word(kinds: Sequence[str], drawn: str) -> None:
    """Up to two kinds are stacked in full; more take one line for each first word."""
    arrow = one_way(kinds)

    assert drawn == arrow.drawn
    assert "\n".join(kinds) == arrow.label


def test_the_kind_that_was_taken_stands_in_full() -> None:
    """The drawing names and numbers it, and counts the others."""
    arrow = one_way(BACK, approval_denied=[3, 5])

    assert "3, 5. approval_denied\n+4 more" == arrow.drawn
    assert "3, 5. approval_denied" in arrow.label
    assert Standing.TAKEN is arrow.standing


def test_two_taken_kinds_have_a_line_each() -> None:
    """Both are named; the rest is counted."""
    arrow = one_way(BACK, approval_granted=[3], callback_expired=[5])

    assert "3. approval_granted\n5. callback_expired\n+3 more" == arrow.drawn


def test_an_unknown_kind_is_left_open() -> None:
    """A history of statuses does not say which of five events it was."""
    arrow = one_way(BACK, any=[3])

    assert "3. approval_granted\nor 4 more" == arrow.drawn
    assert 4 == arrow.label.count("\nor ")
