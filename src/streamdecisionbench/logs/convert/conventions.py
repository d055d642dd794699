"""Which spans are decisions, by convention: OpenInference and OpenTelemetry's for generative AI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from streamdecisionbench.logs.convert.otlp import Span, read_spans
from streamdecisionbench.logs.convert.rows import Decision, Told, own_attributes

__all__ = ["from_openinference", "from_otel"]

_OPERATIONS = ("chat", "generate_content", "text_completion")


def from_openinference(paths: Sequence[Path], told: Told) -> Iterator[Decision]:
    """`openinference.span.kind = DECISION`; stream `session.id`, values of input and output."""
    for span in read_spans(paths):
        kind = span.attributes.get("openinference.span.kind")
        if kind != "DECISION":
            told.left_out[f"span kind {kind or 'not given'}, not DECISION"] += 1
            continue
        yield _decision(
            span,
            stream=span.attributes.get("session.id"),
            output=_text(span.attributes.get("output.value")),
            state=_state(span.attributes.get("input.value")),
            model=span.attributes.get("llm.model_name"),
        )


def from_otel(paths: Sequence[Path], told: Told) -> Iterator[Decision]:
    """Spans of `gen_ai.operation.name` chat and its like; stream `gen_ai.conversation.id`."""
    for span in read_spans(paths):
        operation = span.attributes.get("gen_ai.operation.name")
        if operation not in _OPERATIONS:
            told.left_out[f"operation {operation or 'not given'}, which decides nothing"] += 1
            continue
        given = span.attributes
        yield _decision(
            span,
            stream=given.get("gen_ai.conversation.id"),
            output=_message(given.get("gen_ai.output.messages"))
            or _text(given.get("gen_ai.completion")),
            state=_state(
                _message(given.get("gen_ai.input.messages")) or given.get("gen_ai.prompt")
            ),
            model=given.get("gen_ai.response.model") or given.get("gen_ai.request.model"),
        )


def _decision(
    span: Span, *, stream: Any, output: str | None, state: str | None, model: Any
) -> Decision:
    return Decision(
        stream=None if stream in (None, "") else str(stream),
        trace=span.trace,
        started=span.started,
        ended=span.ended,
        failed=span.failed,
        decision=output,
        state=state,
        extra={
            "model": None if model is None else str(model),
            "service": _text(span.resource.get("service.name")),
            "span": span.name,
        },
        own=own_attributes(span.attributes),
    )


def _message(messages: Any) -> str | None:
    """The text of the last message: parts of kind text, joined."""
    if isinstance(messages, str):
        try:
            decoded: Any = json.loads(messages)
        except ValueError:
            return str(messages)
        messages = decoded
    if not isinstance(messages, list) or not messages:
        return None
    last = messages[-1]
    parts = last.get("parts") if isinstance(last, dict) else None
    texts = [
        str(part.get("content", ""))
        for part in parts or []
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return "".join(texts) if texts else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _state(value: Any) -> str | None:
    """JSON as it is; any other text as a JSON string, so that the column is JSON throughout."""
    text = _text(value)
    if text is None:
        return None
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text
