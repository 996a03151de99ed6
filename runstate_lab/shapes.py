"""Floor 0. The shapes that values must have: text, names, whole numbers, pairs.

Each check is silent or refuses, naming what was asked and what was found.
What is not here: the values themselves (see `nouns`).
"""

from __future__ import annotations

from runstate_lab.errors import Malformed


def text(what: str, value: object) -> None:
    """Nothing, when a value is plain text; refuses it otherwise.

    >>> text("a key", 7)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a key, found a int, not text
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    # Exactly str: a subclass could answer differently each time it is asked.
    if type(value) is not str:
        raise Malformed(what, f"a {type(value).__name__}, not text")


def filled(what: str, value: object) -> None:
    """Nothing, when a value is text with something in it.

    >>> filled("a name", "")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a name, found ''
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    text(what, value)
    if not value:
        raise Malformed(what, "''")


def whole(what: str, value: object, *, least: int = 0) -> None:
    """Nothing, when a value is a whole number that is large enough.

    >>> whole("a revision", True)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a revision, found True
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if type(value) is not int or value < least:
        raise Malformed(what, repr(value)[:80])


def names(what: str, value: object) -> None:
    """Nothing, when a value is a tuple of names, each of them once.

    >>> names("deploy's needs", "build")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked deploy's needs as a tuple of names, found the text 'build'; one name is ('build',)
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if type(value) is not tuple:
        short = repr(value)[:80]
        found = f"the text {short}; one name is ({short},)" if type(value) is str else short
        raise Malformed(f"{what} as a tuple of names", found)
    for one in value:
        filled(f"a name among {what}", one)
    if len(set(value)) < len(value):
        raise Malformed(f"{what}, each once", repr(value)[:80])


def pairs(value: object) -> None:
    """Nothing, when a value is a tuple of (name, text) pairs.

    >>> pairs([("release", "7")])
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a tuple of (name, text) pairs, found a list
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if type(value) is not tuple:
        raise Malformed("a tuple of (name, text) pairs", f"a {type(value).__name__}")
    for pair in value:
        if type(pair) is not tuple or len(pair) != 2:
            raise Malformed("a (name, text) pair", repr(pair)[:80])
        filled("a pair's name", pair[0])
        text("a pair's text", pair[1])
