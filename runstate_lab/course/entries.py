"""The shape of what is recorded about a learner: one table, checked when it is read.

A progress file lies in the learner's folder, where an editor, a synchroniser or
another kit may have changed it. What has another shape is refused as a whole;
what is only missing is filled in.

What is not here: the file (see `progress`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

MOST_COUNT = 1_000_000
LONGEST = 20_000
MOST_ENTRIES = 5_000

# section -> name -> what stands there where nothing was recorded, and so its type
SHAPES: Mapping[str, Mapping[str, object]] = {
    "predictions": {"letter": "", "choice": "", "why": "", "revealed": False},
    "answers": {"given": "", "chosen": [], "right": False, "tries": 0, "beliefs": []},
    "hints": {"shown": 0},
    "checks": {"attempts": 0, "held": []},
    "solutions": {"shown": False},
    "hand_ins": {"student": "", "exercise": "", "sha256": "", "path": "", "set_aside": ""},
}


class Misshapen(ValueError):
    """What was read is not what was once recorded."""


def shaped(entries: object) -> dict[str, dict[str, Any]]:
    """The sections, each entry complete; Misshapen names the first strange value.

    >>> shaped({"hints": {"04.1": {}}})
    {'hints': {'04.1': {'shown': 0}}}
    >>> shaped({"hints": {"04.1": {"shown": -1}}})
    Traceback (most recent call last):
    ...
    runstate_lab.course.entries.Misshapen: entries.hints.04.1.shown is -1
    """
    found = {}
    for section, rows in _table(entries, "entries").items():
        if section not in SHAPES:
            raise Misshapen(f"entries has a section {section[:40]!r}")
        where = f"entries.{section}"
        found[section] = {
            key: _entry(row, SHAPES[section], f"{where}.{key[:40]}")
            for key, row in _table(rows, where).items()
        }
    return found


def _entry(row: object, shape: Mapping[str, object], where: str) -> dict[str, Any]:
    entry = copy.deepcopy(dict(shape))
    for name, value in _table(row, where).items():
        place = f"{where}.{name[:40]}"
        # What an older or a later kit adds is kept where it is harmless.
        _check(value, shape.get(name, value if isinstance(value, str) else None), place)
        entry[name] = value
    return entry


def _check(value: object, like: object, where: str) -> None:
    if type(value) is not type(like):
        raise Misshapen(f"{where} is {_told(value)}")
    if isinstance(value, str) and len(value) > LONGEST:
        raise Misshapen(f"{where} is a text of {len(value):,} characters")
    if type(value) is int and not 0 <= value <= MOST_COUNT:
        raise Misshapen(f"{where} is {_told(value)}")
    if isinstance(value, list):
        if len(value) > MOST_ENTRIES:
            raise Misshapen(f"{where} is a list of {len(value):,}")
        for number, each in enumerate(value):
            _check(each, "", f"{where}[{number}]")


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Misshapen(f"{where} is {_told(value)}")
    if len(value) > MOST_ENTRIES:
        raise Misshapen(f"{where} has {len(value):,} entries")
    return value


def _told(value: object) -> str:
    if isinstance(value, dict | list | str):
        return {dict: "a table", list: "a list", str: "a text"}[type(value)]
    return str(value)[:40]
