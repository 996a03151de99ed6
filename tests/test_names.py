"""One rule for a student's name: what `submit` takes, `grade` has a row for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.names import (
    MOST_BYTES,
    flaw,
    left_behind,
    normal,
    proposal,
    shown,
    skeleton,
    student,
)

GOOD = [
    "ada.lovelace",
    "Zoë O'Neil",
    "李雷",
    "عل\u200cرضا",  # U+200C parts two letters in Persian
    "क्\u200dष",  # U+200D joins two in Hindi
    "ශ්\u200dරී",
    "s123456",
    "Müller, Jörg (2)",
    "=cmd()",
    "a" * MOST_BYTES,
    "한글",
    "Đặng Thị",
]
BAD = {
    "": "is empty",
    " ": "holds nothing but spaces",
    "\u3000": "holds nothing but spaces",
    "ana\tmaria": "holds a tab",
    "ana\nmaria": "holds a line end",
    "ana\0": "holds a NUL",
    "ana\x1b[2K": "holds a control character (U+001B)",
    "ana\u00a0maria": "holds NO-BREAK SPACE (U+00A0)",
    "ana\u2003maria": "holds EM SPACE (U+2003)",
    "ana\u2028maria": "holds LINE SEPARATOR (U+2028)",
    "ana\u202eairam": "holds RIGHT-TO-LEFT OVERRIDE (U+202E)",
    "ana\u2066": "holds LEFT-TO-RIGHT ISOLATE (U+2066)",
    "ana\u200b": "holds ZERO WIDTH SPACE (U+200B)",
    "ana\u00ad": "holds SOFT HYPHEN (U+00AD)",
    "\ufeffana": "holds ZERO WIDTH NO-BREAK SPACE (U+FEFF)",
    "an\u200ca": "holds ZERO WIDTH NON-JOINER (U+200C)",
    "\u200cana": "holds ZERO WIDTH NON-JOINER (U+200C)",
    "ana\u3164": "holds HANGUL FILLER (U+3164)",
    "ana\ue000": "holds a character of private use (U+E000)",
    "ana\udce9": "holds a byte that is no text (U+DCE9)",
    "a/b": 'holds "/"',
    "a\\b": 'holds "\\"',
    "a:b": 'holds ":"',
    "who?": 'holds "?"',
    'a"b': "holds a double quote",
    "..": "begins with a dot",
    ".hidden": "begins with a dot",
    "ana.": "ends with a dot",
    " ana": "begins with a space",
    "ana ": "ends with a space",
    "CON": "cannot be unpacked on Windows",
    "nul.txt": "cannot be unpacked on Windows",
    "com1": "cannot be unpacked on Windows",
    "LPT³": "cannot be unpacked on Windows",
    "a" * (MOST_BYTES + 1): "is longer than 200 bytes",
    "é" * 101: "is longer than 200 bytes",
    "__MACOSX": "is what other programs leave behind",
    "lost+found": "is what other programs leave behind",
}


@pytest.mark.parametrize("name", GOOD)
def test_letters_of_any_script_make_a_name(name: str) -> None:
    """Joiners are letters where a script needs them."""

    assert ("", normal(name)) == (flaw(name), student(name))


@pytest.mark.parametrize(("name", "words"), BAD.items(), ids=map(ascii, BAD))
def test_another_name_is_refused_with_one_that_would_do(name: str, words: str) -> None:
    """The refusal names the character, and the hint can be typed as it is."""
    with pytest.raises(AskedWrongly) as refused:
        student(name)

    assert refused.value.found.endswith(f"cannot be the name of a folder: it {words}")
    assert f"--as {proposal(name)}" == refused.value.hint.replace("'", "")
    assert str(refused.value).replace("\n", "").isprintable()


def test_two_spellings_of_one_name_become_one() -> None:
    """An accent on its own is joined to its letter."""

    assert student("Zoe\u0308") == student("Zoë") == "Zoë"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_what_is_proposed_would_do(name: str) -> None:
    """Whatever was asked for, the proposal breaks no rule."""

    assert "" == flaw(proposal(name))


@settings(deadline=None)
@given(st.text(st.characters(codec=None), min_size=1, max_size=250))
def test_what_is_shown_can_be_printed_and_is_no_other_name(name: str) -> None:
    """Every row has a name that any page, file and console can hold."""
    told = shown(name)

    assert len(told.encode()) <= MOST_BYTES
    assert all(
        unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp", "Co", "Cn") for letter in told
    )
    if not flaw(name):
        assert name == told


def test_names_that_would_be_shown_alike_are_told_apart() -> None:
    """Two names that are too long stay two."""

    assert shown("a" * 240 + "1") != shown("a" * 240 + "2")
    assert shown("ana\udce9") != shown("ana\udcea")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zoe\u0308", "Zoë"),
        ("Ana", "ana"),
        ("аna", "ana"),
        ("ﬁn", "fin"),
        ("ana ", "ana"),
        ("an\u200ba", "ana"),
        ("ana\ufe0f", "ana"),
        ("ＡＮＡ", "ana"),
        ("ana\u00a0maria", "ana maria"),
    ],
)
def test_names_that_look_the_same_have_one_skeleton(one: str, other: str) -> None:
    """Spelling, capital letters, width, and letters of another script that look alike."""

    assert skeleton(one) == skeleton(other)


def test_names_that_look_different_have_two_skeletons() -> None:
    """An accent is a difference."""

    assert skeleton("Zoë") != skeleton("Zoe")


@pytest.mark.parametrize(
    "name",
    ["__MACOSX", "._04.ipynb", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints",
     "@eaDir", ".Trash-1000", "lost+found", "$RECYCLE.BIN", "~$x.docx", ".git",
     "System Volume Information", "__pycache__", ".~lock.x#"],
)  # fmt: skip
def test_what_other_systems_leave_behind_is_known(name: str) -> None:
    """It is listed, and never a student."""

    assert left_behind(name)
