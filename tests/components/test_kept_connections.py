"""What a kept connection can do to a measurement: queue in silence, hold a stale reply, send odd headers."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.registry import create
from tests.components.protocols import PROTOCOLS, REQUEST, RIGHT, SYSTEMONE, Protocol, asked_once
from tests.components.secure import Certificate, make_certificate
from tests.components.test_http_policy import _VARIABLES

each = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


class SlowHttp2:
    """An HTTP/2 server that allows so many requests at once on a connection and answers when told."""

    def __init__(
        self, certificate: Certificate, streams: int | None, body: bytes, wanted: int
    ) -> None:
        self.context = certificate.context
        self.context.set_alpn_protocols(["h2"])
        self.streams, self.body, self.wanted = streams, body, wanted
        self.connections = self.waiting = self.most = 0
        self.all_in = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from h2.config import H2Configuration
        from h2.connection import H2Connection
        from h2.events import DataReceived, StreamEnded
        from h2.settings import SettingCodes, Settings

        self.connections += 1
        connection = H2Connection(H2Configuration(client_side=False))
        if self.streams is not None:
            allowed = {SettingCodes.MAX_CONCURRENT_STREAMS: self.streams}
            connection.local_settings = Settings(client=False, initial_values=allowed)
        connection.initiate_connection()
        writer.write(connection.data_to_send())

        async def answer(stream: int) -> None:
            await self.all_in.wait()
            connection.send_headers(
                stream, [(":status", "200"), ("content-type", "application/json")]
            )
            connection.send_data(stream, self.body, end_stream=True)
            writer.write(connection.data_to_send())

        answering = []
        while data := await reader.read(65536):
            for event in connection.receive_data(data):
                if isinstance(event, DataReceived):
                    connection.acknowledge_received_data(
                        event.flow_controlled_length or 0, event.stream_id or 0
                    )
                elif isinstance(event, StreamEnded):
                    self.waiting += 1
                    if self.waiting >= self.wanted:
                        self.all_in.set()
                    answering.append(asyncio.create_task(answer(event.stream_id or 0)))
            writer.write(connection.data_to_send())
        writer.close()


@pytest.mark.parametrize("streams", [1, 2, None])
def test_no_request_waits_for_a_stream_of_an_http2_connection(
    certificate: Certificate, streams: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server answers nothing before it has all five: a request that waited would end it in a timeout."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))

    async def play() -> tuple[SlowHttp2, list[Any]]:
        served = SlowHttp2(certificate, streams, SYSTEMONE.body(RIGHT), 1)
        server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=served.context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        component = create("systemone:m", Options(base_url=url, timeout_s=30.0))
        await component.open()
        try:
            first = await component.answer(REQUEST)  # the server has said what it allows
            served.wanted, served.waiting = 5, 0
            served.all_in.clear()
            rest = await asyncio.gather(*(component.answer(REQUEST) for _ in range(5)))
        finally:
            await component.close()
            server.close()
        return served, [first, *rest]

    served, answers = asyncio.run(play())
    assert all(answer.labels == RIGHT for answer in answers)
    assert served.connections == {1: 5, 2: 3, None: 1}[streams]


@pytest.mark.parametrize("streams", [1, None])
def test_the_first_requests_do_not_wait_either(
    certificate: Certificate, streams: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))

    async def play() -> None:
        served = SlowHttp2(certificate, streams, SYSTEMONE.body(RIGHT), 4)
        server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=served.context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        component = create("systemone:m", Options(base_url=url, timeout_s=30.0))
        await component.open()
        try:
            found = await asyncio.gather(*(component.answer(REQUEST) for _ in range(4)))
            assert [answer.labels for answer in found] == [RIGHT] * 4
        finally:
            await component.close()
            server.close()

    asyncio.run(play())


@contextmanager
def raw_server(parts: list[tuple[float, bytes]]) -> Iterator[tuple[str, list[int]]]:
    """Answers every request with these bytes, each after a pause; counts requests per connection."""
    counts: list[int] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError):  # a client that drops the connection is the point
            talk(connection)

    def talk(connection: socket.socket) -> None:
        counts.append(0)
        mine = len(counts) - 1
        with connection, connection.makefile("rb") as lines:
            while True:
                length = None
                for line in iter(lines.readline, b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                    if line == b"\r\n":
                        break
                if length is None:
                    return
                lines.read(length)
                counts[mine] += 1
                for pause_s, data in parts:
                    time.sleep(pause_s)
                    connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", counts


def http(body: bytes, headers: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%b\r\n"
    return head % (len(body), headers) + body


@each
@pytest.mark.parametrize("pause_s", [0.0, 0.05], ids=["at once", "later"])
def test_bytes_nobody_asked_for_are_never_the_next_answer(
    protocol: Protocol, pause_s: float
) -> None:
    """The server sends a second reply, with another model, after every reply."""
    body = json.loads(protocol.body(RIGHT))
    right = http(json.dumps({**body, "model": "asked"}).encode())
    stale = http(json.dumps({**body, "model": "unasked"}).encode())
    parts = [(0.0, right + stale)] if not pause_s else [(0.0, right), (pause_s, stale)]

    async def play(url: str) -> list[str | None]:
        component = create(f"{protocol.provider}:m", Options(base_url=url))
        await component.open()
        try:
            models = []
            for _ in range(3):
                models.append((await component.answer(REQUEST)).model)
                await asyncio.sleep(3 * pause_s)
            return models
        finally:
            await component.close()

    with raw_server(parts) as (url, counts):
        assert asyncio.run(play(url)) == ["asked"] * 3
        assert counts == [1, 1, 1]


@each
@pytest.mark.parametrize("value", ["Zürich".encode(), "Zürich".encode("latin-1"), b"\xff\xfe"])
def test_a_header_that_is_not_ascii_ends_nothing(protocol: Protocol, value: bytes) -> None:
    reply = http(protocol.body(RIGHT), b"X-Region: " + value + b"\r\n")
    with raw_server([(0.0, reply)]) as (url, _):
        component = create(f"{protocol.provider}:m", Options(base_url=url))
        assert asked_once(component).labels == RIGHT
