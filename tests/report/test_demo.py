"""`sdb demo`: a real server, real recordings in real time, a real report."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.report import demo
from streamdecisionbench.report.demo import (
    COMPONENTS,
    MARKER,
    REAL,
    RecordingProcess,
    prepare,
    recorder_line,
)
from streamdecisionbench.suite.suite_files import make_suite, read_suite, write_suite
from tests.report import kit

pytestmark = pytest.mark.realtime


def _demo(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "streamdecisionbench.cli.main", "demo", *map(str, arguments)],
        capture_output=True, text=True, timeout=300, check=False, cwd=cwd,
        env={**os.environ, "OPENAI_API_KEY": "sk-secret-of-the-user"},
    )  # fmt: skip


def test_from_a_server_to_a_report(tmp_path: Path) -> None:
    write_suite(make_suite([kit.suite().scenarios["support_a"]], name="short"), tmp_path / "suite")
    command = ("--data", tmp_path / "suite", "--interval", "0.05", "--formats", "svg")
    # Files of the current folder must not run in the processes it starts.
    for name in ("uvloop.py", "streamdecisionbench.py", "httpx2.py"):
        (tmp_path / name).write_text("raise SystemExit('planted')\n")
    done = _demo(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "demo"
    assert "Simulated: answers and latencies of jev, terra-none, astra-low" in done.stdout
    assert str(Path("demo") / "report" / "index.html") in done.stdout
    for name, _, _ in COMPONENTS:
        assert f"{name:<16} done: {kit.STEPS} answers" in done.stderr
    suite = read_suite(tmp_path / "suite")
    for name, _, served in COMPONENTS:
        recording = read_recording(out / "recordings" / name, suite)
        assert recording.simulated == served
        assert not recording.virtual_clock
        assert bool(recording.config.get("base_url_host")) == served
    if demo.is_installed():
        real = read_recording(out / "recordings" / REAL, suite)
        assert not real.simulated
        assert real.served_models[0].startswith("sparrow-")
        assert "a trained decision model" in done.stdout
    else:
        assert "without a real model" in done.stderr
    pairs = json.loads((out / "report" / "compose.json").read_text())["pairs"]
    assert {p["rule"] for p in pairs} == {"freshest", "lag_one", "late_override"}
    for path in out.rglob("*"):
        assert not path.is_file() or b"sk-secret" not in path.read_bytes()

    (out / "notes.txt").write_text("mine")
    before = (out / "recordings" / "jev" / "run.json").read_bytes()
    again = _demo(*command, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "recordings" / "jev" / "run.json").read_bytes() != before


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "mine").write_text("keep")
    with pytest.raises(InputError, match="not empty"):
        prepare(tmp_path)
    assert (tmp_path / "recordings" / "mine").read_text() == "keep"


def test_only_its_own_parts_are_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("keep")
    out = tmp_path / "demo"
    prepare(out)
    (out / "mine.txt").write_text("keep")
    (out / "report").symlink_to(elsewhere, target_is_directory=True)
    prepare(out)
    assert {p.name for p in out.iterdir()} == {MARKER, "mine.txt", "recordings"}
    assert (elsewhere / "kept").read_text() == "keep"


def test_a_failed_recording_says_why(tmp_path: Path) -> None:
    done = _demo("--data", tmp_path / "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "no such file" in done.stderr
    assert "Traceback" not in done.stderr


def _of_session(leader: int) -> list[int]:
    """Processes of the session that are no zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(words[3]) == leader and words[0] != "Z":
                    found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_killed_demonstration_leaves_no_process(tmp_path: Path) -> None:
    write_suite(kit.suite(), tmp_path / "suite")
    command = [sys.executable, "-P", "-m", "streamdecisionbench.cli.main", "demo"]
    with subprocess.Popen(
        [*command, "--data", str(tmp_path / "suite"), "--interval", "1"],
        cwd=tmp_path, text=True, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("2/3"):
                break
        end = time.monotonic() + 60
        running = tmp_path / "demo" / "recordings" / "jev" / "events.jsonl"
        while not running.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert len(_of_session(process.pid)) > 8  # servers, recorders, and what holds them
        process.kill()
    end = time.monotonic() + 60
    while _of_session(process.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _of_session(process.pid)


def test_a_line_per_component() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], text=True)
    process.wait(timeout=60)
    lane = RecordingProcess("jev", process, Path("jev.err"))
    assert recorder_line(lane).split() == ["jev", "starting"]
    lane.facts = {"scenario": "support_a", "step": 3, "steps": 60, "responses": 2, "in_force": 0.5}
    assert "step 3/60" in recorder_line(lane)
    assert "in force 50 %" in recorder_line(lane)


def test_without_the_real_model_it_goes_on_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "is_installed", lambda: False)
    with demo._real_model(tmp_path) as address:
        assert address is None
    assert "pip install sparrow-decider" in capsys.readouterr().err


def test_a_real_model_that_does_not_start_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recordings").mkdir()
    monkeypatch.setattr(demo, "is_installed", lambda: True)
    monkeypatch.setattr(demo.sys, "executable", "/bin/false")
    with demo._real_model(tmp_path) as address:
        assert address is None
    assert "sparrow-decider did not start" in capsys.readouterr().err
