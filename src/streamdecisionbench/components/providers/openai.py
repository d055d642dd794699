"""The `openai` package behind three providers: one client, its errors, its own retries off."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Retryable,
    Usage,
)
from streamdecisionbench.components.providers.address import refuse, versions
from streamdecisionbench.components.providers.failures import (
    NOT_JSON_FIX,
    SdkErrors,
    Service,
    incomplete,
    refusal,
    unstructured,
)
from streamdecisionbench.components.providers.hosted import Hosted
from streamdecisionbench.components.providers.prompt import (
    LOCAL_OUTPUT_LIMIT,
    OPENAI_DECISIONS,
    SCHEMA_NAME,
    RequestLimits,
    Wording,
    answer_schema,
    as_count,
    as_json,
    choice,
    output_limit,
    present,
    read_distribution,
    read_labels,
    read_object,
    reported_count,
    served_model,
)
from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from openai import AsyncOpenAI


TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")


class OpenAIClient(Hosted):
    """The client library on our HTTP client."""

    def __init__(self, provider: str, model: str, options: Options) -> None:
        import openai

        super().__init__(
            provider,
            model,
            options,
            SdkErrors(openai.APITimeoutError, openai.APIConnectionError, openai.APIStatusError),
            title="OpenAI",
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
            home="api.openai.com",
            default_path="/v1",
        )
        self.versions = versions("openai", "httpx2")
        self._sdk: AsyncOpenAI | None = None

    @property
    def sdk(self) -> AsyncOpenAI:
        """The client; made on first use, because it belongs to the running event loop."""
        self.open()
        assert self._sdk is not None  # noqa: S101 - `open` has just set it
        return self._sdk

    def open(self) -> None:
        if self._sdk is None:
            from openai import AsyncOpenAI

            self._sdk = AsyncOpenAI(
                api_key=self.endpoint.key,
                # Named even at home: the library would otherwise look into the environment itself.
                base_url=self.endpoint.base_url or "https://api.openai.com/v1",
                timeout=self.timeout_s,
                max_retries=0,
                http_client=self.client,
            )
            # The library imports its resources on first use; that must not fall into a pass.
            _ = (
                self._sdk.responses.with_raw_response,
                self._sdk.decisions,
                self._sdk.chat.completions,
            )

    async def close(self) -> None:
        self._sdk = None
        await super().close()


def read_usage(value: Any) -> Usage | None:
    """Usage as the Responses and the Decisions API report it; None when absent.

    >>> read_usage({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, cached_tokens=4, output_tokens=2, reasoning_tokens=0)
    """
    if not isinstance(value, dict):
        return None
    outputs = value.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("input_tokens")),
        cached_tokens=reported_count(value.get("input_tokens_details"), "cached_tokens"),
        output_tokens=as_count(value.get("output_tokens")),
        reasoning_tokens=(
            as_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0
        ),
    )


# What the two OpenAI APIs that bind a reply to a JSON schema have in common: one call, one reading.


class SchemaBound(ABC):
    """One call per state; the labels are the JSON object that the reply's text holds."""

    def __init__(self, client: OpenAIClient, info: ComponentInfo) -> None:
        self._client = client
        self.info = info
        self.observed = client.observed
        self.secrets = client.endpoint.secrets

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        raw, received_at = await self._client.call(lambda: self._ask(request))
        found = read_object(
            raw.http_response.content,
            what=f"the response of {self._client.service.name}",
            fix=NOT_JSON_FIX,
        )
        self.observed.serve("service_tier", found.get("service_tier"))
        return Answer(
            labels=read_labels(self._reply(found)),
            model=served_model(found),
            usage=self._usage(found.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        await self._client.close()

    def _reply(self, found: dict[str, Any]) -> dict[str, Any]:
        text = self._text(found)
        try:
            return read_object(text, what="the model's reply")
        except Fatal as error:
            what, kind = str(error).partition("\n")[0], error.error_type
        raise unstructured(self._client.service, what, kind)

    @abstractmethod
    async def _ask(self, request: Request) -> Any:
        """The raw response to one state."""

    @abstractmethod
    def _text(self, found: dict[str, Any]) -> str:
        """The reply's text; a refusal, a failure or a cut reply is raised."""

    @abstractmethod
    def _usage(self, value: Any) -> Usage | None:
        """Tokens, as this API names them; None where it reports none."""


# `openai:model` — the Responses API with strict structured outputs, not stored.


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
        body = responses_body(self._model, self._effort, request, self._wording) | self._extra
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


def create_responses(model: str, options: Options) -> OpenAIResponses:
    return OpenAIResponses(model, options)


def responses_body(
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


# `chat:model` — OpenAI-compatible chat completions bound by a JSON schema (vLLM, Ollama, llama.cpp).


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
        body = {**chat_body(self._model, request, self._wording), **self._extra}
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


def create_chat(model: str, options: Options) -> ChatCompletions:
    return ChatCompletions(model, options)


def chat_body(model: str, request: Request, wording: Wording | None = None) -> dict[str, Any]:
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


# `openai-decisions:model` — the Decisions API: typed questions in, choices with probabilities out.


class OpenAIDecisions:
    """One call of `decisions.create` per state; the API has no effort and stores nothing."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai-decisions", "effort", allowed=("input", "prompt_cache_key"))
        self._client = OpenAIClient("openai-decisions", model, options)
        self._model = model
        self._as_text = choice(options, "input", ("json", "text")) == "text"
        self._extra = present({"prompt_cache_key": choice(options, "prompt_cache_key")})
        self.observed = self._client.observed
        self.secrets = self._client.endpoint.secrets
        self.limits: RequestLimits = OPENAI_DECISIONS
        self.info = ComponentInfo(
            provider="openai-decisions",
            model=model,
            settings={
                "input": "text" if self._as_text else "json",
                **self._extra,
                **self._client.settings,
            },
            base_url_host=self._client.endpoint.host,
            versions=self._client.versions,
        )

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        body = {**decisions_body(self._model, request, as_text=self._as_text), **self._extra}
        create = self._client.sdk.decisions.with_raw_response.create
        raw, received_at = await self._client.call(lambda: create(**body))
        service = self._client.service
        decision = read_object(
            raw.http_response.content, what=f"the response of {service.name}", fix=NOT_JSON_FIX
        )
        self.observed.serve("service_tier", decision.get("service_tier"))
        return _read(decision, list(request.questions), service, received_at)

    async def close(self) -> None:
        await self._client.close()


def create_decisions(model: str, options: Options) -> OpenAIDecisions:
    return OpenAIDecisions(model, options)


def decisions_body(model: str, request: Request, *, as_text: bool = False) -> dict[str, Any]:
    """Questions as named choices in their listed order, the state as a JSON part.

    Gateways that know only text parts get the state as compact JSON text.
    """
    part: dict[str, Any] = {"type": "input_json", "data": dict(request.state)}
    if as_text:
        text = json.dumps(dict(request.state), ensure_ascii=False, separators=(",", ":"))
        part = {"type": "input_text", "text": text}
    return {
        "model": model,
        "questions": [
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
        ],
        "input": [{"role": "user", "content": [part]}],
    }


def _read(
    decision: dict[str, Any], names: list[str], service: Service, received_at: float
) -> Answer:
    answers = decision.get("answers")
    if not isinstance(answers, list) or not all(isinstance(a, dict) for a in answers):
        raise Fatal("not_json", f"the response of {service.name} has no answers", fix=NOT_JSON_FIX)
    labels: dict[str, str] = {}
    probabilities: dict[str, dict[str, float]] = {}
    confidence: dict[str, float] = {}
    for position, answer in enumerate(answers):
        # Answers come in question order; a name, where given, says the same and is preferred.
        name = answer.get("name")
        if not isinstance(name, str):
            name = names[position] if position < len(names) else f"#{position}"
        if answer.get("type") == "refusal":
            raise refusal(service, name if name in names else None)
        if name not in names:
            labels[name] = ""  # whatever it says: the contract names it as one too many
            continue
        choice = answer.get("choice")
        if name in labels or not isinstance(choice, str):
            problem = "duplicate_answer" if name in labels else "unknown_label"
            raise Fatal(
                problem,
                f"an answer of {service.name} is not one choice for one question",
                fix="check that the server follows the Decisions API",
            )
        labels[name] = choice
        listed = answer.get("probabilities")
        if isinstance(listed, list):
            pairs = [(p.get("value"), p.get("probability")) for p in listed if isinstance(p, dict)]
            probabilities[name] = read_distribution(name if name in names else "an answer", pairs)
        if isinstance(answer.get("confidence"), int | float):
            confidence[name] = float(answer["confidence"])
    return Answer(
        labels=labels,
        model=served_model(decision),
        usage=read_usage(decision.get("usage")),
        probabilities=probabilities or None,
        confidence=confidence or None,
        received_at=received_at,
    )
