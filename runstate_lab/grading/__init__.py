"""Grading: student answers in a confined worker, our tests and verdicts outside.

The wire (`nouns`, `codec`, `faults`, `channel`, `calls`, `confine`, `worker`,
`proxy`, `canaries`, `isolation`) needs nothing but the standard library and the book. Import what
you need from its module: the worker imports this package, so it stays empty.
"""
