"""Grading. The gradebook: one row per submission, as CSV and as JSON.

A spreadsheet takes a cell that begins with = + - or @ for a formula, and a
student chooses folder names: such a cell is written as text.

What is not here: the pages for people (see `feedback`).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from runstate_lab.grading.verdict import Record

COLUMNS = (
    "student",
    "exercise",
    "verdict",
    "points",
    "max_points",
    "reason",
    "isolation",
    "reason_code",
    "tasks",
    "exercise_version",
    "submission",
    "seed",
)
FORMULA = ("=", "+", "-", "@", "\t", "\n")


def row(record: Record) -> dict[str, object]:
    """The record's row; points of what was not graded are None, not 0."""
    tasks = "; ".join(
        f"{task.task}={'' if task.points is None else task.points}/{task.max_points}"
        for task in record.tasks
    )
    values = {name: getattr(record, name) for name in COLUMNS if name != "tasks"}
    return {**values, "verdict": str(record.verdict), "tasks": tasks}


def cell(value: object) -> str:
    """The text of a cell that no spreadsheet will run.

    >>> cell("=1+1"), cell(None), cell(2)
    ("'=1+1", '', '2')
    """
    # A lone carriage return would not be quoted, and end the row for a reader.
    text = "" if value is None else "\n".join(str(value).splitlines())
    return f"'{text}" if text.startswith(FORMULA) else text


def as_csv(records: Iterable[Record]) -> str:
    """The gradebook as CSV, sorted by student and exercise.

    >>> as_csv([]).split(",")[:4]
    ['student', 'exercise', 'verdict', 'points']
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in ordered(records):
        values = row(record)
        writer.writerow([cell(values[name]) for name in COLUMNS])
    return stream.getvalue()


def as_json(records: Iterable[Record]) -> str:
    """The same rows for a machine; nothing is neutralised here, points may be null.

    >>> as_json([])
    '[]\\n'
    """
    rows = []
    for record in ordered(records):
        values = row(record)
        values["tasks"] = {task.task: task.points for task in record.tasks}
        rows.append({name: values[name] for name in COLUMNS})
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def ordered(records: Iterable[Record]) -> list[Record]:
    """The records by student, then by exercise."""
    return sorted(records, key=lambda record: (record.student, record.exercise))
