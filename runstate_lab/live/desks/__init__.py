"""Machinery. The approval desk: rosa is asked."""
