"""Machinery. The crash lab: kill a run at any moment, recover."""
