"""The machine form of a score: schema `sdb-score/1`, every share a fraction in [0, 1], full precision.

Documented in docs/formats.md. Keys are only ever added under one schema number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from streamdecisionbench.scoring.classes import CLASSES
from streamdecisionbench.scoring.score import Level, Score, Shares

__all__ = ["CSV_COLUMNS", "SCHEMA", "csv_rows", "level_to_json", "score_to_json", "scores_to_json"]

SCHEMA = "sdb-score/1"


def scores_to_json(scores: Iterable[Score]) -> dict[str, Any]:
    return {"schema": SCHEMA, "recordings": [score_to_json(s) for s in scores]}


def score_to_json(score: Score) -> dict[str, Any]:
    """One recording of the document."""
    return {
        "name": score.name,
        "signature": score.signature,
        "notes": list(score.notes),
        "simulated": score.simulated,
        "virtual_clock": score.virtual_clock,
        "interval": score.interval,
        "bounds": [score.bounds.low, score.bounds.high],
        "weighting": score.bounds.weighting,
        "clock": score.clock,
        "overall": level_to_json(score.overall),
        "by_family": {name: level_to_json(level) for name, level in score.by_family.items()},
        "by_scenario": {
            name: {
                "family": score.family_of[name],
                **level_to_json(level),
                **(
                    {"latency": asdict(score.latency_by_scenario[name])}
                    if score.latency_by_scenario
                    else {}
                ),
                **({"answers": asdict(score.answers[name])} if score.answers else {}),
            }
            for name, level in score.by_scenario.items()
        },
        "accepted": score.accepted,
        "discarded": {
            "after_horizon": score.discarded_after_horizon,
            "older_than_active": score.discarded_older,
        },
        "latency": asdict(score.latency) if score.latency else None,
        "reliability": asdict(score.reliability) if score.reliability else None,
    }


def level_to_json(level: Level) -> dict[str, Any]:
    return {
        "log_auc": level.log_auc,
        "untimed": level.untimed,
        "untimed_segment": level.untimed_segment,
        **_shares(level.at_interval),
        "integrated": {**_shares(level.integrated), **level.integrated.classes()},
        "physical": _shares(level.physical) if level.physical else None,
    }


def _shares(shares: Shares) -> dict[str, Any]:
    return {
        "in_force": shares.in_force,
        "segment_in_force": shares.segment_in_force,
        "oracle": shares.oracle,
        "u_current": shares.u_current,
        "lucky": shares.outdated_correct,
        "product": shares.product,
        "classes": shares.classes(),
    }


CSV_COLUMNS = (
    "recording", "level", "name", "log_auc", "untimed", "untimed_segment", "in_force",
    "segment_in_force", "oracle", "u_current", "product", *CLASSES,
    *(f"integrated_{name}" for name in ("segment_in_force", "oracle", "u_current", "product", *CLASSES)),
    "signature",
)  # fmt: skip


def csv_rows(scores: Iterable[Score]) -> list[list[Any]]:
    """One row per recording and level, in `CSV_COLUMNS` order, shares as fractions."""
    rows: list[list[Any]] = []
    for score in scores:
        levels = [("overall", score.overall)]
        levels += [("family", level) for level in score.by_family.values()]
        levels += [("scenario", level) for level in score.by_scenario.values()]
        for kind, level in levels:
            at, over = level.at_interval, level.integrated
            rows.append(
                [
                    score.name, kind, level.name, level.log_auc, level.untimed, level.untimed_segment,
                    at.in_force, at.segment_in_force, at.oracle, at.u_current, at.product,
                    *at.classes().values(),
                    over.segment_in_force, over.oracle, over.u_current, over.product,
                    *over.classes().values(), score.signature,
                ]
            )  # fmt: skip
    return rows
