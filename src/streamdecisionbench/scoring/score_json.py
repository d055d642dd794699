"""The JSON of results: every share a fraction in [0, 1], full precision.

`result_to_json` writes every kind of result. The catalogues below list the keys of each kind in their
order, and one function for each key. Keys are only ever added under one schema number. docs/reference/formats.md
documents them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.curves import METRICS
from streamdecisionbench.scoring.result import COMPONENT, LIVE_PAIR, LIVE_POLICY, PAIR, POLICY

if TYPE_CHECKING:
    from streamdecisionbench.kernel.shares import Shares
    from streamdecisionbench.scoring.error_costs import CostLevel, CostRates
    from streamdecisionbench.scoring.pair_live import AloneAndJoint
    from streamdecisionbench.scoring.pairs import Best, Matrix
    from streamdecisionbench.scoring.result import Level, Result

SCHEMA = "sdb-score/1"
PAIR_SCHEMA = "sdb-compose/1"
POLICY_SCHEMA = "sdb-policy/1"

_SHARES = ("in_force", "segment_in_force", "oracle", "u_current", "lucky", "product", "classes")
_PACES = ("interval", "bounds", "weighting", "clock")
_LEVELS = ("overall", "by_family", "by_scenario")
_PAIR_COUNTS = ("fast_accepted", "slow_accepted", "corrections", "regressions", "refusals")
_COUNTED = {*_PAIR_COUNTS, "expiries"}
_POLICY_COUNTS = (
    "states", "requests", "cancelled", "answers", "withheld", "taken", "held_back", "expiries",
    "escalations",
)  # fmt: skip

KEYS: dict[str, tuple[str, ...]] = {
    COMPONENT: (
        "name", "signature", "notes", "simulated", "virtual_clock", "release_lag", "served_models",
        *_PACES, "costs", *_LEVELS, "accepted", "discarded", "latency", "reliability",
    ),
    PAIR: (
        "fast", "slow", "rule", "signature", "simulated", "virtual_clock", *_PACES, *_LEVELS,
        "slow_share", *_PAIR_COUNTS, "longest_stale_loss",
    ),
    POLICY: (
        "policy", "name", "components", "signature", "simulated", *_PACES, "costs", "theta", *_LEVELS,
        "counts", "notes", "would_help",
    ),
    LIVE_PAIR: (
        "name", "fast", "slow", "rule", "recorded", "by_family", "by_scenario", "slow_share",
        *_PAIR_COUNTS, "replayed_at_recorded_pace", "recorded_minus_replayed",
    ),
    LIVE_POLICY: (
        "name", "policy", "components", "interval", *_LEVELS, "replayed", "recorded_minus_replayed",
        "why_not_replayed", "expiries", "expiry_differences",
    ),
}  # fmt: skip
"""Of each kind, in order. Keys whose value is `_ABSENT` are left out."""

LEVEL_KEYS: dict[str, tuple[str, ...]] = {
    COMPONENT: (
        "family", "log_auc", "untimed", "untimed_segment", *_SHARES, "integrated", "physical",
        "answers", "cost", "curves", "latency",
    ),
    PAIR: ("family", "log_auc", *_SHARES, "slow_share", "integrated", "by_range"),
    POLICY: (
        "family", "in_force", "log_auc", "classes", "oracle", "current", "u_current", "lucky",
        "segment_in_force", "integrated", "cost", "spells", "changes", "cost_per_hour",
    ),
    LIVE_PAIR: _SHARES,
    LIVE_POLICY: ("in_force", "classes"),
}  # fmt: skip

_ABSENT = object()


def result_to_json(result: Result, *, with_curves: bool = False) -> dict[str, Any]:
    """A result of any kind; `with_curves` adds the coefficients of every level's exact curves."""
    return _written(result, KEYS[result.kind], () if with_curves else ("curves",))


def _written(result: Result, keys: Sequence[str], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """These keys of a result, its levels without those left out."""
    level_keys = [key for key in LEVEL_KEYS[result.kind] if key not in left_out]

    def level(found: Level) -> dict[str, Any]:
        every = {key: _level_value(result, found, key) for key in level_keys}
        return {key: value for key, value in every.items() if value is not _ABSENT}

    def value(key: str) -> Any:
        if key in ("overall", "recorded"):
            return level(result.overall)
        if key in ("by_family", "by_scenario"):
            return {name: level(found) for name, found in getattr(result, key).items()}
        if key in _VALUES:
            return _VALUES[key](result)
        return getattr(result.counts if key in _COUNTED else result, key)

    found = {key: value(key) for key in keys}
    return {key: one for key, one in found.items() if one is not _ABSENT}


_VALUES: dict[str, Callable[[Result], Any]] = {
    "notes": lambda r: list(r.notes),
    "release_lag": lambda r: asdict(r.punctuality) if r.punctuality else None,
    "served_models": lambda r: list(r.served_models),
    "bounds": lambda r: [r.bounds.low, r.bounds.high],
    "weighting": lambda r: r.bounds.weighting,
    "costs": lambda r: (
        {"name": r.cost.costs, "dated": r.cost.dated, "sha256": r.cost.digest}
        if r.cost
        else _ABSENT
    ),
    "theta": lambda r: r.wrong_time.theta if r.wrong_time else _ABSENT,
    "discarded": lambda r: {
        "after_horizon": r.discarded_after_horizon,
        "older_than_active": r.discarded_older,
    },
    "latency": lambda r: asdict(r.latency) if r.latency else None,
    "reliability": lambda r: asdict(r.reliability) if r.reliability else None,
    "longest_stale_loss": lambda r: (
        {**asdict(r.longest_stale_loss), "seconds": r.longest_stale_loss.seconds}
        if r.longest_stale_loss
        else None
    ),
    "policy": lambda r: r.policy.to_json(),
    "components": lambda r: list(r.members),
    "counts": lambda r: {
        key: list(one) if isinstance(one, tuple) else one
        for key, one in _named(r.counts, *_POLICY_COUNTS).items()
    },
    "would_help": lambda r: [asdict(one) for one in r.would_help()],
    "replayed_at_recorded_pace": lambda r: {
        rule: shares_to_json(shares) for rule, shares in r.replayed.items()
    },
    "replayed": lambda r: next((shares.in_force for shares in r.replayed.values()), None),
    "recorded_minus_replayed": lambda r: r.gap if r.replayed else None,
    "why_not_replayed": lambda r: r.why_not or None,
    "expiry_differences": lambda r: list(r.expiry_differences),
}
"""Other keys are attributes of the result or of its counts."""


def _level_value(result: Result, level: Level, key: str) -> Any:
    if key in _LEVEL_VALUES:
        return _LEVEL_VALUES[key](result, level)
    return getattr(level, key)


def _is_scenario(result: Result, level: Level) -> bool:
    return level is result.by_scenario.get(level.name)


_LEVEL_VALUES: dict[str, Callable[[Result, Level], Any]] = {
    "family": lambda r, level: r.family_of[level.name] if _is_scenario(r, level) else _ABSENT,
    "u_current": lambda r, level: level.at_interval.u_current,
    "lucky": lambda r, level: level.outdated_correct,
    "classes": lambda r, level: level.at_interval.classes(),
    "integrated": lambda r, level: _integrated(r.kind, level),
    "physical": lambda r, level: shares_to_json(level.physical) if level.physical else None,
    "answers": lambda r, level: asdict(found) if (found := r.answers_at(level.name)) else _ABSENT,
    "cost": lambda r, level: cost_to_json(r.cost.levels.at(level.name)) if r.cost else _ABSENT,
    "curves": lambda r, level: curves_to_json(r, level.name),
    "latency": lambda r, level: (
        asdict(r.latency_by_scenario[level.name])
        if r.latency_by_scenario and _is_scenario(r, level)
        else _ABSENT
    ),
    "by_range": lambda r, level: list(level.by_range) or _ABSENT,
    # As `sdb analyze spells | changes` name them.
    "spells": lambda r, level: (
        asdict(r.wrong_time.spells.at(level.name)) if r.wrong_time else _ABSENT
    ),
    "changes": lambda r, level: (
        asdict(r.wrong_time.changes.at(level.name)) if r.wrong_time else _ABSENT
    ),
    "cost_per_hour": lambda r, level: (
        r.cost_per_hour if level is r.overall and r.cost_per_hour is not None else _ABSENT
    ),
}
"""Other keys are attributes of the level."""


def _integrated(kind: str, level: Level) -> dict[str, Any] | None:
    over = level.integrated
    if kind == POLICY:
        if over.fixed_pace:
            return None
        return {
            "oracle": level.oracle_integrated,
            "current": over.oracle,
            "u_current": over.u_current,
            "lucky": over.outdated_correct,
            "segment_in_force": over.segment_in_force,
            "classes": over.classes(),
        }
    found = {**shares_to_json(over), **over.classes()}
    return found | ({"slow_share": level.slow_share_integrated} if kind == PAIR else {})


def shares_to_json(shares: Shares) -> dict[str, Any]:
    """The six shares and what is read off them.

    `product` of a pair is the proxy U_slow·O: a pair has no untimed answer.
    """
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


def curves_to_json(result: Result, level: str) -> dict[str, Any]:
    """share(Δ) = c0[k] + c1[k]/Δ for intervals[k] ≤ Δ ≤ intervals[k+1], per metric."""
    return {
        metric: {name: values.tolist() for name, values in asdict(curve).items()}
        for metric, curve in result.curve(level, tuple(METRICS)).items()
    }


def _named(one: object, *names: str) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


# Documents: results under a schema.


def scores_to_json(scores: Iterable[Result], *, with_curves: bool = False) -> dict[str, Any]:
    """Recordings, as `sdb score` prints them."""
    return {
        "schema": SCHEMA,
        "recordings": [result_to_json(one, with_curves=with_curves) for one in scores],
    }


def pairs_to_json(
    pairs: Sequence[Result], alone: Sequence[Result] = (), *, would_help: bool = False
) -> dict[str, Any]:
    """Pairs, and the components alone on the same nominal clock.

    `would_help` adds replays with changed members to every pair; they take longer than the pair.
    """
    wanted = ("would_help",) if would_help else ()
    return {
        "schema": PAIR_SCHEMA,
        "pairs": [
            {**result_to_json(pair), **{key: _VALUES[key](pair) for key in wanted}}
            for pair in pairs
        ],
        "alone": [_alone(score) for score in alone],
    }


def policies_to_json(scores: Sequence[Result], live: Sequence[Result] = ()) -> dict[str, Any]:
    """Policies; `live` holds recordings made under a policy, as they happened."""
    found: dict[str, Any] = {
        "schema": POLICY_SCHEMA,
        "scores": [result_to_json(score) for score in scores],
    }
    return found | ({"live": [result_to_json(one) for one in live]} if live else {})


def matrix_to_json(found: Matrix) -> dict[str, Any]:
    would_help = _VALUES["would_help"](found.best.pair)
    return {
        **pairs_to_json(found.pairs, found.alone),
        "best": {**_best(found.best), "would_help": would_help},
        "best_by_family": {family: _best(best) for family, best in found.by_family.items()},
        "best_by_range": [
            {"bounds": [over.low, over.high], **_best(best)}
            for over, best in zip(found.ranges, found.by_range, strict=True)
        ],
    }


def contention_to_json(found: Mapping[str, AloneAndJoint]) -> dict[str, Any]:
    """Components and pair, recorded separately and together."""

    def part(one: AloneAndJoint) -> dict[str, Any]:
        alone, joint = one.alone.latency, one.joint.latency
        if alone is None or joint is None:
            raise ValueError("contention compares recordings, which have latencies")
        return {
            "name": one.joint.name,
            "alone": asdict(alone),
            "joint": asdict(joint),
            "alone_in_force": one.alone.in_force,
            "joint_in_force": one.joint.in_force,
            "alone_auc": one.alone.log_auc,
            "joint_auc": one.joint.log_auc,
            "p50_ratio": joint.p50 / alone.p50 if alone.p50 else None,
        }

    figures, pair = ("fast", "slow", "rule", "in_force", "log_auc", "slow_share"), found["pair"]
    return {
        "fast": part(found["fast"]),
        "slow": part(found["slow"]),
        "pair_from_alone": _named(pair.alone, *figures),
        "pair_from_joint": _named(pair.joint, *figures),
        **_named(pair, "in_force_cost", "auc_cost"),
    }


def _alone(score: Result) -> dict[str, Any]:
    left_out = ("answers", "cost", "curves", "latency")
    return _written(score, ("name", "clock", "overall", "by_family"), left_out)


def _best(best: Best) -> dict[str, Any]:
    return {
        **_named(best.pair, "fast", "slow", "rule"),
        "value": best.value,
        "best_alone": best.alone,
        "best_alone_value": best.alone_value,
        "gain": best.gain,
    }


# CSV: one row per result and level.


CSV_COLUMNS = (
    "recording", "level", "name", "log_auc", "untimed", "untimed_segment", "in_force",
    "segment_in_force", "oracle", "u_current", "product", *CLASSES,
    *(f"integrated_{name}" for name in ("segment_in_force", "oracle", "u_current", "product", *CLASSES)),
    "exact_match", "active_question", "signature",
)  # fmt: skip


COST_COLUMNS = ("cost_per_second", "integrated_cost_per_second")
"""After the others, where scores were charged."""


def csv_rows(scores: Iterable[Result]) -> list[list[Any]]:
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


PAIR_CSV_COLUMNS = (
    "fast", "slow", "rule", "level", "name", "log_auc", "in_force", "gain", "slow_share",
    "integrated_slow_share", "accepted_slow", "corrections", "regressions", "refusals", "signature",
)  # fmt: skip


def pairs_csv(pairs: Sequence[Result], alone: Sequence[Result]) -> list[list[Any]]:
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
