"""A log's score as rows: one per group, shares as fractions."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.logs.log_score import LogScore
from streamdecisionbench.scoring.classes import ALL_CLASSES

__all__ = ["csv_rows"]

_LATENCY = ("answered", "mean", "p50", "p95", "p99")


def csv_rows(score: LogScore) -> list[list[Any]]:
    """A heading, then one row per group."""
    by = list(score.settings.by)
    heading = [
        *by, "streams", "decisions", "judged_share", "in_force", "interval_95_low",
        "interval_95_high", "untimed", "log_auc", *ALL_CLASSES, *(f"latency_{n}" for n in _LATENCY),
        "mean_interval_s", "references", "signature",
    ]  # fmt: skip
    rows: list[list[Any]] = [heading]
    for group in score.groups:
        low, high = group.interval_95 or (None, None)
        rows.append(
            [
                *group.by.values(), group.streams, group.decisions, group.judged_share,
                group.in_force, low, high, group.untimed, group.log_auc, *group.classes.values(),
                *(group.latency.get(name) for name in _LATENCY), group.mean_interval_s,
                score.references.text(), score.signature,
            ]
        )  # fmt: skip
    return rows
