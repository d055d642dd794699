"""Traces made by the real SDKs: spans recorded, encoded and written as a collector would."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

START_NS = 1_790_000_000_000_000_000


@dataclass(frozen=True)
class Asked:
    """One span: seconds after the start, and what it carries."""

    begin: float
    end: float
    attributes: dict[str, Any] = field(default_factory=dict)
    failed: bool = False
    name: str = "decide"
    events: dict[str, dict[str, Any]] = field(default_factory=dict)


def write_traces(path: Path, spans: list[Asked], *, per_line: int = 2) -> Path:
    """OTLP JSON, several spans a line. Ids are hex, as the protocol's JSON wants them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "recorder"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    for asked in spans:
        span = tracer.start_span(
            asked.name, attributes=asked.attributes, start_time=START_NS + round(asked.begin * 1e9)
        )
        if asked.failed:
            span.set_status(Status(StatusCode.ERROR))
        for event, given in asked.events.items():
            span.add_event(event, given)
        span.end(START_NS + round(asked.end * 1e9))
    return write_spans(path, exporter.get_finished_spans(), per_line=per_line)


def write_spans(path: Path, done: Sequence[ReadableSpan], *, per_line: int = 2) -> Path:
    """The same for spans that are finished."""
    with path.open("w", encoding="utf-8") as file:
        for k in range(0, len(done), per_line):
            document = MessageToDict(encode_spans(done[k : k + per_line]))
            _hex_ids(document)
            file.write(json.dumps(document) + "\n")
    return path


def _hex_ids(node: Any) -> None:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("traceId", "spanId", "parentSpanId") and isinstance(value, str):
                node[key] = base64.b64decode(value).hex()
            else:
                _hex_ids(value)
    elif isinstance(node, list):
        for item in node:
            _hex_ids(item)
