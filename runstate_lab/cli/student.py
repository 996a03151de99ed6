"""Verbs for students."""

VERBS = ()
