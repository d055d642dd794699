"""The machine form of pairs: schema `sdb-compose/1`, every share a fraction in [0, 1], full precision.

Documented in docs/composition.md. Keys are only ever added under one schema number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from streamdecisionbench.scoring.pairs.compose import PairLevel, PairScore
from streamdecisionbench.scoring.pairs.live import Contention, LivePair, PartCost
from streamdecisionbench.scoring.pairs.matrix import Best, Matrix
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.scoring.score_json import level_to_json, shares_to_json

__all__ = [
    "CSV_COLUMNS",
    "SCHEMA",
    "contention_to_json",
    "live_to_json",
    "matrix_to_json",
    "pair_to_json",
    "pairs_csv",
    "pairs_to_json",
]

SCHEMA = "sdb-compose/1"


def pairs_to_json(pairs: Sequence[PairScore], alone: Sequence[Score] = ()) -> dict[str, Any]:
    """The document: pairs, and the components alone on the same nominal clock."""
    return {
        "schema": SCHEMA,
        "pairs": [pair_to_json(pair) for pair in pairs],
        "alone": [_alone(score) for score in alone],
    }


CSV_COLUMNS = (
    "fast", "slow", "rule", "level", "name", "log_auc", "in_force", "gain", "slow_share",
    "integrated_slow_share", "accepted_slow", "corrections", "regressions", "refusals", "signature",
)  # fmt: skip


def pairs_csv(pairs: Sequence[PairScore], alone: Sequence[Score]) -> list[list[Any]]:
    """One row per component alone (its name twice, no rule), then per pair, rule and level.

    `gain` is log-AUC against the better of the two alone, under the same level.
    """
    by_name = {score.name: score for score in alone}
    rows: list[list[Any]] = []
    for score in alone:
        for kind, name, level in _levels(score):
            rows.append(
                [score.name, score.name, None, kind, name, level.log_auc, level.in_force,
                 *[None] * 7, score.signature]
            )  # fmt: skip
    for pair in pairs:
        parts = [by_name[name] for name in (pair.fast, pair.slow) if name in by_name]
        singles = [{name: one.log_auc for _, name, one in _levels(part)} for part in parts]
        for kind, name, level in _levels(pair):
            better = max((single[name] for single in singles), default=None)
            counts = pair.counts if kind == "overall" else None
            rows.append(
                [
                    pair.fast, pair.slow, pair.rule, kind, name, level.log_auc, level.in_force,
                    None if better is None else level.log_auc - better,
                    level.slow_share, level.slow_share_integrated,
                    *((counts.slow_accepted, counts.corrections, counts.regressions, counts.refusals)
                      if counts else [None] * 4),
                    pair.signature,
                ]
            )  # fmt: skip
    return rows


def _levels(one: PairScore | Score) -> list[tuple[str, str, Any]]:
    return [
        ("overall", "overall", one.overall),
        *(("family", name, level) for name, level in one.by_family.items()),
        *(("scenario", name, level) for name, level in one.by_scenario.items()),
    ]


def matrix_to_json(found: Matrix) -> dict[str, Any]:
    return {
        **pairs_to_json(found.pairs, found.alone),
        "best": _best(found.best),
        "best_by_family": {family: _best(best) for family, best in found.by_family.items()},
        "best_by_range": [
            {"bounds": [over.low, over.high], **_best(best)}
            for over, best in zip(found.ranges, found.by_range, strict=True)
        ],
    }


def pair_to_json(pair: PairScore) -> dict[str, Any]:
    """One pair under one rule."""
    loss = pair.longest_stale_loss
    return {
        "fast": pair.fast,
        "slow": pair.slow,
        "rule": pair.rule,
        "signature": pair.signature,
        "simulated": pair.simulated,
        "virtual_clock": pair.virtual_clock,
        "interval": pair.interval,
        "bounds": [pair.bounds.low, pair.bounds.high],
        "weighting": pair.bounds.weighting,
        "clock": "nominal",
        "overall": _level(pair.overall),
        "by_family": {name: _level(level) for name, level in pair.by_family.items()},
        "by_scenario": {
            name: {"family": pair.family_of[name], **_level(level)}
            for name, level in pair.by_scenario.items()
        },
        "slow_share": pair.slow_share,
        **asdict(pair.counts),
        "longest_stale_loss": None if loss is None else {**asdict(loss), "seconds": loss.seconds},
    }


def live_to_json(live: LivePair) -> dict[str, Any]:
    """A joint recording as it happened; its replays are the document's pairs."""
    return {
        "name": live.name,
        "fast": live.fast,
        "slow": live.slow,
        "rule": live.rule,
        "recorded": shares_to_json(live.recorded),
        "by_family": {name: shares_to_json(shares) for name, shares in live.by_family.items()},
        "by_scenario": {name: shares_to_json(shares) for name, shares in live.by_scenario.items()},
        "slow_share": live.slow_share,
        **asdict(live.counts),
        "replayed_at_recorded_pace": {
            r: shares_to_json(shares) for r, shares in live.replayed.items()
        },
        "recorded_minus_replayed": live.gap,
    }


def contention_to_json(cost: Contention) -> dict[str, Any]:
    def part(one: PartCost) -> dict[str, Any]:
        return {
            **asdict(one),
            "p50_ratio": one.joint.p50 / one.alone.p50 if one.alone.p50 else None,
        }

    return {
        "fast": part(cost.fast),
        "slow": part(cost.slow),
        "pair_from_alone": _figures(cost.pair_alone),
        "pair_from_joint": _figures(cost.pair_joint),
        "in_force_cost": cost.in_force_cost,
        "auc_cost": cost.auc_cost,
    }


def _level(level: PairLevel) -> dict[str, Any]:
    """`product` is the proxy U_slow·O: a pair has no untimed answer of its own."""
    found = {
        "log_auc": level.log_auc,
        **shares_to_json(level.at_interval),
        "slow_share": level.slow_share,
        "integrated": {
            **shares_to_json(level.integrated),
            **level.integrated.classes(),
            "slow_share": level.slow_share_integrated,
        },
    }
    return found | ({"by_range": list(level.by_range)} if level.by_range else {})


def _alone(score: Score) -> dict[str, Any]:
    return {
        "name": score.name,
        "clock": score.clock,
        "overall": level_to_json(score.overall),
        "by_family": {name: level_to_json(level) for name, level in score.by_family.items()},
    }


def _best(best: Best) -> dict[str, Any]:
    return {
        "fast": best.pair.fast,
        "slow": best.pair.slow,
        "rule": best.pair.rule,
        "value": best.value,
        "best_alone": best.alone,
        "best_alone_value": best.alone_value,
        "gain": best.gain,
    }


def _figures(pair: PairScore) -> dict[str, Any]:
    return {
        "fast": pair.fast,
        "slow": pair.slow,
        "rule": pair.rule,
        "in_force": pair.in_force,
        "log_auc": pair.log_auc,
        "slow_share": pair.slow_share,
    }
