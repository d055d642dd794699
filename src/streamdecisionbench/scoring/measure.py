"""How paces weigh: all weight on one scale, or a whole range of intervals integrated.

Whatever a sweep is charged with is, between crossings, a sum of powers of c = tick/Δ: a share of
observed time is a₀ + a₁·c, an age in seconds a₋₁/c + a₀ + a₁·c. So a measure has to say one thing of
a range of scales, ∫(1/c, 1, c), and every figure is written once for one pace and for all of them.

`Over` bounds a < b of Δ: dΔ/Δ = dc/c with the log weighting, dΔ = tick·dc/c² with the linear one,
divided by ln(b/a) and b − a:

    ∫ c⁻¹ dc/c = 1/c₀ − 1/c₁    ∫ dc/c  = ln(c₁/c₀)      ∫ c dc/c  = c₁ − c₀
    ∫ c⁻¹ dc/c² = (1/c₀² − 1/c₁²)/2   ∫ dc/c² = 1/c₀ − 1/c₁   ∫ c dc/c² = ln(c₁/c₀)

`At` puts all weight on one c: the three are 1/c, 1 and c where the range holds c, and else nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.timeline import Floats, Ints


class Weights(NamedTuple):
    """∫ of 1/c, 1 and c over each range, normalised: over everything, `one` is 1."""

    inverse: Floats
    one: Floats
    scale: Floats


class At:
    """All weight on one scale per scenario.

    >>> found = At(np.array([1.5])).of(np.array([0, 0]), np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    >>> found.one.tolist(), found.scale.tolist()
    ([1.0, 0.0], [1.5, 0.0])
    """

    ties = 1e-9
    """At one scale equal times are common, and rounding must not tell them apart."""

    def __init__(self, scale: Floats) -> None:
        self.lowest, self.highest = scale, np.nextafter(scale, np.inf)

    def of(self, scenario: Ints, low: Floats, high: Floats) -> Weights:
        """The three for ranges [low, high) of scenarios."""
        c = self.lowest[scenario]
        one = ((low <= c) & (c < high)).astype(np.float64)
        return Weights(one / c, one, one * c)


class Over:
    """A range of intervals, for every scenario on its own clock.

    >>> found = Over(Bounds(1.0, 2.0), np.array([2.0])).of(np.array([0]), np.array([1.0]), np.array([2.0]))
    >>> [round(float(x[0]), 3) for x in found]
    [0.721, 1.0, 1.443]
    """

    ties = 0.0
    """Over a range they have no weight."""

    def __init__(self, bounds: Bounds, tick: Floats) -> None:
        self.bounds = bounds
        self.lowest, self.highest = tick / bounds.high, tick / bounds.low
        if bounds.weighting == "log":
            self._norm = np.full(len(tick), 1.0 / np.log(bounds.high / bounds.low))
        else:
            self._norm = tick / (bounds.high - bounds.low)

    def of(self, scenario: Ints, low: Floats, high: Floats) -> Weights:
        """The three for ranges [low, high] of scenarios."""
        norm = self._norm[scenario]
        ratio = np.log(high / low) * norm
        reciprocal = (high - low) / (low * high) * norm
        if self.bounds.weighting == "log":
            return Weights(reciprocal, ratio, (high - low) * norm)
        return Weights(0.5 * reciprocal * (1.0 / low + 1.0 / high), reciprocal, ratio)


Measure = At | Over


def per_time(amount: Floats, time: Floats) -> Floats:
    """Amounts per second; nothing where no time is judged."""
    return np.divide(amount, time, out=np.zeros(len(time)), where=time > 0)


def family_weights(families: Sequence[str]) -> Floats:
    """How scenarios weigh in the whole: the mean over families of the mean over their scenarios."""
    size = Counter(families)
    return np.array([1.0 / (len(size) * size[family]) for family in families])
