"""How late the recorder is: release lag, dispatch lag, what thousands of streams cost, which stalls it finds.

    python bench/recorder.py                          # all four, about five minutes
    python bench/recorder.py --only stalls            # the table in docs/recording.md
    python bench/recorder.py --loop asyncio           # without uvloop
    python bench/recorder.py --only streams --streams 1000 --processes 2
    python bench/recorder.py --only streams --streams 10000 --stream-interval 20

The first measurement asks the server library of `sdb serve`, in a process of its own, over one socket, one
request at a time, and prints how much later than planned its replies are. The second records 480 steps with
31–32 requests in flight, through httpx, into a real recording folder, and prints lags beside the dispatch
waits published for 480 requests. The third records many streams against `sdb serve` itself, in one process or
in several with a log each, merged, and prints answers a second, lags beside a process that only sleeps, and
processor time per stream. The fourth stops a recording process between two releases with SIGSTOP, for 50 ms to
2 s, and prints how often the recorder found it and what it did about it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.contract import Answer, ComponentInfo, Request
from streamdecisionbench.recording import recorder as record_module
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import Release, Response, scan
from streamdecisionbench.recording.merge import merge
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.recording_folder import quantiles_ms
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
)
from streamdecisionbench.suite.suite_files import make_suite, write_suite

PUBLISHED = "0.20–0.26 s"
GOAL_MS = 2.0
ANSWER = {"labels": {f"q{k}": "K01" for k in range(7)}, "model": "bench"}


DELAY_S = 0.3
"""What an answer of the server takes with many streams."""


@dataclass(frozen=True)
class Chosen:
    """How many streams, how long, how fast, in how many processes."""

    streams: int
    steps: int
    interval_s: float
    processes: int

    def arguments(self) -> list[str]:
        return ["--streams", str(self.streams), "--stream-steps", str(self.steps),
                "--stream-interval", str(self.interval_s)]  # fmt: skip


def scenario(name: str, steps: int, request_bytes: int = 12_000) -> Scenario:
    """Seven questions and a state of realistic size (about 3,000 tokens a request)."""
    questions = {
        f"q{k}": Question(
            "choice", f"Rule {k}. " * 40, {f"K{j:02}": f"v{j}: text" for j in range(6)}
        )
        for k in range(7)
    }
    filler = "evidence " * (max(0, request_bytes - 5_500) // 9)
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family="live_debugging",
        scenario_id=name,
        title=name,
        tick_seconds=2.0,
        questions=questions,
        option_semantics={q: {f"K{j:02}": f"v{j}" for j in range(6)} for q in questions},
        decision_spec=DecisionSpec(
            "q0", ("q1",), {f"v{j}": ("q2", "q3", "q4", "q5", "q6") for j in range(6)}
        ),
        steps=tuple(
            Step(t, {"clock": t, "history": filler}, dict.fromkeys(questions, "v1"))
            for t in range(steps)
        ),
    )


class HttpxComponent:
    """What most providers are underneath: one httpx client."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.info = ComponentInfo("bench", "httpx")

    async def open(self) -> None:
        import httpx

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.AsyncClient(timeout=20.0, limits=limits)

    async def answer(self, request: Request) -> Answer:
        body = msgspec.json.encode(request.payload())
        reply = await self._client.post(self._url, content=body)
        received = time.monotonic()
        found = msgspec.json.decode(reply.content)
        return Answer(found["labels"], model=found["model"], received_at=received)

    async def close(self) -> None:
        await self._client.aclose()


class PooledComponent:
    """A lean keep-alive client of System One, so that streams measure the recorder and not a client."""

    def __init__(self, port: str) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.info = ComponentInfo("bench", "pooled")
        self.spans: list[tuple[float, float]] = []
        """Time and processor time at the first and the last answer."""

    async def open(self) -> None:
        """Connections are made when needed."""

    async def answer(self, request: Request) -> Answer:
        self._note()
        body = msgspec.json.encode({"model": "jev", **request.payload()})
        connection = self._idle.pop() if self._idle else None
        reader, writer = connection or await asyncio.open_connection("127.0.0.1", self._port)
        head = b"POST /v1/systemone HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        reply = await reader.readuntil(b"\r\n\r\n")
        size = int(reply.split(b"content-length: ")[1].split(b"\r\n")[0])
        data = await reader.readexactly(size)
        received = time.monotonic()
        self._idle.append((reader, writer))
        found = msgspec.json.decode(data)
        self._note()
        labels = {name: each["choice"] for name, each in found["answers"].items()}
        return Answer(labels, model=found["model"], received_at=received)

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()

    def _note(self) -> None:
        del self.spans[1:]
        self.spans.append((time.monotonic(), time.process_time()))


def bare_sleep(interval_s: float = 0.01) -> None:
    """Sleeps to instants and nothing else until standard input ends; then says how late it was.

    It runs beside the measurement, in a process of its own: what the machine does to a process that
    only sleeps, it does to the recorder too.
    """
    stop = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    print("ready", flush=True)
    origin, late = time.monotonic(), []
    for k in itertools.count(1):
        instant = origin + k * interval_s
        time.sleep(max(0.0, instant - time.monotonic()))
        late.append(time.monotonic() - instant)
        if stop.is_set():
            break
    show("a process that only sleeps, meanwhile", late)


def planned_delay(port: str, delay_s: float, requests: int) -> None:
    """How much later than planned a reply is here: the server's error and one trip over loopback."""
    body = b'{"state":"' + b"x" * 12_000 + b'"}'
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    late = []
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for k in range(requests):
            time.sleep(0.0003 * (k % 7))  # not in step with the timer's milliseconds
            begin = time.monotonic()
            connection.sendall(request)
            reply = b""
            while not reply.endswith(b"}"):
                reply += connection.recv(65536)
            late.append(time.monotonic() - begin - delay_s)
    print(f"{requests} requests one after another, planned to take {1e3 * delay_s:g} ms each")
    show("later than planned", late)


def lags_in_flight(url: str, delay_s: float, steps: int, interval_s: float) -> None:
    suite = make_suite([scenario("bench", steps)])
    settings = RunConfig(
        RunOptions.of({None: "bench:httpx"}, warmup=0), ("bench",), interval_s=interval_s
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        record(suite, [Member(HttpxComponent(url))], settings, out)
        episode = read_recording(out, suite).episodes["bench"]
    release = [r.release_s - r.planned_s for r in episode.releases]
    dispatch = [r.started_s - r.release_s for r in episode.responses]
    commit = [r.commit_lag_s for r in episode.responses]
    extra = [r.service_s - delay_s for r in episode.responses]
    starts = [(r.started_s, 1) for r in episode.responses]
    ends = [(r.completed_s, -1) for r in episode.responses]
    print(f"{steps} requests through httpx, one every {1e3 * interval_s:g} ms, "
          f"{most(starts + ends)} in flight at most")  # fmt: skip
    show("release lag", release, GOAL_MS)
    show("dispatch lag", dispatch, GOAL_MS)
    show("commit lag", commit)
    show("latency beyond the server's delay", extra)
    per_480 = sum(dispatch) * 480 / len(dispatch)
    print(f"  dispatch wait summed over 480 requests: {per_480:.3f} s (published: {PUBLISHED})")


def most(changes: Sequence[tuple[float, int]]) -> int:
    level = highest = 0
    for _, change in sorted(changes):
        level += change
        highest = max(highest, level)
    return highest


def stream_suite(streams: int, steps: int) -> Suite:
    """So many scenarios that show the same states, each its own stream."""
    one = scenario("stream", steps)
    names = [f"stream-{k:05}" for k in range(streams)]
    return make_suite([msgspec.structs.replace(one, episode_id=n, scenario_id=n) for n in names])


def play_streams(port: str, folder: Path, share: tuple[int, int], chosen: Chosen) -> None:
    """One process's share of the streams, recorded into a folder; prints what it cost as JSON."""
    suite = stream_suite(chosen.streams, chosen.steps)
    mine = tuple(suite.scenarios)[share[0] :: share[1]]
    component = PooledComponent(port)
    settings = RunConfig(
        RunOptions.of({None: "bench:pooled"}, warmup=0),
        mine,
        interval_s=chosen.interval_s,
        streams=len(mine),
    )
    record(suite, [Member(component)], settings, folder)
    (begin, cpu), (end, cpu_then) = component.spans
    print(msgspec.json.encode({"s": end - begin, "cpu_s": cpu_then - cpu}).decode(), flush=True)


def many_streams(chosen: Chosen, loop: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write_suite(make_suite([scenario("stream", chosen.steps)]), home / "suite")
        parts = [home / f"part-{k}" for k in range(chosen.processes)]
        with served(home / "suite") as port, Beside("--sleep"):
            work = [
                subprocess.Popen(
                    [sys.executable, __file__, "--loop", loop, "--share", f"{k}/{len(parts)}",
                     "--port", port, "--folder", str(part), *chosen.arguments()],
                    stdout=subprocess.PIPE, text=True,
                )
                for k, part in enumerate(parts)
            ]  # fmt: skip
            costs = [json.loads(each.communicate()[0].splitlines()[-1]) for each in work]
        print(f"{chosen.streams} streams at once in {len(parts)} process(es), one step every"
              f" {chosen.interval_s:g} s each, {chosen.steps} steps")  # fmt: skip
        whole = parts[0]
        if len(parts) > 1:
            whole = home / "whole"
            joined = merge(parts, whole)
            print(f"  merged: {len(joined['config']['scenarios'])} scenarios in one recording")
        events = scan(whole / "events.jsonl").events
        size = (whole / "events.jsonl").stat().st_size
    responses = [e for e in events if isinstance(e, Response)]
    lasted, cpu = max(cost["s"] for cost in costs), sum(cost["cpu_s"] for cost in costs)
    print(f"  {len(responses)} answers, {len(responses) / lasted:.0f} a second"
          f" ({chosen.streams / chosen.interval_s:.0f} planned), {size / 1e6:.0f} MB of events")  # fmt: skip
    print(f"  {100 * cpu / lasted:.0f} % of one core, {1e3 * cpu / lasted / chosen.streams:.3f} ms of it"
          f" a second per stream, {1e3 * cpu / len(responses):.2f} ms per answer")  # fmt: skip
    show("release lag", [e.release_s - e.planned_s for e in events if isinstance(e, Release)])
    show("dispatch lag", [e.started_s - e.release_s for e in responses])
    show("latency beyond the server's delay", [e.service_s - DELAY_S for e in responses])


@contextlib.contextmanager
def served(suite: Path) -> Iterator[str]:
    """`sdb serve` itself; its port."""
    command = [sys.executable, "-u", "-m", "streamdecisionbench.cli.main", "serve", "--port", "0"]
    command += ["--data", str(suite), "--service-time", str(DELAY_S)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
    assert found is not None
    try:
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=60)


STALLS_S = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0)


class SlowComponent:
    """Stands for a remote service that takes 0.3 s."""

    info = ComponentInfo("bench", "slow")

    async def open(self) -> None:
        """Nothing to open."""

    async def answer(self, request: Request) -> Answer:
        await asyncio.sleep(0.3)
        return Answer({f"q{k}": "K01" for k in range(7)})

    async def close(self) -> None:
        """Nothing to close."""


def play_stalled(folder: Path) -> None:
    """Six states, one every 0.5 s."""
    suite = make_suite([scenario("bench", 6, 6_000)])
    settings = RunConfig(RunOptions.of({None: "bench:slow"}, warmup=0), ("bench",), interval_s=0.5)
    record(suite, [Member(SlowComponent())], settings, folder)


def stalls(repeats: int, loop: str) -> None:
    print(
        f"{repeats} recordings each, stopped once with SIGSTOP, 0.1 s after a release: an answer is pending"
    )
    print("  stall      found   recorded again   marked   scored without a word")
    for stall_s in (0.0, *STALLS_S):
        again = marked = 0
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as name:
                run = stalled_recording(Path(name) / "out", stall_s, loop)
            stopped = [x for x in run["interruptions"] if x["reason"] in ("stopped", "too_late")]
            again += bool(stopped)
            marked += not stopped and "stalled" in run["summary"]
        print(f"  {1e3 * stall_s:5.0f} ms  {again + marked:3} of {repeats}  {again:14}  {marked:7}"
              f"  {repeats - again - marked:22}")  # fmt: skip


def stalled_recording(folder: Path, stall_s: float, loop: str) -> dict[str, Any]:
    """The run record of a recording whose process was stopped once."""
    command = [sys.executable, __file__, "--loop", loop, "--stalled", "--folder", str(folder)]
    process = subprocess.Popen(command)
    log = folder / "events.jsonl"
    while not log.exists() or log.read_bytes().count(b'"release"') < 3:
        time.sleep(0.005)
    time.sleep(0.1)
    if stall_s:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(stall_s)
        os.kill(process.pid, signal.SIGCONT)
    assert process.wait(timeout=120) == 0
    run: dict[str, Any] = json.loads((folder / "run.json").read_bytes())
    return run


def show(what: str, lags_s: Sequence[float], goal_ms: float | None = None) -> None:
    q = quantiles_ms(lags_s)
    goal = (
        ""
        if goal_ms is None
        else f"   p99 is {q['p99'] / goal_ms:.2f} of the {goal_ms:g} ms allowed"
    )
    print(f"  {what}: p50 {q['p50']:.3f}  p99 {q['p99']:.3f}  max {q['max']:.3f} ms{goal}")


async def serve(delay_s: float) -> None:
    """The server library of `sdb serve`, answering everything after `delay_s`."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    from streamdecisionbench.components.serving.http_server import listen
    from streamdecisionbench.components.serving.timed_replies import Planned, planned

    endpoint = planned(lambda body: Planned(ANSWER, delay_s))
    app = Starlette(routes=[Route("/", endpoint, methods=["POST"])])
    async with listen(app, "127.0.0.1", 0) as listening:
        print(listening.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    parser.add_argument("--steps", type=int, default=480)
    parser.add_argument("--interval", type=float, default=0.05)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--stream-steps", type=int, default=8)
    parser.add_argument("--stream-interval", type=float, default=2.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", choices=("server", "flight", "streams", "stalls"))
    parser.add_argument("--repeats", type=int, default=5, help="recordings per length of a stall")
    parser.add_argument("--stalled", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--sleep", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--share", help=argparse.SUPPRESS)
    parser.add_argument("--port", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    chosen = Chosen(asked.streams, asked.stream_steps, asked.stream_interval, asked.processes)
    if asked.serve is not None:
        asyncio.run(serve(asked.serve))
        return
    if asked.sleep:
        bare_sleep()
        return
    if asked.loop == "asyncio":
        record_module._event_loop = lambda: ("asyncio", None)
    if asked.share:
        number, of = map(int, asked.share.split("/"))
        play_streams(asked.port, asked.folder, (number, of), chosen)
        return
    if asked.stalled:
        play_stalled(asked.folder)
        return
    print(f"event loop: {asked.loop}")
    if asked.only in (None, "server"):
        with Beside("--serve", "0.0205") as port, Beside("--sleep"):
            planned_delay(port, 0.0205, 500)
    if asked.only in (None, "flight"):
        delay_s = 31.5 * asked.interval
        with Beside("--serve", str(delay_s)) as port, Beside("--sleep"):
            lags_in_flight(f"http://127.0.0.1:{port}/", delay_s, asked.steps, asked.interval)
    if asked.only in (None, "streams"):
        many_streams(chosen, asked.loop)
    if asked.only in (None, "stalls"):
        stalls(asked.repeats, asked.loop)


class Beside:
    """This script in a process of its own, doing something else; ends when its standard input does."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, __file__, *arguments]

    def __enter__(self) -> str:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        output = self._process.communicate(timeout=30)[0]
        print(output, end="")


if __name__ == "__main__":
    main()
