"""`anthropic:model` — the Messages API with one forced tool whose input is bound by a strict schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Options, Request, Usage
from streamdecisionbench.components.providers.address import refuse, versions
from streamdecisionbench.components.providers.failures import (
    NOT_JSON_FIX,
    SdkErrors,
    incomplete,
    refusal,
    unstructured,
)
from streamdecisionbench.components.providers.hosted import Hosted
from streamdecisionbench.components.providers.prompt import (
    ORDERS,
    SCHEMA_NAME,
    Wording,
    answer_schema,
    as_count,
    as_parts,
    choice,
    output_limit,
    present,
    read_labels,
    read_object,
    reported_count,
    served_model,
)
from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


_MAX_TOKENS = 4096
"""Far above what a dozen labels take; the API wants a limit."""


class AnthropicMessages:
    """One call of `messages.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        import anthropic

        refuse(
            options,
            "anthropic",
            allowed=("cache_control", "max_output_tokens", "service_tier", "speed"),
        )
        self._hosted = Hosted(
            "anthropic",
            model,
            options,
            SdkErrors(
                anthropic.APITimeoutError, anthropic.APIConnectionError, anthropic.APIStatusError
            ),
            title="Anthropic",
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            home="api.anthropic.com",
            default_path="",
        )
        self._model = model
        self._effort = options.effort
        self._limit = output_limit(options, _MAX_TOKENS) or _MAX_TOKENS
        self._cache = choice(options, "cache_control", ("5m", "1h"))
        self._wording = Wording.of(options)
        if self._cache and self._wording.order != ORDERS[0]:
            raise InputError(
                "--option cache_control caches what comes first, and every state is another",
                fix="leave it out, or use --order questions-first",
            )
        self._extra = present(
            {
                "service_tier": choice(options, "service_tier", ("auto", "standard_only")),
                "speed": choice(options, "speed", ("standard", "fast")),
            }
        )
        self.observed = self._hosted.observed
        self.secrets = self._hosted.endpoint.secrets
        self._sdk: AsyncAnthropic | None = None
        self.info = ComponentInfo(
            provider="anthropic",
            model=model,
            settings={
                "effort": options.effort,
                "max_output_tokens": self._limit,
                **self._wording.settings,
                **present({"cache_control": self._cache}),
                **self._extra,
                **self._hosted.settings,
            },
            base_url_host=self._hosted.endpoint.host,
            versions=versions("anthropic", "httpx2"),
        )

    async def open(self) -> None:
        self._open()

    async def answer(self, request: Request) -> Answer:
        body = request_body(
            self._model, self._effort, request, self._limit, self._cache, self._wording
        )
        create = self._open().messages.with_raw_response.create
        raw, received_at = await self._hosted.call(lambda: create(**body, **self._extra))
        message = read_object(
            raw.http_response.content,
            what=f"the response of {self._hosted.service.name}",
            fix=NOT_JSON_FIX,
        )
        usage = message.get("usage")
        for name in ("service_tier", "speed"):
            self.observed.serve(name, usage.get(name) if isinstance(usage, dict) else None)
        return Answer(
            labels=read_labels(self._tool_input(message)),
            model=served_model(message),
            usage=_usage(usage),
            received_at=received_at,
        )

    async def close(self) -> None:
        self._sdk = None
        await self._hosted.close()

    def _open(self) -> AsyncAnthropic:
        if self._sdk is None:
            from anthropic import AsyncAnthropic

            endpoint = self._hosted.endpoint
            self._sdk = AsyncAnthropic(
                api_key=endpoint.key,
                # Named even at home: the library would otherwise look into the environment itself.
                base_url=endpoint.base_url or "https://api.anthropic.com",
                timeout=self._hosted.timeout_s,
                max_retries=0,
                http_client=self._hosted.client,
            )
        return self._sdk

    def _tool_input(self, message: dict[str, Any]) -> dict[str, Any]:
        service = self._hosted.service
        reason = message.get("stop_reason")
        if reason == "refusal":
            raise refusal(service)
        if reason in {"max_tokens", "model_context_window_exceeded"}:
            raise incomplete(service, self._limit)
        content = message.get("content")
        calls = [
            block.get("input")
            for block in (content if isinstance(content, list) else [])
            if isinstance(block, dict)
            and block.get("type") == "tool_use"
            and block.get("name") == SCHEMA_NAME
        ]
        if len(calls) != 1 or not isinstance(calls[0], dict):
            raise unstructured(service, "the response does not call the tool exactly once")
        return calls[0]


def create(model: str, options: Options) -> AnthropicMessages:
    return AnthropicMessages(model, options)


def request_body(
    model: str,
    effort: str | None,
    request: Request,
    limit: int = _MAX_TOKENS,
    cache: str | None = None,
    wording: Wording | None = None,
) -> dict[str, Any]:
    """What `messages.create` is called with. What repeats is a block of its own, to be cached."""
    wording = wording or Wording()
    prefix, rest = as_parts(request, wording.order)
    head: dict[str, Any] = {"type": "text", "text": prefix}
    if cache is not None:
        head["cache_control"] = {"type": "ephemeral", "ttl": cache}
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": limit,
        "system": wording.instruction,
        "messages": [{"role": "user", "content": [head, {"type": "text", "text": rest}]}],
        "tools": [
            {
                "name": SCHEMA_NAME,
                "description": "Takes the JSON object of your reply: one label per question.",
                "input_schema": answer_schema(request.questions),
                "strict": True,
            }
        ],
        "tool_choice": {"type": "tool", "name": SCHEMA_NAME, "disable_parallel_tool_use": True},
    }
    if effort is not None:
        body["output_config"] = {"effort": effort}
    return body


def _usage(value: Any) -> Usage | None:
    """`input_tokens` of this API leaves out what went through the cache; ours counts all input."""
    if not isinstance(value, dict):
        return None
    cached = reported_count(value, "cache_read_input_tokens")
    written = as_count(value.get("cache_creation_input_tokens"))
    details = value.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("input_tokens")) + written + (cached or 0),
        cached_tokens=cached,
        output_tokens=as_count(value.get("output_tokens")),
        reasoning_tokens=(
            as_count(details.get("thinking_tokens")) if isinstance(details, dict) else 0
        ),
    )
