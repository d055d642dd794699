"""A small HTTP/1.1 server on asyncio that answers at a planned moment, for measuring time.

A handler is a plain function from a request to a reply with a delay. The reply is ready before the
wait starts and leaves at `arrival + delay`, so the server's own work is inside the delay, not on
top of it. A waiting request costs one timer: hundreds may wait at once. Connections are kept alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

__all__ = ["Handler", "HttpError", "HttpReply", "HttpRequest", "error_reply", "json_reply", "start"]

MAX_HEAD = 32 * 1024
MAX_BODY = 8 * 1024 * 1024
IDLE_S = 120.0
"""A connection that sends nothing, or half a request, for this long is closed."""

_LOG = logging.getLogger(__name__)
_READ_AHEAD = 256 * 1024
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, complete. `path` has no query string; header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What goes back, `delay_s` after the request had arrived."""

    status: int
    body: bytes
    delay_s: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[HttpRequest], HttpReply]


class HttpError(Exception):
    """A refusal with a status; `close` when the rest of the connection cannot be understood."""

    def __init__(self, status: int, message: str, *, code: str = "", close: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "_")
        self.close = close


def json_reply(value: Any, *, status: int = 200, delay_s: float = 0.0) -> HttpReply:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return HttpReply(status, body, delay_s)


def error_reply(status: int, message: str, code: str) -> HttpReply:
    """The error shape both protocols' clients read."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return json_reply({"error": error}, status=status)


async def start(handler: Handler, host: str, port: int) -> asyncio.Server:
    """Listens on `host:port` (0: any free port). Raises OSError when the address is taken."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: _Connection(handler, loop), host, port, backlog=1024)


@dataclass(slots=True)
class _Head:
    method: str
    path: str
    headers: dict[str, str]
    keep_alive: bool
    length: int
    expects_continue: bool = field(default=False)


class _Connection(asyncio.Protocol):
    """One client connection: requests one after another, in the order they came."""

    def __init__(self, handler: Handler, loop: asyncio.AbstractEventLoop) -> None:
        self._handler = handler
        self._loop = loop
        self._buffer = bytearray()
        self._head: _Head | None = None
        self._waiting: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream transport is needed")
        self._transport = transport
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for timer in (self._waiting, self._idle):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._waiting is None:
            self._advance()
        elif len(self._buffer) > _READ_AHEAD and self._transport is not None:
            # A client that sends ahead while its answer is pending waits, instead of filling memory.
            self._transport.pause_reading()
            self._paused = True

    def eof_received(self) -> bool:
        # A client that has said all it will say still gets its pending answer.
        self._ended = True
        return self._waiting is not None

    def _advance(self) -> None:
        """Takes up the next complete request, if there is one."""
        try:
            if self._head is None:
                self._head = _take_head(self._buffer)
                if self._head is not None and self._head.expects_continue:
                    self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            if self._head is None or len(self._buffer) < self._head.length:
                return
            arrived = self._loop.time()
            head, self._head = self._head, None
            body = bytes(self._buffer[: head.length])
            del self._buffer[: head.length]
        except HttpError as error:
            self._send(error_reply(error.status, error.message, error.code), keep_alive=False)
            return
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        reply = self._handle(head, body)
        if reply.delay_s > 0:
            self._waiting = self._loop.call_at(
                arrived + reply.delay_s, self._answer, reply, head.keep_alive
            )
        else:
            # From the loop, not from here: many pipelined requests must not nest.
            self._waiting = self._loop.call_later(0, self._answer, reply, head.keep_alive)

    def _handle(self, head: _Head, body: bytes) -> HttpReply:
        try:
            body = _decoded(body, head.headers.get("content-encoding", "identity"))
            return self._handler(HttpRequest(head.method, head.path, head.headers, body))
        except HttpError as error:
            return error_reply(error.status, error.message, error.code)
        except Exception as error:
            # The type alone: a message could quote the request.
            _LOG.error("handler failed: %s", type(error).__name__)
            return error_reply(500, "the server failed on this request", "internal_error")

    def _answer(self, reply: HttpReply, keep_alive: bool) -> None:
        self._waiting = None
        self._send(reply, keep_alive=keep_alive)
        if not keep_alive:
            return
        self._watch()
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
            self._paused = False
        self._advance()
        if self._ended and self._waiting is None and self._transport is not None:
            self._transport.close()

    def _send(self, reply: HttpReply, *, keep_alive: bool) -> None:
        lines = [
            f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
            "Content-Type: application/json",
            f"Content-Length: {len(reply.body)}",
            f"Connection: {'keep-alive' if keep_alive else 'close'}",
            *(f"{name}: {value}" for name, value in reply.headers),
        ]
        self._write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + reply.body)
        if not keep_alive and self._transport is not None:
            self._transport.close()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _watch(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(IDLE_S, self._give_up)

    def _give_up(self) -> None:
        if self._transport is None:
            return
        if self._head is not None or self._buffer:
            self._send(
                error_reply(408, "the request did not arrive in time", "timeout"), keep_alive=False
            )
        else:
            self._transport.close()


def _take_head(buffer: bytearray) -> _Head | None:
    """The request line and headers at the start of `buffer`, removed from it; None: not yet whole."""
    while buffer.startswith(b"\r\n"):
        del buffer[:2]
    end = buffer.find(b"\r\n\r\n")
    if end > MAX_HEAD or (end < 0 and len(buffer) > MAX_HEAD):
        raise HttpError(431, f"the request head is larger than {MAX_HEAD} bytes", close=True)
    if end < 0:
        return None
    lines = bytes(buffer[:end]).decode("latin-1").split("\r\n")
    del buffer[: end + 4]
    parts = lines[0].split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/"):
        raise HttpError(400, "the request line is not HTTP", close=True)
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise HttpError(505, "this server speaks HTTP/1.1", close=True)
    headers = _headers(lines[1:])
    connection = {word.strip().lower() for word in headers.get("connection", "").split(",")}
    keep_alive = "keep-alive" in connection if version == "HTTP/1.0" else "close" not in connection
    return _Head(
        method=method,
        path=target.partition("?")[0],
        headers=headers,
        keep_alive=keep_alive,
        length=_length(headers),
        expects_continue=headers.get("expect", "").lower() == "100-continue",
    )


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, separator, value = line.partition(":")
        name = name.lower()
        if not separator or not name or not _TOKEN.issuperset(name):
            raise HttpError(400, "a header line is malformed", close=True)
        if name in headers and name in ("content-length", "transfer-encoding", "host"):
            raise HttpError(400, f"the header {name} appears twice", close=True)
        headers[name] = value.strip()
    return headers


def _length(headers: dict[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise HttpError(411, "send Content-Length; chunked bodies are not read here", close=True)
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise HttpError(400, "Content-Length is not a number", close=True)
    if int(text) > MAX_BODY:
        raise HttpError(413, f"the body is larger than {MAX_BODY} bytes", close=True)
    return int(text)


def _decoded(body: bytes, encoding: str) -> bytes:
    """The body without its compression, never larger than `MAX_BODY`."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not body:
        return body
    if encoding == "gzip":
        unzip = zlib.decompressobj(wbits=31)
        with contextlib.suppress(zlib.error):
            plain = unzip.decompress(body, MAX_BODY)
            if unzip.unconsumed_tail:
                raise HttpError(413, f"the body is larger than {MAX_BODY} bytes")
            if unzip.eof:
                return plain
        raise HttpError(400, "the body is not valid gzip")
    raise HttpError(415, f"the body is encoded as {encoding[:20]!r}; send it plain or as gzip")
