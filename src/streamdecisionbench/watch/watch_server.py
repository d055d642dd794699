"""The live page: what it shows at one moment, its HTML, and the server that tells every page what is new.

A moment is the running score and the streams that have changed. Of a recording, scenarios count alike within their family and families alike, as in `sdb score`; of a
meter's log every second counts alike, as in `sdb logs score`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Send

from streamdecisionbench.kernel.arrays import Floats
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CLASSES,
    CORRECT,
    UNJUDGED,
)
from streamdecisionbench.logs.lanes import (
    StreamView,
    view_of,
)
from streamdecisionbench.render.html_page import (
    asset,
    classes,
    one_file,
)
from streamdecisionbench.watch.live_sources import Source

SHOWN = 60
"""Streams the page gets, the newest; all of them count."""

POLL_S = 0.4
_BEAT_S = 10.0
"""A comment this often keeps the connection known to be alive."""
PATIENCE_S = 60.0
"""Whoever takes nothing of what they asked for, for this long, is let go: their page asks again."""
_HISTORY = 400
_SHARED = ("axes.js", "tracks.js", "strips.js", "streams.js")
"""Drawing code of other pages too; the rest is the live page's own."""


class Watcher:
    """Reads a source again and again, and remembers what the page needs."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._views: dict[str, StreamView] = {}
        self._versions: dict[str, int] = {}
        self._history: list[tuple[float, dict[str, float]]] = []
        self._before: tuple[object, ...] = ()
        self.version = 0
        """Grows whenever there is something new to show."""

    def look(self) -> bool:
        """Reads on; whether anything is new."""
        streams = self._source.poll()
        if self._source.forgotten():
            self._views.clear()
            self._versions.clear()
            self._history.clear()
        facts = tuple(self._source.facts().items())
        if not streams and facts == self._before:
            return False
        self._before = facts
        self.version += 1
        for stream in streams:
            view = view_of(stream)
            if view is not None:
                self._views[stream.id] = view
                self._versions[stream.id] = self.version
        self._remember()
        return True

    def moment(self, since: int = 0) -> dict[str, Any]:
        """The page's JSON; of streams only what has changed after version `since`."""
        ordered = sorted(self._views.values(), key=lambda view: view.stream.began)
        shown = ordered[-SHOWN:]
        return {
            "version": self.version,
            "kind": self._source.kind,
            "pooled": self._source.pooled,
            "facts": self._source.facts(),
            "streams": len(ordered),
            "components": self._components(),
            "order": [view.stream.id for view in shown],
            "changed": [view.json for view in shown if self._versions[view.stream.id] > since],
            "history": self._history,
        }

    def _components(self) -> list[dict[str, Any]]:
        names = dict.fromkeys(name for view in self._views.values() for name in view.seconds)
        return [self._component(name) for name in names]

    def _component(self, name: str) -> dict[str, Any]:
        views = [view for view in self._views.values() if name in view.seconds]
        classes = self._classes(name, views)
        latencies = np.sort([x for view in views for x in view.latencies[name]])
        return {
            "name": name,
            "in_force": _in_force(classes),
            "classes": classes.tolist(),
            "observed_s": float(sum(view.seconds[name].sum() for view in views)),
            "streams": len(views),
            "states": sum(len(view.stream.release) for view in views),
            "answers": sum(
                lane["answers"]
                for view in views
                for lane in view.json["lanes"]
                if lane["component"] == name
            ),
            "latency": _quantiles(latencies),
        }

    def _classes(self, name: str, views: list[StreamView]) -> Floats:
        """Shares of observed time, columns as in `ALL_CLASSES`."""
        if self._source.pooled:
            seconds = np.sum([view.stream.weight * view.seconds[name] for view in views], axis=0)
            return np.asarray(seconds / seconds.sum())
        families: dict[str, list[Floats]] = {}
        for view in views:
            seconds = view.seconds[name]
            families.setdefault(view.stream.group, []).append(seconds / seconds.sum())
        return np.asarray(np.mean([np.mean(f, axis=0) for f in families.values()], axis=0))

    def _remember(self) -> None:
        """The running score over observed time; every other point goes when there are many."""
        known = [part for part in self._components() if part["in_force"] is not None]
        now: dict[str, float] = {part["name"]: part["in_force"] for part in known}
        observed = max((part["observed_s"] for part in known), default=0.0)
        if now and (not self._history or self._history[-1] != (observed, now)):
            self._history.append((observed, now))
        if len(self._history) > _HISTORY:
            del self._history[1:-1:2]


def _in_force(classes: Floats) -> float | None:
    judged = 1.0 - float(classes[UNJUDGED])
    return float(classes[list(CORRECT)].sum()) / judged if judged > 1e-12 else None


def _quantiles(values: Floats) -> Mapping[str, float] | None:
    if not len(values):
        return None
    names = {"min": 0.0, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "max": 1.0}
    ranks = np.array(list(names.values())) * (len(values) - 1)
    found = np.interp(ranks, np.arange(len(values)), values)
    return dict(zip(names, map(float, found), strict=True))


def watch_page(*, pooled: bool) -> str:
    """The page for one kind of source; everything else it is told by the server."""
    return one_file(
        asset("watch.html", "watch"),
        {"classes": classes(ALL_CLASSES if pooled else CLASSES), "pooled": pooled},
        title="sdb watch",
        skip="lanes",
        styles=[asset("watch.css", "watch")],
        scripts=[*map(asset, _SHARED), asset("watch.js", "watch")],
        served=True,
    )


class _Moments(StreamingResponse):
    """A stream without end that nobody is made to take."""

    async def stream_response(self, send: Send) -> None:
        async def in_time(message: Message) -> None:
            await asyncio.wait_for(send(message), PATIENCE_S)

        with contextlib.suppress(TimeoutError):
            await super().stream_response(in_time)


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
        headers = {"Cache-Control": "no-store"}
        return _Moments(self._moments(), media_type="text/event-stream", headers=headers)

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
