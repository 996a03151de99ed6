"""Machinery. Letters that no picture can hold, each replaced by one sign that can be seen.

XML 1.0 has no way to write most control characters, lone surrogates, U+FFFE
and U+FFFF; one of them in a name would break the whole picture. Every text
goes through here where it becomes SVG, DOT or HTML.

What is not here: how wide a letter is (see `dot`).
"""

from __future__ import annotations

import html
import re
from typing import Any

ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
HALVES = re.compile("[\ud800-\udfff]")
SIGN = "\N{REPLACEMENT CHARACTER}"


def legal(words: str) -> str:
    r"""The words, with a visible sign in the place of every letter that XML does not allow.

    >>> legal("\x1b[1m bu\x01ild \x7f \ud800 \uffff ok")
    '�[1m bu�ild � � � ok'
    """
    return ILLEGAL.sub(SIGN, words)


def whole(value: Any) -> Any:
    r"""The value with a sign for every half of a letter in it: no message can hold one.

    >>> whole({"names": ("a\ud800", "b\x1b")})
    {'names': ['a�', 'b\x1b']}
    """
    if isinstance(value, str):
        return HALVES.sub(SIGN, value)
    if isinstance(value, dict):
        return {whole(key): whole(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [whole(inner) for inner in value]
    return value


def escaped(words: str) -> str:
    r"""The words as HTML text that shows them letter by letter.

    >>> escaped("<b>\x00</b>")
    '&lt;b&gt;�&lt;/b&gt;'
    """
    return html.escape(legal(words))
