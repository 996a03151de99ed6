"""The set-up of the tests themselves: a skip is told, and is a failure where none is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = 'import pytest\n\ndef test_it():\n    pytest.skip("no Chromium on this machine")\n'
WHOLE_FILE = 'import pytest\n\npytest.skip("nothing here", allow_module_level=True)\n'


def run(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """pytest on one file, with the project's conftest beside it."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    kept = {
        key: value for key, value in os.environ.items() if key not in ("CI", "RUNSTATE_NO_SKIP")
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "test_it.py"],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_says_why(tmp_path: Path) -> None:
    """On a reader's machine it is no failure, but a plain sentence."""
    seen = run(tmp_path, SKIPPED)

    assert 0 == seen.returncode
    assert "no Chromium on this machine" in seen.stdout


@pytest.mark.parametrize("text", [SKIPPED, WHOLE_FILE], ids=["test", "file"])
@pytest.mark.parametrize("variable", ["CI", "RUNSTATE_NO_SKIP"])
def test_where_no_skip_is_allowed_it_is_a_failure(text: str, variable: str, tmp_path: Path) -> None:
    """One test or a whole file: nothing is left out unseen."""
    seen = run(tmp_path, text, **{variable: "true"})

    assert seen.returncode not in (0, 5)
    assert "no skip is allowed here" in seen.stdout
