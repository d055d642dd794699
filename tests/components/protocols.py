"""The wire protocols under test: how each hosted provider is asked and what a server answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.components.contract import Answer, Component, Request, check_answer

REQUEST = Request(
    state={"tick": 7, "speech": [{"who": "host", "text": "Any questions?"}], "café": "é"},
    questions={
        "mode": {
            "type": "choice",
            "instructions": "Which mode is on?",
            "criteria": {"K03": "talk: the talk", "K01": "questions: open floor", "K02": "closed: end"},
        },
        "captions": {
            "type": "choice",
            "instructions": "Are captions shown?",
            "criteria": {"K02": "on: shown", "K01": "off: hidden"},
        },
    },
)  # fmt: skip
RIGHT = {"mode": "K01", "captions": "K02"}


def asked_once(component: Component, request: Request = REQUEST) -> Answer:
    """One attempt as the recorder makes it: answer, then contract."""

    async def attempt() -> Answer:
        await component.open()
        try:
            answer = await component.answer(request)
            check_answer(answer, request.questions)
            return answer
        finally:
            await component.close()

    return asyncio.run(attempt())


Distributions = Mapping[str, Mapping[str, float]]

EVEN: Distributions = {
    "mode": {"K03": 0.2, "K01": 0.7, "K02": 0.1},
    "captions": {"K02": 0.99, "K01": 0.01},
}


@dataclass(frozen=True)
class Protocol:
    """One provider: the path it posts to, and the bodies a server of its kind sends."""

    provider: str
    path: str
    key_variable: str
    good: Callable[[Mapping[str, str], Distributions], Any]
    refusal: Any
    distributions: bool = False

    def body(self, labels: Mapping[str, str], spread: Distributions = EVEN) -> bytes:
        return json.dumps(self.good(labels, spread)).encode()


def _responses(labels: Mapping[str, str], spread: Distributions) -> Any:
    return _response([{"type": "output_text", "text": json.dumps(labels), "annotations": []}])


def _response(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "served-model",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": content},
        ],
        "usage": {
            "input_tokens": 2500,
            "input_tokens_details": {"cached_tokens": 1024},
            "output_tokens": 90,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 2590,
        },
    }


def _chat(labels: Mapping[str, str], spread: Distributions) -> Any:
    return _completion({"role": "assistant", "content": json.dumps(labels)})


def _completion(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "cmpl_1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {
            "prompt_tokens": 2500,
            "prompt_tokens_details": {"cached_tokens": 1024},
            "completion_tokens": 90,
            "completion_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 2590,
        },
    }


def _messages(labels: Mapping[str, str], spread: Distributions) -> Any:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "tu_1", "name": "answers", "input": dict(labels)}],
        "usage": {
            "input_tokens": 1400,
            "cache_creation_input_tokens": 76,
            "cache_read_input_tokens": 1024,
            "output_tokens": 90,
            "output_tokens_details": {"thinking_tokens": 64},
        },
    }


def _decisions(labels: Mapping[str, str], spread: Distributions) -> Any:
    return {
        "model": "served-model",
        "answers": [
            {
                "type": "choice",
                "name": name,
                "choice": label,
                "confidence": 0.8,
                "probabilities": [
                    {"value": value, "probability": p} for value, p in spread.get(name, {}).items()
                ],
            }
            for name, label in labels.items()
        ],
        "usage": {
            "input_tokens": 2500,
            "input_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 0},
            "output_tokens": 90,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 2590,
        },
    }


def _systemone(labels: Mapping[str, str], spread: Distributions) -> Any:
    return {
        "model": "served-model",
        "answers": {
            name: {
                "type": "choice",
                "choice": label,
                "confidence": 0.8,
                "probabilities": dict(spread.get(name, {})),
            }
            for name, label in labels.items()
        },
        "usage": {"input_tokens": 2500, "cached_tokens": 1024, "output_tokens": 90},
    }


OPENAI = Protocol(
    "openai", "/v1/responses", "OPENAI_API_KEY", _responses,
    _response([{"type": "refusal", "refusal": "I will not."}]),
)  # fmt: skip
CHAT = Protocol(
    "chat", "/v1/chat/completions", "OPENAI_API_KEY", _chat,
    _completion({"role": "assistant", "content": None, "refusal": "I will not."}),
)  # fmt: skip
ANTHROPIC = Protocol(
    "anthropic", "/v1/messages", "ANTHROPIC_API_KEY", _messages,
    {**_messages({}, {}), "stop_reason": "refusal", "content": []},
)  # fmt: skip
DECISIONS = Protocol(
    "openai-decisions", "/v1/decisions", "OPENAI_API_KEY", _decisions,
    {**_decisions(RIGHT, EVEN), "answers": [
        _decisions(RIGHT, EVEN)["answers"][0], {"type": "refusal", "name": "captions"}]}, True,
)  # fmt: skip
SYSTEMONE = Protocol(
    "systemone", "/v1/systemone", "TYPESAFE_API_KEY", _systemone,
    {**_systemone(RIGHT, EVEN), "answers": {"mode": {"type": "refusal"}}}, True,
)  # fmt: skip

PROTOCOLS = (OPENAI, CHAT, ANTHROPIC, DECISIONS, SYSTEMONE)
