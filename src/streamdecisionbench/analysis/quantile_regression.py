"""Linear quantile regression, solved exactly and fast enough to be refitted hundreds of times.

Minimise Σ w_i ρ_τ(y_i − x_i·β) with ρ_τ(r) = r·(τ − 1[r < 0]). An optimum passes exactly through p
observations. From one such vertex the loss is followed downhill along an edge, on which all but one
of them stay fitted, past every observation as long as it keeps falling; where no edge leads down,
the vertex is optimal, for the loss is convex. A few edges of O(n log n) each, no tolerance to tune.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError

__all__ = ["QuantileFit", "fit_quantile", "pinball_loss"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_EDGES = 10_000
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class QuantileFit:
    """β, its loss, and the observations the fit passes through (a start for the next fit)."""

    beta: Floats
    loss: float
    basis: Ints


def fit_quantile(
    X: Floats, y: Floats, tau: float, *, weights: Floats | None = None, start: Ints | None = None
) -> QuantileFit:
    """The τ-quantile regression of y on the columns of X (which include the constant, if wanted).

    >>> x = np.arange(10.0)
    >>> fit = fit_quantile(np.column_stack((np.ones(10), x)), 2 + 3 * x + (x % 3), 0.1)
    >>> [round(float(b), 9) for b in fit.beta]
    [2.0, 3.0]
    """
    if not 0 < tau < 1:
        raise InputError(f"quantile {tau:g} is not between 0 and 1")
    n, p = X.shape
    w = np.ones(n) if weights is None else weights
    if p == 1 and np.ptp(X) == 0:
        return _constant(X, y, tau, w)
    # Observations that tie exactly would make several bases of one vertex; an irregular shift far
    # below the data's resolution tells them apart. β is computed from the data as given.
    scale = float(np.max(np.abs(y))) or 1.0
    shifted = y + scale * 1e-11 * np.modf(np.arange(1, n + 1) * _GOLDEN)[0]
    basis = _usable(X, w, start) if start is not None else None
    if basis is None:
        basis = _first_basis(X, shifted, w)
    basis = _descend(X, shifted, tau, w, basis)
    beta: Floats = np.asarray(np.linalg.solve(X[basis], y[basis]), dtype=np.float64)
    return QuantileFit(beta, pinball_loss(y - X @ beta, tau, w), basis)


def pinball_loss(residuals: Floats, tau: float, weights: Floats | None = None) -> float:
    """Σ w_i ρ_τ(r_i)."""
    loss = residuals * (tau - (residuals < 0))
    return float(loss.sum() if weights is None else loss @ weights)


def _constant(X: Floats, y: Floats, tau: float, w: Floats) -> QuantileFit:
    """Without slopes the optimum is the τ-quantile; of a flat stretch of optima, its middle."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(w[order])
    target = tau * reached[-1]
    low = int(np.searchsorted(reached, target * (1 - 1e-12)))
    high = int(np.searchsorted(reached, target * (1 + 1e-12), side="right"))
    middle = (y[order[low]] + y[order[min(high, len(y) - 1)]]) / 2
    beta = np.array([middle / X[0, 0]])
    return QuantileFit(beta, pinball_loss(y - middle, tau, w), order[low : low + 1])


def _descend(X: Floats, y: Floats, tau: float, w: Floats, basis: Ints) -> Ints:
    basis = basis.copy()
    drawn, flat = w > 0, -1e-10 * float(w.sum())
    for _ in range(_MOST_EDGES):
        inverse = np.linalg.inv(X[basis])
        residual = y - X @ (inverse @ y[basis])
        residual[basis] = 0.0
        moves = X @ inverse  # column j: how every fitted value moves when basis point j's does by 1
        pull = w * (tau - (residual < 0))
        pull[basis] = 0.0
        gain = pull @ moves
        up, down = w[basis] * (1 - tau) - gain, w[basis] * tau + gain
        most = np.abs(moves).max(axis=0)
        slopes = np.concatenate((up / most, down / most))
        best = int(slopes.argmin())
        if slopes[best] >= flat:
            return basis
        j, sign = best % len(basis), 1.0 if best < len(basis) else -1.0
        step = sign * moves[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = residual / step
        ahead = ((reach > 0) & (reach < np.inf) & drawn).nonzero()[0]
        order = ahead[reach[ahead].argsort(kind="stable")]
        slope = (up if sign > 0 else down)[j] + (w[order] * np.abs(step[order])).cumsum()
        stop = int(slope.searchsorted(0.0))
        if stop == len(order):
            return basis  # cannot happen for a full-rank X; never walk off to infinity
        basis[j] = order[stop]
    raise InputError("the quantile regression does not settle", fix="are its columns independent?")


def _usable(X: Floats, w: Floats, basis: Ints) -> Ints | None:
    """A basis from another fit, when it fits this one."""
    if len(basis) != X.shape[1] or np.any(w[basis] <= 0):
        return None
    return basis if np.linalg.cond(X[basis]) < 1e12 else None


def _first_basis(X: Floats, y: Floats, w: Floats) -> Ints:
    """Independent observations, those near a least-squares fit first."""
    root = np.sqrt(w)
    beta = np.linalg.lstsq(X * root[:, None], y * root, rcond=None)[0]
    order = np.argsort(np.where(w > 0, np.abs(y - X @ beta), np.inf), kind="stable")
    scaled = X / np.abs(X).max(axis=0)
    chosen: list[int] = []
    for i in order:
        if w[i] > 0 and np.linalg.matrix_rank(scaled[[*chosen, int(i)]], tol=1e-9) > len(chosen):
            chosen.append(int(i))
            if len(chosen) == X.shape[1]:
                return np.array(chosen, dtype=np.int64)
    raise InputError(
        "the columns of the regression are not independent",
        fix="drop a column that is constant or a multiple of another",
    )
