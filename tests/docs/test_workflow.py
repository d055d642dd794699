"""The workflow in the docs: valid by the published schema, and its commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

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
