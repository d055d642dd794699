"""How connections are made, the same for every provider, so that none pays for what another is spared.

Client libraries differ in how long they keep an idle connection (5 s here, 30 s there): at 8 s
between states one service would pay a TLS handshake per request and the other none. All of them get
the same: long keep-alive, HTTP/2 where the server offers it, no redirects, replies of bounded size.
The run record has the settings in use. The client itself, and its library, are in `http_client`.
"""

from __future__ import annotations

import importlib.util
import os
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from streamdecisionbench.components.providers.address_and_key import is_this_machine
from streamdecisionbench.components.redaction import cut
from streamdecisionbench.errors import InputError

KEEPALIVE_S = 600.0

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class Place:
    """The destination of requests for a message, without path and credentials."""

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


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How connections are made and kept: the same for every provider of a run."""

    proxy: str | None = field(default=None, repr=False)
    certificates: tuple[tuple[str, str], ...] = ()
    http2: bool = True
    keepalive_s: float = KEEPALIVE_S

    @classmethod
    def for_url(cls, url: str) -> HttpSettings:
        """The settings for one address in this environment: its proxy, its certificates."""
        set_here = tuple((name, os.environ[name]) for name in _CERTIFICATES if os.environ.get(name))
        return cls(
            proxy=_proxy_for(url),
            certificates=set_here,
            http2=importlib.util.find_spec("h2") is not None,
        )

    @property
    def proxy_host(self) -> str | None:
        """The proxy without credentials."""
        if self.proxy is None:
            return None
        parts = urlsplit(self.proxy)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.hostname or '?'}{port}"

    def place(self, host: str) -> Place:
        names = ", ".join(name for name, _ in self.certificates)
        return Place(host, self.proxy_host, names or "the system's certificates")

    def to_json(self) -> dict[str, Any]:
        """For the run record; no path, no credentials."""
        return {
            "keepalive_s": self.keepalive_s,
            "http2": "where offered" if self.http2 else "no",
            "redirects": "not followed",
            "proxy": self.proxy_host,
            "certificates": [name for name, _ in self.certificates] or "system",
        }


@dataclass(frozen=True, slots=True)
class Server:
    """The host that a connection reaches without a proxy."""

    host: str
    port: int
    encrypted: bool
    settings: HttpSettings = field(repr=False)

    @classmethod
    def at(cls, url: str, settings: HttpSettings) -> Server | None:
        """The server of an address; None behind a proxy.

        >>> Server.at("https://models.example.org/v1", HttpSettings())
        Server(host='models.example.org', port=443, encrypted=True)
        """
        parts = urlsplit(url)
        if settings.proxy is not None or not parts.hostname:
            return None
        encrypted = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if encrypted else 80), encrypted, settings)

    def context(self) -> ssl.SSLContext | None:
        """How requests to it are encrypted."""
        return ssl_context(self.settings) if self.encrypted else None


@dataclass(slots=True)
class Observed:
    """The facts of the connection, for the run record."""

    server: Server | None = None
    requests: int = 0
    connections: int = 0
    versions: Counter[str] = field(default_factory=Counter)
    served: dict[str, Counter[str]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the server says of itself."""

    def serve(self, name: str, value: Any, hide: Callable[[str], str]) -> None:
        """The facts in a reply about its service: tier, speed."""
        if isinstance(value, str) and value.isprintable():
            self.served.setdefault(name, Counter())[cut(value, 40, hide)] += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "connections": self.connections,
            "http_versions": dict(sorted(self.versions.items())),
            **{name: dict(sorted(counts.items())) for name, counts in sorted(self.served.items())},
            **({"server": dict(self.facts)} if self.facts else {}),
        }


@dataclass(slots=True)
class Note:
    """The transport's view of one call, which client libraries wrap beyond recognition."""

    phase: str = "connecting"
    trouble: Trouble | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


NOTE: ContextVar[Note | None] = ContextVar("sdb_http_note", default=None)
"""The note of the call under way in this task."""


def _proxy_for(url: str) -> str | None:
    """The proxy this environment names for the address, if any; this machine is reached without one."""
    parts = urlsplit(url)
    if is_this_machine(parts.hostname):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or not parts.hostname or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return found if "://" in found else f"http://{found}"


def ssl_context(settings: HttpSettings) -> ssl.SSLContext:
    """The system's certificates, or those the environment names instead."""
    stamps = tuple(_stamp(Path(value)) for _, value in settings.certificates)
    return _context(settings.certificates, stamps, settings.http2)


@lru_cache(maxsize=8)
def _context(
    certificates: tuple[tuple[str, str], ...], stamps: tuple[object, ...], http2: bool
) -> ssl.SSLContext:
    """Read once while its files are as they were; what is offered on connecting is kept there too."""
    if not certificates:
        import httpx2  # the library alone takes longer than most commands

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
