"""A log's score as rows: one per group, shares as fractions."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.logs.log_score import LogScore
from streamdecisionbench.scoring.classes import ALL_CLASSES
from streamdecisionbench.scoring.score_json import COST_COLUMNS

__all__ = ["csv_rows"]

_SPELLS = ("mean_age_s", "beyond_share", "longest_s", "count", "wrong_share", "long_share")
_CHANGES = ("changes", "never_right", "median_delay_s", "p95_delay_s")
_LATENCY = ("answered", "mean", "p50", "p95", "p99")


def csv_rows(score: LogScore) -> list[list[Any]]:
    """A heading, then one row per group."""
    by = list(score.settings.by)
    heading = [
        *by, "streams", "decisions", "judged_share", "in_force", "interval_95_low",
        "interval_95_high", "untimed", "log_auc", *ALL_CLASSES, *(f"latency_{n}" for n in _LATENCY),
        "mean_interval_s", "references", "signature",
    ]  # fmt: skip
    if score.settings.theta is not None:
        heading += [*_SPELLS, *_CHANGES]
    if score.settings.costs is not None:
        heading += COST_COLUMNS
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
        if group.costs is not None:
            found = group.costs
            rows[-1] += [getattr(found.spells, name) for name in _SPELLS]
            rows[-1] += [getattr(found.changes, name) for name in _CHANGES]
            if found.cost is not None:
                over = found.mean_cost
                rows[-1] += [found.cost.total, None if over is None else over.total]
    return rows
