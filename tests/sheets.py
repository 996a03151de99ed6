"""Notebooks as Jupyter saves them, made for a test: one answer cell, and what lies around it."""

from __future__ import annotations

import json

ANSWER = "# answer: 04.1\nx = 1"


def cell(**changes: object) -> dict[str, object]:
    """An answer cell as Jupyter saves it, with some keys changed or None to drop."""
    made = {
        "cell_type": "code",
        "id": "answer-04-1",
        "metadata": {"runstate": {"id": "04.1", "role": "answer", "task": "04.1"}},
        "outputs": [],
        "source": ANSWER,
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def notebook(*cells: object, **changes: object) -> bytes:
    """A notebook's bytes."""
    made = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}
    return json.dumps({name: value for name, value in made.items() if value != "drop"}).encode()
