"""The exact pace curve: in-force accuracy (or any class) as a function of the interval.

A stretch of a cut sweep adds α + β·c to its class for a range of c = tick/Δ. Between the ends of all
such ranges every share has the form c0 + c1/Δ, so a short table of coefficients *is* the curve: a page
evaluates it at any Δ and shows the scorer's own digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Floats,
    Ints,
)
from streamdecisionbench.kernel.classes import (
    CLASSES,
    CORRECT,
    CURRENT_CORRECT,
    JUDGMENT,
)
from streamdecisionbench.kernel.overlaps import stretches_of
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    LATER,
    SEGMENT,
    class_finder,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    by_step,
)

METRICS: dict[str, tuple[int, ...]] = {
    **{name: (column,) for column, name in enumerate(CLASSES)},
    "in_force": CORRECT,
    "oracle": (CURRENT_CORRECT, JUDGMENT),
    "segment_in_force": (SEGMENT,),
}
"""What can be drawn, as sums of columns of `classes.TABLE`."""

PAIR_METRICS = {**METRICS, "slow_share": (LATER,)}
"""What can be drawn of a pair."""


@dataclass(frozen=True, slots=True)
class Curve:
    """share(Δ) = c0[k] + c1[k]/Δ for intervals[k] ≤ Δ ≤ intervals[k+1].

    >>> line = Curve(np.array([0.5, 1.0, 8.0]), np.array([0.2, 0.6]), np.array([0.2, -0.2]))
    >>> round(float(line(0.5)), 12), float(line(2.0))
    (0.6, 0.5)
    """

    intervals: Floats
    c0: Floats
    c1: Floats

    def __call__(self, interval: float | Floats) -> Floats:
        k = np.searchsorted(self.intervals, interval, side="right") - 1
        k = np.clip(k, 0, len(self.c0) - 1)
        value: Floats = self.c0[k] + self.c1[k] / np.asarray(interval, dtype=np.float64)
        return value


def curves(
    sweep: Trajectory, weights: Floats, bounds: Bounds, metrics: Sequence[str]
) -> dict[str, Curve]:
    """Exact curves of a weighted mean of scenarios (`weights` sum to one) over the bounds.

    Coefficients change where an arrival passes the publication of a state.
    """
    refs = by_step(sweep.references)
    cut = stretches_of(sweep, refs)
    column = class_finder(cut.sweep)(cut.piece, cut.segment)
    scenario, step, low, high = cut.scenario, cut.segment, cut.low, cut.high
    alpha, beta = cut.end_at - cut.begin_at, cut.end_delay - cut.begin_delay
    later = np.zeros(len(low)) if sweep.component is None else sweep.component[cut.piece]
    tick, weight = refs.tick[scenario], weights[scenario]
    shares = weight / refs.observed[scenario]
    # In terms of 1/Δ = c/tick the stretches of scenarios with different ticks share one axis.
    used = weight > 0
    cuts, where = np.unique(
        np.concatenate((low[used] / tick[used], high[used] / tick[used])), return_inverse=True
    )
    begins, ends = np.split(where, 2)
    out = {}
    for metric in metrics:
        chosen, per_second = PAIR_METRICS[metric], shares
        if chosen == (SEGMENT,):
            chosen, per_second = CORRECT, weight * refs.weight[step]
        mine = later > 0 if chosen == (LATER,) else np.isin(column, chosen)
        factor = np.where(mine, per_second, 0.0)
        c0, c1 = (
            _running((values * factor)[used], begins, ends, len(cuts))
            for values in (alpha, beta * tick)
        )
        out[metric] = _ascending(cuts, c0, c1, bounds)
    if np.all(refs.decision != NOTHING):
        return out
    # Accuracy is correct time over judged time, and what is judged does not depend on the pace.
    judged = float(weights @ (refs.judged / refs.observed))
    return {
        metric: replace(curve, c0=curve.c0 / judged, c1=curve.c1 / judged)
        if metric in ("in_force", "oracle")
        else curve
        for metric, curve in out.items()
    }


def _running(values: Floats, begins: Ints, ends: Ints, cuts: int) -> Floats:
    """The sum of all stretches that cover each range between cuts."""
    jump = np.bincount(begins, values, cuts) - np.bincount(ends, values, cuts)
    return np.cumsum(jump)[:-1]


def _ascending(cuts: Floats, c0: Floats, c1: Floats, bounds: Bounds) -> Curve:
    """From rates 1/Δ to intervals Δ, without ranges that rounding made empty."""
    wide = np.diff(cuts) > 1e-12 * cuts[1:]
    cuts = np.append(cuts[:-1][wide], cuts[-1])
    intervals = 1.0 / cuts[::-1]
    intervals[0], intervals[-1] = bounds.low, bounds.high
    return Curve(intervals, c0[wide][::-1].copy(), c1[wide][::-1].copy())
