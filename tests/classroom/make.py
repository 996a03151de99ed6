"""Makes the class: one folder per student, from exercise 04 and its wrong answers.

    python tests/classroom/make.py           write tests/classroom/submissions anew

The same exercise gives the same bytes. What git should not keep (a link, a
pipe, a file of 21 MB, a conftest.py) is added by `add_extras` where a test
wants it. What each submission must get is in `expected.toml`, by hand.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXERCISE = "04_compare_and_swap"
SUBMISSIONS = HERE / "submissions"

sys.path.insert(0, str(HERE))
import attacks  # noqa: E402

Notebook = dict[str, Any]
WRONG = (
    "always_recompute",
    "at_least_instead_of_equal",
    "blind_retry",
    "compares_after_the_swap",
    "compares_before_the_writer",
    "decides_for_the_person",
    "gives_up_at_once",
    "keeps_no_refusal",
    "matches_by_tool_name",
    "never_gives_up",
    "no_compare",
    "swallows_every_refusal",
    "wraps_the_book",
)
# Attacks on answer 04.2 that need nothing but the answer cells.
IN_AN_ANSWER = {
    "exits_when_called": attacks.EXITS_WHEN_CALLED,
    "exits_when_loaded": attacks.EXITS_WHEN_LOADED,
    "endless_loop": attacks.ENDLESS_LOOP,
    "memory_bomb": attacks.MEMORY_BOMB,
    "forks": attacks.FORKS,
    "always_equal": attacks.ALWAYS_EQUAL,
    "skips": attacks.SKIPS,
    "patches_the_judge": attacks.PATCHES_THE_JUDGE,
    "reads_the_caller": attacks.READS_THE_CALLER,
    "reads_the_tests": attacks.READS_THE_TESTS,
    "writes_the_gradebook": attacks.WRITES_THE_GRADEBOOK,
    "writes_the_results": attacks.WRITES_THE_RESULTS,
    "conftest_beside": attacks.HOLLOW,
    "shares_memory": attacks.SHARES_MEMORY,
    "locks_the_library": attacks.LOCKS_THE_LIBRARY,
    "reads_inode_flags": attacks.READS_INODE_FLAGS,
    "owns_signals": attacks.OWNS_SIGNALS,
    "hides_itself": attacks.HIDES_ITSELF,
    "sends_by_path": attacks.SENDS_BY_PATH,
    "slows_itself": attacks.SLOWS_ITSELF,
    "fills_the_folder": attacks.FILLS_THE_FOLDER,
    "stops_itself": attacks.STOPS_ITSELF,
    "sets_an_alarm": attacks.SETS_AN_ALARM,
    "closes_everything": attacks.CLOSES_EVERYTHING,
    "leaves_threads": attacks.LEAVES_THREADS,
}
# Attacks on whoever runs the submitted notebook itself.
IN_THE_NOTEBOOK = (
    "transforms_the_checks",
    "magic",
    "deleted_checks",
    "nbval_skip",
    "own_outputs",
    "unrun_and_wrong",
)


def solved() -> Notebook:
    """Our solved notebook."""
    return read(ROOT / "solutions" / EXERCISE / f"{EXERCISE}.ipynb")


def stub() -> Notebook:
    """The notebook that a student gets."""
    return read(ROOT / "exercises" / EXERCISE / f"{EXERCISE}.ipynb")


def read(path: Path) -> Notebook:
    """A notebook with each source as one text."""
    made = json.loads(path.read_text(encoding="utf-8"))
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"])
    return made


def wrong_answer(name: str) -> tuple[str, str]:
    """The task and the text of a named wrong answer."""
    path = ROOT / "solutions" / EXERCISE / "wrong" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    text = text[text.index("# answer: ") :]
    return text[len("# answer: ") :].partition("\n")[0].strip(), text


def answer(notebook: Notebook, task: str) -> dict[str, Any]:
    """The answer cell of a task."""
    return next(cell for cell in notebook["cells"] if is_answer(cell, task))


def is_answer(cell: Mapping[str, Any], task: str) -> bool:
    """Whether a cell is the answer of a task."""
    marks = cell["metadata"].get("runstate", {})
    return marks.get("role") == "answer" and marks.get("task") == task


def is_check(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is one of our visible checks."""
    return cell["metadata"].get("runstate", {}).get("role") == "check"


def with_answer(notebook: Notebook, task: str, text: str) -> Notebook:
    """The notebook with another answer, marker line included."""
    made = copy.deepcopy(notebook)
    marker = f"# answer: {task}\n"
    answer(made, task)["source"] = text if text.startswith(marker) else marker + text.lstrip()
    return made


def short(notebook: Notebook) -> Notebook:
    """The notebook without what no grader of ours looks at: only the answers."""
    made = copy.deepcopy(notebook)
    cells = made["cells"]
    made["cells"] = [cell for cell in cells if any(is_answer(cell, t) for t in tasks(notebook))]
    return made


def tasks(notebook: Notebook) -> list[str]:
    """The tasks, in order."""
    marks = [cell["metadata"].get("runstate", {}) for cell in notebook["cells"]]
    return [mark["task"] for mark in marks if mark.get("role") == "answer"]


def hollow() -> Notebook:
    """Right in 04.1 and 04.3; in 04.2 an answer that says nothing."""
    return with_answer(solved(), "04.2", attacks.HOLLOW)


def notebooks() -> dict[str, Notebook]:
    """The submissions that are notebooks, by student."""
    right = solved()
    made = {"right": right, "stub": stub(), "hollow": short(hollow())}
    for name in WRONG:
        task, text = wrong_answer(name)
        made[f"wrong_{name}"] = short(with_answer(right, task, text))
    for name, text in IN_AN_ANSWER.items():
        made[name] = short(with_answer(right, "04.2", text))
    made["patches_the_library"] = short(with_answer(right, "04.1", attacks.PATCHES_THE_LIBRARY))
    for name in IN_THE_NOTEBOOK:
        made[name] = globals()[f"_{name}"]()
    for name, change in MISHAPS.items():
        made[name] = short(right)
        change(made[name])
    return made


def _transforms_the_checks() -> Notebook:
    made = with_answer(solved(), "04.2", attacks.TRANSFORMS_THE_CHECKS)
    for cell in made["cells"]:
        # What came before the attack was printed; what comes after it is not.
        if is_check(cell) and not cell["metadata"]["runstate"]["task"] == "04.1":
            cell["outputs"] = []
    return made


def _magic() -> Notebook:
    return with_answer(solved(), "04.2", attacks.MAGIC)


def _deleted_checks() -> Notebook:
    made = hollow()
    made["cells"] = [cell for cell in made["cells"] if not is_check(cell)]
    return made


def _nbval_skip() -> Notebook:
    made = hollow()
    for cell in made["cells"]:
        if is_check(cell):
            cell["source"] = f"{attacks.NBVAL_SKIP}\n{cell['source']}"
            cell["metadata"]["tags"] = ["check", "nbval-skip"]
    return made


def _own_outputs() -> Notebook:
    made = hollow()
    for cell in made["cells"]:
        if is_check(cell):
            cell["source"] = "print('held')"
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": "held\n"}]
    return made


def _unrun_and_wrong() -> Notebook:
    made = with_answer(
        solved(), "04.2", "def after_conflict(event, state):\n    return 'drop', ''\n"
    )
    _unrun(made)
    return made


def _unrun(made: Notebook) -> None:
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            cell.update(execution_count=None, outputs=[])


def _missing(made: Notebook) -> None:
    made["cells"].remove(answer(made, "04.2"))


def _no_answers(made: Notebook) -> None:
    made["cells"] = []


def _markdown(made: Notebook) -> None:
    answer(made, "04.2")["cell_type"] = "markdown"


def _syntax(made: Notebook) -> None:
    answer(made, "04.2")["source"] += "\n    return ("


def _twice(made: Notebook) -> None:
    made["cells"].append(copy.deepcopy(answer(made, "04.2")))


def _split(made: Notebook) -> None:
    first = answer(made, "04.1")
    second = copy.deepcopy(first)
    lines = first["source"].splitlines()
    half = len(lines) // 2
    first["source"], second["source"] = "\n".join(lines[:half]), "\n".join(lines[half:])
    made["cells"].insert(1, second)


def _ambiguous(made: Notebook) -> None:
    other = copy.deepcopy(answer(made, "04.2"))
    other["source"] = "        return 'drop', 'left over'\n"
    made["cells"].append(other)


def _stub_copy(made: Notebook) -> None:
    made["cells"].append(copy.deepcopy(answer(stub(), "04.2")))


def _no_metadata(made: Notebook) -> None:
    made["metadata"] = {}
    for cell in made["cells"]:
        cell["metadata"] = {}


def _no_ids(made: Notebook) -> None:
    _no_metadata(made)
    made["nbformat_minor"] = 4
    for cell in made["cells"]:
        del cell["id"]


def _renamed(made: Notebook) -> None:
    cell = answer(made, "04.2")
    cell["source"] = cell["source"].replace("def after_conflict", "def afterwards")


def _raises(made: Notebook) -> None:
    answer(made, "04.2")["source"] += "\nundefined_name\n"


def _chatty(made: Notebook) -> None:
    answer(made, "04.2")["source"] += "\nprint('done\\n' * 20000)\n"


def _version_5(made: Notebook) -> None:
    made["nbformat"] = 5


def _version_3(made: Notebook) -> None:
    cells = made.pop("cells")
    made.update(nbformat=3, nbformat_minor=0, worksheets=[{"cells": cells}])


MISHAPS: Mapping[str, Callable[[Notebook], None]] = {
    "unrun": _unrun,
    "missing_answer": _missing,
    "no_cells_at_all": _no_answers,
    "turned_to_markdown": _markdown,
    "syntax_error": _syntax,
    "copied_cell": _twice,
    "split_cell": _split,
    "ambiguous_cells": _ambiguous,
    "copied_stub": _stub_copy,
    "no_metadata": _no_metadata,
    "no_ids": _no_ids,
    "renamed_function": _renamed,
    "raises_when_loaded": _raises,
    "chatty": _chatty,
    "version_5": _version_5,
    "version_3": _version_3,
}


def files() -> dict[str, bytes]:
    """Every submission's bytes, by student; some are no notebooks any more."""
    made = {name: text(notebook) for name, notebook in notebooks().items()}
    whole = text(short(solved()))
    made["truncated"] = whole[: len(whole) // 2]
    made["empty"] = b""
    made["a_list"] = b"[]\n"
    made["latin_1"] = whole.replace(b"# answer: 04.2", b"# answer: 04.2 caf\xe9")
    made["merge_conflict"] = b'<<<<<<< mine\n{"cells": []\n=======\n{}\n>>>>>>> theirs\n'
    made["byte_order_mark"] = b"\xef\xbb\xbf" + whole
    made["utf_16"] = whole.decode().encode("utf-16")
    return made


def text(notebook: Notebook) -> bytes:
    """The bytes of a notebook as Jupyter lays them out."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def write(folder: Path) -> Path:
    """The class in a folder: `<student>/<exercise>.ipynb`."""
    for student, content in files().items():
        path = folder / student / f"{EXERCISE}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return folder


def add_extras(folder: Path) -> Path:
    """What git should not keep: a link, a pipe, a large file, files beside."""
    for student in ("linked", "piped", "too_big"):
        (folder / student).mkdir()
    name = f"{EXERCISE}.ipynb"
    (folder / "linked" / name).symlink_to(Path("..", "right", name))
    os.mkfifo(folder / "piped" / name)
    with (folder / "too_big" / name).open("wb") as stream:
        stream.truncate(21 << 20)
    (folder / "conftest_beside" / "conftest.py").write_text(attacks.CONFTEST, encoding="utf-8")
    (folder / "notes.txt").write_text("collected on Friday\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    shutil.rmtree(SUBMISSIONS, ignore_errors=True)
    print(len(list(write(SUBMISSIONS).iterdir())), "submissions in", SUBMISSIONS.name)
