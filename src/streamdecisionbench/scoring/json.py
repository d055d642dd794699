"""The machine form of a score: schema `sdb-score/1`, every share a fraction in [0, 1], full precision.

Documented in docs/formats.md. Keys are only ever added under one schema number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from streamdecisionbench.in_force import CLASSES
from streamdecisionbench.scoring.curves import METRICS

if TYPE_CHECKING:
    from streamdecisionbench.scoring.cost import CostLevel, CostRates, CostScore
    from streamdecisionbench.scoring.measure import ByLevel
    from streamdecisionbench.scoring.pair_live import Contention, LivePair, PartCost
    from streamdecisionbench.scoring.pairs import Best, Matrix, PairLevel, PairScore
    from streamdecisionbench.scoring.policy_score import LivePolicyScore, PolicyLevel, PolicyScore
    from streamdecisionbench.scoring.score import Level, Score, Scored, Shares

T = TypeVar("T")

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

    levels = _levels(score, one, score.family_of)
    for name, found in (score.latency_by_scenario or {}).items():
        levels["by_scenario"][name]["latency"] = asdict(found)
    return {
        **_named(score, "name", "signature"),
        "notes": list(score.notes),
        **_named(score, "simulated", "virtual_clock"),
        "release_lag": asdict(score.punctuality) if score.punctuality else None,
        "served_models": list(score.served_models),
        **_paces(score),
        **({"costs": _cost_file(score.cost)} if score.cost else {}),
        **levels,
        "accepted": score.accepted,
        "discarded": {
            "after_horizon": score.discarded_after_horizon,
            "older_than_active": score.discarded_older,
        },
        "latency": asdict(score.latency) if score.latency else None,
        "reliability": asdict(score.reliability) if score.reliability else None,
    }


def _named(one: object, *names: str) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


def _paces(score: Scored[Any]) -> dict[str, Any]:
    return {
        "interval": score.interval,
        "bounds": [score.bounds.low, score.bounds.high],
        "weighting": score.bounds.weighting,
        "clock": score.clock,
    }


def _levels(
    found: ByLevel[T], one: Callable[[T], dict[str, Any]], family_of: Mapping[str, str] | None
) -> dict[str, Any]:
    """Every level as `one` says it; of scenarios also the family, where it is given."""
    return {
        "overall": one(found.overall),
        "by_family": {name: one(level) for name, level in found.by_family.items()},
        "by_scenario": {
            name: {**({"family": family_of[name]} if family_of else {}), **one(level)}
            for name, level in found.by_scenario.items()
        },
    }


def level_to_json(level: Level) -> dict[str, Any]:
    """The shares of one level, at the interval, over the bounds and as it ran."""
    return {
        **_named(level, "log_auc", "untimed", "untimed_segment"),
        **shares_to_json(level.at_interval),
        "integrated": {**shares_to_json(level.integrated), **level.integrated.classes()},
        "physical": shares_to_json(level.physical) if level.physical else None,
    }


def shares_to_json(shares: Shares) -> dict[str, Any]:
    """The six shares and what is read off them."""
    return {
        **_named(shares, "in_force", "segment_in_force", "oracle", "u_current"),
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
        metric: {name: values.tolist() for name, values in asdict(curve).items()}
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
        for kind, _, level in score.rows():
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


# The machine form of pairs: schema `sdb-compose/1`, every share a fraction in [0, 1], full precision.
#
# Documented in docs/composition.md. Keys are only ever added under one schema number.


PAIR_SCHEMA = "sdb-compose/1"


def pairs_to_json(pairs: Sequence[PairScore], alone: Sequence[Score] = ()) -> dict[str, Any]:
    """The document: pairs, and the components alone on the same nominal clock."""
    return {
        "schema": PAIR_SCHEMA,
        "pairs": [pair_to_json(pair) for pair in pairs],
        "alone": [_alone(score) for score in alone],
    }


PAIR_CSV_COLUMNS = (
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
        for kind, name, level in score.rows():
            rows.append(
                [score.name, score.name, None, kind, name, level.log_auc, level.in_force,
                 *[None] * 7, score.signature]
            )  # fmt: skip
    for pair in pairs:
        parts = [by_name[name] for name in (pair.fast, pair.slow) if name in by_name]
        singles = [{name: one.log_auc for _, name, one in part.rows()} for part in parts]
        for kind, name, found in pair.rows():
            better = max((single[name] for single in singles), default=None)
            counts = pair.counts if kind == "overall" else None
            rows.append(
                [
                    pair.fast, pair.slow, pair.rule, kind, name, found.log_auc, found.in_force,
                    None if better is None else found.log_auc - better,
                    found.slow_share, found.slow_share_integrated,
                    *((counts.slow_accepted, counts.corrections, counts.regressions, counts.refusals)
                      if counts else [None] * 4),
                    pair.signature,
                ]
            )  # fmt: skip
    return rows


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
        **_named(pair, "fast", "slow", "rule", "signature", "simulated", "virtual_clock"),
        **_paces(pair),
        **_levels(pair, _level, pair.family_of),
        "slow_share": pair.slow_share,
        **asdict(pair.counts),
        "longest_stale_loss": None if loss is None else {**asdict(loss), "seconds": loss.seconds},
    }


def live_to_json(live: LivePair) -> dict[str, Any]:
    """A joint recording as it happened; its replays are the document's pairs."""
    happened = _levels(live, shares_to_json, None)
    return {
        **_named(live, "name", "fast", "slow", "rule"),
        "recorded": happened.pop("overall"),
        **happened,
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

    figures = ("fast", "slow", "rule", "in_force", "log_auc", "slow_share")
    return {
        "fast": part(cost.fast),
        "slow": part(cost.slow),
        "pair_from_alone": _named(cost.pair_alone, *figures),
        "pair_from_joint": _named(cost.pair_joint, *figures),
        **_named(cost, "in_force_cost", "auc_cost"),
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
    levels = _levels(score, level_to_json, None)
    return {**_named(score, "name", "clock"), **{k: levels[k] for k in ("overall", "by_family")}}


def _best(best: Best) -> dict[str, Any]:
    return {
        **_named(best.pair, "fast", "slow", "rule"),
        "value": best.value,
        "best_alone": best.alone,
        "best_alone_value": best.alone_value,
        "gain": best.gain,
    }


# The machine form of policy scores: schema `sdb-policy/1`, every share a fraction in [0, 1].
#
# Documented in docs/policies.md. Keys are only ever added under one schema number.


POLICY_SCHEMA = "sdb-policy/1"


def policies_to_json(
    scores: Sequence[PolicyScore], live: Sequence[LivePolicyScore] = ()
) -> dict[str, Any]:
    """The document; `live` holds recordings made under a policy, as they happened."""
    found: dict[str, Any] = {
        "schema": POLICY_SCHEMA,
        "scores": [policy_to_json(score) for score in scores],
    }
    return found | ({"live": [_live(one) for one in live]} if live else {})


def policy_to_json(score: PolicyScore) -> dict[str, Any]:
    """One policy on one set of components. `cost_per_hour` is there where prices are known."""

    def level(found: PolicyLevel) -> dict[str, Any]:
        return {**_policy_level(found), **_wrong_time(score, found.name)}

    levels = _levels(score, level, score.family_of)
    if score.cost_per_hour is not None:
        levels["overall"]["cost_per_hour"] = score.cost_per_hour
    return {
        "policy": score.policy.to_json(),
        "name": score.policy.name,
        "components": list(score.components),
        **_named(score, "signature", "simulated"),
        **_paces(score),
        **_named_cost_file(score),
        **levels,
        "counts": {
            k: list(v) if isinstance(v, tuple) else v for k, v in asdict(score.counts).items()
        },
        "notes": list(score.notes),
    }


def _live(live: LivePolicyScore) -> dict[str, Any]:
    def happened(shares: Shares) -> dict[str, Any]:
        return {"in_force": shares.in_force, "classes": shares.classes()}

    return {
        "name": live.name,
        "policy": live.policy.to_json(),
        "components": list(live.components),
        "interval": live.interval,
        **_levels(live, happened, None),
        "replayed": live.replayed,
        "recorded_minus_replayed": live.gap,
        "why_not_replayed": live.why_not or None,
        "expiries": live.expiries,
        "expiry_differences": list(live.expiry_differences),
    }


def _policy_level(level: PolicyLevel) -> dict[str, Any]:
    return {
        **_named(level, "in_force", "log_auc"),
        "classes": level.at_interval.classes(),
        "oracle": level.oracle,
        **_identity(level.at_interval),
        "integrated": None
        if level.integrated is None
        else {
            "oracle": level.oracle_integrated,
            **_identity(level.integrated),
            "classes": level.integrated.classes(),
        },
    }


def _named_cost_file(score: PolicyScore) -> dict[str, Any]:
    if score.wrong_time is None:
        return {}
    return {"costs": _cost_file(score.wrong_time.cost), "theta": score.wrong_time.theta}


def _wrong_time(score: PolicyScore, level: str) -> dict[str, Any]:
    """As `sdb score --costs` and `sdb analyze spells | changes` name them."""
    found = score.wrong_time
    if found is None:
        return {}
    return {
        "cost": cost_to_json(found.cost.levels.at(level)),
        "spells": asdict(found.spells.at(level)),
        "changes": asdict(found.changes.at(level)),
    }


def _identity(shares: Shares) -> dict[str, Any]:
    """What A = C·U_cur + λ consists of."""
    return {
        "current": shares.oracle,
        "u_current": shares.u_current,
        "lucky": shares.outdated_correct,
        "segment_in_force": shares.segment_in_force,
    }
