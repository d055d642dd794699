"""Shared by every provider behind a network: one address, one key, one HTTP client, one call per state.

A call is sent once; whatever goes wrong becomes `Retryable` or `Fatal` with our own words. A server that
does not know the API we tried is asked once which of the known ones it answers on.
"""

from __future__ import annotations

import asyncio
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Retryable,
    Size,
    Usage,
)
from streamdecisionbench.components.providers.address_and_key import Home, resolve, versions
from streamdecisionbench.components.providers.connection import (
    NOTE,
    HttpSettings,
    Note,
    Observed,
    Server,
)
from streamdecisionbench.components.providers.failures import (
    NOT_JSON_FIX,
    UNKNOWN_PATH,
    SdkErrors,
    refusal,
    status_error,
    timed_out,
)
from streamdecisionbench.components.providers.prompt import (
    LLAMA,
    RequestLimits,
    llama_context,
    llama_tokens,
    longest_reply,
    read_distribution,
    read_object,
    read_usage,
    served_model,
)
from streamdecisionbench.errors import InputError

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

_LIBRARIES_OWN = (
    "OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY",
    "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_AUTH_TOKEN",
)  # fmt: skip
"""What client libraries read for themselves and send wherever they are pointed."""

_ABSENT = {404, 405, 410, 501}
_UNKNOWN = {401, 403, 407, 429, 502, 503, 504}
_LIMIT_S = 4.0
_MOST_MODELS = 6

T = TypeVar("T")


class RemoteProvider(ABC):
    """Resolves address and key at once, so that a missing key is reported before anything runs."""

    info: ComponentInfo
    limits: RequestLimits | None = None
    tiers: tuple[str, ...] = ("service_tier",)
    """What a reply says about how it was served."""
    output_tokens: int | None = None
    """The limit on a reply that goes with every request."""

    def __init__(self, provider: str, options: Options, home: Home, errors: SdkErrors) -> None:
        self.service = resolve(provider, options, home)
        self.secrets = self.service.secrets
        self.timeout_s = options.timeout_s
        self.http = HttpSettings.for_url(self.service.base_url)
        plain = self.service.base_url.startswith("http://") and not options.plain_http
        if self.http.proxy and plain and self.secrets:
            raise InputError(
                f"a key or header for {self.service.host} would go to the proxy"
                f" {self.http.proxy_host} as it is: http is not encrypted",
                fix="name the host in NO_PROXY, write https://, or add --plain-http to send it anyway",
            )
        self.observed = Observed(Server.at(self.service.base_url, self.http))
        self._errors = errors
        self._answered = False
        self._client: httpx2.AsyncClient | None = None
        self._sdk: Any = None
        self._asked_context = False
        self._holds: tuple[int, dict[str, Any]] | None = None
        self._header_names = sorted(options.headers)

    def describe(self, model: str, library: str, settings: Mapping[str, Any]) -> ComponentInfo:
        """For the run record: what was asked for, and how it was reached."""
        reached: dict[str, Any] = {"timeout_s": self.timeout_s, "http": self.http.to_json()}
        if self._header_names:
            reached["headers"] = self._header_names
        return ComponentInfo(
            provider=self.service.provider,
            model=model,
            settings={**settings, **reached},
            base_url_host=self.service.host,
            versions=versions(library, "httpx2"),
        )

    async def open(self) -> None:
        _ = self.sdk

    async def answer(self, request: Request) -> Answer:
        reply, received_at = await self.call(lambda: self._ask(request))
        body = self._body(reply)
        told = self._told(body)
        for name in self.tiers:
            self.observed.serve(name, told.get(name), self.service.clean)
        return replace(
            self._read(body, request),
            model=served_model(body, self.service.clean),
            usage=self._usage(body.get("usage")),
            received_at=received_at,
            diagnostics=self._diagnostics(body),
        )

    def _diagnostics(self, body: dict[str, Any]) -> Mapping[str, Any] | None:
        """A server's measurements outside the API: llama.cpp's `timings`."""
        found = body.get("timings")
        return found if isinstance(found, dict) else None

    async def size(self, request: Request) -> Size | None:
        """Counted by the tokenizer of your own server, if it offers that: llama.cpp's and vLLM's do."""
        body = None if self.service.home else self._countable(request)
        if body is None:
            return None
        if not self._asked_context:
            self._asked_context = True
            self._holds = await llama_context(self._post, self.service.clean)
            self.observed.facts = self._holds[1] if self._holds else {}
        reply = longest_reply(request.questions) if "messages" in body else ""
        exact = "messages" in body
        if self._holds is not None:
            count = await llama_tokens(self._post, body, reply)
            return None if count is None else Size(count, self._holds[0], LLAMA, exact=exact)
        asked = {name: text for name, text in body.items() if name in ("messages", "prompt")}
        asked |= {"model": self.info.model, "add_generation_prompt": True}
        found = await self._post("/tokenize", asked) or {}
        prompt, context = found.get("count"), found.get("max_model_len")
        if not isinstance(prompt, int) or not isinstance(context, int):
            return None
        # vLLM refuses a request whose prompt and output limit together exceed the context.
        room = self.output_tokens or len(reply) if exact else 0
        return Size(prompt + room, context, "vLLM", exact=exact)

    def _countable(self, request: Request) -> dict[str, Any] | None:
        """`messages`, or a `prompt` that the server's own is at least as long as; None: nobody counts."""
        return None

    async def _post(self, path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        """Calls the server itself, not its API; None where it does not know the path."""
        import httpx2

        root, key = self.service.base_url.removesuffix("/v1"), self.service.key
        try:
            reply = await self.client.request(
                "GET" if body is None else "POST",
                root + path,
                json=body,
                headers={"Authorization": f"Bearer {key}"},
            )
            found = reply.json() if reply.status_code == 200 else None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    async def close(self) -> None:
        self._sdk = None
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    @property
    def sdk(self) -> Any:
        """The client library's client; made on first use: it belongs to the running event loop."""
        if self._sdk is None:
            with _unset(() if self.service.libraries_own else _LIBRARIES_OWN):
                self._sdk = self._connect()
        return self._sdk

    @property
    def client(self) -> httpx2.AsyncClient:
        """The HTTP client below it."""
        if self._client is None:
            from streamdecisionbench.components.providers.http_client import make_client

            self._client = make_client(
                self.http, self.service.host, self.timeout_s, self.observed, self.service.headers
            )
        return self._client

    @property
    def connection(self) -> dict[str, Any]:
        """The arguments for every client library; at home, too, or it would read the environment."""
        return {
            "api_key": self.service.key,
            "base_url": self.service.base_url,
            "timeout": self.timeout_s,
            "http_client": self.client,
        }

    @abstractmethod
    def _connect(self) -> Any:
        """The client library's client, its own retries off."""

    @abstractmethod
    async def _ask(self, request: Request) -> Any:
        """The raw response to one state."""

    @abstractmethod
    def _read(self, body: dict[str, Any], request: Request) -> Answer:
        """Labels and what goes with them; a refusal, a failure or a cut reply is raised."""

    def _body(self, reply: Any) -> dict[str, Any]:
        what = f"the response of {self.service.name}"
        return read_object(self._content(reply), what=what, fix=NOT_JSON_FIX)

    def _content(self, reply: Any) -> bytes:
        found: bytes = reply.http_response.content
        return found

    def _told(self, body: dict[str, Any]) -> Mapping[str, Any]:
        return body

    def _usage(self, value: Any) -> Usage | None:
        return read_usage(value)

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
        service = self.service
        if service.home:
            return failure
        root, model = service.base_url.removesuffix("/v1"), self.info.model
        answering, models = await survey_server(self.client, root, service.key)
        models = [service.clean(name) for name in models]
        # Names of models are the server's text: only one's own is quoted.
        if service.provider in answering and service.local and models and model not in models:
            fix = f"it knows the API but not this model; it lists: {', '.join(models)}"
        elif service.provider in answering:
            fix = "it knows the API: check the model's name"
        elif not answering:
            fix = "check --base-url: no API known here answers at that address"
        else:
            named = " or ".join(f"{name}:{model}" for name in answering)
            fix = f"this server answers on other APIs: try {named}"
        what = str(failure).partition("\n  fix: ")[0]
        return Fatal(failure.error_type, what, fix=fix, http_status=failure.http_status)


class DecisionApi(RemoteProvider):
    """APIs that answer every question with a choice, a confidence and a distribution: all are kept."""

    limits: RequestLimits
    distributions: bool = False
    """Whether an answer counts only with a distribution over the labels."""

    @abstractmethod
    def _listed(self, body: dict[str, Any], names: list[str]) -> list[tuple[str, Any]]:
        """(question, answer) as the body lists them."""

    def _read(self, body: dict[str, Any], request: Request) -> Answer:
        labels: dict[str, str] = {}
        probabilities: dict[str, dict[str, float]] = {}
        confidence: dict[str, float] = {}
        names = list(request.questions)
        for name, answer in self._listed(body, names):
            found = answer if isinstance(answer, dict) else {}
            if found.get("type") == "refusal":
                raise refusal(self.service, name if name in names else None)
            if name not in names:
                labels[name] = ""  # whatever it says: the contract names it as one too many
                continue
            if name in labels or not isinstance(found.get("choice"), str):
                raise Fatal(
                    "duplicate_answer" if name in labels else "unknown_label",
                    f"an answer of {self.service.name} is not one choice for one question",
                    fix=f"check that the server follows {self.limits.api}",
                )
            labels[name] = found["choice"]
            shares = found.get("probabilities")
            if isinstance(shares, dict):
                probabilities[name] = read_distribution(name, list(shares.items()))
            elif isinstance(shares, list):
                parts = [p for p in shares if isinstance(p, dict)]
                pairs = [(p.get("value"), p.get("probability")) for p in parts]
                probabilities[name] = read_distribution(name, pairs)
            if self.distributions and name not in probabilities:
                raise Fatal(
                    "bad_distribution",
                    f"the answer of {self.service.name} to {name} has no distribution over its labels",
                    fix=f"check that the server follows {self.limits.api}",
                )
            if isinstance(found.get("confidence"), int | float):
                confidence[name] = float(found["confidence"])
        return Answer(labels, probabilities=probabilities or None, confidence=confidence or None)

    def _no_answers(self) -> Fatal:
        return Fatal(
            "not_json", f"the response of {self.service.name} has no answers", fix=NOT_JSON_FIX
        )


@contextmanager
def _unset(names: Sequence[str]) -> Iterator[None]:
    """Without these variables of the environment while it lasts."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


async def survey_server(
    client: httpx2.AsyncClient, root: str, key: str
) -> tuple[list[str], list[str]]:
    """Providers whose path the server knows, and models it lists; empty where it does not say.

    Posts an empty object to every known path: a server that knows it complains about the content.
    """
    import httpx2

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
        return [], []
    known = [name for name, reply in zip(PATHS, replies, strict=True) if _knows(reply)]
    return known, _models(listing)


def _knows(reply: httpx2.Response | None) -> bool:
    if reply is None or 300 <= reply.status_code < 400:
        return False
    return reply.status_code not in _ABSENT | _UNKNOWN


def _models(reply: httpx2.Response | None) -> list[str]:
    """Names a listing holds, in the words of either protocol."""
    if reply is None or reply.status_code != 200:
        return []
    try:
        listing: Any = reply.json()
    except (ValueError, RecursionError):
        return []
    rows = (listing.get("data") or listing.get("models")) if isinstance(listing, dict) else None
    names = [
        row.get("id") or row.get("name")
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
    usable = [n for n in names if isinstance(n, str) and n.isprintable() and len(n) <= 80]
    return usable[:_MOST_MODELS]
