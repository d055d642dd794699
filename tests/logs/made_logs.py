"""Logs made for tests: plain streams as the rows of a table, and what they must be worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import streamdecisionbench as sdb
from streamdecisionbench.kernel.classes import CAUSES
from tests.kernel import plain_streams
from tests.kernel.plain_streams import CLASSES, Stream


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


def service_logs(
    logs: int, streams: int, seed: int = 0, *, labels: float = 0.9, by_stream: bool = False
) -> pa.Table:
    """Many logs (column `log`) of one service: its streams differ in length, pace, judgment, latency.

    A share of `labels` of the states, or of the streams, has references.
    """
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
    missing = (rng.random(count)[of] if by_stream else rng.random(len(of))) < 1 - labels
    return pa.table(
        {
            "log": of // streams,
            "stream": [f"s{k}" for k in of],
            "published_at": published,
            "answered_at": published + waited,
            "decision": said,
            "reference": pa.array(right, mask=missing),
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


class CauseFound(NamedTuple):
    """What many logs say of one cause, as shares of judged time."""

    truth: float
    """Of all streams together, under full labels."""
    mean: float
    """Of the estimates."""
    error: float
    """Standard error of that mean."""
    held: float
    """Of the intervals given: how many hold the truth."""
    given: float
    """Of the logs: how many have an interval."""
    counted: float
    """Mean of what is found by counting only instants whose two references are known."""


def causes_found(
    logs: int, streams: int, labels: float, seed: int = 0, *, by_stream: bool = False
) -> dict[str, CauseFound]:
    """Every cause, estimated from many logs of one service that have some labels."""
    (truth,) = sdb.score_log(service_logs(logs, streams, seed, labels=1.0), resamples=0).groups
    table = service_logs(logs, streams, seed, labels=labels, by_stream=by_stream)
    groups = [group for group in sdb.score_log(table, by="log").groups if group.causes]
    out = {}
    for cause, (want, _) in truth.causes.items():
        values, intervals = zip(*(group.causes[cause] for group in groups), strict=True)
        given = [one for one in intervals if one is not None]
        counted = [
            sum(group.classes[name] for name in CAUSES[cause]) / group.judged_share
            for group in groups
        ]
        out[cause] = CauseFound(
            truth=want,
            mean=float(np.mean(values)),
            error=float(np.std(values)) / len(values) ** 0.5,
            held=sum(low <= want <= high for low, high in given) / max(len(given), 1),
            given=len(given) / len(groups),
            counted=float(np.mean(counted)),
        )
    return out


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
