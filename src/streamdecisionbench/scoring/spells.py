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

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.cut import (
    EDGE,
    Calm,
    Stretches,
    mean_by_scenario,
    powers,
    stretches,
)
from streamdecisionbench.scoring.sweep import References, Trajectory
from streamdecisionbench.scoring.timeline import Floats, Ints


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
    >>> from streamdecisionbench.scoring.sweep import trajectory_at
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


# Wrong spells over a range of intervals: exact means of their age, their excess, their number.
#
# A spell lies between two neighbouring stretches that are not wrong. Over a range of c its length on
# the recording clock is ℓ(c) = a + b·c, in seconds at the interval ℓ(c)/c, and T likewise T/c. So
#
#     mean age       ℓ²/(2·T·c) = (a²/c + 2ab + b²·c) / 2T
#     beyond share   (ℓ − θ·c)/T   where that is positive: cut at c = a/(θ − b)
#     count          1


@dataclass(frozen=True, slots=True)
class MovingSpells:
    """On [low, high) a spell of `at` + c · `delay` seconds of the recording clock."""

    references: References
    scenario: Ints
    at: Floats
    delay: Floats
    low: Floats
    high: Floats
    observed: Floats
    """T of each scenario on the recording clock: judged time."""

    def wrong_share(self, bounds: Bounds) -> Floats:
        """Σ ℓ / T per scenario: 1 − A over the bounds."""
        return self.beyond_share(0.0, bounds)

    def mean_age(self, bounds: Bounds, beyond: float = 0.0) -> Floats:
        """Σ ℓ²/2 / T in seconds at the interval, over the bounds; of what spells last `beyond` that."""
        low, high, slope = self.longer_than(beyond)
        on = powers(low, high, bounds)
        a, b = self.at, slope
        amount = 0.5 * a * a * on.inverse + a * b * on.one + 0.5 * b * b * on.scale
        return self._mean(self._per_time(amount), bounds)

    def beyond_share(self, theta: float, bounds: Bounds) -> Floats:
        """Σ max(0, ℓ − θ) / T over the bounds."""
        low, high, slope = self.longer_than(theta)
        on = powers(low, high, bounds)
        return self._mean(self._per_time(self.at * on.one + slope * on.scale), bounds)

    def long_share(self, theta: float, bounds: Bounds) -> Floats:
        """The share of time in spells that last longer than θ, over the bounds."""
        low, high, _ = self.longer_than(theta)
        on = powers(low, high, bounds)
        return self._mean(self._per_time(self.at * on.one + self.delay * on.scale), bounds)

    def count(self, bounds: Bounds) -> Floats:
        """How many spells there are, on average over the bounds."""
        return self._mean(powers(self.low, self.high, bounds).one, bounds)

    def longer_than(self, theta: float) -> tuple[Floats, Floats, Floats]:
        """Where ℓ(c)/c > θ within each range, and the slope of ℓ(c) − θ·c.

        Seconds at the interval fall as c grows unless ℓ grows at least as fast.
        """
        slope = self.delay - theta
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.clip(-self.at / slope, self.low, self.high)
        rising, falling = slope > 0, slope < 0
        never = ~rising & ~falling & (self.at <= 0)
        low = np.where(rising, cut, self.low)
        high = np.where(never, self.low, np.where(falling, cut, self.high))
        return low, high, slope

    def _per_time(self, amount: Floats) -> Floats:
        T = self.observed[self.scenario]
        return np.divide(amount, T, out=np.zeros_like(amount), where=T > 0)

    def _mean(self, amount: Floats, bounds: Bounds) -> Floats:
        return mean_by_scenario(amount, self.scenario, self.references.tick, bounds)


def moving_spells(calm: Calm) -> MovingSpells:
    """The wrong spells of a sweep: what lies between its calm stretches."""
    refs, cut, pairs = calm.references, calm.stretches, calm.pairs
    begin_at, begin_delay = _end(cut.end_at, cut.end_delay, pairs.before, refs.start[pairs.group])
    end_at, end_delay = _end(cut.begin_at, cut.begin_delay, pairs.after, refs.horizon[pairs.group])
    # Stretches that touch at every scale have nothing between them.
    apart = (end_at != begin_at) | (end_delay != begin_delay)
    return MovingSpells(
        refs,
        pairs.group[apart],
        (end_at - begin_at)[apart],
        (end_delay - begin_delay)[apart],
        pairs.low[apart],
        pairs.high[apart],
        calm.judged,
    )


def _end(at: Floats, delay: Floats, index: Ints, edge: Floats) -> tuple[Floats, Floats]:
    """One end of each chosen stretch, or the edge of the scenario, which stands still."""
    if not len(at):
        return edge, np.zeros_like(edge)
    outside = index == EDGE
    return np.where(outside, edge, at[index]), np.where(outside, 0.0, delay[index])
