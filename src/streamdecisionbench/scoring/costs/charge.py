"""What a course costs: being wrong, staying wrong and acting wrongly, level by level.

Everything is a rate in seconds of an ordinary wrong decision per second of observed time, so that
with equal costs the total is 1 − A, and one-time costs of acts add to it divided by T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.scoring.costs.acts import ActCounts, act_slots, acts_of, instances
from streamdecisionbench.scoring.costs.cost_rate import (
    age_rate,
    contributions,
    mean_age_rate,
    mean_wrong_rate,
    wrong_rate,
)
from streamdecisionbench.scoring.costs.course import ByLevel, Course, by_level
from streamdecisionbench.scoring.costs.moving_acts import mean_acts
from streamdecisionbench.scoring.costs.spells import spells_of
from streamdecisionbench.scoring.costs.stretches import stretches
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import Trajectory

ALL_ACTS = "all acts"

__all__ = [
    "ALL_ACTS",
    "ActMeasures",
    "CostLevel",
    "CostRates",
    "CostScore",
    "act_measures",
    "charge",
    "cost_at",
]


@dataclass(frozen=True, slots=True)
class CostRates:
    """Seconds of an ordinary wrong decision, per second."""

    wrong: float
    """(1/T) ∫ C dt."""
    age: float
    """What staying wrong adds."""
    acts: float
    """What acts done late, wrongly, twice or not at all add."""

    @property
    def total(self) -> float:
        return self.wrong + self.age + self.acts


@dataclass(frozen=True, slots=True)
class CostLevel:
    """The cost of a scenario, a family or the whole."""

    at_interval: CostRates
    integrated: CostRates


@dataclass(frozen=True, slots=True)
class CostScore:
    """A course under a cost file."""

    costs: str
    dated: str
    digest: str
    levels: ByLevel[CostLevel]
    made_of: Mapping[str, float]
    """What the cost per second of being wrong is made of at the interval, largest first."""

    @property
    def overall(self) -> CostLevel:
        return self.levels.overall


@dataclass(frozen=True, slots=True)
class ActMeans:
    """Over the bounds."""

    in_time: float
    late: float
    missed: float
    wrongly: float
    twice: float


@dataclass(frozen=True, slots=True)
class ActMeasures:
    """What became of the calls for acts, and of doings nobody called for."""

    calls: int
    in_time: int
    late: int
    missed: int
    wrongly: int
    twice: int
    cost: float
    """In seconds of an ordinary wrong decision."""
    integrated: ActMeans | None


def charge(course: Course, costs: Costs) -> CostScore:
    """The cost of a course at its interval and over its bounds."""
    sections = [costs.section(family) for family in course.families]
    judged, bounds = course.judged, course.bounds
    c = course.path.scale
    now = [
        wrong_rate(course.path, course.cut, judged, sections),
        age_rate(course.spells, sections),
        np.zeros(len(sections)),
    ]
    over = [
        mean_wrong_rate(course.sweep, course.moving_cut, judged, sections, bounds),
        mean_age_rate(course.moving_spells, sections, bounds),
        np.zeros(len(sections)),
    ]
    for acts in act_slots(sections):
        instance = instances(course.path.references, acts)
        at = acts_of(course.path, course.cut, instance, acts)
        mean = mean_acts(course.sweep, instance, acts, bounds)
        # Outcomes per second: T/c seconds are observed at the interval.
        now[2] += _per(at.cost(acts) * c, judged)
        over[2] += _per(mean.rates.cost(acts), judged)

    def measure(scenarios: Ints, weights: Floats) -> CostLevel:
        return CostLevel(
            CostRates(*(float(weights @ x[scenarios]) for x in now)),
            CostRates(*(float(weights @ x[scenarios]) for x in over)),
        )

    made_of: Mapping[str, float] = {}
    if course.path.references.values:
        weights = family_weights(list(course.families))
        made_of = contributions(course.path, course.cut, judged, sections, weights)
    return CostScore(costs.name, costs.dated, costs.digest, by_level(course, measure), made_of)


def cost_at(path: Trajectory, families: Sequence[str], costs: Costs) -> CostRates:
    """The cost of the whole at one interval, where nothing is integrated."""
    sections = [costs.section(family) for family in families]
    cut = stretches(path)
    spells = spells_of(path, cut)
    acts = np.zeros(len(sections))
    for slot in act_slots(sections):
        acts += acts_of(path, cut, instances(path.references, slot), slot).cost(slot)
    weights = family_weights(list(families))
    return CostRates(
        float(weights @ wrong_rate(path, cut, spells.observed * path.scale, sections)),
        float(weights @ age_rate(spells, sections)),
        float(weights @ _per(acts, spells.observed)),
    )


def act_measures(course: Course, costs: Costs) -> Mapping[str, ByLevel[ActMeasures]]:
    """Every declared act by name, and `ALL_ACTS` together; only acts some scenario may call for."""
    found: dict[str, list[tuple[ActCounts, ActCounts, Floats]]] = {}
    for acts in act_slots([costs.section(family) for family in course.families]):
        instance = instances(course.path.references, acts)
        at = acts_of(course.path, course.cut, instance, acts)
        mean = mean_acts(course.sweep, instance, acts, course.bounds).counts
        for name in dict.fromkeys(act.name for act in acts if act is not None):
            mine = [act if act is not None and act.name == name else None for act in acts]
            keep = np.array([act is not None for act in mine])
            one = (_only(at, keep), _only(mean, keep), at.cost(mine))
            found.setdefault(name, []).append(one)
    if not found:
        return {}
    found[ALL_ACTS] = [one for parts in found.values() for one in parts]

    def of(parts: Sequence[tuple[ActCounts, ActCounts, Floats]]) -> ByLevel[ActMeasures]:
        outcomes = ("in_time", "late", "missed", "wrongly", "twice")

        def measure(scenarios: Ints, weights: Floats) -> ActMeasures:
            del weights  # numbers of things are sums
            now = {
                name: round(sum(float(getattr(a, name)[scenarios].sum()) for a, _, _ in parts))
                for name in ("calls", *outcomes)
            }
            mean = {
                name: sum(float(getattr(m, name)[scenarios].sum()) for _, m, _ in parts)
                for name in outcomes
            }
            cost = sum(float(x[scenarios].sum()) for _, _, x in parts)
            return ActMeasures(**now, cost=cost, integrated=ActMeans(**mean))

        return by_level(course, measure)

    return {name: of(parts) for name, parts in found.items()}


def _only(counts: ActCounts, keep: Floats) -> ActCounts:
    return ActCounts(
        *(np.where(keep, getattr(counts, name), 0.0) for name in ActCounts.__dataclass_fields__)
    )


def _per(amount: Floats, observed: Floats) -> Floats:
    return np.divide(amount, observed, out=np.zeros(len(observed)), where=observed > 0)
