"""The verbs for instructors, where they were asked wrongly and while they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from runstate_lab.cli import instructor, main
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.grading.session import Job


@pytest.mark.parametrize(
    "words",
    [("--jobs", "0"), ("--jobs", "-3"), ("--exercise", ""), ("--out", "/dev/null/x")],
    ids=lambda words: " ".join(words),
)
def test_a_grading_asked_wrongly_begins_no_bar(
    words: tuple[str, ...], tiny: Catalogue, tmp_path: Path
) -> None:
    """Exit code 2 in a few words: no traceback, no progress, nothing written."""
    (tmp_path / "class" / "ana").mkdir(parents=True)
    out = ("--out", str(tmp_path / "out"))
    asked = ["--course", str(tiny.root), "grade", str(tmp_path / "class"), *out, *words]
    seen = CliRunner().invoke(main, asked)

    assert 2 == seen.exit_code, seen.stderr
    assert "" == seen.stdout
    assert "grading" not in seen.stderr
    assert "Traceback" not in seen.stderr
    assert not (tmp_path / "out").exists()


def test_a_grading_without_a_terminal_says_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    """How far it is, whose, which exercise, and the verdict."""
    job = Job("", "04_compare_and_swap", "ana", "", "none", "none", 0)
    with instructor._progress() as advance:
        advance(1, 2, job.blank())

    assert ("", "1 of 2: ana 04_compare_and_swap NOT_GRADED\n") == tuple(capsys.readouterr())
