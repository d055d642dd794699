"""The live page: its sources, its numbers, and the page itself while something runs."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.logs.lanes import (
    logged_stream,
    view_of,
)
from streamdecisionbench.logs.log_rows import GrowingFile
from streamdecisionbench.logs.worst_streams import StreamsAsked
from streamdecisionbench.meter import DecisionLog, Meter
from streamdecisionbench.meter.decision_log import rows_of as decision_rows
from streamdecisionbench.meter.stream import Notice
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.pair_live import live_pair
from streamdecisionbench.scoring.policy_score import live_policy
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from streamdecisionbench.watch.commands import Page
from streamdecisionbench.watch.live_sources import open_source
from streamdecisionbench.watch.watch_server import (
    Watcher,
    WatchServer,
)
from tests.cli.command import sdb
from tests.logs.made_logs import rows_of
from tests.logs.test_score_log import drawn
from tests.meter import plain, written
from tests.meter.test_counters import FakeClock, drive, ticking
from tests.meter.test_policy import deployed, serve
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser
from tests.scoring.policies import kit

pytestmark = pytest.mark.slow

SDB = [sys.executable, "-m", "streamdecisionbench.cli.main"]
SCENARIOS = "support_a,presenter_a,presenter_b"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("watch") / "run"
    done = sdb("run", "simulated:astra-low", "--clock", "virtual", "--scenarios", SCENARIOS,
               "--out", out, "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def seen(path: Path) -> dict[str, Any]:
    watcher = Watcher(open_source(path))
    watcher.look()
    return watcher.moment()


def in_force_by_score(folder: Path) -> dict[str, Any]:
    done = sdb("score", folder, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["recordings"][0]
    return found


def test_a_finished_recording_has_the_score_that_sdb_score_prints(recording: Path) -> None:
    moment = seen(recording)
    (component,) = moment["components"]
    wanted = in_force_by_score(recording)["overall"]
    assert component["in_force"] == pytest.approx(wanted["in_force"], abs=1e-12)
    for name, share in zip(ALL_CLASSES, component["classes"], strict=True):
        assert share == pytest.approx(wanted["classes"].get(name, 0.0), abs=1e-12)
    assert moment["facts"]["status"] == "complete"
    assert moment["facts"]["simulated"] is True
    assert [stream["open"] for stream in moment["changed"]] == [False] * 3


def test_at_any_moment_the_score_is_that_of_the_events_so_far(
    recording: Path, tmp_path: Path
) -> None:
    """Lines are added one by one; what is shown equals the plain definition on those lines."""
    folder = tmp_path / "run"
    folder.mkdir()
    run = json.loads((recording / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**run, "status": "running"}))
    lines = (recording / "events.jsonl").read_text().splitlines(keepends=True)
    watcher = Watcher(open_source(folder))
    suite = read_suite(builtin_suite_path())
    with (folder / "events.jsonl").open("a") as log:
        for number, line in enumerate(lines):
            log.write(line[:40])
            log.flush()
            watcher.look()
            log.write(line[40:])
            log.flush()
            watcher.look()
            if number % 97 != 60:
                continue
            for stream in watcher.moment()["changed"]:
                scenario = suite.scenarios[stream["id"]]
                right = [str(d) for d in scenario.reference()]
                happened = []
                for event in map(json.loads, lines[: number + 1]):
                    if event["episode_id"] != stream["id"]:
                        continue
                    t = event["t"]
                    if event["kind"] == "release":
                        happened.append(
                            (event["release_s"], 0, plain.Happened("publish", event["release_s"]))
                        )
                    if event["kind"] == "response":
                        said = str(scenario.decision_spec.compose(event["pred"]))
                        at = (
                            event["release_s"]
                            + event["actual_recorded_s"]
                            - event["attempts"][-1]["started_s"]
                        )
                        happened.append((at, 1, plain.Happened("answer", at, t, said)))
                events = [h for *_, h in sorted(happened, key=lambda x: x[:2])]
                events = [e for e in events if e.at < stream["to"] or e.kind == "publish"]
                events += [plain.Happened("end", stream["to"])]
                events += [plain.Happened("judge", stream["to"], k, r) for k, r in enumerate(right)]
                wanted = plain.seconds(events, stream["to"], closed=True)
                (lane,) = stream["lanes"]
                found = dict(zip(ALL_CLASSES, lane["seconds"], strict=True))
                assert found == pytest.approx(wanted, abs=1e-6), (number, stream["id"])


@pytest.fixture(scope="module")
def live_pair_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("watch-pair") / "run"
    done = sdb("run", "--member", "fast=simulated:jev", "--member", "slow=simulated:astra-low", "--rule", "lag_one",
               "--clock", "virtual", "--scenarios", SCENARIOS, "--out", out, "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def test_a_live_pair_shows_what_took_effect_and_both_components(live_pair_run: Path) -> None:
    """The pair as `sdb compose` scores what happened, and each half as it would be worth alone."""
    suite = read_suite(builtin_suite_path())
    joint = read_recording(live_pair_run, suite)
    wanted = live_pair(joint, suite).recorded
    parts = {part["name"]: part for part in seen(live_pair_run)["components"]}
    assert list(parts) == ["applied", "fast", "slow"]
    assert parts["applied"]["in_force"] == pytest.approx(wanted.in_force, abs=1e-12)
    for name, share in zip(ALL_CLASSES, parts["applied"]["classes"], strict=True):
        assert share == pytest.approx(wanted.classes().get(name, 0.0), abs=1e-12)
    for role, half in joint.halves.items():
        alone = score(half, suite)
        assert parts[role]["in_force"] == pytest.approx(alone.in_force, abs=1e-12)
    for stream in seen(live_pair_run)["changed"]:
        applied = stream["lanes"][0]
        assert sum(applied["seconds"]) == pytest.approx(stream["to"] - stream["from"])


def test_under_a_policy_the_page_shows_what_it_let_take_effect(tmp_path: Path) -> None:
    policy = tmp_path / "careful.toml"
    policy.write_text("[expire]\nafter_s = 3.0\n[debounce]\nagree = 2\n")
    done = sdb("run", "simulated:astra-low", "--policy", policy, "--clock", "virtual", "--scenarios",
               SCENARIOS, "--out", tmp_path / "run", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite = read_suite(builtin_suite_path())
    wanted = live_policy(read_recording(tmp_path / "run", suite), suite).recorded
    moment = seen(tmp_path / "run")
    applied = moment["components"][0]
    assert applied["name"] == "applied"
    assert applied["in_force"] == pytest.approx(wanted.in_force, abs=1e-12)
    for name, share in zip(ALL_CLASSES, applied["classes"], strict=True):
        assert share == pytest.approx(wanted.classes().get(name, 0.0), abs=1e-12)
    assert [stream["open"] for stream in moment["changed"]] == [False] * 3


@settings(max_examples=25, deadline=None)
@given(kit.loose(), st.sampled_from([0.0, 0.37]))
def test_a_policy_s_log_shows_what_took_effect(
    tmp_path_factory: pytest.TempPathFactory, case: kit.Case, judged_late: float
) -> None:
    """On the live page and in the lanes of `sdb logs show`, as the meter counted and the log is scored."""
    clock = FakeClock()
    meter = Meter("test", clock=clock, policy=deployed(case))
    events: list[Notice] = []
    meter.add_sink(events.append)
    serve(case, meter, clock, "x", judged_late)
    rows = decision_rows(
        one._replace(value=None) if one.kind == "published" else one for one in events
    )
    path = tmp_path_factory.mktemp("policy") / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    score_ = sdb_api.score_log(path, resamples=0, show=StreamsAsked())
    (group,), (one,) = score_.groups, score_.shown.kept
    view = view_of(logged_stream(one))
    assert view is not None
    assert view.seconds["in force"] == pytest.approx(group.at_pace.seconds, abs=1e-9)
    assert sum(score_.shown.mixes_of().values()) == pytest.approx(one.judged_s, abs=1e-9)
    (component,) = seen(path)["components"]
    assert component["classes"] == pytest.approx(list(group.classes.values()), abs=1e-9)


def test_a_meters_log_has_the_seconds_the_meter_counted(tmp_path: Path) -> None:
    meter = Meter("test", clock=ticking(), shadows=("candidate",))
    DecisionLog(meter, tmp_path, max_bytes=20_000)
    for k in range(5):
        drive(meter, f"call-{k}", k, 30)
    meter.close()
    moment = seen(tmp_path)
    assert {part["name"] for part in moment["components"]} == {"applied", "candidate"}
    for part in moment["components"]:
        seconds = meter.seconds(part["name"])
        shares = {name: value / sum(seconds.values()) for name, value in seconds.items()}
        found = dict(zip(ALL_CLASSES, part["classes"], strict=True))
        assert found == pytest.approx(shares, abs=1e-9)
        assert part["in_force"] == pytest.approx(meter.in_force(part["name"]), abs=1e-9)
    assert moment["streams"] == len(written.streams(tmp_path)) / 2


@pytest.mark.parametrize(
    "name", ["log.csv", "log.jsonl", "log.parquet", "log.tsv", "log.jsonl.gz", "day"]
)
def test_any_log_has_the_score_that_sdb_logs_score_prints(name: str, tmp_path: Path) -> None:
    """In every format: stamps and seconds, requests of their own, weights, decisions as JSON."""
    base = datetime(2026, 3, 1, tzinfo=UTC)
    rows = []
    for row in rows_of(drawn(12, 6)):
        k = int(row["stream"][1:])
        moved = {
            column: None if value is None else base + timedelta(microseconds=round(value * 1e6))
            for column, value in row.items()
            if column.endswith("_at")
        }
        asked = moved["published_at"] and moved["published_at"] + timedelta(milliseconds=1)
        waited = moved["answered_at"]
        rows.append(
            {
                **row,
                **moved,
                "requested_at": asked if waited is None or waited >= asked else None,
                "weight": 1.0 + k % 3,
                "decision": None
                if row["decision"] is None
                else json.dumps({"do": row["decision"]}),
                "reference": row["reference"] and json.dumps({"do": row["reference"]}, indent=1),
            }
        )
    table = pa.Table.from_pylist(rows)
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith("sv"):
        options = pa.csv.WriteOptions(delimiter="\t" if name.endswith("tsv") else ",")
        pa.csv.write_csv(table, path, options)
    elif name == "day":
        (path / "of").mkdir(parents=True)
        pq.write_table(table.slice(0, 36), path / "of" / "one.parquet")
        pq.write_table(table.slice(36), path / "of" / "two.parquet")
    else:
        text = "\n".join(json.dumps(row, default=lambda at: at.isoformat()) for row in rows) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    (group,) = sdb_api.score_log(path).groups
    moment = seen(path)
    (component,) = moment["components"]
    assert moment["facts"]["unreadable"] == 0, moment["facts"]["why"]
    assert component["in_force"] == pytest.approx(group.in_force, abs=1e-6)
    for shown, wanted in zip(component["classes"], group.classes.values(), strict=True):
        assert shown == pytest.approx(wanted, abs=1e-6)


def test_why_a_line_cannot_be_read_is_said(tmp_path: Path) -> None:
    good = {"stream": "a", "published_at": 0, "answered_at": 1, "decision": "x", "reference": "x"}
    lines = [
        json.dumps({**good, "ended_at": 4}),
        "",
        '{"stream": "a", "published_at"',
        "[1]",
        json.dumps({**good, "published_at": "yesterday"}),
        json.dumps({**good, "published_at": 2, "decision": '{"half'}),
        json.dumps({"published_at": 3}),
        json.dumps({**good, "published_at": 2}),
        json.dumps({**good, "published_at": 2}),
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    facts = seen(tmp_path / "log.jsonl")["facts"]
    assert facts["unreadable"] == 7
    assert [why.split(":")[0] for why in facts["why"]] == [
        f"log.jsonl line {k}" for k in (3, 4, 5, 6, 7)
    ]
    for why, said in zip(
        facts["why"],
        ("is not valid JSON", "is not a JSON object", "published_at 'yesterday' is not a time",
         "neither text nor JSON", "has no stream"),
        strict=True,
    ):  # fmt: skip
        assert said in why
    (tmp_path / "log.csv").write_text(
        'stream,published_at,answered_at,decision,ended_at\na,0,1,"x\ny",4\na,1\na,2,1,x,4\n'
    )
    facts = seen(tmp_path / "log.csv")["facts"]
    assert facts["why"] == (
        "log.csv line 4: has another number of fields than the header",
        "log.csv line 5: was answered before it was asked",
    )


def test_a_file_is_read_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    file = GrowingFile(path)
    assert file.new_lines() == ([], False)
    path.write_bytes(b"one\ntw")
    assert file.new_lines() == ([b"one"], False)
    path.write_bytes(b"one\ntwo\nthree\n")
    assert file.new_lines() == ([b"two", b"three"], False)
    path.write_bytes(b"other\ntwo\nthree\nfour\n")
    assert file.new_lines() == ([b"other", b"two", b"three", b"four"], True)
    path.write_bytes(b"x\n")
    assert file.new_lines() == ([b"x"], True)
    path.unlink()
    assert file.new_lines() == ([], True)


@pytest.mark.parametrize("what", ["file.txt", "folder", "nowhere/at/all", "nonexistent"])
def test_what_cannot_be_watched_is_said(what: str, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="give the folder of a recording"):
        open_source(tmp_path / what)
    done = sdb("watch", tmp_path / what)
    assert done.returncode == 2
    assert "give the folder of a recording" in done.stderr


def test_what_is_going_to_be_a_recording_is_waited_for(tmp_path: Path) -> None:
    assert open_source(tmp_path / "soon", wait=True).facts()["status"] == "waiting"
    with pytest.raises(InputError, match="no such folder"):
        open_source(tmp_path / "nowhere" / "soon", wait=True)


def test_a_page_that_takes_nothing_is_let_go(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who asks for events and reads none keeps no connection for ever."""
    monkeypatch.setattr("streamdecisionbench.watch.watch_server.PATIENCE_S", 0.05)
    taken: list[str] = []

    async def send(message: Mapping[str, Any]) -> None:
        taken.append(message["type"])
        if len(taken) > 1:
            await asyncio.Event().wait()

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    scope = {
        "type": "http", "method": "GET", "path": "/events", "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
    }  # fmt: skip

    async def ask() -> None:
        app = WatchServer(open_source(recording)).application()
        await asyncio.wait_for(app(scope, receive, send), 60)

    asyncio.run(ask())
    assert taken == ["http.response.start", "http.response.body"]


@contextmanager
def watch(source: Path, *options: str) -> Iterator[str]:
    process = subprocess.Popen(
        [*SDB, "watch", str(source), "--port", "0", *options],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    assert found
    yield found[0]
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert process.returncode == 0


def test_only_this_machine_is_served(recording: Path) -> None:
    with watch(recording) as address:
        port = int(address.rpartition(":")[2])
        for host, status in (("127.0.0.1", 200), ("localhost", 200), ("evil.example", 400)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.putrequest("GET", "/", skip_host=True)
            connection.putheader("Host", host)
            connection.endheaders()
            assert connection.getresponse().status == status


def shown(browser: Browser, wanted: str, seconds: float = 60) -> None:
    """Waits until an expression holds in the page."""
    end = time.monotonic() + seconds
    while not browser.run(wanted):
        assert time.monotonic() < end, (wanted, browser.seen.errors)
        time.sleep(0.2)


BIG = "document.querySelector('.score-row .big')?.textContent"


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_the_page_while_a_run_goes_on(recording: Path, tmp_path: Path) -> None:
    """From before the recording to after it, through a restart; numbers are those of sdb score."""
    folder = tmp_path / "run"
    lines = (recording / "events.jsonl").read_text().splitlines(keepends=True)
    run = json.loads((recording / "run.json").read_text())
    with watch(folder, "--wait") as address, Browser() as browser:
        browser.call("Page.navigate", url=address + "/")
        shown(browser, "document.querySelector('.watch-state')?.textContent === 'waiting'")
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({**run, "status": "running"}))
        (folder / "events.jsonl").write_text("".join(lines[:200]))
        shown(browser, "document.querySelector('.watch-state.running') !== null")
        shown(browser, f"/[0-9.]+ %/.test({BIG})")
        (component,) = seen(folder)["components"]
        assert browser.run(BIG) == f"{100 * component['in_force']:.1f} %"
        # The recorder was killed and starts again, writing its log anew.
        shutil.rmtree(folder)
        shutil.copytree(recording, folder)
        shown(browser, "document.querySelector('.watch-state.complete') !== null")
        wanted = in_force_by_score(folder)["overall"]["in_force"]
        shown(browser, f"{BIG} === '{100 * wanted:.1f} %'")
        assert browser.run("document.querySelectorAll('.stream-row').length") == 3
        # The keyboard: another scenario, a cursor with its read-out.
        browser.run("document.getElementById('lane-plot').focus()")
        before = browser.run("document.querySelector('.lane-title').textContent")
        browser.press("PageUp")
        assert browser.run("document.querySelector('.lane-title').textContent") != before
        browser.press("ArrowRight", times=3)
        assert browser.run("!document.getElementById('tip').hidden")
        assert "seconds" in browser.run("document.getElementById('say').textContent")
        for width, theme in ((1280, "light"), (1280, "dark"), (360, "light")):
            browser.resize(width, 900)
            browser.theme(theme)
            browser.settle()
            assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.seen.errors == []
        assert {url.split("/")[2] for url in browser.seen.requests} == {address.split("/")[2]}


def test_run_with_watch_serves_its_page_and_leaves_it(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*SDB, "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_a",
         "--out", str(tmp_path / "run"), "--quiet", "--watch"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
    assert found
    while "stays on" not in process.stderr.readline():
        pass
    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert process.returncode == 0


def test_an_interrupt_right_after_the_last_line_ends_the_page_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C comes while the line is being printed, before the wait for it has begun."""

    def interrupted(line: str, err: bool) -> None:
        assert err
        assert "stays on" in line
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("streamdecisionbench.watch.commands.typer.echo", interrupted)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True) as p:
        try:
            Page(p, "http://127.0.0.1:1").stay()
        finally:
            p.kill()
