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
    incomplete,
    refusal,
    unstructured,
)
from streamdecisionbench.components.providers.openai_client import TIERS, OpenAIClient, read_usage
from streamdecisionbench.components.providers.prompt import (
    INSTRUCTION,
    SCHEMA_NAME,
    answer_schema,
    as_json,
    read_labels,
    read_object,
)
from streamdecisionbench.components.providers.request_options import (
    LOCAL_OUTPUT_LIMIT,
    choice,
    output_limit,
    present,
)
from streamdecisionbench.components.providers.served import served_model

__all__ = ["OpenAIResponses", "create", "request_body"]


class OpenAIResponses:
    """One call of `responses.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai", allowed=("max_output_tokens", "prompt_cache_key", "service_tier"))
        self._client = OpenAIClient("openai", model, options)
        self._model = model
        self._effort = options.effort
        self._extra = present(
            {
                "max_output_tokens": output_limit(
                    options, None if self._client.service.home else LOCAL_OUTPUT_LIMIT
                ),
                "service_tier": choice(options, "service_tier", TIERS),
                "prompt_cache_key": choice(options, "prompt_cache_key"),
            }
        )
        self.observed = self._client.observed
        self.secrets = self._client.endpoint.secrets
        self.info = ComponentInfo(
            provider="openai",
            model=model,
            settings={
                "effort": options.effort,
                "store": False,
                **self._extra,
                **self._client.settings,
            },
            base_url_host=self._client.endpoint.host,
            versions=self._client.versions,
        )

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        body = {**request_body(self._model, self._effort, request), **self._extra}
        create = self._client.sdk.responses.with_raw_response.create
        raw, received_at = await self._client.call(lambda: create(**body))
        service = self._client.service
        response = read_object(
            raw.http_response.content, what=f"the response of {service.name}", fix=NOT_JSON_FIX
        )
        self.observed.serve("service_tier", response.get("service_tier"))
        return Answer(
            labels=read_labels(self._reply(response)),
            model=served_model(response),
            usage=read_usage(response.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        await self._client.close()

    def _reply(self, response: dict[str, Any]) -> dict[str, Any]:
        text = self._text(response)
        try:
            return read_object(text, what="the model's reply")
        except Fatal as error:
            what, kind = str(error).partition("\n")[0], error.error_type
        raise unstructured(self._client.service, what, kind)

    def _text(self, response: dict[str, Any]) -> str:
        """The output text; a refusal, a failure or a cut reply is raised."""
        service = self._client.service
        status = response.get("status")
        if status == "failed":
            error = response.get("error")
            if isinstance(error, dict) and error.get("code") == "rate_limit_exceeded":
                raise Retryable("rate_limit", detail=f"{service.name} limits the rate of requests")
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
            raise incomplete(service, self._extra.get("max_output_tokens"))
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
