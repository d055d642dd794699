"""docs/analyses.md: every command and every example runs as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "analyses.md"


def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    blocks = re.findall(
        r"```(console|json|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S
    )
    commands = 0
    for kind, text in blocks:
        if kind == "json":
            (tmp_path / "prices.json").write_text(text, encoding="utf-8")
        elif kind == "python":
            done = _run([sys.executable, "-c", text], tmp_path)
            assert "terra-none" in done.stdout
        else:
            for line in text.splitlines():
                words = shlex.split(line.removeprefix("$ "))
                assert words[0] == "sdb"
                done = _run(
                    [sys.executable, "-m", "streamdecisionbench.cli.main", *words[1:]], tmp_path
                )
                assert done.stdout, line
                commands += 1
    assert commands >= 20


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, (command, done.stderr)
    return done
