"""Machinery. Equal plain values, sent to the browser once.

What is not here: which values a widget sends (see the graphs of the widgets).
"""

from __future__ import annotations

import json


class Pool:
    """A list in which equal values are kept once; gives their places."""

    def __init__(self) -> None:
        self.kept: list[object] = []
        self._places: dict[str, int] = {}

    def place(self, value: object) -> int:
        """Where the value stands in the list.

        >>> pool = Pool()
        >>> pool.place({"a": 1}), pool.place({"b": 2}), pool.place({"a": 1})
        (0, 1, 0)
        """
        key = json.dumps(value, sort_keys=True)
        if key not in self._places:
            self._places[key] = len(self.kept)
            self.kept.append(value)
        return self._places[key]
