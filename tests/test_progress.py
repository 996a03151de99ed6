"""Progress: one file, replaced whole, never lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from runstate_lab.course import progress
from runstate_lab.course.entries import shaped
from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.handing import Receipt
from runstate_lab.course.progress import SECTIONS, Progress, progress_of, progress_path

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
    Progress(path).record("hints", "04.1", {"shown": 2})

    assert {"shown": 2} == Progress(path).entry("hints", "04.1")
    assert {"version": 1, "entries": {"hints": {"04.1": {"shown": 2}}}} == json.loads(
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


STRANGE: Mapping[str, object] = {
    "a section that is a list": {"hints": []},
    "a section of another name": {"grades": {}},
    "an entry that is a number": {"hints": {"04.1": 3}},
    "an entry that is null": {"hints": {"04.1": None}},
    "a count that is a text": {"hints": {"04.1": {"shown": "2"}}},
    "a count that is a list": {"hints": {"04.1": {"shown": [2]}}},
    "a count that is true": {"hints": {"04.1": {"shown": True}}},
    "a count that is a fraction": {"hints": {"04.1": {"shown": 1.5}}},
    "a count below zero": {"checks": {"04": {"attempts": -1}}},
    "a count beyond reason": {"checks": {"04": {"attempts": 10**30}}},
    "a list that is a text": {"checks": {"04": {"held": "04.1"}}},
    "a list of numbers": {"checks": {"04": {"held": [4]}}},
    "a list in a list": {"answers": {"00.1": {"beliefs": [["M1"]]}}},
    "a list without end": {"checks": {"04": {"held": ["04.1"] * 6000}}},
    "a text that is a table": {"predictions": {"01.1": {"why": {}}}},
    "a text without end": {"predictions": {"01.1": {"why": "x" * 30_000}}},
    "yes or no as a text": {"predictions": {"01.1": {"revealed": "no"}}},
    "a table in a hand-in": {"hand_ins": {"04": {"sha256": {}}}},
    "a table that nobody knows": {"hints": {"04.1": {"more": {"deep": 1}}}},
    "no entries": None,
}
FILES = {name: json.dumps({"version": 1, "entries": value}) for name, value in STRANGE.items()}
FILES |= {
    "a newer version": '{"version": 2, "entries": {}}',
    "a version that is a text": '{"version": "1", "entries": {}}',
    "a list": "[]",
    "a number": "3",
    "brackets without end": "[" * 100_000,
    "a number without end": '{"version": ' + "1" * 5_000 + "}",
    "too large": '{"version": 1, "entries": {}}' + " " * 5_000_000,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_shape_is_set_aside_and_said_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At any depth: the old bytes stay beside it, and every section can be read and written."""
    path = tmp_path / "progress.json"
    path.write_text(FILES[name], encoding="utf-8")
    book = Progress(path)

    assert [{}] * len(SECTIONS) == [dict(book.section(section)) for section in SECTIONS]
    assert FILES[name] == (tmp_path / "progress.broken-1.json").read_text(encoding="utf-8")
    assert 1 == capsys.readouterr().err.count("kept as progress.broken-1.json")
    book.record("hints", "04.1", {"shown": 1})
    assert {"shown": 1} == Progress(path).entry("hints", "04.1")


def test_what_stands_in_the_files_place_is_set_aside(tmp_path: Path) -> None:
    """A folder with what is in it, and a pipe that nobody writes to."""
    path = tmp_path / "progress.json"
    path.mkdir()
    (path / "note").write_text("mine", encoding="utf-8")
    assert {} == Progress(path).section("hints")
    os.mkfifo(path)
    assert {} == Progress(path).section("hints")

    assert "mine" == (tmp_path / "progress.broken-1.json" / "note").read_text(encoding="utf-8")
    assert (tmp_path / "progress.broken-2.json").is_fifo()


def test_a_file_that_may_not_be_read_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor moved: it stays, and what is asked goes on."""
    path = tmp_path / "progress.json"
    path.write_text("secret", encoding="utf-8")

    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(progress, "_content", refuse)
    monkeypatch.setattr(progress.os, "replace", refuse)

    assert [{}, {}] == [Progress(path).section("hints") for _ in range(2)]
    assert 1 == capsys.readouterr().err.count("Permission denied); it stays where it is")
    assert "secret" == path.read_text(encoding="utf-8")


def test_what_is_missing_in_an_entry_is_filled_in(tmp_path: Path) -> None:
    """An older kit recorded less; a later one, in words, more."""
    path = tmp_path / "progress.json"
    entries = {"predictions": {"01.1": {"choice": "A", "mood": "good"}}}
    path.write_text(json.dumps({"version": 1, "entries": entries}), encoding="utf-8")

    assert {"letter": "", "choice": "A", "why": "", "revealed": False, "mood": "good"} == (
        Progress(path).entry("predictions", "01.1")
    )


def test_half_a_letter_is_kept_as_it_is(tmp_path: Path) -> None:
    """A reason that no encoding has does not end a lesson."""
    path = tmp_path / "progress.json"
    Progress(path).record("predictions", "01.1", {"why": "\ud800 李"})

    assert "\ud800 李" == (Progress(path).entry("predictions", "01.1") or {})["why"]


def test_what_is_recorded_has_the_declared_shape() -> None:
    """Each writer's entries pass the table that reading checks them by."""
    written = {
        "predictions": {"letter": "a", "choice": "A", "why": "so", "revealed": False},
        "answers": {
            "given": "a", "chosen": ["A"], "right": True, "tries": 1, "beliefs": ["M1"]
        },
        "hints": {"shown": 1},
        "checks": {"attempts": 1, "held": ["04.1"]},
        "solutions": {"shown": True},
        "hand_ins": vars(Receipt("ada", "04", "ab", "path")),
    }

    assert {name: {"k": row} for name, row in written.items()} == shaped(
        {name: {"k": row} for name, row in written.items()}
    )
    assert list(written) == list(SECTIONS)


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

    book.record("checks", "04", {"attempts": 1, "held": []})
    book.record("checks", "03", {"attempts": 2, "held": []})
    book.forget("checks", "04")

    assert {"03": {"attempts": 2, "held": []}} == book.section("checks")
