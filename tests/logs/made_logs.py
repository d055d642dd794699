"""Logs made for tests: plain streams as the rows of a table, and what they must be worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import streamdecisionbench as sdb
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


def service_logs(logs: int, streams: int, seed: int = 0) -> pa.Table:
    """Many logs (column `log`) of one service: its streams differ in length, pace, judgment, latency."""
    rng = np.random.default_rng(seed)
    count = logs * streams
    n = 2 + rng.poisson(rng.lognormal(2.3, 0.5, count))
    of = np.repeat(np.arange(count), n)
    gaps = rng.exponential(1.0, len(of)) * rng.lognormal(0.5, 0.4, count)[of] + 0.01
    ends = np.cumsum(n)
    total = np.cumsum(gaps)
    before = np.append(0.0, total)[ends - n]
    published = total - gaps - before[of]
    right = rng.integers(0, 3, len(of)) * (rng.random(len(of)) < 0.3)
    said = np.where(rng.random(len(of)) < rng.beta(6, 1.5, count)[of], right, 3)
    waited = rng.exponential(1.0, len(of)) * rng.lognormal(-0.7, 0.5, count)[of]
    return pa.table(
        {
            "log": of // streams,
            "stream": [f"s{k}" for k in of],
            "published_at": published,
            "answered_at": published + waited,
            "decision": said,
            "reference": pa.array(right, mask=rng.random(len(of)) < 0.1),
            "ended_at": (total[ends - 1] - before)[of],
        }
    )


def covered(logs: int, streams: int, seed: int = 0) -> tuple[float, float]:
    """In how many of such logs the interval holds the service's value, and its mean width."""
    (truth,) = sdb.score_log(service_logs(1, 20_000, seed + 1), resamples=0).groups
    assert truth.in_force is not None
    found = sdb.score_log(service_logs(logs, streams, seed), by="log").groups
    intervals = [group.interval_95 or (2.0, 2.0) for group in found]
    inside = [low <= truth.in_force <= high for low, high in intervals]
    return sum(inside) / logs, float(np.mean([high - low for low, high in intervals]))


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
