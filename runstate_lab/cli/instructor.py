"""Verbs for instructors."""

VERBS = ()
