"""Live against replay in real time: every kind of policy, on two simulated servers over HTTP."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.policy_score import live_policy
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

pytestmark = pytest.mark.slow

SDB = [sys.executable, "-m", "streamdecisionbench.cli.main"]
HALF_A_POINT = 0.005
PAIR = "[cascade]\ncomponents = ['fast', 'slow']\n"
KINDS = {
    "gate": "[gate]\nconfidence = 0.6",
    "expire": "[expire]\nafter_s = 0.6",
    "debounce": "[debounce]\nagree = 2",
    "one-at-a-time": "[dispatch]\nmode = 'one-at-a-time'",
    "latest": "[dispatch]\nmode = 'latest'\nlimit = 1",
    "changed": "[dispatch]\nmode = 'changed'\nfields = ['transcript']",
    "always": PAIR,
    "when-unsure": PAIR + "ask = 'when-unsure'\nbelow = 0.7",
}


@pytest.mark.realtime
def test_live_is_within_half_a_point_of_its_replay(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    servers = [
        subprocess.Popen([*SDB, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        urls = []
        for server in servers:
            assert server.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert found is not None
            urls.append(found[0])
        runs = {}
        for kind, text in KINDS.items():
            (tmp_path / f"{kind}.toml").write_text(text)
            who = ["systemone:jev", "--base-url", urls[0]]
            if text.startswith(PAIR):
                who = ["--member", "fast=systemone:jev", "--member-base-url", f"fast={urls[0]}"]
                who += ["--member", "slow=systemone:djev", "--member-base-url", f"slow={urls[1]}"]
            runs[kind] = subprocess.Popen(
                [*SDB, "run", *who, "--policy", str(tmp_path / f"{kind}.toml"), "--yes", "--quiet",
                 "--interval", "0.5", "--scenarios", "support_a", "--out", str(tmp_path / kind)],
                stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        for run in runs.values():
            _, said = run.communicate(timeout=240)
            assert run.returncode == 0, said
    finally:
        for server in servers:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
    suite = read_suite(builtin_suite_path())
    gaps = {}
    for kind in KINDS:
        live = live_policy(read_recording(tmp_path / kind, suite), suite)
        assert live.why_not == "", f"{kind}: {live.why_not}"
        gaps[kind] = live.gap
    print(gaps)
    assert all(gap is not None and abs(gap) < HALF_A_POINT for gap in gaps.values()), gaps
