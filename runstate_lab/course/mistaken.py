"""What was saved in the place of a notebook, told by its first bytes or its fault.

The tables name the mistakes that people make: a login page that was saved, a
zip that was renamed, a file that was cut off. Each is a row of `reasons.FILES`.

What is not here: what a notebook must hold (see `saved`).
"""

from __future__ import annotations

import json
import re

from runstate_lab.course.reasons import Unreadable

HEAD = 4096
# where, which bytes -> code
BYTES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x00\x05\x16\x07", "mac-shadow"),
    (0, b"\x00\x05\x16\x00", "mac-shadow"),
    (0, b"PK\x03\x04", "archive"),
    (0, b"PK\x05\x06", "archive"),
    (0, b"\x1f\x8b", "archive"),
    (0, b"BZh", "archive"),
    (0, b"\xfd7zXZ\x00", "archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "archive"),
    (0, b"Rar!\x1a\x07", "archive"),
    (0, b"\x28\xb5\x2f\xfd", "archive"),
    (257, b"ustar", "archive"),
    (0, b"%PDF", "document"),
    (0, b"{\\rtf", "document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "document"),
    (0, b"SQLite format 3\x00", "document"),
    (0, b"\x89PNG\r\n", "picture"),
    (0, b"\xff\xd8\xff", "picture"),
    (0, b"GIF8", "picture"),
    (0, b"\x4c\x00\x00\x00\x01\x14\x02\x00", "shortcut"),
    (0, b"bplist", "shortcut"),
    (0, b"book\x00\x00\x00\x00mark", "shortcut"),
    (0, b"\x00\x00\x00\x00", "nul-bytes"),
)
OFFICE = (b"[Content_Types].xml", b"word/", b"xl/", b"ppt/", b"mimetypeapplication/vnd.oasis")
# what the text begins with -> code
TEXTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"\[InternetShortcut|\[Desktop Entry|<\?xml[^>]*>\s*<!DOCTYPE plist", "shortcut"),
        (r"(From: <Saved by|MIME-Version: |HTTP/\d)", "web-page"),
        (r"<(!doctype|\?xml|!--|html|head|body|script|meta|title|div|p\b|h\d|svg)", "web-page"),
        (r"version https://git-lfs|(\.\./)*\.git/annex/objects|/annex/objects/", "pointer"),
        (r"(//|/\*|#)[^\n]*\n\s*{", "hand-made"),
    )
)
SCRIPT = re.compile(
    r"^(#!.*python|# %%|# In ?\[|# -\*- coding|# answer:|import \w|from [\w.]+ import |def \w|class \w)",
    re.MULTILINE,
)
CONFLICT = re.compile(r"^(<{7}|>{7}|\|{7})( |$)", re.MULTILINE)
HALF_RESOLVED = re.compile(r"^={7}\s*$", re.MULTILINE)
HAND_MADE = re.compile(r"//|/\*|#|'|[}\]]|(True|False|None)\b")


def refuse_other_kinds(content: bytes) -> None:
    """Raise Unreadable where the bytes are certainly of another kind of file.

    >>> refuse_other_kinds(b"%PDF-1.7 ...")
    Traceback (most recent call last):
    ...
    runstate_lab.course.reasons.Unreadable: this is a document, a table or a PDF, not a notebook
    hint: hand in the notebook file itself, which ends in .ipynb
    """
    if not content.strip():
        raise Unreadable("empty")
    if not content.strip(b"\0"):
        raise Unreadable("nul-bytes")
    for place, magic, code in BYTES:
        if content.startswith(magic, place):
            office = code == "archive" and any(mark in content[:HEAD] for mark in OFFICE)
            raise Unreadable("document" if office else code)


def told(text: str, error: ValueError) -> Unreadable:
    """The refusal of a text that is no JSON, by what it begins with or where it fails.

    >>> def fault(text: str) -> str:
    ...     try:
    ...         json.loads(text)
    ...     except ValueError as error:
    ...         return told(text, error).code
    >>> fault('{"cells": ['), fault("{} {}"), fault("{'cells': []}"), fault('{"a": 1 "b"}')
    ('cut-off', 'trailing', 'hand-made', 'not-json')
    >>> fault("# %%\\nimport os"), fault("<!doctype html><title>Log in"), fault("my answer")
    ('script', 'web-page', 'text')
    """
    head = text[:HEAD].lstrip()
    for pattern, code in TEXTS:
        if pattern.match(head):
            return Unreadable(code)
    json_like = head.startswith(("{", "["))
    if CONFLICT.search(text) or (json_like and HALF_RESOLVED.search(text)):
        return Unreadable("conflict")
    if "\0" in text:
        return Unreadable("nul-bytes")
    if not json_like:
        return Unreadable("script" if SCRIPT.search(head) and "```" not in head else "text")
    return _fault(text, error)


def _fault(text: str, error: ValueError) -> Unreadable:
    if not isinstance(error, json.JSONDecodeError):
        return Unreadable("not-json", detail="a number of more than 4,300 digits")
    line = f"line {error.lineno}"
    rest = text[error.pos : error.pos + HEAD]
    if error.msg == "Extra data":
        return Unreadable("trailing", detail=line)
    if _ends_early(rest, error.msg):
        return Unreadable("cut-off", detail=line)
    if HAND_MADE.match(rest) or error.msg.startswith("Expecting property name"):
        return Unreadable("hand-made", detail=line)
    return Unreadable("not-json", detail=line)


def _ends_early(rest: str, fault: str) -> bool:
    """Whether nothing but half a word is left where the reading stopped."""
    if fault.startswith("Unterminated string"):
        return True
    left = rest.strip()
    half_word = any(word.startswith(left) for word in ("true", "false", "null", "NaN", "-"))
    half_escape = fault.startswith("Invalid \\") and len(left) <= 6
    return half_word or half_escape
