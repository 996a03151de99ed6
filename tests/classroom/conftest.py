"""What the class handed in is material, never tests."""

from __future__ import annotations

collect_ignore_glob = ["submissions/*", "attacks.py", "make.py", "naive.py"]
