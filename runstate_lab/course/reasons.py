"""Why a file cannot be read as a notebook: one row a cause, each with its own cure.

`check`, `submit` and `grade` say these sentences, and no others, about the same
bytes. What an answer is worth has reasons of its own (see `grading.verdict`).

What is not here: telling the causes apart (see `mistaken` and `saved`).
"""

from __future__ import annotations

from collections.abc import Mapping

LARGEST = 20 * 1024 * 1024
MOST_CELLS = 5_000
MOST_VALUES = 1_200_000
DEEPEST = 100
LONGEST_CELL = 1_000_000

AGAIN = "open it in Jupyter, save it, and hand in again"
CLEAR = "clear the outputs (Edit > Clear Outputs of All Cells), save, and hand in again"
ITSELF = "hand in the notebook file itself, which ends in .ipynb"

# code -> what was found, what to do now. These sentences are for the student.
FILES: Mapping[str, tuple[str, str]] = {
    # too much of it
    "too-big": ("the file is larger than 20 MB", CLEAR),
    "too-many-cells": (
        f"the notebook has more than {MOST_CELLS:,} cells",
        "delete the cells that are not yours to keep, save, and hand in again",
    ),
    "too-many-values": (f"the file holds more than {MOST_VALUES:,} values", CLEAR),
    "cell-too-big": (
        "a code cell holds more than 1 MB of text",
        "keep data out of the cells, save, and hand in again",
    ),
    "nesting": ("the file is nested too deeply for a notebook", CLEAR),
    # not all of it
    "empty": ("the file is empty", "save the notebook in Jupyter and hand in the saved file"),
    "nul-bytes": (
        "the file holds zero bytes where text should be: it was never written to its end",
        "make room on the disk, save the notebook again, and hand in again",
    ),
    "cut-off": (
        "the file was cut off: its JSON ends too early",
        "save the notebook again, and send the whole file",
    ),
    "trailing": (
        "something stands behind the end of the notebook",
        "it was saved or joined twice: open it in Jupyter, save it under a new name, and rename it",
    ),
    # something else in its place
    "web-page": (
        "this is a web page, not the notebook: a login page, or an export as HTML",
        "log in, download the .ipynb file, and look at it in Jupyter before you hand in again",
    ),
    "archive": (
        "this is an archive (such as zip, tar or gzip), not a notebook",
        "unpack it, and hand in the .ipynb file that is in it",
    ),
    "document": ("this is a document, a table or a PDF, not a notebook", ITSELF),
    "picture": ("this is a picture, not a notebook", ITSELF),
    "shortcut": ("this is a shortcut to a file, not the file", ITSELF),
    "mac-shadow": (
        "this is what macOS keeps beside a file (its name begins with ._), not the file",
        "hand in the file of the same name without ._",
    ),
    "pointer": (
        "this is a pointer of Git LFS or git-annex, not the file",
        "run `git lfs pull` (or `git annex get`), and hand in the file itself",
    ),
    "script": (
        "this is a Python script, not a notebook",
        "hand in the .ipynb file that it was exported from",
    ),
    "text": ("this is plain text, not a notebook", ITSELF),
    "conflict": ("the file holds git conflict markers", "resolve the merge, then hand in again"),
    "encoding": ("the file is not UTF-8 text", AGAIN),
    # JSON, but not quite
    "hand-made": (
        "the file is almost JSON: it holds a comment, single quotes or a comma too many",
        "undo what was changed outside Jupyter, or begin from the saved notebook",
    ),
    "not-json": ("the file is not JSON as Jupyter writes it", AGAIN),
    "blank": ("the file is JSON with nothing in it", ITSELF),
    "wrapped": (
        "the notebook lies inside another JSON object",
        "download the notebook with Jupyter (File > Download), and hand in that file",
    ),
    "not-a-notebook": ("the file is JSON, but no notebook", ITSELF),
    "v3": ("this is a notebook of format 3", AGAIN),
    "version": ("the notebook format is not 4", AGAIN),
    "no-cells": ("the notebook has no list of cells", "hand in the saved exercise notebook"),
    "cell": ("a cell of the notebook cannot be read", AGAIN),
    "other-exercise": (
        "this is the notebook of another exercise",
        "hand in the notebook that came with this exercise",
    ),
    # no regular file
    "symlink": ("the file is a symbolic link, or lies behind one", ITSELF),
    "folder": ("a folder stands in the notebook's place", ITSELF),
    "not-a-file": ("what stands in the notebook's place is not a regular file", ITSELF),
    "gone": ("there is no such file any more", ITSELF),
    "unreadable": ("the file could not be opened", "look at the file's permissions"),
}


def sentence_of(row: tuple[str, str], detail: str = "") -> str:
    """A row in words: what was found, and what to do.

    >>> sentence_of(FILES["v3"])
    'this is a notebook of format 3; open it in Jupyter, save it, and hand in again'
    """
    found, todo = row
    return f"{found}: {detail}; {todo}" if detail else f"{found}; {todo}"


class Unreadable(Exception):
    """The file is no notebook that can be read; `code` is a row of `FILES`.

    >>> print(Unreadable("v3"))
    this is a notebook of format 3
    hint: open it in Jupyter, save it, and hand in again
    """

    def __init__(self, code: str, *, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    @property
    def found(self) -> str:
        """What was found, with the place."""
        found = FILES[self.code][0]
        return f"{found}: {self.detail}" if self.detail else found

    @property
    def todo(self) -> str:
        """The one thing to do."""
        return FILES[self.code][1]

    def __str__(self) -> str:
        return f"{self.found}\nhint: {self.todo}"
