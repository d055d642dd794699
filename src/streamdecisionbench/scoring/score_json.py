"""The machine form of a score: schema `sdb-score/1`, every share a fraction in [0, 1], full precision.

Documented in docs/formats.md. Keys are only ever added under one schema number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from streamdecisionbench.scoring.classes import CLASSES
from streamdecisionbench.scoring.curves import METRICS
from streamdecisionbench.scoring.score import Level, Score, Shares

if TYPE_CHECKING:
    from streamdecisionbench.scoring.costs.charge import CostLevel, CostRates, CostScore

__all__ = [
    "COST_COLUMNS",
    "CSV_COLUMNS",
    "SCHEMA",
    "cost_to_json",
    "csv_rows",
    "curves_to_json",
    "level_to_json",
    "score_to_json",
    "scores_to_json",
    "shares_to_json",
]

SCHEMA = "sdb-score/1"


def scores_to_json(scores: Iterable[Score], *, with_curves: bool = False) -> dict[str, Any]:
    """The whole document; `with_curves` adds the coefficients of every level's exact curves."""
    return {
        "schema": SCHEMA,
        "recordings": [score_to_json(s, with_curves=with_curves) for s in scores],
    }


def score_to_json(score: Score, *, with_curves: bool = False) -> dict[str, Any]:
    """One recording of the document."""

    def one(level: Level) -> dict[str, Any]:
        answers = score.answers_at(level.name)
        return {
            **level_to_json(level),
            **({"answers": asdict(answers)} if answers else {}),
            **({"cost": cost_to_json(score.cost.levels.at(level.name))} if score.cost else {}),
            **({"curves": curves_to_json(score, level.name)} if with_curves else {}),
        }

    return {
        "name": score.name,
        "signature": score.signature,
        "notes": list(score.notes),
        "simulated": score.simulated,
        "virtual_clock": score.virtual_clock,
        "release_lag": asdict(score.punctuality) if score.punctuality else None,
        "served_models": list(score.served_models),
        "interval": score.interval,
        "bounds": [score.bounds.low, score.bounds.high],
        "weighting": score.bounds.weighting,
        "clock": score.clock,
        **({"costs": _cost_file(score.cost)} if score.cost else {}),
        "overall": one(score.overall),
        "by_family": {name: one(level) for name, level in score.by_family.items()},
        "by_scenario": {
            name: {
                "family": score.family_of[name],
                **one(level),
                **(
                    {"latency": asdict(score.latency_by_scenario[name])}
                    if score.latency_by_scenario
                    else {}
                ),
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
    """The shares of one level, at the interval, over the bounds and as it ran."""
    return {
        "log_auc": level.log_auc,
        "untimed": level.untimed,
        "untimed_segment": level.untimed_segment,
        **shares_to_json(level.at_interval),
        "integrated": {**shares_to_json(level.integrated), **level.integrated.classes()},
        "physical": shares_to_json(level.physical) if level.physical else None,
    }


def shares_to_json(shares: Shares) -> dict[str, Any]:
    """The six shares and what is read off them."""
    return {
        "in_force": shares.in_force,
        "segment_in_force": shares.segment_in_force,
        "oracle": shares.oracle,
        "u_current": shares.u_current,
        "lucky": shares.outdated_correct,
        "product": shares.product,
        "classes": shares.classes(),
    }


def cost_to_json(level: CostLevel) -> dict[str, Any]:
    """Seconds of an ordinary wrong decision per second: at the interval, and over the bounds."""

    def rates(found: CostRates) -> dict[str, float]:
        return {"per_second": found.total, **asdict(found)}

    return {**rates(level.at_interval), "integrated": rates(level.integrated)}


def curves_to_json(score: Score, level: str) -> dict[str, Any]:
    """share(Δ) = c0[k] + c1[k]/Δ for intervals[k] ≤ Δ ≤ intervals[k+1], per metric."""
    return {
        metric: {
            "intervals": curve.intervals.tolist(),
            "c0": curve.c0.tolist(),
            "c1": curve.c1.tolist(),
        }
        for metric, curve in score.curve(level, tuple(METRICS)).items()
    }


def _cost_file(found: CostScore) -> dict[str, str]:
    return {"name": found.costs, "dated": found.dated, "sha256": found.digest}


CSV_COLUMNS = (
    "recording", "level", "name", "log_auc", "untimed", "untimed_segment", "in_force",
    "segment_in_force", "oracle", "u_current", "product", *CLASSES,
    *(f"integrated_{name}" for name in ("segment_in_force", "oracle", "u_current", "product", *CLASSES)),
    "exact_match", "active_question", "signature",
)  # fmt: skip


COST_COLUMNS = ("cost_per_second", "integrated_cost_per_second")
"""After the others, where scores were charged."""


def csv_rows(scores: Iterable[Score]) -> list[list[Any]]:
    """One row per recording and level, in `CSV_COLUMNS` order, shares as fractions.

    Where scores were charged, `COST_COLUMNS` follow.
    """
    rows: list[list[Any]] = []
    for score in scores:
        levels = [("overall", score.overall)]
        levels += [("family", level) for level in score.by_family.values()]
        levels += [("scenario", level) for level in score.by_scenario.values()]
        for kind, level in levels:
            at, over = level.at_interval, level.integrated
            answers = score.answers_at(level.name)
            rows.append(
                [
                    score.name, kind, level.name, level.log_auc, level.untimed, level.untimed_segment,
                    at.in_force, at.segment_in_force, at.oracle, at.u_current, at.product,
                    *at.classes().values(),
                    over.segment_in_force, over.oracle, over.u_current, over.product,
                    *over.classes().values(),
                    *((answers.exact_match, answers.active_question) if answers else (None, None)),
                    score.signature,
                ]
            )  # fmt: skip
            if score.cost:
                cost = score.cost.levels.at(level.name)
                rows[-1] += [cost.at_interval.total, cost.integrated.total]
    return rows
