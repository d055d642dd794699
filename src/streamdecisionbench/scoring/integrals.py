"""Shares over a range of intervals: closed forms, no quadrature, no tolerance.

With c = tick/Δ growing from a to b, the arrival u_j(c) = r_j + c·L_j of an answer moves later at
speed L_j, and every second it moves goes from the answer's own class to that of the decision in
force before it. So the time T(c) of a class is continuous, and between the scales at which an
arrival passes a release or another answer its slope is a constant s. Then

    ∫ T dΔ/Δ = ∫ T dc/c        = T(a)·ln(b/a)       + Σ s·[c·(ln(b/c) + 1)]
    ∫ T dΔ   = tick · ∫ T dc/c² = tick·(T(a)·(1/a − 1/b) + Σ s·[ln c − c/b])

with brackets taken over the piece, divided by ln(Δ_max/Δ_min) or Δ_max − Δ_min. The same pieces,
not yet integrated, are the coefficients from which a page draws the exact curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import (
    CLASSES,
    N_METRICS,
    TABLE,
    Classes,
    is_right,
    table_at,
)
from streamdecisionbench.scoring.sweep import accepted_at, find_runs
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

_AT_ONCE = 1 << 13
"""Pieces computed together: enough to be fast, few enough to stay near the processor."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Every linear piece of every metric: on [low, high] it adds `alpha` + `beta`·c.

    `alpha` and `beta` have one column per metric, as in `TABLE`; pairs have columns of their own.
    """

    scenario: Ints
    low: Floats
    high: Floats
    alpha: Floats
    beta: Floats


def integrated_shares(flat: Flat, bounds: Bounds) -> Floats:
    """The six classes and segment-balanced accuracy per scenario, integrated and normalised."""
    return table_over(flat, bounds)[:, :N_METRICS]


def table_over(flat: Flat, bounds: Bounds, *, segments: bool = True) -> Floats:
    """Integrated and normalised shares per scenario, columns as in `TABLE`."""
    c_low, c_high = flat.tick / bounds.high, flat.tick / bounds.low
    width = len(TABLE)
    sums = np.zeros(flat.count * width)
    balanced = np.zeros(flat.count)
    for moves in _moves(flat, c_low, c_high):
        top = c_high[moves.scenario]
        amount = moves.speed * _areas(moves, top, bounds)
        key = moves.scenario * width
        sums += np.bincount(key + moves.gains, weights=amount, minlength=len(sums))
        sums -= np.bincount(key + moves.loses, weights=amount, minlength=len(sums))
        if segments:
            change = is_right(moves.gains) * 1.0 - is_right(moves.loses)
            balanced += flat.sum_by_scenario(
                amount * change * flat.segment_weight[moves.step], moves.scenario
            )
    norm = _norm(flat, bounds)
    out: Floats = sums.reshape(flat.count, width) * (norm / (flat.H - flat.r0))[:, None]
    out[:, TABLE.index("segment_in_force")] = balanced * norm
    out += _table_at_scale(flat, c_low, segments=segments)
    return out


def pieces(flat: Flat, bounds: Bounds) -> Pieces:
    """All linear pieces over the bounds: the shares at the longest interval, then every change."""
    c_low, c_high = flat.tick / bounds.high, flat.tick / bounds.low
    start = _table_at_scale(flat, c_low)
    scenario, low, high = [np.arange(flat.count)], [c_low], [c_high]
    alpha, beta = [start], [np.zeros_like(start)]
    for moves in _moves(flat, c_low, c_high):
        row = np.arange(len(moves.step))
        slope = np.zeros((len(row), len(TABLE)))
        shares = moves.speed * flat.time_weight[moves.step]
        slope[row, moves.gains] += shares
        slope[row, moves.loses] -= shares
        change = is_right(moves.gains) * 1.0 - is_right(moves.loses)
        slope[:, TABLE.index("segment_in_force")] = (
            change * moves.speed * flat.segment_weight[moves.step]
        )
        # While it moves, and for good once it has moved.
        scenario += [moves.scenario, moves.scenario]
        low += [moves.low, moves.high]
        high += [moves.high, c_high[moves.scenario]]
        alpha += [-slope * moves.low[:, None], slope * (moves.high - moves.low)[:, None]]
        beta += [slope, np.zeros_like(slope)]
    return Pieces(
        np.concatenate(scenario),
        np.concatenate(low),
        np.concatenate(high),
        np.concatenate(alpha),
        np.concatenate(beta),
    )


def integrate(flat: Flat, parts: Pieces, bounds: Bounds) -> Floats:
    """The normalised integral of each column of the pieces over the bounds, per scenario."""
    ratio = np.log(parts.high / parts.low)
    if bounds.weighting == "log":
        on_alpha, on_beta = ratio, parts.high - parts.low
    else:
        on_alpha, on_beta = (parts.high - parts.low) / (parts.low * parts.high), ratio
    values = parts.alpha * on_alpha[:, None] + parts.beta * on_beta[:, None]
    out = np.empty((flat.count, values.shape[1]))
    for column in range(values.shape[1]):
        out[:, column] = flat.sum_by_scenario(values[:, column], parts.scenario)
    return out * _norm(flat, bounds)[:, None]


def _norm(flat: Flat, bounds: Bounds) -> Floats:
    if bounds.weighting == "log":
        return np.full(flat.count, 1.0 / np.log(bounds.high / bounds.low))
    norm: Floats = flat.tick / (bounds.high - bounds.low)
    return norm


def _table_at_scale(flat: Flat, c: Floats, *, segments: bool = True) -> Floats:
    u = flat.r + c[flat.scenario] * flat.L
    source = np.flatnonzero(accepted_at(flat, u))
    return table_at(flat, source, u[source], segments=segments)


def _areas(moves: _Moves, top: Floats, bounds: Bounds) -> Floats:
    """The bracket of the closed form over each piece."""
    at_low = _primitive(moves.low, top, bounds)
    at_high = np.append(at_low[1:], 0.0)
    at_high[moves.ends] = _primitive(moves.high[moves.ends], top[moves.ends], bounds)
    area: Floats = at_high - at_low
    return area


def _primitive(c: Floats, top: Floats, bounds: Bounds) -> Floats:
    if bounds.weighting == "log":
        value: Floats = c * (np.log(top / c) + 1.0)
        return value
    return np.log(c) - c / top


@dataclass(frozen=True, slots=True)
class _Moves:
    """For c in [low, high], an arrival crosses step's evidence at `speed` seconds per unit of c.

    The time it passes goes from the class column `loses` to the column `gains`.
    """

    scenario: Ints
    step: Ints
    low: Floats
    high: Floats
    speed: Floats
    gains: Ints
    loses: Ints
    ends: Ints
    """Pieces whose `high` is not the next piece's `low`."""


def _moves(flat: Flat, c_low: Floats, c_high: Floats) -> Iterator[_Moves]:
    """Everything that changes as c grows, in portions of bounded size."""
    columns = Classes(flat)
    runs = find_runs(flat, c_low, c_high)
    moving = np.flatnonzero(runs.until >= 0)
    scenario, node, holder = runs.scenario[moving], runs.until[moving], runs.source[moving]
    low, high = runs.low[moving], runs.high[moving]
    r, L = flat.r[node], flat.L[node]
    first = flat.locate(r + low * L, scenario)
    last = np.maximum(first, flat.locate(r + high * L, scenario))
    count = last - first + 1
    ends = np.cumsum(count)
    begin = 0
    while begin < len(count):
        passed = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, passed + _AT_ONCE, side="right")), begin + 1)
        part = slice(begin, end)
        begin = end
        size = count[part]
        run = np.repeat(np.arange(part.start, part.stop), size)
        stop = np.cumsum(size)
        step = np.arange(len(run)) - np.repeat(stop - size - first[part], size)
        L_run, r_run = L[run], r[run]
        low_run, high_run = low[run], high[run]
        with np.errstate(divide="ignore", invalid="ignore"):
            enters = (flat.r[step] - r_run) / L_run
        # A part begins where the one before it ended; the run's own ends stand at its ends.
        enters[stop - size] = low[part]
        enters = np.clip(enters, low_run, high_run)
        leaves = np.append(enters[1:], 0.0)
        leaves[stop - 1] = high[part]
        yield _Moves(
            scenario[run],
            step,
            enters,
            leaves,
            L_run,
            columns(holder[run], step),
            columns(node[run], step),
            stop - 1,
        )


# The exact pace curve: in-force accuracy (or any class) as a function of the interval.
#
# Between breakpoints every share has the form c0 + c1/Δ, so a short table of coefficients *is* the
# curve: a page evaluates it at any Δ and shows the scorer's own digits.


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
