"""How far away a server is, before and after each round: name, connection, encryption, round trip.

A probe opens connections and closes them; it never sends a request, so it never costs anything. A
connection is answered by the other side's system, not by its service: how long that takes is a round
trip. Behind a proxy the server itself cannot be reached, so nothing is probed.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from streamdecisionbench.components.providers.connection import Server
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Member

_CONNECTIONS = 3
"""The quickest of so many is the round trip: what delays one of them is rarely the distance."""

_PATIENCE_S = 2.0


def probe(server: Server) -> dict[str, Any]:
    """Milliseconds to resolve the name, to connect, to agree on encryption, and of a round trip.

    Whatever fails is named by its kind alone; a probe never fails a recording.
    """
    found: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="milliseconds")}
    with contextlib.ExitStack() as stack:
        try:
            context = server.context()
            begin = time.monotonic()
            family, kind, protocol, _, address = socket.getaddrinfo(
                server.host, server.port, type=socket.SOCK_STREAM
            )[0]
            found["resolve_ms"] = _ms(begin)
            trips = []
            for k in range(_CONNECTIONS):
                link = stack.enter_context(socket.socket(family, kind, protocol))
                link.settimeout(_PATIENCE_S)
                begin = time.monotonic()
                link.connect(address)
                trips.append(_ms(begin))
                if k == 0:
                    found["connect_ms"] = trips[0]
                if k == 0 and context is not None:
                    begin = time.monotonic()
                    link = context.wrap_socket(link, server_hostname=server.host)
                    stack.enter_context(link)
                    found |= {"tls_ms": _ms(begin), "tls": link.version()}
            found["round_trip_ms"] = min(trips)
        except (OSError, UnicodeError, InputError) as error:
            # UnicodeError: a name that cannot be one; InputError: certificates that are not there.
            found["failed"] = "timeout" if isinstance(error, TimeoutError) else type(error).__name__
    return found


class Probes:
    """Before and after every round, of every server of a pass."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._servers: dict[str | None, Server] = {}
        for member in members:
            server = getattr(getattr(member.component, "observed", None), "server", None)
            if isinstance(server, Server):
                self._servers[member.name] = server
        self._hosts = {member.name: member.component.info.base_url_host for member in members}

    async def all(self) -> dict[str | None, dict[str, Any]]:
        """By component; while nothing is being measured."""
        found = await asyncio.gather(
            *(asyncio.to_thread(probe, server) for server in self._servers.values())
        )
        return dict(zip(self._servers, found, strict=True))

    def entries(
        self,
        episode_id: str,
        before: Mapping[str | None, Mapping[str, Any]],
        after: Mapping[str | None, Mapping[str, Any]],
    ) -> list[dict[str, Any]]:
        """What the run record says of one scenario, an entry per component."""
        return [
            {
                "scenario": episode_id,
                "component": name,
                "host": self._hosts[name],
                "before": dict(before[name]),
                "after": dict(after[name]),
            }
            for name in self._servers
        ]


def _ms(begin: float) -> float:
    return round(1e3 * (time.monotonic() - begin), 3)
