"""`openai:model` — the Responses API with strict structured outputs, not stored."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.components.contract import (
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Retryable,
)
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import (
    incomplete,
    refusal,
)
from streamdecisionbench.components.providers.openai_client import TIERS, OpenAIClient, read_usage
from streamdecisionbench.components.providers.prompt import (
    SCHEMA_NAME,
    Wording,
    answer_schema,
    as_json,
)
from streamdecisionbench.components.providers.request_options import (
    LOCAL_OUTPUT_LIMIT,
    choice,
    output_limit,
    present,
)
from streamdecisionbench.components.providers.schema_bound import SchemaBound
from streamdecisionbench.components.usage import Usage

__all__ = ["OpenAIResponses", "create", "request_body"]


class OpenAIResponses(SchemaBound):
    """One call of `responses.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai", allowed=("max_output_tokens", "prompt_cache_key", "service_tier"))
        client = OpenAIClient("openai", model, options)
        self._model = model
        self._effort = options.effort
        self._wording = Wording.of(options)
        self._extra = present(
            {
                "max_output_tokens": output_limit(
                    options, None if client.service.home else LOCAL_OUTPUT_LIMIT
                ),
                "service_tier": choice(options, "service_tier", TIERS),
                "prompt_cache_key": choice(options, "prompt_cache_key"),
            }
        )
        info = ComponentInfo(
            provider="openai",
            model=model,
            settings={
                "effort": options.effort,
                "store": False,
                **self._wording.settings,
                **self._extra,
                **client.settings,
            },
            base_url_host=client.endpoint.host,
            versions=client.versions,
        )
        super().__init__(client, info)

    async def _ask(self, request: Request) -> Any:
        body = request_body(self._model, self._effort, request, self._wording) | self._extra
        return await self._client.sdk.responses.with_raw_response.create(**body)

    def _usage(self, value: Any) -> Usage | None:
        return read_usage(value)

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


def request_body(
    model: str, effort: str | None, request: Request, wording: Wording | None = None
) -> dict[str, Any]:
    """What `responses.create` is called with."""
    wording = wording or Wording()
    body: dict[str, Any] = {
        "model": model,
        "instructions": wording.instruction,
        "input": as_json(request, wording.order),
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
