"""Machinery. The node board: workers take the nodes of a graph."""
