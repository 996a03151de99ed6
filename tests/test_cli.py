"""The command line: words to stderr, data to stdout, exit codes 0 to 3."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner, Result

from runstate_lab.cli import main, talk
from runstate_lab.course import catalogue
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.progress import progress_of
from runstate_lab.grading.dispatch import write_file
from runstate_lab.grading.handed import Handed
from runstate_lab.grading.kept import record_path
from runstate_lab.grading.verdict import Record, Verdict, to_json


@pytest.fixture(autouse=True)
def progress_in_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests record progress as a learner does."""
    monkeypatch.delenv("RUNSTATE_PROGRESS")


def run(course: Catalogue, *words: str) -> Result:
    """The verb's result on that course."""
    return CliRunner().invoke(main, ["--course", str(course.root), *words])


@pytest.mark.parametrize(
    ("answer", "exit_code", "last"),
    [
        ("", 0, "visible checks held, 1 of 1 held-back checks held"),
        ("raise SystemExit", 1, "2 of 3 visible checks did not hold, 0 of 1 held-back checks held"),
    ],
    ids=["right", "wrong"],
)
def test_check_all_runs_the_held_back_checks_too(
    answer: str, exit_code: int, last: str, tiny: Catalogue
) -> None:
    """Where the sources are at hand a learner hears of each: its title and the kind of failure."""
    exercise = tiny.exercise("01")
    notebook = json.loads((tiny.root / exercise.solved).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if answer and cell["metadata"].get("runstate", {}).get("id") == "01.1":
            cell["source"] = f"# answer: 01.1\n{answer}"
    (tiny.root / exercise.notebook).write_text(json.dumps(notebook), encoding="utf-8")
    seen = run(tiny, "check", "01", "--all")

    assert (exit_code, last) == (seen.exit_code, seen.stdout.splitlines()[-1])


def test_check_all_says_where_the_held_back_checks_are_not(tiny: Catalogue) -> None:
    """Nothing is run, and the hint says what can be."""
    (tiny.root / tiny.exercise("01").hidden).unlink()
    seen = run(tiny, "check", "01", "--all")

    assert 2 == seen.exit_code
    assert "the held-back checks are not at hand here" in seen.stderr
    assert "hint: runstate-lab check 01" in seen.stderr


def test_help_names_every_verb_in_the_order_of_use() -> None:
    """Students first, then instructors, then authors."""
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    verbs = [line.split()[0] for line in lines[lines.index("Commands:") + 1 :] if line[:3] != "   "]

    students = ["lab", "check", "hint", "solution", "reset", "submit", "progress"]
    instructors = ["release", "grade", "gradebook"]

    assert [*students, *instructors, "build", "verify", "bench", "doctor"] == verbs


def test_check_of_a_stub_exits_with_1(tiny: Catalogue) -> None:
    """Something was checked and did not hold."""
    seen = run(tiny, "check", "01")

    assert 1 == seen.exit_code
    assert (
        "3 of 3 visible checks did not hold, 1 held-back check not run here"
        == seen.stdout.splitlines()[-1]
    )


def test_check_of_a_solution_exits_with_0_and_is_remembered(tiny: Catalogue) -> None:
    """Progress knows which tasks held."""
    exercise = tiny.exercise("01")
    (tiny.root / exercise.notebook).write_bytes((tiny.root / exercise.solved).read_bytes())
    seen = run(tiny, "check", "01", "--json")

    assert 0 == seen.exit_code
    assert ["01.1", "01.2"] == json.loads(seen.stdout)["held"]
    (row,) = json.loads(run(tiny, "progress", "--json").stdout)
    assert (2, 1, False) == (row["tasks_held"], row["attempts"], row["handed_in"])


@pytest.mark.parametrize(
    "words",
    [
        ("check", "09"),
        ("hint", "01.9"),
        ("hint", "01"),
        ("nonsense",),
        ("grade",),
        ("lab", "--port", "x"),
        ("submit", "01", "--to", ""),
        ("submit", "01", "--as", ""),
        ("submit", "01", "--to", "no such folder"),
    ],
    ids=" ".join,
)
def test_a_question_that_makes_no_sense_exits_with_2(
    words: tuple[str, ...], tiny: Catalogue
) -> None:
    """Nothing is on stdout, the reason is on stderr."""
    seen = run(tiny, *words)

    assert 2 == seen.exit_code
    assert "" == seen.stdout
    assert seen.stderr.strip()


def test_a_fault_of_the_kit_exits_with_3(tiny: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    """The traceback is shown, and whose fault it is."""
    monkeypatch.setattr("runstate_lab.grading.checks.check_notebook", lambda *_: 1 / 0)
    seen = run(tiny, "check", "01")

    assert 3 == seen.exit_code
    assert "ZeroDivisionError" in seen.stderr
    assert "a fault of runstate-lab, not yours" in seen.stderr


def test_each_hint_shows_one_step_more(tiny: Catalogue) -> None:
    """After the last step all three stay."""
    counts = [len(run(tiny, "hint", "01.1").stdout.splitlines()) for _ in range(4)]

    assert [1, 2, 3, 3] == counts


def test_a_solution_is_shown_after_an_attempt_only(tiny: Catalogue) -> None:
    """Before it, the refusal says what to do."""
    before = run(tiny, "solution", "01.1")
    run(tiny, "check", "01")
    after = run(tiny, "solution", "01.1")

    assert 2 == before.exit_code
    assert "hint: write an answer, save, then: runstate-lab check 01" in before.stderr
    assert 'words = f"Hello, {name}: release {release}"' in after.stdout
    assert "SOLUTION" not in after.stdout


def test_where_no_solutions_are_the_refusal_says_so(tiny: Catalogue, tmp_path: Path) -> None:
    """A student's folder never holds them."""
    tiny.root.joinpath("solutions").rename(tmp_path / "elsewhere")
    seen = run(tiny, "solution", "01.1")

    assert 2 == seen.exit_code
    assert "the solutions are not in" in seen.stderr


def test_submit_prints_digest_and_path(tiny: Catalogue, tmp_path: Path) -> None:
    """The receipt is data; the words are talk."""
    seen = run(tiny, "submit", "01", "--to", str(tmp_path), "--as", "ada")
    digest, path = seen.stdout.split()

    assert 64 == len(digest)
    assert tmp_path / "ada" / "01_greeting.ipynb" == Path(path)


def test_reset_says_where_the_old_notebook_is(tiny: Catalogue) -> None:
    """Nothing is lost, and the reader knows it."""
    (tiny.root / tiny.exercise("01").notebook).write_text("{}", encoding="utf-8")
    seen = run(tiny, "reset", "01")

    assert "01_greeting-1.ipynb" in seen.stderr


def test_build_check_of_an_edited_notebook_exits_with_1(tiny: Catalogue) -> None:
    """The fault and its cure are on stderr."""
    path = tiny.root / tiny.lesson("00").notebook
    path.write_text(path.read_text(encoding="utf-8").replace("Hello", "Hullo"), encoding="utf-8")
    seen = run(tiny, "build", "00", "--check")

    assert 1 == seen.exit_code
    assert "then run: runstate-lab build 00_hello" in seen.stderr


def test_release_prints_the_bundles_path(tiny: Catalogue, tmp_path: Path) -> None:
    """Data on stdout is the path alone."""
    seen = run(tiny, "release", "--out", str(tmp_path / "out"))

    assert 0 == seen.exit_code, seen.stderr
    assert tmp_path / "out" / "runstate-lab-course.zip" == Path(seen.stdout.strip())


def test_a_gradebook_of_nothing_is_asked_wrongly(tiny: Catalogue, tmp_path: Path) -> None:
    """The hint holds the command that would make one."""
    seen = run(tiny, "gradebook", str(tmp_path))

    assert 2 == seen.exit_code
    assert f"hint: runstate-lab grade SUBMISSIONS --out {tmp_path}" in seen.stderr


def test_doctor_names_python_and_every_package(tiny: Catalogue) -> None:
    """What is here, one a line, and the walls as measured."""
    seen = run(tiny, "doctor")
    words = [line.split()[0] for line in seen.stdout.splitlines()]

    assert 0 == seen.exit_code
    assert {"Python", "Chromium", "isolation", "jupyterlab", "graphviz-pure"} <= set(words)


def test_a_learners_verb_never_works_inside_the_package(
    tiny: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Away from any course the refusal leads to `lab`; beside the copy it is found."""
    monkeypatch.setattr(talk, "KIT", tiny.root)
    monkeypatch.setattr(catalogue, "find_root", lambda: tiny.root)
    seen = CliRunner().invoke(main, ["check", "01"])

    assert 2 == seen.exit_code
    assert "hint: runstate-lab lab makes one here" in seen.stderr


def test_the_copy_beside_you_is_your_course(
    tiny: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `lab` was started the other verbs work too."""
    tiny.root.rename(tmp_path / catalogue.OWN_COPY)
    monkeypatch.chdir(tmp_path)

    assert (tmp_path / catalogue.OWN_COPY).resolve() == catalogue.find_root()


@pytest.mark.slow
def test_a_class_is_graded_and_its_gradebook_printed(tiny: Catalogue, tmp_path: Path) -> None:
    """One right and one empty-handed student: 0, because both have a verdict."""
    exercise = tiny.exercise("01")
    for student, path in (("ada", exercise.solved), ("bob", exercise.notebook)):
        (tmp_path / "class" / student).mkdir(parents=True)
        shutil.copy(tiny.root / path, tmp_path / "class" / student / "01_greeting.ipynb")
    out = str(tmp_path / "out")
    seen = run(tiny, "grade", str(tmp_path / "class"), "--out", out, "--isolation", "none")

    assert 0 == seen.exit_code, seen.stderr
    assert "2 submissions: 1 FAIL, 1 PASS; 0 unchanged." in seen.stderr
    book = csv.DictReader(run(tiny, "gradebook", out).stdout.splitlines())
    assert {"student", "exercise", "verdict", "points", "reason", "isolation"} <= set(
        book.fieldnames or ()
    )
    assert [("ada", "PASS"), ("bob", "FAIL")] == [(row["student"], row["verdict"]) for row in book]


def test_colour_is_left_out_where_nobody_sees_it(tiny: Catalogue) -> None:
    """Not a terminal: the words alone."""

    assert "\x1b" not in run(tiny, "check", "01").stdout


def test_what_the_system_refuses_exits_with_2_and_names_the_path(tiny: Catalogue) -> None:
    """One line with the system's words, a hint, and no traceback."""
    shutil.rmtree(tiny.root / ".runstate", ignore_errors=True)
    (tiny.root / ".runstate").write_text("in the way", encoding="utf-8")
    seen = run(tiny, "hint", "01.1")

    assert 2 == seen.exit_code
    found, hint = seen.stderr.splitlines()
    assert found == f"{tiny.root / '.runstate' / 'progress.json'}: Not a directory"
    assert hint == "hint: a file stands where a folder should be: move it away"


def test_a_name_that_is_too_long_is_not_the_kits_fault(tiny: Catalogue, tmp_path: Path) -> None:
    """The system's words, and what to do."""
    seen = run(tiny, "submit", "01", "--to", str(tmp_path), "--as", "a" * 300)

    assert 2 == seen.exit_code
    assert "it is longer than 200 bytes\nhint: --as aaa" in seen.stderr
    assert "Traceback" not in seen.stderr


def test_a_hand_in_folder_is_made_on_request(tiny: Catalogue, tmp_path: Path) -> None:
    """A misspelled folder is refused; `--make` says that it is meant."""
    box = str(tmp_path / "box")
    refused = run(tiny, "submit", "01", "--to", box, "--as", "ada")
    made = run(tiny, "submit", "01", "--to", box, "--as", "ada", "--make")

    assert (2, 0) == (refused.exit_code, made.exit_code)
    assert "--make makes it" in refused.stderr
    assert "warning: exercises/01_greeting/01_greeting.ipynb holds only the stubs" in made.stderr


def test_a_hand_in_is_not_called_failed_where_only_progress_is(
    tiny: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is handed in, the receipt is printed, and the missing note is said."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("RUNSTATE_PROGRESS", str(tmp_path / "file" / "progress.json"))
    seen = run(tiny, "submit", "01", "--to", str(tmp_path), "--as", "ada")

    assert 0 == seen.exit_code
    assert seen.stdout.strip().endswith("01_greeting.ipynb")
    assert "`runstate-lab progress` will not know of it" in seen.stderr


def test_progress_tells_predictions_reveals_and_later_changes(
    tiny: Catalogue, tmp_path: Path
) -> None:
    """A reveal is no prediction; a notebook changed after the hand-in is named."""
    book = progress_of(tiny.root)
    book.record("predictions", "01.1", {"revealed": False})
    book.record("predictions", "01.2", {"revealed": True})
    run(tiny, "hint", "01.1")
    run(tiny, "submit", "01", "--to", str(tmp_path), "--as", "ada")
    handed = run(tiny, "progress").stdout.splitlines()
    exercise = tiny.exercise("01")
    (tiny.root / exercise.notebook).write_bytes((tiny.root / exercise.solved).read_bytes())
    changed = run(tiny, "progress").stdout.splitlines()

    assert [
        "1 prediction made, 1 opened without one",
        "01_greeting  not checked yet, 1 hint, handed in",
    ] == handed
    assert f"{handed[1]}; the saved notebook was changed since" == changed[1]


def test_a_reset_clears_what_was_checked(tiny: Catalogue) -> None:
    """The fresh stub holds nothing, whatever held before."""
    exercise = tiny.exercise("01")
    (tiny.root / exercise.notebook).write_bytes((tiny.root / exercise.solved).read_bytes())
    run(tiny, "check", "01")
    run(tiny, "reset", "01")

    assert "01_greeting  not checked yet" == run(tiny, "progress").stdout.splitlines()[1]


@pytest.mark.parametrize("verb", ["reset", "submit"])
def test_a_course_far_away_is_named_and_not_changed(
    verb: str, tiny: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking is said on stderr; reset and submit want the folder named."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(catalogue, "find_root", lambda: tiny.root)
    looked = CliRunner().invoke(main, ["progress"])
    refused = CliRunner().invoke(main, [verb, "01"])

    assert (0, 2) == (looked.exit_code, refused.exit_code)
    assert f"course folder: {tiny.root}\n" == looked.stderr
    assert f"name it: runstate-lab --course {tiny.root} {verb}" in refused.stderr
    assert not (tiny.root / "hand_in").exists()


def test_in_the_course_its_folder_goes_without_saying(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also below its root."""
    monkeypatch.chdir(tiny.root / "notebooks")

    assert "" == CliRunner().invoke(main, ["progress"]).stderr


@pytest.mark.parametrize("verb", ["build", "verify"])
def test_authors_verbs_want_masters(verb: str, tiny: Catalogue) -> None:
    """An installed kit and a student's folder have none."""
    shutil.rmtree(tiny.root / "solutions")
    shutil.rmtree(tiny.root / "notebooks" / "src")
    seen = run(tiny, verb)

    assert 2 == seen.exit_code
    assert f"{verb} is for authors, in a checkout" in seen.stderr


def test_refusals_say_what_to_do(tiny: Catalogue, tmp_path: Path) -> None:
    """Known numbers, the fresh copy, the course folder, what a port is, the last hint."""
    unknown = run(tiny, "check", "4")
    nowhere = CliRunner().invoke(main, ["--course", str(tmp_path / "none"), "progress"])
    port = run(tiny, "lab", "--port", "abc")
    hints = [run(tiny, "hint", "01.1").stderr for _ in range(4)]
    (tiny.root / tiny.exercise("01").notebook).unlink()
    missing = run(tiny, "check", "01")

    assert unknown.stderr == "there is no exercise '4'\nhint: known: 01\n"
    assert "hint: runstate-lab reset 01" in missing.stderr
    assert "\nhint: name the folder" in nowhere.stderr
    assert "'abc' is no port: a port is a number from 0 to 65535" in port.stderr
    last = "That was the last hint. After an attempt: runstate-lab solution 01.1\n"
    assert ["", "", "", last] == hints


NAME = "李雷 Zoë"
EMPTY = -1


def forked(
    course: Catalogue, *words: str, out: int | None = None, err: int | None = None, as_: str = "utf-8"
) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr of a child with real streams of that encoding.

    `out` and `err` are descriptors to write to instead, EMPTY for a closed one.
    """
    pipes = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
    child = os.fork()
    if child == 0:
        code = 120
        try:
            code = _in_child(course, words, [out, err], [each.fileno() for each in pipes], as_)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for pipe in pipes:
        pipe.seek(0)
    return code, pipes[0].read(), pipes[1].read()


def _in_child(
    course: Catalogue, words: tuple[str, ...], asked: list[int | None], pipes: list[int], as_: str
) -> int:
    streams: list[TextIO | None] = []
    for number, (given, pipe) in enumerate(zip(asked, pipes, strict=True), start=1):
        os.dup2(pipe if given in (None, EMPTY) else given, number)  # type: ignore[arg-type]
        errors = "strict" if number == 1 else "backslashreplace"
        made = open(number, "w", encoding=as_, errors=errors, closefd=False)
        streams.append(None if given == EMPTY else made)
    sys.stdout, sys.stderr = streams  # type: ignore[assignment]
    try:
        main(["--course", str(course.root), *words])
    except SystemExit as ended:
        # As Python does when it ends: what cannot be written then is a failure.
        for stream in filter(None, streams):
            stream.flush()
        return int(ended.code or 0)
    return 121


@pytest.mark.parametrize("console", ["ascii", "cp1252", "cp437", "latin-1", "utf-8"])
def test_a_narrow_console_shows_escapes_and_the_receipt_comes_out(
    console: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Every verb that repeats a name or a message goes on to its end."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    text = path.read_text(encoding="utf-8").replace("NotImplementedError", "ValueError")
    path.write_text(text.replace("exercise 01.1", "李雷"), encoding="utf-8")
    box = tmp_path / "box"
    words = ("submit", "01", "--make", "--to", str(box), "--as", NAME)
    code, receipt, _ = forked(tiny, *words, as_=console)
    checked, report, _ = forked(tiny, "check", "01", as_=console)
    shown = "李雷" if console == "utf-8" else "\\u674e\\u96f7"

    assert (0, [NAME]) == (code, [path.name for path in box.iterdir()])
    assert shown in receipt.decode(console)
    assert "01_greeting.ipynb\n" == receipt.decode(console)[-18:]
    assert (1, True) == (checked, shown in report.decode(console))


@pytest.mark.slow
def test_where_the_system_knows_ascii_only_no_verb_fails(tiny: Catalogue, tmp_path: Path) -> None:
    """No locale and no UTF-8 mode: a name in other letters is refused with one that would do."""
    words = ["--as", NAME, "--make", "--to", str(tmp_path / "box")]
    command = [sys.executable, "-m", "runstate_lab", "--course", str(tiny.root), "submit", "01"]
    narrow = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    seen = subprocess.run(
        [*command, *words], env={**os.environ, **narrow}, capture_output=True, check=False
    )

    assert 2 == seen.returncode
    assert b"hint: --as" in seen.stderr
    assert b"Traceback" not in seen.stderr


@pytest.mark.parametrize("err", ["open", "closed", "left", "full"])
@pytest.mark.parametrize("out", ["open", "closed", "left", "full"])
def test_a_hand_in_that_happened_is_never_called_failed(
    out: str, err: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Exit code 0, the copy, the kept receipt and the note in progress, whoever listens."""
    left, writing = os.pipe()
    os.close(left)
    full = os.open("/dev/full", os.O_WRONLY)
    ways = {"open": None, "closed": EMPTY, "left": writing, "full": full}
    words = ("submit", "01", "--make", "--to", str(tmp_path / "box"), "--as", "ada")
    code, data, talk = forked(tiny, *words, out=ways[out], err=ways[err])
    os.close(writing)
    os.close(full)

    assert 0 == code, talk
    assert (tmp_path / "box" / "ada" / "01_greeting.ipynb").is_file()
    assert "01" in progress_of(tiny.root).section("hand_ins")
    if "open" in (out, err):
        assert b"01_greeting.ipynb\n" in (data if out == "open" else talk)
    assert b"fault of runstate-lab" not in talk


@pytest.mark.parametrize("verb", ["progress", "hint 01.1"])
def test_a_reader_who_leaves_ends_no_verb(verb: str, tiny: Catalogue) -> None:
    """No traceback, and the exit code of the verb itself."""
    left, writing = os.pipe()
    os.close(left)
    seen = forked(tiny, *verb.split(), out=writing)
    os.close(writing)

    assert (0, b"", b"") == seen


def test_data_for_a_full_disk_is_told_as_lost(tiny: Catalogue) -> None:
    """A table that was not written is no success."""
    full = os.open("/dev/full", os.O_WRONLY)
    code, _, talk = forked(tiny, "progress", out=full)
    os.close(full)

    assert (2, True) == (code, b"make room on the disk" in talk)


@pytest.mark.parametrize("console", ["ascii", "cp1252", "cp437", "utf-8"])
def test_a_gradebook_of_any_name_is_printed_on_any_console(
    console: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Escapes where the console has no such letters."""
    record = Record(NAME, "01_greeting", "v", "s", 0, "none", "none", Verdict.FAIL, 0, 2)
    path = record_path(tmp_path, Handed(NAME, "01_greeting", tmp_path))
    write_file(path, json.dumps(to_json(record)))
    code, table, talk = forked(tiny, "gradebook", str(tmp_path), as_=console)
    shown = NAME.encode(console, "backslashreplace")

    assert (0, b"") == (code, talk)
    assert shown + b",01_greeting,FAIL" in table


@pytest.mark.parametrize(
    "verb", ["hint 01.1", "progress", "check 01", "solution 01.1", "submit 01 --as ada"]
)
def test_progress_of_another_shape_ends_no_verb(
    verb: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """It is set aside and said, and the verb does what it would do for a beginner."""
    path = tiny.root / ".runstate" / "progress.json"
    path.parent.mkdir(exist_ok=True)
    strange = {"hints": {"01.1": {"shown": []}}, "checks": {"01": {"attempts": "x", "held": 3}}}
    path.write_text(json.dumps({"version": 1, "entries": strange}), encoding="utf-8")
    seen = run(tiny, *verb.split())

    assert {"check 01": 1, "solution 01.1": 2}.get(verb, 0) == seen.exit_code, seen.stderr
    assert (path.parent / "progress.broken-1.json").is_file()


def test_the_login_obeys_the_rule_for_names(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A domain in front of it is refused with a name that would do."""
    monkeypatch.setattr("getpass.getuser", lambda: "SCHOOL\\ana")
    seen = run(tiny, "submit", "01", "--to", str(tmp_path))

    assert 2 == seen.exit_code
    assert "it holds \"\\\"\nhint: --as SCHOOL_ana" in seen.stderr


def test_a_link_in_the_hand_in_folder_is_refused(tiny: Catalogue, tmp_path: Path) -> None:
    """`grade` would not follow it."""
    (tmp_path / "ada").symlink_to(tiny.root)
    seen = run(tiny, "submit", "01", "--to", str(tmp_path), "--as", "ada")

    assert 2 == seen.exit_code
    assert "this folder is a link, and a link is not graded" in seen.stderr
