"""The HTTP client every provider's library is given: it follows the policy and notes what it saw."""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx2

from streamdecisionbench.components.providers.connection_errors import (
    Place,
    ReplyRefusedError,
    explain,
)
from streamdecisionbench.components.providers.http_policy import NOTE, HttpPolicy, Note, Observed
from streamdecisionbench.errors import InputError

__all__ = ["MAX_REPLY", "make_client", "ssl_context"]

MAX_REPLY = 16 * 1024 * 1024
"""Bytes of a reply, decompressed. An answer has a few thousand."""


def make_client(
    policy: HttpPolicy,
    host: str,
    timeout_s: float,
    observed: Observed,
    headers: Mapping[str, str] | None = None,
) -> httpx2.AsyncClient:
    """The client a provider's library is given. `headers` go with every request, over its own."""
    try:
        inner = httpx2.AsyncHTTPTransport(
            verify=ssl_context(policy),
            trust_env=False,
            http2=policy.http2,
            limits=httpx2.Limits(
                # The recorder limits what is in flight; waiting here would pass for latency.
                max_connections=None,
                max_keepalive_connections=None,
                keepalive_expiry=policy.keepalive_s,
            ),
            proxy=policy.proxy,
            socket_options=_socket_options(),
        )
    except ImportError:
        raise InputError(
            f"the proxy {policy.proxy_host} speaks SOCKS, which needs the package socksio",
            where="ALL_PROXY, HTTP_PROXY or HTTPS_PROXY",
            fix="pip install socksio, or unset the variable for this command",
        ) from None
    except ValueError:
        raise InputError(
            f"the proxy {policy.proxy_host} is of a kind nobody here speaks",
            where="ALL_PROXY, HTTP_PROXY or HTTPS_PROXY",
            fix="give an address that begins with http:// or socks5://",
        ) from None
    transport = _Observing(inner, policy.place(host), observed, dict(headers or {}))
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


def ssl_context(policy: HttpPolicy) -> ssl.SSLContext:
    """The system's certificates, or those the environment names instead."""
    stamps = tuple(_stamp(Path(value)) for _, value in policy.certificates)
    return _context(policy.certificates, stamps, policy.http2)


@lru_cache(maxsize=8)
def _context(
    certificates: tuple[tuple[str, str], ...], stamps: tuple[object, ...], http2: bool
) -> ssl.SSLContext:
    """Read once while its files are as they were; what is offered on connecting is kept there too."""
    if not certificates:
        return httpx2.create_ssl_context(trust_env=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name, value in certificates:
        path = Path(value)
        try:
            if path.is_dir():
                context.load_verify_locations(capath=path)
            else:
                context.load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError):
            raise InputError(
                f"{name} names no file or folder of certificates",
                where=name,
                fix="correct the variable, or unset it to use the system's certificates",
            ) from None
    return context


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _socket_options() -> list[tuple[int, int, int]]:
    """TCP keep-alive, so that a connection waiting for a slow answer is not cut on the way."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        number = getattr(socket, name, None)
        if number is not None:
            options.append((socket.IPPROTO_TCP, number, value))
    return options
