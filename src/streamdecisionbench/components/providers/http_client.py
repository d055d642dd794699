"""The HTTP client every provider's library is given, and the reason when no answer came.

It follows the settings of `connection` and notes what client libraries do not tell. An unknown host
name, an untrusted certificate and a missing package are permanent failures. A refused or broken
connection may be a server that restarts.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Any

import httpx2

from streamdecisionbench.components.providers.connection import (
    NOTE,
    HttpSettings,
    Note,
    Observed,
    Place,
    Trouble,
    ssl_context,
)
from streamdecisionbench.errors import InputError

MAX_REPLY = 16 * 1024 * 1024
"""Bytes of a reply, decompressed. An answer has a few thousand."""


def make_client(
    settings: HttpSettings,
    host: str,
    timeout_s: float,
    observed: Observed,
    headers: Mapping[str, str] | None = None,
) -> httpx2.AsyncClient:
    """The client a provider's library is given. `headers` go with every request, over its own."""

    def connect() -> httpx2.AsyncHTTPTransport:
        return httpx2.AsyncHTTPTransport(
            verify=ssl_context(settings),
            trust_env=False,
            http2=settings.http2,
            limits=httpx2.Limits(
                # The recorder limits what is in flight; waiting here would pass for latency.
                max_connections=None,
                max_keepalive_connections=None,
                keepalive_expiry=settings.keepalive_s,
            ),
            proxy=settings.proxy,
            socket_options=_socket_options(),
        )

    try:
        lanes = _Lanes(connect, 1 if settings.http2 else _MOST_STREAMS)
    except ImportError:
        raise InputError(
            f"the proxy {settings.proxy_host} speaks SOCKS, which needs the package socksio",
            where="ALL_PROXY, HTTP_PROXY or HTTPS_PROXY",
            fix="pip install socksio, or unset the variable for this command",
        ) from None
    except ValueError:
        raise InputError(
            f"the proxy {settings.proxy_host} is of a kind nobody here speaks",
            where="ALL_PROXY, HTTP_PROXY or HTTPS_PROXY",
            fix="give an address that begins with http:// or socks5://",
        ) from None
    transport = _Observing(lanes, settings.place(host), observed, dict(headers or {}))
    return httpx2.AsyncClient(
        transport=transport, timeout=timeout_s, follow_redirects=False, trust_env=False
    )


_MOST_STREAMS = 1_000_000
"""HTTP/1.1 has a connection for every request: its pool opens what it needs."""
_STREAMS_UNSTATED = 100
"""Requests of one HTTP/2 connection at once where the server sets no limit: the client library's own."""


class _Lanes:
    """Enough connections that no request waits for a stream of an HTTP/2 connection.

    A server may allow one request at a time on a connection (MAX_CONCURRENT_STREAMS), and the client
    library waits for it without a word: that would pass for latency. Each lane has its own
    connection and takes as many requests as the server allows; one, until it has said how many.
    """

    def __init__(self, connect: Callable[[], httpx2.AsyncHTTPTransport], streams: int) -> None:
        self._connect, self._streams, self._stated = connect, streams, False
        self._lanes = [connect()]
        self._taken = [0]

    def take(self, scheme: str) -> tuple[int, httpx2.AsyncHTTPTransport]:
        """The lane with the most free places, and its number; HTTP/2 is offered with TLS alone."""
        k = 0 if scheme == "http" else self._taken.index(min(self._taken))
        if scheme != "http" and self._taken[k] >= self._streams:
            k = len(self._lanes)
            self._lanes.append(self._connect())
            self._taken.append(0)
        self._taken[k] += 1
        return k, self._lanes[k]

    def leave(self, k: int) -> None:
        self._taken[k] -= 1

    def settled(self, settings: Any) -> None:
        """The server's own limit, as its settings frame states it."""
        stated = getattr(settings, "changed_settings", {}).get(_MAX_CONCURRENT_STREAMS)
        new = getattr(stated, "new_value", None)
        if isinstance(new, int):
            self._streams, self._stated = max(1, min(new, _STREAMS_UNSTATED)), True
        elif not self._stated:
            self._streams = _STREAMS_UNSTATED

    def plain(self) -> None:
        """The server speaks HTTP/1.1."""
        if not self._stated:
            self._streams = _MOST_STREAMS

    async def aclose(self) -> None:
        for lane in self._lanes:
            await lane.aclose()


_MAX_CONCURRENT_STREAMS = 3
"""The number of this setting in RFC 9113."""


class _Observing(httpx2.AsyncBaseTransport):
    """Passes requests on, and notes what client libraries do not tell."""

    def __init__(
        self,
        lanes: _Lanes,
        place: Place,
        observed: Observed,
        headers: Mapping[str, str],
    ) -> None:
        self._lanes = lanes
        self._place = place
        self._observed = observed
        self._headers = headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        note = NOTE.get() or Note()
        request.headers.update(self._headers)
        # The one compression whose output we can bound; the same for every service.
        request.headers["Accept-Encoding"] = "gzip"

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                self._observed.connections += 1
            elif event == "http2.send_request_headers.started":
                note.phase = "waiting"
            elif event == "http11.send_request_headers.started":
                note.phase = "waiting"
                if info["request"].method != b"CONNECT":  # a proxy's, before a tunnel
                    self._lanes.plain()
            elif event == "http2.receive_remote_settings.complete":
                self._lanes.settled(info.get("return_value"))

        request.extensions = {**request.extensions, "trace": trace}
        self._observed.requests += 1
        number, lane = self._lanes.take(request.url.scheme)
        try:
            response = await lane.handle_async_request(request)
        except BaseException as error:
            self._lanes.leave(number)
            if isinstance(error, httpx2.TransportError):
                note.trouble = explain(error, self._place)
            raise
        note.phase = "reading"
        note.status = response.status_code
        note.headers = response.headers
        self._observed.versions[_version(response)] += 1
        encoding = response.headers.get("content-encoding", "identity")
        # As bytes: a header need not be ASCII.
        headers = [
            (name, value)
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length")
        ]
        left = partial(self._lanes.leave, number)
        stream = _Bounded(response, encoding, note, self._place, left)
        return httpx2.Response(
            response.status_code, headers=headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._lanes.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A reply's body, decompressed here, and never more of it than `MAX_REPLY`."""

    def __init__(
        self,
        response: httpx2.Response,
        encoding: str,
        note: Note,
        place: Place,
        closed: Callable[[], None],
    ) -> None:
        self._response = response
        self._closed: Callable[[], None] | None = closed
        self._encoding = encoding.strip().lower()
        self._note = note
        self._place = place

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            size = 0
            async for part in self._plain():
                size += len(part)
                if size > MAX_REPLY:
                    raise ReplyRefusedError(f"is larger than {MAX_REPLY // 1024 // 1024} MB")
                yield part
        except (httpx2.TransportError, ReplyRefusedError) as error:
            self._note.trouble = explain(error, self._place)
            raise

    async def _plain(self) -> AsyncIterator[bytes]:
        stream = self._response.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            raise ReplyRefusedError("is not a stream")
        if self._encoding in ("", "identity"):
            async for part in stream:
                yield part
            return
        if self._encoding not in ("gzip", "x-gzip", "deflate"):
            raise ReplyRefusedError("is compressed in a way nobody asked for")
        unzip = zlib.decompressobj(wbits=47)  # gzip or zlib, told by its first bytes
        try:
            async for part in stream:
                rest = part
                while rest:
                    yield unzip.decompress(rest, 256 * 1024)
                    rest = unzip.unconsumed_tail
            yield unzip.flush()
        except zlib.error:
            raise ReplyRefusedError("is not the gzip it says it is") from None

    async def aclose(self) -> None:
        try:
            if _unsolicited(self._response):
                await self._response.extensions["network_stream"].aclose()
            await self._response.aclose()
        finally:
            closed, self._closed = self._closed, None
            if closed is not None:
                closed()


def _unsolicited(response: httpx2.Response) -> bool:
    """Whether the server sent more than this reply: the client library would take it as the next one.

    Bytes that come later, on an idle connection, the library notices itself.
    """
    found: Any = response.stream
    for name in ("_httpcore_stream", "_stream", "_connection", "_h11_state"):
        found = getattr(found, name, None)
    return found is not None and bool(found.trailing_data[0])


def _version(response: httpx2.Response) -> str:
    raw = response.extensions.get("http_version", b"")
    return raw.decode("ascii", "replace") if isinstance(raw, bytes) else str(raw)


class ReplyRefusedError(Exception):
    """A reply we do not read to its end; `words` say why."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


def explain(error: BaseException, place: Place) -> Trouble:
    """The trouble behind a client library's exception, found along its chain of causes."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ReplyRefusedError):
            return Trouble(
                "reply",
                f"the reply of {place.host} {cause.words}",
                "check that --base-url leads to the API itself",
                heals=False,
            )
        if isinstance(cause, httpx2.ProxyError):
            return _proxy(place, "does not pass the request on")
        if isinstance(cause, ssl.SSLError):
            return _tls(cause, place)
        if isinstance(cause, socket.gaierror):
            return _name(cause, place)
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            if place.proxy:
                return _proxy(place, "refuses the connection")
            return Trouble(
                "refused",
                f"{place.host} refuses the connection: nobody listens there",
                "start the server, or correct --base-url",
                heals=True,
            )
        if isinstance(cause, OSError) and cause.errno is not None:
            what = cause.strerror or type(cause).__name__
            return Trouble(
                "unreachable", f"{place.host} cannot be reached ({what})", _NETWORK, heals=True
            )
    if isinstance(error, httpx2.TimeoutException):
        return Trouble("timeout", f"{place.host} does not answer in time", _NETWORK, heals=True)
    return Trouble("broken", f"the connection to {place.host} broke off", _NETWORK, heals=True)


_NETWORK = "check the network and the server, then go on with --resume"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it came from, and the members of groups on the way."""
    seen: BaseException | None = error
    for _ in range(20):
        if seen is None:
            return
        yield seen
        if isinstance(seen, BaseExceptionGroup):
            for member in seen.exceptions:
                yield from _causes(member)
        seen = seen.__cause__ or seen.__context__


def _proxy(place: Place, what: str) -> Trouble:
    return Trouble(
        "proxy",
        f"the proxy {place.proxy} {what} (on the way to {place.host})",
        "correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or name the host in NO_PROXY",
        heals=False,
    )


def _tls(error: ssl.SSLError, place: Place) -> Trouble:
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message or "it cannot be verified"
        return Trouble(
            "certificate",
            f"the certificate of {place.host} is not trusted ({reason}; checked against"
            f" {place.certificates})",
            "name the authority's certificate in SSL_CERT_FILE, SSL_CERT_DIR or REQUESTS_CA_BUNDLE",
            heals=False,
        )
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return Trouble(
            "not_tls",
            f"{place.host} does not speak TLS: the address says https, the server speaks http",
            "write http:// instead of https:// in --base-url",
            heals=False,
        )
    return Trouble(
        "tls",
        f"no TLS connection to {place.host} ({error.reason or type(error).__name__})",
        "check the server's certificate and protocol versions",
        heals=False,
    )


def _name(error: socket.gaierror, place: Place) -> Trouble:
    where = f"the proxy {place.proxy}" if place.proxy else place.host
    fix = (
        "correct the proxy variable" if place.proxy else "correct --base-url, or check the network"
    )
    passing = error.errno == socket.EAI_AGAIN
    what = (
        "cannot be resolved right now" if passing else "has no address: its name does not resolve"
    )
    return Trouble("name", f"{where} {what}", fix, heals=passing)


def _socket_options() -> list[tuple[int, int, int]]:
    """TCP keep-alive, so that a connection waiting for a slow answer is not cut on the way."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        number = getattr(socket, name, None)
        if number is not None:
            options.append((socket.IPPROTO_TCP, number, value))
    return options
