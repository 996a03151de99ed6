"""Machinery. The run view: open a run, scrub, compare, ask who wrote it."""
