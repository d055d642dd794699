"""Integrals over a range of intervals of what is a polynomial in the scale.

Whatever a trajectory is charged with is, between crossings, a sum of powers of c = tick/Δ: a share
is a₀ + a₁·c, an age in seconds a₋₁/c + a₀ + a₁·c. Over bounds a < b with the log weighting
dΔ/Δ = dc/c, with the linear one dΔ = tick·dc/c², divided by ln(b/a) and b − a:

    ∫ c⁻¹ dc/c = 1/c₀ − 1/c₁    ∫ dc/c  = ln(c₁/c₀)      ∫ c dc/c  = c₁ − c₀
    ∫ c⁻¹ dc/c² = (1/c₀² − 1/c₁²)/2   ∫ dc/c² = 1/c₀ − 1/c₁   ∫ c dc/c² = ln(c₁/c₀)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Powers", "mean_by_scenario", "powers"]


@dataclass(frozen=True, slots=True)
class Powers:
    """∫ of 1/c, 1 and c over each range, in the weighting's measure, up to its norm."""

    inverse: Floats
    one: Floats
    scale: Floats


def powers(low: Floats, high: Floats, bounds: Bounds) -> Powers:
    """The three integrals for ranges [low, high] of c.

    >>> found = powers(np.array([1.0]), np.array([2.0]), Bounds(1.0, 2.0))
    >>> [round(float(x[0]), 3) for x in (found.inverse, found.one, found.scale)]
    [0.5, 0.693, 1.0]
    """
    ratio = np.log(high / low)
    reciprocal = (high - low) / (low * high)
    if bounds.weighting == "log":
        return Powers(reciprocal, ratio, high - low)
    return Powers(0.5 * reciprocal * (1.0 / low + 1.0 / high), reciprocal, ratio)


def mean_by_scenario(values: Floats, scenario: Ints, tick: Floats, bounds: Bounds) -> Floats:
    """Sums of integrals per scenario, divided by what the weighting integrates to."""
    sums = np.bincount(scenario, weights=values, minlength=len(tick))
    if bounds.weighting == "log":
        return np.asarray(sums / np.log(bounds.high / bounds.low), dtype=np.float64)
    return np.asarray(sums * tick / (bounds.high - bounds.low), dtype=np.float64)
