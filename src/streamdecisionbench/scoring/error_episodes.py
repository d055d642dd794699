"""Wrong spells: how long the application stays wrong, and how often.

A *wrong spell* is a maximal stretch of time in which the decision in force is not right, whatever
wrong decisions follow each other in it. No decision is not right; ages start at the release of
step 0. With T the observed time and ℓ_k the lengths of the spells, in seconds at the interval:

    mean age      Σ ℓ_k²/2 / T            the mean over time of how long it has been wrong
    beyond share  Σ max(0, ℓ_k − θ) / T   the share of time wrong for longer than θ
    longest       max ℓ_k                 count   how many there are

The mean age is the age of incorrect information of Maatouk, Kriouile, Assaad and Ephremides (2020)
with a linear penalty; θ gives its threshold penalty. Where it is not known what was right, a spell
ends and T does not run.

A spell lies between two neighbouring stretches that are not wrong. Over a range of c its length on
the recording clock is ℓ(c) = a + b·c, in seconds at the interval ℓ(c)/c, and T likewise T/c. So

    mean age       ℓ²/(2·T·c) = (a²/c + 2ab + b²·c) / 2T
    beyond share   (ℓ − θ·c)/T   where that is positive: cut at c = a/(θ − b)
    count          1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    by_scenario,
)
from streamdecisionbench.kernel.overlaps import (
    EDGE,
    ROUNDING,
    NotWrongRuns,
    at_most,
)
from streamdecisionbench.kernel.paces import (
    PaceWeights,
    per_time,
)


@dataclass(frozen=True, slots=True)
class Spells:
    """On [low, high) a spell from begin_at + c·begin_delay to end_at + c·end_delay, in time order.

    Its figures are by scenario, under the measure.
    """

    measure: PaceWeights
    judged: Floats
    """T of each scenario on the recording clock."""
    scenario: Ints
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    low: Floats
    high: Floats

    @property
    def wrong_share(self) -> Floats:
        """Σ ℓ / T = 1 − A."""
        return self.beyond_share(0.0)

    def mean_age(self, beyond: float = 0.0) -> Floats:
        """Σ ℓ²/2 / T, in seconds at the interval; of what spells last `beyond` that."""
        low, high = self._longer_than(beyond)
        on = self.measure.of(self.scenario, low, high)
        a, b = self.end_at - self.begin_at, self.end_delay - self.begin_delay - beyond
        return self._share(0.5 * a * a * on.inverse + a * b * on.one + 0.5 * b * b * on.scale)

    def beyond_share(self, theta: float) -> Floats:
        """Σ max(0, ℓ − θ) / T."""
        return self._lasting(*self._longer_than(theta), theta)

    def long_share(self, theta: float) -> Floats:
        """The share of time in spells that last longer than θ, from their beginning."""
        return self._lasting(*self._longer_than(theta * (1 + self.measure.ties)), 0.0)

    @property
    def count(self) -> Floats:
        """How many there are."""
        return self._sum(self.measure.of(self.scenario, self.low, self.high).one)

    @property
    def total(self) -> Floats:
        """Σ ℓ in seconds at the interval."""
        on = self.measure.of(self.scenario, self.low, self.high)
        length = (self.end_at - self.begin_at) * on.inverse
        return self._sum(length + (self.end_delay - self.begin_delay) * on.one)

    # At one pace every spell can be told apart; seconds are those since its scenario's clock began.

    @property
    def observed(self) -> Floats:
        """T in seconds."""
        return self.judged / self.measure.lowest

    @property
    def begin(self) -> Floats:
        return self.begin_at / self.measure.lowest[self.scenario] + self.begin_delay

    @property
    def length(self) -> Floats:
        length = (self.end_at - self.begin_at) / self.measure.lowest[self.scenario]
        return length + (self.end_delay - self.begin_delay)

    @property
    def longest(self) -> Floats:
        """The longest spell per scenario, 0 where there is none."""
        found = np.zeros(len(self.judged))
        np.maximum.at(found, self.scenario, self.length)
        return found

    def _longer_than(self, theta: float) -> tuple[Floats, Floats]:
        """Where ℓ(c) > θ·c: seconds at the interval fall as c grows unless ℓ grows at least as fast."""
        slope = self.end_delay - self.begin_delay - theta
        low, high = at_most(self.end_at - self.begin_at, slope, self.low, self.high)
        below = self.low < low
        return np.where(below, self.low, high), np.where(below, low, self.high)

    def _lasting(self, low: Floats, high: Floats, less: float) -> Floats:
        """Σ (ℓ − less·c) / T over parts of the ranges."""
        on = self.measure.of(self.scenario, low, high)
        slope = self.end_delay - self.begin_delay - less
        return self._share((self.end_at - self.begin_at) * on.one + slope * on.scale)

    def _share(self, amount: Floats) -> Floats:
        return per_time(self._sum(amount), self.judged)

    def _sum(self, values: Floats) -> Floats:
        return by_scenario(self.scenario, values, len(self.judged))


def spells_of(calm: NotWrongRuns, measure: PaceWeights) -> Spells:
    """The wrong spells of a sweep: what lies between its calm stretches."""
    cut, pairs = calm.cut, calm.pairs
    refs = cut.sweep.references
    begin_at, begin_delay = _end(cut.end_at, cut.end_delay, pairs.before, refs.start[pairs.group])
    end_at, end_delay = _end(cut.begin_at, cut.begin_delay, pairs.after, refs.horizon[pairs.group])
    # Stretches that touch at every scale have nothing between them.
    rounding = ROUNDING * refs.horizon[pairs.group]
    apart = (end_at - begin_at > rounding) | (end_delay != begin_delay)
    ends = begin_at, begin_delay, end_at, end_delay
    columns = (x[apart] for x in (pairs.group, *ends, pairs.low, pairs.high))
    return Spells(measure, cut.judged, *columns)


def _end(at: Floats, delay: Floats, index: Ints, edge: Floats) -> tuple[Floats, Floats]:
    """One end of each chosen stretch, or the edge of the scenario, which stands still."""
    outside = index == EDGE
    if outside.all():
        return edge, np.zeros_like(edge)
    return np.where(outside, edge, at[index]), np.where(outside, 0.0, delay[index])
