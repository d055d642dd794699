"""`openai:model` — the Responses API with strict structured outputs, not stored."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Retryable,
)
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import (
    NOT_JSON_FIX,
    call,
    incomplete,
    refusal,
)
from streamdecisionbench.components.providers.openai_client import OpenAIClient, read_usage
from streamdecisionbench.components.providers.prompt import (
    INSTRUCTION,
    SCHEMA_NAME,
    answer_schema,
    as_json,
    read_labels,
    read_object,
)

__all__ = ["OpenAIResponses", "create", "request_body"]


class OpenAIResponses:
    """One call of `responses.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai")
        self._client = OpenAIClient(options)
        self._model = model
        self._effort = options.effort
        self.info = ComponentInfo(
            provider="openai",
            model=model,
            settings={"effort": options.effort, "timeout_s": options.timeout_s, "store": False},
            base_url_host=self._client.endpoint.host,
            versions=self._client.versions,
        )

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        body = request_body(self._model, self._effort, request)
        create = self._client.sdk.responses.with_raw_response.create
        service = self._client.service
        raw, received_at = await call(
            lambda: create(**body), self._client.errors, service, self._client.timeout_s
        )
        response = read_object(
            raw.http_response.content, what=f"the response of {service.name}", fix=NOT_JSON_FIX
        )
        model = response.get("model")
        return Answer(
            labels=read_labels(read_object(self._text(response), what="the model's reply")),
            model=model if isinstance(model, str) else None,
            usage=read_usage(response.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        await self._client.close()

    def _text(self, response: dict[str, Any]) -> str:
        """The output text; a refusal, a failure or a cut reply is raised."""
        service = self._client.service
        status = response.get("status")
        if status == "failed":
            error = response.get("error")
            if isinstance(error, dict) and error.get("code") == "rate_limit_exceeded":
                raise Retryable("rate_limit")
            raise Fatal(
                "server_error",
                f"{service.name} reports that the response failed",
                fix="run again later with --resume: complete scenarios are kept",
            )
        if status == "incomplete":
            details = response.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else None
            if reason == "content_filter":
                raise refusal(service)
            raise incomplete(
                service, "the output limit was reached" if reason == "max_output_tokens" else "cut"
            )
        texts: list[str] = []
        for item in _dicts(response.get("output")):
            for part in _dicts(item.get("content")) if item.get("type") == "message" else []:
                if part.get("type") == "refusal":
                    raise refusal(service)
                if part.get("type") == "output_text" and isinstance(part.get("text"), str):
                    texts.append(part["text"])
        return "".join(texts)


def create(model: str, options: Options) -> OpenAIResponses:
    return OpenAIResponses(model, options)


def request_body(model: str, effort: str | None, request: Request) -> dict[str, Any]:
    """What `responses.create` is called with."""
    body: dict[str, Any] = {
        "model": model,
        "instructions": INSTRUCTION,
        "input": as_json(request),
        "store": False,
        "text": {
            "format": {
                "type": "json_schema",
                "name": SCHEMA_NAME,
                "strict": True,
                "schema": answer_schema(request.questions),
            }
        },
    }
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    return body


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
