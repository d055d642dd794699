"""The decision log: what it says, what it survives, and that it says what the counters say."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import CLASSES, DecisionLog, Meter, Stream, decision_log
from tests.cli.command import sdb
from tests.meter import plain, written
from tests.meter.test_counters import FakeClock, drive, ticking

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize("option", ["flush_s", "max_bytes", "max_age_s"])
@pytest.mark.parametrize("value", [0, -1, math.nan, None, "1"])
def test_a_log_that_could_not_be_written_is_refused_at_the_start(
    option: str, value: Any, tmp_path: Path
) -> None:
    meter = Meter("test")
    with pytest.raises(InputError, match=option):
        DecisionLog(meter, tmp_path / "log", **{option: value})
    assert meter.sinks == ()


def test_files_may_be_endless_but_flushes_come(tmp_path: Path) -> None:
    meter = Meter("test")
    with pytest.raises(InputError, match="flush_s=inf"):
        DecisionLog(meter, tmp_path, flush_s=math.inf)
    DecisionLog(meter, tmp_path, max_bytes=math.inf, max_age_s=math.inf)  # type: ignore[arg-type]
    meter.stream("call").publish()
    meter.close()
    assert len(list(tmp_path.iterdir())) == 1


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
    assert all(path.read_bytes().endswith(b"}\n") for path in tmp_path.iterdir())


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


def test_a_disk_that_stays_full_leaves_no_empty_files(tmp_path: Path) -> None:
    """A system that lets no file grow: every flush fails, is counted, and leaves nothing behind."""
    program = f"""
import resource
from streamdecisionbench.meter import DecisionLog, Meter
meter = Meter("test")
log = DecisionLog(meter, {str(tmp_path)!r}, flush_s=3600)
call = meter.stream("call")
call.publish(reference="wait")
log.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
for k in range(20):
    call.publish(reference="wait")
    log.flush()
assert meter.errors == {{"log": 20}}, meter.errors
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
call.end()
meter.close()
assert meter.lost_rows == 0
"""
    subprocess.run([sys.executable, "-B", "-c", program], check=True)
    assert all(path.stat().st_size for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 2
    assert [row["step"] for row in written.rows(tmp_path).values()] == list(range(21))


def test_a_folder_that_stays_away_does_not_make_memory_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_log, "_MOST_PENDING", 10)
    folder = tmp_path / "log"
    meter = Meter("test")
    log = DecisionLog(meter, folder, flush_s=3600)
    folder.rmdir()
    call = meter.stream("call")
    for _ in range(5):
        for _ in range(4):
            call.publish()
        log.flush()
    assert len(log._unwritten) == 10
    assert meter.lost_rows == 10
    folder.mkdir()
    meter.close()
    assert [row["step"] for row in written.rows(folder).values() if "step" in row] == list(range(10, 20))  # fmt: skip


class Synced:
    """What the system was asked to put on disk, and how long each file was then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: dict[str, int] = {}
        self.asked: list[str] = []
        fsync = os.fsync

        def noted(file: int) -> None:
            path = str(Path(f"/proc/self/fd/{file}").readlink())
            self.sizes[path] = os.fstat(file).st_size
            self.asked.append(path)
            fsync(file)

        monkeypatch.setattr(os, "fsync", noted)


@pytest.mark.parametrize("fsync", [False, True])
def test_fsync_waits_for_the_disk_at_every_flush(
    fsync: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every byte of a file, and for the folder that lists it."""
    synced = Synced(monkeypatch)
    meter = Meter("test")
    log = DecisionLog(meter, tmp_path, flush_s=3600, max_bytes=2000, fsync=fsync)
    call = meter.stream("call")
    for _ in range(20):
        call.publish(reference="wait")
        log.flush()
        on_disk = {str(path): path.stat().st_size for path in tmp_path.iterdir()}
        if fsync:
            assert str(tmp_path) in synced.asked
            assert {path: synced.sizes[path] for path in on_disk} == on_disk
    assert len(on_disk) > 1
    assert (synced.asked.count(str(tmp_path)) == len(on_disk)) == fsync
    assert bool(synced.asked) == fsync
    meter.close()


def test_with_fsync_a_parquet_file_is_on_disk_before_its_source_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    synced = Synced(monkeypatch)
    gone: list[list[str]] = []
    unlink = Path.unlink

    def noted(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".jsonl":
            gone.append(list(synced.asked))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    meter = Meter("test")
    DecisionLog(meter, tmp_path, flush_s=3600, parquet=True, fsync=True)
    with meter.stream("call") as call:
        call.publish(reference="wait")
    meter.close()
    (target,) = tmp_path.iterdir()
    ((*_, parquet, folder),) = gone
    assert (parquet, folder) == (f"{target}.part", str(tmp_path))


def test_states_are_written_as_they_were_published(tmp_path: Path) -> None:
    """A list that grows would show the future."""
    meter = Meter("test")
    DecisionLog(meter, tmp_path, flush_s=3600, states=True)
    heard: list[str] = []
    with meter.stream("call") as call:
        for word in ("my", "card", "number"):
            heard.append(word)
            call.publish(heard)
            call.answer(call.publish({"heard": heard}), heard)
    meter.close()
    rows = list(written.rows(tmp_path).values())
    assert [json.loads(row["state"]) for row in rows[::2]] == [
        ["my"], ["my", "card"], ["my", "card", "number"],
    ]  # fmt: skip
    assert [row["decision"] for row in rows[1::2]] == [row["state"] for row in rows[::2]]


def test_an_answer_that_came_too_late_was_not_applied(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        older, newer = call.publish(reference="a"), call.publish(reference="b")
        clock.now = 1.0
        call.answer(newer, "b")
        clock.now = 2.0
        call.answer(older, "a")
        clock.now = 4.0
    meter.close()
    one, two = written.rows(tmp_path).values()
    assert (one["answered_at"], one["decision"], "applied_at" in one) == (2.0, "a", False)
    assert (two["answered_at"], two["applied_at"]) == (1.0, 1.0)


@pytest.mark.parametrize("parquet", [False, True])
def test_streams_of_one_moment_stay_apart(parquet: bool, tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    DecisionLog(meter, tmp_path, flush_s=3600, parquet=parquet)
    calls = [meter.stream(f"call-{k}") for k in range(3)]
    for k, call in enumerate(calls):
        call.answer(call.publish(reference=str(k)), str(k))
    clock.now = 1.0
    meter.close()
    rows = written.rows(tmp_path).values()
    assert sorted((row["session"], row["decision"], row["reference"]) for row in rows) == [
        (f"call-{k}", str(k), str(k)) for k in range(3)
    ]


def test_states_stay_here_unless_asked_for(tmp_path: Path) -> None:
    meter = Meter("test")
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        call.answer(call.publish({"said": "a card number"}, reference="wait"), "wait", cost=0.0)
    meter.close()
    (row,) = written.rows(tmp_path).values()
    assert "state" not in row
    assert row["cost"] == 0.0
    assert not any(b"card number" in path.read_bytes() for path in tmp_path.iterdir())


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("says nothing")


BAD: dict[str, Callable[[Meter, FakeClock], object]] = {
    "publish": lambda meter, clock: ended(meter).publish(),
    "state": lambda meter, clock: meter.stream("bad").publish(object()),
    "names": lambda meter, clock: meter.stream(Mute()).publish(),  # type: ignore[arg-type]
    "labels": lambda meter, clock: meter.stream("bad", model=Mute()).publish(),  # type: ignore[arg-type]
    "answer": lambda meter, clock: meter.stream("bad").answer([], "wait"),  # type: ignore[arg-type]
    "confidence": lambda meter, clock: answered(meter, confidence=math.nan),
    "cost": lambda meter, clock: answered(meter, cost=-1.0),
    "judge": lambda meter, clock: meter.stream("bad").judge(0, object()),
    "shadow": lambda meter, clock: meter.stream("bad").shadow([], 0, "wait"),  # type: ignore[arg-type]
    "clock": lambda meter, clock: at_no_time(meter, clock),  # noqa: PLW0108 - defined below
}


def ended(meter: Meter) -> Stream:
    stream = meter.stream("bad")
    stream.end()
    return stream


def answered(meter: Meter, **numbers: float) -> bool:
    stream = meter.stream("bad")
    return stream.answer(stream.publish(), "wait", **numbers)


def at_no_time(meter: Meter, clock: FakeClock) -> None:
    for reading in (None, math.inf, math.nan, 1e300):
        before, clock.now = clock.now, reading  # type: ignore[assignment]
        meter.stream("bad").publish()
        clock.now = before


@pytest.mark.parametrize("where", BAD)
def test_one_bad_event_costs_that_event_alone(where: str, tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    log = DecisionLog(meter, tmp_path, flush_s=3600, states=True)
    calls = [meter.stream(f"call-{k}") for k in range(3)]
    for call in calls:
        call.answer(call.publish("first", reference="wait"), "wait")
    BAD[where](meter, clock)
    clock.now += 1.0
    for call in calls:
        call.publish("second", reference="wait")
    log.flush()
    clock.now += 1.0
    meter.close()
    assert meter.errors == {where: 4 if where == "clock" else 1}
    assert meter.lost_rows == 0
    streams = {rows[0].get("session"): rows for rows in written.streams(tmp_path).values()}
    for k in range(3):
        assert [row["state"] for row in streams[f"call-{k}"]] == ["first", "second"]
        assert all(row["reference"] == "wait" for row in streams[f"call-{k}"])
    assert meter.seconds()["current_correct"] == pytest.approx(6.0)


def test_text_that_no_file_takes_is_made_harmless(tmp_path: Path) -> None:
    """Halves of surrogate pairs come from cut strings; what is counted is what is written."""
    clock = FakeClock()
    meter = Meter("m\ud800", clock=clock, by=("model",))
    DecisionLog(meter, tmp_path, flush_s=3600, states=True)
    with meter.stream("call\ud800", model="jev\ud800") as call:
        step = call.publish({"said": "\ud800"}, reference="wait\ud800")
        call.answer(step, "wait\udfff")
        call.shadow("s\udfff", step, {"\ud800": 1})
        clock.now += 1.0
    meter.close()
    assert meter.errors == {}
    assert meter.seconds(model="jev\ufffd")["current_correct"] == 1.0
    one, two = written.rows(tmp_path).values()
    assert (one["session"], one["model"], one["meter"]) == ("call\ufffd", "jev\ufffd", "m\ufffd")
    assert (one["decision"], one["reference"]) == ("wait\ufffd", "wait\ufffd")
    assert one["state"] == '{"said":"\ufffd"}'
    assert (two["component"], two["decision"]) == ("s\ufffd", '{"\ufffd":1}')


def test_what_begins_like_json_and_is_none_is_written_as_text(tmp_path: Path) -> None:
    """A reader would take it for JSON, and refuse the log."""
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        call.answer(call.publish(reference='{"torn'), '{"torn')
        clock.now += 1.0
    meter.close()
    (row,) = written.rows(tmp_path).values()
    assert row["decision"] == row["reference"] == 'not JSON: {"torn'
    assert sdb("logs", "score", tmp_path).returncode == 0


def test_wall_time_is_when_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the microsecond, before and after the epoch."""
    for now, want in (
        (1_700_000_000.25, "2023-11-14T22:13:20.250000Z"),
        (-1.25, "1969-12-31T23:59:58.750000Z"),
    ):
        clock = FakeClock()
        meter = Meter("test", clock=clock)
        monkeypatch.setattr(time, "time", lambda now=now: now)
        folder = tmp_path / str(now)
        DecisionLog(meter, folder, flush_s=3600)
        with meter.stream("call") as call:
            call.publish()
            clock.now = 1.0
        monkeypatch.undo()
        meter.close()
        (row,) = written.rows(folder).values()
        assert row["wall_time"] == want


FORKED = """
import json, os, sys, time
from streamdecisionbench.meter import DecisionLog, Meter

folder, when, kill = sys.argv[1], sys.argv[2], int(sys.argv[3])
now = [100.0]
meter = Meter("workers", clock=lambda: now[0], shadows=("candidate",))
log = DecisionLog(meter, folder, flush_s=3600)

def session(name, right):
    with meter.stream(name) as call:
        for _ in range(20):
            step = call.publish(reference="wait")
            now[0] += 0.25
            call.answer(step, "wait" if right else "hold")
            call.shadow("candidate", step, "wait")
            now[0] += 0.75

def say():
    said = {r.component: meter.seconds(r.component) for r in meter.readings()}
    line = {"run": meter.run, "seconds": said, "lost": meter.lost_rows, "errors": meter.errors}
    os.write(1, json.dumps(line).encode() + b"\\n")

opened = None
if when == "after events":
    session("before", True)
    opened = meter.stream("open")
    opened.answer(opened.publish(reference="wait"), "wait")
    now[0] += 1.0
workers = []
for k in range(3):
    worker = os.fork()
    if not worker:
        now[0] += 0.001 * k
        session("call", k > 0)
        if opened is not None:
            assert opened.decision == "wait"
            step = opened.publish(reference="wait")
            assert opened.answer(0, "late") is False
            assert opened.answer(step, "hold") is True
            now[0] += 2.0
            opened.end()
        if k == kill:
            call = meter.stream("left open")
            step = call.publish(reference="wait")
            now[0] += 1.0
            call.answer(step, "wait")
            now[0] += 3.0
            call.publish(reference="hold")
            log.flush()
            say()
            os.kill(os.getpid(), 9)
        session("call", k > 0)
        meter.close()
        say()
        os._exit(0)
    workers.append(worker)
    if when == "one by one":
        os.waitpid(worker, 0)
for worker in workers if when != "one by one" else ():
    os.waitpid(worker, 0)
if opened is not None:
    now[0] += 1.0
    opened.end()
session("after", True)
meter.close()
say()
"""


@pytest.mark.parametrize("kill", [-1, 1])
@pytest.mark.parametrize("when", ["before events", "after events", "one by one"])
def test_every_process_counts_and_writes_for_itself(when: str, kill: int, tmp_path: Path) -> None:
    """Real forks and a real kill: the log says what all processes together have counted."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path), when, str(kill)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = {one["run"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert len(said) == 4
    assert all(one["lost"] == 0 for one in said.values())
    assert all(one["errors"].keys() <= {"answered too late"} for one in said.values())
    assert len(list(tmp_path.iterdir())) == 4
    total: dict[str, dict[str, float]] = {}
    for one in said.values():
        for component, seconds in one["seconds"].items():
            sums = total.setdefault(component, dict.fromkeys(CLASSES, 0.0))
            for name, value in seconds.items():
                sums[name] += value
    for component, sums in total.items():
        assert wanted_seconds(tmp_path, component) == pytest.approx(sums, abs=1e-6)
    scored = sdb("logs", "score", tmp_path, "--by", "component", "--json", "--quiet")
    assert scored.returncode == 0, scored.stderr
    for group in json.loads(scored.stdout)["groups"]:
        sums = total[group["by"]["component"]]
        assert group["seconds"] == pytest.approx(sum(sums.values()), abs=1e-6)
        for name, value in sums.items():
            assert group["classes"][name] == pytest.approx(value / sum(sums.values()), abs=1e-9)


DAY = """
import json, os, random, signal, sys
from streamdecisionbench.meter import DecisionLog, Meter

folder, workers, hours = sys.argv[1], 15, 24
for worker in range(workers):
    if os.fork():
        continue
    draw, now = random.Random(worker), [0.0]
    meter = Meter("service", clock=lambda: now[0], by=("plan",))
    log = DecisionLog(meter, folder, flush_s=1e6, max_age_s=1e-9, parquet=worker % 3 == 0)
    for hour in range(hours):
        for call in range(draw.randrange(1, 4)):
            with meter.stream(f"{hour}-{call}", plan=draw.choice(["gold", "2026-03-01", "7"])) as one:
                for _ in range(draw.randrange(1, 6)):
                    now[0] += draw.uniform(0.5, 3)
                    step = one.publish(reference=draw.choice("ab") if draw.random() < 0.7 else None)
                    now[0] += draw.uniform(0, 1)
                    one.answer(step, draw.choice("ab"))
                now[0] += draw.uniform(0.5, 3)
        log.flush()
        with open(f"{folder}.counted/{worker}", "w") as file:
            readings = meter.readings()
            sums = {word: sum(one.judged[word] for one in readings) for word in ("right", "wrong")}
            json.dump({**sums, "unjudged": sum(one.waiting["unjudged"] for one in readings)}, file)
        if worker % 5 == 4 and hour == 6 + worker:
            os.kill(os.getpid(), signal.SIGKILL)
        now[0] += 3000
    log.close()
    os._exit(0)
for worker in range(workers):
    os.wait()
"""


def test_a_day_of_hourly_files_of_fifteen_workers(tmp_path: Path) -> None:
    """Three are killed, five close their files as Parquet: the folder says what all have counted."""
    folder = tmp_path / "log"
    (tmp_path / "log.counted").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", DAY, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    endings = Counter(path.suffix for path in folder.iterdir())
    assert endings[".parquet"] > 50
    assert endings[".jsonl"] > 150
    total: Counter[str] = Counter()
    for counted in (tmp_path / "log.counted").iterdir():
        total.update(json.loads(counted.read_text()))
    scored = sdb("logs", "score", folder, "--json", "--quiet")
    assert scored.returncode == 0, scored.stderr
    (group,) = json.loads(scored.stdout)["groups"]
    assert group["seconds"] == pytest.approx(sum(total.values()), abs=1e-6)
    assert group["in_force"] == pytest.approx(total["right"] / (total["right"] + total["wrong"]))
    assert group["classes"]["unjudged"] * group["seconds"] == pytest.approx(total["unjudged"])
    plans = json.loads(sdb("logs", "score", folder, "--by", "plan", "--json", "--quiet").stdout)
    assert {one["by"]["plan"] for one in plans["groups"]} == {"gold", "2026-03-01", "7"}


def test_a_child_of_a_busy_process_waits_for_nobody(tmp_path: Path) -> None:
    """Forked while other threads hold every lock there is: the child has locks of its own."""
    program = f"""
import os, threading
from streamdecisionbench.meter import DecisionLog, Meter
meter = Meter("busy")
log = DecisionLog(meter, {str(tmp_path)!r}, flush_s=0.001)
stop = threading.Event()
old = meter.stream("old")
with old:
    waiting = old.publish()
def hammer(k):
    with meter.stream(f"busy-{{k}}") as call:
        while not stop.is_set():
            call.answer(call.publish(reference="wait"), "wait")
threads = [threading.Thread(target=hammer, args=(k,)) for k in range(3)]
for thread in threads:
    thread.start()
codes = []
for k in range(20):
    child = os.fork()
    if not child:
        assert old.judge(waiting, "wait") is False
        with meter.stream(f"child-{{k}}") as call:
            for _ in range(50):
                assert call.answer(call.publish(reference="wait"), "wait")
        meter.close()
        (reading,) = meter.readings()
        assert (reading.streams, reading.states, meter.lost_rows) == (1, 50, 0), reading
        assert meter.errors == {{"judged too late": 1}}, meter.errors
        os._exit(0)
    codes.append(os.waitpid(child, 0)[1])
stop.set()
for thread in threads:
    thread.join()
meter.close()
assert codes == [0] * 20, codes
assert meter.errors == {{}}, meter.errors
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    found = {rows[0]["session"]: rows for rows in written.streams(tmp_path).values()}
    for k in range(20):
        assert [row["step"] for row in found[f"child-{k}"]] == list(range(50))
    assert len(list(tmp_path.iterdir())) == 21


def test_containers_that_start_in_one_second_are_different_runs() -> None:
    """In each of them the process has number 1."""
    program = (
        "import os, time; os.getpid = lambda: 1; now = time.gmtime(0); time.gmtime = lambda: now\n"
        "from streamdecisionbench.meter import Meter; print(Meter('m').run, Meter('m').run)"
    )
    runs = [
        run
        for _ in range(2)
        for run in subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
    ]
    assert len(set(runs)) == 4
    assert all(run.startswith("19700101T000000Z-1-") for run in runs)


def test_a_stream_that_ends_when_its_last_state_comes_is_in_the_log(tmp_path: Path) -> None:
    clock = FakeClock()
    clock.now = 1e9
    meter = Meter("test", clock=clock)
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        call.answer(call.publish(reference="wait"), "wait")
        clock.now += 8.0
        call.publish(reference="hold")
    meter.close()
    last = list(written.rows(tmp_path).values())[-1]
    assert last["ended_at"] == math.nextafter(last["published_at"], math.inf)
    done = sdb("logs", "score", tmp_path, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(done.stdout)["groups"]
    assert group["seconds"] == pytest.approx(8.0, abs=1e-6)
    assert meter.seconds()["current_correct"] == pytest.approx(8.0, abs=1e-6)


def test_states_published_at_one_reading_are_several(tmp_path: Path) -> None:
    """A clock that stands still for two of them: each has a row and a moment of its own."""
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        for k in range(5):
            call.publish(reference=str(k))
        clock.now += 1.0
    meter.close()
    rows = list(written.rows(tmp_path).values())
    assert [(row["step"], row["reference"]) for row in rows] == [(k, str(k)) for k in range(5)]
    assert len({row["published_at"] for row in rows}) == 5


def test_an_answer_from_outside_the_window_is_one_for_its_own_state(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock, window=2)
    DecisionLog(meter, tmp_path, flush_s=3600)
    with meter.stream("call") as call:
        for _ in range(4):
            call.publish(reference="wait")
            clock.now += 1.0
        call.answer(0, "wait")
        clock.now += 8.0
    meter.close()
    assert len(written.rows(tmp_path)) == 4
    assert meter.in_force() == pytest.approx(8 / 12)
    (group,) = json.loads(sdb("logs", "score", tmp_path, "--json", "--quiet").stdout)["groups"]
    assert group["in_force"] == pytest.approx(8 / 12)


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
