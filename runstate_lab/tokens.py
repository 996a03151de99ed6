"""Floor 5. A schedule as a short text that says where it belongs.

    AABBBA-5d0e-91c2-7f             an order of somebody's own workers
    two_writers/naive/AABBBA-...    an order of a world that the kit brings

The four digits after the schedule stand for the workers, the kind of store
and the state they start from; the next four for how the order ended; the last
two for the whole text. So a token that was mistyped, that belongs elsewhere or
that was made from older code is told apart from a good one.

What is not here: playing a token (see `orders`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from runstate_lab.errors import TokenRefused
from runstate_lab.snapshots import canonical

SHAPE = re.compile(r"(?:(\w+)/([^/]+)/)?([A-Za-z!_~+?]*)-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{2})")

SHORT = re.compile(r"(?:\w+/[^/]+/)?[A-Za-z!_~+?]*(?:-[0-9a-f]{0,4}){0,3}")


@dataclass(frozen=True, slots=True)
class Token:
    """A token in its parts; `str` gives the text.

    >>> print(Token("AB", "two_writers", "naive", place="0f3a", end="91c2"))
    two_writers/naive/AB-0f3a-91c2-cf
    >>> Token.read("two_writers/naive/AA-0f3a-91c2-cf")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.TokenRefused: the token does not add up: asked 'two_writers/naive/AA-0f3a-91c2-cf', found a check of cf, where its text makes cc
    hint: copy it whole, and play it with the workers and the store that it was made with
    """

    schedule: str
    world: str = ""
    store: str = ""
    place: str = ""
    end: str = ""

    def __str__(self) -> str:
        return f"{self._text}-{digits(self._text, length=2)}"

    @property
    def _text(self) -> str:
        home = f"{self.world}/{self.store}/" if self.world else ""
        return f"{home}{self.schedule}-{self.place}-{self.end}"

    @classmethod
    def read(cls, text: str) -> Token:
        """The token in a text; refused when the text is not one or was mistyped."""
        found = SHAPE.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None and isinstance(text, str) and SHORT.fullmatch(text.strip()):
            ends = "three groups of digits, such as AABBBA-5d0e-91c2-7f, in full"
            raise TokenRefused(f"{text!r:.80}", f"no {ends}", reason="the end of the token is missing")
        if found is None:
            shape = "text that ends in three groups of digits, such as AABBBA-5d0e-91c2-7f"
            raise TokenRefused(f"{text!r:.80}", f"no {shape}", reason="this is no token")
        world, store, schedule, place, end, check = found.groups(default="")
        token = cls(schedule, world, store, place, end)
        wanted = digits(token._text, length=2)
        if check != wanted:
            why = "the token does not add up"
            raise TokenRefused(
                repr(text), f"a check of {check}, where its text makes {wanted}", reason=why
            )
        return token


def digits(*parts: object, length: int = 4) -> str:
    """So many hexadecimal digits that stand for the parts, in every process.

    >>> digits("run-7") == digits("run-7"), digits("run-7") == digits("run-8")
    (True, False)
    """
    text = "\\n".join(map(canonical, parts))
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:length]


def place_of(names: Iterable[str], store: object) -> str:
    """What stands in a token for the workers, the kind of store and its start.

    >>> from runstate_lab.store import StateStore
    >>> from runstate_lab.model import RunState
    >>> place_of("AB", StateStore(RunState("run-7"))) == place_of("ABC", StateStore(RunState("run-7")))
    False
    """
    return digits(list(names), type(store).__name__, store.load())  # type: ignore[attr-defined]
