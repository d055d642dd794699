"""The machine form of policy scores: schema `sdb-policy/1`, every share a fraction in [0, 1].

Documented in docs/policies.md. Keys are only ever added under one schema number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from streamdecisionbench.scoring.policies.live import LivePolicyScore
from streamdecisionbench.scoring.policies.score_policy import PolicyLevel, PolicyScore
from streamdecisionbench.scoring.score import Shares
from streamdecisionbench.scoring.score_json import cost_to_json

__all__ = ["SCHEMA", "policies_to_json", "policy_to_json"]

SCHEMA = "sdb-policy/1"


def policies_to_json(
    scores: Sequence[PolicyScore], live: Sequence[LivePolicyScore] = ()
) -> dict[str, Any]:
    """The document; `live` holds recordings made under a policy, as they happened."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "scores": [policy_to_json(score) for score in scores],
    }
    return found | ({"live": [_live(one) for one in live]} if live else {})


def policy_to_json(score: PolicyScore) -> dict[str, Any]:
    """One policy on one set of components. `cost_per_hour` is there where prices are known."""

    def level(found: PolicyLevel) -> dict[str, Any]:
        return {**_level(found), **_wrong_time(score, found.name)}

    overall = level(score.overall)
    if score.cost_per_hour is not None:
        overall["cost_per_hour"] = score.cost_per_hour
    return {
        "policy": score.policy.to_json(),
        "name": score.policy.name,
        "components": list(score.components),
        "signature": score.signature,
        "simulated": score.simulated,
        "interval": score.interval,
        "bounds": [score.bounds.low, score.bounds.high],
        "weighting": score.bounds.weighting,
        "clock": score.clock,
        **_cost_file(score),
        "overall": overall,
        "by_family": {name: level(found) for name, found in score.by_family.items()},
        "by_scenario": {
            name: {"family": score.family_of[name], **level(found)}
            for name, found in score.by_scenario.items()
        },
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
        "overall": happened(live.recorded),
        "by_family": {name: happened(shares) for name, shares in live.by_family.items()},
        "by_scenario": {name: happened(shares) for name, shares in live.by_scenario.items()},
        "replayed": live.replayed,
        "recorded_minus_replayed": live.gap,
        "why_not_replayed": live.why_not or None,
    }


def _level(level: PolicyLevel) -> dict[str, Any]:
    return {
        "in_force": level.in_force,
        "log_auc": level.log_auc,
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


def _cost_file(score: PolicyScore) -> dict[str, Any]:
    if score.wrong_time is None:
        return {}
    cost = score.wrong_time.cost
    return {
        "costs": {"name": cost.costs, "dated": cost.dated, "sha256": cost.digest},
        "theta": score.wrong_time.theta,
    }


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
