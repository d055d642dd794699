"""Killed at any moment, a recording loses nothing it had written and can be finished."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.event_log import EVENTS_FILE, Response, scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import loopback_server, suite_folder
from tests.recording.warm_process import start

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
MOMENTS = 20
SCENARIOS = ("one_a", "two_b", "three_a")
STEPS = 8


def command(data: Path, out: Path, *more: str) -> list[str]:
    where = ["--data", str(data), "--out", str(out), "--quiet"]
    which = "sweep" if "--intervals" in more else "run"
    return [which, "python:loopback_component:Loopback", *where, *more]


def lines_of(out: Path) -> int:
    log = out / EVENTS_FILE
    return log.read_bytes().count(b"\n") if log.exists() else 0


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_a_random_moment(tmp_path: Path, moment: int) -> None:
    """The moment is a number of written lines, spread over the run, plus a random instant."""
    draw = random.Random(moment)
    data = suite_folder(tmp_path / "suite", *SCENARIOS, steps=STEPS, tick=0.02)
    suite = read_suite(data)
    out = tmp_path / "out"
    last_line = 3 * len(SCENARIOS) * STEPS - 2
    after = round(moment * last_line / (MOMENTS - 1))
    with loopback_server(delay_s=0.03) as url:
        process = start(*command(data, out), cwd=HERE, SDB_TEST_URL=url)
        try:
            deadline = time.monotonic() + 120
            while lines_of(out) < after and time.monotonic() < deadline:
                assert process.exitcode is None, "it ended before it could be killed"
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.02))
            # What is on disk at this instant must be there after the kill.
            seen = (out / EVENTS_FILE).read_bytes() if (out / EVENTS_FILE).exists() else b""
        finally:
            process.kill()
            process.join(60)
        finished_first = process.exitcode == 0

        answered: list[Response] = []
        left = b""
        if (out / EVENTS_FILE).exists():
            left = (out / EVENTS_FILE).read_bytes()
            answered = [e for e in scan(out / EVENTS_FILE).events if isinstance(e, Response)]
        assert left.startswith(seen)
        assert len(answered) == left.count(b'{"kind":"response"')
        if not finished_first:
            assert not (out / RUN_FILE).exists() or (
                json.loads((out / RUN_FILE).read_text())["status"] in {"running", "complete"}
            )
            if not _complete(out):
                with pytest.raises(InputError, match=r"incomplete|no run\.json|no such folder"):
                    read_recording(out, suite)

        resumed = sdb(*command(data, out, "--resume"), cwd=HERE, SDB_TEST_URL=url)
    assert resumed.returncode == 0, resumed.stderr
    recording = read_recording(out, suite)
    assert {e: len(x.responses) for e, x in recording.episodes.items()} == dict.fromkeys(
        SCENARIOS, STEPS
    )
    # Every line written before the kill is still somewhere in the folder. A log in which nothing was
    # answered yet holds nothing anybody recorded: the pass begins it anew.
    kept = b"".join(path.read_bytes() for path in sorted(out.glob("events*.jsonl")))
    if answered:
        for line in left.splitlines(True):
            assert line in kept


@pytest.mark.parametrize("after", [40, 230, 400])
def test_a_sweep_killed_in_the_middle_is_finished(tmp_path: Path, after: int) -> None:
    """Six recordings of three scenarios, two of them replicas made at once: 432 lines in all."""
    data = suite_folder(tmp_path / "suite", *SCENARIOS, steps=STEPS, tick=0.02)
    out, sweep = tmp_path / "out", ("--intervals", "0.2,0.1", "--streams", "3,6")
    with loopback_server(delay_s=0.03) as url:
        process = start(*command(data, out, *sweep), cwd=HERE, SDB_TEST_URL=url)
        try:
            deadline = time.monotonic() + 120
            while sum(lines_of(p.parent) for p in out.rglob(EVENTS_FILE)) < after:
                assert process.exitcode is None, "it ended before it could be killed"
                assert time.monotonic() < deadline
                time.sleep(0.002)
        finally:
            process.kill()
            process.join(60)
        written = {p.parent: p.read_bytes() for p in out.rglob(EVENTS_FILE)}
        again = command(data, out, *sweep, "--resume")
        resumed = start(*again, cwd=HERE, errors=tmp_path / "errors", SDB_TEST_URL=url)
        resumed.join(300)  # apart from the server, whose thread would cost it time
    assert resumed.exitcode == 0, (tmp_path / "errors").read_text()
    folders = sorted(p.parent for p in out.rglob(RUN_FILE))
    assert len(folders) == 6
    for folder in folders:
        assert len(read_recording(folder, read_suite(data)).episodes) == len(SCENARIOS)
    for folder, lines in written.items():
        kept = b"".join(p.read_bytes() for p in sorted(folder.glob("events*.jsonl")))
        if b'"kind":"response"' in lines:
            assert all(line in kept for line in lines.splitlines(True))


def _complete(out: Path) -> bool:
    run = out / RUN_FILE
    return run.exists() and bool(json.loads(run.read_text())["status"] == "complete")


def test_a_second_interruption_ends_it_at_once(tmp_path: Path) -> None:
    """A component that will not close cannot hold the command."""
    (tmp_path / "stubborn.py").write_text(
        "import asyncio, pathlib\n"
        "class Stubborn:\n"
        "    async def answer(self, request):\n"
        "        await asyncio.sleep(0.01)\n"
        "        return dict(request.state['hint'])\n"
        "    async def close(self):\n"
        "        pathlib.Path('closing').touch()\n"
        "        await asyncio.sleep(3600)\n"
    )
    data = suite_folder(tmp_path / "suite", steps=2000, tick=0.01)
    out = tmp_path / "out"
    where = ["--data", str(data), "--out", str(out), "--quiet"]
    sdb_run = [sys.executable, "-m", "streamdecisionbench.cli.main", "run"]
    process = subprocess.Popen([*sdb_run, "python:stubborn:Stubborn", *where], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 120
        while lines_of(out) < 20 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        while not (tmp_path / "closing").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
    with pytest.raises(InputError, match="incomplete"):
        read_recording(out)
