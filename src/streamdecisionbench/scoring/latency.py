"""Latency quantiles and reliability, with explicit denominators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.recording.recording import Episode, Recording


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of completed − started of the successful attempts, as published quantiles are."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """What the replay leaves out of latency, counted: failed over all attempts, retried over all requests."""

    requests: int
    valid_responses: int
    attempts: int
    failed_attempts: int
    retried_requests: int
    dispatch_wait_s: float
    """From publication to first dispatch, summed over the pass."""
    accepted_live: int
    discarded_after_horizon_live: int
    discarded_older_live: int
    release_lag_max_s: float


def latency(episodes: Sequence[Episode]) -> Latency:
    """Quantiles with linear interpolation between order statistics."""
    values = np.sort([r.service_s for e in episodes for r in e.responses])
    # As np.percentile, which imports a tenth of a cold start's worth of modules on its first call.
    ranks = np.array([0.50, 0.95, 0.99]) * (len(values) - 1)
    p50, p95, p99 = np.interp(ranks, np.arange(len(values)), values).tolist()
    least, most = float(values.min()), float(values.max())
    return Latency(len(values), float(values.mean()), p50, p95, p99, least, most)


def reliability(recording: Recording) -> Reliability:
    """AnswerCounts over the whole pass, as the log has them."""
    responses = [r for e in recording.episodes.values() for r in e.responses]
    releases = [r for e in recording.episodes.values() for r in e.releases]
    tries = [max(len(r.attempts), 1) for r in responses]
    reasons = [r.discard_reason for r in responses if not r.accepted]
    return Reliability(
        requests=len(responses),
        valid_responses=sum(r.ok for r in responses),
        attempts=sum(tries),
        failed_attempts=sum(tries) - len(responses),
        retried_requests=sum(count > 1 for count in tries),
        dispatch_wait_s=float(sum(r.started_s - r.release_s for r in responses)),
        accepted_live=sum(r.accepted for r in responses),
        discarded_after_horizon_live=reasons.count("after_horizon"),
        discarded_older_live=reasons.count("older_than_active"),
        release_lag_max_s=float(max((r.release_s - r.planned_s for r in releases), default=0.0)),
    )
