"""An ASGI application on a port of this machine, until it is stopped.

The server is uvicorn. Its own signal handling ends the process by the signal that it caught, and its
messages go to standard error; both are replaced here, because `sdb` says itself what happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamdecisionbench.errors import InputError

IDLE_S = 120.0
"""A connection that has not sent a whole request head for this long is closed."""

LARGEST_HEAD = 1 << 16
"""Bytes of a request besides its body: line, headers, and what frames and follows a body in chunks."""

_REFUSAL = b"request head above %d bytes" % LARGEST_HEAD
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(_REFUSAL), _REFUSAL)
)
_MOST_FRAMING = 8
"""Bytes that frame one byte of a body, at most: `1`, two line breaks, and some room."""
_LINGER_S = 5.0

_BACKLOG = 1024
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server really listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}"


@asynccontextmanager
async def listen(app: Starlette, host: str, port: int) -> AsyncIterator[ServerAddress]:
    """Serves `app` on `host:port` (0: any free port) while the block runs.

    Leaving it closes what waits: a planned reply without a waiting client is not an answer.
    """
    bound = _bind(host, port)
    asyncio.get_running_loop().set_exception_handler(_once())
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        http=_Connection,
        timeout_keep_alive=IDLE_S,  # type: ignore[arg-type]
        timeout_graceful_shutdown=0,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([bound]))
    try:
        while not server.started and not running.done():
            await asyncio.sleep(0)
        yield ServerAddress(*bound.getsockname()[:2])
    finally:
        server.should_exit = True
        await running


def stop_signal() -> asyncio.Event:
    """Set at the first interrupt or termination signal, from now on."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    return stop


def _once() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Tells each kind of trouble once: out of file descriptors, asyncio reports every refused client."""
    told: set[str] = set()

    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        what = str(context.get("message", "trouble"))
        if what not in told:
            told.add(what)
            error = context.get("exception")
            reason = getattr(error, "strerror", None) or type(error).__name__
            _LOG.error("%s (%s); the same is not told again", what, reason)

    return tell


def _bind(host: str, port: int) -> socket.socket:
    if not host.strip():
        raise InputError(
            "--host is empty, which would mean every address of this machine",
            fix="leave it out for 127.0.0.1, or write 0.0.0.0 to listen on all",
        )
    # The protocol is named because asyncio turns Nagle's algorithm off only where it is; with it on,
    # a reply's body waits 40 ms for the acknowledgement of its head.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror})",
            fix="choose another --port or --host",
        ) from None
    return bound


class _Connection(HttpToolsProtocol):
    """Closed when it asks for nothing, at its beginning and in the middle of a head as well.

    The library itself waits `timeout_keep_alive` after a reply, until the first byte that follows, and
    before the first request for ever. It also keeps a head of any size in memory; here one above
    `LARGEST_HEAD` is refused.
    """

    _patience: asyncio.TimerHandle | None = None
    _unframed = 0
    """Bytes of this request so far that are not its body."""
    _framed = 0
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unframed += len(data)
        super().data_received(data)
        if self._unframed > LARGEST_HEAD + _MOST_FRAMING * self._framed:
            self._refuse()
        self._wait()

    def on_headers_complete(self) -> None:
        named = sum(len(name) + len(value) + 4 for name, value in self.headers)
        if len(self.url) + named > LARGEST_HEAD:
            self._refuse()
        if not self._refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unframed -= len(body)
        self._framed += len(body)
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unframed = self._framed = 0
        if not self._refused:
            super().on_message_complete()

    def _refuse(self) -> None:
        """Answers, unless an earlier request of the connection still waits for its reply.

        Further input of the client is read and dropped for a while: closing at once would lose the answer.
        """
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self._asks:
            self.transport.close()
            return
        self.transport.write(_TOO_LARGE)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER_S, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._patience is not None:
            self._patience.cancel()

    @property
    def _asks(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        """Single bytes do not restart the timer; a request ends it."""
        if self._asks and self._patience is not None:
            self._patience.cancel()
            self._patience = None
        elif not self._asks and self._patience is None:
            self._patience = self.loop.call_later(IDLE_S, self.transport.close)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
