"""The workflow in the docs: valid by the published schema, and its commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.command import sdb
from tests.docs.markdown import ROOT

WORKFLOWS = sorted((ROOT / "docs" / "examples").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_linter_accepts_it(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", path],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_its_options_exist(path: Path) -> None:
    commands = re.findall(r"run: sdb (.+)", path.read_text())
    assert commands
    for command in commands:
        name, *words = shlex.split(command)
        known = sdb(name, "--help").stdout
        assert all(word in known for word in words if word.startswith("--"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_pull_request_brings_no_yardstick_of_its_own(path: Path) -> None:
    """What the gate compares with comes from the base branch, checked out after the change's code ran."""
    steps = list(yaml.safe_load(path.read_text())["jobs"]["gate"]["steps"])
    runs = [str(step.get("run", "")) for step in steps]
    (gate,) = [k for k, run in enumerate(runs) if run.startswith("sdb gate")]
    words = shlex.split(runs[gate])
    folder = words[words.index("--baseline") + 1].partition("/")[0]
    (base,) = [k for k, step in enumerate(steps) if step.get("with", {}).get("path") == folder]
    assert steps[base]["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    ours = [k for k, run in enumerate(runs) if re.match(r"pytest|sdb run", run)]
    assert ours
    assert max(ours) < base < gate
