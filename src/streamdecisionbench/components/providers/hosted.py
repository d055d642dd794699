"""Which of the known APIs a server answers on: asked once, when it does not know the one we tried."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from streamdecisionbench.components.contract import Fatal, Options, Retryable
from streamdecisionbench.components.providers.address import resolve
from streamdecisionbench.components.providers.failures import (
    UNKNOWN_PATH,
    SdkErrors,
    Service,
    status_error,
    timed_out,
)
from streamdecisionbench.components.providers.http import NOTE, HttpPolicy, Note, Observed, Server

if TYPE_CHECKING:
    import httpx2


PATHS = {
    "openai": "/v1/responses",
    "chat": "/v1/chat/completions",
    "systemone": "/v1/systemone",
    "openai-decisions": "/v1/decisions",
    "anthropic": "/v1/messages",
}
"""Provider → the path it posts to."""

_ABSENT = {404, 405, 410, 501}
_UNKNOWN = {401, 403, 407, 429, 502, 503, 504}
_LIMIT_S = 4.0
_MOST_MODELS = 6


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Providers whose path the server knows, and models it lists; empty where it does not say."""

    answering: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def advice(self, provider: str, model: str, *, quoting: bool = True) -> str:
        """What to write instead."""
        if provider in self.answering:
            if quoting and self.models and model not in self.models:
                return f"it knows the API but not this model; it lists: {', '.join(self.models)}"
            return "it knows the API: check the model's name"
        if not self.answering:
            return "check --base-url: no API known here answers at that address"
        named = " or ".join(f"{name}:{model}" for name in self.answering)
        return f"this server answers on other APIs: try {named}"


async def survey_server(client: httpx2.AsyncClient, root: str, key: str) -> Surveyed:
    """Posts an empty object to every known path: a server that knows it complains about the content."""
    headers = {"Authorization": f"Bearer {key}", "x-api-key": key}

    async def ask(method: str, path: str) -> httpx2.Response | None:
        body: dict[str, Any] | None = {} if method == "POST" else None
        try:
            return await client.request(
                method, root + path, json=body, headers=headers, timeout=_LIMIT_S
            )
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return None

    try:
        async with asyncio.timeout(_LIMIT_S):
            *replies, listing = await asyncio.gather(
                *(ask("POST", path) for path in PATHS.values()), ask("GET", "/v1/models")
            )
    except TimeoutError:
        return Surveyed()
    known = tuple(name for name, reply in zip(PATHS, replies, strict=True) if _knows(reply))
    return Surveyed(known, _models(listing))


def _knows(reply: httpx2.Response | None) -> bool:
    if reply is None or 300 <= reply.status_code < 400:
        return False
    return reply.status_code not in _ABSENT | _UNKNOWN


def _models(reply: httpx2.Response | None) -> tuple[str, ...]:
    """Names a listing holds, in the words of either protocol."""
    if reply is None or reply.status_code != 200:
        return ()
    try:
        listing: Any = reply.json()
    except (ValueError, RecursionError):
        return ()
    rows = (listing.get("data") or listing.get("models")) if isinstance(listing, dict) else None
    names = [
        row.get("id") or row.get("name")
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
    usable = [n for n in names if isinstance(n, str) and n.isprintable() and len(n) <= 80]
    return tuple(usable[:_MOST_MODELS])


# What every provider behind a network shares: one address, one key, one HTTP client, one call.
#
# A call is sent once; whatever goes wrong becomes `Retryable` or `Fatal` with our own words.


T = TypeVar("T")


class Hosted:
    """Resolves address and key at once, so that a missing key is told before anything runs."""

    def __init__(
        self,
        provider: str,
        model: str,
        options: Options,
        errors: SdkErrors,
        *,
        title: str,
        key_variable: str,
        url_variable: str,
        home: str,
        default_path: str,
    ) -> None:
        self.endpoint = resolve(
            options,
            key_variable=key_variable,
            url_variable=url_variable,
            home=home,
            default_path=default_path,
        )
        endpoint = self.endpoint
        self.timeout_s = options.timeout_s
        address = endpoint.base_url or f"https://{home}"
        self.policy = HttpPolicy.for_url(address)
        self.observed = Observed(Server.at(address, self.policy))
        self.service = Service(
            title if endpoint.home else f"the server at {endpoint.host}",
            endpoint.host,
            endpoint.key_variable,
            provider=provider,
            model=model,
            home=endpoint.home,
            local=endpoint.local,
            secrets=endpoint.secrets,
        )
        self._errors = errors
        self._answered = False
        self._client: httpx2.AsyncClient | None = None
        self._header_names = sorted(options.headers)

    @property
    def settings(self) -> dict[str, Any]:
        """Its part of the run record: how it was reached."""
        found: dict[str, Any] = {"timeout_s": self.timeout_s, "http": self.policy.to_json()}
        if self._header_names:
            found["headers"] = self._header_names
        return found

    @property
    def client(self) -> httpx2.AsyncClient:
        """The HTTP client; made on first use, because it belongs to the running event loop."""
        if self._client is None:
            from streamdecisionbench.components.providers.http import make_client

            self._client = make_client(
                self.policy,
                self.endpoint.host,
                self.timeout_s,
                self.observed,
                self.endpoint.headers,
            )
        return self._client

    async def call(self, send: Callable[[], Awaitable[T]]) -> tuple[T, float]:
        """Sends once; the result and `time.monotonic()` when it had arrived.

        The limit bounds the whole attempt, since a client library's own is per read and a trickle
        of bytes would never reach it. The library's exception is dropped, not chained: it holds the
        body and the request.
        """
        note = Note()
        token = NOTE.set(note)
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await send()
                received_at = time.monotonic()
        except Exception as error:
            failure = self._judge(error, note)
        else:
            self._answered = True
            return result, received_at
        finally:
            NOTE.reset(token)
        if isinstance(failure, Fatal) and failure.http_status in UNKNOWN_PATH:
            failure = await self._with_advice(failure)
        raise failure

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _judge(self, error: Exception, note: Note) -> Retryable | Fatal:
        trouble = note.trouble
        if trouble is not None and trouble.kind != "timeout":
            # A name that resolved a minute ago will again; before the first answer it never did.
            if trouble.heals or (trouble.kind == "name" and self._answered):
                return Retryable("connection", detail=trouble.words, fix=trouble.fix)
            return Fatal(trouble.kind, trouble.words, fix=trouble.fix)
        if trouble is not None or isinstance(error, TimeoutError | self._errors.timeout):
            return timed_out(self.service, note.phase, self.timeout_s)
        if isinstance(error, self._errors.status):
            return status_error(error, self.service, note)
        if isinstance(error, self._errors.connection):
            return Retryable("connection", detail=f"no answer from {self.service.host}")
        return Fatal(
            "client_error",
            f"the client library for {self.service.name} failed with {type(error).__name__}",
            fix="check the model's name, --base-url and the library's version (`sdb providers`)",
        )

    async def _with_advice(self, failure: Fatal) -> Fatal:
        """The same failure, with what the server does answer on; never asked of a provider's own."""
        if self.service.home or self.endpoint.base_url is None:
            return failure
        root = self.endpoint.base_url.removesuffix("/v1")
        found = await survey_server(self.client, root, self.endpoint.key)
        message = str(failure).partition("\n  fix: ")[0]
        return Fatal(
            failure.error_type,
            message,
            # Names of models are the server's text: only one's own is quoted.
            fix=found.advice(self.service.provider, self.service.model, quoting=self.service.local),
            http_status=failure.http_status,
        )
