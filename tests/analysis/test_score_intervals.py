"""A score's own intervals are those of `intervals`, and say what was drawn."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import pytest

from streamdecisionbench.analysis.bootstrap import METRICS, intervals, score_intervals
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("sure")
    found = {}
    assert sdb(
        "suite", "generate", "--seed", "5", "--families", "procedural_coaching", "--per-family", "5",
        "--steps", "30", "--changes", "11", "--out", base / "five",
    ).returncode == 0  # fmt: skip
    for name, more in (("v1", ()), ("five", ("--data", base / "five"))):
        found[name] = base / f"run-{name}"
        done = sdb(
            "run", "simulated:jev", "--clock", "virtual", "--quiet", "--out", found[name], *more
        )
        assert done.returncode == 0, done.stderr
    found["suite"] = base / "five"
    return found


@pytest.mark.parametrize("name", ["v1", "five"])
def test_the_command_prints_what_the_bootstrap_finds(name: str, folders: dict[str, Path]) -> None:
    more = ("--data", folders["suite"]) if name == "five" else ()
    done = sdb("score", folders[name], "--json", *more)
    (entry,) = json.loads(done.stdout)["recordings"]
    suite = read_suite(folders["suite"]) if name == "five" else None
    rated = score(read_recording(folders[name], suite), suite)
    own = intervals({rated.name: rated.parts}).recordings[rated.name]
    for metric in METRICS:
        low, high = entry["interval_95"][metric]
        assert (low, high) == (own[metric].low, own[metric].high)
        assert low <= own[metric].value <= high
        expected = sqrt(2) * own[metric].detectable(0.95)
        assert entry["detectable"][metric] == pytest.approx(expected)
    drawn = "scenarios+blocks" if name == "five" else "blocks"
    assert f"bootstrap:{drawn} block:10" in entry["interval_signature"]


def test_differences_name_the_smallest_that_would_show(folders: dict[str, Path]) -> None:
    rated = score_intervals(score(read_recording(folders["v1"])))
    assert 0 < rated.detectable("log_auc") < 0.5
    parts = score(read_recording(folders["v1"])).parts
    (gap,) = intervals({"one": parts, "two": parts}).differences
    assert gap.detectable["log_auc"] == 0
