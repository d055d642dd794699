"""Langfuse's export of observations: a Parquet table with a row per observation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.convert.rows import Decision, Told, instant, own_attributes

__all__ = ["from_langfuse"]

_NEEDED = ("start_time", "end_time", "output")
_USED = (
    *_NEEDED, "session_id", "trace_id", "input", "type", "level", "metadata", "model",
    "provided_model_name", "name",
)  # fmt: skip


def from_langfuse(paths: Sequence[Path], told: Told) -> Iterator[Decision]:
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


def _observation(row: Mapping[str, Any], told: Told) -> Decision | None:
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
        decision=_text(row["output"]),
        state=_json(row.get("input")),
        extra={
            "model": None if model is None else str(model),
            "service": None,
            "span": _text(row.get("name")),
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


def _text(value: Any) -> str | None:
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
