"""`anthropic:model` — the Messages API with one forced tool whose input is bound by a strict schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Options, Request
from streamdecisionbench.components.providers.endpoint import refuse, resolve, versions
from streamdecisionbench.components.providers.http_errors import (
    NOT_JSON_FIX,
    SdkErrors,
    Service,
    call,
    incomplete,
    refusal,
)
from streamdecisionbench.components.providers.prompt import (
    INSTRUCTION,
    SCHEMA_NAME,
    answer_schema,
    as_count,
    as_json,
    read_labels,
    read_object,
)
from streamdecisionbench.components.usage import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

__all__ = ["AnthropicMessages", "create", "request_body"]

_MAX_TOKENS = 4096
"""Far above what a dozen labels take; the API wants a limit."""


class AnthropicMessages:
    """One call of `messages.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        import anthropic

        refuse(options, "anthropic")
        self._endpoint = resolve(
            options,
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            home="api.anthropic.com",
            default_path="",
        )
        self._errors = SdkErrors(
            anthropic.APITimeoutError, anthropic.APIConnectionError, anthropic.APIStatusError
        )
        self._service = Service(
            "Anthropic" if self._endpoint.home else f"the server at {self._endpoint.host}",
            self._endpoint.host,
            self._endpoint.key_variable,
        )
        self._model = model
        self._options = options
        self._sdk: AsyncAnthropic | None = None
        self.info = ComponentInfo(
            provider="anthropic",
            model=model,
            settings={
                "effort": options.effort,
                "max_tokens": _MAX_TOKENS,
                "timeout_s": options.timeout_s,
            },
            base_url_host=self._endpoint.host,
            versions=versions("anthropic"),
        )

    async def open(self) -> None:
        self._open()

    async def answer(self, request: Request) -> Answer:
        body = request_body(self._model, self._options.effort, request)
        create = self._open().messages.with_raw_response.create
        raw, received_at = await call(
            lambda: create(**body), self._errors, self._service, self._options.timeout_s
        )
        message = read_object(
            raw.http_response.content,
            what=f"the response of {self._service.name}",
            fix=NOT_JSON_FIX,
        )
        model = message.get("model")
        return Answer(
            labels=read_labels(self._tool_input(message)),
            model=model if isinstance(model, str) else None,
            usage=_usage(message.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()

    def _open(self) -> AsyncAnthropic:
        if self._sdk is None:
            from anthropic import AsyncAnthropic

            self._sdk = AsyncAnthropic(
                api_key=self._endpoint.key,
                base_url=self._endpoint.base_url,
                timeout=self._options.timeout_s,
                max_retries=0,
            )
        return self._sdk

    def _tool_input(self, message: dict[str, Any]) -> dict[str, Any]:
        reason = message.get("stop_reason")
        if reason == "refusal":
            raise refusal(self._service)
        if reason in {"max_tokens", "model_context_window_exceeded"}:
            raise incomplete(self._service, "the output or context limit was reached")
        content = message.get("content")
        calls = [
            block.get("input")
            for block in (content if isinstance(content, list) else [])
            if isinstance(block, dict)
            and block.get("type") == "tool_use"
            and block.get("name") == SCHEMA_NAME
        ]
        if len(calls) != 1 or not isinstance(calls[0], dict):
            raise Fatal(
                "not_json",
                f"the response of {self._service.name} does not call the tool exactly once",
                fix="check that the model supports forced tools",
            )
        return calls[0]


def create(model: str, options: Options) -> AnthropicMessages:
    return AnthropicMessages(model, options)


def request_body(model: str, effort: str | None, request: Request) -> dict[str, Any]:
    """What `messages.create` is called with."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": _MAX_TOKENS,
        "system": INSTRUCTION,
        "messages": [{"role": "user", "content": as_json(request)}],
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
    cached = as_count(value.get("cache_read_input_tokens"))
    written = as_count(value.get("cache_creation_input_tokens"))
    details = value.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("input_tokens")) + written + cached,
        cached_tokens=cached,
        output_tokens=as_count(value.get("output_tokens")),
        reasoning_tokens=(
            as_count(details.get("thinking_tokens")) if isinstance(details, dict) else 0
        ),
    )
