"""How paces weigh: all weight on one scale, or a whole range of intervals integrated; how scenarios do.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from streamdecisionbench.scoring.pace_bounds import Bounds
from streamdecisionbench.scoring.timeline import Floats, Ints, Timeline

T = TypeVar("T")


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
        one, scale = self.lengths(scenario, low, high)
        return Weights(one / self.lowest[scenario], one, scale)

    def lengths(self, scenario: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The last two, which times need."""
        c = self.lowest[scenario]
        one = ((low <= c) & (c < high)).astype(np.float64)
        return one, one * c


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
        self._log_norm = 1.0 / np.log(bounds.high / bounds.low)
        self._linear_norm = tick / (bounds.high - bounds.low)

    def of(self, scenario: Ints, low: Floats, high: Floats) -> Weights:
        """The three for ranges [low, high] of scenarios."""
        one, scale = self.lengths(scenario, low, high)
        if self.bounds.weighting == "log":
            return Weights(scale / (low * high), one, scale)
        return Weights(0.5 * one * (1.0 / low + 1.0 / high), one, scale)

    def lengths(self, scenario: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The last two, which times need."""
        if self.bounds.weighting == "log":
            return np.log(high / low) * self._log_norm, (high - low) * self._log_norm
        norm = self._linear_norm[scenario]
        return (high - low) / (low * high) * norm, np.log(high / low) * norm


Measure = At | Over


def measure_over(bounds: Bounds, tick: Floats, alone: bool) -> Measure:
    """The bounds; of streams that hold for their own pace alone, that one."""
    return At(np.ones(len(tick))) if alone else Over(bounds, tick)


def per_time(amount: Floats, time: Floats) -> Floats:
    """Amounts per second; nothing where no time is judged."""
    return np.divide(amount, time, out=np.zeros(len(time)), where=time > 0)


# How scenarios weigh: a family is the mean of its scenarios, the whole is the mean of families.


def family_weights(families: Sequence[str]) -> Floats:
    """How scenarios weigh in the whole: the mean over families of the mean over their scenarios."""
    size = Counter(families)
    return np.array([1.0 / (len(size) * size[family]) for family in families])


@dataclass(frozen=True, slots=True)
class ByLevel(Generic[T]):
    """The whole, every family, every scenario."""

    overall: T
    by_family: Mapping[str, T]
    by_scenario: Mapping[str, T]

    def at(self, level: str) -> T:
        """By name."""
        if level == "overall":
            return self.overall
        return self.by_family[level] if level in self.by_family else self.by_scenario[level]

    def rows(self) -> list[tuple[str, str, T]]:
        """Which kind of level, its name, and what it has."""
        return [
            ("overall", "overall", self.overall),
            *(("family", name, found) for name, found in self.by_family.items()),
            *(("scenario", name, found) for name, found in self.by_scenario.items()),
        ]


class Members(NamedTuple):
    """The scenarios of a level, and their weights in it, which sum to one."""

    scenarios: Ints
    weights: Floats

    def means(self, values: Mapping[str, Floats]) -> dict[str, float]:
        return {name: float(self.weights @ x[self.scenarios]) for name, x in values.items()}

    def sums(self, values: Mapping[str, Floats]) -> dict[str, float]:
        return {name: float(x[self.scenarios].sum()) for name, x in values.items()}


class Levels:
    """The whole, the families and the scenarios of timelines, in that order."""

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.families = list(dict.fromkeys(p.family for p in parts))
        self.weights = family_weights([p.family for p in parts])
        self.family_of = {p.episode_id: p.family for p in parts}
        self.names = ["overall", *self.families, *(p.episode_id for p in parts)]
        position = {name: index for index, name in enumerate(self.families)}
        self._family = np.array([position[p.family] for p in parts], dtype=np.int64)

    def means(self, values: Floats) -> Floats:
        """Rows for the whole, for every family, and for every scenario as it is: sums, not matrices.

        A scenario without a value (nothing is known of it) is left out of the means it belongs to.
        """
        rows = values.reshape(len(values), -1)
        known = ~np.isnan(rows)
        shape = len(self.families), rows.shape[1]
        place = (self._family[:, None] * shape[1] + np.arange(shape[1])).ravel()
        sums, counts = (
            np.bincount(place, each.ravel(), shape[0] * shape[1]).reshape(shape)
            for each in (np.where(known, rows, 0.0), known)
        )
        with np.errstate(invalid="ignore"):
            means = sums / counts
        heard = counts > 0
        whole = np.where(heard, means, 0.0).sum(axis=0) / np.maximum(heard.sum(axis=0), 1)
        whole[~heard.any(axis=0)] = np.nan
        return np.concatenate((whole[None, :], means, rows)).reshape(-1, *values.shape[1:])

    def each(self, figure: Callable[[Members], T]) -> ByLevel[T]:
        """What `figure` says of the scenarios of every level."""
        every = np.arange(len(self._family))
        groups = [every[self._family == k] for k, _ in enumerate(self.families)]
        groups += [every[k : k + 1] for k in every]
        members = [Members(mine, np.full(len(mine), 1.0 / len(mine))) for mine in groups]
        members = [Members(every, self.weights), *members]
        return ByLevel(*self.split([figure(one) for one in members]))

    def split(self, rows: Sequence[T]) -> tuple[T, dict[str, T], dict[str, T]]:
        """What there is for every level, as `ByLevel` holds it."""
        k = len(self.families) + 1
        named = [dict(zip(self.names[a:b], rows[a:b], strict=True)) for a, b in ((1, k), (k, None))]
        return rows[0], named[0], named[1]
