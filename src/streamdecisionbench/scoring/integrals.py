"""Shares over a range of intervals: closed forms, no quadrature, no tolerance.

Within a run, F_d(u(c)) is piecewise linear in c with knots where u(c) passes a release: on a piece
it is α + β·c. So with c = tick/Δ

    ∫ A dΔ/Δ = ∫ (α + β·c) dc/c  = α·ln(c₁/c₀) + β·(c₁ − c₀)
    ∫ A dΔ   = tick · ∫ (α + β·c) dc/c² = tick · (α·(1/c₀ − 1/c₁) + β·ln(c₁/c₀))

divided by ln(b/a) or (b − a) for bounds a < b. The same pieces, not yet integrated, are the
coefficients from which a page draws the exact curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import N_METRICS, Cumulative, classify
from streamdecisionbench.scoring.in_force_replay import Runs, find_runs
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = [
    "Pieces",
    "integrate",
    "integrated_shares",
    "pieces",
]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Every linear piece of every metric: on [low, high] it adds `alpha` + `beta`·c.

    `alpha` and `beta` have one column per metric: the six classes, then segment-balanced accuracy.
    """

    scenario: Ints
    low: Floats
    high: Floats
    alpha: Floats
    beta: Floats


def integrated_shares(flat: Flat, bounds: Bounds) -> Floats:
    """The six classes and segment-balanced accuracy per scenario, integrated and normalised.

    The same value as `integrate(flat, pieces(flat, bounds), bounds)`, without the six columns: every
    class follows from a source's current, correct and total time and whether its answer was right.
    """
    runs = find_runs(flat, flat.tick / bounds.high, flat.tick / bounds.low)
    total = _totals(flat, runs, bounds)
    runs = _take(runs, runs.source >= 0)
    # A run adds F at the arrival of its successor and takes away F at its own arrival.
    twice = runs.twice()
    node = np.concatenate((runs.until, runs.source))
    split = _split(flat, twice, node)
    on_alpha, on_beta = _weights(split.low, split.high, bounds)
    leaving = split.run < len(runs.source)
    on_alpha, on_beta = np.where(leaving, (on_alpha, on_beta), (-on_alpha, -on_beta))
    on_beta = split.since * on_alpha + split.L * on_beta

    source = twice.source[split.run]
    scenario = twice.scenario[split.run]
    right = flat.right[source]
    time, segment = Cumulative(flat, flat.time_weight), Cumulative(flat, flat.segment_weight)
    p = flat.p[source]
    position = time.position(p, split.step)
    here = np.where(flat.y[split.step] == p, on_beta, 0.0)
    correct = time.before(p, split.step, position) * on_alpha + here * time.weight[split.step]
    balanced = segment.before(p, split.step, position) * on_alpha
    balanced += here * segment.weight[split.step]

    # Where the answer was right, current and correct are the same time; only wrong ones differ.
    wrong = np.flatnonzero(~right)
    y, step = flat.y[source[wrong]], split.step[wrong]
    here = np.where(flat.y[step] == y, on_beta[wrong], 0.0)
    current = time.before(y, step) * on_alpha[wrong] + here * time.weight[step]

    norm = _norm(flat, bounds)
    out = np.empty((flat.count, N_METRICS))
    hits = np.bincount(2 * scenario + right, weights=correct, minlength=2 * flat.count)
    hits = hits.reshape(flat.count, 2)
    out[:, 0] = hits[:, 1]
    out[:, 1] = flat.sum_by_scenario(current, scenario[wrong])
    out[:, 2] = total[:, 0] - hits[:, 1]
    out[:, 4] = hits[:, 0]
    out[:, 3] = total[:, 1] - out[:, 1] - out[:, 4]
    out[:, 5] = total[:, 2]
    out[:, 6] = flat.sum_by_scenario(balanced, scenario)
    return out * norm[:, None]


def integrate(flat: Flat, parts: Pieces, bounds: Bounds) -> Floats:
    """The normalised integral of each metric over the bounds, per scenario."""
    on_alpha, on_beta = _weights(parts.low, parts.high, bounds)
    values = parts.alpha * on_alpha[:, None] + parts.beta * on_beta[:, None]
    out = np.empty((flat.count, N_METRICS))
    for column in range(N_METRICS):
        out[:, column] = flat.sum_by_scenario(values[:, column], parts.scenario)
    return out * _norm(flat, bounds)[:, None]


def _weights(low: Floats, high: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """What ∫ α + β·c over [low, high] multiplies α and β with."""
    ratio = np.log(high / low)
    if bounds.weighting == "log":
        return ratio, high - low
    return (high - low) / (low * high), ratio


def _norm(flat: Flat, bounds: Bounds) -> Floats:
    if bounds.weighting == "log":
        return np.full(flat.count, 1.0 / np.log(bounds.high / bounds.low))
    norm: Floats = flat.tick / (bounds.high - bounds.low)
    return norm


def pieces(flat: Flat, bounds: Bounds) -> Pieces:
    """All linear pieces over the bounds, from the runs and the releases they pass."""
    runs = find_runs(flat, flat.tick / bounds.high, flat.tick / bounds.low)
    held = runs.source >= 0
    waiting = _no_decision(flat, _take(runs, ~held))
    runs = _take(runs, held)
    # A run adds F at the arrival of its successor and takes away F at its own arrival.
    leaving = _passes(flat, runs, runs.until, +1.0)
    entering = _passes(flat, runs, runs.source, -1.0)
    return Pieces(
        *(
            np.concatenate([getattr(part, name) for part in (leaving, entering, waiting)])
            for name in ("scenario", "low", "high", "alpha", "beta")
        )
    )


def _take(runs: Runs, keep: NDArray[np.bool_]) -> Runs:
    return Runs(
        runs.scenario[keep], runs.source[keep], runs.until[keep], runs.low[keep], runs.high[keep]
    )


def _moving(flat: Flat, scenario: Ints, node: Ints) -> tuple[Floats, Floats]:
    """r and L of a node; the horizon (−1) stands still at H."""
    at_horizon = node < 0
    r = np.where(at_horizon, flat.H[scenario], flat.r[node])
    L = np.where(at_horizon, 0.0, flat.L[node])
    return r, L


def _no_decision(flat: Flat, runs: Runs) -> Pieces:
    """Before the first acceptance: (u_until − r_0) as a share."""
    r, L = _moving(flat, runs.scenario, runs.until)
    weight = 1.0 / (flat.H - flat.r0)[runs.scenario]
    alpha = np.zeros((len(r), N_METRICS))
    beta = np.zeros((len(r), N_METRICS))
    alpha[:, 5] = (r - flat.r0[runs.scenario]) * weight
    beta[:, 5] = L * weight
    return Pieces(runs.scenario, runs.low, runs.high, alpha, beta)


@dataclass(frozen=True, slots=True)
class _Split:
    """Runs cut where a moving node passes a release: on each part one step's evidence holds."""

    run: Ints
    step: Ints
    low: Floats
    high: Floats
    r: Floats
    L: Floats
    since: Floats
    """r of the node minus the release of the step: u(c) − release = since + c·L."""


def _split(flat: Flat, runs: Runs, node: Ints) -> _Split:
    r, L = _moving(flat, runs.scenario, node)
    first = flat.locate(r + runs.low * L, runs.scenario)
    last = np.maximum(first, flat.locate(r + runs.high * L, runs.scenario))
    count = last - first + 1
    run = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    step = first[run] + nth
    r, L = r[run], L[run]
    low, high = runs.low[run], runs.high[run]
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(nth > 0, (flat.r[step] - r) / L, low)
        leaves = np.where(nth < count[run] - 1, (flat.step_end[step] - r) / L, high)
    since = r - flat.r[step]
    return _Split(run, step, np.clip(enters, low, high), np.clip(leaves, low, high), r, L, since)


def _totals(flat: Flat, runs: Runs, bounds: Bounds) -> Floats:
    """Time in force by right answers, by wrong ones, and without any decision, per scenario."""
    r_out, L_out = _moving(flat, runs.scenario, runs.until)
    held = runs.source >= 0
    r_in = np.where(held, flat.r[runs.source], flat.r0[runs.scenario])
    L_in = np.where(held, flat.L[runs.source], 0.0)
    on_alpha, on_beta = _weights(runs.low, runs.high, bounds)
    amount = ((r_out - r_in) * on_alpha + (L_out - L_in) * on_beta) / (flat.H - flat.r0)[
        runs.scenario
    ]
    kind = np.where(held, np.where(flat.right[runs.source], 0, 1), 2)
    sums = np.bincount(3 * runs.scenario + kind, weights=amount, minlength=3 * flat.count)
    return np.asarray(sums, dtype=np.float64).reshape(flat.count, 3)


def _passes(flat: Flat, runs: Runs, node: Ints, sign: float) -> Pieces:
    """sign · F_i(u_node(c)) over each run, split where u_node(c) passes a release."""
    split = _split(flat, runs, node)
    step, r, L, since = split.step, split.r, split.L, split.since
    scenario, source = runs.scenario[split.run], runs.source[split.run]
    y, p, right = flat.y[source], flat.p[source], flat.right[source]
    columns_alpha, columns_beta = [], []
    time = Cumulative(flat, flat.time_weight)
    weight = flat.time_weight[step]
    for decision in (y, p):
        here = np.where(flat.y[step] == decision, weight, 0.0)
        columns_alpha.append(time.before(decision, step) + since * here)
        columns_beta.append(L * here)
    total_alpha = (r - flat.r0[scenario]) * weight
    total_beta = L * weight
    alpha = classify(right, columns_alpha[0], columns_alpha[1], total_alpha)
    beta = classify(right, columns_beta[0], columns_beta[1], total_beta)

    segment = Cumulative(flat, flat.segment_weight)
    here = np.where(flat.y[step] == p, flat.segment_weight[step], 0.0)
    alpha.append(segment.before(p, step) + since * here)
    beta.append(L * here)
    return Pieces(
        scenario,
        split.low,
        split.high,
        sign * np.stack(alpha, axis=1),
        sign * np.stack(beta, axis=1),
    )
