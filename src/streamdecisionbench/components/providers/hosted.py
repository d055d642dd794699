"""What every provider behind a network shares: one address, one key, one HTTP client, one call.

A call is sent once; whatever goes wrong becomes `Retryable` or `Fatal` with our own words.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from streamdecisionbench.components.contract import Fatal, Options, Retryable
from streamdecisionbench.components.providers.endpoint import resolve
from streamdecisionbench.components.providers.http_errors import (
    UNKNOWN_PATH,
    SdkErrors,
    Service,
    status_error,
    timed_out,
)
from streamdecisionbench.components.providers.http_policy import (
    NOTE,
    HttpPolicy,
    Note,
    Observed,
    Server,
)

if TYPE_CHECKING:
    import httpx2

__all__ = ["Hosted"]

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
            from streamdecisionbench.components.providers.http_client import make_client

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
        from streamdecisionbench.components.providers.known_apis import survey_server

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
