"""Wrong spells over a range of intervals: exact means of their age, their excess, their number.

A spell lies between two neighbouring stretches that are not wrong. Over a range of c its length on
the recording clock is ℓ(c) = a + b·c, in seconds at the interval ℓ(c)/c, and T likewise T/c. So

    mean age       ℓ²/(2·T·c) = (a²/c + 2ab + b²·c) / 2T
    beyond share   (ℓ − θ·c)/T   where that is positive: cut at c = a/(θ − b)
    count          1
    longest        the upper envelope of all ℓ(c)/c
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.calm import Calm
from streamdecisionbench.scoring.costs.envelope import upper_envelope
from streamdecisionbench.scoring.costs.neighbours import EDGE
from streamdecisionbench.scoring.costs.powers import mean_by_scenario, powers
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import References

__all__ = ["MovingSpells", "moving_spells"]


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

    def longest(self, bounds: Bounds) -> Floats:
        """The longest spell in seconds at the interval, on average over the bounds."""
        top = upper_envelope(
            self.scenario, self.at, self.delay, self.low, self.high, self.references.count
        )
        on = powers(top.low, top.high, bounds)
        amount = self.at[top.line] * on.inverse + self.delay[top.line] * on.one
        return mean_by_scenario(amount, self.scenario[top.line], self.references.tick, bounds)

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
