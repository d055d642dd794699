"""Logs made for tests: plain streams as the rows of a table, and what they must be worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tests.scoring import plain_streams
from tests.scoring.plain_streams import CLASSES, Stream


def rows_of(streams: Sequence[Stream], *, start: float = 0.0) -> list[dict[str, Any]]:
    """One row per state, in order."""
    return [
        {
            "stream": f"s{k}",
            "published_at": start + t,
            "answered_at": None if wait is None else start + t + wait,
            "decision": decision,
            "reference": reference,
            "ended_at": start + stream.end,
        }
        for k, stream in enumerate(streams)
        for t, wait, decision, reference in zip(
            stream.times, stream.latencies, stream.decisions, stream.references, strict=True
        )
    ]


SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("published_at", pa.float64()),
        ("answered_at", pa.float64()),
        ("decision", pa.string()),
        ("reference", pa.string()),
        ("ended_at", pa.float64()),
    ]
)


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    extra = [name for name in rows[0] if name not in SCHEMA.names]
    schema = SCHEMA
    for name in extra:
        schema = schema.append(pa.field(name, pa.infer_type([row[name] for row in rows])))
    return pa.Table.from_pylist(rows, schema=schema)


def pooled(streams: Sequence[Stream], interval: float | None = None) -> dict[str, float]:
    """Seconds by class of all streams at the pace asked for, as shares of all seconds."""
    total = dict.fromkeys(CLASSES, 0.0)
    for stream in streams:
        paced = stream if interval is None else stream.paced(interval)
        for name, seconds in plain_streams.seconds(paced).items():
            total[name] += seconds
    whole = sum(total.values())
    return {name: value / whole for name, value in total.items()}


def pooled_over(streams: Sequence[Stream], low: float, high: float) -> dict[str, float]:
    """The same integrated: at every pace a stream's seconds are in proportion to its states."""
    states = sum(len(stream.times) for stream in streams)
    total = dict.fromkeys(CLASSES, 0.0)
    for stream in streams:
        for name, share in plain_streams.integral(stream, low, high).items():
            total[name] += share * len(stream.times) / states
    return total
