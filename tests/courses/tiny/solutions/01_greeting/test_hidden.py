"""Held-back checks of exercise 01."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.task("01.1")
def test_a_long_name_is_not_cut(student: Any) -> None:
    """A name of a hundred letters arrives whole in the greeting."""
    assert student.greeting("a" * 100) == "Hello, " + "a" * 100 + ": release 7"
