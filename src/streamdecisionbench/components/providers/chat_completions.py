"""`chat:model` — OpenAI-compatible chat completions bound by a JSON schema (vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Options, Request
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import (
    NOT_JSON_FIX,
    call,
    incomplete,
    refusal,
)
from streamdecisionbench.components.providers.openai_client import OpenAIClient
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
from streamdecisionbench.errors import InputError

__all__ = ["ChatCompletions", "create", "request_body"]


class ChatCompletions:
    """One call of `chat.completions.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "chat", allowed=("temperature",))
        self._client = OpenAIClient(options)
        self._model = model
        self._effort = options.effort
        self._temperature = _temperature(options)
        self.info = ComponentInfo(
            provider="chat",
            model=model,
            settings={
                "effort": options.effort,
                "temperature": self._temperature,
                "timeout_s": options.timeout_s,
            },
            base_url_host=self._client.endpoint.host,
            versions=self._client.versions,
        )

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        body = request_body(self._model, self._effort, self._temperature, request)
        create = self._client.sdk.chat.completions.with_raw_response.create
        service = self._client.service
        raw, received_at = await call(
            lambda: create(**body), self._client.errors, service, self._client.timeout_s
        )
        completion = read_object(
            raw.http_response.content, what=f"the response of {service.name}", fix=NOT_JSON_FIX
        )
        model = completion.get("model")
        return Answer(
            labels=read_labels(read_object(self._text(completion), what="the model's reply")),
            model=model if isinstance(model, str) else None,
            usage=_usage(completion.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        await self._client.close()

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
            raise incomplete(service, "the output limit was reached")
        content = message.get("content")
        return content if isinstance(content, str) else ""


def create(model: str, options: Options) -> ChatCompletions:
    return ChatCompletions(model, options)


def request_body(
    model: str, effort: str | None, temperature: float | None, request: Request
) -> dict[str, Any]:
    """What `chat.completions.create` is called with; nothing optional unless it was asked for."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": as_json(request)},
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
    if effort is not None:
        body["reasoning_effort"] = effort
    if temperature is not None:
        body["temperature"] = temperature
    return body


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
    inputs, outputs = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("prompt_tokens")),
        cached_tokens=as_count(inputs.get("cached_tokens")) if isinstance(inputs, dict) else 0,
        output_tokens=as_count(value.get("completion_tokens")),
        reasoning_tokens=(
            as_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0
        ),
    )
