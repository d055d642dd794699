"""What being wrong costs, for a report: every recording's course under the dated default costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamdecisionbench.analysis.cost_of_error import disagreement
from streamdecisionbench.cost_file.read import default_costs
from streamdecisionbench.report.material import Material
from streamdecisionbench.scoring.costs.changes import Survival, delays_of
from streamdecisionbench.scoring.costs.charge import CostScore, charge
from streamdecisionbench.scoring.costs.course import Course, course_of
from streamdecisionbench.scoring.costs.measures import (
    ChangeMeasures,
    SpellMeasures,
    change_measures,
    spell_measures,
)

__all__ = ["THETA_S", "ErrorCosts", "error_costs"]

THETA_S = 4.0
"""From here on a wrong spell counts as long."""


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


def error_costs(material: Material) -> ErrorCosts:
    """Spells, delays and costs of all recordings."""
    courses = {
        e.name: course_of(e.score.parts, material.interval, material.bounds)
        for e in material.entries
    }
    scores = {name: charge(course, default_costs()) for name, course in courses.items()}
    right = {e.name: e.score.in_force for e in material.entries}
    return ErrorCosts(
        courses=courses,
        spells={name: spell_measures(c, THETA_S).overall for name, c in courses.items()},
        changes={name: change_measures(c).overall for name, c in courses.items()},
        waits={name: delays_of(c.path, c.cut).survival() for name, c in courses.items()},
        scores=scores,
        words=disagreement({n: (right[n], s.overall.at_interval.total) for n, s in scores.items()}),
    )
