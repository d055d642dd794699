"""Replies at planned moments: on time, in any number, and refused in JSON."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from starlette.routing import Route

from streamdecisionbench.components.serving import http_server, timed_replies
from streamdecisionbench.components.serving.http_server import listen
from streamdecisionbench.components.serving.timed_replies import (
    Planned,
    Refusal,
    application,
    planned,
)
from streamdecisionbench.errors import InputError

pytestmark = pytest.mark.slow


async def ask(
    port: int, body: bytes = b"{}", head: str = ""
) -> tuple[int, dict[str, object], float]:
    loop = asyncio.get_running_loop()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begin = loop.time()
    writer.write(
        f"POST / HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n".encode()
        + body
    )
    reply = await reader.read()
    took = loop.time() - begin
    writer.close()
    return int(reply.split()[1]), json.loads(reply.partition(b"\r\n\r\n")[2]), took


def one_route(handler: timed_replies.Handler, **how: timed_replies.FinishAt):  # type: ignore[no-untyped-def]
    route = Route("/", planned(handler, **how), methods=["POST"])
    return application([route], no_such_path="no such path", refused=lambda: None)


@pytest.mark.parametrize("service_s", [0.0, 0.0004, 0.02, 0.3])
def test_no_reply_leaves_before_its_moment(service_s: float) -> None:
    async def run() -> list[float]:
        app = one_route(lambda body: Planned({"ok": 1}, service_s))
        async with listen(app, "127.0.0.1", 0) as at:
            return [took for _, _, took in await asyncio.gather(*(ask(at.port) for _ in range(20)))]

    assert min(asyncio.run(run())) >= service_s


def test_another_plan_may_say_when_replies_leave() -> None:
    """Two places and a queue: of four requests at once, two leave a service time later."""
    free = [0.0, 0.0]

    def finish_at(arrived: float, service_s: float) -> float:
        free.sort()
        free[0] = max(arrived, free[0]) + service_s
        return free[0]

    async def run() -> list[float]:
        app = one_route(lambda body: Planned({}, 0.2), finish_at=finish_at)
        async with listen(app, "127.0.0.1", 0) as at:
            return sorted(
                took for *_, took in await asyncio.gather(*(ask(at.port) for _ in range(4)))
            )

    took = asyncio.run(run())
    assert took[0] >= 0.2
    assert took[2] >= 0.39


def test_a_handler_that_fails_is_a_500_without_its_message() -> None:
    def handler(body: bytes) -> Planned:
        raise ValueError("the secret is 42")

    async def run() -> tuple[int, dict[str, object], float]:
        async with listen(one_route(handler), "127.0.0.1", 0) as at:
            return await ask(at.port)

    status, value, _ = asyncio.run(run())
    assert status == 500
    assert "42" not in json.dumps(value)


def test_a_body_that_never_comes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_replies, "BODY_S", 0.05)

    async def run() -> bytes:
        async with listen(one_route(lambda body: Planned({})), "127.0.0.1", 0) as at:
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf")
            status = await reader.readline()
            writer.close()
            return status

    assert b" 408 " in asyncio.run(run())


_WHOLE = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [b"POST / HT"],
        [b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-"],
        [_WHOLE, b"POST / HTTP/1.1\r\nHost"],
        [_WHOLE, b"\r\n"],
        [b"POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n", b"part"],
    ],
    ids=["nothing", "half a line", "half a head", "half a second", "an empty line", "half a body"],
)
def test_a_connection_that_asks_for_nothing_is_closed(
    sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every client that opens one and goes to sleep keeps a descriptor for ever."""
    monkeypatch.setattr(http_server, "IDLE_S", 0.1)

    async def run() -> bytes:
        async with listen(one_route(lambda body: Planned({})), "127.0.0.1", 0) as at:
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            found = b""
            for part in sent:
                writer.write(part)
                if part.startswith(b"POST") and part.endswith((b"{}", b"\n\r\n")):
                    found += await reader.readuntil(b"}")
            found += await asyncio.wait_for(reader.read(), 30)
            writer.close()
            return found

    assert asyncio.run(run()).count(b"HTTP/1.1 ") == sum(b"\r\n\r\n" in part for part in sent)


def test_a_trickle_of_bytes_is_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "IDLE_S", 0.3)

    async def run() -> int:
        async with listen(one_route(lambda body: Planned({})), "127.0.0.1", 0) as at:
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            closed = asyncio.create_task(reader.read())
            writer.write(b"POST / HTTP/1.1\r\nX-Long: ")
            sent = 0
            while not closed.done() and sent < 3000:
                writer.write(b"x")
                sent += 1
                await asyncio.wait({closed}, timeout=0.02)
            writer.close()
            return sent

    assert asyncio.run(run()) < 3000


def test_a_request_that_takes_long_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "IDLE_S", 0.1)

    async def run() -> int:
        async with listen(one_route(lambda body: Planned({}, 0.5)), "127.0.0.1", 0) as at:
            return (await ask(at.port))[0]

    assert asyncio.run(run()) == 200


def test_replies_that_nobody_will_wait_for_end_with_the_server() -> None:
    async def run() -> bytes:
        app = one_route(lambda body: Planned({}, 600.0))
        async with listen(app, "127.0.0.1", 0) as at:
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
            await asyncio.sleep(0.05)
        reply = await reader.read()
        writer.close()
        return reply

    assert b"200 OK" not in asyncio.run(asyncio.wait_for(run(), 30))


def test_accepted_connections_do_not_wait_for_acknowledgements() -> None:
    """Else every body would wait 40 ms behind its head: the planned moment would be no moment."""
    seen = []

    def handler(body: bytes) -> Planned:
        return Planned({})

    async def run() -> None:
        async with listen(one_route(handler), "127.0.0.1", 0) as at:
            _, writer = await asyncio.open_connection("127.0.0.1", at.port)
            ours = writer.get_extra_info("sockname")
            await asyncio.sleep(0.05)
            for transport in [t for t in _transports() if t.get_extra_info("peername") == ours]:
                sock = transport.get_extra_info("socket")
                seen.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

    asyncio.run(run())
    assert seen
    assert all(seen)


def _transports() -> list[asyncio.Transport]:
    import gc

    return [x for x in gc.get_objects() if isinstance(x, asyncio.Transport)]


def test_a_taken_port_is_bad_input() -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            async with listen(
                one_route(lambda _: Planned({})), "127.0.0.1", taken.getsockname()[1]
            ):
                pass

    with pytest.raises(InputError, match="choose another --port"):
        asyncio.run(run())


def test_refusals_carry_a_code() -> None:
    assert Refusal(404, "x").code == "not_found"
    assert Refusal(404, "x", code="model_not_found").code == "model_not_found"
