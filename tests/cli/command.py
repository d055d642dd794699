"""Runs the real command in a process of its own, as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def sdb(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`sdb …` with a terminal of 80 columns."""
    return subprocess.run(
        [sys.executable, "-m", "streamdecisionbench.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "80", **environment},
    )
