"""Masters: what is read from them, and every doubtful mark refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from runstate_lab.course.faults import CourseFault
from runstate_lab.course.marks import Cell, read_master

MASTER = Path("solutions", "04_compare_and_swap", "master.py")
GOOD = """\
# %% [markdown]
# # Compare and swap

# %%
ledger = []

# %%
# answer: 04.1
def apply(revision: int) -> int:
    # BEGIN SOLUTION
    if revision != len(ledger):
        raise ValueError(revision)
    # END SOLUTION
    ledger.append(revision)
    # BEGIN SOLUTION
    return len(ledger)
    # END SOLUTION


# %%
# check: 04.1 the first commit wins
assert apply(0) == 1

# %% [markdown] tags=["teacher"]
# For teachers.
"""
WRONG = {
    "nested": (
        "# BEGIN SOLUTION\nx = 1\n# BEGIN SOLUTION\n# END SOLUTION",
        5,
        "inside the one of line 3",
    ),
    "unclosed": ("# BEGIN SOLUTION\nx = 1", 3, "never closed"),
    "stray": ("x = 1\n# END SOLUTION", 4, "without BEGIN"),
    "end indented": ("# BEGIN SOLUTION\nx = 1\n  # END SOLUTION", 5, "not indented as in line 3"),
    "line left of it": ("    # BEGIN SOLUTION\nx = 1\n    # END SOLUTION", 4, "left of the mark"),
    "empty": ("# BEGIN SOLUTION\n# END SOLUTION", 4, "no lines"),
    "lower case": ("# begin solution\nx = 1", 3, "almost a mark"),
    "with words": ("# BEGIN SOLUTION here\nx = 1\n# END SOLUTION", 3, "almost a mark"),
    "after code": ("x = 1  # BEGIN SOLUTION\n# END SOLUTION", 3, "almost a mark"),
    "none": ("x = 1", 1, "has no BEGIN SOLUTION"),
}


def read(text: str) -> tuple[Cell, ...]:
    """The cells of a master with that text."""
    return read_master(text, MASTER)


def test_each_cell_has_its_role() -> None:
    """Text, given, answer, check and a teacher's note are told apart."""
    cells = read(GOOD)

    assert ["text", "given", "answer", "check", "text"] == [cell.role for cell in cells]
    assert [1, 4, 7, 20, 24] == [cell.line for cell in cells]
    assert ("04.1", "the first commit wins", ("check",)) == (
        cells[3].task,
        cells[3].check,
        cells[3].tags,
    )
    assert ("teacher",) == cells[4].tags


def test_a_stub_raises_with_number_and_title_at_the_regions_indentation() -> None:
    """Each region becomes one line; what stands between the regions is kept."""
    stub = read(GOOD)[2].stub("refuse a stale revision")

    assert (
        "# answer: 04.1\n"
        "def apply(revision: int) -> int:\n"
        '    raise NotImplementedError("exercise 04.1: refuse a stale revision")\n'
        "    ledger.append(revision)\n"
        '    raise NotImplementedError("exercise 04.1: refuse a stale revision")'
    ) == stub


def test_a_solved_cell_shows_no_mark() -> None:
    """The solution stands in it, the marks do not."""
    solved = read(GOOD)[2].solved

    assert "if revision != len(ledger):" in solved
    assert "SOLUTION" not in solved


def test_no_solution_line_survives_in_the_stub() -> None:
    """Every line between marks is gone from the student's cell."""
    cell = read(GOOD)[2]
    stub = cell.stub("refuse").splitlines()

    assert 3 == len(cell.solution_lines)
    assert [] == [line for line in cell.solution_lines if line in stub]


@pytest.mark.parametrize(("body", "line", "words"), WRONG.values(), ids=WRONG)
def test_a_doubtful_mark_is_refused_with_its_line(body: str, line: int, words: str) -> None:
    """The fault names file, line and what is wrong."""
    with pytest.raises(CourseFault) as caught:
        read(f"# %%\n# answer: 04.1\n{body}\n")

    assert f"{MASTER}:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_region_does_not_reach_into_the_next_cell() -> None:
    """A mark closed in another cell is not closed."""
    with pytest.raises(CourseFault, match="never closed"):
        read("# %%\n# answer: 04.1\n# BEGIN SOLUTION\nx = 1\n# %%\n# END SOLUTION\n")


def test_a_solution_outside_an_answer_is_refused() -> None:
    """Marks in a given cell would reach the student unseen."""
    with pytest.raises(CourseFault, match="outside an answer cell"):
        read("# %%\n# BEGIN SOLUTION\nx = 1\n# END SOLUTION\n")


def test_a_check_before_its_answer_is_refused() -> None:
    """A check is for an answer that stands above it."""
    with pytest.raises(CourseFault, match="a check of 04.2 before its answer"):
        read(GOOD.replace("# check: 04.1", "# check: 04.2"))


@pytest.mark.parametrize(
    "first", ["# answer 04.1", "# Answer: 04.1", "# check: 04.1", "# answer: four"]
)
def test_a_first_line_that_is_almost_a_role_is_refused(first: str) -> None:
    """A misspelled role is not taken for given code."""
    with pytest.raises(CourseFault, match="names no task"):
        read(f"# %%\n{first}\nx = 1\n")


def test_text_before_the_first_cell_is_refused() -> None:
    """It would become a cell that nobody marked."""
    with pytest.raises(CourseFault, match=r"master\.py:2: text before the first cell"):
        read("\nimport this\n# %%\nx = 1\n")
