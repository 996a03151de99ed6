"""Machinery. The status chart: propose events, see what the rules answer."""
