"""Why no answer came: the host and the kind of failure, in words, and whether waiting can help.

A name that nobody knows, a certificate nobody trusts and a missing package stay what they are
however often one asks. A refused or broken connection may be a server that starts again.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2

__all__ = ["Place", "ReplyRefusedError", "Trouble", "explain"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where requests go, in words fit for a message: no path, no credentials."""

    host: str
    proxy: str | None = None
    certificates: str = "the system's certificates"


@dataclass(frozen=True, slots=True)
class Trouble:
    """One failure: what happened where, what to do, and whether the same request may succeed."""

    kind: str
    words: str
    fix: str
    heals: bool


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
