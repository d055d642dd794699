"""What an event log says about the run itself: reliability counts and the recorder's own lags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamdecisionbench.recording.event_lines import iter_events
from streamdecisionbench.recording.events import Attempt, Release, Response, Skipped

__all__ = ["quantiles_ms", "summarise_log"]


def summarise_log(path: Path) -> dict[str, Any]:
    """Counts with their denominators, lags in milliseconds; computed from the log alone.

    Release lag is actual − planned publication; dispatch wait is from publication to the start of
    the first attempt, which is also where waiting for one of the in-flight slots shows.
    """
    releases: list[float] = []
    waits: list[float] = []
    attempts = failed = accepted = 0
    discarded: dict[str, int] = {}
    policy: dict[str, int] = {}
    retried: set[tuple[str, int, str | None]] = set()
    models: set[str] = set()
    for event in iter_events(path) if path.exists() else ():
        if isinstance(event, Release):
            releases.append(event.release_s - event.planned_s)
        elif isinstance(event, Attempt):
            attempts += 1
            failed += not event.ok
            if event.attempt > 1:
                retried.add((event.episode_id, event.t, event.component))
        elif isinstance(event, Response):
            waits.append(event.started_s - event.release_s)
            accepted += event.accepted
            if event.discard_reason:
                discarded[event.discard_reason] = discarded.get(event.discard_reason, 0) + 1
            if event.model:
                models.add(event.model)
        elif event is not None:
            what = event.reason if isinstance(event, Skipped) else type(event).__name__.lower()
            policy[what] = policy.get(what, 0) + 1
    return {
        "releases": len(releases),
        "responses": len(waits),
        "attempts": attempts,
        "failed_attempts": failed,
        "retried_requests": len(retried),
        "accepted": accepted,
        "discarded": discarded,
        **({"policy": policy} if policy else {}),
        "release_lag_ms": quantiles_ms(releases),
        "dispatch_wait_ms": quantiles_ms(waits),
        "dispatch_wait_total_s": round(sum(waits), 6),
        "served_models": sorted(models),
    }


def quantiles_ms(lags_s: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the largest, by nearest rank.

    >>> quantiles_ms([0.001, 0.002, 0.004])
    {'p50': 2.0, 'p99': 4.0, 'max': 4.0}
    """
    if not lags_s:
        return {}
    ordered = sorted(lags_s)
    last = len(ordered) - 1
    return {
        name: round(1e3 * ordered[min(last, int(share * len(ordered)))], 3)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }
