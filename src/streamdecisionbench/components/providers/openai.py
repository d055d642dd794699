"""The `openai` package behind three providers, its own retries off.

`openai:model` is the Responses API with strict structured outputs, not stored; `chat:model`
OpenAI-compatible chat completions bound by a JSON schema (vLLM, Ollama, llama.cpp);
`openai-decisions:model` the Decisions API: typed questions in, choices with probabilities out.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import Any

from streamdecisionbench.components.contract import (
    Answer,
    Fatal,
    Options,
    Request,
    Retryable,
    Usage,
)
from streamdecisionbench.components.providers.address_and_key import Home, refuse
from streamdecisionbench.components.providers.failures import (
    NOT_JSON_FIX,
    SdkErrors,
    incomplete,
    refusal,
    unstructured,
)
from streamdecisionbench.components.providers.prompt import (
    LOCAL_OUTPUT_LIMIT,
    OPENAI_DECISIONS,
    SCHEMA_NAME,
    Wording,
    answer_schema,
    as_json,
    choice,
    output_limit,
    present,
    read_labels,
    read_object,
    read_usage,
)
from streamdecisionbench.components.providers.remote_provider import DecisionApi, RemoteProvider
from streamdecisionbench.errors import InputError

TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
_HOME = Home("OpenAI", "api.openai.com", "/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL")


class _OpenAI(RemoteProvider):
    """The client library on our HTTP client."""

    def __init__(self, provider: str, model: str, options: Options) -> None:
        import openai

        errors = SdkErrors(openai.APITimeoutError, openai.APIConnectionError, openai.APIStatusError)
        super().__init__(provider, options, _HOME, errors)
        self._model = model

    def _connect(self) -> Any:
        from openai import AsyncOpenAI

        sdk = AsyncOpenAI(max_retries=0, **self.connection)
        # The library imports its resources on first use; that must not fall into a pass.
        _ = sdk.responses.with_raw_response, sdk.decisions, sdk.chat.completions
        return sdk


class _SchemaBound(_OpenAI):
    """The labels are the JSON object that the reply's text holds."""

    def __init__(self, provider: str, model: str, options: Options) -> None:
        super().__init__(provider, model, options)
        self._wording = Wording.of(options)
        self.output_tokens = output_limit(
            options, None if self.service.home else LOCAL_OUTPUT_LIMIT
        )
        self._chosen = present(
            {
                "service_tier": choice(options, "service_tier", TIERS),
                "prompt_cache_key": choice(options, "prompt_cache_key"),
            }
        )

    def _read(self, body: dict[str, Any], request: Request) -> Answer:
        text = self._text(body)
        try:
            found = read_object(text, what="the model's reply")
        except Fatal as error:
            what, kind = str(error).partition("\n")[0], error.error_type
        else:
            return Answer(labels=read_labels(found))
        raise unstructured(self.service, what, kind)

    def _countable(self, request: Request) -> dict[str, Any] | None:
        return chat_body(self._model, request, self._wording)

    @abstractmethod
    def _text(self, body: dict[str, Any]) -> str:
        """The reply's text; a refusal, a failure or a cut reply is raised."""


class OpenAIResponses(_SchemaBound):
    """One call of `responses.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai", allowed=("max_output_tokens", "prompt_cache_key", "service_tier"))
        super().__init__("openai", model, options)
        self._effort = options.effort
        self._extra = present({"max_output_tokens": self.output_tokens}) | self._chosen
        asked = {"effort": options.effort, "store": False}
        self.info = self.describe(
            model, "openai", {**asked, **self._wording.settings, **self._extra}
        )

    async def _ask(self, request: Request) -> Any:
        body: dict[str, Any] = {
            "model": self._model,
            "instructions": self._wording.instruction,
            "input": as_json(request, self._wording.order),
            "store": False,
            "text": {"format": {"type": "json_schema", **_strict_schema(request)}},
            **self._extra,
        }
        if self._effort is not None:
            body["reasoning"] = {"effort": self._effort}
        return await self.sdk.responses.with_raw_response.create(**body)

    def _text(self, body: dict[str, Any]) -> str:
        service, status = self.service, body.get("status")
        if status == "failed":
            error = body.get("error")
            if isinstance(error, dict) and error.get("code") == "rate_limit_exceeded":
                raise Retryable("rate_limit", detail=f"{service.name} limits the rate of requests")
            raise Fatal(
                "server_error",
                f"{service.name} reports that the response failed",
                fix="run again later with --resume: complete scenarios are kept",
            )
        if status == "incomplete":
            details = body.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else None
            raise (
                refusal(service)
                if reason == "content_filter"
                else incomplete(service, self.output_tokens)
            )
        texts: list[str] = []
        for item in _dicts(body.get("output")):
            for part in _dicts(item.get("content")) if item.get("type") == "message" else []:
                if part.get("type") == "refusal":
                    raise refusal(service)
                if part.get("type") == "output_text" and isinstance(part.get("text"), str):
                    texts.append(part["text"])
        return "".join(texts)


class ChatCompletions(_SchemaBound):
    """One call of `chat.completions.create` per state."""

    def __init__(self, model: str, options: Options) -> None:
        known = ("max_output_tokens", "prompt_cache_key", "service_tier", "temperature")
        refuse(options, "chat", allowed=known)
        super().__init__("chat", model, options)
        chosen = present({"temperature": _temperature(options)}) | self._chosen
        # OpenAI has renamed the limit; servers that imitate it know the older name.
        limit_name = "max_completion_tokens" if self.service.home else "max_tokens"
        self._extra = present({"reasoning_effort": options.effort, limit_name: self.output_tokens})
        self._extra |= chosen
        asked = {"effort": options.effort, **self._wording.settings}
        limit = present({"max_output_tokens": self.output_tokens})
        self.info = self.describe(model, "openai", {**asked, **limit, **chosen})

    async def _ask(self, request: Request) -> Any:
        body = {**chat_body(self._model, request, self._wording), **self._extra}
        return await self.sdk.chat.completions.with_raw_response.create(**body)

    def _usage(self, value: Any) -> Usage | None:
        return read_usage(
            value,
            asked="prompt_tokens",
            cached="prompt_tokens_details.cached_tokens",
            written="completion_tokens",
            reasoning="completion_tokens_details.reasoning_tokens",
        )

    def _text(self, body: dict[str, Any]) -> str:
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            what = f"the response of {self.service.name} has no message"
            raise Fatal("not_json", what, fix=NOT_JSON_FIX)
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise refusal(self.service)
        if choice.get("finish_reason") == "length":
            raise incomplete(self.service, self.output_tokens)
        content = message.get("content")
        return content if isinstance(content, str) else ""


class OpenAIDecisions(DecisionApi, _OpenAI):
    """One call of `decisions.create` per state; the API has no effort and stores nothing."""

    limits = OPENAI_DECISIONS

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai-decisions", "effort", allowed=("input", "prompt_cache_key"))
        super().__init__("openai-decisions", model, options)
        self._as_text = choice(options, "input", ("json", "text")) == "text"
        self._extra = present({"prompt_cache_key": choice(options, "prompt_cache_key")})
        asked = {"input": "text" if self._as_text else "json"}
        self.info = self.describe(model, "openai", {**asked, **self._extra})

    async def _ask(self, request: Request) -> Any:
        """Questions as named choices in their listed order, the state as a JSON part.

        Gateways that know only text parts get the state as compact JSON text.
        """
        part: dict[str, Any] = {"type": "input_json", "data": dict(request.state)}
        if self._as_text:
            text = json.dumps(dict(request.state), ensure_ascii=False, separators=(",", ":"))
            part = {"type": "input_text", "text": text}
        questions = [
            {
                "type": "choice",
                "name": name,
                "instructions": question["instructions"],
                "choices": [
                    {"value": label, "description": text}
                    for label, text in question["criteria"].items()
                ],
            }
            for name, question in request.questions.items()
        ]
        return await self.sdk.decisions.with_raw_response.create(
            model=self._model,
            questions=questions,
            input=[{"role": "user", "content": [part]}],
            **self._extra,
        )

    def _listed(self, body: dict[str, Any], names: list[str]) -> list[tuple[str, Any]]:
        """Answers come in question order; a name, where given, says the same and is preferred."""
        answers = body.get("answers")
        if not isinstance(answers, list) or not all(isinstance(a, dict) for a in answers):
            raise self._no_answers()
        listed = [*names, *(f"#{k}" for k in range(len(names), len(answers)))]
        return [
            (a["name"] if isinstance(a.get("name"), str) else listed[k], a)
            for k, a in enumerate(answers)
        ]


def chat_body(model: str, request: Request, wording: Wording | None = None) -> dict[str, Any]:
    """The arguments of `chat.completions.create`, without those from options."""
    wording = wording or Wording()
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": wording.instruction},
            {"role": "user", "content": as_json(request, wording.order)},
        ],
        "response_format": {"type": "json_schema", "json_schema": _strict_schema(request)},
    }


def _strict_schema(request: Request) -> dict[str, Any]:
    return {"name": SCHEMA_NAME, "strict": True, "schema": answer_schema(request.questions)}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


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
