"""How paces weigh: all weight on one scale, or a whole range of intervals integrated; how scenarios do.

Whatever a sweep is charged with is, between crossings, a sum of powers of c = tick/Δ: a share of
observed time is a₀ + a₁·c, an age in seconds a₋₁/c + a₀ + a₁·c. So a measure has to say one thing of
a range of scales, ∫(1/c, 1, c), and every figure is written once for one pace and for all of them.

`OverPaces` bounds a < b of Δ: dΔ/Δ = dc/c with the log weighting, dΔ = tick·dc/c² with the linear one,
divided by ln(b/a) and b − a:

    ∫ c⁻¹ dc/c = 1/c₀ − 1/c₁    ∫ dc/c  = ln(c₁/c₀)      ∫ c dc/c  = c₁ − c₀
    ∫ c⁻¹ dc/c² = (1/c₀² − 1/c₁²)/2   ∫ dc/c² = 1/c₀ − 1/c₁   ∫ c dc/c² = ln(c₁/c₀)

`AtPace` puts all weight on one c: the three are 1/c, 1 and c where the range holds c, and else nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    Timeline,
    fixed_pace,
)

DEFAULT_BOUNDS = (0.5, 8.0)
"""Seconds per tick, from two updates a second to one in eight seconds, as published."""

WEIGHTINGS = ("log", "linear")
_SHORTEST_S, _LONGEST_S = 1e-6, 1e6
"""Beyond these no pace of events lies, and sums of times in double precision lose the shares."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The intervals a score covers, in seconds per tick, and how it weighs them.

    >>> Bounds(0.5, 8).text()
    'log 0.5–8 s'
    """

    low: float = DEFAULT_BOUNDS[0]
    high: float = DEFAULT_BOUNDS[1]
    weighting: str = "log"
    fixed_pace: bool = False
    """Whether one pace takes their place, because the timelines hold for no other (`bounds_for`)."""

    def __post_init__(self) -> None:
        if not (0 < self.low < self.high < float("inf")):
            raise InputError(
                f"bounds {self.low:g} {self.high:g} are not an interval range",
                fix="give two increasing positive numbers of seconds, for example --bounds 0.5 8",
            )
        for bound in (self.low, self.high):
            check_interval(bound)
        if self.weighting not in WEIGHTINGS:
            raise InputError(
                f"weighting {self.weighting!r} is not known", fix=f"use {' or '.join(WEIGHTINGS)}"
            )

    def text(self) -> str:
        paces = f"{self.weighting} {self.low:g}–{self.high:g} s"
        return "its own pace alone" if self.fixed_pace else paces


def bounds_for(
    parts: Iterable[Timeline], limits: tuple[float, float] = DEFAULT_BOUNDS, weighting: str = "log"
) -> Bounds:
    """The bounds for timelines, which know whether they hold for one pace only."""
    return Bounds(*limits, weighting, fixed_pace=fixed_pace(parts))


def check_interval(interval: float) -> None:
    """Refuses what is no number of seconds, or none that events could come at."""
    if not (interval > 0 and math.isfinite(interval)):
        raise InputError(
            f"interval {interval:g} is not a number of seconds above 0", fix="for example 2"
        )
    if not _SHORTEST_S <= interval <= _LONGEST_S:
        raise InputError(
            f"interval {interval:g} is not between {_SHORTEST_S:g} and {_LONGEST_S:g} seconds",
            fix="give the seconds between two states, for example 2",
        )


class ScaleIntegrals(NamedTuple):
    """∫ of 1/c, 1 and c over each range, normalised: over everything, `one` is 1."""

    inverse: Floats
    one: Floats
    scale: Floats


class AtPace:
    """All weight on one scale per scenario.

    >>> found = AtPace(np.array([1.5])).of(np.array([0, 0]), np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    >>> found.one.tolist(), found.scale.tolist()
    ([1.0, 0.0], [1.5, 0.0])
    """

    ties = 1e-9
    """At one scale equal times are common, and rounding must not tell them apart."""

    def __init__(self, scale: Floats) -> None:
        self.lowest, self.highest = scale, np.nextafter(scale, np.inf)

    def of(self, scenario: Ints, low: Floats, high: Floats) -> ScaleIntegrals:
        """The three for ranges [low, high) of scenarios."""
        one, scale = self.lengths(scenario, low, high)
        return ScaleIntegrals(one / self.lowest[scenario], one, scale)

    def lengths(self, scenario: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The last two, which times need."""
        c = self.lowest[scenario]
        one = ((low <= c) & (c < high)).astype(np.float64)
        return one, one * c


class OverPaces:
    """A range of intervals, for every scenario on its own clock.

    >>> found = OverPaces(Bounds(1.0, 2.0), np.array([2.0])).of(np.array([0]), np.array([1.0]), np.array([2.0]))
    >>> [round(float(x[0]), 3) for x in found]
    [0.721, 1.0, 1.443]
    """

    ties = 0.0
    """Over a range they have no weight."""

    def __init__(self, bounds: Bounds, tick: Floats) -> None:
        self.bounds = bounds
        self.lowest, self.highest = tick / bounds.high, tick / bounds.low
        self._log_norm = 1.0 / np.log(bounds.high / bounds.low)
        self._linear_norm = tick / (bounds.high - bounds.low)

    def of(self, scenario: Ints, low: Floats, high: Floats) -> ScaleIntegrals:
        """The three for ranges [low, high] of scenarios."""
        one, scale = self.lengths(scenario, low, high)
        if self.bounds.weighting == "log":
            return ScaleIntegrals(scale / (low * high), one, scale)
        return ScaleIntegrals(0.5 * one * (1.0 / low + 1.0 / high), one, scale)

    def lengths(self, scenario: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The last two, which times need."""
        if self.bounds.weighting == "log":
            return np.log(high / low) * self._log_norm, (high - low) * self._log_norm
        norm = self._linear_norm[scenario]
        return (high - low) / (low * high) * norm, np.log(high / low) * norm


PaceWeights = AtPace | OverPaces


def per_time(amount: Floats, time: Floats) -> Floats:
    """Amounts per second; nothing where no time is judged."""
    return np.divide(amount, time, out=np.zeros(len(time)), where=time > 0)
