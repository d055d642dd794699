"""The component in the README works as the README says: about half right, and floors near zero."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.command import sdb
from tests.docs.markdown import ROOT, blocks


def test_the_component_of_the_readme_scores_what_the_readme_says(tmp_path: Path) -> None:
    readme = ROOT / "docs" / "start" / "score-a-model.md"
    (code,) = [b.text for b in blocks(readme) if b.text.startswith("# my_rules.py")]
    (command,) = [
        line.split()[1:]
        for block in blocks(readme)
        for line in block.text.splitlines()
        if line.startswith("sdb run python:my_rules") and line.endswith("runs/mine")
    ]
    (tmp_path / "my_rules.py").write_text(code)
    done = sdb(*command, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = re.search(r'"score: AUC ([\d.]+) %"', readme.read_text())
    assert told is not None
    score = json.loads(sdb("score", tmp_path / "runs" / "mine", "--json").stdout)
    # Latencies of rules are milliseconds: they move the first digit after the point at most by one.
    assert abs(100 * score["recordings"][0]["overall"]["untimed"] - float(told[1])) < 0.15


def test_answers_without_rules_score_next_to_nothing(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "connect-a-model.md"
    (code,) = [b.text for b in blocks(page) if b.text.startswith("# my_rules.py")]
    (tmp_path / "my_rules.py").write_text(code)
    command = ("run", "python:my_rules:Decider", "--clock", "virtual", "--quiet", "--out", "mine")
    done = sdb(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    score = json.loads(sdb("score", tmp_path / "mine", "--json").stdout)
    assert "always *wait* scores 0 to 3 %" in page.read_text()
    assert score["recordings"][0]["overall"]["untimed"] <= 0.03
