"""The whole suite in real time, over HTTP, against `sdb serve`: complete, and scored from its log alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb

INTERVAL = 0.1
BRISK = {
    "name": "brisk",
    "title": "a service half a tick late, so that in-force accuracy is far from both ends",
    "untimed": 80,
    "latency": {"floor_s": 0.03, "p50_s": 0.05, "p95_s": 0.1, "max_s": 0.3},
}

pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("typesafe_sdk", reason="the System One client is not installed")
    profile = tmp_path_factory.mktemp("profile") / "brisk.json"
    profile.write_text(json.dumps(BRISK))
    serve = ["serve", "--port", "0", "--profile", str(profile)]
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "streamdecisionbench.cli.main", *serve],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        assert process.stdout
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield found.group()
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def recording(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pass") / "brisk"
    done = sdb(
        "run", "systemone:brisk", "--base-url", server, "--interval", str(INTERVAL), "--out", out, "--quiet",
        TYPESAFE_API_KEY="test-key-for-loopback",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def test_it_is_complete(recording: Path) -> None:
    found = read_recording(recording, read_suite(builtin_suite_path()))
    responses = [r for e in found.episodes.values() for r in e.responses]
    assert len(found.episodes) == 8
    assert len(responses) == 480
    assert all(r.ok and r.probabilities and r.confidence for r in responses)
    assert found.simulated
    assert found.served_models == ("simulated:brisk",)


def test_replay_and_wall_clock_agree(recording: Path) -> None:
    (entry,) = json.loads(sdb("score", recording, "--interval", str(INTERVAL), "--json").stdout)[
        "recordings"
    ]
    replay, physical = entry["overall"], entry["overall"]["physical"]
    # Between nothing and everything in force, where being late by little shows most.
    assert 0.3 < physical["in_force"] < 0.75
    assert replay["in_force"] == pytest.approx(physical["in_force"], abs=0.005)
    assert "simulated:yes" in entry["signature"]


def test_a_copy_of_the_log_scores_to_the_same_bytes(recording: Path, tmp_path: Path) -> None:
    copy = tmp_path / "brisk"
    shutil.copytree(recording, copy)
    one, two = sdb("score", recording, "--json"), sdb("score", copy, "--json")
    assert one.returncode == 0
    assert one.stdout == two.stdout
    assert sdb("score", recording, "--json").stdout == one.stdout
