"""Progress: one file, replaced whole, never lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runstate_lab.course.faults import AskedWrongly, CourseFault
from runstate_lab.course.progress import Progress, progress_of, progress_path

COUNT = """
import sys
from pathlib import Path
from runstate_lab.course.progress import Progress
for number in range(25):
    Progress(Path(sys.argv[1])).record("hints", f"{sys.argv[2]}.{number}", {"shown": 1})
"""


def test_what_is_recorded_is_there_for_the_next_process(tmp_path: Path) -> None:
    """A second reader of the file finds the entry."""
    path = tmp_path / ".runstate" / "progress.json"
    Progress(path).record("predictions", "04.lost", {"answer": "18"})

    assert {"answer": "18"} == Progress(path).entry("predictions", "04.lost")
    assert {"version": 1, "entries": {"predictions": {"04.lost": {"answer": "18"}}}} == json.loads(
        path.read_text(encoding="utf-8")
    )


def test_an_entry_given_out_is_a_copy(tmp_path: Path) -> None:
    """Changing what was read changes nothing that is kept."""
    book = Progress(None)
    book.record("hints", "04.1", {"shown": 1})
    book.section("hints")["04.1"]["shown"] = 99  # type: ignore[index]

    assert {"shown": 1} == book.entry("hints", "04.1")


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Two processes that record at the same time keep all their entries."""
    path = tmp_path / "progress.json"
    writers = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(path), name]) for name in ("01", "02")
    ]

    assert [0, 0] == [writer.wait() for writer in writers]
    assert 50 == len(Progress(path).section("hints"))


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", '{"version": 1}', '{"version": 1, "entries": {"hints": 3}}']
)
def test_a_broken_file_is_set_aside_not_overwritten(
    broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress starts anew, the old bytes stay beside it, and the reader is told."""
    path = tmp_path / "progress.json"
    path.write_text(broken, encoding="utf-8")
    book = Progress(path)

    assert {} == book.section("hints")
    assert broken == (tmp_path / "progress.broken-1.json").read_text(encoding="utf-8")
    assert "kept as progress.broken-1.json" in capsys.readouterr().err

    book.record("hints", "04.1", {"shown": 1})

    assert {"shown": 1} == book.entry("hints", "04.1")


def test_a_second_broken_file_gets_its_own_name(tmp_path: Path) -> None:
    """Nothing that was set aside is overwritten either."""
    path = tmp_path / "progress.json"
    for text in ("first", "second"):
        path.write_text(text, encoding="utf-8")
        Progress(path).section("hints")

    assert ["first", "second"] == [
        (tmp_path / f"progress.broken-{number}.json").read_text(encoding="utf-8")
        for number in (1, 2)
    ]


def test_a_later_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A file of a newer kit is neither read nor set aside."""
    path = tmp_path / "progress.json"
    path.write_text('{"version": 2, "entries": {}}', encoding="utf-8")

    with pytest.raises(CourseFault, match="progress of version 2; this kit reads version 1"):
        Progress(path).record("hints", "04.1", {})
    assert '{"version": 2, "entries": {}}' == path.read_text(encoding="utf-8")


def test_an_unknown_section_is_refused() -> None:
    """A misspelled section would be a hole in the learner's memory."""
    with pytest.raises(AskedWrongly, match="no section 'hint'"):
        Progress(None).record("hint", "04.1", {})


@pytest.mark.parametrize("value", ["off", "OFF", ""])
def test_switched_off_means_in_memory(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Build and checks see a learner who has done nothing, and write nothing."""
    monkeypatch.setenv("RUNSTATE_PROGRESS", value)

    assert None is progress_path()
    assert progress_of() is progress_of()


def test_a_path_in_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RUNSTATE_PROGRESS` names another file."""
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "mine.json"))

    assert tmp_path / "mine.json" == progress_path()


def test_without_a_course_around_progress_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written into a folder that is no course."""
    monkeypatch.delenv("RUNSTATE_PROGRESS")
    monkeypatch.chdir(tmp_path)

    assert None is progress_path()


def test_what_is_forgotten_leaves_the_rest(tmp_path: Path) -> None:
    """One entry goes; forgetting what is not there writes nothing."""
    book = Progress(tmp_path / "progress.json")
    book.forget("checks", "04")
    assert not (tmp_path / "progress.json").exists()

    book.record("checks", "04", {"attempts": 1})
    book.record("checks", "03", {"attempts": 2})
    book.forget("checks", "04")

    assert {"03": {"attempts": 2}} == book.section("checks")
