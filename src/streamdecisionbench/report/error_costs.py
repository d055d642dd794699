"""What being wrong costs, for a report: every recording's course under the dated default costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamdecisionbench.analysis.choose import Choice
from streamdecisionbench.analysis.cost_of_error import disagreement
from streamdecisionbench.cost_file.read import default_costs
from streamdecisionbench.report.material import Material
from streamdecisionbench.scoring.costs.changes import Survival, delays_of
from streamdecisionbench.scoring.costs.charge import CostRates, CostScore, charge, cost_at
from streamdecisionbench.scoring.costs.course import Course, course_of
from streamdecisionbench.scoring.costs.measures import (
    THETA_S,
    ChangeMeasures,
    SpellMeasures,
    change_measures,
    spell_measures,
)
from streamdecisionbench.scoring.pairs.pair_trajectory import pair_trajectory

__all__ = ["THETA_S", "ErrorCosts", "error_costs", "pair_cost"]


@dataclass(frozen=True, slots=True)
class ErrorCosts:
    """By recording name, at the report's interval."""

    courses: Mapping[str, Course] = field(default_factory=dict)
    spells: Mapping[str, SpellMeasures] = field(default_factory=dict)
    changes: Mapping[str, ChangeMeasures] = field(default_factory=dict)
    waits: Mapping[str, Survival] = field(default_factory=dict)
    scores: Mapping[str, CostScore] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """Where ranking by cost differs from ranking by time."""


def error_costs(material: Material, choice: Choice | None = None) -> ErrorCosts:
    """Spells, delays and costs of all recordings; the words also weigh a pair that is recommended."""
    courses = {
        e.name: course_of(e.score.parts, material.interval, material.bounds)
        for e in material.entries
    }
    scores = {name: charge(course, default_costs()) for name, course in courses.items()}
    right = {e.name: e.score.in_force for e in material.entries}
    found = {n: (right[n], s.overall.at_interval.total) for n, s in scores.items()}
    if choice is not None and choice.best.rule is not None and choice.best.policy is None:
        fast, slow = choice.best.members
        cost = pair_cost(material, fast, slow, choice.best.rule)
        found[choice.best.name] = (choice.best.in_force.value, cost.total)
    return ErrorCosts(
        courses=courses,
        spells={name: spell_measures(c, THETA_S).overall for name, c in courses.items()},
        changes={name: change_measures(c).overall for name, c in courses.items()},
        waits={name: delays_of(c.path, c.cut).survival() for name, c in courses.items()},
        scores=scores,
        words=disagreement(found),
    )


def pair_cost(material: Material, fast: str, slow: str, rule: str) -> CostRates:
    """What being wrong costs a pair at the report's interval, in replay."""
    parts = {e.name: e.score.parts for e in material.entries if e.name in (fast, slow)}
    path = pair_trajectory(parts[fast], parts[slow], rule, material.interval)
    return cost_at(path, [part.family for part in parts[fast]], default_costs())
