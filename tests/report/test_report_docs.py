"""docs/report.md: every command and every example runs as printed, and every table is listed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    commands = 0
    for kind, block in re.findall(r"```(console|python)\n(.*?)```", text, re.DOTALL):
        if kind == "python":
            assert "(sim.)" in _run([sys.executable, "-c", block], tmp_path).stdout
            continue
        for line in block.splitlines():
            words = shlex.split(line.removeprefix("$ "))
            assert words[0] == "sdb"
            _run([sys.executable, "-m", "streamdecisionbench.cli.main", *words[1:]], tmp_path)
            commands += 1
    assert commands == 5
    made = {p.stem for p in (tmp_path / "report" / "tables").glob("*.csv")}
    assert made <= set(re.findall(r"`(\w+)`", text))
    drawn = {p.stem for p in (tmp_path / "report" / "figures").glob("*.svg")}
    assert len(drawn) == 8
    assert drawn <= set(re.findall(r"`(\w+)`", text))
    heading = re.search(r"Setting & IDE .*\\midrule", text)
    assert heading
    assert heading[0] in (tmp_path / "report" / "tables" / "main.tex").read_text()


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, (command, done.stderr)
    return done
