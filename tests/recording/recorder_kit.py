"""Small real parts for the recorder's tests: suites, components in process, a server on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Request
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import Event
from streamdecisionbench.recording.recorder import RunConfig
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

LABELS = {"route": {"K01": "go", "K02": "wait"}, "speed": {"K03": "slow", "K04": "quick"}}


def small_scenario(name: str, steps: int = 6, tick: float = 0.06) -> Scenario:
    """Changes its reference every second step; the state shows the tick and the right labels."""
    gold = [
        {"route": "go" if (t // 2) % 2 else "wait", "speed": "quick" if t % 3 else "slow"}
        for t in range(steps)
    ]
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family="support_call_assist" if name.endswith("b") else "live_debugging",
        scenario_id=name,
        title=name,
        tick_seconds=tick,
        questions={
            q: Question("choice", f"Which {q}?", {k: f"{v}: it is {v}" for k, v in options.items()})
            for q, options in LABELS.items()
        },
        option_semantics=LABELS,
        decision_spec=DecisionSpec("route", (), {"go": ("speed",), "wait": ()}),
        steps=tuple(
            Step(
                t=t, state={"scenario": name, "clock": t, "hint": labels_of(gold[t])}, gold=gold[t]
            )
            for t in range(steps)
        ),
    )


def small_suite(*names: str, steps: int = 6, tick: float = 0.06) -> Suite:
    return make_suite(
        [small_scenario(name, steps, tick) for name in names or ("one_a",)], name="small"
    )


def suite_folder(folder: Path, *names: str, steps: int = 6, tick: float = 0.06) -> Path:
    write_suite(small_suite(*names, steps=steps, tick=tick), folder)
    return folder


def labels_of(values: dict[str, str]) -> dict[str, str]:
    return {
        q: next(label for label, value in LABELS[q].items() if value == v)
        for q, v in values.items()
    }


Behaviour = Callable[[Request, int], Awaitable[Answer]]
"""What an in-process component does with a request on its k-th call for that step (1, 2, …)."""


class InProcess:
    """A component of this process whose behaviour a test writes as a coroutine."""

    def __init__(self, behaviour: Behaviour | None = None, **info: Any) -> None:
        self._behaviour = behaviour or _right
        self.calls: dict[tuple[str, int], int] = {}
        self.opened = self.closed = 0
        self.most_at_once = self._now = 0
        self.info = ComponentInfo(
            **{"provider": "test", "model": "in-process", "in_process": True, **info}
        )

    async def open(self) -> None:
        self.opened += 1

    async def answer(self, request: Request) -> Answer:
        key = (request.state["scenario"], request.state["clock"])
        self.calls[key] = self.calls.get(key, 0) + 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return await self._behaviour(request, self.calls[key])
        finally:
            self._now -= 1

    async def close(self) -> None:
        self.closed += 1


async def _right(request: Request, call: int) -> Answer:
    return right(request)


def right(request: Request, **more: Any) -> Answer:
    return Answer(labels=dict(request.state["hint"]), **more)


def alone(component: Any) -> list[Member]:
    return [Member(component)]


def settings(suite: Suite, **changes: Any) -> RunConfig:
    """A recording of the suite without warm-ups; `changes` are fields of the config or of its options."""
    own = {each.name for each in fields(RunConfig)}
    config = {name: changes.pop(name) for name in list(changes) if name in own}
    options = {"names": {None: "test:in-process"}, "warmup": 0, **changes}
    options["components"] = options.pop("names")
    scenarios = config.pop("scenarios", tuple(suite.scenarios))
    return RunConfig(RunOptions.of({}).changed(**options), scenarios, **config)


@dataclass
class MemoryLog:
    """Keeps events in memory."""

    events: list[Event] = field(default_factory=list)

    def append(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]


Reply = Callable[[dict[str, Any], int], "tuple[int, dict[str, str], Any] | None"]
"""(payload, how often this step was asked) → status, headers, body; None cuts the connection."""


@contextmanager
def loopback_server(
    reply: Reply | None = None, delay_s: float = 0.0, *, counts: bool = False
) -> Iterator[str]:
    """A real HTTP/1.1 server in a thread; its address while it runs. `counts`: asked for tokens, too."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    address: list[str] = []
    asked: dict[str, int] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                sizes = [
                    int(line.split(":")[1])
                    for line in head.split("\r\n")
                    if line.startswith("content-length")
                ]
                payload = json.loads(await reader.readexactly(sizes[0]) if sizes else "{}")
                if head.startswith("get ") or (not counts and head.startswith("post /tokenize")):
                    writer.write(b"HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\n{}")
                    continue
                key = json.dumps(payload.get("state", payload), sort_keys=True)
                asked[key] = asked.get(key, 0) + 1
                if delay_s:
                    await asyncio.sleep(delay_s)
                answer = (reply or _answer)(payload, asked[key])
                if answer is None:
                    return
                status, headers, body = answer
                data = json.dumps(body).encode()
                lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}"]
                lines += ["Content-Type: application/json"]
                lines += [f"{name}: {value}" for name, value in headers.items()]
                writer.write("\r\n".join([*lines, "", ""]).encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        address.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        ready.set()

    def work() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if not ready.wait(30):
        raise RuntimeError("the server did not start")
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


def ok(payload: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
    return 200, {}, {"labels": payload["state"]["hint"], "model": "echo-1-served"}


def _answer(payload: dict[str, Any], asked: int) -> tuple[int, dict[str, str], Any]:
    return ok(payload)
