"""A policy's wrong time: what it costs, how long it lasts, how soon changes are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.charge import CostScore, charge
from streamdecisionbench.scoring.costs.course import ByLevel, course_of_policy
from streamdecisionbench.scoring.costs.measures import (
    ChangeMeasures,
    SpellMeasures,
    change_measures,
    spell_measures,
)
from streamdecisionbench.scoring.policies.read_answers import Setting
from streamdecisionbench.scoring.policies.scene import Answers

__all__ = ["THETA_S", "WrongTime", "wrong_time"]

THETA_S = 4.0
"""From here on a wrong spell counts as long, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class WrongTime:
    """What being wrong costs under a policy, with its spells and its delays, level by level."""

    cost: CostScore
    spells: ByLevel[SpellMeasures]
    changes: ByLevel[ChangeMeasures]
    theta: float


def wrong_time(
    policy: Policy,
    components: Sequence[Answers],
    costs: Costs,
    *,
    interval: float,
    bounds: Bounds,
    setting: Setting | None = None,
    theta: float = THETA_S,
) -> WrongTime:
    """Charges what the policy had in force, at the interval and over the bounds."""
    course = course_of_policy(policy, components, interval, bounds, setting)
    return WrongTime(
        charge(course, costs), spell_measures(course, theta), change_measures(course), theta
    )
