"""Wrong spells at one interval: how long the application stays wrong, and how often.

A *wrong spell* is a maximal stretch of time in which the decision in force is not right, whatever
wrong decisions follow each other in it. No decision is not right; ages start at the release of
step 0. With T the observed time and ℓ_k the lengths of the spells, in seconds at the interval:

    mean age      Σ ℓ_k²/2 / T            the mean over time of how long it has been wrong
    beyond share  Σ max(0, ℓ_k − θ) / T   the share of time wrong for longer than θ
    longest       max ℓ_k                 count   how many there are

The mean age is the age of incorrect information of Maatouk, Kriouile, Assaad and Ephremides (2020)
with a linear penalty; θ gives its threshold penalty. Where it is not known what was right, a spell
ends and T does not run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.costs.stretches import Stretches, stretches
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import Trajectory

__all__ = ["Spells", "spells", "spells_of"]


@dataclass(frozen=True, slots=True)
class Spells:
    """Every wrong spell, in seconds since its scenario's clock began at the interval, in time order."""

    scenario: Ints
    begin: Floats
    end: Floats
    observed: Floats
    """T of each scenario: judged seconds at the interval."""
    wrong: Floats
    """Wrong seconds of each scenario, added up without the spells: 1 − A times T."""

    @property
    def length(self) -> Floats:
        return self.end - self.begin

    @property
    def mean_age(self) -> Floats:
        """Σ ℓ²/2 / T per scenario, in seconds."""
        return _per(self._sum(0.5 * self.length**2), self.observed)

    def beyond_share(self, theta: float) -> Floats:
        """Σ max(0, ℓ − θ) / T per scenario."""
        return _per(self._sum(np.maximum(0.0, self.length - theta)), self.observed)

    def long_share(self, theta: float) -> Floats:
        """The share of time in spells that last longer than θ, from their beginning."""
        long_ = np.where(self.length > theta * (1 + 1e-9), self.length, 0.0)
        return _per(self._sum(long_), self.observed)

    @property
    def longest(self) -> Floats:
        """The longest spell per scenario, 0 where there is none."""
        found = np.zeros(len(self.observed))
        np.maximum.at(found, self.scenario, self.length)
        return found

    @property
    def count(self) -> Ints:
        return np.bincount(self.scenario, minlength=len(self.observed))

    def _sum(self, values: Floats) -> Floats:
        return np.bincount(self.scenario, weights=values, minlength=len(self.observed)).astype(
            np.float64
        )


def spells(path: Trajectory) -> Spells:
    """The wrong spells of a trajectory.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import Flat, timelines
    >>> from streamdecisionbench.scoring.trajectory import trajectory_at
    >>> found = spells(trajectory_at(Flat(timelines(example_recording(), example_suite())), 2.0))
    >>> found.begin.round(3).tolist(), found.length.round(3).tolist()
    ([0.0, 4.0, 6.0], [0.4, 0.8, 2.0])
    >>> round(float(found.mean_age[0]), 3), round(float(found.beyond_share(1.0)[0]), 3)
    (0.3, 0.125)
    """
    return spells_of(path, stretches(path))


def spells_of(path: Trajectory, cut: Stretches) -> Spells:
    """The same, where the stretches are at hand."""
    refs = path.references
    count = refs.count
    wrong = cut.wrong
    before = np.append(False, wrong[:-1] & (cut.scenario[1:] == cut.scenario[:-1]))
    after = np.append(wrong[1:] & (cut.scenario[1:] == cut.scenario[:-1]), False)
    first, last = np.flatnonzero(wrong & ~before), np.flatnonzero(wrong & ~after)
    scenario = cut.scenario[first]
    c = path.scale
    judged = refs.observed
    if not cut.known.all():
        known = np.where(cut.known, cut.length, 0.0)
        judged = np.bincount(cut.scenario, weights=known, minlength=count).astype(np.float64)
    amount = np.bincount(cut.scenario, weights=np.where(wrong, cut.length, 0.0), minlength=count)
    return Spells(
        scenario,
        cut.begin[first] / c[scenario],
        cut.end[last] / c[scenario],
        judged / c,
        amount / c,
    )


def _per(amount: Floats, observed: Floats) -> Floats:
    return np.divide(amount, observed, out=np.zeros_like(amount), where=observed > 0)
