"""Spells, delays and decision changes of a course, level by level, as plain numbers.

Shares and mean ages of a family are means of its scenarios, those of the whole are means of
families, as for the score. Numbers of things are sums; the longest spell is the longest of all;
quantiles of delays are taken over all changes together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.costs.changes import delays_of, mean_delays
from streamdecisionbench.scoring.costs.course import ByLevel, Course, by_level
from streamdecisionbench.scoring.costs.edits import Edits, edits_of, mean_edits
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = [
    "THETA_S",
    "ChangeMeans",
    "ChangeMeasures",
    "EditMeans",
    "EditMeasures",
    "SpellMeans",
    "SpellMeasures",
    "change_measures",
    "check_theta",
    "spell_measures",
]


THETA_S = 4.0
"""Seconds from which a wrong spell counts as long, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class SpellMeans:
    """Over the bounds: means of the same."""

    mean_age_s: float
    beyond_share: float
    longest_s: float
    count: float
    long_share: float


@dataclass(frozen=True, slots=True)
class SpellMeasures:
    """Wrong spells at the interval; seconds are those of the re-paced timeline."""

    mean_age_s: float
    """Σ ℓ²/2 / T."""
    beyond_share: float
    """Σ max(0, ℓ − θ) / T."""
    longest_s: float
    count: int
    wrong_share: float
    """Σ ℓ / T = 1 − A."""
    long_share: float
    """Of that, the time in spells longer than θ."""
    mean_length_s: float
    """Σ ℓ / count."""
    integrated: SpellMeans | None
    """None where nothing was integrated."""

    @property
    def short_share(self) -> float:
        """Time in spells of at most θ."""
        return self.wrong_share - self.long_share


@dataclass(frozen=True, slots=True)
class EditMeans:
    """Over the bounds."""

    changes: float
    needed: float
    useless: float
    reversed_in_a_tick: float


@dataclass(frozen=True, slots=True)
class EditMeasures:
    """Changes of the decision in force at the interval."""

    changes: int
    needed: int
    useless: int
    reversed_in_a_tick: int
    integrated: EditMeans | None

    @property
    def edit_overhead(self) -> float | None:
        """The share of changes that were useless."""
        return self.useless / self.changes if self.changes else None

    @property
    def flicker(self) -> float | None:
        """The share of changes that were taken back within a tick."""
        return self.reversed_in_a_tick / self.changes if self.changes else None


@dataclass(frozen=True, slots=True)
class ChangeMeans:
    """Over the bounds."""

    never_right: float
    waited_s: float


@dataclass(frozen=True, slots=True)
class ChangeMeasures:
    """Delays after reference changes at the interval, in seconds."""

    changes: int
    never_right: int
    """Changes after which the next one, or the end, came before a right decision was in force."""
    median_delay_s: float | None
    """Kaplan and Meier's; None where fewer than half are ever seen to be answered."""
    p95_delay_s: float | None
    waited_s: float | None
    """Mean wait, at most until the next change."""
    integrated: ChangeMeans | None
    decision_changes: EditMeasures
    """Changes of the decision in force, which answer them or do not."""

    @property
    def never_right_share(self) -> float | None:
        return self.never_right / self.changes if self.changes else None


def check_theta(theta: float | None) -> float | None:
    """Refuses what is no number of seconds."""
    if theta is not None and not (theta >= 0 and np.isfinite(theta)):
        raise InputError(f"theta {theta:g} is not a number of seconds", fix="for example --theta 4")
    return theta


def spell_measures(course: Course, theta: float) -> ByLevel[SpellMeasures]:
    """Wrong spells, with θ in seconds of the re-paced timeline."""
    check_theta(theta)
    at, over, bounds = course.spells, course.moving_spells, course.bounds
    age, beyond, longest, count = at.mean_age, at.beyond_share(theta), at.longest, at.count
    wrong = np.divide(at.wrong, at.observed, out=np.zeros_like(at.wrong), where=at.observed > 0)
    total = np.bincount(at.scenario, weights=at.length, minlength=len(age))
    mean_age, mean_beyond = over.mean_age(bounds), over.beyond_share(theta, bounds)
    long_, mean_long = at.long_share(theta), over.long_share(theta, bounds)
    mean_longest, mean_count = over.longest(bounds), over.count(bounds)

    def measure(scenarios: Ints, weights: Floats) -> SpellMeasures:
        number = int(count[scenarios].sum())
        return SpellMeasures(
            mean_age_s=float(weights @ age[scenarios]),
            beyond_share=float(weights @ beyond[scenarios]),
            longest_s=float(longest[scenarios].max()),
            count=number,
            wrong_share=float(weights @ wrong[scenarios]),
            long_share=float(weights @ long_[scenarios]),
            mean_length_s=float(total[scenarios].sum()) / number if number else 0.0,
            integrated=SpellMeans(
                mean_age_s=float(weights @ mean_age[scenarios]),
                beyond_share=float(weights @ mean_beyond[scenarios]),
                longest_s=float(weights @ mean_longest[scenarios]),
                count=float(mean_count[scenarios].sum()),
                long_share=float(weights @ mean_long[scenarios]),
            ),
        )

    return by_level(course, measure)


def change_measures(course: Course) -> ByLevel[ChangeMeasures]:
    """Delays after reference changes, and the changes of the decision in force."""
    found = delays_of(course.path, course.cut)
    mean = mean_delays(course.calm, course.bounds)
    at, over = edits_of(course.path, course.cut), mean_edits(course.sweep, course.bounds)

    def measure(scenarios: Ints, weights: Floats) -> ChangeMeasures:
        mine = found.of(scenarios)
        curve = mine.survival()
        waits = np.minimum(mine.delay, mine.limit)
        changes = mean.changes[scenarios]
        waited = float(mean.waited[scenarios] @ changes)
        return ChangeMeasures(
            changes=len(mine.delay),
            never_right=int(mine.never.sum()),
            median_delay_s=curve.quantile(0.5),
            p95_delay_s=curve.quantile(0.95),
            waited_s=float(waits.mean()) if len(waits) else None,
            integrated=ChangeMeans(
                never_right=float(mean.never_right[scenarios].sum()),
                waited_s=waited / max(int(changes.sum()), 1),
            ),
            decision_changes=_edits(at, over, scenarios),
        )

    return by_level(course, measure)


def _edits(at: Edits, over: Edits, scenarios: Ints) -> EditMeasures:
    names = ("changes", "needed", "useless", "reversed_in_a_tick")
    now = {name: int(getattr(at, name)[scenarios].sum()) for name in names}
    mean = {name: float(getattr(over, name)[scenarios].sum()) for name in names}
    return EditMeasures(**now, integrated=EditMeans(**mean))
