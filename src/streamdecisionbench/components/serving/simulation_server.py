"""`sdb serve`: simulated profiles behind a real HTTP server that speaks System One and Responses.

The request's `model` selects the profile. Answers are those of `simulated`, served after the drawn
time, so a client measures what it would measure against a service with the published figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route

from streamdecisionbench.components.contract import Answer, Usage
from streamdecisionbench.components.serving.timed_replies import (
    FinishAt,
    Handler,
    Planned,
    Queued,
    Refusal,
    application,
    on_arrival,
    planned,
)
from streamdecisionbench.components.simulated.profiles import Profile, quantile
from streamdecisionbench.components.simulated.simulator import (
    BadQuestionError,
    Simulator,
    UnknownStateError,
    answer_blindly,
)
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.scenario import estimate_tokens

_DATE = "2026-09-30"
_CREATED = 1790726400
"""When the published figures were read, as a date and in Unix seconds: profiles need some date."""

_PATHS = (
    "no such path; this server has POST /v1/systemone, POST /v1/responses, GET /v1/models and "
    "GET /health"
)

_ALIASES = {"jev-latest": "jev"}
"""Names that clients send by default → the profile that answers."""

_ATTEMPTS = 32
"""Places in a text at which a JSON object is looked for."""


@dataclass(slots=True)
class DemoServer:
    """The answers of the demonstration server, and their number.

    A state is looked for in the suite of `simulator`, then in those of `others`. With `any_state` one
    that none of them holds gets an answer drawn from the request alone, for trying out clients.
    `finish_at` plans when a reply leaves; without limits that is its arrival plus its service time.
    `timing` replaces the service times of every profile: by another profile's, or by a number of seconds.
    """

    simulator: Simulator
    profiles: Mapping[str, Profile]
    finish_at: FinishAt = on_arrival
    timing: Profile | float | None = None
    others: Sequence[Simulator] = ()
    any_state: bool = False
    answered: int = 0
    refused: int = 0

    def mean_service_s(self, profile: Profile) -> float:
        """Over all states of the first suite."""
        if isinstance(self.timing, float):
            return self.timing
        drawn = [
            self.simulator.draw(self.timing or profile, scenario, t).latency_s
            for scenario in self.simulator.suite
            for t in range(scenario.n)
        ]
        return sum(drawn) / len(drawn)

    def application(self) -> Starlette:
        """Every path with and without `/v1`, since base URLs are written both ways."""
        answers = {"systemone": self._system_one, "responses": self._responses}
        listings = {"health": self._health, "models": self._models}
        routes = []
        for prefix in ("", "/v1"):
            for name, answer in answers.items():
                endpoint = planned(self._counted(answer), self.finish_at)
                routes.append(Route(f"{prefix}/{name}", endpoint, methods=["POST"]))
            for name, listing in listings.items():
                routes.append(Route(f"{prefix}/{name}", planned(_listed(listing)), methods=["GET"]))
        return application(routes, no_such_path=_PATHS, refused=self._refuse)

    def _counted(self, answer: Callable[[Mapping[str, Any]], Planned]) -> Handler:
        def handle(body: bytes) -> Planned:
            try:
                reply = answer(_json_object(body))
            except UnknownStateError as error:
                raise Refusal(422, str(error), code="unknown_state") from None
            self.answered += 1
            return reply

        return handle

    def _refuse(self) -> None:
        self.refused += 1

    def _health(self) -> dict[str, Any]:
        suite = self.simulator.suite
        queue = self.finish_at.queue if isinstance(self.finish_at, Queued) else None
        return {
            "status": "ok",
            "simulation": True,
            "suite": suite.name,
            "suites": [s.suite.name for s in (self.simulator, *self.others)],
            "dataset_hash": suite.dataset_hash,
            "seed": self.simulator.seed,
            "answered": self.answered,
            "refused": self.refused,
        } | (
            {
                "capacity": queue.capacity,
                "batch": queue.batch,
                "waiting": queue.waiting,
                "longest_queue": queue.longest,
            }
            if queue
            else {}
        )

    def _models(self) -> dict[str, Any]:
        """Both protocols' listings in one object; each client reads the part it knows."""
        profiles = self.profiles.values()
        return {
            "object": "list",
            "data": [
                {
                    "id": p.name,
                    "object": "model",
                    "created": _CREATED,
                    "owned_by": "simulation",
                    "description": p.description,
                }
                for p in profiles
            ],
            "models": [
                {"name": p.name, "description": p.description, "release_date": _DATE}
                for p in profiles
            ],
        }

    def _system_one(self, body: Mapping[str, Any]) -> Planned:
        profile = self._profile(body)
        state, questions = body.get("state"), body.get("questions")
        try:
            answer = self._answer(profile, state, questions)
        except (UnknownStateError, Refusal):
            if not self.any_state:
                raise
            return self._blind(profile, state, questions)
        probabilities, confidence = answer.probabilities or {}, answer.confidence or {}
        usage = answer.usage or Usage()
        value = {
            "model": profile.model,
            "x_simulation": profile.description,
            "answers": {
                name: {
                    "type": "choice",
                    "choice": label,
                    "confidence": confidence[name],
                    "probabilities": probabilities[name],
                }
                for name, label in answer.labels.items()
            },
            "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        }
        return Planned(value, answer.service_s or 0.0)

    def _blind(self, profile: Profile, state: Any, questions: Any) -> Planned:
        seed = self.simulator.seed
        try:
            answers = answer_blindly(seed, state, questions)
        except BadQuestionError as error:
            raise Refusal(422, str(error), code="value_error", where=error.where) from None
        asked = estimate_tokens({"state": state, "questions": questions})
        value = {
            "model": profile.model,
            "x_simulation": "drawn blindly: no suite given to this server holds the state",
            "answers": answers,
            "usage": {"input_tokens": asked, "output_tokens": 0},
        }
        if isinstance(self.timing, float):
            return Planned(value, self.timing)
        rank = int(digest([seed, state])[:8], 16) / 2**32
        return Planned(value, quantile((self.timing or profile).latency, rank))

    def _responses(self, body: Mapping[str, Any]) -> Planned:
        profile = self._profile(body)
        if body.get("stream"):
            raise Refusal(400, "this server does not stream; leave `stream` out")
        payload = find_payload(body.get("input"))
        answer = self._answer(profile, payload.get("state"), payload.get("questions"))
        text = json.dumps(_shaped(answer.labels, _schema(body)), separators=(",", ":"))
        value = _response_object(profile, text, answer.usage or Usage(), body)
        return Planned(value, answer.service_s or 0.0)

    def _profile(self, body: Mapping[str, Any]) -> Profile:
        model = body.get("model")
        if not isinstance(model, str):
            raise Refusal(400, "the request names no `model`")
        name = model.removeprefix("simulated:")
        profile = self.profiles.get(_ALIASES.get(name, name))
        if profile is None:
            names = ", ".join(self.profiles)
            raise Refusal(
                404, f"no such profile; `model` is one of: {names}", code="model_not_found"
            )
        return profile

    def _answer(self, profile: Profile, state: Any, questions: Any) -> Answer:
        state = _as_object(state)
        if not isinstance(state, dict) or not isinstance(questions, dict) or not questions:
            raise Refusal(
                422,
                "the request holds no JSON object with `state` and `questions`",
                code="no_payload",
            )
        for name, question in questions.items():
            if not isinstance(question, dict) or question.get("type", "choice") != "choice":
                raise Refusal(422, f"question {name[:80]!r} is not a choice", code="not_a_choice")
        for simulator in (self.simulator, *self.others):
            try:
                if isinstance(self.timing, float):
                    answer = simulator.answer(profile, state, questions)
                    return replace(answer, service_s=self.timing)
                return simulator.answer(profile, state, questions, timed_by=self.timing)
            except UnknownStateError as error:
                unknown = error
        raise unknown


def find_payload(value: Any) -> dict[str, Any]:
    """{state, questions} from the input of a Responses request.

    The last JSON object in its texts that holds both wins; state and questions may also be in
    separate objects.

    >>> find_payload([{"role": "user", "content": 'Decide: {"questions": {}, "state": {"now": 3}}'}])
    {'questions': {}, 'state': {'now': 3}}
    """
    found: dict[str, Any] = {}
    for text in _texts(value):
        for candidate in _objects(text):
            if "state" in candidate and "questions" in candidate:
                found = {"questions": candidate["questions"], "state": candidate["state"]}
            else:
                found |= {k: v for k, v in candidate.items() if k in ("state", "questions")}
    return found


def _listed(listing: Callable[[], dict[str, Any]]) -> Handler:
    return lambda _: Planned(listing())


def _as_object(state: Any) -> Any:
    """The state itself where a gateway has turned it into text or into messages."""
    if not isinstance(state, str | list):
        return state
    found = [candidate for text in _texts(state) for candidate in _objects(text)]
    return found[-1] if found else state


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                content = item.get("content", item.get("text"))
                yield from _texts(content) if isinstance(content, str | list) else ()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects in a text, outermost ones, in order."""
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    else:
        if isinstance(whole, dict):
            yield whole
        return
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(_ATTEMPTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Refusal(400, "the body is not valid JSON", code="invalid_json") from None
    if not isinstance(value, dict):
        raise Refusal(400, "the body is not a JSON object", code="invalid_json")
    return value


def _schema(body: Mapping[str, Any]) -> Any:
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    return form.get("schema") if isinstance(form, dict) else None


def _shaped(labels: Mapping[str, str], schema: Any, depth: int = 0) -> dict[str, Any]:
    """The answers in the object the schema asks for: at its top, or one level down."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict) and not set(labels) & set(properties) and depth < 3:
        for name, inner in properties.items():
            if isinstance(inner, dict) and isinstance(inner.get("properties"), dict):
                return {name: _shaped(labels, inner, depth + 1)}
    return dict(labels)


def _response_object(
    profile: Profile, text: str, usage: Usage, body: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "id": "resp_simulated",
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "model": profile.model,
        "output": [
            {
                "id": "msg_simulated",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
                ],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {"simulation": profile.description},
        "temperature": None,
        "top_p": None,
        "store": bool(body.get("store", False)),
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens or 0,
                "cache_write_tokens": 0,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    }
