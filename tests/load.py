"""Grades under load: run by `make load`, outside the other tests. It takes about half an hour.

Sixteen copies of each exercise's own solution, beside them answers that sleep,
read, lock themselves or compute for ever, at eight times as many jobs as there
are processors, beside four busy processes: three times the same verdicts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runstate_lab.course import catalogue
from runstate_lab.course.wrong import handed_in, solution_of
from runstate_lab.grading.ours import processors
from runstate_lab.grading.runner import ClassReport, grade

ROOT = Path(__file__).resolve().parents[1]
COURSE = catalogue.load(ROOT)
COPIES, BUSY, TIMES = 16, 4, 3
# The task and a name of each exercise that the check calls.
ASKED = {"02": ("02.1", "may_write"), "03": ("03.1", "legal"), "04": ("04.2", "after_conflict")}
NEVER_ANSWERS = {
    "sleeps": "import time\n    time.sleep(3600)",
    "reads_input": "return input('which? ')",
    "reads_a_pipe": "import os\n    return os.read(os.pipe()[0], 1)",
    "locks_itself": "import threading\n    lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()",
    "joins_itself": "import queue\n    queue.Queue().get()",
    "computes_for_ever": "while True: pass",
    "sleeps_and_computes": "import time\n    while True: time.sleep(0.01); sum(range(20000))",
}
KINDS = {
    "sleeps": {"waits"},
    "reads_input": {"raised"},
    "reads_a_pipe": {"waits"},
    "locks_itself": {"waits"},
    "joins_itself": {"waits"},
    "computes_for_ever": {"timeout"},
    "sleeps_and_computes": {"waits", "timeout"},
}


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class: copies of our own solutions, and answers that never answer."""
    folder = tmp_path_factory.mktemp("class")
    for exercise in COURSE.exercises:
        solved = json.loads((ROOT / exercise.solved).read_text(encoding="utf-8"))
        task, name = ASKED[exercise.number]
        made = {f"right_{number:02}": solved for number in range(COPIES)}
        for student, body in NEVER_ANSWERS.items():
            own = solution_of(solved)[task]
            answer = f"{own}\n\ndef {name}(*asked):\n    {body}\n"
            made[student] = handed_in(solved, {task: answer})
        for student, notebook in made.items():
            path = folder / student / f"{exercise.name}.ipynb"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(notebook), encoding="utf-8")
    return folder


@pytest.fixture
def busy() -> Iterator[None]:
    """Processes that compute while a class is graded."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    yield
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("turn", range(TIMES))
def test_no_verdict_depends_on_the_load(
    turn: int, submissions: Path, tmp_path: Path, busy: None
) -> None:
    """Every right answer passes; every one that never answers fails, each for its own reason."""
    report: ClassReport = grade(submissions, tmp_path, course=ROOT, jobs=8 * processors())
    rows = {(row.student, row.exercise[:2]): row for row in report.records}
    right = {key: row for key, row in rows.items() if key[0].startswith("right_")}
    others = {key: row for key, row in rows.items() if key not in right}

    assert {} == {key: row.reason for key, row in right.items() if row.verdict != "PASS"}
    assert {} == {key: row.reason for key, row in others.items() if row.verdict != "FAIL"}
    assert {} == {
        key: row.reason_code for key, row in others.items() if row.reason_code not in KINDS[key[0]]
    }
    assert (COPIES * 3, len(NEVER_ANSWERS) * 3) == (len(right), len(others))
