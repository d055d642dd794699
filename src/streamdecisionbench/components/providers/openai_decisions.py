"""`openai-decisions:model` — the Decisions API: typed questions in, choices with probabilities out."""

from __future__ import annotations

import json
from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Options, Request
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import NOT_JSON_FIX, Service, refusal
from streamdecisionbench.components.providers.openai_client import OpenAIClient, read_usage
from streamdecisionbench.components.providers.prompt import read_distribution, read_object
from streamdecisionbench.components.providers.request_limits import OPENAI_DECISIONS, RequestLimits
from streamdecisionbench.components.providers.request_options import choice, present
from streamdecisionbench.components.providers.served import served_model

__all__ = ["OpenAIDecisions", "create", "request_body"]


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
        body = {**request_body(self._model, request, as_text=self._as_text), **self._extra}
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


def create(model: str, options: Options) -> OpenAIDecisions:
    return OpenAIDecisions(model, options)


def request_body(model: str, request: Request, *, as_text: bool = False) -> dict[str, Any]:
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
