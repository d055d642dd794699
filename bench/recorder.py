"""How late the recorder is: release lag, dispatch lag, and what a thousand streams at once cost.

    python bench/recorder.py                 # all three, about a minute
    python bench/recorder.py --loop asyncio  # without uvloop

The server of `sdb serve` in a process of its own answers after a fixed delay. The first measurement
asks it over one socket, one request at a time, and prints how much later than planned its replies
are. The second records 480 steps with 31–32 requests in flight, through httpx, into a real recording
folder, and prints lags beside the dispatch waits published for 480 requests. The third runs many
streams in one event loop.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from streamdecisionbench.components.contract import Answer, ComponentInfo, Request
from streamdecisionbench.in_force import Newest
from streamdecisionbench.recording import recorder as record_module
from streamdecisionbench.recording.clock import Clock, steady
from streamdecisionbench.recording.ledger import Lane, Ledger, Tally, prepare
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.realtime import Dispatch, run_episode
from streamdecisionbench.recording.recorder import Settings, record
from streamdecisionbench.recording.summary import quantiles_ms
from streamdecisionbench.recording.writer import EventLog
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
)
from streamdecisionbench.suite.suite_files import make_suite

PUBLISHED = "0.20–0.26 s"
GOAL_MS = 2.0
ANSWER = {"labels": {f"q{k}": "K01" for k in range(7)}, "model": "bench"}


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
        decision_spec=DecisionSpec("q0", ("q1",), {"v1": ("q2", "q3")}),
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
    """A lean keep-alive client, so that a thousand streams measure the recorder and not a client."""

    def __init__(self, port: str) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.info = ComponentInfo("bench", "pooled")

    async def open(self) -> None:
        """Connections are made when needed."""

    async def answer(self, request: Request) -> Answer:
        body = msgspec.json.encode(request.payload())
        connection = self._idle.pop() if self._idle else None
        reader, writer = connection or await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        data = await reader.readexactly(size)
        received = time.monotonic()
        self._idle.append((reader, writer))
        found = msgspec.json.decode(data)
        return Answer(found["labels"], model=found["model"], received_at=received)

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


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
    settings = Settings({None: "bench:httpx"}, ("bench",), interval_s=interval_s)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        record(suite, [Lane(HttpxComponent(url))], settings, out)
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


def many_streams(port: str, streams: int, steps: int, interval_s: float, loop: str) -> None:
    template = prepare(scenario("stream", steps), interval_s)
    tallies = [Tally() for _ in range(streams)]

    async def one(index: int, log: EventLog, component: PooledComponent) -> None:
        named = msgspec.structs.replace(template.scenario, episode_id=f"stream-{index}")
        prepared = replace(template, scenario=named)
        ledger = Ledger(prepared, log, Newest(), tallies[index])
        # Streams start evenly over one interval, as independent users would; no spinning, since a
        # thousand clocks that each watch their instant would watch all the time.
        clock = Clock(lead_s=0.5 + interval_s * index / streams, spin_s=0.0)
        await run_episode(ledger, [Lane(component)], Dispatch(), clock)

    async def everything(folder: Path) -> float:
        component = PooledComponent(port)
        with EventLog(folder) as log, steady():
            begin = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for index in range(streams):
                    group.create_task(one(index, log, component))
            took = time.monotonic() - begin
        await component.close()
        return took

    with tempfile.TemporaryDirectory() as folder:
        with asyncio.Runner(loop_factory=loop_factory(loop)) as runner:
            cpu = time.process_time()
            took = runner.run(everything(Path(folder)))
            cpu = time.process_time() - cpu
        size = (Path(folder) / "events.jsonl").stat().st_size
    responses = sum(t.responses for t in tallies)
    print(f"{streams} streams at once, one step every {interval_s:g} s each: {responses} responses, "
          f"{responses / (took - 0.5):.0f} a second ({streams / interval_s:.0f} planned); "
          f"{100 * cpu / took:.0f} % of one core, {size / 1e6:.0f} MB of events")  # fmt: skip
    show("release lag", [x for t in tallies for x in t.release_lags_s])
    show("dispatch lag", [x for t in tallies for x in t.dispatch_lags_s])


def show(what: str, lags_s: Sequence[float], goal_ms: float | None = None) -> None:
    q = quantiles_ms(lags_s)
    goal = (
        ""
        if goal_ms is None
        else f"   p99 is {q['p99'] / goal_ms:.2f} of the {goal_ms:g} ms allowed"
    )
    print(f"  {what}: p50 {q['p50']:.3f}  p99 {q['p99']:.3f}  max {q['max']:.3f} ms{goal}")


def loop_factory(name: str):  # type: ignore[no-untyped-def]
    if name == "uvloop":
        import uvloop

        return uvloop.new_event_loop
    return asyncio.new_event_loop


async def serve(delay_s: float) -> None:
    """The server library of `sdb serve`, answering everything after `delay_s`."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    from streamdecisionbench.components.serving.listening import listen
    from streamdecisionbench.components.serving.planned_replies import Planned, planned

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
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--sleep", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve is not None:
        asyncio.run(serve(chosen.serve))
        return
    if chosen.sleep:
        bare_sleep()
        return
    if chosen.loop == "asyncio":
        record_module._event_loop = lambda: ("asyncio", None)
    print(f"event loop: {chosen.loop}")
    with Beside("--serve", "0.0205") as port, Beside("--sleep"):
        planned_delay(port, 0.0205, 500)
    delay_s = 31.5 * chosen.interval
    with Beside("--serve", str(delay_s)) as port, Beside("--sleep"):
        lags_in_flight(f"http://127.0.0.1:{port}/", delay_s, chosen.steps, chosen.interval)
    with Beside("--serve", "0.3") as port:
        many_streams(port, chosen.streams, chosen.stream_steps, chosen.stream_interval, chosen.loop)


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
