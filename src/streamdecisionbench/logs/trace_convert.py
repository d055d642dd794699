"""Traces of other tools as a decision log, with what had to be assumed about every decision.

No tracing convention says when a state became current, which stream it belongs to for sure, or when an
answer took effect. Four attributes of `sdb` add this: `sdb.stream`, `sdb.step`, `sdb.applied_at` and
`sdb.reference`. Missing facts are assumed, counted and printed. The sources are Langfuse's export of
observations (Parquet) and OTLP JSON as a collector's file exporter writes it, by the conventions of
OpenInference and of OpenTelemetry for generative AI. `decision_responses` unpacks decision APIs.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.decision_responses import (
    READERS,
    UnpackedAnswers,
    UnreadableResponseError,
    has_answers,
    question_types,
    read_answers_by_id,
    read_request,
    read_response,
)
from streamdecisionbench.logs.log_export import (
    check_name,
    write_log,
)

if TYPE_CHECKING:
    import pyarrow as pa

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH = 20_000
_NEVER = 1e15
"""Seconds since 1970 beyond any calendar."""
_NO_JSON = object()
_FAILED = (2, "STATUS_CODE_ERROR")
_OPERATIONS = ("chat", "generate_content", "text_completion")
_ANSWERS = "gen_ai.decision.answers"
_HIDDEN = "__REDACTED__"
"""Written by OpenInference's instrumentation in place of a value it was told to hide."""
_MODELS = (
    "decision.model_name", "decision.response.model_name", "decision.request.model_name",
    "llm.model_name",
)  # fmt: skip
_NEEDED = ("start_time", "end_time", "output")
_USED = (
    *_NEEDED, "session_id", "trace_id", "input", "type", "level", "metadata", "model",
    "provided_model_name", "name",
)  # fmt: skip


@dataclass(slots=True)
class TracedDecision:
    """A span or an observation, whatever tool wrote it. Times are seconds since 1970.

    The reader of a convention fills the fields that have a default.
    """

    trace: str
    started: float | None
    ended: float | None
    failed: bool
    attributes: Mapping[str, Any]
    """Those called `sdb.` are ours and come before any convention's."""
    service: str | None
    span: str | None
    stream: str | None = None
    decision: str | None = None
    state: str | None = None
    model: str | None = None
    questions: str | None = None
    probabilities: str | None = None
    confidence: float | None = None


@dataclass
class Converted:
    """What came of it. Assumptions and reasons are sentences, with how many rows each concerns."""

    rows: int = 0
    streams: int = 0
    spans: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def decision_row(found: TracedDecision, told: Converted) -> dict[str, Any] | None:
    """A row of `sdb-decisions/1`, or None where the span cannot be one."""
    own = found.attributes
    applied = instant(own.get("sdb.applied_at"))
    if found.started is None:
        told.left_out["no start time"] += 1
        return None
    try:
        began, came, took = map(_stamp, (found.started, found.ended, applied))
    except (OverflowError, ValueError, OSError):
        told.left_out["a time that no calendar has"] += 1
        return None
    stream = own.get("sdb.stream") or found.stream
    if not stream:
        if not found.trace:
            told.left_out["neither a session nor a trace"] += 1
            return None
        stream = found.trace
        told.assumed["no session is named: every trace is a stream of its own"] += 1
    told.assumed["a state became current when its span began"] += 1
    answered = None if found.failed else came
    if came is None:
        told.assumed["a span without an end never got an answer"] += 1
    elif found.failed:
        told.assumed["a span that failed got no answer"] += 1
    decision = None if answered is None else found.decision
    if answered is not None and decision is None:
        told.assumed["a span without an output got no answer"] += 1
        answered = None
    if answered is not None and took is None:
        told.assumed["when an answer took effect is not said: it is replayed, newest first"] += 1
    step = str(own.get("sdb.step"))
    return {
        "stream": str(stream),
        "step": int(step) if re.fullmatch("[0-9]{1,18}", step) else None,
        "published_at": began,
        "requested_at": began,
        "answered_at": answered,
        "applied_at": took,
        "decision": decision,
        "reference": _text(own.get("sdb.reference")),
        "state": found.state,
        "confidence": None if answered is None else found.confidence,
        "questions": found.questions,
        "probabilities": None if answered is None else found.probabilities,
        "model": found.model,
        "service": found.service,
        "span": found.span,
    }


def instant(value: Any) -> float | None:
    """Seconds since 1970 from seconds, a time in ISO 8601, or a datetime; None from anything else.

    >>> instant("2026-01-02T03:04:05Z") == instant(1767323045.0)
    True
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (aware - _EPOCH).total_seconds()
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < _NEVER else math.inf
    try:
        return instant(datetime.fromisoformat(str(value)))
    except ValueError:
        return None


def _stamp(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(round(seconds, 6), UTC)


def from_langfuse(paths: Sequence[Path], told: Converted) -> Iterator[TracedDecision]:
    """Generations with `session_id`, `start_time`, `end_time`, `input` and `output`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"is no Parquet file ({error})", where=path, fix="export observations as Parquet"
            ) from None
        missing = [name for name in _NEEDED if name not in file.schema_arrow.names]
        if missing:
            raise InputError(
                f"has no column {', '.join(missing)}; its columns are"
                f" {', '.join(file.schema_arrow.names)}",
                where=path,
                fix="export the table of observations",
            )
        columns = [name for name in _USED if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=columns):
            for row in batch.to_pylist():
                found = _observation(row, told)
                if found is not None:
                    yield found


def _observation(row: Mapping[str, Any], told: Converted) -> TracedDecision | None:
    kind = row.get("type")
    if kind not in (None, "GENERATION"):
        told.left_out[f"observation of type {kind}, not GENERATION"] += 1
        return None
    return TracedDecision(
        trace=str(row.get("trace_id") or ""),
        started=instant(row["start_time"]),
        ended=instant(row["end_time"]),
        failed=row.get("level") == "ERROR",
        attributes=_metadata(row.get("metadata")),
        service=None,
        span=_text(row.get("name")),
        stream=_named(row.get("session_id")),
        decision=_text(row["output"]),
        state=_json(row.get("input")),
        model=_named(row.get("model") or row.get("provided_model_name")),
    )


def _metadata(value: Any) -> dict[str, Any]:
    """A mapping, JSON of one, or the pairs Parquet makes of a map."""
    if isinstance(value, str):
        value = _loaded(value)
    if isinstance(value, list) and all(isinstance(p, tuple) and len(p) == 2 for p in value):
        value = dict(value)
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {}


def read_spans(paths: Sequence[Path]) -> Iterator[TracedDecision]:
    """All spans of all files. A line is one export of resource spans, or the file is one document."""
    for path in paths:
        for number, document in _documents(path):
            try:
                yield from _spans(document)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(
                    f"line {number} holds no OTLP spans ({type(error).__name__}: {error})",
                    where=path,
                    fix="export traces as OTLP JSON, one export per line",
                ) from None


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if number == 1:
                    whole = _whole(path)
                    if whole is not None:
                        yield 1, whole
                        return
                raise InputError(
                    f"line {number} is not JSON ({error})", where=path, fix="export it as OTLP JSON"
                ) from None


def _whole(path: Path) -> Any:
    """One document over many lines, as people print it."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _spans(document: Any) -> Iterator[TracedDecision]:
    for group in document["resourceSpans"]:
        resource = _attributes((group.get("resource") or {}).get("attributes") or [])
        for scope in group.get("scopeSpans") or []:
            for span in scope.get("spans") or []:
                own = _attributes(span.get("attributes") or [])
                if _ANSWERS not in own:  # some SDKs record the answers as an event of the span
                    own.update(_answers_event(span.get("events") or []))
                yield TracedDecision(
                    trace=str(span.get("traceId", "")),
                    started=_seconds(span["startTimeUnixNano"]),
                    ended=_seconds(span.get("endTimeUnixNano")),
                    failed=(span.get("status") or {}).get("code") in _FAILED,
                    attributes=own,
                    service=_text(resource.get("service.name")),
                    span=str(span.get("name", "")),
                )


def _answers_event(events: list[Any]) -> dict[str, Any]:
    found = [e for e in events if isinstance(e, dict) and e.get("name") == _ANSWERS]
    given = _attributes(found[-1].get("attributes") or []) if found else {}
    return {_ANSWERS: given["answers"]} if "answers" in given else {}


def _attributes(pairs: list[Any]) -> dict[str, Any]:
    return {str(pair["key"]): _value(pair.get("value") or {}) for pair in pairs}


def _value(value: dict[str, Any]) -> Any:
    for kind, held in value.items():
        if kind == "intValue":
            return int(held)
        if kind == "doubleValue":
            return float(held)
        if kind == "arrayValue":
            return [_value(v) for v in held.get("values") or []]
        if kind == "kvlistValue":
            return _attributes(held.get("values") or [])
        return held
    return None


def _seconds(nanoseconds: Any) -> float | None:
    """Microseconds are kept: whole seconds and the rest are divided apart."""
    if nanoseconds in (None, "", 0, "0"):
        return None
    seconds, rest = divmod(int(nanoseconds), 1_000_000_000)
    return seconds + rest / 1e9 if abs(seconds) < _NEVER else math.inf


def from_openinference(paths: Sequence[Path], told: Converted) -> Iterator[TracedDecision]:
    """`openinference.span.kind = DECISION`; stream `session.id`, values of input and output."""
    for span in read_spans(paths):
        given = span.attributes
        kind = given.get("openinference.span.kind")
        system = (_named(given.get("decision.system")) or "")[:60]
        if given.get("llm.system") == "typesafe":
            # Before `decision.*` existed, System One calls were LLM spans of this system.
            kind, system = "DECISION", system or "typesafe"
        if kind != "DECISION":
            told.left_out[f"span kind {kind or 'not given'}, not DECISION"] += 1
            continue
        if given.get("output.value") == _HIDDEN:
            told.left_out[f"output.value is hidden: {_HIDDEN}"] += 1
            continue
        if "metadata" in given:
            span.attributes = {**_metadata(given["metadata"]), **given}
        span.stream = _named(given.get("session.id"))
        span.model = _named(next((given[name] for name in _MODELS if given.get(name)), None))
        try:
            _read_answers(span, system, told)
        except UnreadableResponseError as error:
            told.left_out[str(error)] += 1
            continue
        yield span


def _read_answers(span: TracedDecision, system: str, told: Converted) -> None:
    """State and questions from the span's request, decision and probabilities from its response."""
    asked, came = span.attributes.get("input.value"), span.attributes.get("output.value")
    response = _decoded(came)
    typed = has_answers(response)
    if not system and not typed:
        span.decision, span.state = _text(came), _json(asked)
        return
    state, questions = read_request(_decoded(asked))
    span.state = _json(asked if questions is None else state)
    span.questions = None if questions is None else _text(questions)
    if not span.failed and came is not None:
        if system in READERS or typed:
            _set_decision(span, read_response(system, response), told)
        elif _nested(response):
            raise UnreadableResponseError(
                f"decision.system {system} is not known, and output.value is not a plain decision"
            )
        else:
            span.decision = _text(came)
        if system not in READERS:
            how = "answers are read by their form" if typed else "the whole output is the decision"
            told.assumed[f"decision.system {system or 'not given'} is not known: {how}"] += 1
    types = question_types(questions)
    if len(types) == 1:
        _name_reference(span, types, told)


def _set_decision(span: TracedDecision, read: UnpackedAnswers, told: Converted) -> None:
    told.assumed.update(list(read.assumed))
    span.decision = _text(read.decision) if read.decision else None
    span.probabilities = _text(read.probabilities) if read.probabilities else None
    span.confidence = read.confidence


def _name_reference(span: TracedDecision, types: Mapping[str, Any], told: Converted) -> None:
    """With one question a reference may be the value alone; the decision is always an object."""
    ((name, kind),) = types.items()
    given = span.attributes.get("sdb.reference")
    value = _decoded(given)
    if given is None or isinstance(value, dict):
        return
    if kind == "choice" and isinstance(given, str) and not isinstance(value, str):
        value = given  # the option called "1" or "true"
    told.assumed["a reference without a field is that of the only question"] += 1
    span.attributes = {**span.attributes, "sdb.reference": {name: value}}


def _nested(value: Any) -> bool:
    """Whether it is more than one value, or one value per field."""
    parts = value.values() if isinstance(value, dict) else [value]
    return any(isinstance(part, dict | list) for part in parts)


def from_otel(paths: Sequence[Path], told: Converted) -> Iterator[TracedDecision]:
    """Spans of `gen_ai.operation.name` chat and its like, or decision, as Strands writes them."""
    for span in read_spans(paths):
        given = span.attributes
        operation = given.get("gen_ai.operation.name")
        if operation not in (*_OPERATIONS, "decision"):
            told.left_out[f"operation {operation or 'not given'}, which decides nothing"] += 1
            continue
        span.stream = _named(given.get("gen_ai.conversation.id") or given.get("session.id"))
        span.model = _named(given.get("gen_ai.response.model") or given.get("gen_ai.request.model"))
        asked = _message(given.get("gen_ai.input.messages")) or given.get("gen_ai.prompt")
        span.state = _json(asked)
        if operation != "decision":
            came = _message(given.get("gen_ai.output.messages"))
            span.decision = came or _text(given.get("gen_ai.completion"))
        elif not span.failed and span.ended is not None:
            try:
                _set_decision(span, read_answers_by_id(_decoded(given.get(_ANSWERS))), told)
            except UnreadableResponseError as error:
                told.left_out[str(error)] += 1
                continue
        yield span


def _message(messages: Any) -> str | None:
    """The text of the last message: parts of kind text, joined."""
    if isinstance(messages, str):
        decoded = _loaded(messages)
        if decoded is _NO_JSON:
            return messages
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
    """Text as it is, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _json(value: Any) -> str | None:
    """JSON as it is; any other text as a JSON string, so that the column is JSON throughout."""
    text = _text(value)
    if not isinstance(value, str):
        return text
    return value if _loaded(value) is not _NO_JSON else json.dumps(value, ensure_ascii=False)


def _loaded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _NO_JSON


def _decoded(value: Any) -> Any:
    """Text that is JSON decoded; anything else as it is."""
    if not isinstance(value, str):
        return value
    found = _loaded(value)
    return value if found is _NO_JSON else found


def _named(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


Reader = Callable[[Sequence[Path], Converted], Iterator[TracedDecision]]
FORMATS: dict[str, Reader] = {
    "openinference": from_openinference,
    "otel": from_otel,
    "langfuse": from_langfuse,
}


def convert(kind: str, paths: Sequence[Path], out: Path) -> Converted:
    """Reads traces of one convention and writes a decision log; nothing is written if it fails."""
    import pyarrow as pa

    if kind not in FORMATS:
        raise InputError(f"--from {kind} is not known", fix=f"use one of: {', '.join(FORMATS)}")
    check_name(out)
    told, streams = Converted(), set[str]()
    batches: list[pa.RecordBatch] = []
    rows: list[dict[str, Any]] = []
    schema = _schema()
    for found in FORMATS[kind](paths, told):
        row = decision_row(found, told)
        if row is not None:
            streams.add(row["stream"])
            rows.append(row)
        if len(rows) >= _BATCH:
            batches.append(pa.RecordBatch.from_pylist(rows, schema=schema))
            rows = []
    batches.append(pa.RecordBatch.from_pylist(rows, schema=schema))
    table = pa.Table.from_batches(batches, schema=schema)
    if not table.num_rows:
        why = "; ".join(f"{n} {reason}" for reason, n in told.left_out.most_common(4))
        raise InputError(
            f"holds no decision ({why or 'no span at all'})",
            where=", ".join(map(str, paths[:3])),
            fix=f"check that the traces follow the convention named by --from {kind}",
        )
    write_log(
        table.sort_by([("stream", "ascending"), ("published_at", "ascending")]), out, nulls=False
    )
    told.rows, told.streams = table.num_rows, len(streams)
    told.spans = told.rows + sum(told.left_out.values())
    return told


def _schema() -> pa.Schema:
    import pyarrow as pa

    stamp = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            ("stream", pa.string()), ("step", pa.int64()), ("published_at", stamp),
            ("requested_at", stamp), ("answered_at", stamp), ("applied_at", stamp),
            ("decision", pa.string()), ("reference", pa.string()), ("state", pa.string()),
            ("confidence", pa.float64()), ("questions", pa.string()),
            ("probabilities", pa.string()), ("model", pa.string()), ("service", pa.string()), ("span", pa.string()),
        ]
    )  # fmt: skip
