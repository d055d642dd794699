"""The decision log: what it says, what it survives, and that it says what the counters say."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import CLASSES, DecisionLog, Meter, decision_log
from tests.cli.command import sdb
from tests.meter import plain, written
from tests.meter.test_counters import FakeClock, drive, ticking

SERVICE = Path(__file__).with_name("service.py")


def wanted_seconds(folder: Path, component: str = "applied") -> dict[str, float]:
    total = dict.fromkeys(CLASSES, 0.0)
    for states in written.streams(folder).values():
        if states[0]["component"] == component:
            events = written.happened(states)
            for name, value in plain.seconds(events, events[-1].at, closed=True).items():
                total[name] += value
    return total


def test_rows_of_a_session(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("recorder", clock=clock)
    log = DecisionLog(meter, tmp_path, states=True)
    with meter.stream("call-7", model="jev") as call:
        a = call.publish({"said": "Größe"})
        clock.now = 0.5
        call.answer(a, {"b": 1, "a": "x"}, confidence=0.75, cost=0.001)
        clock.now = 2.0
        b = call.publish({"said": "no"}, reference="hold")
        log.flush()
        call.judge(a, {"a": "x", "b": 1})
        clock.now = 3.0
        call.shadow("candidate", b, "hold")
        clock.now = 4.0
    meter.close()
    rows = list(written.rows(tmp_path).values())
    one, two, shadow = rows
    assert one["stream"].startswith("call-7@")
    assert one["session"] == "call-7"
    assert one["model"] == "jev"
    assert (one["step"], two["step"]) == (0, 1)
    assert one["decision"] == one["reference"] == '{"a":"x","b":1}'
    assert (one["published_at"], one["answered_at"], one["applied_at"]) == (0.0, 0.5, 0.5)
    assert (one["confidence"], one["cost"]) == (0.75, 0.001)
    assert one["state"] == '{"said":"Größe"}'
    assert two["ended_at"] == 4.0
    assert "decision" not in two
    assert shadow["stream"] == one["stream"] + "~candidate"
    assert (shadow["component"], shadow["decision"], shadow["reference"]) == (
        "candidate", "hold", "hold"
    )  # fmt: skip
    assert meter.errors == {}
    assert meter.lost_rows == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_counters_are_what_the_log_says(seed: int, tmp_path: Path) -> None:
    """Threads, late and missing judgments, answers out of order, many small flushes and files."""
    meter = Meter("test", clock=ticking(), shadows=("candidate",))
    DecisionLog(meter, tmp_path, flush_s=0.01, max_bytes=20_000, parquet=seed % 2 == 1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: drive(meter, f"call-{k % 5}", 50 * seed + k, 60), range(16)))
    meter.close()
    assert meter.lost_rows == 0
    assert len(list(tmp_path.iterdir())) > 1
    assert bool(list(tmp_path.glob("*.parquet"))) == (seed % 2 == 1)
    for component in ("applied", "candidate"):
        assert meter.seconds(component) == pytest.approx(
            wanted_seconds(tmp_path, component), rel=0, abs=1e-9
        )


def test_a_judgment_that_comes_too_late_is_not_in_the_log_either(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock, window=2)
    DecisionLog(meter, tmp_path)
    with meter.stream("call") as call:
        for k in range(6):
            clock.now = float(k)
            call.answer(call.publish(), "wait")
        assert call.judge(0, "wait") is False
        assert call.judge(4, "wait") is True
        assert call.judge(4, "hold") is False
        clock.now = 7.0
    meter.close()
    assert meter.seconds() == pytest.approx(wanted_seconds(tmp_path), rel=0, abs=1e-9)


def test_files_end_by_size_and_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter("test")
    log = DecisionLog(meter, tmp_path, flush_s=3600, max_bytes=1000, max_age_s=50)
    call = meter.stream("call")
    for _ in range(3):
        for _ in range(10):
            call.publish()
        log.flush()
    assert len(list(tmp_path.iterdir())) == 3
    call.publish()
    log.flush()
    later = time.monotonic() + 51
    monkeypatch.setattr(time, "monotonic", lambda: later)
    log.flush()
    monkeypatch.undo()
    call.publish()
    log.flush()
    assert len(list(tmp_path.iterdir())) == 5
    log.close()


def test_two_meters_and_a_restart_share_a_folder(tmp_path: Path) -> None:
    for _ in range(2):
        meters = [Meter("same"), Meter("same")]
        for meter in meters:
            DecisionLog(meter, tmp_path)
            with meter.stream("call") as call:
                call.publish(reference="wait")
            meter.close()
    assert len(written.streams(tmp_path)) == 4


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="name a folder"):
        DecisionLog(Meter("test"), tmp_path / "file" / "folder")


def test_after_its_end_rows_are_lost_and_counted(tmp_path: Path) -> None:
    meter = Meter("test")
    log = DecisionLog(meter, tmp_path)
    call = meter.stream("call")
    call.publish(reference="wait")
    log.close()
    step = call.publish(reference="wait")
    assert call.answer(step, "wait") is True
    assert meter.lost_rows == 3
    assert len(written.rows(tmp_path)) == 1


def test_a_folder_that_goes_away_costs_rows_and_nothing_else(tmp_path: Path) -> None:
    """Like an unmounted disk: flushes fail, are counted, and go on when it is back."""
    folder = tmp_path / "log"
    meter = Meter("test")
    log = DecisionLog(meter, folder, flush_s=3600)
    folder.rmdir()
    call = meter.stream("call")
    call.publish(reference="wait")
    log.flush()
    assert meter.errors == {"log": 1}
    folder.mkdir()
    call.publish(reference="hold")
    log.flush()
    call.end()
    meter.close()
    assert [row["reference"] for row in written.rows(folder).values()] == ["wait", "hold"]
    assert meter.lost_rows == 0


def test_a_file_the_system_will_not_let_grow(tmp_path: Path) -> None:
    """The system refuses writes beyond 4 kB a file; every row ends up in some file, whole."""
    program = f"""
import resource, sys
from streamdecisionbench.meter import DecisionLog, Meter
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
meter = Meter("test")
log = DecisionLog(meter, {str(tmp_path)!r}, flush_s=3600)
call = meter.stream("call")
for k in range(60):
    step = call.publish(reference="wait")
    assert call.answer(step, "wait") is True
    assert call.decision == "wait"
    log.flush()
call.end()
meter.close()
print(meter.errors, meter.lost_rows)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True
    )
    assert "'log'" in done.stdout
    assert done.stdout.strip().endswith(" 0")
    rows = list(written.rows(tmp_path).values())
    assert [row["step"] for row in rows] == list(range(60))
    assert all(row["decision"] == row["reference"] == "wait" for row in rows)
    assert all(path.stat().st_size <= 4096 for path in tmp_path.iterdir())


def test_a_full_disk(tmp_path: Path) -> None:
    """A real file system of 64 kB, filled to the last byte, emptied, and written to again."""
    disk = tmp_path / "disk"
    disk.mkdir()
    program = f"""
import os, pathlib
from streamdecisionbench.meter import DecisionLog, Meter
disk = pathlib.Path({str(disk)!r})
meter = Meter("test")
log = DecisionLog(meter, disk / "log", flush_s=3600)
call = meter.stream("call")
def work(n):
    for _ in range(n):
        step = call.publish(reference="wait")
        assert call.answer(step, "wait") is True
    log.flush()
work(10)
with open(disk / "ballast", "wb", buffering=0) as ballast:
    try:
        while True:
            ballast.write(b"x" * 1024)
    except OSError as error:
        assert error.errno == 28, error
work(100)
assert meter.errors == {{"log": 1}}, meter.errors
(disk / "ballast").unlink()
work(10)
call.end()
meter.close()
assert meter.errors == {{"log": 1}}, meter.errors
for path in sorted((disk / "log").iterdir()):
    print(path.read_text(), end="")
"""
    inside = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$1" -c "$2"'
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", inside, str(disk), sys.executable, program],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no file system of one's own here: {done.stderr.strip()[:80]}")
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line)["step"] for line in done.stdout.splitlines() if '"step"' in line]
    assert sorted(set(steps)) == list(range(120))


def killed(folder: Path, flush_s: float, seconds: float, seed: int = 0) -> list[dict[str, Any]]:
    """What a service said it had done until it was killed, `seconds` after it was ready."""
    says = folder.with_suffix(".said")  # a file: a pipe that nobody reads would stop the service
    with says.open("w") as out:
        service = subprocess.Popen(
            [sys.executable, "-u", str(SERVICE), str(folder), str(flush_s), str(seed)], stdout=out
        )
    while not says.stat().st_size:
        assert service.poll() is None
        time.sleep(0.01)
    time.sleep(seconds)
    service.send_signal(signal.SIGKILL)
    service.wait()
    _ready, *said = says.read_text().splitlines()
    return [json.loads(line) for line in said if line[-1:] == "}"]


def test_a_flush_begins_an_interval_after_the_last_one_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, waited = 100.0, []

    class Wake:
        def wait(self, seconds: float) -> bool:
            nonlocal now
            waited.append(seconds)
            now += seconds
            return len(waited) == 4

    def slow_flush() -> None:
        nonlocal now
        now += (0.3, 0.0, 2.5)[len(waited) - 1]

    log = DecisionLog(Meter("m"), tmp_path, flush_s=1.0)
    monkeypatch.setattr(decision_log, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(log, "_wake", Wake())
    monkeypatch.setattr(log, "flush", slow_flush)
    log._keep_flushing()
    assert waited == pytest.approx([1.0, 0.7, 1.0, 0.0])


@pytest.mark.realtime
def test_a_kill_loses_at_most_the_stated_interval(tmp_path: Path) -> None:
    """Twice the interval is allowed for a scheduler that lets the flushing thread wait."""
    flush_s = 0.5
    log = tmp_path / "log"
    said = killed(log, flush_s, seconds=1.3)
    killed_at = said[-1]["at"]
    states = {(row["session"], row["step"]): row for row in written.rows(log).values()}
    lost = [
        line
        for line in said
        if line["column"] not in states.get((line["session"], line["step"]), {})
    ]
    assert len(said) - len(lost) > 20
    assert min(line["at"] for line in lost) > killed_at - 2 * flush_s


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_any_moment(seed: int, tmp_path: Path) -> None:
    """What a service says it did longer ago than the flush interval is in the log, whole."""
    log = tmp_path / "log"
    said = killed(log, 0.05, 0.3 + random.Random(seed).random() * 0.7, seed)
    last_flush = said[-1]["flushed_at"]
    states = {(row["session"], row["step"]): row for row in written.rows(log).values()}
    sure = [line for line in said if line["at"] < last_flush]
    assert len(sure) > 20
    for line in sure:
        row = states[line["session"], line["step"]]
        assert row[line["column"]] == line["value"]
    for stream in written.streams(log).values():
        assert [row["step"] for row in stream] == list(range(len(stream)))
        events = written.happened(stream)
        found = plain.seconds(events, events[-1].at, closed=True)
        assert sum(found.values()) == pytest.approx(events[-1].at - events[0].at)
    scored = sdb("logs", "score", log, "--json", "--quiet")
    assert scored.returncode == 0, scored.stderr
    (group,) = json.loads(scored.stdout)["groups"]
    want = seconds_until_the_kill(log)
    assert group["seconds"] == pytest.approx(sum(want.values()))
    for name, value in want.items():
        assert group["classes"][name] == pytest.approx(value / sum(want.values()), abs=1e-9)


def seconds_until_the_kill(folder: Path) -> dict[str, float]:
    """Streams that a kill left open lasted as long as the process is known to have."""
    total = dict.fromkeys(CLASSES, 0.0)
    every = [written.happened(s) for s in written.streams(folder).values()]
    alive = max(event.at for events in every for event in events)
    for events in every:
        begun = [e for e in events if e.kind != "publish" or e.at < alive]
        for name, value in plain.seconds(begun, alive, closed=True).items():
            total[name] += value
    return total
