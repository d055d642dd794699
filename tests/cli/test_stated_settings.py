"""What the command line states is in the record, and commands that read the record use it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.recording.run_file import RUN_FILE
from tests.cli.command import sdb
from tests.recording.recorder_kit import suite_folder

FAILING = """
from streamdecisionbench.components.contract import Fatal

class Own:
    def __init__(self, options):
        pass
    def answer(self, request):
        if request.state["{clock}"] == 3 and not __import__("pathlib").Path("go").exists():
            raise Fatal("made_up", "not now")
        return {answer}
"""


def own(folder: Path, name: str, clock: str, answer: str) -> str:
    text = FAILING.replace("{clock}", clock).replace("{answer}", answer)
    (folder / f"{name}.py").write_text(text)
    return f"python:{name}:Own"


def record_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / RUN_FILE).read_text())
    return found


def test_the_effort_is_recorded_and_older_records_are_resumed(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", "one_a")
    who = own(tmp_path, "effortful", "clock", 'dict(request.state["hint"])')
    command = ["run", who, "--data", data, "--out", "out", "--clock", "virtual", "--effort", "low"]
    assert sdb(*command, cwd=tmp_path).returncode == 2
    run = record_of(tmp_path / "out")
    assert run["config"]["effort"] == run["config"]["settings"]["effort"] == "low"
    other = sdb(*command[:-1], "high", "--resume", cwd=tmp_path)
    assert other.returncode == 2
    assert "effort was low, now high" in other.stderr.replace('"', "")
    run["config"]["effort"] = None  # as older versions wrote it
    (tmp_path / "out" / RUN_FILE).write_text(json.dumps(run))
    other = sdb(*command[:-1], "high", "--resume", cwd=tmp_path)
    assert other.returncode == 2
    (tmp_path / "go").touch()
    assert sdb(*command, "--resume", cwd=tmp_path).returncode == 0
    assert record_of(tmp_path / "out")["config"]["effort"] == "low"


def test_choose_uses_what_an_hour_was_stated_to_cost(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", "one_a", "two_b")
    common = ("--data", data, "--clock", "virtual", "--quiet")
    for name, hourly in (("cheap", "2.5"), ("rich", "40")):
        (tmp_path / "server.toml").write_text(f"hourly_usd = {hourly}\n")
        facts = ("--server", tmp_path / "server.toml")
        done = sdb("run", "baseline:first-option", *common, "--out", tmp_path / name, *facts)
        assert done.returncode == 0, done.stderr
    runs = (tmp_path / "cheap", tmp_path / "rich", "--data", data, "--interval", "0.06")
    done = sdb("choose", *runs, "--no-pairs", "--json")
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)["result"]["best"]
    assert (best["name"], best["per_hour"]) == ("cheap", 2.5)
    assert "by the stated price of an hour: 2.50 USD an hour" in re.sub(
        r"\s+", " ", sdb("choose", *runs, "--no-pairs").stdout
    )
    other = sdb("choose", *runs[:-1], "0.12", "--no-pairs", "--json")  # an hour costs the same
    assert json.loads(other.stdout)["result"]["best"]["per_hour"] == 2.5
    assert sdb("choose", *runs, "--budget", "3").returncode == 0
    refused = sdb("choose", *runs, "--budget", "2")
    assert refused.returncode == 2
    assert "nothing is within the budget" in refused.stderr


RESTLESS = '''
import os
import gymnasium
import numpy as np

class Restless(gymnasium.Env):
    """Shows another number every time it is opened."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def _see(self):
        return np.array([os.urandom(1)[0] / 255], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._see(), {}

    def step(self, action):
        return self._see(), 0.0, False, False, {}

gymnasium.register(id="Restless-v0", entry_point=Restless)

def right(observation):
    return int(observation[0] > 0.5)
'''


def test_an_environment_that_cannot_be_reproduced_cannot_be_resumed(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    (tmp_path / "restless.py").write_text(RESTLESS)
    (tmp_path / "quitter.py").write_text(
        "import restless\nfrom streamdecisionbench.components.contract import Fatal\n\n"
        "class Own:\n    calls = 0\n    def __init__(self, options):\n        pass\n"
        "    def answer(self, request):\n        Own.calls += 1\n"
        "        if Own.calls == 4:\n            raise Fatal('made_up', 'not now')\n"
        "        return {'action': next(iter(request.questions['action']['criteria']))}\n"
    )
    command = [
        "world", "run", "gym:restless:Restless-v0", "python:quitter:Own", "--steps", "6", "--reference",
        "python:restless:right", "--clock", "virtual", "--out", "out",
    ]  # fmt: skip
    assert "not now" in sdb(*command, cwd=tmp_path).stderr
    refused = sdb(*command, "--resume", cwd=tmp_path)
    assert refused.returncode == 2
    words = re.sub(r"\s+", " ", refused.stderr)
    assert "showed other states for the same seeds" in words
    assert "fix: record into a fresh --out folder" in words


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_run_with_watch_leaves_no_process_behind_when_it_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "streamdecisionbench.cli.main", "run", "simulated:jev", "--scenarios",
         "support_a", "--out", str(tmp_path / "run"), "--quiet", "--watch"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        assert "watching on" in process.stderr.readline()
        mine = str(tmp_path / "run").encode()
        pids = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if mine in _content(path) and int(path.parent.name) != process.pid
        ]
        assert pids
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        deadline = time.monotonic() + 60
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [pid for pid in pids if alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left
    finally:
        process.kill()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
