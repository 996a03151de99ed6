"""Machinery. The board: be the scheduler of real code."""
