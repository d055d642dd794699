"""HTTP replies that leave at a planned moment, for measuring time, also behind a queue.

The reply is ready before the wait starts and leaves at its planned moment on the monotonic clock, so
the server's own work is inside the planned time, not on top of it. A waiting request costs one timer:
hundreds may wait at once.

With limited capacity, `capacity` places serve at once; who finds none free waits in order of arrival. A
place takes one request, or with batching up to `batch` of those that wait, whose replies leave together
after the longest service time among them. A batch starts without waiting to be full. The rate a server can
sustain is capacity · batch / mean time of a batch; offered more, its queue grows as long as the load
lasts. A queue has no clock: the caller passes the time, and the queue reports to each request when its reply leaves
as soon as that is known, which is when its service starts.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import json
import logging
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from streamdecisionbench.components.providers.address_and_key import is_this_machine

Tell = Callable[[float], None]


@dataclass(slots=True)
class RequestQueue:
    """Requests that wait for one of `capacity` places.

    >>> queue, leaves = RequestQueue(capacity=1), []
    >>> for arrived in (0.0, 0.1, 5.0):
    ...     queue.arrive(arrived, 1.0, leaves.append)
    >>> leaves
    [1.0, 2.0, 6.0]
    """

    capacity: int
    batch: int = 1
    longest: int = 0
    """The most requests that ever waited at once."""
    _busy: list[float] = field(default_factory=list)
    """When each taken place becomes free, as a heap."""
    _waiting: deque[tuple[float, Tell]] = field(default_factory=deque)

    def arrive(self, now: float, service_s: float, tell: Tell) -> None:
        """A request is here; `tell` is called with the moment its reply leaves, now or later."""
        self.advance(now)
        self._waiting.append((service_s, tell))
        if len(self._busy) < self.capacity:
            self._serve(now)
        self.longest = max(self.longest, len(self._waiting))

    def advance(self, now: float) -> None:
        """Places that became free up to `now` take who waits, at the moment they became free."""
        while self._busy and self._busy[0] <= now:
            free_at = heapq.heappop(self._busy)
            if self._waiting:
                self._serve(free_at)

    @property
    def due(self) -> float | None:
        """When `advance` has something to do: the next place becomes free and a request waits."""
        return self._busy[0] if self._waiting and self._busy else None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def _serve(self, at: float) -> None:
        taken = [self._waiting.popleft() for _ in range(min(self.batch, len(self._waiting)))]
        leaves = at + max(service_s for service_s, _ in taken)
        heapq.heappush(self._busy, leaves)
        for _, tell in taken:
            tell(leaves)


MAX_BODY = 8 * 1024 * 1024
BODY_S = 120.0
"""A request whose body does not arrive within this time is refused."""

TIMER_S = 0.001
"""How late the event loop's timers may wake."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Planned:
    """A JSON reply, and its seconds of service."""

    value: Any
    service_s: float = 0.0


Handler = Callable[[bytes], Planned]
"""From a request's body to its reply."""

FinishAt = Callable[[float, float], float | Awaitable[float]]
"""From (arrived, service_s) to the moment the reply leaves, both on the event loop's clock. Where that
depends on who else is served, it is known, and returned, when service starts."""


class Refusal(HTTPException):
    """A status, a message and a code, in the error shape both protocols' clients read."""

    def __init__(
        self, status: int, message: str, *, code: str = "", where: Sequence[str] = ()
    ) -> None:
        super().__init__(status, message)
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "_")
        self.where = tuple(where)


def on_arrival(arrived: float, service_s: float) -> float:
    """Unlimited capacity: service starts when the request arrives."""
    return arrived + service_s


class Queued:
    """Limited capacity: a `RequestQueue` on the event loop's clock.

    Timers wake late. A waiting request starts at the moment a place became free, so lateness does not
    add up along the queue.
    """

    def __init__(self, queue: RequestQueue) -> None:
        self.queue = queue
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, arrived: float, service_s: float) -> asyncio.Future[float]:
        loop = asyncio.get_running_loop()
        known: asyncio.Future[float] = loop.create_future()

        def tell(leaves: float) -> None:
            if not known.done():  # a client that went away is served all the same
                known.set_result(leaves)

        self.queue.arrive(arrived, service_s, tell)
        self._wake_when_due(loop)
        return known

    def _wake_when_due(self, loop: asyncio.AbstractEventLoop) -> None:
        due = self.queue.due
        if self._timer is None and due is not None:
            self._timer = loop.call_at(due, self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self.queue.advance(loop.time())
        self._wake_when_due(loop)


def planned(
    handler: Handler, finish_at: FinishAt = on_arrival
) -> Callable[[Request], Awaitable[Response]]:
    """A starlette endpoint that answers with what `handler` planned, when it planned it."""

    async def endpoint(request: Request) -> Response:
        _require_own_name(request)
        body = await _body(request)
        loop = asyncio.get_running_loop()
        arrived = loop.time()
        try:
            reply = handler(body)
        except HTTPException:
            raise
        except Exception as error:
            # The type alone: a message could quote the request.
            _LOG.error("a handler failed: %s", type(error).__name__)
            raise Refusal(500, "the server failed on this request", code="internal_error") from None
        response = _json(reply.value)
        moment = finish_at(arrived, reply.service_s)
        await _until(moment if isinstance(moment, float) else await moment, loop)
        return response

    return endpoint


def application(
    routes: Sequence[BaseRoute], *, no_such_path: str, refused: Callable[[], None]
) -> Starlette:
    """An application whose refusals are JSON, too; `refused` is called at each."""

    async def refuse(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        refused()
        status, message, code = error.status_code, error.detail, ""
        if isinstance(error, Refusal):
            code = error.code
        elif status == 404:
            message, code = no_such_path, "unknown_path"
        elif status == 405:
            allowed = (error.headers or {}).get("Allow", "").replace(",", " ").split()
            wanted = ", ".join(word for word in sorted(allowed) if word != "HEAD")
            message, code = f"use {wanted} for this path", "method_not_allowed"
        kind = "invalid_request_error" if status < 500 else "server_error"
        # `error` is what clients of OpenAI read, `detail` what those of System One do.
        detail: Any = {"error_type": code or kind, "message": message}
        if status == 422:
            where = getattr(error, "where", ())
            detail = [{"loc": ["body", *where], "msg": message, "type": code or kind}]
        return _json(
            {
                "error": {"message": message, "type": kind, "param": None, "code": code},
                "detail": detail,
            },
            status,
        )

    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})


def _require_own_name(request: Request) -> None:
    """Over loopback only names of this machine: a site whose name points here would be asking.

    A server on another address is open to the network under any name.
    """
    reached, _ = request.scope.get("server") or ("", None)
    if is_this_machine(reached) and not is_this_machine(request.headers.get("host", "")):
        raise Refusal(
            421,
            "this server answers to names of this machine: localhost, 127.0.0.1",
            code="wrong_host",
        )


async def _until(moment: float, loop: asyncio.AbstractEventLoop) -> None:
    """Waits to a moment of the loop's clock.

    Timers wake up to a millisecond late, since that is how finely the loop asks the system to sleep.
    The timer is set that much early; until the moment the loop goes round and serves others.
    """
    early = moment - TIMER_S
    if early > loop.time():
        waiter: asyncio.Future[None] = loop.create_future()
        timer = loop.call_at(early, waiter.set_result, None)
        try:
            await waiter
        finally:
            timer.cancel()
    while loop.time() < moment:
        await asyncio.sleep(0)


def _json(value: Any, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, media_type="application/json")


async def _body(request: Request) -> bytes:
    """The whole body without its compression, never larger than `MAX_BODY`."""
    too_large = Refusal(413, f"the body is larger than {MAX_BODY} bytes")
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
    except TimeoutError:
        raise Refusal(408, "the request did not arrive in time", code="timeout") from None
    except ClientDisconnect:
        raise Refusal(400, "the client went away") from None
    return _plain(bytes(body), request.headers.get("content-encoding", "identity"))


def _plain(body: bytes, encoding: str) -> bytes:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not body:
        return body
    if encoding == "gzip":
        unzip = zlib.decompressobj(wbits=31)
        with contextlib.suppress(zlib.error):
            plain = unzip.decompress(body, MAX_BODY)
            if unzip.unconsumed_tail:
                raise Refusal(413, f"the body is larger than {MAX_BODY} bytes")
            if unzip.eof:
                return plain
        raise Refusal(400, "the body is not valid gzip")
    raise Refusal(415, f"the body is encoded as {encoding[:20]!r}; send it plain or as gzip")
