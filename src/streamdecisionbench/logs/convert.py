"""One decision out of a trace, and what had to be assumed about it.

No tracing convention says when a state became current, which stream it belongs to for sure, or when an
answer took effect. Ours adds four attributes: `sdb.stream`, `sdb.step`, `sdb.applied_at` and
`sdb.reference`. What is missing is assumed, counted, and said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Decision:
    """A span or an observation, whatever tool wrote it. Times are seconds since 1970."""

    stream: str | None
    trace: str
    started: float
    ended: float | None
    failed: bool
    decision: str | None
    state: str | None
    extra: Mapping[str, str | None] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    """The `sdb.*` attributes, by what follows the dot."""


@dataclass
class Assumptions:
    """What a reader of the result must know: assumptions and what was left out, with counts."""

    assumed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def decision_row(found: Decision, told: Assumptions) -> dict[str, Any] | None:
    """A row of `sdb-decisions/1`, or None where the span cannot be one."""
    stream = found.own.get("stream") or found.stream
    if not stream:
        if not found.trace:
            told.left_out["neither a session nor a trace"] += 1
            return None
        stream = found.trace
        told.assumed["no session is named: every trace is a stream of its own"] += 1
    told.assumed["a state became current when its span began"] += 1
    answered = None if found.failed else found.ended
    if found.ended is None:
        told.assumed["a span without an end never got an answer"] += 1
    elif found.failed:
        told.assumed["a span that failed got no answer"] += 1
    decision = None if answered is None else found.decision
    if answered is not None and decision is None:
        told.assumed["a span without an output got no answer"] += 1
        answered = None
    applied = instant(found.own.get("applied_at"))
    if answered is not None and applied is None:
        told.assumed["when an answer took effect is not said: it is replayed, newest first"] += 1
    step = found.own.get("step")
    reference = found.own.get("reference")
    return {
        "stream": str(stream),
        "step": int(step) if isinstance(step, int | str) and str(step).isdigit() else None,
        "published_at": _stamp(found.started),
        "requested_at": _stamp(found.started),
        "answered_at": _stamp(answered),
        "applied_at": _stamp(applied),
        "decision": decision,
        "reference": None if reference is None else _text(reference),
        "state": found.state,
        **found.extra,
    }


def own_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The `sdb.*` ones.

    >>> own_attributes({"sdb.stream": "call-7", "session.id": "s"})
    {'stream': 'call-7'}
    """
    return {k.removeprefix("sdb."): v for k, v in attributes.items() if k.startswith("sdb.")}


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
        return float(value)
    try:
        return instant(datetime.fromisoformat(str(value)))
    except ValueError:
        return None


def _stamp(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(round(seconds, 6), UTC)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Langfuse's export of observations: a Parquet table with a row per observation.


_NEEDED = ("start_time", "end_time", "output")
_USED = (
    *_NEEDED, "session_id", "trace_id", "input", "type", "level", "metadata", "model",
    "provided_model_name", "name",
)  # fmt: skip


def from_langfuse(paths: Sequence[Path], told: Assumptions) -> Iterator[Decision]:
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


def _observation(row: Mapping[str, Any], told: Assumptions) -> Decision | None:
    kind = row.get("type")
    if kind not in (None, "GENERATION"):
        told.left_out[f"observation of type {kind}, not GENERATION"] += 1
        return None
    started = instant(row["start_time"])
    if started is None:
        told.left_out["no start time"] += 1
        return None
    stream = row.get("session_id")
    model = row.get("model") or row.get("provided_model_name")
    return Decision(
        stream=None if stream in (None, "") else str(stream),
        trace=str(row.get("trace_id") or ""),
        started=started,
        ended=instant(row["end_time"]),
        failed=row.get("level") == "ERROR",
        decision=_langfuse_text(row["output"]),
        state=_json(row.get("input")),
        extra={
            "model": None if model is None else str(model),
            "service": None,
            "span": _langfuse_text(row.get("name")),
        },
        own=own_attributes(_metadata(row.get("metadata"))),
    )


def _metadata(value: Any) -> dict[str, Any]:
    """A mapping, JSON of one, or the pairs Parquet makes of a map."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if isinstance(value, list) and all(isinstance(p, tuple) and len(p) == 2 for p in value):
        value = dict(value)
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {}


def _langfuse_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _json(value: Any) -> str | None:
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return json.dumps(value, ensure_ascii=False)
        return value
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


# Spans in OTLP's JSON, line by line, as a collector's file exporter writes them.


_FAILED = (2, "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class Span:
    """What conversion reads of a span. Times are seconds since 1970."""

    name: str
    trace: str
    started: float
    ended: float | None
    failed: bool
    attributes: dict[str, Any]
    resource: dict[str, Any]


def read_spans(paths: Sequence[Path]) -> Iterator[Span]:
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


def _spans(document: Any) -> Iterator[Span]:
    groups = document["resourceSpans"]
    for group in groups:
        resource = _attributes((group.get("resource") or {}).get("attributes") or [])
        for scope in group.get("scopeSpans") or []:
            for span in scope.get("spans") or []:
                yield Span(
                    name=str(span.get("name", "")),
                    trace=str(span.get("traceId", "")),
                    started=_seconds(span["startTimeUnixNano"]) or 0.0,
                    ended=_seconds(span.get("endTimeUnixNano")),
                    failed=(span.get("status") or {}).get("code") in _FAILED,
                    attributes=_attributes(span.get("attributes") or []),
                    resource=resource,
                )


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
    return seconds + rest / 1e9


# Which spans are decisions, by convention: OpenInference and OpenTelemetry's for generative AI.


_OPERATIONS = ("chat", "generate_content", "text_completion")


def from_openinference(paths: Sequence[Path], told: Assumptions) -> Iterator[Decision]:
    """`openinference.span.kind = DECISION`; stream `session.id`, values of input and output."""
    for span in read_spans(paths):
        kind = span.attributes.get("openinference.span.kind")
        if kind != "DECISION":
            told.left_out[f"span kind {kind or 'not given'}, not DECISION"] += 1
            continue
        yield _decision(
            span,
            stream=span.attributes.get("session.id"),
            output=_attribute_text(span.attributes.get("output.value")),
            state=_state(span.attributes.get("input.value")),
            model=span.attributes.get("llm.model_name"),
        )


def from_otel(paths: Sequence[Path], told: Assumptions) -> Iterator[Decision]:
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
            or _attribute_text(given.get("gen_ai.completion")),
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
            "service": _attribute_text(span.resource.get("service.name")),
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


def _attribute_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _state(value: Any) -> str | None:
    """JSON as it is; any other text as a JSON string, so that the column is JSON throughout."""
    text = _attribute_text(value)
    if text is None:
        return None
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text


# From a trace to a file in `sdb-decisions/1`, in batches, with what was assumed.


Reader = Callable[[Sequence[Path], Assumptions], Iterator[Decision]]
FORMATS: dict[str, Reader] = {
    "openinference": from_openinference,
    "otel": from_otel,
    "langfuse": from_langfuse,
}
_BATCH = 20_000
_TYPES = (".parquet", ".jsonl", ".csv")


@dataclass(frozen=True, slots=True)
class Converted:
    """What came of it. Assumptions and reasons are sentences, with how many rows each concerns."""

    rows: int
    streams: int
    spans: int
    assumed: dict[str, int]
    left_out: dict[str, int]


def convert(kind: str, paths: Sequence[Path], out: Path) -> Converted:
    """Reads traces of one convention and writes a decision log; nothing is written if it fails."""
    if kind not in FORMATS:
        raise InputError(f"--from {kind} is not known", fix=f"use one of: {', '.join(FORMATS)}")
    if out.suffix not in _TYPES:
        raise InputError(
            f"the ending {out.suffix or 'none'} is not known",
            where=out,
            fix=f"use {', '.join(_TYPES)}",
        )
    if out.exists():
        raise InputError("exists already", where=out, fix="give a new file with --out")
    told, streams, count = Assumptions(), set[str](), 0
    batches: list[pa.RecordBatch] = []
    rows: list[dict[str, Any]] = []
    spans = 0
    for found in FORMATS[kind](paths, told):
        spans += 1
        row = decision_row(found, told)
        if row is None:
            continue
        streams.add(row["stream"])
        count += 1
        rows.append(row)
        if len(rows) >= _BATCH:
            batches.append(_batch(rows))
            rows = []
    if rows:
        batches.append(_batch(rows))
    if not count:
        why = "; ".join(f"{n} {reason}" for reason, n in told.left_out.most_common(4))
        raise InputError(
            f"holds no decision ({why or 'no span at all'})",
            where=", ".join(map(str, paths[:3])),
            fix=f"check that the traces follow the convention named by --from {kind}",
        )
    _write(batches, out)
    return Converted(
        count,
        len(streams),
        spans + sum(told.left_out.values()),
        dict(told.assumed),
        dict(told.left_out),
    )


def _schema() -> pa.Schema:
    import pyarrow as pa

    stamp = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            ("stream", pa.string()), ("step", pa.int64()), ("published_at", stamp),
            ("requested_at", stamp), ("answered_at", stamp), ("applied_at", stamp),
            ("decision", pa.string()), ("reference", pa.string()), ("state", pa.string()),
            ("model", pa.string()), ("service", pa.string()), ("span", pa.string()),
        ]
    )  # fmt: skip


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist(rows, schema=_schema())


def _write(batches: list[pa.RecordBatch], out: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.Table.from_batches(batches, schema=_schema())
    table = table.sort_by([("stream", "ascending"), ("published_at", "ascending")])
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".partial")
    try:
        if out.suffix == ".parquet":
            pyarrow.parquet.write_table(table, partial, compression="zstd")
        elif out.suffix == ".csv":
            pyarrow.csv.write_csv(table, partial)
        else:
            _write_lines(table, partial)
        partial.rename(out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(
            f"cannot be written ({error.strerror})", where=out, fix="choose another place"
        ) from None


def _write_lines(table: pa.Table, path: Path) -> None:
    import msgspec

    with path.open("wb") as file:
        for batch in table.to_batches(_BATCH):
            for row in batch.to_pylist():
                file.write(
                    msgspec.json.encode({k: v for k, v in row.items() if v is not None}) + b"\n"
                )
