"""The live page's server: the page itself, and a stream of moments to everyone who looks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from streamdecisionbench.report.watch.moment import Watcher
from streamdecisionbench.report.watch.source import Source
from streamdecisionbench.report.watch.watch_page import watch_page

__all__ = ["WatchServer"]

POLL_S = 0.4
_BEAT_S = 10.0
"""A comment this often keeps the connection known to be alive."""


class WatchServer:
    """Reads the source while it is served, and tells every page what is new."""

    def __init__(self, source: Source) -> None:
        self._watcher = Watcher(source)
        self._page = watch_page(pooled=source.pooled)
        self._changed = asyncio.Condition()

    def application(self) -> Starlette:
        # Only names of this machine: another site's name that points here would be its page.
        local = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
        routes = [Route("/", self._serve_page), Route("/events", self._serve_events)]
        return Starlette(routes=routes, middleware=[local])

    async def keep_looking(self) -> None:
        """Until cancelled."""
        while True:
            if await asyncio.to_thread(self._watcher.look):
                async with self._changed:
                    self._changed.notify_all()
            await asyncio.sleep(POLL_S)

    async def _serve_page(self, request: Request) -> Response:
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return HTMLResponse(self._page, headers=headers)

    async def _serve_events(self, request: Request) -> Response:
        return StreamingResponse(
            self._moments(),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    async def _moments(self) -> AsyncIterator[bytes]:
        seen = -1
        yield b"retry: 1000\n\n"
        while True:
            if self._watcher.version != seen:
                moment = self._watcher.moment(max(seen, 0))
                moment["full"] = seen < 0
                seen = self._watcher.version
                text = json.dumps(moment, ensure_ascii=False, separators=(",", ":"))
                yield f"data: {text}\n\n".encode()
            async with self._changed:
                try:
                    await asyncio.wait_for(self._changed.wait(), _BEAT_S)
                except TimeoutError:
                    yield b": still here\n\n"
