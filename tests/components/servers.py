"""A real HTTP server on loopback that plays a script and keeps what it received."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One scripted response. `reset` cuts the connection after `body`; `hang` never answers."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    reset: bool = False
    hang: bool = False


@dataclass(frozen=True)
class Received:
    """What the client really sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """Plays `replies` in order, then repeats the last one; `received` holds every request."""

    def __init__(self, replies: list[Reply]) -> None:
        self.received: list[Received] = []
        self._replies = replies
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def next_reply(self, received: Received) -> Reply:
        with self._lock:
            self.received.append(received)
            return self._replies[min(len(self.received), len(self._replies)) - 1]

    def wait_until_stopped(self) -> None:
        self._stop.wait(60)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no fault; what is one is told."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the client has given up in the middle of its request
            self.close_connection = True
            return
        received = Received("POST", self.path, dict(self.headers.items()), body)
        reply = self.server.owner.next_reply(received)
        if reply.hang:
            self.server.owner.wait_until_stopped()
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        # A reset promises more than it sends.
        self.send_header("Content-Length", str(len(reply.body) + (1000 if reply.reset else 0)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        if reply.reset:
            self.wfile.flush()
            # Linger 0: the close is a TCP reset, not an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def scripted(*replies: Reply) -> Iterator[ScriptedServer]:
    server = ScriptedServer(list(replies))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def unused_port() -> int:
    """A port nobody listens on: connecting to it is refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
