"""The exact pace curve: in-force accuracy (or any class) as a function of the interval.

Between breakpoints every share has the form c0 + c1/Δ, so a short table of coefficients *is* the
curve: a page evaluates it at any Δ and shows the scorer's own digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import CLASSES
from streamdecisionbench.scoring.integrals import Pieces, pieces
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = ["METRICS", "Curve", "curves", "curves_of"]

METRICS: dict[str, tuple[int, ...]] = {
    **{name: (column,) for column, name in enumerate(CLASSES)},
    "in_force": (CLASSES.index("current_correct"), CLASSES.index("outdated_correct")),
    "oracle": (CLASSES.index("current_correct"), CLASSES.index("judgment")),
    "segment_in_force": (len(CLASSES),),
}
"""What can be drawn, as sums of the scorer's columns."""


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
    flat: Flat,
    weights: Floats,
    bounds: Bounds | None = None,
    metrics: tuple[str, ...] = ("in_force",),
) -> dict[str, Curve]:
    """Exact curves of a weighted mean of scenarios (`weights` sum to one) over the bounds."""
    bounds = bounds or Bounds()
    chosen = {metric: METRICS[metric] for metric in metrics}
    found = curves_of(pieces(flat, bounds), flat.tick, weights, bounds, chosen)
    if flat.all_known:
        return found
    # Accuracy is correct time over judged time, and what is judged does not depend on the pace.
    judged = np.where(flat.y >= 0, (flat.step_end - flat.r) * flat.time_weight, 0.0)
    share = float(weights @ flat.sum_by_scenario(judged, flat.scenario))
    return {
        metric: replace(curve, c0=curve.c0 / share, c1=curve.c1 / share)
        if metric in ("in_force", "oracle")
        else curve
        for metric, curve in found.items()
    }


def curves_of(
    parts: Pieces,
    ticks: Floats,
    weights: Floats,
    bounds: Bounds,
    metrics: Mapping[str, tuple[int, ...]],
) -> dict[str, Curve]:
    """The curves that linear pieces add up to; `metrics` names sums of their columns."""
    used = (weights[parts.scenario] > 0) & (parts.low < parts.high)
    scenario = parts.scenario[used]
    weight, tick = weights[scenario], ticks[scenario]
    # In terms of 1/Δ = c/tick the pieces of scenarios with different ticks share one axis.
    low, high = parts.low[used] / tick, parts.high[used] / tick
    cuts, where = np.unique(np.concatenate((low, high)), return_inverse=True)
    begins, ends = where[: len(low)], where[len(low) :]
    out = {}
    for metric, chosen in metrics.items():
        columns = list(chosen)
        alpha = parts.alpha[used][:, columns].sum(axis=1) * weight
        beta = parts.beta[used][:, columns].sum(axis=1) * weight * tick
        c0, c1 = (_running(values, begins, ends, len(cuts)) for values in (alpha, beta))
        out[metric] = _ascending(cuts, c0, c1, bounds)
    return out


def _running(values: Floats, begins: Ints, ends: Ints, cuts: int) -> Floats:
    """The sum of all pieces that cover each stretch between cuts."""
    jump = np.zeros(cuts)
    np.add.at(jump, begins, values)
    np.subtract.at(jump, ends, values)
    return np.cumsum(jump)[:-1]


def _ascending(cuts: Floats, c0: Floats, c1: Floats, bounds: Bounds) -> Curve:
    """From rates 1/Δ to intervals Δ, without pieces that rounding made empty."""
    wide = np.diff(cuts) > 1e-12 * cuts[1:]
    cuts = np.append(cuts[:-1][wide], cuts[-1])
    intervals = 1.0 / cuts[::-1]
    intervals[0], intervals[-1] = bounds.low, bounds.high
    return Curve(intervals, c0[wide][::-1].copy(), c1[wide][::-1].copy())
