"""`openai-decisions:model` — the Decisions API: typed questions in, choices with probabilities out."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Options, Request
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.providers.http_errors import (
    NOT_JSON_FIX,
    Service,
    call,
    refusal,
)
from streamdecisionbench.components.providers.openai_client import OpenAIClient, read_usage
from streamdecisionbench.components.providers.prompt import read_distribution, read_object

__all__ = ["OpenAIDecisions", "create", "request_body"]


class OpenAIDecisions:
    """One call of `decisions.create` per state; the API has no effort and stores nothing."""

    def __init__(self, model: str, options: Options) -> None:
        refuse(options, "openai-decisions", "effort")
        self._client = OpenAIClient(options)
        self._model = model
        self.info = ComponentInfo(
            provider="openai-decisions",
            model=model,
            settings={"timeout_s": options.timeout_s},
            base_url_host=self._client.endpoint.host,
            versions=self._client.versions,
        )

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        body = request_body(self._model, request)
        create = self._client.sdk.decisions.with_raw_response.create
        service = self._client.service
        raw, received_at = await call(
            lambda: create(**body), self._client.errors, service, self._client.timeout_s
        )
        decision = read_object(
            raw.http_response.content, what=f"the response of {service.name}", fix=NOT_JSON_FIX
        )
        return _read(decision, list(request.questions), service, received_at)

    async def close(self) -> None:
        await self._client.close()


def create(model: str, options: Options) -> OpenAIDecisions:
    return OpenAIDecisions(model, options)


def request_body(model: str, request: Request) -> dict[str, Any]:
    """Questions as named choices in their listed order, the state as a JSON part."""
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
        "input": [
            {"role": "user", "content": [{"type": "input_json", "data": dict(request.state)}]}
        ],
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
    model = decision.get("model")
    return Answer(
        labels=labels,
        model=model if isinstance(model, str) else None,
        usage=read_usage(decision.get("usage")),
        probabilities=probabilities or None,
        confidence=confidence or None,
        received_at=received_at,
    )
