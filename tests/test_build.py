"""Build: the same bytes each time, and a stale or edited notebook refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runstate_lab.course.build import build, render, targets
from runstate_lab.course.catalogue import Catalogue
from runstate_lab.course.faults import AskedWrongly, CourseFault

LESSON = Path("notebooks", "00_hello.ipynb")
STUBS = Path("exercises", "01_greeting", "01_greeting.ipynb")
SOLVED = Path("solutions", "01_greeting", "01_greeting.ipynb")


def notebook(course: Catalogue, path: Path) -> dict[str, Any]:
    """A built notebook as JSON."""
    return json.loads((course.root / path).read_text(encoding="utf-8"))


def sources(course: Catalogue, path: Path) -> list[str]:
    """The sources of its cells."""
    return ["".join(cell["source"]) for cell in notebook(course, path)["cells"]]


def rewrite_lesson(course: Catalogue, code: str) -> None:
    """The first lesson with one code cell only."""
    path = course.root / "notebooks" / "src" / "00_hello.py"
    path.write_text(f"# %% [markdown]\n# # Hello\n\n# %%\n{code}\n", encoding="utf-8")


def test_built_twice_gives_the_same_bytes(tiny: Catalogue) -> None:
    """Every notebook is, to the byte, what the build before it wrote."""
    before = {path: path.read_bytes() for path in tiny.root.rglob("*.ipynb")}
    build(tiny)

    assert 4 == len(before)
    assert before == {path: path.read_bytes() for path in tiny.root.rglob("*.ipynb")}


def test_nothing_in_a_notebook_names_time_machine_or_version(tiny: Catalogue) -> None:
    """No timestamps, no kernel version, no widget state, no path."""
    for path in (LESSON, STUBS, SOLVED):
        text = (tiny.root / path).read_text(encoding="utf-8")

        assert {
            "codemirror_mode",
            "file_extension",
            "mimetype",
            "name",
            "nbconvert_exporter",
            "pygments_lexer",
        } == set(notebook(tiny, path)["metadata"]["language_info"])
        assert "iopub" not in text
        assert str(tiny.root) not in text


def test_a_lesson_keeps_its_outputs_and_a_promised_exception(tiny: Catalogue) -> None:
    """What was printed is stored; of a traceback the last line."""
    cells = notebook(tiny, LESSON)["cells"]

    assert ["'green'"] == cells[1]["outputs"][0]["data"]["text/plain"]
    assert ["ValueError: a build cannot be purple"] == cells[2]["outputs"][0]["traceback"]
    assert [1, 2] == [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]


def test_the_students_notebook_holds_stubs_checks_and_no_outputs(tiny: Catalogue) -> None:
    """Stubs raise, checks and given cells stand, a teacher's note is left out."""
    cells = notebook(tiny, STUBS)["cells"]
    answer = sources(tiny, STUBS)[3]

    assert (
        "# answer: 01.1\ndef greeting(name: str) -> str:\n"
        '    raise NotImplementedError("exercise 01.1: greet by name")'
    ) == answer
    assert [] == [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    assert "Only teachers" not in str(cells)
    assert "Only teachers" in str(notebook(tiny, SOLVED))


def test_cells_say_what_they_are(tiny: Catalogue) -> None:
    """Role, task, check and what a check printed stand in the metadata."""
    cells = notebook(tiny, STUBS)["cells"]

    assert {"role": "answer", "task": "01.1", "id": "01.1"} == cells[3]["metadata"]["runstate"]
    assert {
        "role": "check",
        "task": "01.1",
        "check": "another name, another greeting",
        "expected": "Hello, Bob: release 7\n",
    } == cells[5]["metadata"]["runstate"]
    assert ["check"] == cells[5]["metadata"]["tags"]
    assert "answer-01-1" == cells[3]["id"]
    assert {"kind": "exercise", "name": "01_greeting", "held_back": 1} == notebook(tiny, STUBS)[
        "metadata"
    ]["runstate"]


def test_check_accepts_what_was_built(tiny: Catalogue) -> None:
    """A fresh build is as built."""

    assert targets(tiny) == build(tiny, check=True)


@pytest.mark.parametrize("path", [LESSON, STUBS, SOLVED], ids=str)
def test_check_refuses_an_edited_notebook_and_names_the_cure(path: Path, tiny: Catalogue) -> None:
    """One changed word is found; the message holds master and command."""
    file = tiny.root / path
    file.write_text(
        file.read_text(encoding="utf-8").replace("release", "deploy", 1), encoding="utf-8"
    )
    with pytest.raises(CourseFault) as caught:
        build(tiny, [path.stem], check=True)

    assert f"{path}:" in str(caught.value)
    assert "is stale, or was edited by hand" in str(caught.value)
    assert f"then run: runstate-lab build {path.stem}" in str(caught.value)


def test_check_refuses_a_changed_master(tiny: Catalogue) -> None:
    """An edit that was not built is found, and nothing is written."""
    before = (tiny.root / LESSON).read_bytes()
    rewrite_lesson(tiny, "print(7)")
    with pytest.raises(CourseFault, match="is stale"):
        build(tiny, ["00"], check=True)

    assert before == (tiny.root / LESSON).read_bytes()


def test_a_failing_cell_stops_this_notebook_and_no_other(tiny: Catalogue) -> None:
    """The error is told with its master; the other lesson is built."""
    other = tiny.root / "notebooks" / "01_builds.ipynb"
    other.unlink()
    rewrite_lesson(tiny, 'raise LookupError("no build")')
    with pytest.raises(
        CourseFault, match="notebooks/src/00_hello.py: a cell failed when run"
    ) as caught:
        build(tiny)

    assert "LookupError: no build" in str(caught.value)
    assert other.exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os\nos.getcwd() + '/x'", "print no paths"),
        ("object()", "holds the address 0x"),
    ],
    ids=["path", "address"],
)
def test_an_output_that_differs_elsewhere_is_refused(
    code: str, words: str, tiny: Catalogue
) -> None:
    """A path of this machine, or a memory address, would not repeat."""
    rewrite_lesson(tiny, code)
    with pytest.raises(CourseFault, match=words):
        render(tiny, targets(tiny, ["00"])[0])


def test_a_promised_exception_that_does_not_come_is_refused(tiny: Catalogue) -> None:
    """nbval would not notice it, so the build does."""
    path = tiny.root / "notebooks" / "src" / "00_hello.py"
    path.write_text('# %% tags=["raises-exception"]\nx = 1\n', encoding="utf-8")
    with pytest.raises(CourseFault, match="is tagged raises-exception and raised nothing"):
        render(tiny, targets(tiny, ["00"])[0])


def test_a_build_sees_a_learner_who_has_done_nothing(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever progress file the author has, the kernel runs without it."""
    monkeypatch.setenv("RUNSTATE_PROGRESS", "mine.json")
    rewrite_lesson(tiny, 'import os\nos.environ["RUNSTATE_PROGRESS"]')

    assert "'off'" in render(tiny, targets(tiny, ["00"])[0])[LESSON]


def test_a_widgets_model_is_not_stored_but_its_picture_is(tiny: Catalogue) -> None:
    """The model's number differs each time; a bundle of nothing else is dropped."""
    rewrite_lesson(
        tiny,
        "from IPython.display import display\n"
        'model = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}\n'
        'display({**model, "text/plain": "run-7 is running"}, raw=True)\n'
        "display(model, raw=True)",
    )
    (outputs,) = (
        cell["outputs"]
        for cell in json.loads(render(tiny, targets(tiny, ["00"])[0])[LESSON])["cells"]
        if cell["cell_type"] == "code"
    )

    assert [{"text/plain": ["run-7 is running"]}] == [output["data"] for output in outputs]


def test_answers_and_catalogue_must_agree(tiny: Catalogue) -> None:
    """A task without answer cell is refused before anything runs."""
    master = tiny.root / tiny.exercise("01").master
    text = master.read_text(encoding="utf-8")
    master.write_text(text[: text.index("# %% [markdown]\n# ## 01.2")], encoding="utf-8")
    with pytest.raises(CourseFault) as caught:
        build(tiny, ["01_greeting"])

    assert "task 01.2 has no answer cell" in str(caught.value)
    assert "task 01.2 has no visible check" in str(caught.value)


def test_an_unknown_name_is_refused(tiny: Catalogue) -> None:
    """The refusal names what could have been asked."""
    with pytest.raises(AskedWrongly, match="known: 00_hello, 01_builds, 01_greeting"):
        targets(tiny, ["09"])
