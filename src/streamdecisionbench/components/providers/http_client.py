"""The HTTP client every provider's library is given, and why no answer came, in words.

It follows the settings of `connection` and notes what client libraries do not tell. A name that nobody
knows, a certificate nobody trusts and a missing package stay what they are however often one asks; a
refused or broken connection may be a server that starts again.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
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
    try:
        inner = httpx2.AsyncHTTPTransport(
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
    transport = _Observing(inner, settings.place(host), observed, dict(headers or {}))
    return httpx2.AsyncClient(
        transport=transport, timeout=timeout_s, follow_redirects=False, trust_env=False
    )


class _Observing(httpx2.AsyncBaseTransport):
    """Passes requests on, and notes what client libraries do not tell."""

    def __init__(
        self,
        inner: httpx2.AsyncHTTPTransport,
        place: Place,
        observed: Observed,
        headers: Mapping[str, str],
    ) -> None:
        self._inner = inner
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
            elif event.endswith("send_request_headers.started"):
                note.phase = "waiting"

        request.extensions = {**request.extensions, "trace": trace}
        self._observed.requests += 1
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            note.trouble = explain(error, self._place)
            raise
        note.phase = "reading"
        note.status = response.status_code
        note.headers = response.headers
        self._observed.versions[_version(response)] += 1
        encoding = response.headers.get("content-encoding", "identity")
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length")
        ]
        stream = _Bounded(response, encoding, note, self._place)
        return httpx2.Response(
            response.status_code, headers=headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A reply's body, decompressed here, and never more of it than `MAX_REPLY`."""

    def __init__(self, response: httpx2.Response, encoding: str, note: Note, place: Place) -> None:
        self._response = response
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
        await self._response.aclose()


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
