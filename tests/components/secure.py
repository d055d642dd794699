"""Servers behind TLS: a certificate nobody knows, and one that offers HTTP/2."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for 127.0.0.1: trusted only where it is named."""

    file: Path
    key: Path

    @property
    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    made = Certificate(folder / "server.pem", folder / "server.key")
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", str(made.key), "-out", str(made.file),
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return made


@contextmanager
def http2_server(certificate: Certificate, body: bytes) -> Iterator[str]:
    """Offers h2 by ALPN and answers every request with `body`."""
    context = certificate.context
    context.set_alpn_protocols(["h2", "http/1.1"])
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    port: list[int] = []

    async def serve() -> None:
        server = await asyncio.start_server(
            lambda r, w: _http2(r, w, body), "127.0.0.1", 0, ssl=context
        )
        port.append(server.sockets[0].getsockname()[1])
        ready.set()

    def work() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if not ready.wait(30):
        raise RuntimeError("the server did not start")
    try:
        yield f"https://127.0.0.1:{port[0]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


async def _http2(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    from h2.config import H2Configuration
    from h2.connection import H2Connection
    from h2.events import DataReceived, RequestReceived, StreamEnded

    connection = H2Connection(H2Configuration(client_side=False))
    connection.initiate_connection()
    writer.write(connection.data_to_send())
    while data := await reader.read(65536):
        for event in connection.receive_data(data):
            if isinstance(event, DataReceived):
                connection.acknowledge_received_data(
                    event.flow_controlled_length or 0, event.stream_id or 0
                )
            elif isinstance(event, StreamEnded):
                stream = event.stream_id or 0
                headers = [(":status", "200"), ("content-type", "application/json")]
                connection.send_headers(stream, headers)
                connection.send_data(stream, body, end_stream=True)
            elif isinstance(event, RequestReceived):
                continue
        writer.write(connection.data_to_send())
        await writer.drain()
    writer.close()
