"""Notebooks below tests/ are material for tests, never tests themselves."""

from __future__ import annotations

collect_ignore_glob = ["*.ipynb", "courses/*", "submissions/*"]
