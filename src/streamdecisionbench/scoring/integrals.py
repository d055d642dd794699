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

from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.acceptance import Runs, find_runs
from streamdecisionbench.scoring.classes import N_METRICS, Cumulative, classify
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = ["WEIGHTINGS", "Bounds", "Pieces", "integrate", "integrated_shares", "pieces"]

WEIGHTINGS = ("log", "linear")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The intervals a score covers, in seconds per tick, and how it weighs them.

    >>> Bounds(0.5, 8).text()
    'log 0.5–8 s'
    """

    low: float = 0.5
    high: float = 8.0
    weighting: str = "log"

    def __post_init__(self) -> None:
        if not (0 < self.low < self.high < float("inf")):
            raise InputError(
                f"bounds {self.low:g} {self.high:g} are not an interval range",
                fix="give two increasing positive numbers of seconds, for example --bounds 0.5 8",
            )
        if self.weighting not in WEIGHTINGS:
            raise InputError(
                f"weighting {self.weighting!r} is not known", fix=f"use {' or '.join(WEIGHTINGS)}"
            )

    def text(self) -> str:
        return f"{self.weighting} {self.low:g}–{self.high:g} s"


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
    """The six classes and segment-balanced accuracy per scenario, integrated and normalised."""
    return integrate(flat, pieces(flat, bounds), bounds)


def integrate(flat: Flat, parts: Pieces, bounds: Bounds) -> Floats:
    """The normalised integral of each metric over the bounds, per scenario."""
    ratio = np.log(parts.high / parts.low)
    if bounds.weighting == "log":
        on_alpha, on_beta = ratio, parts.high - parts.low
        norm = np.full(flat.count, 1.0 / np.log(bounds.high / bounds.low))
    else:
        on_alpha, on_beta = (parts.high - parts.low) / (parts.low * parts.high), ratio
        norm = flat.tick / (bounds.high - bounds.low)
    values = parts.alpha * on_alpha[:, None] + parts.beta * on_beta[:, None]
    out = np.empty((flat.count, N_METRICS))
    for column in range(N_METRICS):
        out[:, column] = flat.sum_by_scenario(values[:, column], parts.scenario) * norm
    return out


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


def _passes(flat: Flat, runs: Runs, node: Ints, sign: float) -> Pieces:
    """sign · F_i(u_node(c)) over each run, split where u_node(c) passes a release."""
    r, L = _moving(flat, runs.scenario, node)
    first = flat.locate(r + runs.low * L, runs.scenario)
    last = flat.locate(r + runs.high * L, runs.scenario)
    last = np.maximum(first, last)
    count = last - first + 1
    run = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    step = first[run] + nth
    r, L, scenario = r[run], L[run], runs.scenario[run]
    low, high = runs.low[run], runs.high[run]
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(nth > 0, (flat.r[step] - r) / L, low)
        leaves = np.where(nth < count[run] - 1, (flat.step_end[step] - r) / L, high)
    enters, leaves = np.clip(enters, low, high), np.clip(leaves, low, high)

    source = runs.source[run]
    y, p, right = flat.y[source], flat.p[source], flat.right[source]
    since = r - flat.r[step]
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
        scenario, enters, leaves, sign * np.stack(alpha, axis=1), sign * np.stack(beta, axis=1)
    )
