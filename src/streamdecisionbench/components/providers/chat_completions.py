"""`chat:model` — OpenAI-compatible chat completions bound by a JSON schema (vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.components.contract import ComponentInfo, Fatal, Options, Request
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import (
    NOT_JSON_FIX,
    incomplete,
    refusal,
)
from streamdecisionbench.components.providers.openai_client import TIERS, OpenAIClient
from streamdecisionbench.components.providers.prompt import (
    SCHEMA_NAME,
    Wording,
    answer_schema,
    as_count,
    as_json,
    reported_count,
)
from streamdecisionbench.components.providers.request_options import (
    LOCAL_OUTPUT_LIMIT,
    choice,
    output_limit,
    present,
)
from streamdecisionbench.components.providers.schema_bound import SchemaBound
from streamdecisionbench.components.usage import Usage
from streamdecisionbench.errors import InputError

__all__ = ["ChatCompletions", "create", "request_body"]


class ChatCompletions(SchemaBound):
    """One call of `chat.completions.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(
            options,
            "chat",
            allowed=("max_output_tokens", "prompt_cache_key", "service_tier", "temperature"),
        )
        client = OpenAIClient("chat", model, options)
        self._wording = Wording.of(options)
        self._model = model
        home = client.service.home
        self._limit = output_limit(options, None if home else LOCAL_OUTPUT_LIMIT)
        chosen = {
            "temperature": _temperature(options),
            "service_tier": choice(options, "service_tier", TIERS),
            "prompt_cache_key": choice(options, "prompt_cache_key"),
        }
        # OpenAI has renamed the limit; servers that imitate it know the older name.
        limit_name = "max_completion_tokens" if home else "max_tokens"
        self._extra = present(
            {"reasoning_effort": options.effort, limit_name: self._limit, **chosen}
        )
        info = ComponentInfo(
            provider="chat",
            model=model,
            settings={
                "effort": options.effort,
                **self._wording.settings,
                **present({"max_output_tokens": self._limit, **chosen}),
                **client.settings,
            },
            base_url_host=client.endpoint.host,
            versions=client.versions,
        )
        super().__init__(client, info)

    async def _ask(self, request: Request) -> Any:
        body = {**request_body(self._model, request, self._wording), **self._extra}
        return await self._client.sdk.chat.completions.with_raw_response.create(**body)

    def _usage(self, value: Any) -> Usage | None:
        return _usage(value)

    def _text(self, completion: dict[str, Any]) -> str:
        service = self._client.service
        choices = completion.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise Fatal(
                "not_json", f"the response of {service.name} has no message", fix=NOT_JSON_FIX
            )
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise refusal(service)
        if choice.get("finish_reason") == "length":
            raise incomplete(service, self._limit)
        content = message.get("content")
        return content if isinstance(content, str) else ""


def create(model: str, options: Options) -> ChatCompletions:
    return ChatCompletions(model, options)


def request_body(model: str, request: Request, wording: Wording | None = None) -> dict[str, Any]:
    """What `chat.completions.create` is called with, without what was asked for by option."""
    wording = wording or Wording()
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": wording.instruction},
            {"role": "user", "content": as_json(request, wording.order)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": SCHEMA_NAME,
                "strict": True,
                "schema": answer_schema(request.questions),
            },
        },
    }


def _temperature(options: Options) -> float | None:
    text = options.extra.get("temperature")
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise InputError("temperature is not a number from 0 to 2", fix="write temperature=0")
    return value


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    outputs = value.get("completion_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("prompt_tokens")),
        cached_tokens=reported_count(value.get("prompt_tokens_details"), "cached_tokens"),
        output_tokens=as_count(value.get("completion_tokens")),
        reasoning_tokens=(
            as_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0
        ),
    )
