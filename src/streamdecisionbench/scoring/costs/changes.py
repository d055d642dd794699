"""Delays after reference changes: how long until the application was right again.

When the reference changes, the clock starts; it stops at the first moment the decision in force is
right. If the next change (or the end) comes first, the delay is *censored*: longer than the time
there was. Leaving those out would flatter a slow component, counting them as they stand would
flatter it too, so quantiles are those of Kaplan and Meier (1958): with d_i delays of exactly t_i and
n_i changes still waiting just before t_i,

    S(t) = Π over t_i ≤ t of (1 − d_i/n_i),    the p-quantile is the first t with S(t) ≤ 1 − p.

Where S stays at exactly 1 − p for a while, the quantile is the middle of that while, so that without
censoring the median is the ordinary one. The first segment of a scenario is not a change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.calm import Calm
from streamdecisionbench.scoring.costs.neighbours import EDGE
from streamdecisionbench.scoring.costs.powers import mean_by_scenario, powers
from streamdecisionbench.scoring.costs.stretches import Stretches, stretches
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, References, Trajectory

__all__ = ["Delays", "MeanDelays", "Survival", "delays", "delays_of", "mean_delays", "survival"]


@dataclass(frozen=True, slots=True)
class Delays:
    """Every reference change, in seconds at the interval."""

    scenario: Ints
    at: Floats
    """When the reference changed."""
    delay: Floats
    """Until the decision in force was right; infinite where it never was."""
    limit: Floats
    """Until the next change or the end."""

    @property
    def never(self) -> NDArray[np.bool_]:
        return np.isinf(self.delay)

    def of(self, scenarios: Ints) -> Delays:
        """Those of some scenarios only."""
        keep = np.isin(self.scenario, scenarios)
        return Delays(self.scenario[keep], self.at[keep], self.delay[keep], self.limit[keep])

    def survival(self) -> Survival:
        return survival(np.minimum(self.delay, self.limit), ~self.never)


@dataclass(frozen=True, slots=True)
class Survival:
    """Kaplan–Meier: `share` of the changes is still unanswered from `time` on."""

    time: Floats
    share: Floats

    def quantile(self, p: float) -> float | None:
        """The delay within which a share p of the changes is answered; None if that is never seen.

        >>> found = survival(np.array([1.0, 2.0, 3.0, 3.0]), np.array([True, True, True, False]))
        >>> found.quantile(0.5), found.quantile(0.95)
        (2.5, None)
        """
        close = np.isclose(self.share, 1 - p, rtol=0.0, atol=1e-12)
        reached = np.flatnonzero((self.share < 1 - p) | close)
        if not len(reached):
            return None
        k = int(reached[0])
        if close[k] and k + 1 < len(self.time):
            return float(self.time[k] + self.time[k + 1]) / 2
        return float(self.time[k])


@dataclass(frozen=True, slots=True)
class MeanDelays:
    """Per scenario, on average over the bounds."""

    changes: Ints
    never_right: Floats
    """How many changes are never answered in time."""
    waited: Floats
    """Mean wait after a change in seconds at the interval, at most until the next change."""


def survival(time: Floats, seen: NDArray[np.bool_], count: Ints | None = None) -> Survival:
    """The Kaplan–Meier estimate from delays and whether each was seen to end.

    `count` says how many changes each of them stands for, where that is not one.
    """
    number = np.ones(len(time), dtype=np.int64) if count is None else count
    order = np.argsort(time, kind="stable")
    time, seen, number = time[order], seen[order], number[order]
    moments, which = np.unique(time[seen], return_inverse=True)
    ends = np.bincount(which, weights=number[seen], minlength=len(moments))
    before = np.append(0, np.cumsum(number))
    waiting = before[-1] - before[np.searchsorted(time, moments, side="left")]
    share: Floats = np.cumprod(1.0 - ends / waiting).astype(np.float64)
    return Survival(moments, share)


def delays(path: Trajectory) -> Delays:
    """The delay after every reference change of a trajectory.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import Flat, timelines
    >>> from streamdecisionbench.scoring.trajectory import trajectory_at
    >>> found = delays(trajectory_at(Flat(timelines(example_recording(), example_suite())), 2.0))
    >>> found.at.tolist(), found.delay.round(3).tolist()
    ([4.0, 6.0], [0.8, inf])
    """
    return delays_of(path, stretches(path))


def delays_of(path: Trajectory, cut: Stretches) -> Delays:
    """The same, where the stretches are at hand."""
    refs = path.references
    first = np.full(len(refs.begin), np.inf)
    right = np.flatnonzero(cut.right)[::-1]
    # Written backwards, so that the earliest right moment of each segment stays.
    first[cut.segment[right]] = cut.begin[right]
    change = _changes(refs)
    scenario = refs.scenario[change]
    c = path.scale[scenario]
    begin = refs.begin[change]
    return Delays(scenario, begin / c, (first[change] - begin) / c, (refs.end[change] - begin) / c)


def mean_delays(calm: Calm, bounds: Bounds) -> MeanDelays:
    """What follows reference changes, over a range of intervals.

    A segment's first right stretch is the one whose neighbour before it lies in another segment.
    Over a range of c the wait until it is a + b·c on the recording clock; where a segment has none,
    the wait is the whole segment.
    """
    refs, cut, pairs = calm.references, calm.stretches, calm.pairs
    change = _changes(refs)
    is_change = np.zeros(len(refs.begin), dtype=bool)
    is_change[change] = True
    inner = np.flatnonzero(pairs.after != EDGE)
    after, before = pairs.after[inner], pairs.before[inner]
    segment = cut.segment[after]
    fresh = (before == EDGE) | (cut.segment[before] != segment)
    fresh &= is_change[segment] & cut.right[after]
    inner, after, segment = inner[fresh], after[fresh], segment[fresh]
    on = powers(pairs.low[inner], pairs.high[inner], bounds)
    scenario = pairs.group[inner]
    # Answered waits are shorter than the whole segment by what is left of it.
    left = (refs.end[segment] - cut.begin_at[after]) * on.inverse
    left -= cut.begin_delay[after] * on.one
    whole = powers(calm.lowest, calm.highest, bounds)
    owner = refs.scenario[change]
    length = (refs.end - refs.begin)[change] * whole.inverse[owner]

    def mean(values: Floats, where: Ints) -> Floats:
        return mean_by_scenario(values, where, refs.tick, bounds)

    count = np.bincount(owner, minlength=refs.count)
    waited = mean(length, owner) - mean(left, scenario)
    return MeanDelays(
        count,
        np.maximum(count - mean(on.one, scenario), 0.0),
        np.divide(waited, count, out=np.zeros_like(waited), where=count > 0),
    )


def _changes(refs: References) -> Ints:
    """Segments that begin with a change: not a scenario's first, and known on both sides."""
    known = refs.decision != NOTHING
    follows = np.append(False, refs.scenario[1:] == refs.scenario[:-1])
    return np.flatnonzero(follows & known & np.append(False, known[:-1]))
