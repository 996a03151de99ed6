"""The one reader of notebooks: what is no notebook says why, and none fills the memory."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from runstate_lab.course.catalogue import Catalogue
from runstate_lab.grading.checks import check
from runstate_lab.course.faults import AskedWrongly, CourseFault
from runstate_lab.course.handing import doubt, submit
from runstate_lab.course.reasons import DEEPEST, FILES, LARGEST, MOST_CELLS, Unreadable
from runstate_lab.course.saved import parse
from runstate_lab.grading.session import Job, grade_one
from runstate_lab.grading.verdict import REASONS
from sheets import cell, notebook

def zipped(name: str) -> bytes:
    """A zip of one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x")
    return buffer.getvalue()


def tarred() -> bytes:
    """A tar of one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("04.ipynb"))
    return buffer.getvalue()


WHOLE = notebook(cell())
REFUSED: Mapping[str, tuple[bytes, str]] = {
    "nothing at all": (b"", "empty"),
    "white space only": (b" \n\t", "empty"),
    "cut off in a string": (WHOLE[:-100], "cut-off"),
    "cut off after a bracket": (b'{"cells": [', "cut-off"),
    "cut off after a comma": (b'{"nbformat": 4,', "cut-off"),
    "cut off in a word": (b'{"nbformat": 4, "metadata": nu', "cut-off"),
    "cut off in a number": (b'{"nbformat": 4', "cut-off"),
    "cut off in an escape": (b'{"cells": ["\\u00', "cut-off"),
    "cut off in a character": ('{"cells": ["李'.encode()[:-1], "cut-off"),
    "cut in the middle of UTF-16": (b"\xff\xfe{\x00\x00\xd8", "cut-off"),
    "two notebooks in one file": (WHOLE + WHOLE, "trailing"),
    "a bracket too many": (WHOLE + b"}", "trailing"),
    "words behind the end": (WHOLE + b"\nsent from my phone", "trailing"),
    "zero bytes only": (bytes(4096), "nul-bytes"),
    "zero bytes at the end": (WHOLE[:200] + bytes(4096), "nul-bytes"),
    "zero bytes behind the end": (WHOLE + bytes(4096), "nul-bytes"),
    "zero bytes at the beginning": (bytes(512) + WHOLE[512:], "nul-bytes"),
    "a login page": (b"\n<!DOCTYPE html><title>Log in</title>", "web-page"),
    "a page without a doctype": (b"<html><body>Session expired", "web-page"),
    "a page with a BOM": (b"\xef\xbb\xbf<!doctype html>", "web-page"),
    "a page in UTF-16": ("<html>".encode("utf-16"), "web-page"),
    "an error in XML": (b'<?xml version="1.0"?><Error/>', "web-page"),
    "a zip": (zipped("04.ipynb"), "archive"),
    "a tar": (tarred(), "archive"),
    "a gzip": (b"\x1f\x8b\x08\x00", "archive"),
    "a 7z": (b"7z\xbc\xaf\x27\x1c\x00", "archive"),
    "a workbook": (zipped("xl/workbook.xml"), "document"),
    "a letter": (zipped("word/document.xml"), "document"),
    "a PDF": (b"%PDF-1.7\n", "document"),
    "an RTF": (b"{\\rtf1\\ansi", "document"),
    "a picture": (b"\x89PNG\r\n\x1a\n", "picture"),
    "a photograph": (b"\xff\xd8\xff\xe0", "picture"),
    "a .url": (b"[InternetShortcut]\r\nURL=https://lab.example", "shortcut"),
    "a .desktop": (b"[Desktop Entry]\n", "shortcut"),
    "a .lnk": (b"\x4c\x00\x00\x00\x01\x14\x02\x00\x00\x00", "shortcut"),
    "a .webloc": (b'<?xml version="1.0"?>\n<!DOCTYPE plist PUBLIC "">', "shortcut"),
    "what macOS keeps beside": (b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X", "mac-shadow"),
    "a pointer of Git LFS": (b"version https://git-lfs.github.com/spec/v1\n", "pointer"),
    "a pointer of git-annex": (b"../.git/annex/objects/a/b/SHA256", "pointer"),
    "a Python script": (b"#!/usr/bin/env python\n# coding: utf-8\n", "script"),
    "an exported script": (b"# In[1]:\n\n\nimport os\n", "script"),
    "cells in a script": (b"# %%\n# answer: 04.1\nx = 1\n", "script"),
    "an exported text": (b"# Answers\n\n```python\nimport os\n```\n", "text"),
    "words": (b"here is my answer", "text"),
    "single quotes": (b"{'nbformat': 4, 'cells': []}", "hand-made"),
    "a comment": (b'{\n// mine\n"nbformat": 4, "cells": []}', "hand-made"),
    "a comment before": (b'# mine\n{"nbformat": 4, "cells": []}', "hand-made"),
    "a comma too many": (b'{"nbformat": 4, "cells": [],}', "hand-made"),
    "a comma too many in a list": (b'{"nbformat": 4, "cells": [1,]}', "hand-made"),
    "words of Python": (b'{"nbformat": 4, "cells": None}', "hand-made"),
    "no comma between": (b'{"nbformat": 4 "cells": []}', "not-json"),
    "Latin 1": (WHOLE.replace(b"x = 1", b"x = '\xe9'"), "encoding"),
    "a merge conflict": (b"{\n<<<<<<< mine\n=======\n>>>>>>> theirs\n}", "conflict"),
    "a conflict from the first line": (b"<<<<<<< mine\n{}\n=======\n{}\n>>>>>>> b", "conflict"),
    "half a conflict": (b'{"nbformat": 4,\n=======\n"cells": []}', "conflict"),
    "an empty object": (b"{}", "blank"),
    "a list": (b"[]", "not-a-notebook"),
    "a text": (b'"cells"', "not-a-notebook"),
    "other JSON": (b'{"version": 1, "entries": {}}', "not-a-notebook"),
    "an answer of the server": (
        b'{"name": "04.ipynb", "content": {"nbformat": 4, "cells": []}}',
        "wrapped",
    ),
    "format 3": (notebook(nbformat=3), "v3"),
    "format 5": (notebook(nbformat=5), "version"),
    "format 4 as a text": (notebook(nbformat="4"), "version"),
    "format True": (notebook(nbformat=True), "version"),
    "no format": (notebook(nbformat="drop"), "version"),
    "cells are an object": (notebook(cells={}), "no-cells"),
    "no cells": (notebook(cells="drop"), "no-cells"),
    "a cell is a text": (notebook("x = 1"), "cell"),
    "a source is a number": (notebook(cell(source=5)), "cell"),
    "a source is a list of numbers": (notebook(cell(source=["x", 1])), "cell"),
    "100,000 nested lists": (b"[" * 100_000 + b"]" * 100_000, "nesting"),
    "nested a step too deep": (
        b'{"nbformat": 4, "cells": ' + b"[" * DEEPEST + b"]" * DEEPEST + b"}",
        "nesting",
    ),
    "a number of 5,000 digits": (b'{"nbformat": ' + b"4" * 5000 + b"}", "not-json"),
    "a cell too many": (notebook(*[{}] * (MOST_CELLS + 1)), "too-many-cells"),
    "a cell of more than 1 MB": (notebook(cell(source="#" * 1_000_001)), "cell-too-big"),
}


@pytest.mark.parametrize(("content", "code"), REFUSED.values(), ids=REFUSED)
def test_an_unreadable_file_says_why(content: bytes, code: str) -> None:
    """The refusal carries its reason code and one thing to do."""
    with pytest.raises(Unreadable) as refused:
        parse(content)

    assert code == refused.value.code
    assert "\nhint: " in str(refused.value)


def test_every_refusal_is_a_row_of_the_graders_reasons() -> None:
    """`grade` has the same rows, and each cause above is one of them."""
    assert dict(FILES) == {code: REASONS[code] for code in FILES}
    assert {code for _, code in REFUSED.values()} <= set(FILES)


def test_as_many_cells_as_are_allowed_are_read() -> None:
    """The limit itself is allowed, and so is a large Markdown cell."""
    picture = cell(cell_type="markdown", source="x" * 1_500_000)

    assert MOST_CELLS == len(parse(notebook(*[{}] * (MOST_CELLS - 1), picture)))


HOSTILE: Mapping[str, tuple[bytes, bytes, bytes, str]] = {
    "empty cells": (b'{"nbformat":4,"cells":[', b"{},", b"{}]}", "too-many-cells"),
    "empty objects": (b"", b"{},", b"{}", "too-many-values"),
    "outputs": (b'{"nbformat":4,"cells":[{"o":[', b'{"":0},', b"0]}]}", "too-many-values"),
    "texts": (b'{"nbformat":4,"m":[', b'"ab",', b"0]}", "too-many-values"),
    "numbers": (b'{"nbformat":4,"m":[', b"1.5,", b"0]}", "too-many-values"),
    "one text of escapes": (b'{"nbformat":4,"cells":[],"m":"', b"\\n", b'"}', ""),
    "one wide text": ('{"nbformat":4,"cells":[],"m":"🙂'.encode(), b"a", b'"}', ""),
    "one source of lines": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":"', b"a\\n", b'"}]}', "cell-too-big"),
    "an unfinished text": (b'{"nbformat":4,"m":"', b"\\\\", b"", "cut-off"),
    "spaces": (b'{"nbformat":4,"cells":[', b" ", b"", "cut-off"),
    "a page": (b"<html>", b"{},", b"", "web-page"),
}  # fmt: skip
PROGRAM = """
import re, sys
from runstate_lab.course.saved import parse
from runstate_lab.course.reasons import Unreadable
content = open(sys.argv[1], "rb").read()
try:
    parse(content)
    code = ""
except Unreadable as refusal:
    code = refusal.code
# Not ru_maxrss: that begins with the size of the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
print(code, int(peak[1]) // 1024)
"""


# Just below the limit of values, and the rest one text that takes four bytes a letter.
FULL = b'{"nbformat":4,"cells":[],"m":[' + b'{"":0.5},' * 299_000 + '"🙂'.encode()
HOSTILE = {**HOSTILE, "as much as is allowed": (FULL, b"a", b'"]}', "")}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_of_20_mb_fills_the_memory(name: str, tmp_path: Path) -> None:
    """What would be large is counted before it is made: at most 300 MB, Python included."""
    before, part, after, code = HOSTILE[name]
    times = (LARGEST - len(before) - len(after)) // len(part)
    path = tmp_path / "04.ipynb"
    path.write_bytes(before + part * times + after)
    seen = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )
    found, _, megabytes = seen.stdout.rpartition(" ")

    assert code == found
    assert int(megabytes) <= 300


@pytest.mark.parametrize(
    "name", ["cut off in a string", "format 3", "format 5", "no format", "a login page",
             "two notebooks in one file", "zero bytes only", "Latin 1", "nothing at all",
             "a cell is a text", "cells are an object", "a merge conflict", "a cell too many"],
)  # fmt: skip
def test_check_submit_and_grade_say_the_same_about_the_same_bytes(
    name: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """What was found and what to do: one row, whoever reads it."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    stub, bad = path.read_bytes(), tmp_path / "bad.ipynb"
    bad.write_bytes(REFUSED[name][0])
    path.write_bytes(REFUSED[name][0])
    said = []
    for ask in (
        lambda: check("01", folder=tiny.root),
        lambda: submit(tiny, exercise, student="ada", to=tmp_path / "box"),
        lambda: doubt(tiny, exercise),
    ):
        with pytest.raises(CourseFault) as refused:
            ask()
        said.append((refused.value.found, refused.value.hint.partition("; or: ")[0]))
    (tmp_path / "work").mkdir()
    path.write_bytes(stub)
    job = Job(str(tiny.root), exercise.name, "ada", str(bad), "none", "none", 0)
    record = grade_one(job, tmp_path / "work")

    assert [said[0]] * 3 == said
    assert "; ".join(said[0]) == record.reason
    assert not (tmp_path / "box").exists()


def test_the_notebook_of_another_exercise_is_not_handed_in(tiny: Catalogue, tmp_path: Path) -> None:
    """`grade` would not grade it: the student hears it now."""
    exercise = tiny.exercise("01")
    path = tiny.root / exercise.notebook
    text = path.read_text(encoding="utf-8").replace("01.", "02.").replace("answer-01", "answer-02")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AskedWrongly, match="its answers are those of exercise 02"):
        submit(tiny, exercise, student="ada", to=tmp_path / "box")
