"""The one rule for a student's name, which is also the name of a folder.

A name holds letters of any script, digits and the usual signs, and can be
unpacked on every system. `submit` refuses another one with a name that would
do; `grade` gives such a folder a row that says why it was not graded.

What is not here: where the folders lie (see `folder` and `grading.handed`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator

from runstate_lab.course.faults import AskedWrongly

MOST_BYTES = 200
EXAMPLE = "ada.lovelace"
NOT_ON_WINDOWS = frozenset('<>:"/\\|?*')
RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
# They join or part letters in Persian, Hindi and others, and are part of the name there.
JOINERS = frozenset("\u200c\u200d")
# Letters and signs that nobody can see.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0")
UNSEEN = re.compile(f"[{''.join(sorted(BLANK))}\ufe00-\ufe0f\U000e0100-\U000e01ef]")
NAMELESS = {"\t": "a tab", "\n": "a line end", "\r": "a line end", "\0": "a NUL"}
KINDS = {
    "Cc": "a control character",
    "Cf": "a character that cannot be seen",
    "Cs": "a byte that is no text",
    "Co": "a character of private use",
    "Cn": "a character that does not exist",
    "Zl": "a line end",
    "Zp": "a line end",
}
# What other systems and tools leave in a folder or an archive; never a student.
LEFT_BEHIND = re.compile(
    r"__MACOSX|\._.*|\.DS_Store|\.AppleDouble|\.LSOverride|\.Spotlight-V100|\.fseventsd|\.TemporaryItems"
    r"|\.Trashes|\.Trash(-.*)?|\.DocumentRevisions-V100|Icon\r|Thumbs\.db|ehthumbs\.db|desktop\.ini"
    r"|\$RECYCLE\.BIN|RECYCLER|System Volume Information|~\$.*|\.~lock\..*#?|@eaDir|@tmp|#recycle|#snapshot"
    r"|lost\+found|\.nfs.*|\.fuse_hidden.*|\.directory|\.git|\.gitignore|\.gitattributes|\.gitkeep"
    r"|\.github|\.svn|\.hg|\.ipynb_checkpoints|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache"
    r"|\.idea|\.vscode|\.vs|\.venv|node_modules|\.jupyter|\.ipython|\.local|\.cache|\.runstate"
    r"|\.dropbox(\..*)?|\.sync.*|\.stfolder|\.stversions|.*\.(swp|swo|part|crdownload|partial|tmp)|.*~",
    re.IGNORECASE,
)


def flaw(name: str) -> str:
    """What is wrong with a name as a student's; empty where nothing is.

    >>> flaw("李雷"), flaw("Zoë O'Neil")
    ('', '')
    >>> flaw("ana\\tmaria"), flaw("ana\\u00a0maria")
    ('holds a tab', 'holds NO-BREAK SPACE (U+00A0)')
    >>> flaw("con.txt"), flaw("ana."), flaw("__MACOSX")
    ('cannot be unpacked on Windows', 'ends with a dot', 'is what other programs leave behind')
    """
    name = normal(name)
    return next(_flaws(name), "")


def normal(name: str) -> str:
    """The name in one spelling (NFC): an accent is part of its letter.

    >>> len(normal("e\\u0301"))
    1
    """
    return unicodedata.normalize("NFC", name)


def proposal(name: str) -> str:
    """A name close to it that would do.

    >>> proposal("ana\\tmaria"), proposal(".hidden"), proposal("aux"), proposal(" ")
    ('ana_maria', 'hidden', 'aux_', 'ada.lovelace')
    """
    letters = []
    for place, letter in enumerate(normal(name)):
        fault = _letter(normal(name), place)
        unseen = unicodedata.category(letter) in ("Cf", "Cs") or letter in BLANK
        letters.append(letter if not fault else "" if unseen else "_")
    made = _cut("".join(letters), MOST_BYTES - 1).strip(" .~_$")
    if flaw(made):
        made += "_"
    return made if not flaw(made) and any(map(str.isalnum, made)) else EXAMPLE


def student(name: str) -> str:
    """The name in one spelling; refused with a name that would do.

    >>> student("ana/maria")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: 'ana/maria' cannot be the name of a folder: it holds "/"
    hint: --as ana_maria
    """
    fault = flaw(name)
    if not fault:
        return normal(name)
    would_do = proposal(name)
    quoted = f"'{would_do}'" if re.search(r"[^\w.@+-]", would_do) else would_do
    raise AskedWrongly(
        f"{name[:80]!r} cannot be the name of a folder: it {fault}", hint=f"--as {quoted}"
    )


def left_behind(name: str) -> bool:
    """Whether it is a by-product of another system or program.

    >>> left_behind("__MACOSX"), left_behind("._04.ipynb"), left_behind("ana")
    (True, True, False)
    """
    return LEFT_BEHIND.fullmatch(name) is not None


def shown(name: str, *, most: int = MOST_BYTES) -> str:
    """The name as it can be printed anywhere; another name never looks the same.

    >>> shown("ana\\x1b[2K"), shown("ana\\u00a0maria"), shown("李雷")
    ('ana(U+001B)[2K', 'ana(U+00A0)maria', '李雷')
    """
    told = "".join(
        letter
        if (letter.isprintable() and letter not in BLANK)
        or (letter in JOINERS and not _letter(name, place))
        else f"(U+{ord(letter):04X})"
        for place, letter in enumerate(name)
    )
    if len(told.encode()) <= most:
        return told
    seen = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_cut(told, most - 12)}…{seen}"


def skeleton(name: str) -> str:
    """What is left of a name for the eye: equal for names that look the same.

    >>> skeleton("Ana") == skeleton("аna") == skeleton("ana ")
    True
    """
    told = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    text = "".join(letter for letter in told if not UNSEEN.match(letter))
    text = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc"))
    return " ".join(text.translate(TWINS).split()).strip(".")


# Cyrillic and Greek letters that look like Latin ones.
TWINS = str.maketrans("аеорсухіјѕԁһԛԝοανικρτυχ", "aeopcyxijsdhqwoavikptux")


def _flaws(name: str) -> Iterator[str]:
    if not name.strip():
        yield "is empty" if not name else "holds nothing but spaces"
        return
    for place, letter in enumerate(name):
        found = _letter(name, place)
        if found:
            yield f"holds {found}"
    if left_behind(name):
        yield "is what other programs leave behind"
    for sign, words in ((" ", "a space"), (".", "a dot")):
        if name.startswith(sign):
            yield f"begins with {words}"
        if name.endswith(sign):
            yield f"ends with {words}"
    if RESERVED.fullmatch(name.partition(".")[0].rstrip()):
        yield "cannot be unpacked on Windows"
    if len(name.encode("utf-8", "replace")) > MOST_BYTES:
        yield f"is longer than {MOST_BYTES} bytes"


def _letter(name: str, place: int) -> str:
    """What is wrong with the character at that place; empty where nothing is."""
    letter = name[place]
    if letter in NOT_ON_WINDOWS:
        return f'"{letter}"' if letter != '"' else "a double quote"
    kind = unicodedata.category(letter)
    if letter in JOINERS and place and _joins(name[place - 1]):
        return ""
    if letter == " " or (kind not in KINDS and kind != "Zs" and letter not in BLANK):
        return ""
    if letter in NAMELESS:
        return NAMELESS[letter]
    return f"{unicodedata.name(letter, KINDS.get(kind, 'a character'))} (U+{ord(letter):04X})"


def _joins(letter: str) -> bool:
    """Whether a joiner may stand behind it: a letter, or a mark, of a script that joins."""
    return unicodedata.category(letter)[0] in "LM" and not letter.isascii()


def _cut(text: str, most: int) -> str:
    """The beginning of the text that fits into so many bytes, whole characters only."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
