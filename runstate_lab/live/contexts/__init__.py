"""Machinery. The context slider: what a model gets to see."""
